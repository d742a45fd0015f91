#include "core/hub/fetch/feeds.h"

#include "core/base/clock.h"
#include "core/base/dir_walk.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "core/base/thread.h"
#include "core/hub/fetch/feeds_internal.h"

enum { SECOND = 1000000, BACKOFF_DOUBLINGS = 16 };

const struct config_feed *feeds_find(const struct config *config, struct slice name)
{
    for (size_t i = 0; i < config->nfeeds; i++) {
        if (slice_eq(name, slice_str(config->feeds[i].name))) {
            return &config->feeds[i];
        }
    }
    return NULL;
}

/* 0 up to most. */
static uint64_t dice_us(uint64_t most)
{
    uint64_t dice = 0;

    random_bytes(&dice, sizeof(dice));
    return most > 0 ? dice % most : 0;
}

/* ---- the thread of one feed ---- */

static void wait_until(struct feeder *r, uint64_t due_us)
{
    struct timespec t = {.tv_sec = (time_t)(due_us / SECOND),
                         .tv_nsec = (long)(due_us % SECOND) * 1000};

    (void)pthread_cond_timedwait(&r->wake, &r->all->mutex, &t);
}

/* Sets the time of the next update. Under the mutex. */
static void plan_next(struct feeder *r, const struct config_feed *feed, bool went_well,
                      unsigned wait_s)
{
    uint64_t s = feed->interval_s;
    uint64_t most = s > FEEDS_BACKOFF_MOST_S ? s : FEEDS_BACKOFF_MOST_S;

    r->row.failures = went_well ? 0 : r->row.failures + 1;
    if (!went_well) {
        unsigned n = r->row.failures - 1;

        s = (uint64_t)FEEDS_BACKOFF_S
            << (n < BACKOFF_DOUBLINGS ? n : BACKOFF_DOUBLINGS);
        s = s < most ? s : most;
        s = wait_s > s ? wait_s : s;
    }
    uint64_t us = s * SECOND + dice_us(s * SECOND / 100 * FEEDS_JITTER_PERCENT);
    r->due_us = clock_mono_us() + us;
    r->row.next_s = (clock_wall_us() + us) / SECOND;
}

/* Under the mutex, except during the round. */
static void do_round(struct feeder *r, const struct config_feed *feed)
{
    struct feed_job job = r->job;
    struct feeds *f = r->all;
    unsigned wait_s = 0;

    r->job = (struct feed_job){.id = 0};
    (void)pthread_mutex_unlock(&f->mutex);
    bool went_well = feeds_round(r, feed, &job, &wait_s);
    (void)pthread_mutex_lock(&f->mutex);
    r->was_asked = true;
    r->row.rounds++;
    if (job.id == 0 || job.what == FEEDS_UPDATE || job.what == FEEDS_FORCE) {
        plan_next(r, feed, went_well, wait_s);
    }
    (void)pthread_mutex_unlock(&f->mutex);
    feeds_show(f);
    (void)pthread_mutex_lock(&f->mutex);
}

/* Reads the state of the last run. Under the mutex, except during the read. */
static void recall(struct feeder *r)
{
    struct feeds *f = r->all;

    r->config = config_acquire(f->config);
    (void)pthread_mutex_unlock(&f->mutex);
    const struct config_feed *feed = feeds_find(r->config, slice_str(r->name));
    if (feed != NULL) {
        feeds_recall(r, feed);
        feeds_show(f);
    }
    (void)pthread_mutex_lock(&f->mutex);
    config_release(&r->config);
}

static void *work(void *context)
{
    struct feeder *r = context;
    struct feeds *f = r->all;
    bool is_named = true;

    (void)pthread_mutex_lock(&f->mutex);
    recall(r);
    while (!atomic_load(&r->stop) && !(f->is_once && r->was_asked)) {
        if (r->job.id == 0 && r->due_us > clock_mono_us()) {
            wait_until(r, r->due_us);
            continue;
        }
        r->config = config_acquire(f->config);
        const struct config_feed *feed = feeds_find(r->config, slice_str(r->name));
        if (feed != NULL && feed->enabled) {
            do_round(r, feed);
        } else {
            atomic_store(&r->stop, true);
        }
        config_release(&r->config);
    }
    r->config = config_acquire(f->config);
    is_named = feeds_find(r->config, slice_str(r->name)) != NULL;
    (void)pthread_mutex_unlock(&f->mutex);
    if (!is_named) {
        feeds_drop(r);
    }
    config_release(&r->config);
    (void)pthread_mutex_lock(&f->mutex);
    r->has_dropped = !is_named;
    r->is_done = true;
    (void)pthread_mutex_unlock(&f->mutex);
    return NULL;
}

/* ---- begin and end ---- */

static void feeder_free(struct feeder *r)
{
    (void)pthread_cond_destroy(&r->wake);
    json_decref(r->row.refused);
    free(r->answer);
    free(r);
}

/* Under the mutex. interval_s 0: at once. */
static void begin_feeder(struct feeds *f, const char *name, uint64_t interval_s)
{
    struct feeder *r = f->n < FEEDS_MAX ? calloc(1, sizeof(*r)) : NULL;
    uint64_t spread_s = interval_s < FEEDS_SPREAD_S ? interval_s : FEEDS_SPREAD_S;
    pthread_condattr_t attr;

    if (r == NULL) {
        log_error("event=feed name=%s result=failed: more than %d feeds, or no memory",
                  name, (int)FEEDS_MAX);
        return;
    }
    r->all = f;
    (void)snprintf(r->name, sizeof(r->name), "%s", name);
    atomic_init(&r->stop, false);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&r->wake, &attr);
    (void)pthread_condattr_destroy(&attr);
    uint64_t us = f->is_once ? 0 : dice_us(spread_s * SECOND);
    r->due_us = clock_mono_us() + us;
    r->row.next_s = (clock_wall_us() + us) / SECOND;
    if (thread_start(&r->thread, work, r) != 0) {
        log_error("event=feed name=%s result=failed: no thread for it", name);
        feeder_free(r);
        return;
    }
    f->v[f->n++] = r;
}

/* Under the mutex. */
static struct feeder *find_feeder(const struct feeds *f, struct slice name)
{
    for (size_t i = 0; i < f->n; i++) {
        if (slice_eq(slice_str(f->v[i]->name), name)) {
            return f->v[i];
        }
    }
    return NULL;
}

/* Starts a thread for each enabled feed without one. Under the mutex. */
static void begin_all(struct feeds *f)
{
    for (size_t i = 0; i < f->config->nfeeds; i++) {
        const struct config_feed *feed = &f->config->feeds[i];

        if (feed->enabled && find_feeder(f, slice_str(feed->name)) == NULL) {
            begin_feeder(f, feed->name, feed->interval_s);
        }
    }
}

/* Starts a thread for each feed that is no longer configured: it revokes the entries. Under the
 * mutex. */
static void begin_drops(struct feeds *f)
{
    char path[FILE_PATH_MAX];

    if (path_make(path, NULL, "%s/feeds", f->config->state_dir) != ERR_OK) {
        return;
    }
    struct dir_walk w = dir_walk_begin(path, DIR_OPTIONAL);
    while (dir_walk_next(&w)) {
        struct slice name = slice_str(w.name);

        if (w.type == DT_DIR && list_name_is_valid(name) &&
            feeds_find(f->config, name) == NULL && find_feeder(f, name) == NULL) {
            begin_feeder(f, w.name, 0);
        }
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
}

enum err feeds_new(struct config *config, struct status_board *board, bool is_once,
                   struct feeds **ret, struct errinfo *reterr)
{
    struct feeds *f = calloc(1, sizeof(*f));
    char path[FILE_PATH_MAX];
    struct errinfo why;

    if (f == NULL) {
        return errinfo_nomem(reterr, "");
    }
    f->board = board;
    f->is_once = is_once;
    f->config = config_acquire(config);
    (void)pthread_mutex_init(&f->mutex, NULL);
    (void)pthread_mutex_init(&f->large, NULL);
    if (config->nfeeds > 0 &&
        path_make(path, NULL, "%s/feeds", config->state_dir) == ERR_OK &&
        file_make_dir(path, 0750, &why) != ERR_OK) {
        log_errinfo("feeds", &why);
    }
    (void)pthread_mutex_lock(&f->mutex);
    begin_all(f);
    begin_drops(f);
    (void)pthread_mutex_unlock(&f->mutex);
    feeds_show(f);
    *ret = f;
    return ERR_OK;
}

static void stop_one(struct feeder *r)
{
    atomic_store(&r->stop, true);
    (void)pthread_cond_signal(&r->wake);
}

void feeds_free(struct feeds **feeds)
{
    struct feeds *f = *feeds;

    if (f == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&f->mutex);
    for (size_t i = 0; i < f->n; i++) {
        stop_one(f->v[i]);
    }
    (void)pthread_mutex_unlock(&f->mutex);
    for (size_t i = 0; i < f->n; i++) {
        (void)pthread_join(f->v[i]->thread, NULL);
    }
    for (size_t i = 0; i < f->n; i++) { /* each thread shows all rows until it ends */
        feeder_free(f->v[i]);
    }
    config_release(&f->config);
    (void)pthread_mutex_destroy(&f->large);
    (void)pthread_mutex_destroy(&f->mutex);
    free(f);
    *feeds = NULL;
}

/* ---- while it runs ---- */

static bool is_same_source(const struct config_feed *a, const struct config_feed *b)
{
    return strcmp(a->url, b->url) == 0 && strcmp(a->format, b->format) == 0 &&
           strcmp(a->column, b->column) == 0 && strcmp(a->type, b->type) == 0;
}

/* Under the mutex: f->config is still the former one. */
static void renew_one(struct feeds *f, struct feeder *r, const struct config *fresh)
{
    const struct config_feed *was = feeds_find(f->config, slice_str(r->name));
    const struct config_feed *is = feeds_find(fresh, slice_str(r->name));
    uint64_t now_us = clock_mono_us();

    if (is == NULL || !is->enabled) {
        stop_one(r);
        return;
    }
    if (was == NULL || !is_same_source(was, is)) {
        r->due_us = now_us;
    } else if (r->due_us > now_us + is->interval_s * SECOND && r->row.failures == 0) {
        r->due_us = now_us + dice_us(is->interval_s * SECOND);
        r->row.next_s = (clock_wall_us() + (r->due_us - now_us)) / SECOND;
    }
    (void)pthread_cond_signal(&r->wake);
}

void feeds_renew(struct feeds *f, struct config *config)
{
    (void)pthread_mutex_lock(&f->mutex);
    for (size_t i = 0; i < f->n; i++) {
        renew_one(f, f->v[i], config);
    }
    config_release(&f->config);
    f->config = config_acquire(config);
    begin_all(f);
    begin_drops(f);
    (void)pthread_mutex_unlock(&f->mutex);
    feeds_show(f);
}

void feeds_tick(struct feeds *f)
{
    struct feeder *done = NULL;

    if (f->is_once) {
        return; /* feeds_is_done still counts the finished ones */
    }
    (void)pthread_mutex_lock(&f->mutex);
    for (size_t i = 0; i < f->n && done == NULL; i++) {
        if (f->v[i]->is_done) {
            done = f->v[i];
            f->v[i] = f->v[--f->n];
        }
    }
    begin_all(f); /* a feed that ended may be enabled again */
    if (done != NULL && !done->has_dropped) {
        begin_drops(f); /* or it may have been removed from the configuration */
    }
    (void)pthread_mutex_unlock(&f->mutex);
    if (done != NULL) {
        (void)pthread_join(done->thread, NULL);
        feeder_free(done);
        feeds_show(f);
    }
}

bool feeds_is_done(struct feeds *f, unsigned *retfailed)
{
    bool is_done = true;

    *retfailed = 0;
    if (f == NULL) {
        return true;
    }
    (void)pthread_mutex_lock(&f->mutex);
    for (size_t i = 0; i < f->n; i++) {
        is_done = is_done && f->v[i]->is_done;
        *retfailed += f->v[i]->row.trouble[0] != '\0' ? 1 : 0;
    }
    (void)pthread_mutex_unlock(&f->mutex);
    return is_done;
}

/* ---- by hand ---- */

enum err feeds_ask(struct feeds *f, struct slice name, enum feeds_what what,
                   uint64_t version, uint64_t *retjob, struct errinfo *reterr)
{
    enum err e = ERR_OK;

    (void)pthread_mutex_lock(&f->mutex);
    struct feeder *r = find_feeder(f, name);
    if (r == NULL || atomic_load(&r->stop)) {
        e = errinfo_set(reterr, ERR_NOT_FOUND, "", 0,
                        "there is no enabled feed of this name in the configuration "
                        "that runs (gillnet feed list; gillnet reload)");
    } else if (r->job.id != 0) {
        e = errinfo_set(reterr, ERR_LOCKED, "", 0,
                        "another request for this feed waits; try again");
    } else {
        r->job =
            (struct feed_job){.id = ++r->last_job, .what = what, .version = version};
        *retjob = r->last_job;
        (void)pthread_cond_signal(&r->wake);
    }
    (void)pthread_mutex_unlock(&f->mutex);
    return e;
}

enum err feeds_answer(struct feeds *f, struct slice name, uint64_t job, struct buf *ret)
{
    enum err e = ERR_NOT_FOUND;

    (void)pthread_mutex_lock(&f->mutex);
    const struct feeder *r = find_feeder(f, name);
    if (r != NULL && job > r->answered && job <= r->last_job) {
        e = ERR_LOCKED;
    } else if (r != NULL && job == r->answered && r->answer != NULL) {
        buf_add_str(ret, r->answer);
        e = ERR_OK;
    }
    (void)pthread_mutex_unlock(&f->mutex);
    return e;
}
