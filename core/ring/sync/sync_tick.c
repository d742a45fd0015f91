/* sync_tick - regular work: heartbeats, ends of streams, merging of days, expiry. */

#include "core/base/clock.h"
#include "core/base/cursor.h"
#include "core/base/log.h"
#include "core/count/merged_runs.h"
#include "core/count/runset.h"
#include "core/ring/sync/sync_modules.h"

enum {
    TRIM_S = 10,
    CLOSE_LATE_S = 3 * OBJECT_BUCKET_S, /* until a forgotten own stream is ended */
    MERGE_WAIT_DAYS = 2 /* longest time that a day waits for streams that are held */
};

static bool is_over(const struct stream *st, uint64_t now_s, uint64_t after_s)
{
    return st->key.kind == OBJECT_COUNT && st->key.start_s + after_s <= now_s;
}

/* ---- objects that a SNAP replaces ---- */

static enum err trim_stream(struct sync *s, struct stream *st, uint64_t now_ms,
                            struct errinfo *reterr)
{
    const bool is_old = !s->period.is_suspended &&
                        st->changed_ms + SYNC_KEEP_S * UINT64_C(1000) < now_ms;
    const bool is_count = st->key.kind == OBJECT_COUNT;
    if (st->applied < st->seq) {
        return sync_catch_up(s, st, reterr);
    }
    if (st->snap_seq <= st->from || (is_count && (st->flags & OBJECT_CLOSED) == 0)) {
        return ERR_OK;
    }
    /* peers a little behind take steps; of an ever-changing list half of the bytes stay */
    const bool is_much = !is_count && st->snap_bytes > st->bytes / 2;
    return is_old || is_much ? sync_trim(s, st, st->snap_seq, reterr) : ERR_OK;
}

static enum err end_stream(struct sync *s, struct stream *st, uint64_t now_ms,
                           struct errinfo *reterr)
{
    const uint64_t now_s = now_ms / 1000;
    const bool is_resting = st->changed_ms + SYNC_KEEP_S * UINT64_C(1000) < now_ms;
    if (!s->period.is_suspended && is_over(st, now_s, SYNC_HOLD_S) && is_resting) {
        enum err e = ERR_OK;
        if (sync_is_self(s, &st->key.origin)) {
            sync_count_remove(s, st); /* gillnetd has the own counts */
        } else {
            e = sync_count_seal(s, st, reterr);
        }
        return e == ERR_OK ? sync_erase(s, st, true, reterr) : e;
    }
    if (st->is_begun_here && st->own_seq == st->seq && !st->is_left && st->seq > 0 &&
        (st->flags & OBJECT_CLOSED) == 0 &&
        is_over(st, now_s, OBJECT_BUCKET_S + CLOSE_LATE_S)) {
        return sync_close_stream(s, st, reterr);
    }
    return trim_stream(s, st, now_ms, reterr);
}

static enum err look_after_streams(struct sync *s, uint64_t now_ms,
                                   struct errinfo *reterr)
{
    enum err e = ERR_OK;
    for (unsigned i = 0; i < s->norigins; i++) {
        struct stream *next = NULL;
        for (struct stream *st = s->origins[i]->streams; st; st = next) {
            struct errinfo why;
            next = st->of_origin;
            enum err one = end_stream(s, st, now_ms, &why);
            if (one != ERR_OK && one != ERR_EXISTS && e == ERR_OK) {
                e = one;
                *reterr = why;
            }
        }
    }
    return e;
}

/* ---- days ---- */

/* The first day that is not merged: a stream of it is held, at most MERGE_WAIT_DAYS. */
static uint64_t first_day_kept(const struct sync *s, uint64_t today)
{
    uint64_t day = today;
    for (size_t i = 0; i < s->nslots; i++) {
        for (const struct stream *st = s->slots[i]; st; st = st->next) {
            const uint64_t of = st->key.start_s / COUNT_DAY_S;
            day = st->key.kind == OBJECT_COUNT && of < day ? of : day;
        }
    }
    return today > MERGE_WAIT_DAYS && day < today - MERGE_WAIT_DAYS
               ? today - MERGE_WAIT_DAYS
               : day;
}

static enum err merge_days(struct sync *s, uint64_t bucket, struct errinfo *reterr)
{
    return sync_work_days(s, first_day_kept(s, bucket / COUNT_DAY_BUCKETS), bucket,
                          !s->period.is_suspended, reterr);
}

/* Makes the merged runs of one bucket; the next ticks make the others. */
static enum err make_merged_run(struct sync *s, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = sync_path(s, path, reterr, "counts");
    return e == ERR_OK
               ? merged_runs_make_next(path, s->period.bucket, &s->merged_at_s, reterr)
               : e;
}

/* ---- graves ---- */

/* Whether the removed stream is so old that it would be refused for its time. */
static bool is_rotten(const void *context, struct slice value)
{
    const uint64_t *now_s = context;
    struct cursor c = cursor_of(slice_from(value, OBJECT_ID_BYTES));
    const uint64_t start_s = cursor_u64(&c);
    return cursor_ok(&c) && start_s + SYNC_ACCEPT_S + OBJECT_BUCKET_S < *now_s;
}

/* ---- */

static enum err new_bucket(struct sync *s, uint64_t bucket, struct errinfo *reterr)
{
    const uint64_t over =
        (bucket - 2) * OBJECT_BUCKET_S; /* no object of it is late now */
    enum err e = sync_quota_learn(s, over, reterr);
    THEN(e, merge_days(s, bucket, reterr));
    if (e == ERR_OK && !s->period.is_suspended) {
        const uint64_t now_s = bucket * OBJECT_BUCKET_S;
        size_t n = 0;
        e = sync_remove_due(s, "t", is_rotten, &now_s, &n, reterr);
    }
    return e;
}

enum err sync_tick(struct sync *s, struct errinfo *reterr)
{
    const uint64_t now_ms = sync_now_ms();
    struct errinfo unused = {.code = ERR_OK};
    enum err e = ERR_OK;
    reterr = reterr ? reterr : &unused;
    (void)bucket_clock_look(&s->period, clock_wall_us(), clock_boot_us());
    e = sync_work_tick(s, reterr);
    if (now_ms >= s->next_heartbeat_ms ||
        s->next_heartbeat_ms > now_ms + SYNC_HEARTBEAT_S * UINT64_C(1000)) {
        enum err one = sync_heartbeat(s, reterr);
        THEN(e, one);
        s->next_heartbeat_ms = now_ms + SYNC_HEARTBEAT_S * UINT64_C(1000);
    }
    if (now_ms >= s->trimmed_ms + TRIM_S * UINT64_C(1000) || now_ms < s->trimmed_ms) {
        s->trimmed_ms = now_ms;
        enum err one = look_after_streams(s, now_ms, reterr);
        THEN(e, one);
    }
    if (s->period.bucket != s->cared_bucket && s->period.bucket > 2) {
        enum err one = new_bucket(s, s->period.bucket, reterr);
        s->cared_bucket = s->period.bucket;
        s->merged_at_s = 0;
        THEN(e, one);
    } else if (s->merged_at_s != UINT64_MAX && s->work.kind != WORK_DAYS) {
        enum err one = make_merged_run(s, reterr);
        THEN(e, one);
    }
    return e;
}
