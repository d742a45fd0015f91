/* clock - the system's clocks, or a time that a test has set. */
#include "core/base/clock.h"

#include <stdatomic.h>

#include "core/base/std.h"

/* Written before other threads start (clock.h); atomics only so that a test which advances the
 * time under running threads is no data race. Relaxed: each value stands for itself. */
static _Atomic bool is_set;
static _Atomic uint64_t set_wall_us;
static _Atomic uint64_t set_mono_us;

enum { US_PER_S = 1000000, NS_PER_US = 1000 };

static uint64_t now_us(clockid_t id)
{
    struct timespec t = {0};
    (void)clock_gettime(id, &t); /* these clocks always exist on Linux */
    return (uint64_t)t.tv_sec * US_PER_S + (uint64_t)t.tv_nsec / NS_PER_US;
}

uint64_t clock_wall_us(void)
{
    if (atomic_load_explicit(&is_set, memory_order_relaxed)) {
        return atomic_load_explicit(&set_wall_us, memory_order_relaxed);
    }
    return now_us(CLOCK_REALTIME);
}

uint64_t clock_mono_us(void)
{
    if (atomic_load_explicit(&is_set, memory_order_relaxed)) {
        return atomic_load_explicit(&set_mono_us, memory_order_relaxed);
    }
    return now_us(CLOCK_MONOTONIC);
}

uint64_t clock_boot_us(void)
{
    if (atomic_load_explicit(&is_set, memory_order_relaxed)) {
        return atomic_load_explicit(&set_mono_us, memory_order_relaxed);
    }
    return now_us(CLOCK_BOOTTIME);
}

uint64_t clock_cpu_us(void)
{
    return now_us(CLOCK_THREAD_CPUTIME_ID);
}

bool clock_take_turn(struct clock_pace *p, uint64_t every_us)
{
    uint64_t now = clock_mono_us();
    /* relaxed: the time stands for itself */
    uint64_t next = atomic_load_explicit(&p->next_us, memory_order_relaxed);
    return now >= next && atomic_compare_exchange_strong_explicit(
                              &p->next_us, &next, now + every_us, memory_order_relaxed,
                              memory_order_relaxed);
}

void clock_set_for_test(uint64_t wall_us, uint64_t mono_us)
{
    atomic_store_explicit(&set_wall_us, wall_us, memory_order_relaxed);
    atomic_store_explicit(&set_mono_us, mono_us, memory_order_relaxed);
    atomic_store_explicit(&is_set, true, memory_order_relaxed);
}

void clock_advance_us(uint64_t us)
{
    atomic_fetch_add_explicit(&set_wall_us, us, memory_order_relaxed);
    atomic_fetch_add_explicit(&set_mono_us, us, memory_order_relaxed);
}

void clock_unset_for_test(void)
{
    atomic_store_explicit(&is_set, false, memory_order_relaxed);
}

const char *clock_text(uint64_t seconds, char dst[CLOCK_TEXT_MAX])
{
    time_t t = (time_t)seconds;
    struct tm tm;

    if (seconds == 0 || gmtime_r(&t, &tm) == NULL ||
        strftime(dst, CLOCK_TEXT_MAX, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0) {
        (void)snprintf(dst, CLOCK_TEXT_MAX, "never");
    }
    return dst;
}
