/* thread - the mask of signals is inherited: it is set before the thread is made, then put back. */
#include "core/base/thread.h"

#include <signal.h>

enum { MS_PER_S = 1000, NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

int thread_start(pthread_t *ret, void *(*run)(void *), void *context)
{
    sigset_t all;
    sigset_t before;
    int errnum = 0;

    (void)sigfillset(&all);
    (void)sigdelset(&all,
                    SIGBUS); /* where it is blocked, a page that is cut off kills */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    errnum = pthread_create(ret, NULL, run, context);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return errnum;
}

struct timespec thread_deadline(unsigned ms)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += (long)(ms % MS_PER_S) * NS_PER_MS;
    t.tv_sec += ms / MS_PER_S + t.tv_nsec / NS_PER_S;
    t.tv_nsec %= NS_PER_S;
    return t;
}

bool thread_wait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                 const struct timespec *until)
{
    return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, until) == 0;
}
