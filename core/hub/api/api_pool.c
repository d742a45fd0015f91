/* api_pool - a few threads for work that may wait. Each kind of work has its own places, so no kind
 * blocks another. */

#include "core/base/clock.h"
#include "core/hub/api/api_internal.h"
#include "core/list/query.h"

enum { WORKERS = 9, WORK_ARENA = 64 << 20 }; /* as many as run at once, of all kinds */

struct line {
    struct api_work *first;
    struct api_work **last;
    unsigned waiting;
    unsigned running;
};

/* Of each kind: at once, and waiting for that. */
static const struct {
    unsigned running;
    unsigned waiting;
} places[API_KINDS] = {
    [API_REPLAY] = {1, 4},  [API_SAMPLE] = {1, 8}, [API_SCAN] = {2, 8},
    [API_COUNTS] = {1, 32}, [API_ASK] = {2, 16},   [API_SHOW] = {1, 32},
    [API_WRITE] = {1, 64},
};

struct api_pool {
    struct api *api;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t wake;
    bool stops;
    struct line line[API_KINDS];
    unsigned nthreads;
    pthread_t threads[WORKERS];
};

void api_work_free(struct api_work *w)
{
    config_release(&w->call.config);
    buf_fini(&w->call.answer.body);
    buf_fini(&w->bytes);
    free(w);
}

/* The next one that has a place. */
static struct api_work *take_work(struct api_pool *p, enum api_kind *retkind)
{
    for (int k = API_KINDS - 1; k > API_INLINE; k--) {
        struct line *l = &p->line[k];

        if (l->first != NULL && l->running < places[k].running) {
            struct api_work *w = l->first;

            l->first = w->next;
            l->last = l->first != NULL ? l->last : &l->first;
            l->waiting--;
            l->running++;
            *retkind = (enum api_kind)k;
            return w;
        }
    }
    return NULL;
}

static void *run_worker(void *context)
{
    struct api_pool *p = context;
    struct arena *arena = arena_new(WORK_ARENA);
    struct query *ask = query_new();
    enum api_kind kind = API_INLINE;

    (void)pthread_mutex_lock(&p->mutex);
    while (!p->stops) {
        struct api_work *w = take_work(p, &kind);

        if (w == NULL) {
            (void)pthread_cond_wait(&p->wake, &p->mutex);
            continue;
        }
        (void)pthread_mutex_unlock(&p->mutex);
        w->call.arena = arena;
        w->call.ask = ask;
        if (arena == NULL || ask == NULL) {
            api_refuse(&w->call, 503, "out of memory");
        } else if (kind == API_WRITE || !atomic_load(&w->is_gone)) {
            w->call.route->handler(&w->call);
            arena_reset(arena);
        }
        api_thread_return(w->home, w);
        (void)pthread_mutex_lock(&p->mutex);
        p->line[kind].running--;
        (void)pthread_cond_signal(&p->wake);
    }
    (void)pthread_mutex_unlock(&p->mutex);
    query_free(&ask);
    arena_free(&arena);
    return NULL;
}

/* Whether a client waits with such work already: one may run, and one may wait, which takes its
 * place when the client goes on to other settings. Under the lock. */
static bool is_waiting(const struct line *l, const struct api_work *w)
{
    for (const struct api_work *i = l->first; i != NULL; i = i->next) {
        if (!atomic_load(&i->is_gone) && strcmp(i->call.from, w->call.from) == 0 &&
            strcmp(i->call.who.name, w->call.who.name) == 0) {
            return true;
        }
    }
    return false;
}

bool api_pool_put(struct api_pool *p, struct api_work *w)
{
    enum api_kind kind = w->call.kind;
    struct line *l = &p->line[kind];

    (void)pthread_mutex_lock(&p->mutex);
    const bool is_replay = kind == API_REPLAY || kind == API_SAMPLE;
    bool has_place = l->waiting < places[kind].waiting && !p->stops &&
                     !(is_replay && is_waiting(l, w));

    if (has_place) {
        w->next = NULL;
        *l->last = w;
        l->last = &w->next;
        l->waiting++;
        (void)pthread_cond_signal(&p->wake);
    }
    (void)pthread_mutex_unlock(&p->mutex);
    return has_place;
}

enum err api_pool_new(struct api *a, struct api_pool **ret)
{
    struct api_pool *p = calloc(1, sizeof(*p));

    *ret = p;
    if (p == NULL) {
        return ERR_NOMEM;
    }
    p->api = a;
    (void)pthread_mutex_init(&p->mutex, NULL);
    (void)pthread_cond_init(&p->wake, NULL);
    for (int k = 0; k < API_KINDS; k++) {
        p->line[k].last = &p->line[k].first;
    }
    while (p->nthreads < WORKERS &&
           pthread_create(&p->threads[p->nthreads], NULL, run_worker, p) == 0) {
        p->nthreads++;
    }
    return p->nthreads == WORKERS ? ERR_OK : ERR_NOMEM;
}

void api_pool_free(struct api_pool **p)
{
    struct api_pool *x = *p;

    if (x == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&x->mutex);
    x->stops = true;
    (void)pthread_cond_broadcast(&x->wake);
    (void)pthread_mutex_unlock(&x->mutex);
    for (unsigned i = 0; i < x->nthreads; i++) {
        (void)pthread_join(x->threads[i], NULL);
    }
    for (int k = 0; k < API_KINDS; k++) {
        while (x->line[k].first != NULL) {
            struct api_work *w = x->line[k].first;

            x->line[k].first = w->next;
            api_work_free(w);
        }
    }
    (void)pthread_cond_destroy(&x->wake);
    (void)pthread_mutex_destroy(&x->mutex);
    free(x);
    *p = NULL;
}
