#include "core/base/ticker.h"

/* True: go on. */
static bool rest(struct ticker *t)
{
    const struct timespec until = thread_deadline(t->rest_ms);

    (void)pthread_mutex_lock(&t->lock);
    while (!t->stops && !t->is_called && thread_wait(&t->wake, &t->lock, &until)) {
    }
    t->is_called = false;
    const bool goes_on = !t->stops;
    (void)pthread_mutex_unlock(&t->lock);
    return goes_on;
}

static void *run_ticker(void *context)
{
    struct ticker *t = context;

    do {
        t->fn(t->context);
    } while (rest(t));
    return NULL;
}

bool ticker_start(struct ticker *t, void (*fn)(void *context), void *context,
                  unsigned rest_ms)
{
    *t = (struct ticker){.fn = fn, .context = context, .rest_ms = rest_ms};
    (void)pthread_mutex_init(&t->lock, NULL);
    (void)pthread_cond_init(&t->wake, NULL);
    t->is_started = thread_start(&t->thread, run_ticker, t) == 0;
    return t->is_started;
}

void ticker_call(struct ticker *t)
{
    (void)pthread_mutex_lock(&t->lock);
    t->is_called = true;
    (void)pthread_cond_signal(&t->wake);
    (void)pthread_mutex_unlock(&t->lock);
}

bool ticker_stops(struct ticker *t)
{
    (void)pthread_mutex_lock(&t->lock);
    const bool stops = t->stops;
    (void)pthread_mutex_unlock(&t->lock);
    return stops;
}

void ticker_stop(struct ticker *t)
{
    if (t->is_started) {
        (void)pthread_mutex_lock(&t->lock);
        t->stops = true;
        (void)pthread_cond_signal(&t->wake);
        (void)pthread_mutex_unlock(&t->lock);
        (void)pthread_join(t->thread, NULL);
        t->is_started = false;
    }
    if (t->fn != NULL) {
        (void)pthread_cond_destroy(&t->wake);
        (void)pthread_mutex_destroy(&t->lock);
        t->fn = NULL;
    }
}
