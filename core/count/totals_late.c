/* totals_late - counts of other servers in buckets that have ended here. */

#include "core/base/array.h"
#include "core/count/totals_internal.h"

/* One key's part that goes into cells. */
struct late {
    uint64_t line;
    uint64_t hash;
    uint64_t amount;
};

/* The doorkeeper takes the first sights, as for a run that is rebuilt from. Returns how many are
 * left. */
static size_t let_in(const struct totals *t, struct totals_shard *s, uint64_t bucket,
                     const struct run_record *v, size_t n, struct late *ret)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t hash = totals_hash(t, v[i].key);
        enum doorkeeper_answer door =
            doorkeeper_see(&s->door, hash, totals_day(bucket));
        uint64_t one = door == DOORKEEPER_NEW || door == DOORKEEPER_PLACED ? 1 : 0;
        if (v[i].count > one) {
            ret[left++] =
                (struct late){cells_line(&s->cells, hash), hash, v[i].count - one};
        }
    }
    return left;
}

/* Adds line by line, and gathers what each line got. */
static bool add_lines(struct totals_shard *s, struct late *v, size_t n,
                      unsigned windows, struct buf *ret)
{
    uint64_t last = 0;

    qsort(v, n, sizeof(v[0]), array_u64_cmp);
    for (size_t i = 0; i < n;) {
        uint64_t values[CELLS_OF_LINE] = {0};
        uint64_t line = v[i].line;
        for (; i < n && v[i].line == line; i++) {
            cells_add_late(&s->cells, v[i].hash, v[i].amount, windows, values);
        }
        contribution_add_line(ret, line, values, &last);
    }
    return contribution_end(ret, 0);
}

bool totals_add_late(struct totals *t, unsigned shard, uint64_t bucket,
                     const struct run_record *v, size_t n)
{
    struct totals_shard *s = &t->shards[shard];
    struct late late[TOTALS_LATE_MAX];
    struct buf bytes;

    if (!s->is_ready) {
        return false;
    }
    unsigned windows = totals_windows_of(bucket, s->now);
    n = n < TOTALS_LATE_MAX ? n : TOTALS_LATE_MAX;
    if (bucket > s->now || windows == 0) {
        return true;
    }
    size_t left = let_in(t, s, bucket, v, n, late);
    buf_init(&bytes, UINT32_MAX);
    if (!add_lines(s, late, left, windows, &bytes)) {
        __atomic_store_n(&s->has_lost, true, __ATOMIC_RELAXED);
        buf_clear(&bytes); /* they stay in the windows: too much, never too little */
    }
    totals_keep_share(t, s, &bytes, bucket, windows);
    return true;
}
