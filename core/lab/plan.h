/*
 * plan - the published arithmetic of membership and counting filters: how large, how wrong.
 *
 * n keys, m bits (or cells), k probes. Numbers that get small are reckoned as logarithms. The
 * layouts that gillnet builds have formulas of their own (layout.h); these are the textbook's.
 * Depends: nothing.   Threads: pure.   Allocates: nothing.
 * Source: Yan, Cho 2006, equations (1), (3), (4); Bloom 1970.
 */
#ifndef CORE_LAB_PLAN_H
#define CORE_LAB_PLAN_H

#include "core/base/err.h"

enum { PLAN_THRESHOLD_MAX = 1000000, PLAN_K_MAX = 64 };

/* Keys that can be planned for: a trillion. */
#define PLAN_ITEMS_MAX UINT64_C(1000000000000)
#define PLAN_BITS_MAX  (UINT64_C(1) << 60)

/* ERR_RANGE, with the name in source, outside 1..PLAN_ITEMS_MAX or 0 < error < 1. */
enum err plan_check_items(double items, struct errinfo *reterr);
enum err plan_check_error(double error, struct errinfo *reterr);

/* Equation (1): (1 - (1 - 1/m)^(kn))^k, and with e^(-kn/m) in place of the power. m > 0. */
double plan_error(uint64_t m, unsigned k, uint64_t n);
double plan_error_approx(double m, double k, double n);

/* ln 2 * m / n, and the nearest whole number of probes, at least 1. */
double plan_best_k(double m, double n);
unsigned plan_k(double m, double n);
/* The least error of m/n bits a key: 1/2^k at the best k, which is 0.6185^(m/n). */
double plan_least_error(double m, double n);

/* -n ln(error) / (ln 2)^2, to the nearest bit. 0 < error < 1. */
double plan_bits(double n, double error);
/* The error of a filter whose share of set bits is load: load^k. */
double plan_error_of_load(double load, unsigned k);

/* Signatures of bits_per_signature over the filter's bits: the paper's compression rate. */
double plan_compression(double m, double n, double bits_per_signature);

/* A counting filter as the paper has it. */
struct plan_counting {
    uint64_t items;     /* n, distinct keys, each counted once: 1..PLAN_ITEMS_MAX */
    uint64_t cells;     /* m: 1..PLAN_BITS_MAX */
    unsigned k;         /* 1..PLAN_K_MAX */
    uint64_t threshold; /* t: 1..PLAN_THRESHOLD_MAX */
};
/* ERR_RANGE and the first field that is outside. */
enum err plan_check_counting(const struct plan_counting *c, struct errinfo *reterr);

/* Natural logarithms; -INFINITY: impossible. */
/* Equation (3): the chance that a cell counts exactly j. */
double plan_log_cell(const struct plan_counting *c, uint64_t j);
/* The chance that a cell counts at least the threshold. */
double plan_log_cell_reaches(const struct plan_counting *c);
/* Equation (4), f_dcc: the chance that a key which was never counted reaches the threshold. */
double plan_log_dcc_error(const struct plan_counting *c);

#endif
