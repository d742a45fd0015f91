/*
 * shared_scripts - the programs that the store runs for the hub, and calls of them.
 *
 * A script is one step of the store: all of it or nothing, at a replica too. A server that does not
 * have a script gets its text with the call. Keys that a script makes are named to the server, so
 * that it answers TRYAGAIN while their slot moves; ADD names its anchor alone, because the names of
 * its parts would double the traffic, and checks that all of them are there before it writes.
 * Depends: base, redis.   Threads: that of the event loop.   ADR 0079.
 */
#ifndef CORE_HUB_SHARED_SHARED_SCRIPTS_H
#define CORE_HUB_SHARED_SHARED_SCRIPTS_H

#include "core/hub/redis/redis.h"

enum shared_script {
    /* Anchor; message: who (24 bytes), position expected (8), number (8), starts of bucket and day
     * (4 each; bucket 0: none), then pairs: key (8), amount (2); big endian. Answers the position
     * (8) if it is not the expected one; else also for each pair the totals of bucket and day, a
     * byte each, 255: the next 4 are it. Errors before anything is written: "NOTOPEN KIND N", N:
     * the counters of the bucket (KIND t) or day (d) before, "-": none; "NOTWHOLE": a part is
     * gone, or somewhere else while its slot moves. */
    SHARED_SCRIPT_ADD,
    /* Anchor and parts; kind, start, nonce, time at which they expire, and at which the anchor
     * does. Makes what is missing of them. Answers "PARTS:NONCE" as it was, if it was otherwise,
     * and then did nothing. */
    SHARED_SCRIPT_OPEN,
    /* Anchor; origin (16). Answers incarnation and position (8 each) of all that it has of it. */
    SHARED_SCRIPT_POSITIONS,
    /* Anchor; who (24), a number, now, parts. Answers the position of who, as text; of at most so
     * many parts of each bucket and day that has not expired, beginning at one that the number
     * chooses: how many were looked at, how many are not there, do not expire, the fields of the
     * largest; names of some that are not there; the origins that have counts here (16 each). */
    SHARED_SCRIPT_CHECK,
    /* Anchor; who (24), kind, start, keys (8 each). Answers the position of who (8), and the total
     * of each key (4), unless the bucket is not open. */
    SHARED_SCRIPT_TOTALS,
    /* Anchor; begin of the newest bucket, keys of 8 bytes. Answers for each key how many slots
     * follow (1 byte), and for each its number (1) and count (4), big endian: slot i is the bucket
     * i before the newest one, slot 145 + i the day i before today. Of a day without counts no
     * bucket is read. Error "NOTWHOLE" as of ADD. */
    SHARED_SCRIPT_PAST,
    SHARED_SCRIPTS
};
enum { SHARED_ADD_HEAD = 48, SHARED_ADD_PAIR = 10 };

/* Numbers in messages and answers, big endian. Of an answer that is too short as much as there
 * is. */
void script_add_number(struct buf *b, uint64_t v, unsigned nbytes);
uint64_t script_take_number(struct slice *s, unsigned nbytes);

struct shared_script_call {
    const struct slice *keys; /* copied, as args are; the first one finds the server */
    size_t nkeys;
    const struct slice *args;
    size_t nargs;
    bool may_repeat;
    redis_answer_fn *answer;
    void *context;
};
/* As redis_call. */
enum err shared_script_run(struct redis *r, enum shared_script script,
                           const struct shared_script_call *call);

#endif
