/*
 * bloom_size - each layout's error formula, and the lines it takes to stay below an error.
 */
#include <math.h>

#include "core/filter/bloom.h"

enum { BISECTIONS = 48 };

static const double lambda_max = 600; /* exp(-lambda) is still a normal double */
static const double bits_max = 128;   /* a key; beyond, an exact table is smaller */

/* Expected chance that k probes of a foreign key hit in a line in which `balls` bits were set
 * at random: the k-th moment of the share of set bits, to second order around its mean. */
static double line_error(unsigned k, double balls)
{
    double m = BLOOM_LINE_BITS;
    double one_empty = pow(1 - 1 / m, balls);
    double two_empty = pow(1 - 2 / m, balls);
    double mean = m * (1 - one_empty);
    if (mean <= 0) {
        return 0;
    }
    double variance =
        m * (m - 1) * two_empty + m * one_empty - m * m * one_empty * one_empty;
    double spread = 0.5 * k * (k - 1) * variance / (mean * mean);
    return fmin(1, pow(mean / m, k) * (1 + spread));
}

/* The mean of line_error over lines that hold `lambda` keys in the mean, k bits of each. */
static double poisson_error(unsigned k, double lambda)
{
    if (lambda > lambda_max) {
        return 1;
    }
    double last = lambda + 12 * sqrt(lambda) + 40;
    double share = exp(-lambda);
    double sum = 0;
    for (int keys = 0; keys <= (int)last; keys++) {
        sum += share * line_error(k, (double)keys * k);
        share *= lambda / (keys + 1);
    }
    return fmin(1, sum);
}

/* 1 - (1 - 1/part)^balls, exact also where 1/part is below a double's last place. */
static double share_set(double part, double balls)
{
    return -expm1(balls * log1p(-1 / part));
}

double bloom_error(enum bloom_layout layout, uint64_t nlines, unsigned k, uint64_t n)
{
    double lines = (double)nlines;
    double keys = (double)n;
    switch (layout) {
    case BLOOM_ONE_LINE:
        return poisson_error(k, keys / lines);
    case BLOOM_TWO_LINES: /* each line is the first of some keys, the second of others */
        return pow(poisson_error(k / 2, 2 * keys / lines), 2);
    case BLOOM_CLASSIC: /* equation (1) of Yan and Cho */
        return pow(share_set(lines * BLOOM_LINE_BITS, keys * k), k);
    case BLOOM_PARTITIONED:
        return pow(share_set(floor(lines * BLOOM_LINE_BITS / k), keys), k);
    }
    return 1;
}

uint64_t bloom_lines_for(uint64_t n, double bits_per_key)
{
    double lines = ceil((double)n * bits_per_key / BLOOM_LINE_BITS);
    return lines < 1 ? 1 : (uint64_t)lines;
}

uint64_t bloom_lines_for_error(enum bloom_layout layout, uint64_t n, double error,
                               unsigned k)
{
    uint64_t high = bloom_lines_for(n, bits_max);
    uint64_t low = 0; /* not enough */
    if (bloom_error(layout, high, k, n) > error) {
        return 0;
    }
    for (int i = 0; i < BISECTIONS && high - low > 1; i++) {
        uint64_t middle = low + (high - low) / 2;
        if (bloom_error(layout, middle, k, n) <= error) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}

uint64_t bloom_items_step(uint64_t n)
{
    uint64_t step = BLOOM_STEP_LEAST;
    while (step < n && step <= UINT64_MAX / 2) {
        uint64_t between = (uint64_t)ceil((double)step * M_SQRT2);
        if (between >= n) {
            return between;
        }
        step *= 2;
    }
    return step < n ? n : step;
}

/* log2(1/error) probes, rounded, need the least memory. The fill of lines varies, so with lines the
 * best number lies near it, and its neighbours are tried too. */
enum err bloom_size(enum bloom_layout layout, uint64_t n, double error,
                    uint64_t *retnlines, unsigned *retk)
{
    if (!bloom_layout_name(layout)) {
        return ERR_UNSUPPORTED;
    }
    if (n == 0 || !(error > 0 && error < 1) ||
        (double)n * bits_max / BLOOM_LINE_BITS > (double)BLOOM_LINES_MAX) {
        return ERR_RANGE;
    }
    double best = fmin(fmax(round(-log2(error)), 1), BLOOM_K_MAX);
    unsigned middle = (unsigned)best;
    uint64_t lines = 0;
    unsigned chosen = 0;
    bool is_spread = layout == BLOOM_CLASSIC || layout == BLOOM_PARTITIONED;
    unsigned around = is_spread ? 0 : 3;
    for (unsigned k = middle > around ? middle - around : 1; k <= middle + around;
         k++) {
        if (bloom_check(layout, 1, k) != ERR_OK) {
            continue;
        }
        uint64_t needed = bloom_lines_for_error(layout, n, error, k);
        if (needed != 0 && (lines == 0 || needed < lines)) {
            lines = needed;
            chosen = k;
        }
    }
    if (lines == 0 || lines > BLOOM_LINES_MAX) {
        return ERR_RANGE;
    }
    *retnlines = lines;
    *retk = chosen;
    return ERR_OK;
}
