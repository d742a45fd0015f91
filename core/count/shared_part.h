/*
 * shared_part - totals of one key in the store that servers share, and the other servers' part.
 *
 * The hub keeps the totals as the store last told them: of each ten minutes, hour and day, the
 * counts of this server included. A count in a slot of time only grows, so an old total is too
 * low at most. The other servers' part of a slot is the total, less the counts of that slot that
 * this server knows by itself. Own counts and the part together never exceed the truth, also while
 * counts are under way.
 * Depends: runset.   Threads: any.   Allocates: nothing.   ADR 0080.
 */
#ifndef CORE_COUNT_SHARED_PART_H
#define CORE_COUNT_SHARED_PART_H

#include "core/count/runset.h"

enum {
    SHARED_BUCKETS = 7, /* the newest one, and those of the hour before */
    SHARED_HOURS = 25,  /* whole hours (UTC) */
    SHARED_DAYS = COUNT_DAYS + 1,
    SHARED_HAS_HISTORY =
        1 /* in flags: what was counted before the first answer is in it */
};
#define SHARED_OWN_UNKNOWN UINT32_MAX

/* [0] of each row has the time of the newest bucket, [i] is i units before. Larger numbers stay at
 * UINT32_MAX. */
struct shared_total {
    uint64_t key;
    uint32_t bucket;  /* number of the newest one */
    uint32_t heard_s; /* Unix time of the last answer */
    /* This server's counts in the newest bucket that may be in the total, those under way
     * included; or SHARED_OWN_UNKNOWN. */
    uint32_t own;
    uint32_t flags;
    uint32_t ten[SHARED_BUCKETS];
    uint32_t hour[SHARED_HOURS];
    uint32_t day[SHARED_DAYS];
    uint32_t told; /* total of the newest day when all servers were last told of it, */
    uint32_t told_s; /* and when that was */
    uint32_t spare;
};

/* ---- for the hub ---- */

/* Takes an answer of the store: the totals of a bucket and of its day. Answers of several servers
 * of the store come in any order, so lower totals change nothing. own: as in struct shared_total,
 * at the time of the call. A bucket that is older than those of t changes only its day; then t
 * needs its history again. */
void shared_total_set(struct shared_total *t, uint64_t bucket, uint64_t own,
                      uint64_t in_bucket, uint64_t in_day);
/* Takes the whole history as the store had it. The newest bucket of t is kept if t has more of it.
 * Sets t->own to SHARED_OWN_UNKNOWN. */
void shared_total_set_history(struct shared_total *t, const struct count_history *h);
/* True if other buckets of the newest day have counts that t lacks, or its past is unknown. */
bool shared_total_wants_history(const struct shared_total *t);

/* ---- for gillnetd ---- */

/* At least the totals in the windows that end with bucket `now` (window order of count.h). Bytes
 * of t may be hostile, here and below. */
void shared_total_windows(const struct shared_total *t, uint64_t now, uint64_t ret[4]);
/* Sets *ret to the other servers' part of n totals, one for each digest key of a feature. known has
 * own counts, and those that peers sent. own has the counts of this server. It is NULL, unless t is
 * one total under the digest key with which this server publishes: only then t->own applies. */
void shared_total_part(const struct shared_total *t, size_t n,
                       const struct count_history *own,
                       const struct count_history *known, struct count_history *ret);

#endif
