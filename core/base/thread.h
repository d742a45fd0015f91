/*
 * thread - starting a thread that gets no signals, and waiting for another one.
 *
 * Signals are for the threads that wait for them (milter/signals.h, the hub's event loop).
 */
#ifndef CORE_BASE_THREAD_H
#define CORE_BASE_THREAD_H

#include <pthread.h>

#include "core/base/std.h"

/* pthread_create with all signals but SIGBUS (sigbus.h) blocked in the new thread. Returns 0 or an
 * errno value. */
int thread_start(pthread_t *ret, void *(*run)(void *), void *context);

/* The moment in ms milliseconds, by a clock that nobody sets: a wait by the time of day lasts an
 * hour longer if that is set back meanwhile. */
struct timespec thread_deadline(unsigned ms);
/* Waits for the condition, with its mutex, until then at the latest. False: that is over. */
bool thread_wait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                 const struct timespec *until);

#endif
