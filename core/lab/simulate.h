/*
 * simulate - shared by the parts of `gillnet simulate`.
 *
 * simulate_paper.c runs the experiments of core/lab/experiment.h on threads, simulate_print.c and
 * simulate_plot.c show them; simulate_mail.c gathers a site's keys, simulate_count.c counts them.
 * Threads: one, that starts others and waits for them.   Owns: nothing.
 */
#ifndef CORE_LAB_SIMULATE_H
#define CORE_LAB_SIMULATE_H

#include "core/cli/cli.h"
#include "core/lab/experiment.h"

enum {
    SIMULATE_ROUNDS_MOST = 100000,
    SIMULATE_THREADS_MOST = 64,
    SIMULATE_CELLS_MAX = EXPERIMENT_LAST * EXPERIMENT_SIZES_MAX * EXPERIMENT_K_COUNT *
                         EXPERIMENT_COLUMNS_MAX
};

/* The request. */
struct simulation {
    uint64_t seed;
    size_t rounds;
    unsigned threads;
    bool is_wanted[EXPERIMENT_LAST + 1];
    bool has_fitted_zeros;
    bool has_knuth_constants;
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
/* The paper's key that server a, whose cells are (2, 5, 8), saw 2 times and server b, (4, 4, 3), 3
 * times, each then `more` times again. */
enum { SIMULATION_EXAMPLE_CELLS = 3 };
struct simulation_merge {
    unsigned truth;
    unsigned cells[SIMULATION_EXAMPLE_CELLS]; /* of both, added */
    unsigned count;                           /* that these say */
    unsigned a;                               /* that a alone says */
    unsigned b;
};
/* False: never. */
bool simulation_merge_example(enum counting_variant variant, unsigned more,
                              struct simulation_merge *ret);
/* Table 2 and the merge that is no longer the truth; false after a message. */
bool simulation_print_examples(bool json);

enum err simulation_plot(const struct simulation_cell *cells, size_t n, size_t rounds,
                         const char *path, struct errinfo *reterr);

/* One counted feature of a message; messages are numbered from 0, events in their order. */
struct simulation_event {
    uint64_t key;
    uint32_t message;
    uint16_t type; /* of feature; 0: of the traffic model */
};

/* A fortnight of a site's mail in the sketch of the counts, at the density of its preset. */
struct simulation_mail {
    uint64_t messages_per_day; /* what is planned for */
    uint64_t messages;         /* simulated, evenly over 14 days */
    uint64_t seed;
    uint64_t threshold;
    struct simulation_event *events; /* sorted by key at the end */
    size_t nevents;
};

struct simulation_counts {
    uint64_t distinct;      /* keys */
    uint64_t again;         /* of them counted more than once */
    double first_share;     /* of events: keys not seen before */
    double model_share;     /* of the traffic model, for as many messages */
    double doorkeeper_fill; /* share of the doorkeeper's places */
    double cells_used;      /* share of the lines of cells */
    double wrong_share;     /* of additions: the fortnight's count that they gave */
    double too_high[3]; /* of keys that came again, by more than the doorkeeper's one */
    double noise_floor[3]; /* of keys never counted; of 14 d: above 1 */
    double false_share;   /* of additions below the threshold that seemed to reach it */
    uint64_t undercounts; /* none, or there is a fault */
    uint64_t suggested;   /* messages a day to plan for */
};
enum err simulation_count(struct simulation_mail *m, struct simulation_counts *ret,
                          struct errinfo *reterr);

/* argv[0] is "paper", "mail", "sync" or "reports". Exit statuses. */
int simulate_paper(struct cli *cli, int argc, char **argv);
int simulate_mail(struct cli *cli, int argc, char **argv);
int simulate_sync(struct cli *cli, int argc, char **argv);
int simulate_reports(struct cli *cli, int argc, char **argv);

#endif
