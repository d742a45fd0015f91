/*
 * mix - how digests become places: a folded product, and a share of n; figures for other threads.
 *
 * Not for other rooms.   Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_FILTER_MIX_H
#define CORE_FILTER_MIX_H

#include "core/base/std.h"

/* Both halves of the product folded: every input bit reaches every output bit. */
static inline uint64_t mix_product(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 p = a;
    p *= b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* x as a share of 2^64, of n: 0..n-1. */
static inline uint64_t mix_scale(uint64_t x, uint64_t n)
{
    __extension__ unsigned __int128 p = x;
    p *= n;
    return (uint64_t)(p >> 64);
}

/* A figure that one thread writes and any thread reads: relaxed. */
/* NOLINTNEXTLINE(readability-non-const-parameter): stored through */
static inline void figure_set(uint64_t *p, uint64_t v)
{
    __atomic_store_n(p, v, __ATOMIC_RELAXED);
}

static inline uint64_t figure_get(const uint64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

#endif
