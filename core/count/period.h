/*
 * period - which bucket counts now: a clock that only goes forward, and only believes what holds.
 *
 * bucket = max(the one before, wall clock / COUNT_BUCKET_S): set back, the clock's bucket goes on.
 * When the wall clock runs ahead of the clock that cannot be set (CLOCK_BOOTTIME) by more than
 * PERIOD_STEP_BUCKETS, the old time is taken to go on, and nothing may expire, until the step has held
 * for PERIOD_PROOF_US.
 * Threads: one at a time.   Allocates: nothing.   ADR 0029.
 */
#ifndef CORE_COUNT_PERIOD_H
#define CORE_COUNT_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

enum { PERIOD_STEP_BUCKETS = 2 };
#define PERIOD_PROOF_US ((uint64_t)10 * 60 * 1000000)

struct period {
    uint64_t bucket;       /* that counts now */
    uint64_t wall_us;      /* as last seen and believed */
    uint64_t boot_us;      /* at that moment */
    bool is_suspended;     /* a step is on trial: nothing expires */
    uint64_t trial_us;     /* boot time at which the trial began */
    int64_t trial_step_us; /* by how much the wall clock is ahead */
};

/* newest: the newest bucket on disk, 0: none. A clock far from it is on trial from the start. */
void period_init(struct period *p, uint64_t newest, uint64_t wall_us, uint64_t boot_us);
/* Looks at the clocks; true when another bucket begins (p->bucket). */
bool period_look(struct period *p, uint64_t wall_us, uint64_t boot_us);

#endif
