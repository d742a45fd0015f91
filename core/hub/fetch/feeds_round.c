/* feeds_round - one question to one feed: fetched, checked, applied, and what is said of it. */
#include <malloc.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/feed/show.h"
#include "core/hub/fetch/feeds_internal.h"

enum { LOCK_TRIES = 300, LOCK_MOMENT_MS = 100 };

/* What one round found out. */
struct round {
    struct feeder *r;
    const struct config_feed *feed;
    const struct feed_job *job;
    struct keyring keys; /* of the stage */
    struct feed_update *stage;
    struct feed_answer fetched;
    struct update_report report;
    bool was_fetched;
    bool was_applied; /* or checked: report is set */
    json_t *lines;    /* of a test; else NULL */
    struct errinfo why;
    uint64_t fetch_us;
};

static bool is_test(const struct round *x)
{
    return x->job->id != 0 && x->job->what == FEEDS_TEST;
}

static bool is_rollback(const struct round *x)
{
    return x->job->id != 0 && x->job->what == FEEDS_ROLLBACK;
}

static bool is_forced(const struct round *x)
{
    return x->job->id != 0 && x->job->what == FEEDS_FORCE;
}

static void set_now(struct feeder *r, enum feed_now now)
{
    bool is_new = false;

    (void)pthread_mutex_lock(&r->all->mutex);
    is_new = r->row.now != now;
    r->row.now = now;
    (void)pthread_mutex_unlock(&r->all->mutex);
    if (is_new) {
        feeds_show(r->all);
    }
}

/* ---- progress ---- */

static void on_download(void *context, double share)
{
    struct feeder *r = context;

    status_board_task_show(r->task, "fetching", share);
}

static void on_stage(void *context, const char *stage, double share)
{
    struct feeder *r = context;

    status_board_task_show(r->task, stage, share);
}

static void on_line(void *context, const struct update_line *line)
{
    struct round *x = context;

    if (x->lines != NULL && json_array_size(x->lines) < FEEDS_LINES_MAX) {
        (void)json_array_append_new(x->lines, feed_line_json(line));
    }
}

/* ---- its steps ---- */

static enum err fetch(struct round *x)
{
    struct feeder *r = x->r;
    struct update_state s;
    uint64_t begin_us = clock_mono_us();

    update_get_state(x->stage, &s);
    bool is_again = is_test(x) || is_forced(x) || (x->job->id != 0 && s.is_pinned);
    bool has_seen = r->seen_etag[0] != '\0' || r->seen_modified[0] != '\0';
    const struct feed_request request = {.feed = x->feed,
                                         .etag = is_again   ? ""
                                                 : has_seen ? r->seen_etag
                                                            : s.etag,
                                         .last_modified = is_again   ? ""
                                                          : has_seen ? r->seen_modified
                                                                     : s.last_modified,
                                         .body = update_incoming(x->stage),
                                         .stop = &r->stop,
                                         .progress = on_download,
                                         .context = r};
    enum err e = feed_fetch(&request, &x->fetched, &x->why);

    x->fetch_us = clock_mono_us() - begin_us;
    x->was_fetched = true;
    return e;
}

static bool is_large(const struct round *x)
{
    struct stat st;

    return stat(update_incoming(x->stage), &st) == 0 && st.st_size > FEEDS_LARGE_BYTES;
}

/* The body that came. */
static enum err take(struct round *x)
{
    struct update_state s;
    bool waits = is_large(x);

    update_get_state(x->stage, &s);
    const struct update_body body = {.etag = x->fetched.etag,
                                     .last_modified = x->fetched.last_modified,
                                     .only_checks = is_test(x),
                                     .is_by_hand = is_forced(x) ||
                                                   (x->job->id != 0 && s.is_pinned)};
    if (waits) {
        status_board_task_show(x->r->task, "waiting for its turn", -1);
        (void)pthread_mutex_lock(&x->r->all->large);
    }
    set_now(x->r, FEED_CHECKING);
    enum err e = update_update(x->stage, &body, is_test(x) ? on_line : NULL, x,
                               &x->report, &x->why);
    if (waits) {
        (void)pthread_mutex_unlock(&x->r->all->large);
        (void)malloc_trim(0); /* such a body is rare */
    }
    x->was_applied = e == ERR_OK;
    return e;
}

/* A body that was not taken need not come again until it is another one. */
static void remember_body(struct round *x)
{
    struct feeder *r = x->r;
    struct update_state s;

    if (is_test(x) || x->fetched.is_same) {
        return;
    }
    update_get_state(x->stage, &s);
    bool was_taken = x->report.refusal.reason[0] == '\0' && !s.is_pinned;
    (void)snprintf(r->seen_etag, sizeof(r->seen_etag), "%s",
                   was_taken ? "" : x->fetched.etag);
    (void)snprintf(r->seen_modified, sizeof(r->seen_modified), "%s",
                   was_taken ? "" : x->fetched.last_modified);
}

static enum err ask(struct round *x)
{
    struct feeder *r = x->r;
    enum err e = ERR_OK;

    if (is_rollback(x)) {
        set_now(r, FEED_IMPORTING);
        e = update_rollback(x->stage, x->job->version, &x->report, &x->why);
        x->was_applied = e == ERR_OK;
        return e;
    }
    set_now(r, FEED_FETCHING);
    e = fetch(x);
    if (e == ERR_OK && !x->fetched.is_same) {
        e = take(x);
        if (e == ERR_OK) {
            remember_body(x);
        }
    } else if (e == ERR_OK && r->seen_etag[0] == '\0' && r->seen_modified[0] == '\0') {
        e = update_unchanged(x->stage, &x->why);
    }
    return e;
}

static void expire_silent(struct round *x)
{
    struct errinfo why;
    bool did = false;

    if (update_expire_silent(x->stage, &did, &why) != ERR_OK) {
        log_errinfo("feed", &why);
    } else if (did) {
        log_error("event=feed name=%s result=silent: nothing good was heard of it for "
                  "too long (silent_after); its entries are taken out",
                  x->feed->name);
    }
}

/* ---- what is said of it ---- */

/* Servers and feeds had a part in it. */
static void clean(char *text)
{
    for (; *text != '\0'; text++) {
        *text = (char)(*text >= ' ' && *text <= '~' ? *text : '?');
    }
}

static const char *result_of(const struct round *x, enum err e)
{
    return e != ERR_OK                               ? "failed"
           : x->report.refusal.reason[0] != '\0'     ? "refused"
           : x->fetched.is_same || x->report.is_same ? "same"
                                                     : "ok";
}

/* A test or a rollback says how it went to who asked. */
static void log_result(const struct round *x, const char *result, bool is_new,
                       const char *trouble)
{
    const struct update_report *p = &x->report;

    if (trouble[0] != '\0') {
        if (is_new) {
            log_warn("event=feed name=%s result=%s %s", x->feed->name, result, trouble);
        }
        return;
    }
    if (strcmp(result, "same") == 0) {
        log_debug("event=feed name=%s result=same", x->feed->name);
        return;
    }
    log_info("event=feed name=%s result=%s entries=%" PRIu64 " added=%" PRIu64
             " removed=%" PRIu64 " excluded=%" PRIu64 " bytes=%" PRIu64 " ms=%" PRIu64,
             x->feed->name, is_rollback(x) ? "rollback" : result, p->entries,
             p->entered, p->left, p->left_out, x->fetched.bytes,
             (x->fetch_us + p->check_us + p->apply_us) / 1000);
}

/* Under the mutex. */
static void count_refusal(struct feed_row *row, const char *reason)
{
    if (row->refused == NULL) {
        row->refused = json_object();
    }
    json_int_t n = json_integer_value(json_object_get(row->refused, reason));
    (void)json_object_set_new(row->refused, reason, json_integer(n + 1));
}

static void note(struct round *x, enum err e, const char *result)
{
    struct feeder *r = x->r;
    struct feed_row *row = &r->row;
    const struct update_report *p = &x->report;
    char trouble[sizeof(row->trouble)] = "";
    bool is_new = false;

    if (e != ERR_OK) {
        (void)errinfo_format(&x->why, trouble, sizeof(trouble));
    } else if (p->refusal.reason[0] != '\0') {
        (void)snprintf(trouble, sizeof(trouble), "%s", p->refusal.text);
    } else if (x->fetched.is_same && r->seen_etag[0] + r->seen_modified[0] != 0) {
        (void)snprintf(trouble, sizeof(trouble), "%s", row->trouble); /* still */
    }
    clean(trouble);
    (void)pthread_mutex_lock(&r->all->mutex);
    is_new = strcmp(trouble, row->trouble) != 0;
    memcpy(row->trouble, trouble, sizeof(trouble));
    row->asked_s = x->was_fetched ? clock_wall_us() / 1000000 : row->asked_s;
    row->bytes = x->was_fetched && !x->fetched.is_same ? x->fetched.bytes : row->bytes;
    row->fetch_ms = x->was_fetched ? x->fetch_us / 1000 : row->fetch_ms;
    if (x->was_applied) {
        row->check_ms = p->check_us / 1000;
        row->left_out = p->left_out;
    }
    if (x->was_applied && p->refusal.reason[0] != '\0') {
        count_refusal(row, p->refusal.reason);
    } else if (x->was_applied && !p->is_same) {
        row->import_ms = p->apply_us / 1000;
        row->entered = p->entered;
        row->left = p->left;
    }
    row->now = e != ERR_OK ? FEED_FAILING : trouble[0] != '\0' ? FEED_REFUSED : FEED_OK;
    (void)pthread_mutex_unlock(&r->all->mutex);
    log_result(x, result, is_new, trouble);
}

/* For who asked by hand. */
static void answer(struct round *x, enum err e, const char *result)
{
    json_t *all = NULL;
    char *line = NULL;

    if (x->job->id == 0) {
        return;
    }
    all = json_pack("{s:s, s:s, s:I}", "name", x->feed->name, "result", result,
                    "download_bytes", (json_int_t)x->fetched.bytes);
    if (x->was_applied) {
        feed_report_json(all, &x->report);
    }
    if (e != ERR_OK) {
        char text[FEED_TROUBLE_MAX] = "";

        clean(errinfo_format(&x->why, text, sizeof(text)));
        (void)json_object_set_new(all, "text", json_string(text));
    }
    if (x->lines != NULL) {
        (void)json_object_set_new(all, "lines", x->lines);
    }
    line = json_dumps(all, JSON_COMPACT);
    json_decref(all);
    (void)pthread_mutex_lock(&x->r->all->mutex);
    free(x->r->answer);
    x->r->answer = line;
    x->r->answered = x->job->id;
    (void)pthread_mutex_unlock(&x->r->all->mutex);
}

/* ---- all of it ---- */

static enum err open_stage(struct round *x)
{
    static const struct timespec moment = {0, LOCK_MOMENT_MS * 1000000L};
    struct feeder *r = x->r;
    unsigned tries = 0;
    enum err e = keyring_load_or_create(r->config->state_dir, &x->keys, &x->why);

    if (e != ERR_OK) {
        return e;
    }
    const struct update_options o = {.config = r->config,
                                     .feed = x->feed,
                                     .keys = &x->keys,
                                     .progress = on_stage,
                                     .context = r};
    do { /* a command may be at work on this feed for a moment */
        e = update_open(&o, &x->stage, &x->why);
    } while (e == ERR_LOCKED && ++tries < LOCK_TRIES && !atomic_load(&r->stop) &&
             nanosleep(&moment, NULL) == 0);
    return e;
}

/* A restart forgets neither how often it failed in a row nor why. What cannot be kept is known until then. */
static void keep_failures(struct round *x, enum err e)
{
    char trouble[UPDATE_TROUBLE_MAX] = "";

    if (e != ERR_OK) {
        clean(errinfo_format(&x->why, trouble, sizeof(trouble)));
    }
    (void)update_note_failures(x->stage, e != ERR_OK ? x->r->row.failures + 1 : 0,
                               trouble, NULL);
}

/* Under the mutex. */
static void recall(struct feed_row *row)
{
    const struct update_state *s = &row->stage;
    bool was_refused = s->refusal.reason[0] != '\0';

    row->failures = s->failures;
    row->now = s->failures > 0 ? FEED_FAILING : was_refused ? FEED_REFUSED : row->now;
    (void)snprintf(row->trouble, sizeof(row->trouble), "%s",
                   s->failures > 0 ? s->trouble : s->refusal.text);
    clean(row->trouble);
}

void feeds_recall(struct feeder *r, const struct config_feed *feed)
{
    static const struct feed_job none = {.id = 0};
    struct round x = {.r = r, .feed = feed, .job = &none};

    if (open_stage(&x) == ERR_OK) {
        (void)pthread_mutex_lock(&r->all->mutex);
        update_get_state(x.stage, &r->row.stage);
        recall(&r->row);
        (void)pthread_mutex_unlock(&r->all->mutex);
        update_close(&x.stage);
    }
}

bool feeds_round(struct feeder *r, const struct config_feed *feed,
                 const struct feed_job *job, unsigned *retwait_s)
{
    struct round x = {.r = r, .feed = feed, .job = job};
    enum feed_now before = r->row.now; /* changed by this thread alone */
    enum err e = open_stage(&x);

    if (e == ERR_OK) {
        x.lines = is_test(&x) ? json_array() : NULL;
        r->task = status_board_task_begin(r->all->board, "feed", feed->name);
        e = ask(&x);
        status_board_task_end(&r->task);
        if (!is_test(&x)) {
            expire_silent(&x);
        }
        if (!is_test(&x) && !is_rollback(&x) && !atomic_load(&r->stop)) {
            keep_failures(&x, e);
        }
        (void)pthread_mutex_lock(&r->all->mutex);
        update_get_state(x.stage, &r->row.stage);
        (void)pthread_mutex_unlock(&r->all->mutex);
        update_close(&x.stage);
    }
    if (is_test(&x) || (is_rollback(&x) && e == ERR_NOT_FOUND)) {
        set_now(r, before); /* the feed had no part in it */
    } else if (!atomic_load(&r->stop) || e == ERR_OK) {
        note(&x, e, result_of(&x, e));
    }
    answer(&x, e, result_of(&x, e));
    *retwait_s = x.fetched.retry_after_s;
    return e == ERR_OK;
}

void feeds_drop(struct feeder *r)
{
    struct config_feed feed = r->config->feed_default;
    struct keyring keys;
    struct errinfo why;
    const struct update_options o = {.config = r->config, .feed = &feed, .keys = &keys};

    feed.name = r->name;
    feed.list = r->name;
    enum err e = keyring_load_or_create(r->config->state_dir, &keys, &why);
    THEN(e, update_drop(&o, &why));
    if (e == ERR_OK) {
        log_info("event=feed name=%s result=dropped", r->name);
    } else {
        log_errinfo("feed", &why);
    }
}
