/*
 * prng - repeatable random numbers for simulations: splitmix64. Never for keys or secrets.
 *
 * Depends: nothing.   Threads: one for each struct.   Allocates: nothing.
 * Source: Steele, Lea, Flood 2014 (SplittableRandom); Lemire 2019 for numbers below a bound.
 */
#ifndef CORE_BASE_PRNG_H
#define CORE_BASE_PRNG_H

#include "core/base/std.h"

/* The whole state is the number of the next draw; any value is a good seed. */
struct prng {
    uint64_t state;
};

/* The mixing function: a bijection of 64 bits. */
uint64_t prng_mix(uint64_t x);

/* A stream of its own for every pair (seed, stream). */
void prng_init(struct prng *p, uint64_t seed, uint64_t stream);
uint64_t prng_next(struct prng *p);
/* 0..bound-1, each equally likely; bound is not 0. */
uint64_t prng_below(struct prng *p, uint64_t bound);
/* Above 0, below 1. */
double prng_share(struct prng *p);

#endif
