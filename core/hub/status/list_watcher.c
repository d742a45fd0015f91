#include "core/hub/status/list_watcher.h"

#include <pthread.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/list/rating_input.h"
#include "core/telemetry/stats.h"

enum {
    US_PER_S = 1000000,
    LOOK_MS = 250, /* between looks at the lists */
    HITS_LOOKS = 8 /* looks between those at what gillnetd counted */
};

/* A view with its parts and its number of users. */
struct lists_held {
    struct list_watcher_view view;
    struct hits_view *hits;
    struct config *config;
    struct list_watcher *lists;
    struct query_list *asked;
    struct link_patterns *patterns;
    unsigned refs; /* guarded by the mutex */
};

struct list_watcher {
    struct list_manager *hold;
    struct link_patterns *patterns; /* the thread's; NULL: none yet */
    pthread_t thread;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t wake;
    bool stops;
    struct config *config;
    struct lists_held *now;
    char trouble[ERRINFO_TEXT_MAX];
};

/* ---- views ---- */

static void free_held(struct lists_held *h)
{
    list_manager_release(h->lists->hold, &h->view.set);
    config_release(&h->config);
    lookup_stats_view_free(&h->hits);
    link_patterns_release(&h->patterns);
    free(h->asked);
    free(h);
}

const struct list_watcher_view *list_watcher_acquire(struct list_watcher *l)
{
    (void)pthread_mutex_lock(&l->mutex);
    struct lists_held *h = l->now;

    h->refs++;
    (void)pthread_mutex_unlock(&l->mutex);
    return &h->view;
}

static void release(struct list_watcher *l, struct lists_held *h)
{
    (void)pthread_mutex_lock(&l->mutex);
    bool is_last = --h->refs == 0;

    (void)pthread_mutex_unlock(&l->mutex);
    if (is_last) {
        free_held(h);
    }
}

void list_watcher_release(struct list_watcher *l, const struct list_watcher_view **v)
{
    if (*v != NULL) {
        release(l, (*v)->held);
        *v = NULL;
    }
}

static struct hits_view *read_hits(const struct config *config)
{
    char path[FILE_PATH_MAX];
    struct hits_view *v = NULL;

    if (file_path(path, "%s/%s", config->state_dir, STATE_LOOKUP_STATS_FILE) !=
            ERR_OK ||
        lookup_stats_read(path, &v, NULL) != ERR_OK) {
        return NULL; /* the file does not exist yet, or cannot be read */
    }
    return v;
}

/* Prepares the lists of the set for look-ups. */
static bool fill_ask(struct lists_held *h)
{
    const struct listset *set = h->view.set;
    const struct rating_sources voices = {.config = h->view.config,
                                          .view = h->view.hits};
    struct query_lists *ask = &h->view.ask;
    size_t n = listset_total(set);

    h->asked = calloc(n + 1, sizeof(*h->asked));
    *ask = (struct query_lists){.v = h->asked,
                                .n = n,
                                .nown = listset_count(set),
                                .nlists = n + listset_is_degraded(set),
                                .config = h->view.config};
    for (size_t i = 0; h->asked != NULL && i < n; i++) {
        const struct list_reader *r = listset_reader(set, i);
        struct slice name = slice_str(list_reader_name(r));
        const char *origin = listset_origin(set, i);

        h->asked[i] =
            (struct query_list){.reader = r,
                                .origin = origin,
                                .may_revoke = listset_may_revoke(set, i),
                                .share = ask_share(h->view.config, name, origin),
                                .voice = rating_input_of(&voices, r)};
        ask->derived |= ask_derived(r, listset_config(set, i));
    }
    return h->asked != NULL;
}

static bool is_emergency(const struct config *config)
{
    char path[FILE_PATH_MAX];
    struct stats_view stats;

    return file_path(path, "%s/%s", config->state_dir, STATE_STATS_FILE) == ERR_OK &&
           stats_read(path, &stats, NULL) == ERR_OK &&
           stats.value[STAT_emergency] != 0 &&
           stats_is_alive(&stats, clock_wall_us() / US_PER_S);
}

/* Compiled when the mode is seen for the first time with this configuration. */
static struct link_patterns *patterns_now(struct list_watcher *l,
                                          const struct config *config)
{
    if (!is_emergency(config)) {
        return NULL;
    }
    if (!link_patterns_is_of(l->patterns, config)) {
        link_patterns_release(&l->patterns);
        l->patterns = link_patterns_new(config);
    }
    return link_patterns_acquire(l->patterns);
}

/* A view of the hold's snapshot. Takes config. NULL: no memory. */
static struct lists_held *make_view(struct list_watcher *l, struct config *config)
{
    struct lists_held *h = calloc(1, sizeof(*h));

    if (h == NULL) {
        config_release(&config);
        return NULL;
    }
    h->lists = l;
    h->refs = 1;
    h->view.set = list_manager_acquire(l->hold);
    h->hits = read_hits(config);
    h->config = config;
    h->view.held = h;
    h->view.hits = h->hits;
    h->view.config = config;
    h->patterns = patterns_now(l, config);
    h->view.patterns = h->patterns;
    if (!fill_ask(h)) {
        free_held(h);
        return NULL;
    }
    return h;
}

/* ---- the thread ---- */

static void set_trouble(struct list_watcher *l, enum err e, const struct errinfo *why)
{
    char text[ERRINFO_TEXT_MAX] = "";

    if (e != ERR_OK) {
        (void)snprintf(text, sizeof(text), "%s",
                       why->text[0] != '\0' ? why->text : err_text(e));
    }
    (void)pthread_mutex_lock(&l->mutex);
    bool is_new = strcmp(text, l->trouble) != 0;

    memcpy(l->trouble, text, sizeof(text));
    (void)pthread_mutex_unlock(&l->mutex);
    if (is_new && e != ERR_OK) {
        log_errinfo("lists", why);
    }
}

static void look_at_set(struct list_watcher *l, unsigned looks)
{
    struct errinfo why = {.text = ""};

    (void)pthread_mutex_lock(&l->mutex);
    struct config *config = config_acquire(l->config);
    struct lists_held *now = l->now;

    (void)pthread_mutex_unlock(&l->mutex);
    set_trouble(l, list_manager_refresh(l->hold, config, &why), &why);
    list_manager_free_retired(l->hold);
    const struct listset *set = list_manager_acquire(l->hold);
    bool is_same = set == now->view.set && config == now->view.config;

    list_manager_release(l->hold, &set);
    if (is_same && looks % HITS_LOOKS != 0) {
        config_release(&config);
        return;
    }
    struct lists_held *h = make_view(l, config);

    if (h != NULL) {
        (void)pthread_mutex_lock(&l->mutex);
        l->now = h;
        (void)pthread_mutex_unlock(&l->mutex);
        release(l, now);
    }
}

static void *watch_lists(void *context)
{
    struct list_watcher *l = context;
    unsigned looks = 0;

    (void)pthread_mutex_lock(&l->mutex);
    while (!l->stops) {
        struct timespec until;

        (void)pthread_mutex_unlock(&l->mutex);
        look_at_set(l, looks++);
        (void)pthread_mutex_lock(&l->mutex);
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        while (!l->stops && pthread_cond_clockwait(&l->wake, &l->mutex, CLOCK_MONOTONIC,
                                                   &until) == 0) {
        }
    }
    (void)pthread_mutex_unlock(&l->mutex);
    return NULL;
}

/* ---- up and down ---- */

enum err list_watcher_new(const struct config *config, struct list_watcher **ret,
                          struct errinfo *reterr)
{
    struct list_watcher *l = calloc(1, sizeof(*l));
    struct errinfo why = {.text = ""};
    struct keyring keys;

    if (l == NULL) {
        return errinfo_nomem(reterr, "");
    }
    bool has_keys = keyring_load(config->state_dir, &keys, NULL) == ERR_OK;

    (void)pthread_mutex_init(&l->mutex, NULL);
    (void)pthread_cond_init(&l->wake, NULL);
    l->config = config_acquire(config);
    l->hold = list_manager_new(config->state_dir, has_keys ? &keys : NULL);
    explicit_bzero(&keys, sizeof(keys));
    if (l->hold != NULL) {
        set_trouble(l, list_manager_refresh(l->hold, config, &why), &why);
        l->now = make_view(l, config_acquire(config));
    }
    if (l->now == NULL || pthread_create(&l->thread, NULL, watch_lists, l) != 0) {
        if (l->now != NULL) {
            free_held(l->now);
        }
        list_manager_free(&l->hold);
        config_release(&l->config);
        free(l);
        return errinfo_set(reterr, ERR_NOMEM, "", 0,
                           "the thread that reads lists cannot be started");
    }
    *ret = l;
    return ERR_OK;
}

void list_watcher_free(struct list_watcher **l)
{
    struct list_watcher *x = *l;

    if (x == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&x->mutex);
    x->stops = true;
    (void)pthread_cond_signal(&x->wake);
    (void)pthread_mutex_unlock(&x->mutex);
    (void)pthread_join(x->thread, NULL);
    free_held(x->now);
    link_patterns_release(&x->patterns);
    list_manager_free_retired(x->hold);
    list_manager_free(&x->hold);
    config_release(&x->config);
    (void)pthread_cond_destroy(&x->wake);
    (void)pthread_mutex_destroy(&x->mutex);
    free(x);
    *l = NULL;
}

void list_watcher_renew(struct list_watcher *l, const struct config *config)
{
    struct config *fresh = config_acquire(config);

    (void)pthread_mutex_lock(&l->mutex);
    struct config *old = l->config;

    l->config = fresh;
    (void)pthread_mutex_unlock(&l->mutex);
    config_release(&old);
}

void list_watcher_trouble(struct list_watcher *l, char ret[ERRINFO_TEXT_MAX])
{
    (void)pthread_mutex_lock(&l->mutex);
    memcpy(ret, l->trouble, sizeof(l->trouble));
    (void)pthread_mutex_unlock(&l->mutex);
}
