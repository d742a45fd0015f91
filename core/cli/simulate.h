/*
 * simulate - what the parts of `gillnet simulate` share.
 *
 * simulate_paper.c runs the experiments of core/filter/experiment.h on threads, simulate_print.c and
 * simulate_plot.c show them.
 * Threads: one, that starts others and waits for them.   Owns: nothing.
 */
#ifndef CORE_CLI_SIMULATE_H
#define CORE_CLI_SIMULATE_H

#include "core/cli/cli.h"
#include "core/filter/experiment.h"

enum {
    SIMULATE_ROUNDS_MOST = 100000,
    SIMULATE_THREADS_MOST = 64,
    SIMULATE_CELLS_MAX = EXPERIMENT_LAST * EXPERIMENT_SIZES_MAX * EXPERIMENT_K_COUNT *
                         EXPERIMENT_COLUMNS_MAX
};

/* What was asked for. */
struct simulation {
    uint64_t seed;
    size_t rounds;
    unsigned threads;
    bool is_wanted[EXPERIMENT_LAST + 1];
    bool draws_zeros;
    bool shows_histogram;
};

/* One cell of one table. */
struct simulation_cell {
    struct experiment experiment;
    struct experiment_column column;
    struct experiment_mean mean;
    struct experiment_published published;
    struct experiment_verdict verdict;
};

/* False after a message: no memory. tallies: of all rounds, stride EXPERIMENT_COLUMNS_MAX. */
bool simulation_print_json(const struct simulation *s, const struct simulation_cell *c,
                           const struct experiment_tally *tallies);
void simulation_print_head(const struct simulation *s, unsigned number);
void simulation_print_cell(const struct simulation *s, const struct simulation_cell *c,
                           const struct experiment_tally *tallies);
/* How many cells of the experiment fit, by column. cells: of one experiment. */
void simulation_print_foot(const struct simulation_cell *cells, size_t n);
/* Table 2 and the merge that is no longer the truth; false after a message. */
bool simulation_print_examples(bool json);

enum err simulation_plot(const struct simulation_cell *cells, size_t n, size_t rounds,
                         const char *path, struct errinfo *reterr);

/* argv[0] is "paper". An exit status. */
int simulate_paper(struct cli *cli, int argc, char **argv);

#endif
