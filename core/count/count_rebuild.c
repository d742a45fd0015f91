/*
 * count_rebuild - the sketch's past, from the runs, one shard after the other; and its canaries.
 */
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/count/count_internal.h"

enum { SAMPLE_LINES = 1024 /* of the sketch, that are looked at */ };

/* One shard being rebuilt. */
struct rebuilding {
    struct count *c;
    unsigned shard;
    uint64_t first; /* key of the shard */
    uint64_t last;
    uint64_t now;
    bool for_day;
    bool has_day; /* of the day that is looked at there is a run */
    uint64_t ndamaged;
};

static bool feed_run(void *context, const struct run *run)
{
    struct rebuilding *b = context;
    const struct run_id *id = run_id(run);
    struct run_cursor cursor;
    struct run_record record;
    enum err e;

    if (id->key_id != b->c->keys.ring[0].id) {
        const struct hashkey *other = keyring_find(&b->c->keys, id->key_id);
        if (other == NULL) {
            return true; /* of a key that is gone: nobody can ask for its keys */
        }
    }
    bool is_day = id->len_s == COUNT_DAY_S;
    uint64_t bucket = id->start_s / COUNT_BUCKET_S;
    bool for_bucket = !is_day && bucket + COUNT_BUCKETS >= b->now;
    b->has_day = b->has_day || is_day;
    if (!b->for_day && !for_bucket) {
        return true;
    }
    totals_rebuild_run(b->c->totals, b->shard, bucket, b->for_day, for_bucket);
    run_cursor_init(&cursor, run, b->first, b->last);
    while ((e = run_cursor_next(&cursor, &record)) != ERR_NOT_FOUND) {
        if (e == ERR_OK) {
            totals_rebuild_add(b->c->totals, b->shard, record.key, record.count);
        } else {
            b->ndamaged++;
        }
    }
    return true;
}

/* A day counts by its run; a day without one (today, or one that could not be merged) by its
 * buckets. Hour and day count by buckets alone. */
static void feed_day(struct rebuilding *b, uint64_t day)
{
    uint64_t start_s = day * COUNT_DAY_S;

    b->has_day = false;
    b->for_day = true;
    runset_each(b->c->runset, COUNT_DAY_S, start_s, start_s + COUNT_DAY_S, feed_run, b);
    b->for_day = !b->has_day;
    runset_each(b->c->runset, COUNT_BUCKET_S, start_s, start_s + COUNT_DAY_S, feed_run,
                b);
    count_peers_rebuild_day(b->c, b->shard, day);
}

/* Of the running bucket, peers' too. */
static void keys_of(void *context, unsigned shard, totals_key_fn *fn, void *sink)
{
    const struct count *c = context;

    live_each(c->live, shard, fn, sink);
    if (c->near[0] != NULL) {
        tally_each(&c->near[0]->shard[shard], fn, sink);
    }
}

static void add_rebuilt_key(void *context, uint64_t key, uint64_t count)
{
    const struct rebuilding *b = context;

    totals_rebuild_add(b->c->totals, b->shard, key, count);
}

/* The bucket before, while its run is not there yet. In the tick, so nothing seals it meanwhile. */
static void feed_unsealed(struct rebuilding *b)
{
    if (b->c->prev != NULL && !b->c->is_prev_sealed) {
        uint64_t bucket = live_id(b->c->prev)->start_s / COUNT_BUCKET_S;
        totals_rebuild_run(b->c->totals, b->shard, bucket, true, true);
        live_each(b->c->prev, b->shard, add_rebuilt_key, b);
    }
}

static void note_end(struct count *c)
{
    uint64_t took = clock_mono_us() - c->rebuild_began_us;
    atomic_store(&c->rebuild_us, took == 0 ? 1 : took);
    log_info("event=counts result=rebuilt seconds=%.1f: %s", (double)took / 1e6,
             c->is_again ? "what peers counted has changed by more than new counts"
                         : "counts were served from the runs until now");
    c->is_again = false;
}

bool count_rebuild_shard(struct count *c)
{
    if (c->next_shard >= c->size.nshards) {
        return true;
    }
    if (c->next_shard == 0) {
        c->rebuild_began_us = clock_mono_us();
    }
    unsigned i = c->next_shard;
    struct count_shard *s = &c->shards[i];
    uint64_t width = UINT64_MAX / c->size.nshards + (c->size.nshards > 1);
    struct rebuilding b = {.c = c,
                           .shard = i,
                           .first = width * i,
                           .last = width * i + (width - 1),
                           .now = c->period.bucket};
    uint64_t today = b.now / COUNT_DAY_BUCKETS;

    count_lock(s);
    totals_rebuild_begin(c->totals, i, b.now);
    count_unlock(s);
    for (uint64_t day = today < COUNT_DAYS ? 0 : today - COUNT_DAYS; day <= today;
         day++) {
        feed_day(&b, day);
    }
    feed_unsealed(&b);
    count_peers_rebuild_rest(c, i);
    count_lock(s);
    totals_rebuild_end(c->totals, i, keys_of, c);
    s->is_ready = true;
    count_unlock(s);
    c->next_shard++;
    atomic_store(&c->nready, c->next_shard);
    if (c->next_shard == c->size.nshards) {
        note_end(c);
    }
    return c->next_shard == c->size.nshards;
}

/* ---- the ten minutes before the start ---- */

struct loading {
    struct count *c;
    uint64_t nrecords;
    struct live *table;
};

static bool count_records(void *context, const struct run *run)
{
    struct loading *l = context;
    l->nrecords += run_records(run);
    return true;
}

static bool load_run(void *context, const struct run *run)
{
    struct loading *l = context;
    struct run_cursor cursor;
    struct run_record record;
    enum err e;

    run_cursor_init(&cursor, run, 0, UINT64_MAX);
    while ((e = run_cursor_next(&cursor, &record)) != ERR_NOT_FOUND) {
        uint64_t sum;
        unsigned shard = live_shard_of(record.key, l->c->size.nshards);
        /* if a shard is full (keys fall unevenly into shards) the sum is low for 10 minutes;
         * decisions that do harm read the runs */
        if (e == ERR_OK) {
            (void)live_add(l->table, shard, record.key, record.count, &sum);
        }
    }
    return true;
}

enum err count_load_past(struct count *c, struct errinfo *reterr)
{
    for (unsigned i = 0; i < COUNT_PAST; i++) {
        uint64_t start_s = (c->period.bucket - i) * COUNT_BUCKET_S;
        struct loading l = {.c = c};
        struct run_id id = {.start_s = start_s, .len_s = COUNT_BUCKET_S};
        runset_each(c->runset, COUNT_BUCKET_S, start_s, start_s + COUNT_BUCKET_S,
                    count_records, &l);
        if (l.nrecords == 0) {
            continue;
        }
        /* a shard may have twice its part */
        enum err e = live_new("", &id, c->size.nshards,
                              4 * l.nrecords + c->size.live_slots, &l.table, reterr);
        if (e != ERR_OK) {
            return e;
        }
        runset_each(c->runset, COUNT_BUCKET_S, start_s, start_s + COUNT_BUCKET_S,
                    load_run, &l);
        c->past[i] = l.table;
    }
    return ERR_OK;
}

/* ---- canaries ---- */

static void canary_key(const struct count *c, unsigned i, struct digest *ret)
{
    struct digest d;
    uint8_t number[2] = {(uint8_t)i, (uint8_t)(i >> 8)};
    digest_make(&c->keys.node, 0, slice_of((const char *)number, sizeof(number)), &d);
    *ret = d;
}

/* Estimates the number of cells above the threshold, a sign of bulk and of collisions. Lines are
 * evenly spread, so it reads only a part of them. */
static void sample_cells(struct count *c)
{
    uint64_t over[TOTALS_WINDOWS] = {0};
    uint64_t step = 1 + c->size.cell_lines / SAMPLE_LINES;

    for (unsigned i = 0; i < c->size.nshards; i++) {
        count_lock(&c->shards[i]);
        totals_over(c->totals, i, step, COUNT_CELL_THRESHOLD, over);
        count_unlock(&c->shards[i]);
    }
    for (unsigned w = 0; w < TOTALS_WINDOWS; w++) {
        atomic_store(&c->over[w], over[w] * step);
    }
}

/* A canary was never counted, so its value is noise. In the window of 14 days a value of 1 is
 * ignored: it comes from a false answer of the doorkeeper, and no threshold is that low. */
void count_read_canaries(struct count *c)
{
    uint32_t noisy[COUNT_WINDOWS] = {0};

    if (c->next_shard < c->size.nshards) {
        return;
    }
    for (unsigned i = 0; i < COUNT_CANARIES; i++) {
        struct count_item item = {.amount = 0};
        canary_key(c, i, &item.digest[0]);
        item.digest[1] = item.digest[0];
        count_batch(c, &item, 1);
        for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
            noisy[w] += item.value.w[w] > (w == COUNT_14D ? 1 : 0);
        }
    }
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        atomic_store(&c->noise[w], noisy[w]);
    }
    atomic_store(&c->is_noise_known, true);
    sample_cells(c);
}
