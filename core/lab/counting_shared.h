/*
 * counting_shared - a counting filter that many threads add to: one lock a chunk.
 *
 * A key's cells lie in its chunk alone, so who holds the chunk's lock has the key to itself: counts
 * are those of some order of the additions, as with one thread, for every variant, width and
 * layout. A batch takes each lock once for all its keys of that chunk.
 * Depends: counting.   Threads: all functions from any; counting_merge and the like alone.
 * Allocates: nothing.   Measured in ADR 0024.
 */
#ifndef CORE_LAB_COUNTING_SHARED_H
#define CORE_LAB_COUNTING_SHARED_H

#include "core/lab/counting.h"

/* Guards: the cells and slots of one chunk. On its own cache line: else neighbours would slow
 * each other. Zero is open. */
struct counting_lock {
    _Alignas(64) uint32_t taken; /* by __atomic_ functions alone */
};

/* locks: c->shape.nchunks of them. Otherwise as in counting.h, but that the keys of a batch are
 * taken chunk by chunk, those of one chunk in order. */
void counting_shared_add(struct counting *c, struct counting_lock *locks,
                         const struct digest *d, const uint64_t *amounts, size_t n,
                         struct counting_read *ret);
void counting_shared_get(const struct counting *c, struct counting_lock *locks,
                         const struct digest *d, size_t n, struct counting_read *ret);
enum err counting_shared_remove(struct counting *c, struct counting_lock *locks,
                                const struct digest *d, uint64_t amount,
                                struct errinfo *reterr);

#endif
