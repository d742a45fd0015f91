/*
 * sync_content - what a COUNT stream holds, put together from its parts.
 *
 * Depends: store.   Threads: one object, one thread.   Owns: its records.
 */
#ifndef CORE_RING_SYNC_SYNC_CONTENT_H
#define CORE_RING_SYNC_SYNC_CONTENT_H

#include "core/base/err.h"
#include "core/store/run.h"

struct content {
    struct run_record *v;
    size_t n;
    size_t room;
    bool failed; /* no memory: something is missing */
};
void content_reserve(struct content *c, size_t n);
void content_add(struct content *c, uint64_t key, uint64_t count);
/* In rising order of keys, counts of one key added up. What was added in order is merged, not sorted anew. */
enum err content_sort(struct content *c, struct errinfo *reterr);
void content_fini(struct content *c);

#endif
