#include "core/hub/fetch/subscribe.h"

#include "core/base/clock.h"
#include "core/base/dir_walk.h"
#include "core/base/hash256.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "core/base/thread.h"
#include "core/hub/fetch/subscribe_internal.h"
#include "core/ring/trust/peer_file.h"
#include "core/ring/trust/peer_identity.h"
#include "core/store/origins.h"

enum {
    BACKOFF_MOST_S = 3600, /* or the interval, where that is longer */
    BACKOFF_DOUBLINGS = 8,
    JITTER_PERCENT = 20,
    LOOK_MS = 500 /* how often the end is looked for */
};

/* ---- the subscriptions ---- */

static void describe(struct follower *f, const struct config_subscription *c)
{
    f->config = c;
    f->nmaps = 0;
    for (size_t i = 0; i < c->lists.n && f->nmaps < REPOSITORY_LISTS_MAX; i++) {
        struct slice theirs;
        struct slice ours;
        struct subscription_map *m = &f->map[f->nmaps];

        if (config_subscription_map(c->lists.v[i], &theirs, &ours)) {
            memcpy(m->theirs, theirs.p, theirs.n);
            memcpy(m->ours, ours.p, ours.n);
            f->nmaps++;
        }
    }
    (void)hex_parse(slice_str(c->key), f->key, sizeof(f->key)); /* 64 digits: checked */
    subscription_place(c->name, f->key, &f->origin);
}

static bool is_configured(const struct subscribe *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++) {
        if (strcmp(s->v[i].config->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Removes subscriptions that are no longer configured, with their entries. */
static void drop_others(struct subscribe *s)
{
    struct dir_walk w = dir_walk_begin(s->dir, DIR_OPTIONAL);

    while (dir_walk_next(&w)) {
        struct errinfo why = {.text = ""};

        if (w.name[0] != '.' && strcmp(w.name, "LOCK") != 0 &&
            !is_configured(s, w.name)) {
            enum err e =
                subscription_drop(s->config->state_dir, w.name, s->lists, &why);
            log_info("event=subscribe name=%s state=dropped %s", w.name,
                     e == ERR_OK ? "" : why.text);
        }
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
}

/* gillnetd uses the lists that are named in this file. */
static enum err write_origins(const struct subscribe *s, struct errinfo *reterr)
{
    struct origin_row rows[SUBSCRIBE_MAX];
    struct origins o = {.v = rows, .n = (unsigned)s->n};

    memset(rows, 0, sizeof(rows));
    for (size_t i = 0; i < s->n; i++) {
        struct object_id owner;

        identity_origin(s->v[i].key, &owner);
        memcpy(rows[i].owner, owner.b, ORIGIN_BYTES);
        memcpy(rows[i].origin, s->v[i].origin.b, ORIGIN_BYTES);
        (void)snprintf(rows[i].name, sizeof(rows[i].name), "%s", s->v[i].config->name);
    }
    return origins_write_subscriptions(s->config->state_dir, &o, reterr);
}

/* ---- one of them ---- */

static enum err open_one(struct subscribe *s, struct follower *f,
                         struct errinfo *reterr)
{
    const struct config_subscription *c = f->config;
    struct subscription_options o = {.state_dir = s->config->state_dir,
                                     .name = c->name,
                                     .maps = f->map,
                                     .nmaps = f->nmaps,
                                     .most_entries = c->entries,
                                     .most_change = c->change};

    memcpy(o.key, f->key, sizeof(o.key));
    return f->subscription != NULL
               ? ERR_OK
               : subscription_open(&o, s->lists, &s->keys, &f->subscription, reterr);
}

/* Stores the result of a round. Logs it if it differs from the last one. */
static void note_round(struct subscribe *s, struct follower *f, enum err result,
                       const struct errinfo *why)
{
    char text[sizeof(f->trouble)] = "";
    bool is_new = false;

    if (result != ERR_OK) {
        errinfo_format(why, text, sizeof(text));
    }
    (void)pthread_mutex_lock(&s->mutex);
    is_new = !f->was_asked || strcmp(text, f->trouble) != 0;
    memcpy(f->trouble, text, sizeof(text));
    f->failures = result == ERR_OK ? 0 : f->failures + 1;
    f->was_asked = true;
    f->asked_ms = clock_wall_us() / 1000;
    if (f->subscription != NULL) {
        subscription_stat(f->subscription, &f->stat);
    }
    (void)pthread_mutex_unlock(&s->mutex);
    if (is_new && result == ERR_OK) {
        log_info("event=subscribe name=%s state=well entries=%" PRIu64
                 " refused=%" PRIu64,
                 f->config->name, f->stat.entries, f->stat.refused);
    } else if (is_new) {
        log_error("event=subscribe name=%s %s", f->config->name, text);
    }
}

static void plan_next(struct follower *f)
{
    uint64_t s = f->config->interval_s;
    uint64_t most = s > BACKOFF_MOST_S ? s : BACKOFF_MOST_S;
    unsigned doublings =
        f->failures < BACKOFF_DOUBLINGS ? f->failures : BACKOFF_DOUBLINGS;
    uint32_t dice = 0;

    s = s << doublings < most ? s << doublings : most;
    random_bytes(&dice, sizeof(dice)); /* spreads the subscribers */
    f->due_us = clock_mono_us() + s * 1000000 -
                s * 10000 * (dice % JITTER_PERCENT); /* up to a fifth sooner */
}

static void do_round(struct subscribe *s, struct follower *f)
{
    struct errinfo why = {.text = ""};
    enum err e = open_one(s, f, &why);

    THEN(e, subscribe_round(s, f, &why));
    if (!atomic_load(&s->stop)) {
        note_round(s, f, e, &why);
        plan_next(f);
    }
}

/* ---- the thread ---- */

static void close_all(struct subscribe *s)
{
    for (size_t i = 0; i < s->n; i++) {
        subscription_close(&s->v[i].subscription);
    }
    peerlists_close(&s->lists);
}

/* A new digest key changes all digests: the lists are rebuilt from the stored texts. */
static void follow_keys(struct subscribe *s)
{
    struct keyring keys;
    struct errinfo why = {.text = ""};

    if (keyring_load(s->config->state_dir, &keys, NULL) != ERR_OK ||
        keys.ring[0].id == s->keys.ring[0].id) {
        return;
    }
    close_all(s);
    s->keys = keys;
    if (peerlists_open_subscribed(s->lists_dir, &s->keys, &s->lists, &why) != ERR_OK) {
        log_errinfo("subscribe", &why);
    }
    log_info("event=subscribe state=rekeyed");
}

static struct follower *next_due(struct subscribe *s)
{
    struct follower *first = NULL;

    for (size_t i = 0; i < s->n; i++) {
        struct follower *f = &s->v[i];

        if (!(s->is_once && f->was_asked) &&
            (first == NULL || f->due_us < first->due_us)) {
            first = f;
        }
    }
    return first != NULL && first->due_us <= clock_mono_us() ? first : NULL;
}

static void *work(void *context)
{
    static const struct timespec look = {0, LOOK_MS * 1000000L};
    struct subscribe *s = context;

    while (!atomic_load(&s->stop)) {
        struct follower *f = next_due(s);

        if (f == NULL) {
            (void)nanosleep(&look, NULL);
            continue;
        }
        follow_keys(s);
        if (s->lists != NULL) {
            do_round(s, f);
        } else {
            plan_next(f);
        }
    }
    return NULL;
}

/* ---- begin and end ---- */

static enum err make_dirs(struct subscribe *s, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    const char *state = s->config->state_dir;
    enum err e = path_make(path, reterr, "%s/peers", state);

    THEN(e, path_make(s->dir, reterr, "%s/subscriptions", path));
    THEN(e, path_make(s->lists_dir, reterr, "%s/lists", path));
    THEN(e, peer_file_make_dir(path, reterr));
    THEN(e, peer_file_make_dir(s->dir, reterr));
    return e;
}

static bool was_used(const struct config *config)
{
    char path[FILE_PATH_MAX];

    return path_make(path, NULL, "%s/peers/subscriptions", config->state_dir) ==
               ERR_OK &&
           access(path, F_OK) == 0;
}

static enum err open_subscriptions(struct subscribe *s, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = make_dirs(s, reterr);

    THEN(e, path_make(path, reterr, "%s/LOCK", s->dir));
    THEN(e, filelock_take(&s->lock, path, reterr));
    THEN(e, keyring_load_or_create(s->config->state_dir, &s->keys, reterr));
    THEN(e, peerlists_open_subscribed(s->lists_dir, &s->keys, &s->lists, reterr));
    THEN(e, s->fetch.easy != NULL ? ERR_OK : errinfo_nomem(reterr, "libcurl"));
    if (e == ERR_OK) {
        drop_others(s);
        e = write_origins(s, reterr);
    }
    return e;
}

enum err subscribe_new(const struct config *config, bool is_once,
                       struct subscribe **ret, struct errinfo *reterr)
{
    struct subscribe *s = NULL;

    *ret = NULL;
    if (config->nsubscriptions == 0 && !was_used(config)) {
        return ERR_OK;
    }
    s = calloc(1, sizeof(*s));
    if (s == NULL) {
        return errinfo_nomem(reterr, "");
    }
    s->config = config_acquire(config);
    s->is_once = is_once;
    s->lock.fd = -1;
    s->fetch = (struct fetch){.easy = curl_easy_init(), .stop = &s->stop};
    atomic_init(&s->stop, false);
    (void)pthread_mutex_init(&s->mutex, NULL);
    for (size_t i = 0; i < config->nsubscriptions && s->n < SUBSCRIBE_MAX; i++) {
        describe(&s->v[s->n++], &config->subscriptions[i]);
    }
    enum err e = open_subscriptions(s, reterr);
    if (e == ERR_OK && s->n > 0) {
        s->is_running = thread_start(&s->thread, work, s) == 0;
        e = s->is_running ? ERR_OK : errinfo_nomem(reterr, "subscriptions");
    }
    if (e != ERR_OK) {
        subscribe_free(&s);
        return e;
    }
    *ret = s;
    return ERR_OK;
}

void subscribe_free(struct subscribe **subscribe)
{
    struct subscribe *s = *subscribe;

    if (s == NULL) {
        return;
    }
    atomic_store(&s->stop, true);
    if (s->is_running) {
        (void)pthread_join(s->thread, NULL);
    }
    close_all(s);
    curl_easy_cleanup(s->fetch.easy);
    filelock_drop(&s->lock);
    (void)pthread_mutex_destroy(&s->mutex);
    config_release(&s->config);
    free(s);
    *subscribe = NULL;
}

void subscribe_renew(struct subscribe **io, const struct config *config, bool is_once)
{
    struct errinfo why;

    subscribe_free(io);
    if (subscribe_new(config, is_once, io, &why) != ERR_OK) {
        log_errinfo("subscribe", &why);
    }
}

/* ---- to be seen ---- */

bool subscribe_is_done(struct subscribe *s, const struct config *config,
                       unsigned *retfailed)
{
    bool is_done = true;

    *retfailed = s == NULL ? (unsigned)config->nsubscriptions : 0;
    if (s == NULL) {
        return true;
    }
    (void)pthread_mutex_lock(&s->mutex);
    for (size_t i = 0; i < s->n; i++) {
        is_done = is_done && s->v[i].was_asked;
        *retfailed += s->v[i].trouble[0] != '\0' ? 1 : 0;
    }
    (void)pthread_mutex_unlock(&s->mutex);
    return is_done;
}

static json_t *row(const struct follower *f)
{
    char origin[2 * OBJECT_ID_BYTES + 1];
    const struct subscription_stat *t = &f->stat;
    const char *state = !f->was_asked           ? "waiting"
                        : f->trouble[0] != '\0' ? "trouble"
                        : t->is_complete        ? "well"
                                                : "behind";

    hex_print(f->origin.b, OBJECT_ID_BYTES, origin);
    return json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s}",
        "subscription", f->config->name, "origin", origin, "state", state, "lists",
        (json_int_t)t->lists, "entries", (json_int_t)t->entries, "refused",
        (json_int_t)t->refused, "publications", (json_int_t)t->publications, "heads_ms",
        (json_int_t)t->heads_ms, "expires_ms", (json_int_t)t->expires_ms, "asked_ms",
        (json_int_t)f->asked_ms, "bytes_in", (json_int_t)f->bytes, "objects",
        (json_int_t)f->objects, "last_failure", f->trouble);
}

json_t *subscribe_rows(struct subscribe *s)
{
    json_t *rows = json_array();

    if (s == NULL) {
        return rows;
    }
    (void)pthread_mutex_lock(&s->mutex);
    for (size_t i = 0; i < s->n; i++) {
        (void)json_array_append_new(rows, row(&s->v[i]));
    }
    (void)pthread_mutex_unlock(&s->mutex);
    return rows;
}
