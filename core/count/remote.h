/*
 * remote - counts of peers: closed streams as runs, open streams as tables in memory.
 *
 * Follows STATE/peers/counts, which the hub writes (stream.h), passes new counts to the sketch, and
 * gives the exact history of each origin. Only members that are active or have left are counted,
 * each under its own origin. A stream or an origin that disappears from the folder is missing in
 * every answer after the next refresh, and the sketch must be rebuilt (remote_take_rebuild).
 * Without the folder, each refresh costs one stat(2). Files that are damaged or too large are
 * skipped, and logged once.
 * Depends: base, store, runset.   Threads: one refreshes, any may read. Owns: its tables and runs.
 * ADR 0033.
 */
#ifndef CORE_COUNT_REMOTE_H
#define CORE_COUNT_REMOTE_H

#include "core/base/err.h"
#include "core/base/keyring.h"
#include "core/count/breakdown.h"
#include "core/count/runset.h"
#include "core/store/origins.h"

enum {
    REMOTE_STREAMS_MAX = 1024,       /* open ones, of all origins */
    REMOTE_STREAMS_OF_ORIGIN = 256,  /* of one */
    REMOTE_KEYS_OF_ORIGIN = 1 << 22, /* in open streams of one origin */
    REMOTE_KEYS_MAX = 1 << 24        /* of all: 512 MiB at most */
};

struct remote;

/* Opens nothing yet: remote_refresh does. */
enum err remote_open(const char *state_dir, const struct keyring *keys,
                     struct remote **ret, struct errinfo *reterr);
void remote_close(struct remote **r);

/* Reads the changes of the folder. fn (may be NULL) gets the new counts by bucket, with rising
 * keys. The first call does not use fn, because all counts are new and the sketch must be rebuilt.
 * Buckets after `now` wait. */
typedef void remote_fn(void *context, uint64_t bucket, const struct run_record *v,
                       size_t n);
void remote_refresh(struct remote *r, uint64_t now, remote_fn *fn, void *context);
/* True if counts disappeared, or arrived without fn: the sketch must be rebuilt from
 * remote_each_run and remote_each_stream. Returned once. */
bool remote_take_rebuild(struct remote *r);

/* ---- for the thread that refreshes ---- */

/* The runs of len_s seconds that begin in [first_s, end_s); is_in_day: the run of its day has
 * it. */
typedef void remote_run_fn(void *context, const struct run *run, bool is_in_day);
void remote_each_run(struct remote *r, uint32_t len_s, uint64_t first_s, uint64_t end_s,
                     remote_run_fn *fn, void *context);
/* The counts of every open stream with first <= bucket < end. */
typedef void remote_stream_fn(void *context, uint64_t bucket, uint64_t key,
                              uint64_t count);
void remote_each_stream(struct remote *r, uint64_t first, uint64_t end,
                        remote_stream_fn *fn, void *context);

/* ---- for all ---- */

/* Puts the shares of peers to io, whose [0] is there. keys[i] is the key under digest key
 * key_ids[i]. */
void remote_ask(struct remote *r, const uint64_t *keys, const uint32_t *key_ids,
                unsigned nkeys, uint64_t now, struct count_breakdown *io);

struct remote_stat {
    unsigned norigins;    /* with a say */
    uint64_t nstreams;    /* open */
    uint64_t nkeys;       /* in them */
    uint64_t nunreadable; /* open ones that cannot be read, or are too large */
    uint64_t memory_bytes;
    struct runset_stat runs;
};
void remote_stat(struct remote *r, struct remote_stat *ret);

#endif
