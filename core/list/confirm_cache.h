/*
 * confirm_cache - lately asked answers of a reader's immutable levels, in bounded memory.
 *
 * A lossy table: digest -> what the newest level says ("not there" is an answer too). It belongs
 * to one reader, whose levels never change, and the recent table is asked before it: so nothing
 * in it can become untrue, and it ends with its reader. Whether a record has expired is judged by
 * who asks, each time. A set of CONFIRM_WAYS slots is one or more cache lines chosen by the
 * keyed digest: nobody without the key can aim at a set, and "not there" has slots of its own, so
 * that a flood of strange values pushes out no listed one.
 * Depends: base, entry.   Threads: any; no locks. A slot carries a checksum of all it holds: one
 * that is torn between two writers is a miss.
 */
#ifndef CORE_LIST_CONFIRM_CACHE_H
#define CORE_LIST_CONFIRM_CACHE_H

#include "core/base/digest.h"
#include "core/store/index.h"

enum {
    CONFIRM_CACHE_WAYS = 4, /* slots of a set */
    CONFIRM_CACHE_WAYS_EACH =
        2, /* of these for listed ones, and as many for "not there" */
    CONFIRM_CACHE_SLOT_BYTES = 64,
    CONFIRM_CACHE_SLOTS_MAX = 1 << 24 /* 1 GiB */
};

/* What the levels say of a digest. */
struct confirm_cache_answer {
    bool is_there;
    struct index_record record; /* where it is */
    uint64_t period;            /* of the level that knows it */
};

struct confirm_cache;
/* entries: slots, rounded up to a power of two; memory is taken as slots are used. 0 gives NULL,
 * which the others accept as a cache that holds nothing; so does a lack of memory. */
struct confirm_cache *confirm_cache_new(size_t entries);
void confirm_cache_free(struct confirm_cache **c);
/* Memory of the table when every slot is used; of one with so many entries. */
size_t confirm_cache_bytes(const struct confirm_cache *c);
size_t confirm_cache_bytes_for(size_t entries);

bool confirm_cache_get(const struct confirm_cache *c, const struct digest *d,
                       struct confirm_cache_answer *ret);
void confirm_cache_put(struct confirm_cache *c, const struct digest *d,
                       const struct confirm_cache_answer *a);

#endif
