/*
 * shared_lines - filters of large lists in the store, and their lines for gillnetd.
 *
 * The hub keeps the lines of the large filters of every local list with filter_memory = "store" in
 * the store. It answers gillnetd's questions for these lines on STATE/peers/lines.ctl
 * (core/list/line_wire.h). Servers with the same filter use the same lines.
 *
 * In the store a part of LINES_PART sealed lines is the string PREFIX{l:ID:PART}. It expires
 * LINES_TTL_S after a server last checked it. A filter never changes, so a part is whole or absent.
 * A new generation of a list has other names. The hub puts a lost part there again.
 *
 * Files in reading order: shared_lines (the socket, questions), shared_lines_fetch (the store, the
 * cache), shared_lines_put (which filters there are, and putting their parts).
 * Depends: base, config, filter, list, redis, libevent.   Threads: that of the event loop.   ADR
 * 0082.
 */
#ifndef CORE_HUB_SHARED_SHARED_LINES_H
#define CORE_HUB_SHARED_SHARED_LINES_H

#include "core/hub/shared/shared.h"

enum {
    LINES_PART = 240, /* of them fill a block of the store's memory (16 KiB) */
    LINES_TTL_S = 3600,
    LINES_LOOK_S = 900,        /* between two looks at all parts of a filter */
    LINES_AGAIN_S = 5,         /* after a failure */
    LINES_WINDOW = 32,         /* parts of a filter under way */
    LINES_CACHE = 64 * 1024,   /* lines, 5 MiB */
    LINES_CLIENTS_MAX = 256,   /* connections of gillnetd */
    LINES_ASKED_MAX = 8 * 1024 /* lines asked of the store and not answered */
};

struct shared_lines;
/* Opens the socket and begins to put filters. After an error no filter is put. */
enum err shared_lines_new(struct event_base *base, struct shared *s,
                          struct shared_lines **ret, struct errinfo *reterr);
/* Call it before the client of the store is freed. Later answers are dropped. Accepts NULL. */
void shared_lines_stop(struct shared_lines *l);
/* Call it after the client was freed. Accepts NULL. */
void shared_lines_free(struct shared_lines **l);

struct shared_lines_status {
    bool is_up;         /* the store answers within store.deadline */
    uint64_t filters;   /* of this server's lists */
    uint64_t complete;  /* of these, wholly in the store at the last look */
    uint64_t parts;     /* of all filters */
    uint64_t questions; /* since the start, as all below */
    uint64_t lines;     /* in them */
    uint64_t cached;    /* of these, found in the cache */
    uint64_t late;      /* of these, without an answer in time */
    uint64_t lost;      /* of these, absent or damaged in the store */
    uint64_t put;       /* parts put into the store */
    uint64_t refused;   /* of these, refused or failed */
};
/* Accepts NULL: zeros. */
void shared_lines_status(const struct shared_lines *l, struct shared_lines_status *ret);

#endif
