/* cmd_plan - `gillnet plan`: sizes, errors, times and costs of filters, and of counting. */
#include <math.h>
#include <sysexits.h>

#include "core/cli/cli.h"
#include "core/cli/humanize.h"
#include "core/lab/lab.h"
#include "core/lab/plan_command.h"
#include "core/lab/prices.h"

static const double max_error_default = 0.01;

/* Options as they were written; NULL: not there. */
struct words {
    const char *items;
    const char *fpr;
    const char *bits_per_key;
    const char *k;
    const char *layout;
    const char *scheme;
    const char *plot;
    const char *cells;
    const char *threshold;
    const char *variant;
    const char *prices;
    const char *queries;
    const char *messages;
    const char *hosts;
    const char *replicas;
    bool measures;
    bool is_dcc;
    bool is_store;
};

const struct planning_row *planning_chosen(const struct planning *p)
{
    for (size_t i = 0; i < p->nrows; i++) {
        if (p->rows[i].layout == p->chosen && !p->rows[i].is_refused) {
            return &p->rows[i];
        }
    }
    return NULL;
}

/* ---- numbers from the command line; each returns an exit status ---- */

static int bad_number(const char *option, const char *text)
{
    char why[256];

    (void)snprintf(why, sizeof(why),
                   "%s %.60s: no number; write 1200000000, 1.2e9 or 0.001", option,
                   text);
    return cli_usage("plan", why);
}

static int out_of_range(const char *option, const char *text, const char *hint)
{
    struct errinfo why;

    (void)errinfo_set(&why, ERR_RANGE, option, 0, "%.60s: %s", text, hint);
    return cli_fail(&why);
}

/* A whole number from 1 to most. */
static int read_whole(const char *option, const char *text, double most,
                      const char *hint, uint64_t *ret)
{
    double v = 0;

    if (!humanize_read(text, &v)) {
        return bad_number(option, text);
    }
    if (!(v >= 1 && v <= most) || floor(v) != v) {
        return out_of_range(option, text, hint);
    }
    *ret = (uint64_t)v;
    return 0;
}

static int read_items(const struct words *w, uint64_t *ret)
{
    return read_whole(
        "--items", w->items, (double)PLAN_ITEMS_MAX,
        "give how many entries the filter will hold, 1 to 10^12; for more, "
        "plan several filters",
        ret);
}

static int read_k(const struct words *w, unsigned most, unsigned *ret)
{
    uint64_t k = 0;
    char hint[128];
    int status = 0;

    (void)snprintf(hint, sizeof(hint),
                   "give 1 to %u probes, or leave --k out for the best", most);
    status = read_whole("--k", w->k, most, hint, &k);
    if (status == 0) {
        *ret = (unsigned)k;
    }
    return status;
}

static int read_error(const struct words *w, double *ret)
{
    if (!humanize_read(w->fpr, ret)) {
        return bad_number("--fpr", w->fpr);
    }
    if (!(*ret > 0 && *ret < 1)) {
        return out_of_range(
            "--fpr", w->fpr,
            "no filter has this error; give a share above 0 and below 1, "
            "such as 0.001 for one in a thousand");
    }
    return 0;
}

static int read_layout(const struct words *w, enum layout *ret)
{
    if (w->layout == NULL || layout_of_name(w->layout, ret)) {
        return 0;
    }
    return cli_usage("plan",
                     "--layout is one-line, two-lines, classic, partitioned or cuckoo");
}

static int read_wish(const struct words *w, struct layout_wish *ret)
{
    int status = read_items(w, &ret->items);

    if (status == 0 && w->fpr != NULL) {
        status = read_error(w, &ret->error);
    }
    if (status == 0 && w->bits_per_key != NULL) {
        if (!humanize_read(w->bits_per_key, &ret->bits_per_key)) {
            return bad_number("--bits-per-key", w->bits_per_key);
        }
        if (!(ret->bits_per_key >= 0.5 && ret->bits_per_key <= 128)) {
            return out_of_range("--bits-per-key", w->bits_per_key,
                                "give 0.5 to 128; 16 bring the error below 0.1 %");
        }
    }
    if (status == 0 && w->k != NULL) {
        status = read_k(w, BLOOM_K_MAX, &ret->k);
    }
    return status;
}

/* ---- sizes ---- */

/* The scheme must be able to reach every bit of the filter. */
static enum err check_scheme(const struct planning *p, struct planning_row *row)
{
    bool is_partitioned = row->layout == LAYOUT_PARTITIONED;
    struct scheme_params params = {.kind = p->scheme,
                                   .m = row->size.bits,
                                   .k = row->size.k,
                                   .is_partitioned = is_partitioned};

    if (p->scheme == SCHEME_KEYED) {
        return ERR_OK;
    }
    if (row->layout != LAYOUT_CLASSIC && !is_partitioned) {
        return errinfo_set(&row->why, ERR_RANGE, "scheme", 0,
                           "%s takes only the keyed digest; %s is for classic and "
                           "partitioned",
                           layout_name(row->layout), scheme_name(p->scheme));
    }
    if (is_partitioned) {
        params.m -= params.m % params.k; /* what its parts cover */
    }
    if (scheme_check(&params, &row->why) == ERR_OK) {
        return ERR_OK;
    }
    (void)snprintf(row->why.source, sizeof(row->why.source), "scheme");
    row->why.code = ERR_RANGE; /* it is the input that cannot be */
    return ERR_RANGE;
}

/* An exit status: 0 also where the row is refused. */
static int reckon_row(struct planning *p, struct planning_row *row)
{
    enum err e = layout_plan(row->layout, &p->wish, &row->size, &row->why);

    THEN(e, check_scheme(p, row));
    if (e != ERR_OK) {
        row->is_refused = true;
        return 0;
    }
    row->keeps = p->wish.error <= 0 || row->size.error <= p->wish.error;
    layout_time(&row->size, &row->time);
    if (p->measures) {
        struct errinfo why = {0};
        if (planning_measure(&row->size, PLANNING_MEASURE_BYTES, &row->time, &why) !=
            ERR_OK) {
            return cli_fail(&why);
        }
        row->is_measured = true;
    }
    return 0;
}

/* Every layout, or the one that was named; none left is an error with the reasons. */
static int reckon(struct planning *p, bool is_named)
{
    size_t refused = 0;
    int status = 0;

    for (unsigned l = LAYOUT_FIRST; l < LAYOUT_END; l++) {
        struct planning_row *row = &p->rows[p->nrows];
        if (is_named && l != p->chosen) {
            continue;
        }
        p->nrows++;
        row->layout = (enum layout)l;
        status = reckon_row(p, row);
        if (status != 0) {
            return status;
        }
        refused += row->is_refused;
    }
    for (size_t i = 0; i < p->nrows && refused == p->nrows; i++) {
        status = cli_fail(&p->rows[i].why);
    }
    return status;
}

static bool some_row_keeps(const struct planning *p)
{
    for (size_t i = 0; i < p->nrows; i++) {
        if (!p->rows[i].is_refused && p->rows[i].keeps) {
            return true;
        }
    }
    return false;
}

static int plan_sizes(const struct cli *cli, const struct words *w)
{
    struct planning p = {
        .scheme = SCHEME_KEYED, .chosen = LAYOUT_ONE_LINE, .measures = w->measures};
    int status = 0;

    if (w->items == NULL || (w->fpr == NULL && w->bits_per_key == NULL)) {
        return cli_usage("plan", "give --items, and --fpr or --bits-per-key or both");
    }
    if (w->scheme != NULL && !scheme_of_name(w->scheme, &p.scheme)) {
        return cli_usage("plan",
                         "--scheme is keyed, universal, universal-paper, md5 or sha1");
    }
    if (p.scheme != SCHEME_KEYED) {
        p.chosen = LAYOUT_CLASSIC;
    }
    status = read_layout(w, &p.chosen);
    if (status == 0) {
        status = read_wish(w, &p.wish);
    }
    if (status == 0) {
        status = reckon(&p, w->layout != NULL);
    }
    if (status == 0 && !planning_print(&p, cli->json)) {
        status = EX_OSERR;
    }
    if (status == 0 && w->plot != NULL) {
        struct errinfo why = {0};
        if (planning_plot(&p, w->plot, &why) != ERR_OK) {
            return cli_fail(&why);
        }
    }
    return status == 0 && !some_row_keeps(&p) ? CLI_HIT : status;
}

/* ---- counting filters ---- */

static int plan_counting(const struct cli *cli, const struct words *w)
{
    struct plan_counting c = {0};
    struct planning_refined r;
    struct errinfo why = {0};
    const bool is_refined = w->variant != NULL && strcmp(w->variant, "refined") == 0;
    int status = 0;

    if (w->items == NULL || w->cells == NULL || w->k == NULL || w->threshold == NULL) {
        return cli_usage("plan", "--dcc needs --items, --cells, --k and --threshold");
    }
    if (w->variant != NULL && !is_refined && strcmp(w->variant, "plain") != 0) {
        return cli_usage("plan", "--variant is plain or refined");
    }
    status = read_items(w, &c.items);
    if (status == 0) {
        status =
            read_whole("--cells", w->cells, (double)PLAN_BITS_MAX,
                       "give 1 to 10^18 cells; as many as items is a start", &c.cells);
    }
    if (status == 0) {
        status = read_k(w, PLAN_K_MAX, &c.k);
    }
    if (status == 0) {
        status =
            read_whole("--threshold", w->threshold, PLAN_THRESHOLD_MAX,
                       "give a count from 1 to 1000000; 20 is usual", &c.threshold);
    }
    if (status != 0) {
        return status;
    }
    if (is_refined && planning_refined(&c, &r, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    return planning_print_counting(&c, is_refined ? &r : NULL, cli->json) ? CLI_CLEAN
                                                                          : EX_OSERR;
}

/* ---- costs ---- */

/* The defaults, and what the file has instead; NULL: no file. */
static int read_prices(const char *file, struct prices *ret, struct cost_grid *retgrid)
{
    struct config_errors errors = {0, NULL};
    struct cost_prices c;
    int status = 0;

    cost_defaults(&c, retgrid);
    *ret = (struct prices){.memory_gb = c.memory_gb,
                           .instance = c.instance,
                           .instance_gb = c.instance_gb,
                           .instances = c.instances,
                           .false_positive_query = c.false_positive_query,
                           .false_positive = c.false_positive,
                           .unconfirmed = c.unconfirmed,
                           .max_error = max_error_default};
    if (file != NULL && prices_load(file, ret, &errors) != ERR_OK) {
        status = EX_OSERR;
        for (size_t i = 0; i < errors.n; i++) {
            status = cli_fail(&errors.v[i]);
        }
        config_errors_free(&errors);
    }
    return status;
}

static int load_prices(const char *file, struct cost_question *q,
                       struct cost_grid *grid)
{
    struct cost_prices *to = &q->prices;
    struct prices p;
    int status = read_prices(file, &p, grid);

    if (status != 0) {
        return status;
    }
    to->memory_gb = p.memory_gb;
    to->instance = p.instance;
    to->instance_gb = p.instance_gb;
    to->instances = ceil(p.instances);
    to->false_positive_query = p.false_positive_query;
    to->false_positive = p.false_positive;
    to->unconfirmed = p.unconfirmed;
    q->queries_per_day = p.queries_per_day;
    q->max_error = p.max_error;
    if (p.errors.n > 0) {
        grid->nerrors = p.errors.n;
        memcpy(grid->errors, p.errors.v, sizeof(p.errors.v));
    }
    grid->nitems = p.items.n;
    memcpy(grid->items, p.items.v, sizeof(p.items.v));
    return 0;
}

/* The command line wins over the file. */
static int read_cost_words(const struct words *w, struct cost_question *q,
                           struct cost_grid *grid)
{
    static const double room[] = {1, 1.2, 1.5}; /* to grow into */
    uint64_t n = 0;
    int status = read_layout(w, &q->layout);

    if (status == 0 && w->fpr != NULL) {
        status = read_error(w, &q->max_error);
    }
    if (status == 0 && w->queries != NULL) {
        status = read_whole("--queries-per-day", w->queries, 1e15,
                            "give the look-ups of a day, 1 to 10^15", &n);
        q->queries_per_day = (double)n;
    }
    if (status == 0 && w->items != NULL) {
        status = read_items(w, &n);
        grid->nitems = LENGTH(room);
        for (size_t i = 0; i < grid->nitems; i++) {
            grid->items[i] = fmin(floor((double)n * room[i]), (double)PLAN_ITEMS_MAX);
        }
    }
    if (status == 0 && (grid->nitems == 0 || q->queries_per_day <= 0)) {
        return cli_usage(
            "plan", "costs need --items and --queries-per-day, here or in the price "
                    "file as items and queries_per_day");
    }
    return status;
}

static int plan_costs(const struct cli *cli, const struct words *w)
{
    struct cost_question q = {.layout = LAYOUT_ONE_LINE};
    struct cost_grid grid;
    struct cost all[COST_GRID_MAX * COST_GRID_MAX];
    size_t best = 0;
    bool is_found = false;
    int status = load_prices(w->prices, &q, &grid);

    if (status == 0) {
        status = read_cost_words(w, &q, &grid);
    }
    if (status != 0) {
        return status;
    }
    is_found = cost_search(&q, &grid, all, &best) == ERR_OK;
    if (!planning_print_costs(&q, all, grid.nitems * grid.nerrors,
                              is_found ? &all[best] : NULL, cli->json)) {
        return EX_OSERR;
    }
    if (!is_found) {
        (void)fputs("gillnet: no size of the grid keeps the highest error; add smaller "
                    "errors to the price file or allow a larger one with --fpr\n",
                    stderr);
        return EX_DATAERR;
    }
    return CLI_CLEAN;
}

/* ---- the shared store ---- */

static int plan_store(const struct cli *cli, const struct words *w)
{
    const struct planning_store_words words = {w->hosts, w->replicas, w->messages};
    struct cost_grid grid;
    struct prices p;
    int status = read_prices(w->prices, &p, &grid);

    return status == 0 ? planning_store(&words, &p, cli->json) : status;
}

/* ---- the command ---- */

/* The same for --store. */
static const char *misplaced_beside_store(const struct words *w)
{
    const char *const others[] = {w->items,     w->fpr,     w->bits_per_key, w->k,
                                  w->layout,    w->scheme,  w->plot,         w->cells,
                                  w->threshold, w->variant, w->queries};
    bool has_other = w->is_dcc || w->measures;

    for (size_t i = 0; i < LENGTH(others); i++) {
        has_other = has_other || others[i] != NULL;
    }
    return has_other ? "--store takes --hosts, --messages-per-day, --replicas and "
                       "--prices only"
                     : NULL;
}

/* The message about an option that has no meaning in this mode; NULL: all fit. */
static const char *misplaced(const struct words *w, bool is_cost)
{
    bool is_size = !w->is_dcc && !is_cost && w->messages == NULL;

    if (w->is_store) {
        return misplaced_beside_store(w);
    }
    if (w->hosts != NULL || w->replicas != NULL) {
        return "--hosts and --replicas belong to --store";
    }
    if (w->messages != NULL && (w->is_dcc || is_cost || w->items != NULL ||
                                w->fpr != NULL || w->k != NULL || w->layout != NULL)) {
        return "--messages-per-day stands alone: counting has sizes of its own";
    }
    if (w->is_dcc && is_cost) {
        return "--dcc and prices are two questions; ask them one after the other";
    }
    if (!w->is_dcc &&
        (w->cells != NULL || w->threshold != NULL || w->variant != NULL)) {
        return "--cells, --threshold and --variant belong to --dcc";
    }
    if (!is_size && (w->bits_per_key != NULL || w->scheme != NULL || w->plot != NULL ||
                     w->measures)) {
        return "--bits-per-key, --scheme, --plot and --measure are for sizes, without "
               "--dcc, --prices and --messages-per-day";
    }
    if (w->is_dcc && (w->fpr != NULL || w->layout != NULL)) {
        return "--fpr and --layout have no meaning with --dcc";
    }
    return is_cost && w->k != NULL ? "--k has no meaning with --prices" : NULL;
}

int lab_plan(struct cli *cli, int argc, char **argv)
{
    struct words w = {0};
    const struct cli_option table[] = {
        {"--items", &w.items, NULL, NULL},
        {"--fpr", &w.fpr, NULL, NULL},
        {"--bits-per-key", &w.bits_per_key, NULL, NULL},
        {"--k", &w.k, NULL, NULL},
        {"--layout", &w.layout, NULL, NULL},
        {"--scheme", &w.scheme, NULL, NULL},
        {"--plot", &w.plot, NULL, NULL},
        {"--measure", NULL, &w.measures, NULL},
        {"--dcc", NULL, &w.is_dcc, NULL},
        {"--cells", &w.cells, NULL, NULL},
        {"--threshold", &w.threshold, NULL, NULL},
        {"--variant", &w.variant, NULL, NULL},
        {"--prices", &w.prices, NULL, NULL},
        {"--queries-per-day", &w.queries, NULL, NULL},
        {"--messages-per-day", &w.messages, NULL, NULL},
        {"--store", NULL, &w.is_store, NULL},
        {"--hosts", &w.hosts, NULL, NULL},
        {"--replicas", &w.replicas, NULL, NULL},
    };
    const struct cli_command *command = cli_command("plan");
    int status = cli_options(command, table, LENGTH(table), &argc, argv);
    bool is_cost = w.prices != NULL || w.queries != NULL;
    const char *why = NULL;

    if (status != 0) {
        return status;
    }
    why = argc > 1 ? "it takes options only, no other words" : misplaced(&w, is_cost);
    if (why != NULL) {
        return cli_usage(command->name, why);
    }
    if (w.is_store) {
        return plan_store(cli, &w);
    }
    if (w.messages != NULL) {
        return planning_count(w.messages, cli->json);
    }
    if (w.is_dcc) {
        return plan_counting(cli, &w);
    }
    return is_cost ? plan_costs(cli, &w) : plan_sizes(cli, &w);
}
