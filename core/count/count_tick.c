/*
 * count_tick - the work of the counting thread: journal, end of a bucket, runs, sketch, canaries.
 */
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/count/count_internal.h"

#define FLUSH_US    ((uint64_t)5 * 1000000)
#define QUICK_US    ((uint64_t)500000) /* at each tick, for servers that share a store */
#define SEAL_US     ((uint64_t)60 * 1000000) /* between attempts on a disk that refuses */
#define AGAIN_US    ((uint64_t)500000) /* of a second, for a rebuild that has time */
#define CANARIES_US ((uint64_t)60 * 1000000)

/* ---- the disk ---- */

void count_note_disk(struct count *c, const struct errinfo *why)
{
    atomic_store(&c->is_volatile, why != NULL);
    if (why != NULL && !c->is_in_trouble) {
        log_errinfo("counts", why);
        log_warn(
            "event=counts dir=%s: counting goes on in memory and is not kept until "
            "the disk takes it again",
            c->dir);
    } else if (why == NULL && c->is_in_trouble) {
        log_info("event=counts dir=%s result=kept: the disk takes counts again",
                 c->dir);
    }
    c->is_in_trouble = why != NULL;
}

struct live *count_new_live(struct count *c, uint64_t bucket)
{
    struct run_id id = {.inc = c->inc,
                        .start_s = bucket * COUNT_BUCKET_S,
                        .len_s = COUNT_BUCKET_S,
                        .key_id = c->keys.ring[0].id};
    struct errinfo why = {.code = ERR_OK};
    struct live *live = NULL;

    for (unsigned i = 0; i < RUN_ORIGIN_BYTES; i++) {
        id.origin[i] = c->origin[i];
    }
    if (live_new(c->dir, &id, c->size.nshards, c->size.live_slots, &live, &why) !=
        ERR_OK) {
        log_errinfo("counts", &why);
        return NULL;
    }
    count_note_disk(c, live_is_volatile(live) ? &why : NULL);
    return live;
}

/* Everyone who looked at a table before this has looked away. */
static void wait_for_readers(struct count *c)
{
    pthread_rwlock_wrlock(&c->use);
    pthread_rwlock_unlock(&c->use);
}

bool count_grow(struct count *c)
{
    struct errinfo why = {.code = ERR_OK};

    pthread_mutex_lock(&c->grow);
    struct live *live = atomic_load(&c->shards[c->size.nshards - 1].live);
    enum err e = ERR_OK;
    if (live_wants_room(live)) {
        e = live_grow_begin(live, &why);
        for (unsigned i = 0; e == ERR_OK && i < c->size.nshards; i++) {
            count_lock(&c->shards[i]);
            live_grow_shard(live, i);
            count_unlock(&c->shards[i]);
        }
        if (e == ERR_OK) {
            wait_for_readers(c);
            live_grow_end(live);
        } else {
            log_errinfo("counts", &why);
        }
    }
    pthread_mutex_unlock(&c->grow);
    return e == ERR_OK;
}

/* With c->grow held. */
static enum err mend_table(struct count *c, struct live *live, struct errinfo *reterr)
{
    struct run_record *logged = NULL;
    size_t n = 0;
    enum err e = live_mend_begin(live, &logged, &n, reterr);

    for (unsigned i = 0; e == ERR_OK && i < c->size.nshards; i++) {
        count_lock(&c->shards[i]);
        live_mend_shard(live, i, logged, n);
        count_unlock(&c->shards[i]);
    }
    if (e == ERR_OK) {
        wait_for_readers(c);
        live_grow_end(live);
    }
    free(logged);
    return e;
}

/* A table whose file was cut in place gets a new one. */
static void mend(struct count *c, struct live *live)
{
    struct errinfo why = {.code = ERR_OK};

    if (live == NULL) {
        return;
    }
    pthread_mutex_lock(
        &c->grow); /* who counts may grow the table, which frees this one */
    const bool is_damaged = live_is_damaged(live);
    enum err e = is_damaged ? mend_table(c, live, &why) : ERR_OK;
    pthread_mutex_unlock(&c->grow);
    if (e != ERR_OK) {
        log_errinfo("counts", &why);
    }
    if (e != ERR_OK || !is_damaged) {
        return;
    }
    log_warn("event=counts dir=%s result=made_again: the file of the running counts "
             "was cut short, or the disk failed, while it was in use; lost: counts of "
             "the last seconds; find what changes files in this folder, or check the "
             "disk",
             c->dir);
}

void count_flush(struct count *c)
{
    struct errinfo why = {.code = ERR_OK};

    pthread_mutex_lock(&c->grow); /* the journal belongs to one table */
    for (unsigned i = 0; i < c->size.nshards; i++) {
        count_lock(&c->shards[i]);
        live_flush_shard(c->live, i); /* nothing where the journal failed */
        count_unlock(&c->shards[i]);
    }
    if (live_flush(c->live, &why) != ERR_OK) {
        count_note_disk(c, &why);
    } else if (live_is_volatile(c->live) && !c->is_in_trouble) {
        (void)errinfo_set(&why, ERR_NOSPACE, c->dir, 0,
                          "the disk had no room for the running counts to grow");
        count_note_disk(c, &why);
    }
    pthread_mutex_unlock(&c->grow);
}

/* ---- the end of a bucket ---- */

/* Every shard goes over to the fresh table: under its lock table and sketch change together. */
static void roll_shards(struct count *c, struct live *fresh)
{
    for (unsigned i = 0; i < c->size.nshards; i++) {
        struct count_shard *s = &c->shards[i];
        count_lock(s);
        if (s->is_ready) {
            totals_roll(c->totals, i, c->period.bucket);
        }
        s->prev = c->live;
        s->is_prev_sealed = false;
        s->bucket = c->period.bucket;
        atomic_store_explicit(&s->live, fresh, memory_order_release);
        count_unlock(s);
    }
}

/* Frees `past` when the window of 10 minutes lies after the start. */
static void forget_past(struct count *c)
{
    for (unsigned i = 0; i < COUNT_PAST; i++) {
        if (c->past[i] != NULL &&
            live_id(c->past[i])->start_s / COUNT_BUCKET_S + 1 < c->period.bucket) {
            pthread_rwlock_wrlock(&c->use);
            live_free(&c->past[i], false);
            pthread_rwlock_unlock(&c->use);
        }
    }
}

static void roll(struct count *c)
{
    count_flush(c); /* first: its report about the disk concerns the old table */
    struct live *fresh = count_new_live(c, c->period.bucket);
    if (fresh == NULL) {
        return; /* the bucket goes on; tried again with the next one */
    }
    /* no thread grows a table while it is replaced */
    pthread_mutex_lock(&c->grow);
    struct live *old = c->prev;
    roll_shards(c, fresh);
    pthread_mutex_unlock(&c->grow);
    wait_for_readers(c);
    live_free(&old, c->is_prev_sealed);
    forget_past(c);
    c->prev = c->live;
    c->live = fresh;
    count_peers_roll(c);
    c->is_prev_sealed = false;
    c->seal_tried_us = 0;
    atomic_store(&c->now, c->period.bucket);
}

/* The bucket before is in its table or in its run, for every reader. */
static void take_in_run(struct count *c)
{
    struct errinfo why = {.code = ERR_OK};

    pthread_rwlock_wrlock(&c->sealed);
    if (runset_refresh(c->runset, &why) != ERR_OK) {
        log_errinfo("counts", &why);
    } else {
        for (unsigned i = 0; i < c->size.nshards; i++) {
            count_lock(&c->shards[i]);
            c->shards[i].is_prev_sealed = true;
            count_unlock(&c->shards[i]);
        }
        c->is_prev_sealed = true;
    }
    pthread_rwlock_unlock(&c->sealed);
}

static void seal(struct count *c, uint64_t now_us)
{
    struct errinfo why = {.code = ERR_OK};

    if (c->prev == NULL || c->is_prev_sealed ||
        (c->seal_tried_us != 0 && now_us - c->seal_tried_us < SEAL_US)) {
        return;
    }
    c->seal_tried_us = now_us;
    enum err e =
        file_make_dir(c->runs, COUNT_DIR_MODE, &why); /* somebody removed it? */
    e = e != ERR_OK ? e : live_seal(c->prev, c->runs, &why);
    if (e != ERR_OK && e != ERR_NOT_FOUND) {
        count_note_disk(c, &why);
        return;
    }
    take_in_run(c);
    if (c->is_prev_sealed) {
        live_forget(c->prev);
    }
}

/* ---- days ---- */

static void look_after_runs(struct count *c)
{
    if (c->is_brief) {
        return;
    }
    uint64_t today = c->period.bucket / COUNT_DAY_BUCKETS;
    struct errinfo why = {.code = ERR_OK};
    enum err e = ERR_OK;

    /* not before the last bucket of the day is a run too */
    if (c->merged_day != today && (c->prev == NULL || c->is_prev_sealed)) {
        e = runset_merge_days(c->runset, today, &why);
        if (e == ERR_OK) {
            c->merged_day = today;
        }
    }
    if (e != ERR_OK) {
        count_note_disk(c, &why);
    } else if (!c->period.is_suspended &&
               runset_expire(c->runset, c->period.bucket, &why) != ERR_OK) {
        log_errinfo("counts",
                    &why); /* what cannot be removed does not keep us from counting */
    }
}

/* ---- the tick ---- */

static bool is_due(uint64_t *last_us, uint64_t now_us, uint64_t every_us)
{
    if (*last_us != 0 && now_us - *last_us < every_us) {
        return false;
    }
    *last_us = now_us == 0 ? 1 : now_us;
    return true;
}

static void note_clock(struct count *c)
{
    bool was = atomic_exchange(&c->is_suspended, c->period.is_suspended);
    if (!was && c->period.is_on_trial) {
        log_warn(
            "event=counts: the clock is %lld minutes ahead of the counts (a long stop, "
            "or it was set wrong); counting goes on in the last bucket, and nothing "
            "leaves the windows, until that has held for 10 minutes",
            (long long)(c->period.trial_step_us / 60000000));
    } else if (!was && c->period.is_suspended) {
        log_warn("event=counts: the clock was set back; counting stays in the bucket "
                 "that it had reached, and no run is removed, until the clock reaches "
                 "it again");
    } else if (was && !c->period.is_suspended) {
        log_info("event=counts: the clock is accepted again");
    }
}

static uint64_t flush_every_us(const struct count *c)
{
    return c->has_store ? QUICK_US : FLUSH_US;
}

/* Once at a time: with the journal written in between. If the sketch still serves, it returns after
 * AGAIN_US, so that buckets end and peers are read in between. */
static void rebuild(struct count *c)
{
    uint64_t began_us = clock_mono_us();

    while (!count_rebuild_shard(c)) {
        uint64_t now_us = clock_mono_us();
        if (c->is_again && now_us - began_us > AGAIN_US) {
            return;
        }
        if (is_due(&c->flushed_us, now_us, flush_every_us(c))) {
            count_flush(c);
        }
        pthread_mutex_lock(&c->end_lock);
        bool is_ending = c->is_ending;
        pthread_mutex_unlock(&c->end_lock);
        if (is_ending) {
            return;
        }
    }
}

void count_tick(struct count *c)
{
    pthread_mutex_lock(&c->tick);
    uint64_t now_us = clock_mono_us();
    bool has_ended = bucket_clock_look(&c->period, clock_wall_us(), clock_boot_us());
    note_clock(c);
    mend(c, c->live);
    mend(c, c->is_prev_sealed ? NULL : c->prev);
    if (has_ended) {
        roll(c);
    } else if (is_due(&c->flushed_us, now_us, flush_every_us(c))) {
        count_flush(c);
    }
    if (live_wants_room(c->live)) {
        (void)count_grow(c);
    }
    seal(c, now_us);
    if (has_ended || c->merged_day != c->period.bucket / COUNT_DAY_BUCKETS) {
        look_after_runs(c); /* a brief one leaves that to gillnetd */
    }
    count_peers_refresh(c);
    count_shared_refresh(c);
    count_shared_flush(c);
    rebuild(c);
    if (is_due(&c->canaries_us, now_us, CANARIES_US)) {
        count_read_canaries(c);
    }
    struct count_stat stat;
    count_stat(c, &stat);
    count_publish(&stat);
    pthread_mutex_unlock(&c->tick);
}
