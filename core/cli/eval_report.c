#include "core/cli/eval_report.h"

#include <math.h>

#include "core/cli/print.h"

enum { MISTAKES = 10, NAME_SHOWN = 200 };

static const double tolerance = 1e-9;

void eval_count(const struct config *config, const struct samples *s,
                const char *source, struct eval_counts *ret)
{
    double header = config->threshold[ACTION_HEADER] - tolerance;
    double reject = config->threshold[ACTION_REJECT] - tolerance;
    *ret = (struct eval_counts){.n = {0, 0}};
    for (size_t i = 0; i < s->n; i++) {
        const struct sample *m = &s->v[i];
        if (source == NULL || strcmp(source, m->source) == 0) {
            ret->n[m->is_spam]++;
            ret->marked[m->is_spam] += m->score >= header;
            ret->rejected[m->is_spam] +=
                m->others >= reject; /* the model marks at most */
        }
    }
}

/* Highest score first; of equal ones the higher margin. */
static int by_score(const void *a, const void *b)
{
    const struct sample *left = a;
    const struct sample *right = b;
    if (left->score != right->score) {
        return left->score < right->score ? 1 : -1;
    }
    double l = left->answer->margin;
    double r = right->answer->margin;
    return (l < r) - (l > r);
}

double eval_area(struct samples *s)
{
    double above = 0; /* spam above the ham at hand, summed */
    double nspam = 0;
    double nham = 0;
    qsort(s->v, s->n, sizeof(*s->v), by_score);
    for (size_t i = 0; i < s->n; i++) {
        if (s->v[i].is_spam) {
            nspam++;
        } else {
            nham++;
            above += nspam;
        }
    }
    return nspam > 0 && nham > 0 ? above / nspam / nham : 0;
}

static double share_of_all(size_t part, size_t all)
{
    return all > 0 ? (double)part / (double)all : 0;
}

/* ---- JSON ---- */

static int counts_json(const struct eval_counts *c, const char *type, const char *name)
{
    return json_status(json_pack(
        "{s:s, s:s*, s:I, s:I, s:I, s:I, s:f, s:f, s:I, s:I}", "type", type, "source",
        name, "spam", (json_int_t)c->n[1], "spam_marked", (json_int_t)c->marked[1],
        "ham", (json_int_t)c->n[0], "ham_marked", (json_int_t)c->marked[0], "precision",
        share_of_all(c->marked[1], c->marked[0] + c->marked[1]), "recall",
        share_of_all(c->marked[1], c->n[1]), "spam_rejected",
        (json_int_t)c->rejected[1], "ham_rejected", (json_int_t)c->rejected[0]));
}

static int mistake_json(const struct sample *m)
{
    char text[MODEL_DETAIL];
    model_describe(m->answer, text, sizeof(text));
    return json_status(json_pack(
        "{s:s, s:o, s:b, s:f, s:f, s:f, s:s}", "type", "mistake", "file",
        json_text(slice_str(m->file)), "is_spam", m->is_spam, "score", m->score,
        "rules", m->others, "margin", m->answer->margin, "model", text));
}

/* ---- text ---- */

static void print_row_of(const struct eval_counts *c, const char *name)
{
    for (int class = 1; class >= 0; class --) {
        if (c->n[class] > 0) {
            printf("%-48s %-4s %7zu  marked %7zu %7.2f %%  rejected %6zu\n", name,
                   class == 1 ? "spam" : "ham", c->n[class], c->marked[class],
                   100 * share_of_all(c->marked[class], c->n[class]),
                   c->rejected[class]);
        }
    }
}

static void print_mistake(const struct sample *m)
{
    char text[MODEL_DETAIL];
    model_describe(m->answer, text, sizeof(text));
    printf("  %s %.1f (rules %.1f, model %.1f: %s) ", m->is_spam ? "spam" : "ham",
           m->score, m->others, m->answer->score, text);
    text_print(stdout, slice_str(m->file), NAME_SHOWN);
    (void)putchar('\n');
}

/* ---- both ---- */

/* The first of each source, in order of reading: samples are in that order before eval_area. */
static int print_sources(const struct cli *cli, const struct samples *s)
{
    int status = 0;
    for (size_t i = 0; i < s->n && status == 0; i++) {
        struct eval_counts c;
        if (i > 0 && strcmp(s->v[i].source, s->v[i - 1].source) == 0) {
            continue;
        }
        eval_count(cli->config, s, s->v[i].source, &c);
        if (cli->json) {
            status = counts_json(&c, "source", s->v[i].source);
        } else {
            print_row_of(&c, s->v[i].source);
        }
    }
    return status;
}

/* Ham with the highest scores and spam with the lowest, as far as they are wrong. */
static int print_mistakes(const struct cli *cli, const struct samples *s)
{
    double header = cli->config->threshold[ACTION_HEADER] - tolerance;
    int status = 0;
    for (int class = 0; class < 2; class ++) {
        size_t n = 0;
        for (size_t i = 0; i < s->n && n < MISTAKES && status == 0; i++) {
            const struct sample *m = &s->v[class == 0 ? i : s->n - 1 - i];
            if (m->is_spam != (class == 1) || (m->score >= header) == m->is_spam) {
                continue;
            }
            n++;
            if (cli->json) {
                status = mistake_json(m);
            } else {
                print_mistake(m);
            }
        }
    }
    return status;
}

int eval_print(const struct cli *cli, struct samples *s)
{
    struct eval_counts all;
    eval_count(cli->config, s, NULL, &all);
    int status = print_sources(cli, s);
    double area = eval_area(s);
    if (status == 0 && cli->json) {
        status = counts_json(&all, "total", NULL);
        status =
            status != 0
                ? status
                : json_status(json_pack("{s:s, s:f}", "type", "curve", "area", area));
    } else if (status == 0) {
        print_row_of(&all, "all");
        printf("precision %.4f, recall %.4f, area below the curve %.4f\n",
               share_of_all(all.marked[1], all.marked[0] + all.marked[1]),
               share_of_all(all.marked[1], all.n[1]), area);
        printf("worst mistakes:\n");
    } else {
        return status;
    }
    return status != 0 ? status : print_mistakes(cli, s);
}
