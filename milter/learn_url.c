#include "milter/learn_url.h"

#include <pthread.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/telemetry/stats.h"

enum { US_PER_S = 1000000, FILE_MODE = 0640 };

static struct {
    pthread_mutex_t lock; /* guards: entries, is_dirty; a leaf */
    struct url_entries *entries;
    bool is_dirty;
    bool has_failed; /* the last write; of the thread */
    char path[FILE_PATH_MAX];
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

void learn_url_open(const char *state_dir)
{
    struct buf file;

    buf_init(&file, URL_ENTRIES_FILE);
    own.entries = url_entries_new();
    if (path_make(own.path, NULL, "%s/" STATE_URLS_FILE, state_dir) != ERR_OK) {
        url_entries_free(&own.entries);
    } else if (own.entries != NULL && file_read(own.path, &file, NULL) == ERR_OK) {
        url_entries_read(own.entries, buf_slice(&file));
    } else {
        /* nothing was found yet */
    }
    own.is_dirty = true;
    buf_fini(&file);
    learn_url_tick(); /* without the file the hub would report an error of the feed */
}

void learn_url_close(void)
{
    learn_url_tick();
    url_entries_free(&own.entries);
}

void learn_url_note(const struct config *config, const struct verdict *v)
{
    uint64_t until_s = clock_wall_us() / US_PER_S + config->model.url_keep_s;
    uint64_t n = 0;

    if (v->nmalicious == 0) {
        return;
    }
    (void)pthread_mutex_lock(&own.lock);
    for (size_t i = 0; own.entries != NULL && i < v->nmalicious; i++) {
        n += url_entries_add(own.entries, v->malicious[i], until_s);
    }
    own.is_dirty = own.is_dirty || n > 0;
    (void)pthread_mutex_unlock(&own.lock);
    stats_add(STAT_ml_detected, n);
}

static void note_write(enum err e, const struct errinfo *why)
{
    if (e != ERR_OK && !own.has_failed) {
        log_warn("event=model file=%s error=\"%s\": the list ml gets no new URLs",
                 own.path, why->text);
    }
    own.has_failed = e != ERR_OK;
}

void learn_url_tick(void)
{
    struct errinfo why = {.text = ""};
    struct buf file;

    if (own.entries == NULL) {
        return;
    }
    buf_init(&file, URL_ENTRIES_FILE);
    (void)pthread_mutex_lock(&own.lock);
    bool has_ended = url_entries_expire(own.entries, clock_wall_us() / US_PER_S);
    bool must_write = own.is_dirty || has_ended;
    if (must_write) {
        url_entries_print(own.entries, &file);
    }
    own.is_dirty = false;
    stats_set(STAT_ml_urls, url_entries_count(own.entries));
    (void)pthread_mutex_unlock(&own.lock);
    if (must_write) {
        enum err e = file_write_atomic(own.path, buf_slice(&file), FILE_MODE, &why);
        note_write(e, &why);
        (void)pthread_mutex_lock(&own.lock);
        own.is_dirty = own.is_dirty || e != ERR_OK;
        (void)pthread_mutex_unlock(&own.lock);
    }
    buf_fini(&file);
}
