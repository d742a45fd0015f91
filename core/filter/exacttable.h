/*
 * exacttable - a small exact hash table that one writer changes while others read it.
 *
 * Open addressing on memory that the caller gives (a shared mapping), fixed capacity, no deletion.
 * A slot is {digest, value, checksum}; the checksum is stored last and covers both, so a reader
 * that meets a half-written slot, or a flipped bit, knows it. A reader that sees the checksum of a
 * slot sees its digest and value.
 * Depends: base (digest, checksum).   Threads: any readers, one writer.   Allocates: nothing.
 */
#ifndef CORE_FILTER_EXACTTABLE_H
#define CORE_FILTER_EXACTTABLE_H

#include "core/base/digest.h"
#include "core/base/err.h"

enum { EXACT_VALUE_WORDS = 3, EXACT_SLOT_WORDS = 6, EXACT_SLOT_BYTES = 48 };

/* The value for a digest; the caller gives it a meaning. */
struct exact_value {
    uint64_t word[EXACT_VALUE_WORDS];
};

struct exact_table {
    uint64_t
        *words; /* capacity * EXACT_SLOT_WORDS, zeroed when new; owner: the caller */
    uint64_t capacity; /* slots: a power of two */
};

/* ERR_NOT_FOUND: not there (final). ERR_CORRUPT: its slot is damaged, or stayed half-written
 * for longer than any living writer needs. */
enum err exact_get(const struct exact_table *t, const struct digest *d,
                   struct exact_value *ret);
/* Adds or replaces; *retnew tells which. ERR_NOSPACE when no slot is free. */
enum err exact_put(struct exact_table *t, const struct digest *d,
                   const struct exact_value *v, bool *retnew);
/* The slot at index i < capacity. ERR_NOT_FOUND: empty. ERR_CORRUPT: damaged. */
enum err exact_at(const struct exact_table *t, uint64_t i, struct digest *retdigest,
                  struct exact_value *ret);

#endif
