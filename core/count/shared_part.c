/* shared_part - slots of time, moved on, filled and compared. */
#include "core/count/shared_part.h"

#include "core/count/runset_internal.h"

enum { HOUR_BUCKETS = 6, WINDOWS = 4 };

static uint32_t clamp32(uint64_t n)
{
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* ---- filling ---- */

/* Moves a row of n slots on by `by` units of time. */
static void move_on(uint32_t *row, size_t n, uint64_t by)
{
    size_t gone = by < n ? (size_t)by : n;

    memmove(row + gone, row, (n - gone) * sizeof(row[0]));
    memset(row, 0, gone * sizeof(row[0]));
}

static void begin_bucket(struct shared_total *t, uint64_t bucket)
{
    uint64_t before = t->bucket;

    move_on(t->ten, SHARED_BUCKETS, bucket - before);
    move_on(t->hour, SHARED_HOURS, bucket / HOUR_BUCKETS - before / HOUR_BUCKETS);
    move_on(t->day, SHARED_DAYS,
            bucket / COUNT_DAY_BUCKETS - before / COUNT_DAY_BUCKETS);
    if (bucket / COUNT_DAY_BUCKETS != before / COUNT_DAY_BUCKETS) {
        t->told = 0;
        t->flags &= ~(uint32_t)SHARED_HAS_HISTORY; /* the day before may have grown */
    }
    t->bucket = clamp32(bucket);
}

/* The hour has the bucket's new count in place of the old one. */
static void set_bucket(struct shared_total *t, uint64_t bucket, uint64_t in_bucket)
{
    uint64_t back = t->bucket - bucket;
    uint32_t *hour = &t->hour[t->bucket / HOUR_BUCKETS - bucket / HOUR_BUCKETS];
    uint32_t old = t->ten[back];
    uint32_t more = clamp32(in_bucket) > old ? clamp32(in_bucket) - old : 0;

    *hour = clamp32((uint64_t)*hour + more);
    t->ten[back] = old + more;
}

void shared_total_set(struct shared_total *t, uint64_t bucket, uint64_t own,
                      uint64_t in_bucket, uint64_t in_day)
{
    if (bucket >= UINT32_MAX) {
        return;
    }
    if (bucket > t->bucket) {
        begin_bucket(t, bucket);
    }
    uint64_t back = t->bucket - bucket;
    uint64_t days = t->bucket / COUNT_DAY_BUCKETS - bucket / COUNT_DAY_BUCKETS;
    if (back < SHARED_BUCKETS) {
        set_bucket(t, bucket, in_bucket);
    } else {
        t->flags &= ~(uint32_t)SHARED_HAS_HISTORY;
    }
    if (back == 0) {
        t->own = clamp32(own);
    }
    if (days < SHARED_DAYS) {
        t->day[days] = clamp32(in_day) > t->day[days] ? clamp32(in_day) : t->day[days];
    }
}

/* Answers that came after the question of the history. */
static void keep_newest(struct shared_total *t, uint64_t bucket, uint64_t in_bucket)
{
    if (bucket > t->bucket) {
        begin_bucket(t, bucket);
    }
    if (bucket == t->bucket && in_bucket > t->ten[0]) {
        shared_total_set(t, bucket, SHARED_OWN_UNKNOWN, in_bucket,
                         (uint64_t)t->day[0] + in_bucket - t->ten[0]);
    }
}

void shared_total_set_history(struct shared_total *t, const struct count_history *h)
{
    const struct shared_total old = *t;

    *t = (struct shared_total){.key = old.key,
                               .bucket = clamp32(h->now),
                               .heard_s = old.heard_s,
                               .own = SHARED_OWN_UNKNOWN,
                               .flags = SHARED_HAS_HISTORY};
    for (uint64_t i = 0; i <= COUNT_BUCKETS && i <= h->now; i++) {
        uint64_t hour = h->now / HOUR_BUCKETS - (h->now - i) / HOUR_BUCKETS;

        if (i < SHARED_BUCKETS) {
            t->ten[i] = clamp32(h->bucket[i]);
        }
        if (hour < SHARED_HOURS) {
            t->hour[hour] = clamp32(run_sum(t->hour[hour], h->bucket[i]));
        }
    }
    for (unsigned i = 0; i < SHARED_DAYS; i++) {
        t->day[i] = clamp32(h->day[i]);
    }
    keep_newest(t, old.bucket, old.ten[0]);
    if (old.bucket / COUNT_DAY_BUCKETS == t->bucket / COUNT_DAY_BUCKETS) {
        t->told = old.told;
        t->told_s = old.told_s;
    }
}

bool shared_total_wants_history(const struct shared_total *t)
{
    uint64_t hours = t->bucket / HOUR_BUCKETS % (COUNT_DAY_BUCKETS / HOUR_BUCKETS);
    uint64_t today = 0;

    for (uint64_t i = 0; i <= hours; i++) {
        today = run_sum(today, t->hour[i]);
    }
    return (t->flags & SHARED_HAS_HISTORY) == 0 || today < t->day[0];
}

/* ---- reading ---- */

void shared_total_windows(const struct shared_total *t, uint64_t now,
                          uint64_t ret[WINDOWS])
{
    uint64_t today = now / COUNT_DAY_BUCKETS;

    memset(ret, 0, WINDOWS * sizeof(ret[0]));
    for (uint64_t i = 0; i < SHARED_BUCKETS && i <= t->bucket; i++) {
        uint64_t bucket = t->bucket - i;
        ret[0] += bucket + 1 >= now ? t->ten[i] : 0;
        ret[1] += bucket + HOUR_BUCKETS >= now ? t->ten[i] : 0;
    }
    for (uint64_t i = 0; i < SHARED_HOURS && i <= t->bucket / HOUR_BUCKETS; i++) {
        uint64_t end = (t->bucket / HOUR_BUCKETS - i + 1) * HOUR_BUCKETS - 1;
        ret[2] += end + COUNT_BUCKETS >= now ? t->hour[i] : 0;
    }
    for (uint64_t i = 0; i < SHARED_DAYS && i <= t->bucket / COUNT_DAY_BUCKETS; i++) {
        uint64_t day = t->bucket / COUNT_DAY_BUCKETS - i;
        ret[3] += day + COUNT_DAYS >= today ? t->day[i] : 0;
    }
    ret[2] = ret[2] > ret[1] ? ret[2] : ret[1];
    ret[3] = ret[3] > ret[2] ? ret[3] : ret[2];
}

enum { HOURS_BACK = COUNT_BUCKETS / HOUR_BUCKETS + 1 };

/* Totals by their way back from `now`. */
struct slots {
    uint64_t now;
    uint64_t ten[COUNT_BUCKETS + 1];
    bool has_ten[COUNT_BUCKETS + 1];
    uint64_t hour[HOURS_BACK + 1];
    uint64_t day[COUNT_DAYS + 1];
};

/* Returns how far bucket b lies before now, in units of `unit` buckets. UINT64_MAX: after it. */
static uint64_t units_back(uint64_t now, uint64_t b, unsigned unit)
{
    return b / unit > now / unit ? UINT64_MAX : now / unit - b / unit;
}

static void add_slots(struct slots *s, const struct shared_total *t)
{
    for (uint64_t i = 0; i < SHARED_BUCKETS && i <= t->bucket; i++) {
        uint64_t back = units_back(s->now, t->bucket - i, 1);
        if (back <= COUNT_BUCKETS) {
            s->ten[back] += t->ten[i];
            s->has_ten[back] = true;
        }
    }
    uint64_t hour = units_back(s->now, t->bucket, HOUR_BUCKETS);
    for (uint64_t i = 0; i < SHARED_HOURS && hour <= HOURS_BACK; i++) {
        if (hour + i <= HOURS_BACK) {
            s->hour[hour + i] += t->hour[i];
        }
    }
    uint64_t day = units_back(s->now, t->bucket, COUNT_DAY_BUCKETS);
    for (uint64_t i = 0; i < SHARED_DAYS && day <= COUNT_DAYS; i++) {
        if (day + i <= COUNT_DAYS) {
            s->day[day + i] += t->day[i];
        }
    }
}

/* Own counts in the newest bucket that are in no total yet. */
static uint64_t unpublished(const struct shared_total *t,
                            const struct count_history *own, uint64_t *retback)
{
    uint64_t back = own == NULL ? UINT64_MAX : units_back(own->now, t->bucket, 1);

    *retback = back;
    if (back > COUNT_BUCKETS || t->own == SHARED_OWN_UNKNOWN ||
        own->bucket[back] <= t->own) {
        return 0;
    }
    return own->bucket[back] - t->own;
}

static uint64_t above(uint64_t total, uint64_t known)
{
    return total > known ? total - known : 0;
}

/* Adds the counts of an hour that are in none of its known ten minutes to its first ten minutes. So
 * a window has the whole hour, or nothing of these counts. */
static void add_hour(const struct slots *s, uint64_t back,
                     const struct count_history *known, struct count_history *io)
{
    uint64_t first = (s->now / HOUR_BUCKETS - back) * HOUR_BUCKETS;
    uint64_t told = 0;
    uint64_t given = 0;

    if (s->now - first > COUNT_BUCKETS || s->has_ten[s->now - first]) {
        return;
    }
    for (uint64_t b = first; b < first + HOUR_BUCKETS && b <= s->now; b++) {
        told = run_sum(told, known->bucket[s->now - b]);
        given = run_sum(given, io->bucket[s->now - b]);
    }
    io->bucket[s->now - first] = above(s->hour[back], run_sum(told, given));
}

void shared_total_part(const struct shared_total *t, size_t n,
                       const struct count_history *own,
                       const struct count_history *known, struct count_history *ret)
{
    struct count_history held = *known;
    struct slots s = {.now = known->now};
    uint64_t back = 0;

    *ret = (struct count_history){.now = known->now};
    for (size_t i = 0; i < n; i++) {
        add_slots(&s, &t[i]);
    }
    uint64_t more = n == 1 ? unpublished(t, own, &back) : 0;
    if (more > 0) {
        uint64_t day = units_back(s.now, t->bucket, COUNT_DAY_BUCKETS);
        held.bucket[back] = above(held.bucket[back], more);
        held.day[day] = above(held.day[day], more);
    }
    for (unsigned i = 0; i <= COUNT_BUCKETS; i++) {
        ret->bucket[i] = s.has_ten[i] ? above(s.ten[i], held.bucket[i]) : 0;
    }
    for (uint64_t i = 0; i <= HOURS_BACK && i <= s.now / HOUR_BUCKETS; i++) {
        add_hour(&s, i, &held, ret);
    }
    for (unsigned i = 0; i <= COUNT_DAYS; i++) {
        ret->day[i] = above(s.day[i], held.day[i]);
    }
    count_history_end(ret);
}
