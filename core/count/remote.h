/*
 * remote - what peers counted: their closed streams as runs, their open ones as tables in memory.
 *
 * Follows STATE/peers/counts (the hub writes, see stream.h) and tells the sketch what is new; the exact
 * history is told by origin. Only members that origins names as active or left have a say, each under its own
 * origin. A stream or an origin that is gone from the folder is gone from every answer at the next refresh, and
 * the sketch is to be rebuilt (remote_take_rebuild). No folder: nothing, at the cost of a look each time.
 * What is in the folder is not trusted to be right: files that are damaged or too large are left out, named once.
 * Depends: base, store, runset.   Threads: one refreshes, any may ask.   Owns: what it read.   ADR 0033.
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

/* Takes in what changed. fn (may be NULL) gets what is new since the last time, by bucket, keys rising: not at
 * the first time, when all is new and the sketch is to be rebuilt. Nothing of buckets after `now` is taken yet. */
typedef void remote_fn(void *context, uint64_t bucket, const struct run_record *v,
                       size_t n);
void remote_refresh(struct remote *r, uint64_t now, remote_fn *fn, void *context);
/* Whether something left, or came in a way that fn was not told: the sketch is to be rebuilt from
 * remote_each_run and remote_each_stream. Said once. */
bool remote_take_rebuild(struct remote *r);

/* ---- for who refreshes ---- */

/* The runs of len_s seconds that begin in [first_s, end_s); is_in_day: the run of its day has it. */
typedef void remote_run_fn(void *context, const struct run *run, bool is_in_day);
void remote_each_run(struct remote *r, uint32_t len_s, uint64_t first_s, uint64_t end_s,
                     remote_run_fn *fn, void *context);
/* The counts of every open stream with first <= bucket < end. */
typedef void remote_stream_fn(void *context, uint64_t bucket, uint64_t key,
                              uint64_t count);
void remote_each_stream(struct remote *r, uint64_t first, uint64_t end,
                        remote_stream_fn *fn, void *context);

/* ---- for all ---- */

/* Puts the shares of peers to io, whose [0] is there. keys[i] is the key under digest key key_ids[i]. */
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
