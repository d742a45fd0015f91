/*
 * bucket_clock - which bucket counts now: a clock that only goes forward, and only believes what holds.
 *
 * bucket = max(the one before, wall clock / COUNT_BUCKET_S): when the clock is set back, its bucket
 * goes on until the time is reached again. When the wall clock is found more than
 * PERIOD_STEP_BUCKETS further than the clock that nobody sets (CLOCK_BOOTTIME) says, the step is on
 * trial: counting goes on in the last good bucket, and nothing expires, until it has held for
 * PERIOD_PROOF_US. A start long after the newest bucket on disk is such a step. Nor does anything
 * expire while the wall clock is behind the bucket by as much: one of the two is wrong.
 * Threads: one at a time.   Allocates: nothing.   Source: ADR 0029.
 */
#ifndef CORE_COUNT_BUCKET_CLOCK_H
#define CORE_COUNT_BUCKET_CLOCK_H

#include "core/base/std.h"

enum { PERIOD_STEP_BUCKETS = 2 };
#define PERIOD_PROOF_US ((uint64_t)10 * 60 * 1000000)

struct bucket_clock {
    uint64_t bucket;   /* that counts now */
    uint64_t wall_us;  /* the time that was believed last, */
    uint64_t boot_us;  /* and when that was */
    bool is_suspended; /* a step is on trial, or the wall clock is behind */
    bool is_on_trial;
    uint64_t trial_us;     /* boot time at which the trial began */
    int64_t trial_step_us; /* how far the wall clock is ahead of what was believed */
};

/* newest: the newest bucket on disk; 0: none. believes: the wall clock is followed at once, by who
 * does not run long enough for a trial. */
void bucket_clock_init(struct bucket_clock *p, uint64_t newest, bool believes,
                       uint64_t wall_us, uint64_t boot_us);
/* Whether the wall clock is behind the bucket. */
bool bucket_clock_is_ahead(const struct bucket_clock *p);
/* Looks at the clocks; true when another bucket begins (p->bucket). */
bool bucket_clock_look(struct bucket_clock *p, uint64_t wall_us, uint64_t boot_us);

#endif
