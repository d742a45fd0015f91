#include "core/learn/quantile.h"

#include <math.h>

enum { TAIL_MIN = 5, TAIL_MAX = 60, TAIL_SHARE = 20 };

static int by_value(const void *a, const void *b)
{
    float left = *(const float *)a;
    float right = *(const float *)b;
    return (left > right) - (left < right);
}

float quantile_of(const float *sorted, size_t n, double share)
{
    size_t at = (size_t)(share * (double)n);
    return sorted[at < n ? at : n - 1];
}

float quantile_threshold(float *value, size_t n, double rate)
{
    size_t tail = n / TAIL_SHARE;
    tail = tail < TAIL_MIN ? TAIL_MIN : tail;
    tail = tail > TAIL_MAX ? TAIL_MAX : tail;
    tail = tail < n ? tail : n - 1;
    qsort(value, n, sizeof(*value), by_value);
    if (tail == 0) {
        return value[0];
    }
    float base = value[n - 1 - tail];
    double excess = 0;
    for (size_t i = n - tail; i < n; i++) {
        excess += (double)(value[i] - base);
    }
    double mean = excess / (double)tail * (1 + 1 / sqrt((double)tail));
    double steps = log((double)tail / (double)n / rate);
    return base + (float)(mean * fmax(steps, 0));
}

/* Wilson's bound for the normal quantile 1.28, at least that of no exceedance (2.3 / n). */
double quantile_bound(size_t above, size_t n)
{
    double k = (double)above;
    return n == 0 ? 1 : fmin(1, (k + 1.28 * sqrt(k) + 2.3) / (double)n);
}
