/*
 * cost - the cost of a filter a month, and the cheapest size of a grid.
 *
 * memory in GB x price + instances x price + false-positive queries x price + false positives x
 * price. A false-positive query is a look-up of an unlisted key that the filter lets through to the
 * exact store; a false positive is one that nothing behind the filter puts right.
 * Depends: base, layout.   Threads: pure.   Allocates: nothing.
 * Source: the cost search of the forum's article (requirement 157).
 */
#ifndef CORE_LAB_COST_H
#define CORE_LAB_COST_H

#include "core/lab/layout.h"

enum { COST_GRID_MAX = 16, COST_DAYS = 30 };

/* In one currency, whatever it is. All are finite and not negative. */
struct cost_prices {
    double memory_gb;            /* of 10^9 bytes, a month */
    double instance;             /* a month */
    double instance_gb;          /* memory that one has; 0: any amount */
    double instances;            /* at least; whole */
    double false_positive_query; /* each */
    double false_positive;       /* each */
    double
        unconfirmed; /* 0..1: share of false-positive queries that are false positives */
};

struct cost_grid {
    double errors[COST_GRID_MAX];
    size_t nerrors;
    double items[COST_GRID_MAX]; /* capacities */
    size_t nitems;
};

struct cost {
    struct layout_size size;
    double items;
    double wanted_error; /* of the grid; size.error is what the layout gives */
    double instances;
    double memory; /* money, from here on */
    double machines;
    double queries;
    double false_positives;
    double total;
    double per_million; /* look-ups */
    bool is_allowed;    /* within the highest error */
};

/* The article's prices and grid of errors: 0.50, 150, 0.0001, 0.01; no capacities. */
void cost_defaults(struct cost_prices *retprices, struct cost_grid *retgrid);

struct cost_question {
    struct cost_prices prices;
    enum layout layout;
    double queries_per_day; /* look-ups of unlisted keys */
    double max_error;
};

/* One point: a filter for this many items sized for this error. ERR_RANGE with the reason where
 * the layout cannot be had. */
enum err cost_at(const struct cost_question *q, double items, double error,
                 struct cost *ret, struct errinfo *reterr);

/* All points into ret (errors within items, nitems * nerrors of them). An impossible point
 * has a total of INFINITY. *retbest is the cheapest of those within max_error.
 * ERR_NOT_FOUND: no point is within it; ret is filled. */
enum err cost_search(const struct cost_question *q, const struct cost_grid *grid,
                     struct cost ret[COST_GRID_MAX * COST_GRID_MAX], size_t *retbest);

#endif
