/*
 * experiment - the eight simulations of counting filters that the paper published as Tables 3-10.
 *
 * A round draws 10,000 different integers below p, how often each is inserted, and the constants
 * of k hash functions ((c x + d) mod p) mod m; it inserts them into a filter of each variant (cells
 * of 6 bits, H2) and counts the keys whose count is wrong. In experiments 1 to 3 the rate is wrong
 * keys by keys; in 4 to 8 a wrong key weighs as often as it was inserted, and the sum is divided
 * by all insertions. The order matters to the refined variant only. Where the paper says "shuffled"
 * two readings are run: every insertion for itself, and the keys, each inserted in a row.
 * The tables' intuitive columns of experiments 4, 5 and 8 agree on one draw of the counts with 537
 * and 257 zeros (ADR 0028). These two numbers are fitted to the published figures, so rounds have
 * them only with has_fitted_zeros. Knuth's constants make the steps between neighbouring keys
 * neither small nor close to a simple share of p.
 * Depends: base, counting, scheme, prng.   Threads: one for each scratch; a round depends on seed
 * and number alone.   Owns: its scratch.
 * Source: Yan, Cho 2006, section 5; Knuth, The Art of Computer Programming 3, section 6.4.
 */
#ifndef CORE_LAB_EXPERIMENT_H
#define CORE_LAB_EXPERIMENT_H

#include "core/base/err.h"
#include "core/lab/counting.h"

enum {
    EXPERIMENT_FIRST = 1,
    EXPERIMENT_LAST = 8,
    EXPERIMENT_KEYS = 10000,
    EXPERIMENT_K_MAX = 8,
    EXPERIMENT_CELLS_MAX = 1 << 24,
    EXPERIMENT_CELL_BITS = 6,
    EXPERIMENT_WIDE_BITS = 16, /* where cells are looked at */
    EXPERIMENT_COLUMNS_MAX = 3,
    EXPERIMENT_SIZES_MAX = 5,
    EXPERIMENT_K_COUNT = 3,
    EXPERIMENT_PUBLISHED_ROUNDS = 1000,
    EXPERIMENT_HIGH_CELL = 20 /* the paper's threshold: cells above it are counted */
};

enum experiment_reading {
    EXPERIMENT_ANY,      /* the order makes no difference */
    EXPERIMENT_ROUNDS,   /* each key once, then each again */
    EXPERIMENT_IN_A_ROW, /* each key as often as it is due, then the next */
    EXPERIMENT_SHUFFLED  /* all insertions in random order */
};
/* "any", "rounds", "in-a-row", "shuffled". */
const char *experiment_reading_name(enum experiment_reading reading);

/* One column of a table: a variant, and the order of insertions. */
struct experiment_column {
    enum counting_variant variant;
    enum experiment_reading reading;
};
/* The columns of an experiment: the intuitive one, then a refined one for each reading. */
size_t experiment_columns(unsigned number,
                          struct experiment_column ret[EXPERIMENT_COLUMNS_MAX]);
/* Sizes m and numbers of probes of an experiment, as the table has them. */
size_t experiment_sizes(unsigned number, uint32_t ret[EXPERIMENT_SIZES_MAX]);
/* How many keys the paper's own draw seems to have left out; 0: nothing is fitted. */
unsigned experiment_fitted_zeros(unsigned number);
extern const unsigned experiment_ks[EXPERIMENT_K_COUNT];

/* The published figures of a cell. */
struct experiment_published {
    unsigned table; /* where it stands */
    double mean;
    double std; /* of rounds */
};
/* False: the paper has no such cell. */
bool experiment_published(unsigned number, enum counting_variant variant, uint32_t m,
                          unsigned k, struct experiment_published *ret);

struct experiment {
    unsigned number; /* EXPERIMENT_FIRST..EXPERIMENT_LAST */
    uint32_t m;
    unsigned k; /* up to EXPERIMENT_K_MAX */
    uint64_t seed;
    bool has_fitted_zeros;    /* experiment_fitted_zeros() keys are not inserted */
    bool has_knuth_constants; /* c / p as Knuth advises, not any c */
    bool looks_at_cells; /* max_cell and high_cells are filled, of cells of 16 bits */
};

/* The result of one round in one column. */
struct experiment_tally {
    double rate;     /* as the table has it */
    double distinct; /* the second measure: wrong keys by keys that were inserted */
    uint32_t wrong;  /* keys */
    uint32_t max_cell;
    uint32_t high_cells; /* above EXPERIMENT_HIGH_CELL */
};

struct experiment_scratch;
/* ERR_NOMEM. */
enum err experiment_new(struct experiment_scratch **ret);
void experiment_free(struct experiment_scratch **s);
/* Writes a tally for each column. ERR_RANGE: no such number or k; m is 0 or above
 * EXPERIMENT_CELLS_MAX. */
enum err experiment_round(struct experiment_scratch *s, const struct experiment *e,
                          uint64_t round,
                          struct experiment_tally ret[EXPERIMENT_COLUMNS_MAX]);

/* The result of all rounds. */
struct experiment_mean {
    double mean;
    double std; /* of rounds */
    double std_error;
    double distinct;
    uint64_t wrong; /* keys, of all rounds */
    uint32_t max_cell;
    double high_cells; /* of a round */
};
void experiment_sum_up(const struct experiment_tally *rounds, size_t n, size_t stride,
                       struct experiment_mean *ret);

/* A mean beside the published one. z is the difference in standard errors of the difference. With
 * fewer than EXPERIMENT_FEW wrong keys a normal law says little: z is then what stands for the
 * probability of an exact test (both are Poisson counts of wrong keys; given their sum, ours is
 * binomial), and mean->std_error becomes that of the two tables' rate together, so that no wrong
 * key at all does not seem to be certainty. */
enum { EXPERIMENT_FEW = 30, EXPERIMENT_Z_MAX = 4 };
struct experiment_verdict {
    double z; /* above 0: ours is higher */
    bool is_exact;
    bool fits; /* at most EXPERIMENT_Z_MAX */
};
void experiment_compare(struct experiment_mean *mean, size_t rounds,
                        const struct experiment_published *published,
                        struct experiment_verdict *ret);

#endif
