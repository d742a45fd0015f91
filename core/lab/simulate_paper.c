/* simulate_paper - `gillnet simulate paper`: Tables 3-10, cell by cell, rounds spread over
 * threads. */
#include <math.h>
#include <pthread.h>
#include <sysexits.h>

#include "core/cli/cli.h"
#include "core/cli/humanize.h"
#include "core/cli/print.h"
#include "core/lab/simulate.h"

enum { ROUNDS_USUAL = 200, ROUNDS_LEAST = 2, SEED_USUAL = 1 };

/* Options as they were written; NULL: not there. */
struct words {
    const char *experiment;
    const char *rounds;
    const char *seed;
    const char *threads;
    const char *plot;
    const char *constants;
    bool has_fitted_zeros;
    bool shows_histogram;
    bool shows_examples;
};

/* One thread's share of the rounds of one cell. */
struct worker {
    pthread_t thread;
    struct experiment_scratch *scratch; /* owned */
    struct experiment experiment;
    struct experiment_tally *tallies; /* of all rounds; its own are written */
    size_t first;
    size_t step;
    size_t rounds;
    enum err error;
};

struct run {
    const struct simulation *simulation;
    const struct cli *cli;
    const char *plot;
    struct worker *workers; /* as many as simulation->threads */
    struct experiment_tally *tallies;
    struct simulation_cell *cells;
    size_t ncells;
    size_t ndone; /* sizes and numbers of probes */
    size_t nwanted;
    struct progress progress;
};

/* ---- the command line ---- */

static int refuse(const char *option, const char *text, const char *hint)
{
    struct errinfo why;

    (void)errinfo_set(&why, ERR_RANGE, option, 0, "%.60s: %s", text, hint);
    return cli_fail(&why);
}

static int read_whole(const char *option, const char *text, double least, double most,
                      const char *hint, uint64_t *ret)
{
    double v = 0;

    if (text == NULL) {
        return 0;
    }
    if (!humanize_read(text, &v) || !(v >= least && v <= most) || floor(v) != v) {
        return refuse(option, text, hint);
    }
    *ret = (uint64_t)v;
    return 0;
}

/* "3", "1..8", "1,3,5". */
static bool read_experiments(const char *text, bool ret[EXPERIMENT_LAST + 1])
{
    const char *at = text;

    for (;;) {
        unsigned first = 0;
        unsigned last = 0;
        if (*at < '0' + EXPERIMENT_FIRST || *at > '0' + EXPERIMENT_LAST) {
            return false;
        }
        first = last = (unsigned)(*at++ - '0');
        if (strncmp(at, "..", 2) == 0) {
            if (at[2] < '0' + EXPERIMENT_FIRST || at[2] > '0' + EXPERIMENT_LAST) {
                return false;
            }
            last = (unsigned)(at[2] - '0');
            at += 3;
        }
        if (last < first) {
            return false;
        }
        for (unsigned i = first; i <= last; i++) {
            ret[i] = true;
        }
        if (*at == '\0') {
            return true;
        }
        if (*at++ != ',') {
            return false;
        }
    }
}

static unsigned usual_threads(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    if (n < 1) {
        return 1;
    }
    return n > SIMULATE_THREADS_MOST ? SIMULATE_THREADS_MOST : (unsigned)n;
}

static int read_words(const struct words *w, struct simulation *ret)
{
    uint64_t rounds = ROUNDS_USUAL;
    uint64_t threads = usual_threads();
    const bool is_knuth = w->constants != NULL && strcmp(w->constants, "knuth") == 0;
    int status = read_whole(
        "--rounds", w->rounds, ROUNDS_LEAST, SIMULATE_ROUNDS_MOST,
        "give 2 to 100000 rounds; the paper has 1000, 200 take minutes", &rounds);

    *ret = (struct simulation){.seed = SEED_USUAL,
                               .has_fitted_zeros = w->has_fitted_zeros,
                               .has_knuth_constants = is_knuth,
                               .shows_histogram = w->shows_histogram};
    if (status == 0) {
        status =
            read_whole("--seed", w->seed, 0, 0x1p53, "give a whole number", &ret->seed);
    }
    if (status == 0) {
        status = read_whole("--threads", w->threads, 1, SIMULATE_THREADS_MOST,
                            "give 1 to 64 threads", &threads);
    }
    if (status == 0 && !read_experiments(w->experiment != NULL ? w->experiment : "1..8",
                                         ret->is_wanted)) {
        status = refuse("--experiment", w->experiment,
                        "experiments are 1 to 8; give one, or 1..8, or 1,3,5");
    }
    if (status == 0 && !is_knuth && w->constants != NULL &&
        strcmp(w->constants, "any") != 0) {
        status = refuse("--constants", w->constants, "give any or knuth");
    }
    ret->rounds = rounds;
    ret->threads = (unsigned)threads;
    return status;
}

/* ---- rounds ---- */

static void *work(void *context)
{
    struct worker *w = context;

    w->error = ERR_OK;
    for (size_t r = w->first; r < w->rounds && w->error == ERR_OK; r += w->step) {
        w->error = experiment_round(w->scratch, &w->experiment, r,
                                    &w->tallies[r * EXPERIMENT_COLUMNS_MAX]);
    }
    return NULL;
}

/* All rounds of one size and number of probes. The result of a round does not depend on the
 * thread, so neither do the means. */
static enum err run_rounds(struct run *r, const struct experiment *e)
{
    unsigned nstarted = 0;
    enum err error = ERR_OK;

    for (unsigned i = 0; i < r->simulation->threads; i++) {
        struct worker *w = &r->workers[i];
        w->experiment = *e;
        w->tallies = r->tallies;
        w->first = i;
        w->step = r->simulation->threads;
        w->rounds = r->simulation->rounds;
    }
    while (nstarted < r->simulation->threads - 1 &&
           pthread_create(&r->workers[nstarted].thread, NULL, work,
                          &r->workers[nstarted]) == 0) {
        nstarted++;
    }
    for (unsigned i = nstarted; i < r->simulation->threads; i++) {
        (void)work(&r->workers[i]); /* what found no thread is done here */
    }
    for (unsigned i = 0; i < nstarted; i++) {
        (void)pthread_join(r->workers[i].thread, NULL);
    }
    for (unsigned i = 0; i < r->simulation->threads && error == ERR_OK; i++) {
        error = r->workers[i].error;
    }
    return error;
}

/* The cells of one size and number of probes: one for each column. */
static bool show_columns(struct run *r, const struct experiment *e)
{
    struct experiment_column columns[EXPERIMENT_COLUMNS_MAX];
    size_t n = experiment_columns(e->number, columns);

    for (size_t i = 0; i < n; i++) {
        struct simulation_cell *c = &r->cells[r->ncells];
        c->experiment = *e;
        c->column = columns[i];
        if (!experiment_published(e->number, columns[i].variant, e->m, e->k,
                                  &c->published)) {
            continue;
        }
        r->ncells++;
        experiment_sum_up(&r->tallies[i], r->simulation->rounds, EXPERIMENT_COLUMNS_MAX,
                          &c->mean);
        experiment_compare(&c->mean, r->simulation->rounds, &c->published, &c->verdict);
        if (!r->cli->json) {
            simulation_print_cell(r->simulation, c, &r->tallies[i]);
        } else if (!simulation_print_json(r->simulation, c, &r->tallies[i])) {
            return false;
        }
    }
    return true;
}

static int run_experiment(struct run *r, unsigned number)
{
    uint32_t sizes[EXPERIMENT_SIZES_MAX];
    size_t nsizes = experiment_sizes(number, sizes);
    size_t before = r->ncells;

    if (!r->cli->json) {
        simulation_print_head(r->simulation, number);
    }
    for (size_t i = 0; i < nsizes * EXPERIMENT_K_COUNT; i++) {
        struct experiment e = {.number = number,
                               .m = sizes[i / EXPERIMENT_K_COUNT],
                               .k = experiment_ks[i % EXPERIMENT_K_COUNT],
                               .seed = r->simulation->seed,
                               .has_fitted_zeros = r->simulation->has_fitted_zeros,
                               .has_knuth_constants =
                                   r->simulation->has_knuth_constants,
                               .looks_at_cells = r->simulation->shows_histogram};
        progress_show(&r->progress, "simulating",
                      (double)r->ndone / (double)r->nwanted);
        enum err error = run_rounds(r, &e);
        progress_clear(&r->progress);
        if (error != ERR_OK) {
            struct errinfo why;
            (void)errinfo_set(&why, error, "simulate paper", 0, "%s", err_text(error));
            return cli_fail(&why);
        }
        r->ndone++;
        if (!show_columns(r, &e)) {
            return EX_OSERR;
        }
        (void)fflush(stdout); /* each takes seconds */
    }
    if (!r->cli->json) {
        simulation_print_foot(&r->cells[before], r->ncells - before);
    }
    return 0;
}

static int run_all(struct run *r)
{
    int status = 0;

    for (unsigned n = EXPERIMENT_FIRST; n <= EXPERIMENT_LAST; n++) {
        uint32_t sizes[EXPERIMENT_SIZES_MAX];
        if (r->simulation->is_wanted[n]) {
            r->nwanted += experiment_sizes(n, sizes) * EXPERIMENT_K_COUNT;
        }
    }
    for (unsigned n = EXPERIMENT_FIRST; n <= EXPERIMENT_LAST && status == 0; n++) {
        if (r->simulation->is_wanted[n]) {
            status = run_experiment(r, n);
        }
    }
    if (status == 0 && r->plot != NULL) {
        struct errinfo why = {0};
        if (simulation_plot(r->cells, r->ncells, r->simulation->rounds, r->plot,
                            &why) != ERR_OK) {
            status = cli_fail(&why);
        }
    }
    return status;
}

static int no_memory(void)
{
    struct errinfo why;

    (void)errinfo_set(&why, ERR_NOMEM, "simulate", 0,
                      "out of memory; try fewer rounds or threads");
    return cli_fail(&why);
}

static int run_simulation(const struct cli *cli, const struct simulation *s,
                          const char *plot)
{
    struct run r = {.simulation = s, .cli = cli, .plot = plot};
    bool has_memory = true;
    int status = 0;

    progress_init(&r.progress);
    r.workers = calloc(s->threads, sizeof(*r.workers));
    r.tallies = calloc(s->rounds * EXPERIMENT_COLUMNS_MAX, sizeof(*r.tallies));
    r.cells = calloc(SIMULATE_CELLS_MAX, sizeof(*r.cells));
    has_memory = r.workers != NULL && r.tallies != NULL && r.cells != NULL;
    for (unsigned i = 0; has_memory && i < s->threads; i++) {
        has_memory = experiment_new(&r.workers[i].scratch) == ERR_OK;
    }
    status = has_memory ? run_all(&r) : no_memory();
    for (unsigned i = 0; r.workers != NULL && i < s->threads; i++) {
        experiment_free(&r.workers[i].scratch);
    }
    free(r.workers);
    free(r.tallies);
    free(r.cells);
    return status;
}

int simulate_paper(struct cli *cli, int argc, char **argv)
{
    struct words w = {0};
    struct simulation s;
    const struct cli_option table[] = {
        {"--experiment", &w.experiment, NULL, NULL},
        {"--rounds", &w.rounds, NULL, NULL},
        {"--seed", &w.seed, NULL, NULL},
        {"--threads", &w.threads, NULL, NULL},
        {"--plot", &w.plot, NULL, NULL},
        {"--constants", &w.constants, NULL, NULL},
        {"--fitted-zeros", NULL, &w.has_fitted_zeros, NULL},
        {"--histogram", NULL, &w.shows_histogram, NULL},
        {"--counter-example", NULL, &w.shows_examples, NULL},
    };
    const struct cli_command *command = cli_command("simulate");
    int status = cli_options(command, table, LENGTH(table), &argc, argv);

    if (status != 0) {
        return status;
    }
    if (argc > 1) {
        return cli_usage(command->name, "paper takes options only, no other words");
    }
    if (w.shows_examples) {
        return simulation_print_examples(cli->json) ? CLI_CLEAN : EX_OSERR;
    }
    status = read_words(&w, &s);
    return status != 0 ? status : run_simulation(cli, &s, w.plot);
}
