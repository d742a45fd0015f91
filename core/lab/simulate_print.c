/* simulate_print - the paper's cells beside ours, for people and for programs. */
#include <math.h>

#include "core/cli/print.h"
#include "core/lab/simulate.h"

enum { BINS = 10, TABLE_OF_EXPERIMENT = 2 };

static const char *variant_name(enum counting_variant variant)
{
    return variant == COUNTING_INTUITIVE ? "intuitive" : "refined";
}

static const char *verdict_name(const struct experiment_verdict *v)
{
    return v->fits ? "fits" : "differs";
}

static unsigned fitted_zeros(const struct simulation *s, unsigned number)
{
    return s->has_fitted_zeros ? experiment_fitted_zeros(number) : 0;
}

/* ---- for programs ---- */

/* [wrong keys, rounds] for each number of wrong keys that some round had. */
static json_t *histogram_json(const struct simulation *s,
                              const struct experiment_tally *tallies)
{
    static uint32_t rounds_with[EXPERIMENT_KEYS + 1]; /* one thread prints */
    json_t *all = json_array();
    bool is_good = all != NULL;

    for (size_t i = 0; i <= EXPERIMENT_KEYS; i++) {
        rounds_with[i] = 0;
    }
    for (size_t r = 0; r < s->rounds; r++) {
        rounds_with[tallies[r * EXPERIMENT_COLUMNS_MAX].wrong]++;
    }
    for (size_t i = 0; i <= EXPERIMENT_KEYS && is_good; i++) {
        is_good = rounds_with[i] == 0 ||
                  json_array_append_new(
                      all, json_pack("[i, i]", (int)i, (int)rounds_with[i])) == 0;
    }
    if (!is_good) {
        json_decref(all);
        return NULL;
    }
    return all;
}

static json_t *cell_json(const struct simulation *s, const struct simulation_cell *c)
{
    return json_pack(
        "{s:i, s:i, s:s, s:i, s:i, s:f, s:f, s:f, s:s, s:s, s:f, s:b, s:f, s:f, s:f, "
        "s:I, s:I, s:I, s:i}",
        "experiment", (int)c->experiment.number, "table", (int)c->published.table,
        "variant", variant_name(c->column.variant), "m", (int)c->experiment.m, "k",
        (int)c->experiment.k, "mean", c->mean.mean, "std_error", c->mean.std_error,
        "published", c->published.mean, "reading",
        experiment_reading_name(c->column.reading), "verdict",
        verdict_name(&c->verdict), "z", c->verdict.z, "exact", (int)c->verdict.is_exact,
        "std", c->mean.std, "published_std", c->published.std, "distinct_mean",
        c->mean.distinct, "wrong", (json_int_t)c->mean.wrong, "rounds",
        (json_int_t)s->rounds, "seed", (json_int_t)s->seed, "fitted_zeros",
        (int)fitted_zeros(s, c->experiment.number));
}

bool simulation_print_json(const struct simulation *s, const struct simulation_cell *c,
                           const struct experiment_tally *tallies)
{
    json_t *cell = cell_json(s, c);

    if (cell != NULL && s->shows_histogram &&
        json_object_update_new(cell, json_pack("{s:i, s:f, s:o}", "max_cell",
                                               (int)c->mean.max_cell, "cells_above_20",
                                               c->mean.high_cells, "histogram",
                                               histogram_json(s, tallies))) != 0) {
        json_decref(cell);
        cell = NULL;
    }
    return json_line(cell);
}

/* ---- for people ---- */

static const char *const laws[] = {
    [1] = "each key 20 times",
    [2] = "each key 20 times",
    [3] = "each key 20 times",
    [4] = "each key 0 to 20 times, uniform",
    [5] = "each key 0 to 20 times, uniform",
    [6] = "each key by Poisson's law, 10 on average",
    [7] = "each key by Poisson's law, 20 on average",
    [8] = "each key 0 to 40 times, uniform",
};

void simulation_print_head(const struct simulation *s, unsigned number)
{
    printf("Experiment %u, Table %u: %d keys, %s; %zu rounds, seed %llu\n", number,
           number + TABLE_OF_EXPERIMENT, EXPERIMENT_KEYS, laws[number], s->rounds,
           (unsigned long long)s->seed);
    if (fitted_zeros(s, number) > 0) {
        printf("  %u keys are left out: fitted to the paper's figures, no prediction\n",
               fitted_zeros(s, number));
    }
    printf("  %-9s %-8s %6s %2s %10s %9s %10s %6s  %-7s %10s\n", "variant", "order",
           "m", "k", "ours", "std.err.", "paper", "z", "verdict", "by keys");
}

/* Rounds by their wrong keys, in at most BINS equal steps. */
static void print_histogram(const struct simulation *s, const struct simulation_cell *c,
                            const struct experiment_tally *tallies)
{
    uint32_t most = 0;
    uint32_t least = EXPERIMENT_KEYS;
    size_t bins[BINS] = {0};

    for (size_t r = 0; r < s->rounds; r++) {
        uint32_t wrong = tallies[r * EXPERIMENT_COLUMNS_MAX].wrong;
        most = wrong > most ? wrong : most;
        least = wrong < least ? wrong : least;
    }
    uint32_t width = (most - least) / BINS + 1;
    for (size_t r = 0; r < s->rounds; r++) {
        bins[(tallies[r * EXPERIMENT_COLUMNS_MAX].wrong - least) / width]++;
    }
    printf("      rounds by wrong keys:");
    for (uint32_t i = 0; i < BINS && least + i * width <= most; i++) {
        uint32_t from = least + i * width;
        if (width == 1) {
            printf(" %u: %zu", from, bins[i]);
        } else {
            printf(" %u-%u: %zu", from, from + width - 1, bins[i]);
        }
    }
    printf("\n      highest cell %u, %.1f cells above %d a round\n", c->mean.max_cell,
           c->mean.high_cells, EXPERIMENT_HIGH_CELL);
}

void simulation_print_cell(const struct simulation *s, const struct simulation_cell *c,
                           const struct experiment_tally *tallies)
{
    printf("  %-9s %-8s %6u %2u %10.3e %9.1e %10.3e %+6.1f%s %-7s %10.3e\n",
           variant_name(c->column.variant), experiment_reading_name(c->column.reading),
           c->experiment.m, c->experiment.k, c->mean.mean, c->mean.std_error,
           c->published.mean, c->verdict.z, c->verdict.is_exact ? "*" : " ",
           verdict_name(&c->verdict), c->mean.distinct);
    if (s->shows_histogram) {
        print_histogram(s, c, tallies);
    }
}

void simulation_print_foot(const struct simulation_cell *cells, size_t n)
{
    struct experiment_column columns[EXPERIMENT_COLUMNS_MAX];
    size_t ncolumns =
        n > 0 ? experiment_columns(cells[0].experiment.number, columns) : 0;

    for (size_t i = 0; i < ncolumns; i++) {
        size_t all = 0;
        size_t fit = 0;
        for (size_t at = i; at < n; at += ncolumns) { /* columns take turns */
            all++;
            fit += cells[at].verdict.fits;
        }
        printf("  %s, order %s: %zu of %zu cells within %d standard errors\n",
               variant_name(columns[i].variant),
               experiment_reading_name(columns[i].reading), fit, all, EXPERIMENT_Z_MAX);
    }
    (void)puts("  (* few wrong keys: z stands for an exact test's probability)\n");
}
