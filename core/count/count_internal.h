/*
 * count_internal - what the files of the facade share; not for other modules.
 *
 * Locks, in the order in which they are taken: tick (the work of the thread, one at a time); use
 * (read: a thread that uses tables; write: waits for these threads and frees a table); sealed
 * (guards the list of runs, so that a reader finds a bucket in its table or in its run, never in
 * both); the lock of a shard.
 */
#ifndef CORE_COUNT_COUNT_INTERNAL_H
#define CORE_COUNT_COUNT_INTERNAL_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "core/base/file.h"
#include "core/count/bucket_clock.h"
#include "core/count/count.h"
#include "core/count/distinct_log.h"
#include "core/count/live.h"
#include "core/count/remote.h"
#include "core/count/runset.h"
#include "core/count/shared_totals.h"
#include "core/count/size.h"
#include "core/count/totals.h"
#include "core/filter/tally.h"

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

/* Counts of peers in a bucket. A running table would not do: it places keys by their order, and
 * peers choose these keys. */
struct count_near {
    uint64_t bucket;
    struct tally shard[]; /* guarded by the shard's lock */
};

/* Held for some hundred nanoseconds, so that who waits spins, and gives its turn away where the
 * holder has lost its own. A mutex costs twice that between two threads (ADR 29). */
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

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): grouped by the threads that use it */
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
    /* Counts that the runs have of the bucket that was running at the start, and of the one before.
     * They complete the window of 10 minutes. Constant until they are freed, under `use`. NULL:
     * none. */
    struct live *past[COUNT_PAST];
    /* Sums of the counts of peers in the running bucket and the one before. The tick writes them
     * with the lock of the shard; made and freed under `use`. NULL: none. */
    struct count_near *near[COUNT_NEAR];
    struct remote *remote;
    /* Totals of the shared store; replaced under `use`. NULL: none. */
    struct shared_totals *shared;
    bool has_store;
    struct distinct_writer *members; /* for the store; NULL: none */
    bool is_shared_refused;          /* the file, and that was said */
    char state_dir[FILE_PATH_MAX];

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
/* The keys of one feature, and the digest keys that they were made with. */
struct count_keys {
    uint64_t key[KEYRING_MAX];
    uint32_t id[KEYRING_MAX];
    unsigned n;
};
struct count_keys count_keys_of(const struct keyring *ring,
                                const struct digest digest[KEYRING_MAX]);

/* A new running table for bucket; NULL: out of memory. */
struct live *count_new_live(struct count *c, uint64_t bucket);
/* Makes room in the running table; from any thread, without locks. False: there is none. */
bool count_grow(struct count *c);
/* Brings the journal up to date. In the tick, or at the end. */
void count_flush(struct count *c);
/* Logs once that the disk fails, or (why NULL) that it works again. */
void count_note_disk(struct count *c, const struct errinfo *why);
/* As count_exact; the caller holds `use`. */
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

/* Adds the counts of peers since the last call. Counts that disappeared cause a rebuild of all
 * shards. */
void count_peers_refresh(struct count *c);
void count_peers_free(struct count *c); /* its tables */
/* A bucket has begun: tables of older ones than the one before go. */
void count_peers_roll(struct count *c);
/* Adds the runs of peers of one day, and of its buckets, to a shard that is rebuilt. */
void count_peers_rebuild_day(struct count *c, unsigned shard, uint64_t day);
/* Then the open streams, and the bucket before; the running one is near[0]. */
void count_peers_rebuild_rest(struct count *c, unsigned shard);

/* ---- the shared store (count_shared.c) ---- */

/* Begins to log members, where servers share a store. */
enum err count_shared_begin(struct count *c, struct errinfo *reterr);
/* In the tick: writes the members that were met. */
void count_shared_flush(struct count *c);
/* In the tick: maps the file of totals again where the hub has replaced it. */
void count_shared_refresh(struct count *c);
/* Adds the store's part to io, whose other parts are complete. t may be NULL: no store. */
void count_shared_add(const struct shared_totals *t, const struct count_keys *k,
                      struct count_breakdown *io);
/* Adds the store's totals to the sketch's value, which then is at least the sum that
 * count_shared_add leads to. It is too high by the own counts that are in the totals: their number
 * is not known. Call it with `use` held. */
void count_shared_raise(const struct shared_totals *t, const struct keyring *keys,
                        uint64_t now, struct count_item *io);

/* In the tick. */
void count_read_canaries(struct count *c);
/* Sets the gauges count_* and the faults "counts" (the disk) and "counts-clock". */
void count_publish(const struct count_stat *s);

#endif
