/*
 * clock - time, which tests can set.
 *
 * Threads: any. Setting is for tests and for replays, before other threads start.
 */
#ifndef CORE_BASE_CLOCK_H
#define CORE_BASE_CLOCK_H

#include "core/base/std.h"

uint64_t clock_wall_us(void); /* microseconds since 1970, UTC */
uint64_t clock_mono_us(void); /* microseconds since some start; never goes back */
uint64_t clock_boot_us(void); /* the same, and it runs while the machine sleeps */
uint64_t clock_cpu_us(void);  /* CPU time of the calling thread */

/* "2026-01-31T12:00:00Z", "never" for 0; returns dst. */
enum { CLOCK_TEXT_MAX = 24 };
const char *clock_text(uint64_t seconds, char dst[CLOCK_TEXT_MAX]);

/* Limits the rate of an event, such as the log line of a repeated fault. */
struct clock_pace {
    _Atomic uint64_t next_us; /* set by the thread whose turn it was; 0: at once */
};

/* Whether every_us have gone by since the last turn; of the threads that ask, one gets it. */
bool clock_take_turn(struct clock_pace *p, uint64_t every_us);

/* From now on the clocks stand still at this time (mono_us is that of clock_boot_us too);
 * clock_advance_us moves all. */
void clock_set_for_test(uint64_t wall_us, uint64_t mono_us);
void clock_advance_us(uint64_t us);
void clock_unset_for_test(void);

#endif
