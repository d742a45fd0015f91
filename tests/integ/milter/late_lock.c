/*
 * late_lock - preloaded into gillnetd: libmilter's first steps in the main thread take a second.
 *
 * Between "am I to stop?" and the look at its socket libmilter takes a lock. With a pause before
 * each of its first locks, a stop at any moment of that second falls between the two.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAUSES = 8, PAUSE_US = 150 * 1000 };

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*next)(pthread_mutex_t *);
    static int paused; /* by the main thread alone */
    Dl_info caller;
    if (!next) {
        *(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    }
    if (getpid() == syscall(SYS_gettid) && paused < PAUSES &&
        dladdr(__builtin_return_address(0), &caller) && caller.dli_fname &&
        strstr(caller.dli_fname, "libmilter")) {
        paused++;
        (void)usleep(PAUSE_US);
    }
    return next(mutex);
}
