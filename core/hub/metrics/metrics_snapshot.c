#include "core/hub/metrics/metrics_snapshot.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/statvfs.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/list/listset.h"

/* The status of a list as of its last change: list_reader_stat takes 0.1 ms or more. */
struct known_list {
    const struct list_reader *reader; /* only compared */
    uint64_t changed_s;
    struct list_stat stat;
};

struct metrics_collector {
    struct status_board *board;
    _Atomic(struct list_watcher *) lists;
    _Atomic(const struct api *) api;
    pthread_mutex_t mutex; /* guards: config, known, nknown */
    struct config *config;
    struct known_list *known;
    size_t nknown;
};

struct metrics_collector *metrics_collector_new(const struct config *config,
                                                struct status_board *board)
{
    struct metrics_collector *s = calloc(1, sizeof(*s));

    if (s == NULL || pthread_mutex_init(&s->mutex, NULL) != 0) {
        free(s);
        return NULL;
    }
    s->config = config_acquire(config);
    s->board = board;
    return s;
}

void metrics_collector_free(struct metrics_collector **s)
{
    if (*s == NULL) {
        return;
    }
    (void)pthread_mutex_destroy(&(*s)->mutex);
    config_release(&(*s)->config);
    free((*s)->known);
    free(*s);
    *s = NULL;
}

void metrics_collector_renew(struct metrics_collector *s, const struct config *config)
{
    (void)pthread_mutex_lock(&s->mutex);
    config_release(&s->config);
    s->config = config_acquire(config);
    (void)pthread_mutex_unlock(&s->mutex);
}

void metrics_collector_set(struct metrics_collector *s, struct list_watcher *lists,
                           const struct api *api)
{
    atomic_store_explicit(&s->lists, lists, memory_order_release);
    atomic_store_explicit(&s->api, api, memory_order_release);
}

/* ---- gillnetd ---- */

static void look_at_pages(struct metrics_snapshot *ret)
{
    char path[FILE_PATH_MAX];

    if (file_path(path, "%s/%s", ret->config->state_dir, STATE_STATS_FILE) == ERR_OK) {
        ret->has_stats = stats_read(path, &ret->stats, NULL) == ERR_OK;
    }
    ret->is_running = ret->has_stats && stats_is_alive(&ret->stats, ret->now_s);
    if (file_path(path, "%s/%s", ret->config->state_dir, STATE_HISTORY_FILE) ==
        ERR_OK) {
        ret->has_history =
            history_read(path, ret->now_s, &ret->history, NULL) == ERR_OK;
    }
}

/* ---- lists ---- */

/* list_reader_stat, from the cache if the list did not change. i: its index. */
static void stat_of(struct metrics_collector *s, size_t i, const struct list_reader *r,
                    struct list_stat *ret)
{
    struct known_list *k = i < s->nknown ? &s->known[i] : NULL;
    uint64_t changed_s = list_reader_changed_s(r);
    uint64_t listed = 0;
    uint64_t revoked = 0;

    list_reader_totals(r, &listed, &revoked);
    if (k != NULL && k->reader == r && k->changed_s == changed_s &&
        k->stat.entries == listed && k->stat.revoked == revoked) {
        *ret = k->stat;
        return;
    }
    list_reader_stat(r, ret);
    if (k != NULL) {
        *k = (struct known_list){.reader = r, .changed_s = changed_s, .stat = *ret};
    }
}

static void make_room(struct metrics_collector *s, size_t n)
{
    struct known_list *more =
        n > s->nknown ? realloc(s->known, n * sizeof(*more)) : NULL;

    if (more != NULL) {
        memset(more + s->nknown, 0, (n - s->nknown) * sizeof(*more));
        s->known = more;
        s->nknown = n;
    }
}

static void look_at_list(struct metrics_collector *s,
                         const struct list_watcher_view *view, size_t i, uint64_t now_s,
                         struct metrics_snapshot_list *ret)
{
    const struct list_reader *r = listset_reader(view->set, i);
    const struct config_list *config = listset_config(view->set, i);
    struct slice name = slice_str(list_reader_name(r));

    (void)snprintf(ret->name, sizeof(ret->name), "%s", list_reader_name(r));
    stat_of(s, i, r, &ret->stat);
    ret->has_fault = list_reader_fault(r) != NULL;
    ret->error_target = config->filter_error;
    ret->max_age_s = config->max_age_s;
    ret->is_old = ret->max_age_s > 0 && ret->stat.updated_s + ret->max_age_s < now_s;
    ret->has_hits =
        view->hits != NULL &&
        lookup_stats_view_find(view->hits, name, LOOKUP_STATS_WHOLE, &ret->hits);
}

static void look_at_lists(struct metrics_collector *s, struct metrics_snapshot *ret)
{
    struct list_watcher *lists = atomic_load_explicit(&s->lists, memory_order_acquire);
    const struct list_watcher_view *view =
        lists != NULL ? list_watcher_acquire(lists) : NULL;
    size_t n = view != NULL ? listset_count(view->set) : 0;

    ret->lists = n > 0 ? calloc(n, sizeof(*ret->lists)) : NULL;
    ret->nlists = ret->lists != NULL ? n : 0;
    (void)pthread_mutex_lock(&s->mutex);
    make_room(s, n);
    for (size_t i = 0; i < ret->nlists; i++) {
        look_at_list(s, view, i, ret->now_s, &ret->lists[i]);
    }
    (void)pthread_mutex_unlock(&s->mutex);
    for (size_t i = n; view != NULL && i < listset_total(view->set); i++) {
        uint64_t listed = 0;
        uint64_t revoked = 0;

        list_reader_totals(listset_reader(view->set, i), &listed, &revoked);
        ret->peer_entries += listed;
    }
    if (view != NULL) {
        list_watcher_release(lists, &view);
    }
}

/* ---- all ---- */

static void look_at_disk(struct metrics_snapshot *ret)
{
    struct statvfs fs;

    if (statvfs(ret->config->state_dir, &fs) == 0) {
        ret->disk_bytes = (uint64_t)fs.f_blocks * fs.f_frsize;
        ret->disk_free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    }
}

struct metrics_snapshot *metrics_snapshot_take(struct metrics_collector *s)
{
    struct metrics_snapshot *v = calloc(1, sizeof(*v));
    const struct api *api = atomic_load_explicit(&s->api, memory_order_acquire);

    if (v == NULL) {
        return NULL;
    }
    v->now_s = clock_wall_us() / 1000000;
    (void)pthread_mutex_lock(&s->mutex);
    v->config = config_acquire(s->config);
    (void)pthread_mutex_unlock(&s->mutex);
    look_at_pages(v);
    look_at_lists(s, v);
    look_at_disk(v);
    v->has_api = api != NULL;
    if (v->has_api) {
        api_numbers(api, &v->api);
    }
    for (int i = 0; i < STATUS_BOARD_SECTIONS; i++) {
        v->section[i] = status_board_get(s->board, (enum status_board_section)i);
    }
    return v;
}

void metrics_snapshot_free(struct metrics_snapshot **s)
{
    if (*s == NULL) {
        return;
    }
    for (int i = 0; i < STATUS_BOARD_SECTIONS; i++) {
        json_decref((*s)->section[i]);
    }
    free((*s)->lists);
    config_release(&(*s)->config);
    free(*s);
    *s = NULL;
}
