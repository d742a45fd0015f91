/*
 * bloom_vector - the test of a batch of lines, and their filling, by the widest instructions the
 * machine offers.
 *
 * Chosen once at run time; every kind gives the same answers. Tests choose a kind by hand.
 * Threads: any; the choice is one atomic pointer.   Allocates: nothing.
 */
#ifndef CORE_FILTER_BLOOM_VECTOR_H
#define CORE_FILTER_BLOOM_VECTOR_H

#include "core/filter/bloom_probe.h"

enum bloom_vector {
    BLOOM_VECTOR_PLAIN = 0,
    BLOOM_VECTOR_NEON = 1,
    BLOOM_VECTOR_AVX2 = 2,
    BLOOM_VECTOR_AVX512 = 3
};

typedef void bloom_batch_fn(const struct bloom *b, const struct digest *d, size_t n,
                            uint8_t *rethit);

typedef void bloom_range_fn(struct bloom *b, const struct digest *d, size_t n,
                            uint64_t first, uint64_t end);

/* Batches of the two line layouts: bloom_test_batch and bloom_add_range. */
struct bloom_lines {
    const char *name; /* "plain", "neon", "avx2", "avx512" */
    bloom_batch_fn *one;
    bloom_batch_fn *two;
    bloom_range_fn *add_one;
    bloom_range_fn *add_two;
};

const struct bloom_lines *bloom_lines(void);

/* For tests and benches: from now on this kind; false, and nothing done, where the machine or
 * the build does not have it. */
bool bloom_vector_force(enum bloom_vector kind);

extern const struct bloom_lines bloom_lines_plain;
#if defined(__x86_64__)
extern const struct bloom_lines bloom_lines_avx2;
extern const struct bloom_lines bloom_lines_avx512;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
extern const struct bloom_lines bloom_lines_neon;
#endif

#endif
