/*
 * thread - starting a thread that gets no signals.
 *
 * Signals are for the threads that wait for them (milter/signals.h, the hub's event loop).
 */
#ifndef CORE_BASE_THREAD_H
#define CORE_BASE_THREAD_H

#include <pthread.h>

/* pthread_create with all signals blocked in the new thread. Returns 0 or an errno value. */
int thread_start(pthread_t *ret, void *(*run)(void *), void *context);

#endif
