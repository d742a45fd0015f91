/*
 * totals - the sketch: how often each key was counted in the last hour, day and fortnight, at most.
 *
 * Never less than the truth, more only where keys share cells. Most keys are seen once in a
 * fortnight: a doorkeeper holds these first sights by fingerprint and day, and who is not in it was
 * not seen at all. What comes after a first sight goes into small cells: of the running bucket,
 * raised by the rules H1 and H2, and by as much the sums of each window, from which each bucket's share
 * is taken off again, exactly, when it leaves the window. Sums beyond a cell's width go on in an
 * overflow table and never wrap.
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

/* node: keys the positions. spill_dir: where the temporary files go (NULL: nowhere); on a disk that
 * refuses the shares of buckets stay in memory, within a bound. now: bucket number. Shards are ready
 * at once: rebuild is for those whose past is known. ERR_RANGE: a size of 0 or not a power of two
 * of shards. */
enum err totals_new(const struct totals_size *size, const struct hashkey *node,
                    const char *spill_dir, uint64_t now, struct totals **ret,
                    struct errinfo *reterr);
void totals_free(struct totals **t);
uint64_t totals_memory(const struct totals *t); /* bytes held */

/* ---- with the shard's lock ---- */

/* A lock of the shard for whoever counts in it, in the memory that counting writes to anyway. Taken by
 * nobody here. */
pthread_spinlock_t *totals_lock(const struct totals *t, unsigned shard);
void totals_prefetch(const struct totals *t, unsigned shard, uint64_t key);
/* Counts amount (at least 1) in the shard's running bucket and reads. ret is not touched where the shard is not ready (nothing
 * is added then either: the rebuild takes the running table at its end). False: not ready. */
bool totals_add(struct totals *t, unsigned shard, uint64_t key, uint64_t amount,
                uint64_t ret[TOTALS_WINDOWS]);
bool totals_read(const struct totals *t, unsigned shard, uint64_t key,
                 uint64_t ret[TOTALS_WINDOWS]);

/* Counts keys of the shard in a bucket that is over (another server's): they are in the windows that it is in, and
 * leave these with it. False: not ready, nothing is added. Takes up to TOTALS_LATE_MAX. */
bool totals_add_late(struct totals *t, unsigned shard, uint64_t bucket,
                     const struct run_record *v, size_t n);

/* The running bucket ends; bucket `now` begins (not always the next one; an earlier one does
 * nothing). Takes what left the windows off the sums, and forgets doorkeeper entries of days that
 * are over. A shard that is not ready only notes the number. */
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
/* One run, then its records of this shard. Oldest run first, a day's run before the buckets of
 * that day. for_day: a day's run, or a bucket of a day without one (today), counts in the
 * fortnight; for_bucket: a bucket's run counts in hour and day. A bucket of today is both. Runs
 * that are in no window are passed over. A bucket that ends meanwhile (totals_roll) must be given
 * too, as another run, before the end. */
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
    /* The disk refused and memory was full: old shares were taken off early, so windows are
     * shorter than they say; or one could not be read again and stays in the sums. A rebuild mends it. */
    bool has_lost_shares;
};
void totals_stat(const struct totals *t, struct totals_stat *ret);

#endif
