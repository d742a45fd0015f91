/*
 * totals - the sketch: how often each key was counted in the last hour, day and fortnight, at most.
 *
 * Never less than the truth, more only where keys share cells. Most keys occur once in 14 days: a
 * doorkeeper holds these first occurrences by fingerprint and day, and a key outside it did not
 * occur at all. Further occurrences go into small cells of the running bucket by the rules H1 and
 * H2, and raise the sums of each window by the same amount. When a bucket leaves a window, exactly
 * its share is subtracted. Sums too large for a cell continue in an overflow table and never wrap.
 * Everything is in parts by shard (live_shard_of). Functions that take a shard are called with that
 * shard's lock held; this module has none of its own (but one for the temporary files).
 * Depends: base, filter.   Owns: its memory and unlinked temporary files.   ADR 0026.
 * Source: Yan, Cho 2006 (H1, H2); Estan, Varghese 2002 (conservative update).
 */
#ifndef CORE_COUNT_TOTALS_H
#define CORE_COUNT_TOTALS_H

#include <pthread.h>

#include "core/base/digest.h"
#include "core/base/err.h"
#include "core/store/run.h"

enum { TOTALS_LATE_MAX = 1024 };
enum totals_window { TOTALS_1H, TOTALS_1D, TOTALS_14D, TOTALS_WINDOWS };

struct totals_size {
    unsigned nshards;
    uint64_t doorkeeper_lines; /* 64 bytes each, of all shards */
    uint64_t cell_lines;       /* likewise */
};

struct totals;

/* node keys the positions. spill_dir is the folder of temporary files (NULL: none); if the disk
 * fails, the shares of buckets stay in memory, within a bound. now is a bucket number. All shards
 * are ready; a rebuild adds a known past. ERR_RANGE: a size of 0 or not a power of two of
 * shards. */
enum err totals_new(const struct totals_size *size, const struct hashkey *node,
                    const char *spill_dir, uint64_t now, struct totals **ret,
                    struct errinfo *reterr);
void totals_free(struct totals **t);
uint64_t totals_memory(const struct totals *t); /* bytes held */

/* ---- with the shard's lock ---- */

/* The lock of a shard, for its callers: it lies in memory that counting writes to in any case. This
 * module does not take it. */
pthread_spinlock_t *totals_lock(const struct totals *t, unsigned shard);
void totals_prefetch(const struct totals *t, unsigned shard, uint64_t key);
/* Adds amount (at least 1) to the running bucket of the shard, and reads. False: the shard is not
 * ready; then it changes neither the counts nor ret, because the end of the rebuild reads the
 * running table. */
bool totals_add(struct totals *t, unsigned shard, uint64_t key, uint64_t amount,
                uint64_t ret[TOTALS_WINDOWS]);
bool totals_read(const struct totals *t, unsigned shard, uint64_t key,
                 uint64_t ret[TOTALS_WINDOWS]);

/* Counts keys of the shard in a bucket that is over (another server's): they are in the windows
 * that it is in, and leave these with it. False: not ready, nothing is added. Takes up to
 * TOTALS_LATE_MAX. */
bool totals_add_late(struct totals *t, unsigned shard, uint64_t bucket,
                     const struct run_record *v, size_t n);

/* The running bucket ends; bucket `now` begins (not always the next one; an earlier one does
 * nothing). Subtracts the buckets that leave the windows, and removes expired entries of the
 * doorkeeper. A shard that is not ready only notes the number. */
void totals_roll(struct totals *t, unsigned shard, uint64_t now);

/* Adds how many cells of every step-th line of the shard are above the threshold in each window. */
void totals_over(const struct totals *t, unsigned shard, uint64_t step,
                 uint64_t threshold, uint64_t ret[TOTALS_WINDOWS]);

/* ---- rebuilding a shard from the runs; the lock is needed only for begin and end ---- */

typedef void totals_key_fn(void *sink, uint64_t key, uint64_t count);
/* Hands each key of the shard to fn (live_each fits). */
typedef void totals_source_fn(void *context, unsigned shard, totals_key_fn *fn,
                              void *sink);

/* Empties it; until the end it is not ready. */
void totals_rebuild_begin(struct totals *t, unsigned shard, uint64_t now);
/* One run, then its records of this shard. The oldest run comes first, the run of a day before its
 * buckets. for_day (a run of a day, or a bucket of a day without one) counts in the window of 14
 * days; for_bucket (a run of a bucket) counts in the windows of an hour and a day. A bucket of
 * today is both. Runs that are in no window are passed over. A bucket that ends meanwhile
 * (totals_roll) must be given too, as another run, before the end. */
void totals_rebuild_run(struct totals *t, unsigned shard, uint64_t bucket, bool for_day,
                        bool for_bucket);
void totals_rebuild_add(struct totals *t, unsigned shard, uint64_t key, uint64_t count);
/* The running table of the shard is counted in, and it is ready. */
void totals_rebuild_end(struct totals *t, unsigned shard, totals_source_fn *running,
                        void *context);

/* ---- how full it is; takes no lock: figures may be a moment old ---- */

struct totals_stat {
    uint64_t doorkeeper_entries;
    uint64_t doorkeeper_capacity;
    uint64_t
        doorkeeper_turned_away; /* first sights that found no room (counted in cells) */
    uint64_t cell_lines_used;   /* lines with a count in the fortnight */
    uint64_t cell_lines;
    uint64_t overflowed; /* sums that went on in the overflow tables */
    uint64_t spilled_bytes;
    unsigned nready; /* shards */
    /* The disk refused and memory was full: old shares were taken off early, so windows are shorter
     * than they say; or one could not be read again and stays in the sums. A rebuild mends it. */
    bool has_lost_shares;
};
void totals_stat(const struct totals *t, struct totals_stat *ret);

#endif
