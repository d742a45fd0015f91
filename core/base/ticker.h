/*
 * ticker - a thread that calls a function, rests, and calls it again.
 *
 * Threads: ticker_start and ticker_stop by the owner; the others from any thread.   Owns: the
 * thread.
 */
#ifndef CORE_BASE_TICKER_H
#define CORE_BASE_TICKER_H

#include "core/base/thread.h"

struct ticker {
    pthread_mutex_t lock; /* guards: stops, is_called */
    pthread_cond_t wake;
    bool stops;
    bool is_called;
    bool is_started;
    pthread_t thread;
    void (*fn)(void *context);
    void *context;
    unsigned rest_ms;
};

/* False: no thread can be made. Call ticker_stop in any case; before, an all-zero ticker may be
 * stopped, too. */
bool ticker_start(struct ticker *t, void (*fn)(void *context), void *context,
                  unsigned rest_ms);
/* The rest ends now. */
void ticker_call(struct ticker *t);
/* Whether it is to stop: for a function that takes long. */
bool ticker_stops(struct ticker *t);
/* Waits for the end of the function. */
void ticker_stop(struct ticker *t);

#endif
