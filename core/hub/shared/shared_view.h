/*
 * shared_view - totals of the shared store, kept where gillnetd reads them.
 *
 * Three sources fill the file of totals (core/count/shared_totals.h).
 *
 * The store answers each batch of this server's counts with the totals of its keys
 * (shared_counts.h).
 *
 * The stream "g{hot}" names hot keys: keys with at least SHARED_HOT copies in a day, whose totals
 * many servers may soon need. The server that first sees the total of a day grow by a step writes
 * the key there, and every server reads the stream four times a second. Steps are a sixteenth at
 * first, so each copy up to 32 is named. They grow while all servers together would name more than
 * SHARED_NAMED_A_SECOND. While they do not grow, a total that stays below its step for
 * SHARED_SETTLE_S is named as well. An entry of the stream has the field "h". It has 20 bytes for
 * each key, little-endian: the key, the number of the bucket (4), its total (4), that of the day
 * (4). After an outage a server names all hot keys that it publishes for a minute, because the
 * others missed them.
 *
 * The past of a key, 15 days and 25 hours, is read once, and again when the totals show that counts
 * were missed (shared_past.h).
 *
 * The file's time is that of the store's last answer about the stream.
 * Depends: base, count, redis, shared, past.   Threads: that of the event loop.   ADR 0080.
 */
#ifndef CORE_HUB_SHARED_SHARED_VIEW_H
#define CORE_HUB_SHARED_SHARED_VIEW_H

#include "core/hub/shared/shared.h"

enum {
    SHARED_HOT = 10,        /* half of the lowest threshold of the shipped rules */
    SHARED_HOT_NUMBER = 3,  /* the same for distinct counts */
    SHARED_HOT_KEYS = 4096, /* named in one turn; more wait for their next total */
    SHARED_NAMED_A_SECOND =
        256,               /* keys, by all servers: 350 MB a day for each reader */
    SHARED_STEP_LEAST = 4, /* a total is named again when it has grown by 1 / 2^4, */
    SHARED_STEP_MOST = -2, /* at most by 2^2 of itself */
    SHARED_SETTLE_S = 2,
    SHARED_SETTLING =
        4096, /* keys that wait for it; more are left to their next step */
    SHARED_STREAM_LENGTH = 10000, /* entries that the stream keeps */
    SHARED_ASKED_KEYS = 512,      /* whose past is asked for in one turn */
    SHARED_ASKED_OF_CELL = 64
};

/* Sets *ret to the count of a key in a bucket that this server has logged, under way included.
 * False: unknown. */
typedef bool shared_own_fn(void *context, uint64_t start_s, uint64_t key,
                           uint64_t *ret);

struct shared_view_options {
    struct shared *shared; /* borrowed: its connection and its names */
    shared_own_fn *own;    /* or NULL */
    void *own_context;
};

struct shared_view;
/* NULL: no memory. */
struct shared_view *shared_view_new(const struct shared_view_options *options);
/* Call it only when no call of v to the store is open. Accepts NULL. */
void shared_view_free(struct shared_view **v);
/* Call it several times a second while the ring is open. Names keys, reads the stream and requests
 * the past of keys. Opens the file if needed. */
void shared_view_tick(struct shared_view *v);
/* Closes the file, until the next tick. */
void shared_view_pause(struct shared_view *v);
/* Takes totals of the store (shared_heard_fn). */
void shared_view_heard(void *view, uint64_t start_s, uint64_t key, uint64_t own,
                       uint64_t bucket_total, uint64_t day_total);

/* Takes the number of members that a distinct count has on all servers (distinct_log.h). */
void shared_view_number(struct shared_view *v, uint64_t number, uint64_t members);
/* Returns the known total of a key today; 0: none. */
uint64_t shared_view_today(const struct shared_view *v, uint64_t key);

struct shared_view_status {
    bool is_open; /* the file */
    uint64_t
        answered_us; /* clock_mono_us of the last answer about the stream; 0: none */
    uint64_t heard;  /* totals taken, since the start */
    int step;        /* totals are named when they grow by 2^-step of themselves */
    uint64_t named;  /* keys that this server wrote to the stream, */
    uint64_t read;   /* and that it read there */
    uint64_t asked;  /* keys whose past was requested, */
    uint64_t told;   /* and received */
};
void shared_view_status(const struct shared_view *v, struct shared_view_status *ret);

#endif
