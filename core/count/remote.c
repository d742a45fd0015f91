/* remote - counts of peers: the folder is read, and questions are answered. */
#include "core/count/remote.h"

#include "core/base/log.h"
#include "core/count/remote_internal.h"

enum { FRESH_S = 2 };

void remote_complain(const char *path, const struct errinfo *why)
{
    log_warn("event=peer-counts file=%s: %s; its counts are left out", path, why->text);
}

/* ---- signs ---- */

static bool is_same_sign(const struct remote_sign *a, const struct remote_sign *b)
{
    return a->is_there == b->is_there && a->inode == b->inode && a->size == b->size &&
           a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

bool remote_has_changed(const char *path, struct remote_sign *sign)
{
    struct remote_sign before = *sign;
    struct stat st;

    *sign = (struct remote_sign){.is_there = false};
    if (stat(path, &st) != 0) {
        return before.is_there;
    }
    *sign = (struct remote_sign){.is_there = true,
                                 .inode = (uint64_t)st.st_ino,
                                 .size = (uint64_t)st.st_size,
                                 .changed = st.st_mtim};
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &now); /* that of the files */
    int64_t age = now.tv_sec - st.st_mtim.tv_sec;
    return !is_same_sign(&before, sign) || (age < FRESH_S && age > -FRESH_S);
}

/* ---- life ---- */

enum err remote_open(const char *state_dir, const struct keyring *keys,
                     struct remote **ret, struct errinfo *reterr)
{
    pthread_rwlockattr_t attr;
    struct remote *r = calloc(1, sizeof(*r));

    if (r == NULL || pthread_rwlockattr_init(&attr) != 0) {
        free(r);
        return errinfo_nomem(reterr, state_dir);
    }
    /* who refreshes waits only for those inside */
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    (void)pthread_rwlock_init(&r->lock, &attr);
    pthread_rwlockattr_destroy(&attr);
    r->keys = *keys;
    enum err e = path_make(r->state_dir, reterr, "%s", state_dir);
    THEN(e, path_make(r->dir, reterr, "%s/peers/counts", state_dir));
    THEN(e, path_make(r->runs_dir, reterr, "%s/runs", r->dir));
    if (e != ERR_OK) {
        remote_close(&r);
        return e;
    }
    *ret = r;
    return ERR_OK;
}

void remote_close(struct remote **remote)
{
    struct remote *r = *remote;

    if (r == NULL) {
        return;
    }
    for (size_t i = 0; i < r->nstreams; i++) {
        tally_fini(&r->streams[i]->counts);
        free(r->streams[i]);
    }
    remote_close_merged(r);
    runset_close(&r->runset);
    origins_fini(&r->origins);
    (void)pthread_rwlock_destroy(&r->lock);
    free(r->pairs.v);
    free(r->fed);
    free(r);
    *remote = NULL;
}

/* ---- looking ---- */

bool remote_has_say(const struct remote *r, const uint8_t origin[RUN_ORIGIN_BYTES])
{
    return count_has_say(&r->origins, origins_find(&r->origins, origin));
}

static void load_origins(struct remote *r)
{
    char path[FILE_PATH_MAX];
    struct origins fresh;
    struct errinfo why = {.code = ERR_OK};

    if (file_path(path, "%s/peers/origins", r->state_dir) != ERR_OK ||
        !remote_has_changed(path, &r->origins_sign)) {
        return;
    }
    enum err e = origins_read(r->state_dir, &fresh, &why);
    if (e != ERR_OK && e != ERR_NOT_FOUND && !r->is_foreign) {
        log_errinfo("peer-counts", &why);
    }
    r->is_foreign = e != ERR_OK && e != ERR_NOT_FOUND;
    pthread_rwlock_wrlock(&r->lock);
    origins_fini(&r->origins);
    r->origins = fresh;
    pthread_rwlock_unlock(&r->lock);
    memset(r->folder_sign, 0, sizeof(r->folder_sign));
    for (size_t i = 0; i < r->nstreams; i++) {
        r->streams[i]->is_seen = false; /* remote_list_streams sets it again */
    }
    r->has_changed = true;
}

void remote_refresh(struct remote *r, uint64_t now, remote_fn *fn, void *context)
{
    (void)remote_has_changed(r->dir, &r->dir_sign);
    if (!r->dir_sign.is_there && r->nstreams == 0 && r->runset == NULL) {
        r->is_loaded = true;
        return;
    }
    r->has_changed = now != r->now || !r->is_loaded;
    r->now = now;
    load_origins(r);
    remote_list_streams(r);
    /* a stream is in its table or in its run, for everyone who asks */
    pthread_rwlock_wrlock(&r->lock);
    remote_refresh_runs(r);
    remote_refresh_merged(r);
    remote_mark_closed(r);
    pthread_rwlock_unlock(&r->lock);
    if (!r->is_loaded) {
        fn = NULL;
        r->wants_rebuild = true;
    }
    remote_read_streams(r, fn, context);
    if (r->has_changed) {
        remote_feed_runs(r, fn, context);
        remote_drop_streams(r);
    }
    r->is_loaded = true;
}

bool remote_take_rebuild(struct remote *r)
{
    bool wants = r->wants_rebuild;

    r->wants_rebuild = false;
    return wants;
}

/* ---- for who refreshes ---- */

void remote_each_run(struct remote *r, uint32_t len_s, uint64_t first_s, uint64_t end_s,
                     remote_run_fn *fn, void *context)
{
    if (r->runset == NULL) {
        return;
    }
    struct runset_list *list = runset_pin(r->runset);
    for (size_t i = 0; i < list->n; i++) {
        const struct runset_entry *e = list->v[i].entry;
        if (e->run != NULL && e->id.len_s == len_s && e->id.start_s >= first_s &&
            e->id.start_s < end_s && keyring_find(&r->keys, e->id.key_id) != NULL &&
            remote_has_say(r, e->id.origin)) {
            fn(context, e->run, list->v[i].is_in_day);
        }
    }
    runset_unpin(r->runset, &list);
}

struct each {
    remote_stream_fn *fn;
    void *context;
    uint64_t bucket;
};

static void hand_over(void *context, uint64_t key, uint64_t count)
{
    const struct each *x = context;

    x->fn(x->context, x->bucket, key, count);
}

void remote_each_stream(struct remote *r, uint64_t first, uint64_t end,
                        remote_stream_fn *fn, void *context)
{
    for (size_t i = 0; i < r->nstreams; i++) {
        const struct remote_stream *s = r->streams[i];
        struct each x = {fn, context, s->id.start_s / COUNT_BUCKET_S};
        if (!s->has_run && x.bucket >= first && x.bucket < end) {
            tally_each(&s->counts, hand_over, &x);
        }
    }
}

/* ---- asking ---- */

static void ask_streams(const struct remote *r, const uint64_t *keys,
                        const uint32_t *key_ids, unsigned nkeys,
                        struct count_breakdown *io)
{
    for (size_t i = 0; i < r->nstreams; i++) {
        const struct remote_stream *s = r->streams[i];
        const uint64_t *key = runset_key_for(keys, key_ids, nkeys, s->id.key_id);
        uint64_t count = s->has_run || key == NULL ? 0 : tally_get(&s->counts, *key);
        struct count_part *share =
            count > 0 ? count_breakdown_of(io, s->id.origin) : NULL;
        if (share != NULL) {
            count_history_add(&share->history, s->id.start_s, count);
        }
    }
}

void remote_ask(struct remote *r, const uint64_t *keys, const uint32_t *key_ids,
                unsigned nkeys, uint64_t now, struct count_breakdown *io)
{
    pthread_rwlock_rdlock(&r->lock);
    if (count_breakdown_set_origins(io, &r->origins) && io->npeers > 0) {
        const struct remote_question q = {keys, key_ids, nkeys, now};
        remote_ask_runs(r, &q, io);
        for (unsigned i = 1; i < io->n; i++) {
            count_history_end(&io->v[i].history);
        }
        ask_streams(r, keys, key_ids, nkeys, io);
    }
    pthread_rwlock_unlock(&r->lock);
    count_breakdown_end(io);
}

void remote_stat(struct remote *r, struct remote_stat *ret)
{
    *ret = (struct remote_stat){.norigins = 0};
    pthread_rwlock_rdlock(&r->lock);
    for (unsigned i = 0; i < r->origins.n; i++) {
        ret->norigins += count_has_say(&r->origins, &r->origins.v[i]);
    }
    ret->nunreadable = __atomic_load_n(&r->nunreadable, __ATOMIC_RELAXED);
    for (size_t i = 0; i < r->nstreams; i++) {
        const struct remote_stream *s = r->streams[i];
        ret->nstreams += !s->has_run;
        ret->nunreadable += s->is_unreadable;
        ret->nkeys += s->counts.n;
        ret->memory_bytes += sizeof(*s) + tally_memory(&s->counts);
    }
    if (r->runset != NULL) {
        runset_stat(r->runset, &ret->runs);
    }
    pthread_rwlock_unlock(&r->lock);
}
