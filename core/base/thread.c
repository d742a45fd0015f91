/* thread - the mask is inherited: it is set before the thread is made, then put back. */
#include "core/base/thread.h"

#include <signal.h>

#include "core/base/std.h"

int thread_start(pthread_t *ret, void *(*run)(void *), void *context)
{
    sigset_t all;
    sigset_t before;
    int errnum = 0;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    errnum = pthread_create(ret, NULL, run, context);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return errnum;
}
