/*
 * totals_internal - structures of totals, for its files and its test.
 *
 * Depends: base, filter.   Threads: as totals.h says.
 */
#ifndef CORE_COUNT_TOTALS_INTERNAL_H
#define CORE_COUNT_TOTALS_INTERNAL_H

#include "core/base/buf.h"
#include "core/count/contribution.h"
#include "core/count/spill.h"
#include "core/count/totals.h"
#include "core/filter/cells.h"
#include "core/filter/doorkeeper.h"

enum {
    TOTALS_BUCKETS_1H = 6, /* before the running one */
    TOTALS_BUCKETS_1D = 144,
    TOTALS_DAY_BUCKETS = 144,
    TOTALS_DAYS = 14 /* before today */
};

/* A bucket (or day) whose counts are still in some window. */
struct totals_share {
    struct spill_ref ref;
    uint32_t bucket;  /* a later one than fits never occurs: checked when it begins */
    uint32_t windows; /* it is still part of: bit w */
};

/* The part of a shard that most keys write to, in one cache line. */
struct totals_hot {
    pthread_spinlock_t lock; /* see totals_lock */
    struct doorkeeper_figures door;
    struct cells_figures cells;
} __attribute__((aligned(64)));

struct totals_shard {
    struct doorkeeper door;
    struct cells cells;
    uint64_t now; /* bucket */
    bool is_ready;
    bool has_lost; /* written by its holder, read by any */
    /* in the order of their making */
    struct totals_share *shares;
    size_t nshares;
    size_t shares_room;
    /* rebuilding */
    uint64_t pending; /* the bucket that has begun meanwhile */
    uint64_t run_bucket;
    unsigned run_windows;
    uint32_t days_given; /* bit: age in days of a run that counted in the fortnight */
} __attribute__((aligned(64)));

struct totals {
    unsigned nshards;
    uint64_t position_key;
    struct spill *spill;
    struct totals_shard *shards;
    struct totals_hot *hot; /* of each shard */
    void *memory;           /* of all lines */
    size_t memory_bytes;
};

uint64_t totals_day(uint64_t bucket);
/* The windows that bucket is part of at bucket `now`: bit w. */
unsigned totals_windows_of(uint64_t bucket, uint64_t now);
uint64_t totals_hash(const struct totals *t, uint64_t key);

/* The running cells become the share of this bucket in these windows. */
void totals_end_bucket(struct totals *t, struct totals_shard *s, uint64_t bucket,
                       unsigned windows);
/* A share that was made: kept, or its counts are lost to the windows. Empties bytes. */
void totals_keep_share(struct totals *t, struct totals_shard *s, struct buf *bytes,
                       uint64_t bucket, unsigned windows);
/* Bucket now begins: takes off what has left. */
void totals_begin_bucket(struct totals *t, struct totals_shard *s, uint64_t now);
void totals_drop_shares(struct totals *t, struct totals_shard *s);

#endif
