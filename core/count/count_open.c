/* count_open - opens the counts of a state folder, and closes them. */

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "core/count/count_internal.h"
#include "core/telemetry/stats.h"

enum {
    US_PER_S = 1000000,
    US_PER_MS = 1000,
    INC_RANDOM_BITS = 22,
    TICK_NS = 1000000000 /* between two ticks of the thread */
};

/* ---- what is on disk ---- */

/* Facts about the makers of the runs in the folder. */
struct look {
    const struct count *c;
    struct errinfo *why;
    enum err refused; /* because of a version */
    size_t nours;
    size_t nforeign;
    uint64_t newest_s;
};

static void on_run_damage(void *context, const struct errinfo *why)
{
    struct look *look = context;
    if (why->code == ERR_VERSION || why->code == ERR_UNSUPPORTED) {
        look->refused = why->code;
        *look->why = *why;
        return;
    }
    log_errinfo("counts", why);
    char text[STATS_FAULT_TEXT];
    stats_fault("counts:run", errinfo_format(why, text, sizeof(text)));
}

static bool look_at_run(void *context, const struct run *run)
{
    struct look *look = context;
    const struct run_id *id = run_id(run);
    bool is_ours = keyring_find(&look->c->keys, id->key_id) != NULL;
    /* runs of peers must not set the clock */
    bool is_own = memcmp(id->origin, look->c->origin, sizeof(id->origin)) == 0;

    look->nours += is_ours;
    look->nforeign += !is_ours;
    if (is_ours && is_own && id->start_s > look->newest_s) {
        look->newest_s = id->start_s;
    }
    return true;
}

static enum err open_runs(struct count *c, uint64_t *retnewest, bool *rethas,
                          struct errinfo *reterr)
{
    struct look look = {.c = c, .why = reterr};
    enum err e = runset_open(c->runs, on_run_damage, &look, &c->runset, reterr);

    if (e != ERR_OK) {
        return e;
    }
    if (look.refused != ERR_OK) {
        return look.refused;
    }
    runset_each(c->runset, COUNT_DAY_S, 0, UINT64_MAX, look_at_run, &look);
    runset_each(c->runset, COUNT_BUCKET_S, 0, UINT64_MAX, look_at_run, &look);
    if (look.nours == 0 && look.nforeign > 0) {
        return errinfo_set(
            reterr, ERR_KEY, c->runs, 0,
            "the counts here were made with another digest key; restore "
            "keys/digest.key, or move this folder away to begin new counts");
    }
    *retnewest = look.newest_s / COUNT_BUCKET_S;
    *rethas = look.nours > 0;
    return ERR_OK;
}

/* A start that finds the clock far behind the newest counts says so: they are in its way. */
static void warn_of_future(const struct count *c, uint64_t newest)
{
    uint64_t wall = clock_wall_us() / US_PER_S / COUNT_BUCKET_S;
    if (newest > wall + COUNT_DAY_BUCKETS) {
        log_warn("event=counts dir=%s: the newest counts are %llu hours ahead of the "
                 "clock; counting goes on in their time, the windows reach back from "
                 "there, and nothing is removed until the clock has caught up; set the "
                 "clock, or stop gillnetd and move the files of the future away",
                 c->runs,
                 (unsigned long long)((newest - wall) * COUNT_BUCKET_S / 3600));
    }
}

static enum err recover(struct count *c, struct errinfo *reterr)
{
    struct live_recovered saved = {.keys = 0};
    enum err e = live_recover(c->dir, c->runs, &saved, reterr);

    if (e != ERR_OK && e != ERR_NOSPACE && e != ERR_IO) {
        return e; /* of another version or ring: nothing may be put beside it */
    }
    if (e != ERR_OK) { /* it stays where it is, for a start with a disk */
        count_note_disk(c, reterr);
    }
    if (saved.damaged > 0) {
        log_warn(
            "event=counts dir=%s damaged=%u: running tables or write-ahead logs are "
            "damaged or unreadable; their readable parts are kept, so counts of "
            "that time may be low",
            c->dir, saved.damaged);
    }
    if (saved.keys > 0) {
        log_info("event=counts result=recovered keys=%llu by=%s",
                 (unsigned long long)saved.keys, saved.by_journal ? "wal" : "table");
    }
    return ERR_OK;
}

/* ---- memory ---- */

static uint64_t new_incarnation(void)
{
    uint64_t r = 0;
    random_bytes(&r, sizeof(r));
    return (clock_wall_us() / US_PER_MS) << INC_RANDOM_BITS |
           (r & ((1u << INC_RANDOM_BITS) - 1));
}

static enum err make_locks(struct count *c)
{
    pthread_rwlockattr_t attr;

    /* writers first, so that the thread that frees a table gets its turn */
    if (pthread_rwlockattr_init(&attr) != 0) {
        return ERR_NOMEM;
    }
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    bool ok = pthread_rwlock_init(&c->use, &attr) == 0 &&
              pthread_rwlock_init(&c->sealed, &attr) == 0 &&
              pthread_mutex_init(&c->grow, NULL) == 0 &&
              pthread_mutex_init(&c->tick, NULL) == 0 &&
              pthread_mutex_init(&c->end_lock, NULL) == 0;
    pthread_rwlockattr_destroy(&attr);
    pthread_condattr_t clock;
    ok = ok && pthread_condattr_init(&clock) == 0;
    if (ok) {
        pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
        ok = pthread_cond_init(&c->end, &clock) == 0;
        pthread_condattr_destroy(&clock);
    }
    return ok ? ERR_OK : ERR_NOMEM;
}

static enum err make_shards(struct count *c, bool is_ready)
{
    c->shards = aligned_alloc(COUNT_CACHE_LINE, c->size.nshards * sizeof(c->shards[0]));
    if (c->shards == NULL) {
        return ERR_NOMEM;
    }
    for (unsigned i = 0; i < c->size.nshards; i++) {
        struct count_shard *s = &c->shards[i];
        memset(s, 0, sizeof(*s));
        s->lock = totals_lock(c->totals, i);
        s->bucket = c->period.bucket;
        atomic_init(&s->live, c->live);
        s->is_ready = is_ready;
    }
    c->next_shard = is_ready ? c->size.nshards : 0;
    atomic_store(&c->nready, c->next_shard);
    return ERR_OK;
}

static enum err make_memory(struct count *c, bool is_new, struct errinfo *reterr)
{
    const struct totals_size size = {.nshards = c->size.nshards,
                                     .doorkeeper_lines = c->size.doorkeeper_lines,
                                     .cell_lines = c->size.cell_lines};
    enum err e =
        totals_new(&size, &c->keys.node, c->dir, c->period.bucket, &c->totals, reterr);

    if (e != ERR_OK) {
        return e;
    }
    c->live = count_new_live(c, c->period.bucket);
    if (c->live == NULL || make_shards(c, is_new) != ERR_OK) {
        return errinfo_set(
            reterr, ERR_NOMEM, c->dir, 0,
            "no memory for the counts; set count.messages_per_day to less "
            "than %llu",
            (unsigned long long)c->size.messages_per_day);
    }
    return ERR_OK;
}

/* ---- opening ---- */

/* A command of root may be the first to make the folder. Gives it to the owner of the state folder,
 * so that gillnetd can write to it. A failure shows when gillnetd starts. */
static void give_to_owner(const struct count *c, const char *state_dir,
                          const char *lock)
{
    struct stat st;

    if (geteuid() == 0 && stat(state_dir, &st) == 0 && st.st_uid != 0) {
        (void)!lchown(c->dir, st.st_uid, st.st_gid);
        (void)!lchown(c->runs, st.st_uid, st.st_gid);
        (void)!lchown(lock, st.st_uid, st.st_gid);
    }
}

static enum err prepare_folder(struct count *c, const struct count_options *options,
                               struct errinfo *reterr)
{
    uint8_t derived[KEYRING_DERIVED_BYTES];
    char path[FILE_PATH_MAX];

    c->keys = *options->keys;
    keyring_derive(&c->keys.node, COUNT_ORIGIN_PURPOSE, 0, derived);
    memcpy(c->origin, derived, sizeof(c->origin));
    c->inc = new_incarnation();
    c->has_store = options->has_store;
    enum err e = count_size_for(options->messages_per_day, &c->size);
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, "count.messages_per_day", 0,
                           "%llu messages a day are out of range",
                           (unsigned long long)options->messages_per_day);
    }
    e = path_make(c->state_dir, reterr, "%s", options->state_dir);
    THEN(e, path_make(c->dir, reterr, "%s/counts", options->state_dir));
    THEN(e, path_make(c->runs, reterr, "%s/runs", c->dir));
    THEN(e, path_make(path, reterr, "%s/LOCK", c->dir));
    THEN(e, file_make_dir(c->dir, COUNT_DIR_MODE, reterr));
    THEN(e, file_make_dir(c->runs, COUNT_DIR_MODE, reterr));
    THEN(e, filelock_take(&c->lock, path, reterr));
    if (e == ERR_OK) {
        give_to_owner(c, options->state_dir, path);
    }
    return e != ERR_OK ? e : make_locks(c);
}

static void *run_ticks(void *context)
{
    struct count *c = context;
    struct timespec next;

    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&c->end_lock);
    while (!c->is_ending) {
        pthread_mutex_unlock(&c->end_lock);
        count_tick(c);
        pthread_mutex_lock(&c->end_lock);
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_sec += TICK_NS / 1000000000;
        while (!c->is_ending &&
               pthread_cond_timedwait(&c->end, &c->end_lock, &next) == 0) {
        }
    }
    pthread_mutex_unlock(&c->end_lock);
    return NULL;
}

enum err count_start(struct count *c, struct errinfo *reterr)
{
    /* at once: a command that finds gillnetd before the thread's first round must not take it for
     * one that does not count */
    stats_set(STAT_count_messages_per_day, c->size.messages_per_day);
    c->has_thread = pthread_create(&c->thread, NULL, run_ticks, c) == 0;
    if (!c->has_thread) {
        stats_set(STAT_count_messages_per_day, 0);
        return errinfo_set(
            reterr, ERR_NOMEM, c->dir, 0,
            "no thread for the counts; raise TasksMax or the user's limit "
            "of processes");
    }
    return ERR_OK;
}

static enum err start_counts(struct count *c, const struct count_options *options,
                             struct errinfo *reterr)
{
    uint64_t newest = 0;
    bool has_runs = false;
    enum err e = recover(c, reterr);

    e = e != ERR_OK ? e : open_runs(c, &newest, &has_runs, reterr);
    if (e != ERR_OK) {
        return e;
    }
    warn_of_future(c, newest);
    c->is_brief = options->is_brief;
    bucket_clock_init(&c->period, newest, c->is_brief, clock_wall_us(),
                      clock_boot_us());
    atomic_store(&c->now, c->period.bucket);
    e = make_memory(c, !has_runs, reterr);
    e = e != ERR_OK ? e : count_load_past(c, reterr);
    e = e != ERR_OK ? e : remote_open(options->state_dir, &c->keys, &c->remote, reterr);
    e = e != ERR_OK ? e : count_shared_begin(c, reterr);
    if (e == ERR_OK && options->has_thread) {
        e = count_start(c, reterr);
    }
    return e;
}

enum err count_open(const struct count_options *options, struct count **ret,
                    struct errinfo *reterr)
{
    struct count *c =
        aligned_alloc(COUNT_CACHE_LINE, (sizeof(*c) + COUNT_CACHE_LINE - 1) /
                                            COUNT_CACHE_LINE * COUNT_CACHE_LINE);
    if (c == NULL) {
        return errinfo_nomem(reterr, options->state_dir);
    }
    memset(c, 0, sizeof(*c));
    c->lock.fd = -1;
    enum err e = prepare_folder(c, options, reterr);
    e = e != ERR_OK ? e : start_counts(c, options, reterr);
    if (e != ERR_OK) {
        count_close(&c);
        return e;
    }
    *ret = c;
    return ERR_OK;
}

static void end_thread(struct count *c)
{
    if (c->has_thread) {
        pthread_mutex_lock(&c->end_lock);
        c->is_ending = true;
        pthread_cond_signal(&c->end);
        pthread_mutex_unlock(&c->end_lock);
        pthread_join(c->thread, NULL);
    }
}

void count_close(struct count **c)
{
    struct count *old = *c;

    *c = NULL;
    if (old == NULL) {
        return;
    }
    end_thread(old);
    if (old->live != NULL && old->shards != NULL) {
        count_flush(old);
        count_shared_flush(old);
    }
    live_free(&old->prev, old->is_prev_sealed);
    live_free(&old->live, false);
    for (unsigned i = 0; i < COUNT_PAST; i++) {
        live_free(&old->past[i], false);
    }
    count_peers_free(old);
    remote_close(&old->remote);
    shared_totals_close(&old->shared);
    distinct_writer_free(&old->members);
    totals_free(&old->totals);
    runset_close(&old->runset);
    filelock_drop(&old->lock);
    free(old->shards);
    free(old);
}
