/* cmd_model - `gillnet model`: what was learnt, and why the model finds a message spam. */
#include <math.h>
#include <sysexits.h>

#include "core/cli/change_note.h"
#include "core/cli/messages.h"
#include "core/cli/print.h"
#include "core/learn/inbox.h"
#include "core/verdict/verdict.h"

enum { TERMS_SHOWN = 12, TERM_SHOWN = 60 };

static int open_model(struct cli *cli, struct model **ret)
{
    struct errinfo info = {.code = ERR_OK};
    char path[FILE_PATH_MAX];
    int status = cli_config(cli);
    if (status != 0) {
        return status;
    }
    enum err e =
        path_make(path, &info, "%s/%s", cli->config->state_dir, STATE_MODEL_FILE);
    THEN(e, model_open(path, cli->config->model.prior, ret, &info));
    return cli_status(e, &info);
}

/* ---- show ---- */

static bool is_local(const struct model_kind *k)
{
    return k->nspam >= MODEL_LEAST && k->nham >= MODEL_LEAST;
}

/* name: of a kind of mail, or "url". */
static int show_kind(const struct cli *cli, const char *name,
                     const struct model_kind *k, const char *otherwise)
{
    double least = model_share(&k->window, HUGE_VAL); /* that the window can prove */
    if (cli->json) {
        return json_status(json_pack(
            "{s:s, s:I, s:I, s:b, s:I, s:f}", "kind", name, "spam",
            (json_int_t)k->nspam, "ham", (json_int_t)k->nham, "speaks", is_local(k),
            "window", (json_int_t)k->window.n, "least_share", least));
    }
    printf("%-9s %6u spam %6u ham  ", name, k->nspam, k->nham);
    if (is_local(k)) {
        printf("%u ham scored before it was learnt: sure up to 1 in %.0f\n",
               k->window.n, 1 / least);
    } else {
        printf("%s until %d of each are learnt\n", otherwise, MODEL_LEAST);
    }
    return 0;
}

static int model_show(struct cli *cli, int argc, char **argv)
{
    struct model *model = NULL;
    int status =
        cli_arguments(CLI_WORDS("model", 0, 0, "show takes no arguments"), &argc, argv);
    if (status == 0) {
        status = open_model(cli, &model);
    }
    if (status != 0) {
        return status;
    }
    if (model == NULL) {
        return cli_error(EX_NOINPUT,
                         "nothing was learnt yet, and there is no prior; use "
                         "gillnet train or gillnet report");
    }
    const struct model_data *m = model_data(model);
    char time[TEXT_TIME_MAX];
    if (!cli->json) {
        printf("learnt %u spam and %u ham, written %s, prior %s\n", m->head.nspam,
               m->head.nham, text_time(m->head.time_s, time),
               m->prior_unit > 0 ? "there" : "missing");
    }
    for (unsigned k = 0; k < VECTOR_KINDS && status == 0; k++) {
        status = show_kind(cli, vector_kind_name((enum vector_kind)k), &m->head.kind[k],
                           "only the prior speaks");
    }
    if (status == 0) {
        status = show_kind(cli, "url", &m->head.urls, "no URL is judged");
    }
    model_close(&model);
    return status;
}

/* ---- explain ---- */

struct explaining {
    struct cli *cli;
    const struct model_data *model;
};

struct term {
    uint32_t key;
    double share; /* of the margin */
};

static int by_share(const void *a, const void *b)
{
    double left = fabs(((const struct term *)a)->share);
    double right = fabs(((const struct term *)b)->share);
    return (left < right) - (left > right);
}

/* Every term's share of the margin, the strongest first. NULL: no memory. */
static struct term *shares_of(const struct explaining *e, struct arena *arena,
                              const struct vector *v, bool is_local_model)
{
    float value[VECTOR_BLOCKS];
    struct term *terms = arena_array(arena, v->n + 1, sizeof(*terms));
    ftrl_values(v, value);
    for (size_t i = 0; terms != NULL && i < v->n; i++) {
        uint32_t hash = v->term[i] & VECTOR_HASH_MASK;
        float weight = is_local_model ? model_weight(e->model, hash)
                                      : model_prior_weight(e->model, hash);
        terms[i] = (struct term){
            v->term[i], (double)(weight * value[v->term[i] >> VECTOR_HASH_BITS])};
    }
    if (terms != NULL) {
        qsort(terms, v->n, sizeof(*terms), by_share);
    }
    return terms;
}

static json_t *term_json(const struct message *m, const struct term *t)
{
    return json_pack("{s:s, s:o, s:f}", "block",
                     vector_block_name((enum vector_block)(t->key >> VECTOR_HASH_BITS)),
                     "term", json_text(vector_reader_name(m->reader, t->key)), "share",
                     t->share);
}

static int print_json(const struct message *m, const struct model_answer *a,
                      const struct term *terms, size_t n)
{
    json_t *all = json_array();
    for (size_t i = 0; i < n; i++) {
        (void)json_array_append_new(all, term_json(m, &terms[i]));
    }
    return json_status(json_pack(
        "{s:o, s:s, s:b, s:f, s:f, s:f, s:f, s:o}", "file", json_text(m->file), "kind",
        vector_kind_name(a->kind), "is_local", a->is_local, "score", a->score, "margin",
        a->margin, "share", a->share, "odds", a->odds, "terms", all));
}

static int explain_message(void *context, struct arena *arena, const struct message *m)
{
    const struct explaining *e = context;
    struct model_options options;
    struct model_answer a;
    char text[MODEL_DETAIL];
    if (m->vector == NULL) {
        return cli_nomem();
    }
    verdict_model_options(e->cli->config, &options);
    model_judge(e->model, &options, m->vector, &a);
    struct term *terms = shares_of(e, arena, m->vector, a.is_local);
    if (terms == NULL) {
        return cli_nomem();
    }
    size_t n = m->vector->n < TERMS_SHOWN ? m->vector->n : TERMS_SHOWN;
    if (e->cli->json) {
        return print_json(m, &a, terms, n);
    }
    model_describe(&a, text, sizeof(text));
    text_print(stdout, m->file, FILENAME_MAX);
    printf(": MODEL %.1f, %s, second opinion %.1f\n", a.score, text, a.second);
    for (size_t i = 0; i < n; i++) {
        printf(
            "  %+.3f %-9s ", terms[i].share,
            vector_block_name((enum vector_block)(terms[i].key >> VECTOR_HASH_BITS)));
        text_print(stdout, vector_reader_name(m->reader, terms[i].key), TERM_SHOWN);
        (void)putchar('\n');
    }
    return CLI_CLEAN;
}

static int model_explain(struct cli *cli, int argc, char **argv)
{
    struct messages_envelope envelope = {.keeps_names = true};
    struct model *model = NULL;
    int status = cli_arguments(
        CLI_WORDS("model", 1, CLI_MANY, "explain needs a file, a folder, or -"), &argc,
        argv);
    if (status == 0) {
        status = open_model(cli, &model);
    }
    if (status == 0 && model == NULL) {
        status = cli_error(EX_NOINPUT, "nothing was learnt yet, and there is no prior");
    }
    if (status == 0) {
        struct explaining e = {.cli = cli, .model = model_data(model)};
        status = messages_each(cli, &envelope, argv + 1, explain_message, &e);
    }
    model_close(&model);
    return status;
}

/* ---- forget ---- */

static int source_of(const char *name, enum learner_source *ret)
{
    for (unsigned s = 0; s < LEARNER_SOURCES; s++) {
        if (strcmp(name, learner_source_name((enum learner_source)s)) == 0) {
            *ret = (enum learner_source)s;
            return 0;
        }
    }
    return cli_error(EX_USAGE,
                     "%s: no such source; gillnet(1), model forget, names them", name);
}

/* Takes out all that came from a source; gillnetd does it, or this command while it is down. */
static int model_forget(struct cli *cli, int argc, char **argv)
{
    struct errinfo info = {.code = ERR_OK};
    enum learner_source source = LEARNER_REPORTED;
    struct learner *l = NULL;
    struct buf inbox;
    int status =
        cli_arguments(CLI_WORDS("model", 1, 1, "forget needs a source"), &argc, argv);
    if (status == 0) {
        status = source_of(argv[1], &source);
    }
    if (status == 0) {
        status = cli_config(cli);
    }
    if (status != 0) {
        return status;
    }
    const struct learner_options options = {.prior = cli->config->model.prior};
    inbox_init(&inbox);
    inbox_forget(&inbox, source);
    enum err e = inbox_put(cli->config->state_dir, &inbox, &info);
    buf_fini(&inbox);
    THEN(e, learner_open(cli->config->state_dir, &options, &l, &info));
    THEN(e, learner_tick(l, &info));
    learner_close(&l);
    e = e == ERR_LOCKED ? ERR_OK : e; /* gillnetd does it */
    if (e == ERR_OK) {
        cli_note(cli, &(struct change){.kind = CHANGE_model_forget,
                                       .object = slice_str(argv[1])});
    }
    return cli_status(e, &info);
}

int cmd_model(struct cli *cli, int argc, char **argv)
{
    static const struct cli_runner table[] = {
        {"show", model_show}, {"explain", model_explain}, {"forget", model_forget}};
    return cli_subcommand(cli, "model", table, LENGTH(table), argc, argv);
}
