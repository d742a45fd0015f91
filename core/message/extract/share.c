#include "core/message/extract/share.h"

#include "core/base/clock.h"

enum {
    LEAF_LEAVES = 4,
    /* a leaf leaves one part in this many of the rest */ PER_CENT = 100
};

/* Per cent of the budget. */
static const unsigned part_of[SHARES] = {
    [SHARE_STRUCTURE] = SHARES_STOP, [SHARE_TEXT] = 60,       [SHARE_FILES] = 30,
    [SHARE_SKIM_TEXT] = 40,          [SHARE_SKIM_FILES] = 15,
};

static void look_at_clock(struct shares *s)
{
    uint64_t now_us = clock_cpu_us();
    uint64_t spent_us = now_us - s->since_us;

    s->since_us = now_us;
    s->bytes = 0;
    s->all_us += spent_us;
    s->used_us[s->now] += spent_us;
    s->leaf_us -= spent_us < s->leaf_us ? spent_us : s->leaf_us;
}

void shares_init(struct shares *s, uint64_t budget_us)
{
    *s = (struct shares){.budget_us = budget_us, .leaf_us = UINT64_MAX};
}

static void begin_timing(struct shares *s)
{
    s->is_timed = true;
    s->since_us = clock_cpu_us();
    s->bytes = 0;
}

void shares_begin(struct shares *s, size_t bytes)
{
    s->wall_since_us = clock_mono_us();
    s->is_timed = false;
    if (s->budget_us > 0 && bytes >= SHARE_STEP / 4) {
        begin_timing(s);
    }
}

void shares_end(struct shares *s)
{
    s->wall_us += clock_mono_us() - s->wall_since_us;
    if (s->is_timed) {
        look_at_clock(s);
    }
    s->is_timed = false;
}

void shares_step(struct shares *s, size_t bytes)
{
    s->bytes += bytes;
    if (s->bytes < SHARE_STEP || s->budget_us == 0) {
        return;
    }
    if (s->is_timed) {
        look_at_clock(s);
    } else {
        begin_timing(s);
    }
}

void shares_spend_on(struct shares *s, enum share share)
{
    if (s->budget_us == 0) {
        return;
    }
    uint64_t whole_us = s->budget_us * part_of[share] / PER_CENT;
    /* A few small parts are not worth a look at the clock each. */
    if (s->is_timed && s->bytes >= SHARE_STEP / PER_CENT) {
        look_at_clock(s);
    }
    uint64_t left_us = whole_us > s->used_us[share] ? whole_us - s->used_us[share] : 0;
    s->now = share;
    s->leaf_us = share == SHARE_TEXT || share == SHARE_FILES
                     ? left_us - left_us / LEAF_LEAVES
                     : left_us;
}

bool shares_leaf_is_over(const struct shares *s)
{
    return s->budget_us > 0 && s->leaf_us == 0;
}

bool shares_all_is_over(const struct shares *s)
{
    return s->budget_us > 0 && s->all_us > s->budget_us * SHARES_STOP / PER_CENT;
}
