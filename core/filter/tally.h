/*
 * tally - counts of keys in memory: a table that grows with what is put in, up to a bound.
 *
 * Open addressing, 16 bytes a slot, at most three quarters full (seven eighths at the bound).
 * Depends: base.   Threads: one at a time; tally_used and tally_memory from any.   Owns: its slots.
 * ADR 0026, 0033.
 */
#ifndef CORE_FILTER_TALLY_H
#define CORE_FILTER_TALLY_H

#include "core/base/std.h"

struct tally_slot {
    uint64_t key; /* 0: free */
    uint64_t count;
};

struct tally {
    struct tally_slot *slots; /* NULL when empty */
    uint64_t nslots;          /* a power of two, or 0 */
    uint64_t nslots_max;
    uint64_t n;    /* keys */
    uint64_t seed; /* of the keys' places */
};

/* For keys that others choose: nobody foresees their places. No bound but the memory. */
void tally_init(struct tally *t);
/* For keys that nobody chooses. nslots_max: rounded up to a power of two, at least 1,024. */
void tally_init_bounded(struct tally *t, uint64_t nslots_max);
void tally_fini(struct tally *t); /* empty again, to be used on */
/* The count of a key, or NULL; good until the table is changed. */
uint64_t *tally_find(const struct tally *t, uint64_t key);
uint64_t tally_get(const struct tally *t, uint64_t key); /* 0: none */
/* Adds amount to a key that is not 0; the sum stays at the largest number. False: there is no room,
 * or no memory. */
bool tally_add(struct tally *t, uint64_t key, uint64_t amount);
/* Removes a key that is in it; the last one frees the memory. */
void tally_remove(struct tally *t, uint64_t key);
/* In no order. */
typedef void tally_fn(void *context, uint64_t key, uint64_t count);
void tally_each(const struct tally *t, tally_fn *fn, void *context);
uint64_t tally_used(const struct tally *t);
uint64_t tally_memory(const struct tally *t); /* bytes */

#endif
