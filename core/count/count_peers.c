/*
 * count_peers - counts of peers, added to the sketch key by key like own counts.
 */

#include "core/count/count_internal.h"

enum { CHUNK = TOTALS_LATE_MAX };

/* The running table's: the clock may be ahead of it where there is no memory for another. */
static uint64_t now_of(const struct count *c)
{
    return live_id(c->live)->start_s / COUNT_BUCKET_S;
}

/* ---- the tables of the last 10 minutes ---- */

static void near_free(struct count *c, struct count_near **near)
{
    for (unsigned i = 0; *near != NULL && i < c->size.nshards; i++) {
        tally_fini(&(*near)->shard[i]);
    }
    free(*near);
    *near = NULL;
}

static struct count_near *near_new(const struct count *c, uint64_t bucket)
{
    struct count_near *near =
        calloc(1, sizeof(*near) + c->size.nshards * sizeof(near->shard[0]));

    for (unsigned i = 0; near != NULL && i < c->size.nshards; i++) {
        tally_init(&near->shard[i]);
    }
    if (near != NULL) {
        near->bucket = bucket;
    }
    return near;
}

/* Replaces a table, and frees the old one when no thread uses it. */
static void set_near(struct count *c, unsigned i, struct count_near *fresh)
{
    pthread_rwlock_wrlock(&c->use);
    struct count_near *old = c->near[i];
    c->near[i] = fresh;
    pthread_rwlock_unlock(&c->use);
    near_free(c, &old);
}

void count_peers_free(struct count *c)
{
    for (unsigned i = 0; i < COUNT_NEAR; i++) {
        near_free(c, &c->near[i]);
    }
}

/* The table of the bucket, made where there is none; NULL: it is older than these, or no memory. */
static struct count_near *near_of(struct count *c, uint64_t bucket)
{
    if (bucket + 1 < now_of(c)) {
        return NULL;
    }
    unsigned i = bucket < now_of(c) ? 1 : 0;
    if (c->near[i] == NULL) {
        set_near(c, i, near_new(c, now_of(c) - i));
    }
    return c->near[i];
}

void count_peers_roll(struct count *c)
{
    struct count_near *old = c->near[1];

    if (c->near[0] == NULL && old == NULL) {
        return;
    }
    pthread_rwlock_wrlock(&c->use);
    c->near[1] = c->near[0];
    c->near[0] = NULL;
    pthread_rwlock_unlock(&c->use);
    near_free(c, &old);
    if (c->near[1] != NULL && c->near[1]->bucket + 1 < now_of(c)) {
        set_near(c, 1, NULL);
    }
}

/* ---- feeding ---- */

/* How many found no memory. */
static uint64_t add_near(struct count_near *near, unsigned shard,
                         const struct run_record *v, size_t n)
{
    uint64_t nlost = 0;

    for (size_t i = 0; near != NULL && i < n; i++) {
        nlost += tally_add(&near->shard[shard], v[i].key, v[i].count) ? 0 : 1;
    }
    return nlost;
}

/* Keys of one shard. Those of the bucket before stay in the sketch a bucket longer than they
 * should: it is at least the truth, and one share serves for all. */
static void feed_shard(struct count *c, unsigned shard, uint64_t bucket,
                       const struct run_record *v, size_t n)
{
    uint64_t windows[TOTALS_WINDOWS];
    struct count_near *near = near_of(c, bucket);

    count_lock(&c->shards[shard]);
    uint64_t nlost = add_near(near, shard, v, n);
    if (bucket + 1 < now_of(c)) {
        (void)totals_add_late(c->totals, shard, bucket, v, n);
    } else {
        for (size_t i = 0; i < n; i++) {
            (void)totals_add(c->totals, shard, v[i].key, v[i].count, windows);
        }
    }
    count_unlock(&c->shards[shard]);
    (void)atomic_fetch_add_explicit(&c->nlost, nlost, memory_order_relaxed);
}

static void feed_keys(void *context, uint64_t bucket, const struct run_record *v,
                      size_t n)
{
    struct count *c = context;

    for (size_t i = 0; i < n;) {
        unsigned shard = live_shard_of(v[i].key, c->size.nshards);
        size_t end = i + 1;
        while (end < n && end - i < CHUNK &&
               live_shard_of(v[end].key, c->size.nshards) == shard) {
            end++;
        }
        feed_shard(c, shard, bucket, v + i, end - i);
        i = end;
    }
}

/* ---- rebuilding all ---- */

static void load_key(void *context, uint64_t bucket, uint64_t key, uint64_t count)
{
    struct count *c = context;
    struct count_near *near = near_of(c, bucket);
    struct run_record record = {key, count};
    unsigned shard = live_shard_of(key, c->size.nshards);

    count_lock(&c->shards[shard]);
    uint64_t nlost = add_near(near, shard, &record, 1);
    count_unlock(&c->shards[shard]);
    (void)atomic_fetch_add_explicit(&c->nlost, nlost, memory_order_relaxed);
}

static void load_run(void *context, const struct run *run, bool is_in_day)
{
    struct run_cursor cursor;
    struct run_record record;
    enum err e;

    (void)is_in_day;
    run_cursor_init(&cursor, run, 0, UINT64_MAX);
    while ((e = run_cursor_next(&cursor, &record)) != ERR_NOT_FOUND) {
        if (e == ERR_OK) {
            load_key(context, run_id(run)->start_s / COUNT_BUCKET_S, record.key,
                     record.count);
        }
    }
}

static void load_near(struct count *c)
{
    uint64_t now = now_of(c);
    uint64_t first = now > 0 ? now - 1 : 0;

    for (unsigned i = 0; i < COUNT_NEAR; i++) {
        if (c->near[i] != NULL) {
            set_near(c, i, NULL);
        }
    }
    remote_each_run(c->remote, COUNT_BUCKET_S, first * COUNT_BUCKET_S,
                    (now + 1) * COUNT_BUCKET_S, load_run, c);
    remote_each_stream(c->remote, first, now + 1, load_key, c);
}

void count_peers_refresh(struct count *c)
{
    remote_refresh(c->remote, now_of(c), feed_keys, c);
    if (!remote_take_rebuild(c->remote)) {
        return;
    }
    load_near(c);
    c->is_again = c->next_shard >= c->size.nshards;
    c->next_shard = 0;
    atomic_store(&c->nready, 0);
}

/* ---- a shard rebuilt ---- */

struct rebuilding {
    struct count *c;
    unsigned shard;
    uint64_t first; /* key of the shard */
    uint64_t last;
    bool is_day;
    uint64_t bucket; /* of the stream that is given; UINT64_MAX: none yet */
};

static void rebuild_run(void *context, const struct run *run, bool is_in_day)
{
    const struct rebuilding *b = context;
    struct totals *t = b->c->totals;
    uint64_t bucket = run_id(run)->start_s / COUNT_BUCKET_S;
    uint64_t now = now_of(b->c);
    struct run_cursor cursor;
    struct run_record record;
    enum err e;

    if (!b->is_day && bucket + 1 >= now) {
        return; /* near has it */
    }
    bool for_bucket = !b->is_day && bucket + COUNT_BUCKETS >= now;
    if (!for_bucket && is_in_day) {
        return;
    }
    totals_rebuild_run(t, b->shard, bucket, b->is_day || !is_in_day, for_bucket);
    run_cursor_init(&cursor, run, b->first, b->last);
    while ((e = run_cursor_next(&cursor, &record)) != ERR_NOT_FOUND) {
        if (e == ERR_OK) {
            totals_rebuild_add(t, b->shard, record.key, record.count);
        }
    }
}

static struct rebuilding rebuilding_of(struct count *c, unsigned shard)
{
    uint64_t width = UINT64_MAX / c->size.nshards + (c->size.nshards > 1);

    return (struct rebuilding){.c = c,
                               .shard = shard,
                               .first = width * shard,
                               .last = width * shard + (width - 1),
                               .bucket = UINT64_MAX};
}

void count_peers_rebuild_day(struct count *c, unsigned shard, uint64_t day)
{
    struct rebuilding b = rebuilding_of(c, shard);
    uint64_t start_s = day * COUNT_DAY_S;

    b.is_day = true;
    remote_each_run(c->remote, COUNT_DAY_S, start_s, start_s + COUNT_DAY_S, rebuild_run,
                    &b);
    b.is_day = false;
    remote_each_run(c->remote, COUNT_BUCKET_S, start_s, start_s + COUNT_DAY_S,
                    rebuild_run, &b);
}

static void rebuild_key(void *context, uint64_t bucket, uint64_t key, uint64_t count)
{
    struct rebuilding *b = context;

    if (key >= b->first && key <= b->last) {
        if (bucket != b->bucket) {
            totals_rebuild_run(b->c->totals, b->shard, bucket, true, true);
            b->bucket = bucket;
        }
        totals_rebuild_add(b->c->totals, b->shard, key, count);
    }
}

static void rebuild_near(void *context, uint64_t key, uint64_t count)
{
    const struct rebuilding *b = context;

    totals_rebuild_add(b->c->totals, b->shard, key, count);
}

void count_peers_rebuild_rest(struct count *c, unsigned shard)
{
    struct rebuilding b = rebuilding_of(c, shard);

    if (now_of(c) > 1) {
        remote_each_stream(c->remote, 0, now_of(c) - 1, rebuild_key, &b);
    }
    if (c->near[1] != NULL) {
        totals_rebuild_run(c->totals, shard, c->near[1]->bucket, true, true);
        tally_each(&c->near[1]->shard[shard], rebuild_near, &b);
    }
}
