/*
 * bucket_clock - the running bucket: a clock that only goes forward, and accepts a step only after
 * a trial.
 *
 * The bucket is the larger of the bucket before and wall clock / COUNT_BUCKET_S. When the clock is
 * set back, the bucket stays until the wall clock reaches it again. When the wall clock is more
 * than PERIOD_STEP_BUCKETS ahead of CLOCK_BOOTTIME, which cannot be set, the step is on trial:
 * counting stays in the last good bucket, and no count expires, until the step has held for
 * PERIOD_PROOF_US. A start long after the newest bucket on disk is such a step. No count expires
 * either while the wall clock is PERIOD_STEP_BUCKETS behind the bucket, because one of the two is
 * wrong.
 * Threads: one at a time.   Allocates: nothing.   Source: ADR 0029.
 */
#ifndef CORE_COUNT_BUCKET_CLOCK_H
#define CORE_COUNT_BUCKET_CLOCK_H

#include "core/base/std.h"

enum { PERIOD_STEP_BUCKETS = 2 };
#define PERIOD_PROOF_US ((uint64_t)10 * 60 * 1000000)

struct bucket_clock {
    uint64_t bucket;   /* that counts now */
    uint64_t wall_us;  /* the last accepted time, */
    uint64_t boot_us;  /* and when that was */
    bool is_suspended; /* a step is on trial, or the wall clock is behind */
    bool is_on_trial;
    uint64_t trial_us;     /* boot time at which the trial began */
    int64_t trial_step_us; /* how far the wall clock is ahead of the accepted time */
};

/* newest: the newest bucket on disk; 0: none. believes: accept the wall clock at once, for a
 * process that ends before a trial does. */
void bucket_clock_init(struct bucket_clock *p, uint64_t newest, bool believes,
                       uint64_t wall_us, uint64_t boot_us);
/* Whether the wall clock is behind the bucket. */
bool bucket_clock_is_ahead(const struct bucket_clock *p);
/* Looks at the clocks; true when another bucket begins (p->bucket). */
bool bucket_clock_look(struct bucket_clock *p, uint64_t wall_us, uint64_t boot_us);

#endif
