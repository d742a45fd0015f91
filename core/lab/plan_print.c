/* plan_print - the output of `gillnet plan`, for people and for programs. */
#include <math.h>

#include "core/cli/humanize.h"
#include "core/cli/print.h"
#include "core/lab/plan_command.h"

static const double nanosecond = 1e-9;
static const unsigned table_bits[] = {4, 6, 8, 10, 12, 14, 16, 20, 24, 32, 40};
static const unsigned table_k[] = {1, 2, 4, 6, 8, 10, 12, 16};
enum { TABLE_ROWS = LENGTH(table_bits), TABLE_COLUMNS = LENGTH(table_k) };

/* The textbook's numbers for the question. */
struct textbook {
    double m;
    double best_k;
    unsigned k;
    double error;
    double least;
};

static struct textbook textbook_of(const struct layout_wish *wish)
{
    double n = (double)wish->items;
    struct textbook t = {.m = wish->bits_per_key > 0
                                  ? fmax(1, round(n * wish->bits_per_key))
                                  : plan_bits(n, wish->error)};

    t.best_k = plan_best_k(t.m, n);
    t.k = wish->k > 0 ? wish->k : plan_k(t.m, n);
    t.error = plan_error((uint64_t)t.m, t.k, wish->items);
    t.least = plan_least_error(t.m, n);
    return t;
}

static double build_seconds(const struct layout_wish *wish,
                            const struct planning_row *row)
{
    return (double)wish->items * row->time.add_ns * nanosecond;
}

/* ---- for programs ---- */

static json_t *row_json(const struct planning *p, const struct planning_row *row)
{
    const struct layout_size *s = &row->size;

    if (row->is_refused) {
        return json_pack("{s:s, s:s}", "layout", layout_name(row->layout), "refused",
                         row->why.text);
    }
    return json_pack(
        "{s:s, s:I, s:o, s:I, s:f, s:f, s:b, s:b, s:f, s:f, s:f, s:b, s:b}", "layout",
        layout_name(row->layout), "m", (json_int_t)s->bits, "k",
        s->k > 0 ? json_integer(s->k) : json_null(), "bytes", (json_int_t)s->bytes,
        "bits_per_key", s->bits_per_key, "error", s->error, "keeps_error",
        (int)row->keeps, "deletes", (int)s->deletes, "miss_ns", row->time.miss_ns,
        "hit_ns", row->time.hit_ns, "build_s", build_seconds(&p->wish, row), "measured",
        (int)row->is_measured, "chosen", (int)(row->layout == p->chosen));
}

static json_t *rows_json(const struct planning *p)
{
    json_t *all = json_array();

    for (size_t i = 0; i < p->nrows; i++) {
        if (json_array_append_new(all, row_json(p, &p->rows[i])) != 0) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

static json_t *table_json(const struct layout_wish *wish)
{
    json_t *all = json_array();

    for (unsigned r = 0; r < TABLE_ROWS; r++) {
        double m = (double)table_bits[r] * (double)wish->items;
        for (unsigned c = 0; c < TABLE_COLUMNS; c++) {
            json_t *one =
                json_pack("{s:i, s:i, s:f, s:f}", "bits_per_key", (int)table_bits[r],
                          "k", (int)table_k[c], "bytes", ceil(m / 8), "error",
                          plan_error((uint64_t)m, table_k[c], wish->items));
            if (json_array_append_new(all, one) != 0) {
                json_decref(all);
                return NULL;
            }
        }
    }
    return all;
}

static bool print_json(const struct planning *p)
{
    struct textbook t = textbook_of(&p->wish);
    json_t *wished = p->wish.error > 0 ? json_real(p->wish.error) : json_null();

    return json_line(json_pack(
        "{s:I, s:o, s:I, s:I, s:i, s:f, s:f, s:f, s:s, s:o, s:o}", "items",
        (json_int_t)p->wish.items, "wished_error", wished, "m", (json_int_t)t.m,
        "bytes", (json_int_t)ceil(t.m / 8), "k", (int)t.k, "best_k", t.best_k, "error",
        t.error, "least_error", t.least, "scheme", scheme_name(p->scheme), "layouts",
        rows_json(p), "table", table_json(&p->wish)));
}

/* ---- for people ---- */

static void print_textbook(const struct planning *p)
{
    struct textbook t = textbook_of(&p->wish);
    char items[HUMANIZE_MAX];
    char bits[HUMANIZE_MAX];
    char bytes[HUMANIZE_MAX];
    char error[HUMANIZE_MAX];

    printf("%s items: m = %s bits (%s, %.2f bits a key), k = %u (best %.2f), error %s\n"
           "by the textbook; what gillnet's layouts take:\n\n",
           humanize_count(p->wish.items, items), humanize_count((uint64_t)t.m, bits),
           humanize_bytes(t.m / 8, bytes), t.m / (double)p->wish.items, t.k, t.best_k,
           humanize_share(t.error, error));
}

static void print_row(const struct planning *p, const struct planning_row *row)
{
    const struct layout_size *s = &row->size;
    char k[HUMANIZE_MAX] = "-";
    char bytes[HUMANIZE_MAX];
    char error[HUMANIZE_MAX];
    char miss[HUMANIZE_MAX];
    char hit[HUMANIZE_MAX];
    char build[HUMANIZE_MAX];
    const char *note = s->deletes ? "  can forget" : "";

    if (row->is_refused) {
        printf("  %-12s %s: %s\n", layout_name(row->layout), row->why.source,
               row->why.text);
        return;
    }
    if (s->k > 0) {
        (void)snprintf(k, sizeof(k), "%u", s->k);
    }
    printf("%c %-12s %8.2f %3s %9s %11s %8s %8s %9s%s%s\n",
           row->layout == p->chosen ? '*' : ' ', layout_name(row->layout),
           s->bits_per_key, k, humanize_bytes((double)s->bytes, bytes),
           humanize_share(s->error, error),
           humanize_seconds(row->time.miss_ns * nanosecond, miss),
           humanize_seconds(row->time.hit_ns * nanosecond, hit),
           humanize_seconds(build_seconds(&p->wish, row), build),
           row->keeps ? "" : "  above the error", note);
}

static void print_rows(const struct planning *p)
{
    printf("  %-12s %8s %3s %9s %11s %8s %8s %9s\n", "layout", "bits/key", "k",
           "memory", "error", "miss", "hit", "build");
    for (size_t i = 0; i < p->nrows; i++) {
        print_row(p, &p->rows[i]);
    }
    if (p->measures) {
        printf(
            "\nTimes: one thread, batches, CPU time measured here in at most %d MB of memory.\n",
            PLANNING_MEASURE_BYTES / 1024 / 1024);
    } else {
        printf("\nTimes: one thread, batches, estimated from figures of\n"
               "%s; --measure times this one.\n",
               layout_time_origin);
    }
    (void)puts("A hit is only a perhaps; the exact index decides.");
}

static void print_table(const struct layout_wish *wish)
{
    char text[HUMANIZE_MAX];

    printf("\nError by bits a key and probes, equation (1):\n%5s %9s", "bits",
           "memory");
    for (unsigned c = 0; c < TABLE_COLUMNS; c++) {
        (void)snprintf(text, sizeof(text), "k=%u", table_k[c]);
        printf(" %8s", text);
    }
    (void)putchar('\n');
    for (unsigned r = 0; r < TABLE_ROWS; r++) {
        double m = (double)table_bits[r] * (double)wish->items;
        printf("%5u %9s", table_bits[r], humanize_bytes(m / 8, text));
        for (unsigned c = 0; c < TABLE_COLUMNS; c++) {
            printf(" %8.2e", plan_error((uint64_t)m, table_k[c], wish->items));
        }
        (void)putchar('\n');
    }
}

static void print_table_times(const struct planning *p)
{
    char text[HUMANIZE_MAX];

    for (size_t i = 0; i < p->nrows; i++) {
        const struct planning_row *row = &p->rows[i];
        if (row->layout != LAYOUT_CLASSIC || row->is_refused || row->size.k == 0) {
            continue;
        }
        printf("%5s %9s", "hit", "");
        for (unsigned c = 0; c < TABLE_COLUMNS; c++) {
            double ns = row->time.hit_ns * table_k[c] / row->size.k;
            printf(" %8s", humanize_seconds(ns * nanosecond, text));
        }
        (void)putchar('\n');
    }
}

bool planning_print(const struct planning *p, bool json)
{
    if (json) {
        return print_json(p);
    }
    print_textbook(p);
    print_rows(p);
    print_table(&p->wish);
    print_table_times(p);
    return true;
}

/* ---- counting filters ---- */

/* A share of which only the logarithm may fit a double. */
static const char *share_of_log(double log_share, char dst[HUMANIZE_MAX])
{
    double log10_share = log_share / log(10);
    double exponent = floor(log10_share);

    if (isinf(log_share)) {
        (void)snprintf(dst, HUMANIZE_MAX, "0");
    } else {
        (void)snprintf(dst, HUMANIZE_MAX, "%.3fe%.0f", pow(10, log10_share - exponent),
                       exponent);
    }
    return dst;
}

static json_t *log10_json(double log_share)
{
    return isinf(log_share) ? json_null() : json_real(log_share / log(10));
}

static bool print_counting_json(const struct plan_counting *c,
                                const struct planning_refined *r)
{
    double error = plan_log_dcc_error(c);
    json_t *row = json_pack("{s:I, s:I, s:i, s:I, s:f, s:f, s:f, s:o}", "items",
                            (json_int_t)c->items, "cells", (json_int_t)c->cells, "k",
                            (int)c->k, "threshold", (json_int_t)c->threshold,
                            "cell_equals", exp(plan_log_cell(c, c->threshold)),
                            "cell_reaches", exp(plan_log_cell_reaches(c)), "error",
                            exp(error), "log10_error", log10_json(error));

    if (r != NULL) {
        json_t *more =
            json_pack("{s:f, s:f, s:f}", "plain_wrong", r->plain, "refined_wrong",
                      r->refined, "refined_cells", ceil((double)c->cells * r->share));
        if (json_object_update(row, more) != 0) {
            json_decref(row);
            row = NULL;
        }
        json_decref(more);
    }
    return json_line(row);
}

/* A share that a simulation of few rounds may not have seen at all. */
static const char *share_seen(double share, char dst[HUMANIZE_MAX])
{
    return share > 0 ? humanize_share(share, dst) : "none seen";
}

static void print_refined(const struct plan_counting *c,
                          const struct planning_refined *r)
{
    char text[HUMANIZE_MAX];

    printf(
        "Keys that came 20 times in mixed order and are counted wrong (simulated):\n");
    printf("  plain filter     %s\n", share_seen(r->plain, text));
    printf("  refined filter   %s\n", share_seen(r->refined, text));
    printf(
        "  %s cells are enough for the refined filter to be as good as the plain one\n",
        humanize_count((uint64_t)ceil((double)c->cells * r->share), text));
}

bool planning_print_counting(const struct plan_counting *c,
                             const struct planning_refined *r, bool json)
{
    double at = plan_log_cell(c, c->threshold);
    double reaches = plan_log_cell_reaches(c);
    double error = plan_log_dcc_error(c);
    char text[HUMANIZE_MAX];
    char other[HUMANIZE_MAX];

    if (json) {
        return print_counting_json(c, r);
    }
    printf("%s items counted once in %s cells, k = %u:\n",
           humanize_count(c->items, text), humanize_count(c->cells, other), c->k);
    printf("  a cell counts exactly %s   %s  (equation 3)\n",
           humanize_count(c->threshold, other), share_of_log(at, text));
    printf("  a cell counts %s or more   %s\n", other, share_of_log(reaches, text));
    printf("  f_dcc: a key never counted seems to reach %s   %s  (equation 4)\n", other,
           share_of_log(error, text));
    (void)puts("An upper bound of the plain and the refined counting filter's error.");
    if (r != NULL) {
        print_refined(c, r);
    }
    return true;
}

/* ---- costs ---- */

static json_t *cost_json(const struct cost *c)
{
    if (isinf(c->total)) {
        return json_pack("{s:f, s:f, s:n}", "items", c->items, "wished_error",
                         c->wanted_error, "total");
    }
    return json_pack("{s:I, s:f, s:f, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:b}",
                     "items", (json_int_t)c->items, "wished_error", c->wanted_error,
                     "error", c->size.error, "bytes", (json_int_t)c->size.bytes,
                     "instances", (json_int_t)c->instances, "memory", c->memory,
                     "machines", c->machines, "false_positive_queries", c->queries,
                     "false_positives", c->false_positives, "total", c->total,
                     "per_million", c->per_million, "allowed", (int)c->is_allowed);
}

static bool print_costs_json(const struct cost_question *q, const struct cost *all,
                             size_t n, const struct cost *best)
{
    json_t *grid = json_array();

    for (size_t i = 0; i < n; i++) {
        if (json_array_append_new(grid, cost_json(&all[i])) != 0) {
            json_decref(grid);
            return json_line(NULL);
        }
    }
    return json_line(
        json_pack("{s:s, s:f, s:f, s:o, s:o}", "layout", layout_name(q->layout),
                  "queries_per_day", q->queries_per_day, "max_error", q->max_error,
                  "grid", grid, "best", best != NULL ? cost_json(best) : json_null()));
}

static void print_cost(const struct cost *c, bool is_best)
{
    char items[HUMANIZE_MAX];
    char error[HUMANIZE_MAX];
    char bytes[HUMANIZE_MAX];

    printf("%c %17s %11s ", is_best ? '*' : ' ',
           humanize_count((uint64_t)fmax(0, c->items), items),
           humanize_share(c->wanted_error, error));
    if (isinf(c->total)) {
        (void)puts("this layout cannot be had so");
        return;
    }
    printf("%9s %10.2f %10.2f %10.2f %12.2f %12.2f %10.4f%s\n",
           humanize_bytes((double)c->size.bytes, bytes), c->memory, c->machines,
           c->queries, c->false_positives, c->total, c->per_million,
           c->is_allowed ? "" : "  above the highest error");
}

bool planning_print_costs(const struct cost_question *q, const struct cost *all,
                          size_t n, const struct cost *best, bool json)
{
    char error[HUMANIZE_MAX];

    if (json) {
        return print_costs_json(q, all, n, best);
    }
    printf(
        "Costs a month of %d days, layout %s, %.0f look-ups of unlisted keys a day,\n"
        "highest error %s:\n\n",
        COST_DAYS, layout_name(q->layout), q->queries_per_day,
        humanize_share(q->max_error, error));
    printf("  %17s %11s %9s %10s %10s %10s %12s %12s %10s\n", "items", "error",
           "memory", "memory", "machines", "queries", "false pos.", "total",
           "a million");
    for (size_t i = 0; i < n; i++) {
        print_cost(&all[i], &all[i] == best);
    }
    if (best != NULL) {
        (void)puts("\n* is the cheapest within the highest error.");
    }
    return true;
}
