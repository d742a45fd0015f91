/*
 * shared_scripts - scripts that the store runs for the hub, and calls of them.
 *
 * A script is one step of the store: all of it happens or nothing, on a replica too. A server that
 * lacks a script gets its text with the call. A call names the keys that its script makes, so that
 * the server answers TRYAGAIN while their slot moves. ADD names its anchor alone, because the names
 * of its parts would double the traffic. It checks that all parts exist before it writes.
 * Depends: base, redis.   Threads: that of the event loop.   ADR 0079.
 */
#ifndef CORE_HUB_SHARED_SHARED_SCRIPTS_H
#define CORE_HUB_SHARED_SHARED_SCRIPTS_H

#include "core/hub/redis/redis.h"

enum shared_script {
    /* Anchor; message: who (24 bytes), position expected (8), number (8), starts of bucket and day
     * (4 each; bucket 0: none), then pairs: key (8), amount (2); big endian. Answers the position
     * (8). If it added the batch, the totals of bucket and day follow for each pair, a byte each;
     * 255: the total is in the next 4 bytes. Errors before anything is written: "NOTOPEN KIND
     * N", N: the counters of the bucket (KIND t) or day (d) before, "-": none; "NOTWHOLE": a part
     * is gone, or somewhere else while its slot moves. */
    SHARED_SCRIPT_ADD,
    /* Anchor and parts; kind, start, nonce, times at which the parts and the anchor expire. Makes
     * the missing parts and answers "PARTS:NONCE". If the bucket is open with another
     * "PARTS:NONCE", answers that and does nothing. */
    SHARED_SCRIPT_OPEN,
    /* Anchor; origin (16). Answers each incarnation of the origin and its position (8 each). */
    SHARED_SCRIPT_POSITIONS,
    /* Anchor; who (24), a number, now, parts. Answers the position of who, as text. Then looks at
     * `parts` parts at most of each bucket and day that has not expired; the number selects the
     * first. Answers the numbers of parts that it looked at, that are missing, and that do not
     * expire; the fields of the largest part; names of some missing parts; the origins that have
     * counts here (16 each). */
    SHARED_SCRIPT_CHECK,
    /* Anchor; who (24), kind, start, keys (8 each). Answers the position of who (8), and the total
     * of each key (4), unless the bucket is not open. */
    SHARED_SCRIPT_TOTALS,
    /* Anchor; begin of the newest bucket, keys of 8 bytes. Answers for each key how many slots
     * follow (1 byte), and for each its number (1) and count (4), big endian: slot i is the bucket
     * i before the newest one, slot 145 + i the day i before today. No bucket is read of a day
     * without counts. Error "NOTWHOLE" as of ADD. */
    SHARED_SCRIPT_PAST,
    SHARED_SCRIPTS
};
enum { SHARED_ADD_HEAD = 48, SHARED_ADD_PAIR = 10 };

/* Numbers in messages and answers, big endian. An answer that is too short gives a number of the
 * bytes that it has. */
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
