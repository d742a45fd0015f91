/*
 * shared_distinct - members of distinct counts, in the shared store as sets.
 *
 * Sets are HyperLogLogs "g{1f}u:NUMBER": cell and 16 hexadecimal digits of the number's key. A set
 * is kept for SHARED_SET_KEEP_S. Members that gillnetd logs (core/count/distinct_log.h) wait here
 * until the counted key has SHARED_DISTINCT_LEAST copies in the store today, and for
 * SHARED_DISTINCT_WAIT_S at most. Most keys never have that many copies, and no rule needs their
 * number. So a number may lack the members of SHARED_DISTINCT_LEAST - 1 copies. A failover may lose
 * members. After a change of servers or connections the members of the last ten minutes are added
 * again. A member that is in the set already does not change its number.
 * A set's number has an error of 0.81 % (1 sigma).
 * Depends: base, count, redis, shared, view.   Threads: that of the event loop.   ADR 0080.
 */
#ifndef CORE_HUB_SHARED_SHARED_DISTINCT_H
#define CORE_HUB_SHARED_SHARED_DISTINCT_H

#include "core/hub/shared/shared_view.h"

enum {
    SHARED_DISTINCT_LEAST = 5,
    SHARED_DISTINCT_WAIT_S = 600,
    SHARED_DISTINCT_MAX = 1 << 18,  /* members that wait or may be added again */
    SHARED_DISTINCT_TURN = 1 << 14, /* that are looked at in a turn */
    SHARED_SET_KEEP_S = 3 * 86400
};

struct shared_distinct;
/* view is borrowed. NULL: no memory. */
struct shared_distinct *shared_distinct_new(struct shared *shared,
                                            struct shared_view *view);
/* Only when no call of it is open at the store. Accepts NULL. */
void shared_distinct_free(struct shared_distinct **d);
/* Call it each second while the ring is open. */
void shared_distinct_tick(struct shared_distinct *d);
/* The store may have lost members: adds those of the last ten minutes again. */
void shared_distinct_doubt(struct shared_distinct *d);
/* The ring closes: its digest key may be another when it opens again. */
void shared_distinct_pause(struct shared_distinct *d);

struct shared_distinct_status {
    uint64_t waiting; /* members, those that may be added again included */
    uint64_t added;   /* since the start */
    uint64_t dropped; /* there was no room */
};
void shared_distinct_status(const struct shared_distinct *d,
                            struct shared_distinct_status *ret);

#endif
