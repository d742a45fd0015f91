/*
 * shared_part - totals of one key in the store that servers share, and the other servers' part.
 *
 * The hub keeps the totals of the store's last answers: for each ten minutes, hour and day, with
 * the counts of this server included. A count in a slot of time only grows, so an old total is too
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
        1 /* in flags: the counts before the first answer are included */
};
#define SHARED_OWN_UNKNOWN UINT32_MAX

/* [0] of each row has the time of the newest bucket, [i] is i units earlier. Numbers stop at
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
    uint32_t told;   /* total of the newest day when the stream last named the key, */
    uint32_t told_s; /* and the Unix time of that */
    uint32_t spare;
};

/* ---- for the hub ---- */

/* Takes an answer of the store: the totals of a bucket and of its day. Answers of several servers
 * of the store come in any order, so lower totals change nothing. own: as in struct shared_total,
 * at the time of the call. A bucket that is older than all buckets of t changes only its day. Then
 * t needs its history again. */
void shared_total_set(struct shared_total *t, uint64_t bucket, uint64_t own,
                      uint64_t in_bucket, uint64_t in_day);
/* Takes the whole history that the store had. t keeps its newest bucket if that has more counts.
 * Sets t->own to SHARED_OWN_UNKNOWN. */
void shared_total_set_history(struct shared_total *t, const struct count_history *h);
/* True if other buckets of the newest day have counts that t lacks, or the past of t is unknown. */
bool shared_total_wants_history(const struct shared_total *t);

/* ---- for gillnetd ---- */

/* Sets ret to at least the totals in the windows that end with bucket `now` (window order of
 * count.h). Bytes of t may be hostile, here and below. */
void shared_total_windows(const struct shared_total *t, uint64_t now, uint64_t ret[4]);
/* Sets *ret to the other servers' part of n totals, one for each digest key of a feature. known has
 * own counts and the counts that peers sent. own has the counts of this server. It is NULL unless t
 * is one total under the digest key with which this server publishes: only then t->own applies. */
void shared_total_part(const struct shared_total *t, size_t n,
                       const struct count_history *own,
                       const struct count_history *known, struct count_history *ret);

#endif
