#include "core/hub/metrics/metrics.h"

#include <pthread.h>

#include "core/base/clock.h"
#include "core/hub/metrics/metrics_internal.h"

#define MS 1e-3
enum { RANGES = 12 };

static const double range_end[RANGES - 1] = {0.01, 0.05, 0.1, 0.5, 1,  5,
                                             10,   30,   60,  300, 600};

struct feed_times {
    char name[LIST_NAME_MAX + 1];
    double changed_s; /* of the last update that was seen */
    uint64_t count[RANGES];
    double sum;
};

struct metrics {
    struct status_board *board;
    uint64_t start_s;
    uint64_t version;      /* of the board's feeds, as last seen */
    pthread_mutex_t mutex; /* guards: feed, nfeeds */
    struct feed_times *feed;
    size_t nfeeds;
};

struct metrics *metrics_new(struct status_board *board)
{
    struct metrics *m = calloc(1, sizeof(*m));

    if (m == NULL || pthread_mutex_init(&m->mutex, NULL) != 0) {
        free(m);
        return NULL;
    }
    m->board = board;
    m->start_s = clock_wall_us() / 1000000;
    return m;
}

void metrics_free(struct metrics **m)
{
    if (*m == NULL) {
        return;
    }
    (void)pthread_mutex_destroy(&(*m)->mutex);
    free((*m)->feed);
    free(*m);
    *m = NULL;
}

/* ---- updates of feeds ---- */

/* NULL: there are too many. */
static struct feed_times *times_of(struct metrics *m, const char *name)
{
    for (size_t i = 0; i < m->nfeeds; i++) {
        if (strcmp(m->feed[i].name, name) == 0) {
            return &m->feed[i];
        }
    }
    struct feed_times *more =
        m->nfeeds < METRICS_FEEDS_MAX && strlen(name) <= LIST_NAME_MAX
            ? realloc(m->feed, (m->nfeeds + 1) * sizeof(*more))
            : NULL;
    if (more == NULL) {
        return NULL;
    }
    m->feed = more;
    more += m->nfeeds++;
    *more = (struct feed_times){
        .changed_s = (double)m->start_s}; /* what came before: not ours */
    memcpy(more->name, name, strlen(name) + 1);
    return more;
}

static void learn(struct metrics *m, const json_t *row)
{
    struct feed_times *f = times_of(m, metrics_text(row, "name"));
    double changed_s = metrics_number(row, "changed_s");
    double took = (metrics_number(row, "fetch_ms") + metrics_number(row, "check_ms") +
                   metrics_number(row, "import_ms")) *
                  MS;
    size_t i = 0;

    if (f == NULL || changed_s <= f->changed_s) {
        return;
    }
    f->changed_s = changed_s;
    f->sum += took;
    while (i < RANGES - 1 && took > range_end[i]) {
        i++;
    }
    f->count[i]++;
}

void metrics_tick(struct metrics *m)
{
    uint64_t version = status_board_version(m->board, STATUS_BOARD_FEEDS);
    json_t *rows = NULL;
    json_t *row = NULL;
    size_t i = 0;

    if (version == m->version) {
        return;
    }
    m->version = version;
    rows = status_board_get(m->board, STATUS_BOARD_FEEDS);
    (void)pthread_mutex_lock(&m->mutex);
    json_array_foreach(rows, i, row)
    {
        learn(m, row);
    }
    (void)pthread_mutex_unlock(&m->mutex);
    json_decref(rows);
}

static void add_feed_times(struct prom *p, struct metrics *m, const char *name)
{
    prom_family(p, name, PROM_HISTOGRAM,
                "time of an update that was taken: download, checks and import");
    (void)pthread_mutex_lock(&m->mutex);
    for (size_t i = 0; i < m->nfeeds; i++) {
        const struct feed_times *f = &m->feed[i];

        prom_histogram(
            p,
            &(struct prom_ranges){
                .n = RANGES, .end = range_end, .count = f->count, .sum = f->sum},
            "source", f->name);
    }
    (void)pthread_mutex_unlock(&m->mutex);
}

void metrics_render(struct metrics *m, const struct metrics_snapshot *s,
                    bool has_source_names, struct buf *ret)
{
    struct prom p = {.to = ret};

    metrics_add_mail(&p, s);
    add_feed_times(&p, m, "gillnet_feed_update_duration_seconds");
    metrics_add_lists(&p, s);
    metrics_add_feeds(&p, s);
    metrics_add_peers(&p, s);
    metrics_add_shared(&p, s);
    metrics_add_hub(&p, s);
    if (has_source_names) {
        metrics_add_mail_source(&p, s);
        metrics_add_new_entries(&p, s, "new_threats_added_total");
        add_feed_times(&p, m, "feed_update_duration_seconds");
        metrics_add_hub_source(&p, s);
    }
}
