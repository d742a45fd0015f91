/* experiment_verdict - means of rounds, and whether they and the published ones can be the same. */
#include <math.h>

#include "core/lab/experiment.h"

void experiment_sum_up(const struct experiment_tally *rounds, size_t n, size_t stride,
                       struct experiment_mean *ret)
{
    struct experiment_mean m = {.mean = 0};
    double squares = 0;

    for (size_t i = 0; i < n; i++) {
        const struct experiment_tally *t = &rounds[i * stride];
        m.mean += t->rate / (double)n;
        m.distinct += t->distinct / (double)n;
        m.high_cells += t->high_cells / (double)n;
        m.wrong += t->wrong;
        m.max_cell = t->max_cell > m.max_cell ? t->max_cell : m.max_cell;
    }
    for (size_t i = 0; i < n; i++) {
        double d = rounds[i * stride].rate - m.mean;
        squares += d * d;
    }
    m.std = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
    m.std_error = m.std / sqrt((double)n);
    *ret = m;
}

/* ln n!; lgamma writes to a variable of the process. */
static double log_factorial(double n)
{
    int sign = 0;
    return lgamma_r(n + 1, &sign);
}

/* The probability that n trials of share q give at least (or, is_below, at most) `have`. */
static double binomial_tail(uint64_t n, double q, uint64_t have, bool is_below)
{
    uint64_t from = is_below ? 0 : have;
    uint64_t to = is_below ? have : n;
    double sum = 0;

    for (uint64_t i = from; i <= to; i++) {
        double hits = (double)i;
        double misses = (double)(n - i);
        sum += exp(log_factorial((double)n) - log_factorial(hits) -
                   log_factorial(misses) + hits * log(q) + misses * log1p(-q));
    }
    return fmin(sum, 1);
}

/* The normal deviate that is exceeded to both sides with probability p. */
static double z_of(double p)
{
    double low = 0;
    double high = 40;

    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (erfc(middle / sqrt(2)) > p) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The mean share of one wrong key in a round's rate: from our rounds, or else from the published
 * moments, because rounds are compound Poisson. */
static double weight_of_one(const struct experiment_mean *mean, size_t rounds,
                            const struct experiment_published *published)
{
    if (mean->wrong > 0) {
        return mean->mean * (double)rounds / (double)mean->wrong;
    }
    if (published->mean > 0) {
        return published->std * published->std / published->mean;
    }
    return 1.0 / EXPERIMENT_KEYS;
}

void experiment_compare(struct experiment_mean *mean, size_t rounds,
                        const struct experiment_published *published,
                        struct experiment_verdict *ret)
{
    double weight = weight_of_one(mean, rounds, published);
    uint64_t theirs =
        (uint64_t)round(published->mean * EXPERIMENT_PUBLISHED_ROUNDS / weight);
    uint64_t all = mean->wrong + theirs;
    double n = (double)rounds;

    ret->is_exact = mean->wrong < EXPERIMENT_FEW || theirs < EXPERIMENT_FEW;
    if (ret->is_exact) {
        double q = n / (n + EXPERIMENT_PUBLISHED_ROUNDS);
        bool is_below = (double)mean->wrong < (double)all * q;
        double p = fmin(2 * binomial_tail(all, q, mean->wrong, is_below), 1);
        double pooled = fmax((double)all, 1) / (n + EXPERIMENT_PUBLISHED_ROUNDS);
        ret->z = is_below ? -z_of(p) : z_of(p);
        mean->std_error = fmax(mean->std_error, weight * sqrt(pooled / n));
    } else {
        double error =
            hypot(mean->std_error, published->std / sqrt(EXPERIMENT_PUBLISHED_ROUNDS));
        ret->z = (mean->mean - published->mean) / error;
    }
    ret->fits = fabs(ret->z) <= EXPERIMENT_Z_MAX;
}
