/*
 * counting_error - equations (3) and (4): how likely a key never added reads t or more.
 *
 * The cells' binomial in log space: the terms of interest are far below the smallest double, and
 * n k over t has more digits than any number type.
 */
#include <math.h>

#include "core/filter/counting.h"

/* log of C(trials, j) p^j (1-p)^(trials-j), p = 1/m. j factors: as accurate as their sum, and no
 * lgamma, which writes a global. */
static double log_term(double trials, double m, uint64_t j)
{
    double sum = (trials - (double)j) * log1p(-1 / m);
    for (uint64_t i = 0; i < j; i++) {
        sum += log((trials - (double)i) / ((double)i + 1)) - log(m);
    }
    return sum;
}

/* The sum of terms from j on, going up (or down to 0), over the first: its terms fall, at least
 * from j on, so the sum ends where one no longer counts. */
static double tail_over_first(double trials, double m, uint64_t j, bool is_up)
{
    double odds = 1 / (m - 1);
    double term = 1;
    double sum = 1;
    double at = (double)j;
    while (term > sum * 1e-17 && (is_up ? at < trials : at > 0)) {
        if (is_up) {
            term *= (trials - at) / (at + 1) * odds;
            at++;
        } else {
            term *= at / (trials - at + 1) / odds;
            at--;
        }
        sum += term;
    }
    return sum;
}

double counting_fdcc(uint64_t n, uint64_t m, unsigned k, uint64_t t)
{
    if (m == 0 || k == 0 || t > COUNTING_FDCC_T_MAX) {
        return (double)NAN;
    }
    double trials = (double)n * k;
    if (t == 0) {
        return 1;
    }
    if ((double)t > trials) {
        return 0;
    }
    if (m == 1) {
        return 1; /* one cell holds everything */
    }
    double cells = (double)m;
    double log_share = 0; /* of a cell that holds t or more */
    if ((double)t > trials / cells) {
        log_share =
            log_term(trials, cells, t) + log(tail_over_first(trials, cells, t, true));
    } else {
        double below = log_term(trials, cells, t - 1) +
                       log(tail_over_first(trials, cells, t - 1, false));
        log_share = log1p(-exp(below));
    }
    return exp(k * log_share);
}
