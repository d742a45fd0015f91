/* simulate_sync - `gillnet simulate sync`: why counts travel by origin, and how fast and dear
 * exchange is. */
#include "core/lab/simulate_sync.h"

#include <math.h>
#include <sysexits.h>

#include "core/cli/cli.h"
#include "core/cli/humanize.h"
#include "core/cli/print.h"
#include "core/lab/simulate.h"

enum {
    NODES_USUAL = 30,
    DEGREE_USUAL = 100,
    MESSAGES_USUAL = 100000,
    ENTRIES_USUAL = 50000,
    INTERVAL_USUAL = 300, /* of `subscribe` */
    INTERVAL_LEAST = 10,
    INTERVAL_MOST = 86400,
    BARE_NODES = 5
};

struct words {
    const char *nodes;
    const char *loss;
    const char *topology;
    const char *degree;
    const char *seed;
    const char *messages_per_day;
    const char *entries_per_hour;
    const char *interval;
};

static int read_number(const char *option, const char *text, double least, double most,
                       bool is_whole, double *io)
{
    struct errinfo why = {.code = ERR_OK};
    double v = 0;

    if (text == NULL) {
        return 0;
    }
    if (!humanize_read(text, &v) || !(v >= least && v <= most) ||
        (is_whole && floor(v) != v)) {
        errinfo_set(&why, ERR_RANGE, option, 0, "%.60s: give a %snumber from %g to %g",
                    text, is_whole ? "whole " : "", least, most);
        return cli_fail(&why);
    }
    *io = v;
    return 0;
}

static int read_topology(const char *text, enum spread_topology *io)
{
    for (unsigned t = SPREAD_CYCLE; text != NULL && t <= SPREAD_PUBLISH; t++) {
        if (strcmp(text, spread_topology_name((enum spread_topology)t)) == 0) {
            *io = (enum spread_topology)t;
            return 0;
        }
    }
    return text == NULL
               ? 0
               : cli_usage("simulate",
                           "--topology is cycle, mesh, relay, mirror or publish");
}

static int read_words(const struct words *w, struct spread *ret)
{
    double nodes = NODES_USUAL;
    double degree = DEGREE_USUAL;
    double messages = MESSAGES_USUAL;
    double entries = ENTRIES_USUAL;
    double seed = 1;
    double interval = INTERVAL_USUAL;
    const struct {
        const char *option;
        const char *text;
        double least;
        double most;
        bool is_whole;
        double *io;
    } rows[] = {
        {"--nodes", w->nodes, 2, SPREAD_NODES_MOST, true, &nodes},
        {"--degree", w->degree, 1, SPREAD_NODES_MOST, true, &degree},
        {"--loss", w->loss, 0, 0.9, false, &ret->loss},
        {"--seed", w->seed, 0, 0x1p53, true, &seed},
        {"--messages-per-day", w->messages_per_day, 1, 1e8, true, &messages},
        {"--entries-per-hour", w->entries_per_hour, 1, 1e9, true, &entries},
        {"--interval", w->interval, INTERVAL_LEAST, INTERVAL_MOST, true, &interval},
    };
    int status = read_topology(w->topology, &ret->topology);

    for (size_t i = 0; status == 0 && i < LENGTH(rows); i++) {
        status = read_number(rows[i].option, rows[i].text, rows[i].least, rows[i].most,
                             rows[i].is_whole, rows[i].io);
    }
    ret->nodes = (unsigned)nodes;
    ret->degree = (unsigned)degree;
    ret->seed = (uint64_t)seed;
    ret->messages_per_day = (uint64_t)messages;
    ret->entries_per_hour = (uint64_t)entries;
    ret->interval_s = (uint64_t)interval;
    return status;
}

/* ---- streams beside bare addition ---- */

static bool show_echo(bool json)
{
    static const struct echo rows[] = {{3, 5, 0}, {5, 4, 0}};
    bool is_good = true;

    if (!json) {
        (void)puts(
            "Echo: one report, then each server sends every other what its merged "
            "filter grew by\n(5-bit cells):");
    }
    for (size_t i = 0; is_good && i < LENGTH(rows); i++) {
        uint64_t n = echo_of(rows[i].nodes, rows[i].rounds);
        if (json) {
            is_good = json_line(json_pack("{s:s, s:i, s:i, s:I, s:i}", "example",
                                          "echo", "nodes", (int)rows[i].nodes, "rounds",
                                          (int)rows[i].rounds, "bare", (json_int_t)n,
                                          "streams", 1));
        } else {
            printf("  %u servers, %u rounds: counted %llu times%s; by streams once\n",
                   rows[i].nodes, rows[i].rounds, (unsigned long long)n,
                   n == BARE_CELL_MOST ? " (all that fits)" : "");
        }
    }
    return is_good;
}

static bool show_cells(enum counting_variant variant, unsigned more, bool json)
{
    const char *name = variant == COUNTING_INTUITIVE ? "intuitive" : "refined";
    struct simulation_merge m;

    if (!simulation_merge_example(variant, more, &m)) {
        return false;
    }
    if (json) {
        return json_line(json_pack("{s:s, s:s, s:i, s:[i,i,i], s:i, s:i, s:i}",
                                   "example", "cells", "variant", name, "more",
                                   (int)more, "sum", (int)m.cells[0], (int)m.cells[1],
                                   (int)m.cells[2], "bare", (int)m.count, "streams",
                                   (int)(m.a + m.b), "truth", (int)m.truth));
    }
    printf(
        "  seen %u times, %-9s filters: added (%u, %u, %u), which says %u; by streams "
        "%u + %u = %u\n",
        m.truth, name, m.cells[0], m.cells[1], m.cells[2], m.count, m.a, m.b,
        m.a + m.b);
    return true;
}

/* The paper's example: the count of added cells is not the sum of the counts, also with refined
 * filters. */
static bool show_paper(bool json)
{
    bool is_good = true;

    if (!json) {
        (void)puts(
            "The paper's counter-example: a key seen 2 times at one server, cells "
            "(2, 5, 8), and 3 times at\nanother, (4, 4, 3); then once more at "
            "each:");
    }
    for (unsigned more = 0; more < 2 && is_good; more++) {
        is_good = show_cells(COUNTING_INTUITIVE, more, json) &&
                  show_cells(COUNTING_REFINED, more, json);
    }
    if (!json) {
        (void)puts("");
    }
    return is_good;
}

static int show_bare(const struct spread *s, bool json)
{
    struct errinfo why = {.code = ERR_OK};
    struct bare_result r;
    unsigned nodes = s->nodes < BARE_NODES ? s->nodes : BARE_NODES;

    if (bare_run(nodes, s->loss, s->seed, &r) != ERR_OK) {
        errinfo_set(&why, ERR_NOMEM, "simulate sync", 0, "out of memory");
        return cli_fail(&why);
    }
    if (json) {
        return json_line(json_pack(
                   "{s:s, s:i, s:f, s:i, s:I, s:I, s:I, s:I, s:f, s:f, s:I}", "example",
                   "same traffic", "nodes", (int)nodes, "loss", s->loss, "reports",
                   BARE_REPORTS, "sent", (json_int_t)r.sent, "sent_again",
                   (json_int_t)r.sent_again, "counts", (json_int_t)r.pairs,
                   "bare_wrong", (json_int_t)r.bare_wrong, "bare_mean", r.bare_mean,
                   "bare_worst", r.bare_worst, "streams_wrong",
                   (json_int_t)r.stream_wrong))
                   ? CLI_CLEAN
                   : EX_OSERR;
    }
    printf(
        "The same traffic (%u servers, %d reports, loss %.0f %%, %llu objects sent, %llu "
        "of them again\nbecause no answer came):\n",
        nodes, BARE_REPORTS, s->loss * 100, (unsigned long long)r.sent,
        (unsigned long long)r.sent_again);
    printf("  added as they come: %llu of %llu counts wrong, on the average %.2f times "
           "the truth, at worst %.2f\n",
           (unsigned long long)r.bare_wrong, (unsigned long long)r.pairs, r.bare_mean,
           r.bare_worst);
    printf("  by streams:         %llu of %llu counts wrong\n\n",
           (unsigned long long)r.stream_wrong, (unsigned long long)r.pairs);
    return r.stream_wrong == 0 ? CLI_CLEAN : EX_SOFTWARE;
}

/* ---- how objects spread ---- */

static void on_progress(void *context, double share)
{
    progress_show(context, "objects spread", share);
}

static bool show_spread_json(const struct spread *s, const struct spread_result *r)
{
    return json_line(json_pack(
        "{s:s, s:s, s:i, s:i, s:f, s:I, s:f, s:f, s:f, s:I, s:f, s:f, s:f, s:f}",
        "example", "spread", "topology", spread_topology_name(s->topology), "nodes",
        (int)s->nodes, "relays", (int)r->relays, "loss", s->loss, "seed",
        (json_int_t)s->seed, "mean_s", r->mean_s, "p99_s", r->p99_s, "worst_s",
        r->worst_s, "unreached", (json_int_t)r->unreached, "object_bytes",
        r->object_bytes, "in_bytes_per_day", r->in_bytes_per_day, "out_bytes_per_day",
        r->out_bytes_per_day, "most_out_bytes_per_day", r->most_out_bytes_per_day));
}

static void show_spread(const struct spread *s, const struct spread_result *r)
{
    bool is_published = s->topology == SPREAD_MIRROR || s->topology == SPREAD_PUBLISH;
    char a[HUMANIZE_MAX];
    char b[HUMANIZE_MAX];
    char c[HUMANIZE_MAX];

    printf("%s of %u servers", spread_topology_name(s->topology), s->nodes);
    if (r->relays > 0) {
        printf(", %u %s", r->relays, is_published ? "mirrors" : "relays");
    }
    if (is_published) {
        printf(", one publishes %s entries an hour, each looks every %s",
               humanize_count(s->entries_per_hour, a),
               humanize_seconds((double)s->interval_s, b));
    } else {
        printf(", each with %s messages a day", humanize_count(s->messages_per_day, a));
    }
    printf(", loss %.0f %%:\n", s->loss * 100);
    printf("  from report to a server: mean %s, 99 of 100 within %s, the last %s%s\n",
           humanize_seconds(r->mean_s, a), humanize_seconds(r->p99_s, b),
           humanize_seconds(r->worst_s, c), r->unreached > 0 ? "; SOME NEVER" : "");
    printf("  an object of an interval: %s\n", humanize_bytes(r->object_bytes, a));
    printf("  a server takes in %s a day", humanize_bytes(r->in_bytes_per_day, a));
    if (!is_published) {
        printf(" and gives out %s", humanize_bytes(r->out_bytes_per_day, b));
    }
    printf("; the busiest gives out %s\n",
           humanize_bytes(r->most_out_bytes_per_day, c));
}

int simulate_sync(struct cli *cli, int argc, char **argv)
{
    struct words w = {0};
    struct spread s = {.topology = SPREAD_MESH};
    struct spread_result r;
    struct errinfo why = {.code = ERR_OK};
    struct progress bar;
    const struct cli_option table[] = {
        {"--nodes", &w.nodes, NULL, NULL},
        {"--loss", &w.loss, NULL, NULL},
        {"--topology", &w.topology, NULL, NULL},
        {"--degree", &w.degree, NULL, NULL},
        {"--seed", &w.seed, NULL, NULL},
        {"--messages-per-day", &w.messages_per_day, NULL, NULL},
        {"--entries-per-hour", &w.entries_per_hour, NULL, NULL},
        {"--interval", &w.interval, NULL, NULL},
    };
    int status =
        cli_options(cli_command("simulate"), table, LENGTH(table), &argc, argv);

    if (status == 0 && argc > 1) {
        status = cli_usage("simulate", "sync takes options only");
    }
    status = status != 0 ? status : read_words(&w, &s);
    if (status != 0) {
        return status;
    }
    progress_init(&bar);
    enum err e = spread_run(&s, on_progress, &bar, &r, &why);
    progress_clear(&bar);
    if (e != ERR_OK) {
        return cli_fail(&why);
    }
    if (!show_echo(cli->json) || !show_paper(cli->json)) {
        return EX_OSERR;
    }
    status = show_bare(&s, cli->json);
    if (status != CLI_CLEAN) {
        return status;
    }
    if (cli->json) {
        return show_spread_json(&s, &r) ? CLI_CLEAN : EX_OSERR;
    }
    show_spread(&s, &r);
    return CLI_CLEAN;
}
