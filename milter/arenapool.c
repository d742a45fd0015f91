#include "milter/arenapool.h"

#include <pthread.h>

static struct {
    pthread_mutex_t lock; /* guards: all below */
    size_t cap_bytes;     /* of every arena here */
    size_t n;
    struct arena *v[ARENAPOOL_MAX];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct arena *arenapool_take(size_t cap_bytes)
{
    struct arena *a = NULL;
    pthread_mutex_lock(&pool.lock);
    if (pool.n > 0 && pool.cap_bytes == cap_bytes) {
        a = pool.v[--pool.n];
    }
    pthread_mutex_unlock(&pool.lock);
    return a ? a : arena_new(cap_bytes);
}

void arenapool_give(struct arena **a, size_t cap_bytes)
{
    if (!*a) {
        return;
    }
    arena_reset(*a);
    pthread_mutex_lock(&pool.lock);
    if (pool.n == 0) {
        pool.cap_bytes = cap_bytes; /* a reload may have changed the cap */
    }
    if (pool.cap_bytes == cap_bytes && pool.n < ARENAPOOL_MAX) {
        pool.v[pool.n++] = *a;
        *a = NULL;
    }
    pthread_mutex_unlock(&pool.lock);
    arena_free(a);
}

void arenapool_clear(void)
{
    for (;;) {
        struct arena *a = NULL;
        pthread_mutex_lock(&pool.lock);
        if (pool.n > 0) {
            a = pool.v[--pool.n];
        }
        pthread_mutex_unlock(&pool.lock);
        if (!a) {
            return;
        }
        arena_free(&a);
    }
}
