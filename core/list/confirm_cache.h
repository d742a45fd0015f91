/*
 * confirm_cache - recent answers of a reader's immutable levels, in bounded memory.
 *
 * A lossy table from digests to the answer of the newest level ("absent" is an answer too). It
 * belongs to one reader, whose levels never change, and the memtable is read first, so no answer
 * becomes stale. The caller checks the expiry of a record each time. A set of CONFIRM_CACHE_WAYS
 * slots is one or more cache lines chosen by the keyed digest, so only holders of the key can aim
 * at a set. Absent digests have separate slots, so a flood of unknown values evicts no listed
 * value.
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

/* The answer of the levels for a digest. */
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
/* Memory of the table, or of a table for `entries`, when every slot is used. */
size_t confirm_cache_bytes(const struct confirm_cache *c);
size_t confirm_cache_bytes_for(size_t entries);

bool confirm_cache_get(const struct confirm_cache *c, const struct digest *d,
                       struct confirm_cache_answer *ret);
void confirm_cache_put(struct confirm_cache *c, const struct digest *d,
                       const struct confirm_cache_answer *a);

#endif
