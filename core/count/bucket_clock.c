/* bucket_clock - which bucket counts now: a clock that only goes forward, and only believes what
 * holds. */
#include "core/count/bucket_clock.h"

#include "core/count/runset.h"

static const uint64_t bucket_us = (uint64_t)COUNT_BUCKET_S * 1000000;

bool bucket_clock_is_ahead(const struct bucket_clock *p)
{
    return p->wall_us / bucket_us + PERIOD_STEP_BUCKETS < p->bucket;
}

static void believe(struct bucket_clock *p, uint64_t wall_us, uint64_t boot_us)
{
    p->wall_us = wall_us;
    p->boot_us = boot_us;
    p->is_suspended = bucket_clock_is_ahead(p);
    p->is_on_trial = false;
}

void bucket_clock_init(struct bucket_clock *p, uint64_t newest, bool believes,
                       uint64_t wall_us, uint64_t boot_us)
{
    uint64_t wall_bucket = wall_us / bucket_us;

    *p = (struct bucket_clock){.bucket = newest};
    if (newest == 0 || believes || wall_bucket <= newest + PERIOD_STEP_BUCKETS) {
        p->bucket = wall_bucket > newest ? wall_bucket : newest;
        believe(p, wall_us, boot_us);
        return;
    }
    believe(p, newest * bucket_us, boot_us); /* what is ahead of that is a step */
    (void)bucket_clock_look(p, wall_us, boot_us);
}

static bool is_near(int64_t a, int64_t b)
{
    int64_t d = a > b ? a - b : b - a;
    return d <= (int64_t)(PERIOD_STEP_BUCKETS * bucket_us);
}

/* Whether the wall clock may be followed: it is where it should be, or has proved itself. */
static bool is_credible(struct bucket_clock *p, uint64_t wall_us, uint64_t boot_us)
{
    uint64_t expected = p->wall_us + (boot_us - p->boot_us);
    int64_t step = (int64_t)(wall_us - expected);

    if (step <= 0 || is_near(step, 0) ||
        wall_us / bucket_us <= p->bucket + PERIOD_STEP_BUCKETS) {
        return true;
    }
    if (!p->is_on_trial || !is_near(step, p->trial_step_us)) {
        p->is_on_trial = true;
        p->is_suspended = true;
        p->trial_us = boot_us;
        p->trial_step_us = step;
    }
    return boot_us - p->trial_us >= PERIOD_PROOF_US;
}

bool bucket_clock_look(struct bucket_clock *p, uint64_t wall_us, uint64_t boot_us)
{
    if (!is_credible(p, wall_us, boot_us)) {
        return false;
    }
    bool begins = wall_us / bucket_us > p->bucket;
    if (begins) {
        p->bucket = wall_us / bucket_us;
    }
    believe(p, wall_us, boot_us);
    return begins;
}
