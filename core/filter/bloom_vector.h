/*
 * bloom_vector - the test of a batch of lines, by the widest instructions the machine offers.
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

/* rethit[i] is 1 when all of the first k positions of p[i] are set in its line, else 0. */
typedef void bloom_lines_fn(const uint64_t *words, const struct bloom_probe *p,
                            size_t n, unsigned k, uint8_t *rethit);

bloom_lines_fn *bloom_lines(void);

/* For tests and benches: from now on this kind; false, and nothing done, where the machine or
 * the build does not have it. */
bool bloom_vector_force(enum bloom_vector kind);
/* "plain", "neon", "avx2", "avx512": the kind in use. */
const char *bloom_vector_name(void);

bloom_lines_fn bloom_lines_plain;
#if defined(__x86_64__)
bloom_lines_fn bloom_lines_avx2;
bloom_lines_fn bloom_lines_avx512;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
bloom_lines_fn bloom_lines_neon;
#endif

#endif
