/*
 * root - the content of a stream as one number of 256 bits, kept up to date record by record.
 *
 * COUNT: the sum over keys of count x H(key) modulo 2^256. Increments add up, so the sealed run has
 * the root of its deltas. LIST, TEXT: the sum of H(entry, state) over entries that are not absent;
 * a step adds the new state and subtracts the old. MEMBER: the hash of the payload.
 * H: hash256 of ring, kind and the record's fields (of entries: type, expiry, state, digest or
 * text), read as a little-endian number.
 * Source: Bellare, Micciancio 1997 (AdHash); Clarke, Devadas, van Dijk et al. 2003.
 * Depends: base.   Threads: pure.   ADR 0030.
 */
#ifndef CORE_RING_STREAM_ROOT_H
#define CORE_RING_STREAM_ROOT_H

#include "core/ring/stream/object.h"
#include "core/ring/stream/payload.h"

struct root {
    uint64_t w[4]; /* least significant first; zeros: empty */
};

/* Hashing is three times as fast for ROOT_SOME records at once as for one. */
enum { ROOT_SOME = 64 };
void root_add_counts(struct root *r, const struct object_id *ring,
                     const struct count_record *v, size_t n);
/* LIST and TEXT. */
void root_steps(struct root *r, const struct object_id *ring, uint16_t kind,
                const struct list_record *v, size_t n);
void root_print(const struct root *r, struct hash256 *ret);
void root_parse(const struct hash256 *bytes, struct root *ret);

#endif
