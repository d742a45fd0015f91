/*
 * bloom - a membership filter in cache-line blocks: "no" is final, "yes" means "perhaps".
 *
 * Blocked layout: a key sets k bits inside one 64-byte line, so a test costs one cache miss.
 * Positions come from the 128-bit digest by a keyed multiply-mix, so nobody without the key can
 * aim at a line. Pure functions on memory that the caller gives: 64-byte aligned, nlines lines.
 * bloom_add may run beside bloom_test (delta filters): words are set with release stores.
 * Depends: base (digest).   Threads: any readers, one writer.   Allocates: nothing.
 * Source: Putze, Sanders, Singler 2007; error measured in ADR 0004.
 */
#ifndef CORE_FILTER_BLOOM_H
#define CORE_FILTER_BLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/digest.h"

enum {
    BLOOM_LINE_BYTES = 64,
    BLOOM_LINE_BITS = 512,
    BLOOM_K_MAX = 16,
    BLOOM_BATCH = 32
};

struct bloom {
    uint64_t *words; /* nlines * 8, 64-byte aligned, owner: the caller */
    uint64_t nlines;
    unsigned k;      /* 1..BLOOM_K_MAX */
    uint64_t mix[2]; /* from the key, by bloom_key */
};

/* Lines for n keys at bits_per_key (16 gives about 0.084 % error with k = 9); at least 1. */
uint64_t bloom_lines_for(uint64_t n, double bits_per_key);
/* Derives the mixing constants. */
void bloom_key(struct bloom *b, const struct hashkey *key);

void bloom_add(struct bloom *b, const struct digest *d);
bool bloom_test(const struct bloom *b, const struct digest *d);
/* Tests n digests: computes and prefetches in batches, then tests; rethit[i] is 0 or 1. */
void bloom_test_batch(const struct bloom *b, const struct digest *d, size_t n,
                      uint8_t *rethit);

/* Expected share of false answers with n keys inside, by the layout's formula (Poisson over
 * lines). */
double bloom_error(uint64_t nlines, unsigned k, uint64_t n);
/* Set bits over all bits, sampled over at most max_lines lines spread evenly. */
double bloom_fill(const struct bloom *b, uint64_t max_lines);

#endif
