/*
 * tally - counts of keys in memory, for one thread: a table that grows with what is put in.
 *
 * Open addressing at places that nobody outside can foresee. 16 bytes a slot, at most three quarters full.
 * Depends: base, filter.   Threads: one at a time.   Owns: its slots.   ADR 0033.
 */
#ifndef CORE_COUNT_TALLY_H
#define CORE_COUNT_TALLY_H

#include "core/store/run.h"

struct tally {
    struct run_record *slots; /* key 0: free; NULL when empty */
    size_t nslots;            /* a power of two, or 0 */
    size_t n;                 /* keys */
    uint64_t seed;
};

void tally_init(struct tally *t);
void tally_fini(struct tally *t); /* empty again, to be used on */
/* Adds amount to a key that is not 0; the sum stays at the largest number. False: no memory. */
bool tally_add(struct tally *t, uint64_t key, uint64_t amount);
uint64_t tally_get(const struct tally *t, uint64_t key); /* 0: none */
/* In no order. */
typedef void tally_fn(void *context, uint64_t key, uint64_t count);
void tally_each(const struct tally *t, tally_fn *fn, void *context);

#endif
