/*
 * quantile - a threshold that few values exceed, from a sample that may be small.
 *
 * The tail above a high quantile of the sample is taken as exponential, so that a target rate below
 * one over the sample's size has a threshold too. The smaller the sample, the higher the threshold.
 * One odd value moves it little.
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_LEARN_QUANTILE_H
#define CORE_LEARN_QUANTILE_H

#include "core/base/std.h"

/* The threshold that a share `rate` of such values exceeds. value: n > 0 of them, sorted here. */
float quantile_threshold(float *value, size_t n, double rate);
/* The value at this share of the n sorted ones; 0.5: the median. */
float quantile_of(const float *sorted, size_t n, double share);
/* With 90 % confidence at most this share of values exceeds a threshold that `above` of n did. */
double quantile_bound(size_t above, size_t n);

#endif
