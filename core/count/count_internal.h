/*
 * count_internal - what the files of the facade share; not for other modules.
 *
 * Locks, in the order in which they are taken: tick (the thread's work: one at a time), use (readers:
 * whoever touches tables; a writer waits until none does, to free one), sealed (which buckets the
 * runs hold: a reader sees a bucket in its table or in its run, never in both), a shard's.
 */
#ifndef CORE_COUNT_COUNT_INTERNAL_H
#define CORE_COUNT_COUNT_INTERNAL_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "core/base/file.h"
#include "core/count/bucket_clock.h"
#include "core/count/count.h"
#include "core/count/live.h"
#include "core/count/remote.h"
#include "core/count/runset.h"
#include "core/count/size.h"
#include "core/count/tally.h"
#include "core/count/totals.h"

enum {
    COUNT_CACHE_LINE = 64,
    COUNT_SPINS = 100,
    COUNT_PAST = 2,
    COUNT_NEAR = 2,
    COUNT_DIR_MODE = 02750
};

/* Guarded by its lock. prev: the bucket before, until the next one ends; NULL: none. */
struct count_shard {
    _Alignas(COUNT_CACHE_LINE) pthread_spinlock_t *lock; /* totals_lock */
    uint64_t bucket;                                     /* that live counts */
    _Atomic(struct live *) live; /* changed under lock; read without it to prefetch */
    _Atomic(struct live *) prev; /* likewise */
    bool is_prev_sealed;         /* prev is among the runs */
    bool is_ready;               /* the sketch knows the shard's past */
};

/* What peers counted in a bucket. No running table: that has its places by the order of keys, and these keys others
 * have chosen. */
struct count_near {
    uint64_t bucket;
    struct tally shard[]; /* guarded by the shard's lock */
};

/* Held for some hundred nanoseconds, so that who waits spins, and gives its turn away where the holder
 * has lost its own. A mutex costs twice that between two threads (ADR 29). */
static inline void count_lock(struct count_shard *s)
{
    for (unsigned i = 1; pthread_spin_trylock(s->lock) != 0; i++) {
        if (i % COUNT_SPINS == 0) {
            (void)sched_yield();
        }
    }
}

static inline void count_unlock(struct count_shard *s)
{
    (void)pthread_spin_unlock(s->lock);
}

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order of who uses it */
struct count {
    char dir[FILE_PATH_MAX];  /* STATE/counts */
    char runs[FILE_PATH_MAX]; /* STATE/counts/runs */
    struct keyring keys;
    uint8_t origin[RUN_ORIGIN_BYTES];
    uint64_t inc;
    struct count_size size;
    struct filelock lock;
    struct runset *runset;
    struct totals *totals;
    struct count_shard *shards;
    /* What runs have of the bucket that counted when we started, and of the one before: for the 10
     * minutes that the tables cannot know yet. Constant until they are freed, under `use`. NULL: none. */
    struct live *past[COUNT_PAST];
    /* What peers counted in the running bucket and the one before, summed up. Written by the tick with
     * the shard's lock; made and freed under `use`. NULL: nothing. */
    struct count_near *near[COUNT_NEAR];
    struct remote *remote;

    _Alignas(COUNT_CACHE_LINE) pthread_rwlock_t use; /* written to with every batch */
    _Alignas(COUNT_CACHE_LINE) pthread_rwlock_t sealed;
    pthread_mutex_t grow; /* one thread grows the running table */

    /* of the tick: */
    pthread_mutex_t tick;
    struct bucket_clock period;
    struct live *live; /* that of every shard, but while a bucket ends */
    struct live *prev;
    bool is_prev_sealed;
    uint64_t flushed_us; /* monotonic, as the next two; 0: not yet */
    uint64_t seal_tried_us;
    uint64_t canaries_us;
    uint64_t merged_day; /* days before it are merged */
    unsigned next_shard; /* to be rebuilt */
    bool is_again;       /* for peers' sake: the sketch serves meanwhile */
    uint64_t rebuild_began_us;
    bool is_in_trouble; /* with the disk, and it was said */

    /* for count_stat, from any thread */
    _Atomic uint64_t now;
    _Atomic uint64_t rebuild_us;
    _Atomic unsigned nready;
    _Atomic bool is_suspended;
    _Atomic bool is_volatile;
    _Atomic uint64_t nlost;
    _Atomic bool is_noise_known;
    _Atomic uint32_t noise[COUNT_WINDOWS]; /* canaries that read too high */
    _Atomic uint64_t over[TOTALS_WINDOWS]; /* cells above COUNT_CELL_THRESHOLD */

    bool is_brief;
    bool has_thread;
    pthread_t thread;
    pthread_mutex_t end_lock;
    pthread_cond_t end;
    bool is_ending; /* guarded by end_lock */
};

/* The key of a digest in tables and runs. */
uint64_t count_key64(const struct digest *d);

/* A new running table for bucket; NULL: out of memory. */
struct live *count_new_live(struct count *c, uint64_t bucket);
/* Makes room in the running table; from any thread, without locks. False: there is none. */
bool count_grow(struct count *c);
/* Brings the journal up to date. In the tick, or at the end. */
void count_flush(struct count *c);
/* Says once that the disk refuses, or (why NULL) that it does not any more. */
void count_note_disk(struct count *c, const struct errinfo *why);
/* As count_exact, for who holds `use`. */
void count_exact_inside(struct count *c, const struct digest digest[KEYRING_MAX],
                        struct count_history *ret);
/* Fills past. Before the thread. */
enum err count_load_past(struct count *c, struct errinfo *reterr);
/* Puts what peers counted to ret, whose [0] is our own. For who holds `use`. */
void count_shares_inside(struct count *c, const struct digest digest[KEYRING_MAX],
                         struct count_breakdown *ret);
/* Rebuilds the next shard of the sketch; true when all are ready. In the tick. */
bool count_rebuild_shard(struct count *c);

/* ---- peers (count_peers.c), in the tick ---- */

/* Takes in what peers counted since the last time; what left asks for a rebuild of all shards. */
void count_peers_refresh(struct count *c);
void count_peers_free(struct count *c); /* its tables */
/* A bucket has begun: tables of older ones than the one before go. */
void count_peers_roll(struct count *c);
/* What peers counted, for a shard that is rebuilt: a day's runs and its buckets' runs. */
void count_peers_rebuild_day(struct count *c, unsigned shard, uint64_t day);
/* Then the open streams, and the bucket before; the running one is near[0]. */
void count_peers_rebuild_rest(struct count *c, unsigned shard);

/* In the tick. */
void count_read_canaries(struct count *c);

#endif
