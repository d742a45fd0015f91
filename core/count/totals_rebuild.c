/* totals_rebuild - a shard's sums from the runs, at start or when it is to be larger. */
#include "core/count/totals_internal.h"

enum {
    BUCKET_WINDOWS = 1 << TOTALS_1H | 1 << TOTALS_1D,
    DAY_WINDOWS = 1 << TOTALS_14D
};

void totals_rebuild_begin(struct totals *t, unsigned shard, uint64_t now)
{
    struct totals_shard *s = &t->shards[shard];

    __atomic_store_n(&s->is_ready, false, __ATOMIC_RELAXED);
    totals_drop_shares(t, s);
    cells_clear(&s->cells);
    doorkeeper_clear(&s->door, totals_day(now));
    s->now = now < UINT32_MAX ? now : UINT32_MAX;
    s->pending = s->now;
    s->run_windows = 0;
    s->days_given = 0;
    __atomic_store_n(&s->has_lost, false, __ATOMIC_RELAXED);
}

static void end_run(struct totals *t, struct totals_shard *s)
{
    totals_end_bucket(t, s, s->run_bucket, s->run_windows);
    s->run_windows = 0;
}

/* A run of the future (the clock was set back) counts as the running bucket's. */
void totals_rebuild_run(struct totals *t, unsigned shard, uint64_t bucket, bool for_day,
                        bool for_bucket)
{
    struct totals_shard *s = &t->shards[shard];
    unsigned wanted = (for_day ? DAY_WINDOWS : 0U) | (for_bucket ? BUCKET_WINDOWS : 0U);

    end_run(t, s);
    s->run_bucket = bucket < s->now ? bucket : s->now;
    s->run_windows = wanted & totals_windows_of(s->run_bucket, s->now);
    if (s->run_windows & DAY_WINDOWS) {
        s->days_given |= 1U << (totals_day(s->now) - totals_day(s->run_bucket));
    }
}

/* A bucket of a day whose own run was counted: a key that was seen but once in all these days was
 * seen in this bucket, and the doorkeeper stands for that one already. */
static bool is_counted(const struct totals_shard *s, uint64_t hash, uint64_t count)
{
    uint64_t run_age = totals_day(s->now) - totals_day(s->run_bucket);
    uint64_t sums[TOTALS_WINDOWS];
    unsigned age = 0;

    if ((s->run_windows & DAY_WINDOWS) || !(s->days_given >> run_age & 1) ||
        count != 1 || doorkeeper_find(&s->door, hash, &age) != DOORKEEPER_SEEN ||
        age > run_age) {
        return false;
    }
    cells_read(&s->cells, hash, sums);
    return sums[TOTALS_14D] == 0;
}

void totals_rebuild_add(struct totals *t, unsigned shard, uint64_t key, uint64_t count)
{
    struct totals_shard *s = &t->shards[shard];
    uint64_t hash = totals_hash(t, key);
    uint64_t sums[TOTALS_WINDOWS];

    if (s->run_windows == 0 || count == 0 || is_counted(s, hash, count)) {
        return;
    }
    enum doorkeeper_answer door =
        doorkeeper_see(&s->door, hash, totals_day(s->run_bucket));
    uint64_t rest =
        door == DOORKEEPER_NEW || door == DOORKEEPER_PLACED ? count - 1 : count;
    if (rest > 0) {
        cells_add(&s->cells, hash, rest, s->run_windows, sums);
    }
}

struct running {
    struct totals *totals;
    unsigned shard;
};

static void add_running(void *sink, uint64_t key, uint64_t count)
{
    const struct running *r = sink;

    totals_rebuild_add(r->totals, r->shard, key, count);
}

void totals_rebuild_end(struct totals *t, unsigned shard, totals_source_fn *running,
                        void *context)
{
    struct totals_shard *s = &t->shards[shard];
    struct running sink = {t, shard};

    end_run(t, s);
    if (s->pending > s->now) {
        totals_begin_bucket(t, s, s->pending);
    }
    s->run_bucket = s->now;
    s->run_windows = CELLS_ALL_WINDOWS;
    if (running) {
        running(context, shard, add_running, &sink);
    }
    s->run_windows = 0;
    __atomic_store_n(&s->is_ready, true, __ATOMIC_RELAXED);
}
