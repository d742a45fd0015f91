/*
 * distinct - how many different values were added, in 33 bytes.
 *
 * Exact up to DISTINCT_EXACT values, unless 32-bit hashes are equal. Larger numbers are those of a
 * HyperLogLog with 64 registers of 4 bits, whose standard error is 13 %.
 * Source: Flajolet, Fusy, Gandouet, Meunier 2007.
 * Private to this room.   Threads: one at a time.   Allocates: nothing.
 */
#ifndef CORE_CAMPAIGN_DISTINCT_H
#define CORE_CAMPAIGN_DISTINCT_H

#include "core/base/std.h"

enum { DISTINCT_BYTES = 32, DISTINCT_EXACT = DISTINCT_BYTES / 4 };

/* Bytes of zero are an empty set. */
struct distinct {
    uint8_t set[DISTINCT_BYTES]; /* hashes of 32 bits; with more values, registers */
    uint8_t n;                   /* hashes; above DISTINCT_EXACT: registers */
};

/* hash: evenly spread bits of the value. */
void distinct_add(struct distinct *d, uint64_t hash);
uint64_t distinct_count(const struct distinct *d);

#endif
