/* sigbus - one handler for the process, a table that it may read at any moment. */
#include "core/filter/sigbus.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { PAGE_MAX = 65536 };

/* begin is set last and cleared first; 0: free. */
struct range {
    _Atomic uintptr_t begin;
    _Atomic uintptr_t end;
};

static struct range ranges[SIGBUS_RANGES];
static struct sigaction former;
static size_t page_bytes;
static int ones = -1; /* a memory file of one page of ones */
static pthread_mutex_t mutex =
    PTHREAD_MUTEX_INITIALIZER; /* guards all but reading `ranges` */

static bool is_guarded(uintptr_t at)
{
    for (size_t i = 0; i < SIGBUS_RANGES; i++) {
        uintptr_t begin = atomic_load(&ranges[i].begin);
        if (begin != 0 && at >= begin && at < atomic_load(&ranges[i].end)) {
            return true;
        }
    }
    return false;
}

/* Only system calls and atomics here. The page comes full, so no thread ever reads zeros there. */
static void on_bus(int number, siginfo_t *info, void *context)
{
    int kept = errno;
    uintptr_t at = (uintptr_t)info->si_addr;
    uintptr_t page = at & ~(uintptr_t)(page_bytes - 1);
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): the address of the fault */
    void *p = (void *)page;
    /* the bare call: a wrapper (a sanitizer's, say) may do more than a handler may */
    if (info->si_code > 0 && is_guarded(at) &&
        syscall(SYS_mmap, p, page_bytes, PROT_READ, MAP_SHARED | MAP_FIXED, ones, 0) !=
            -1) {
        errno = kept;
        return;
    }
    if ((former.sa_flags & SA_SIGINFO) != 0 && former.sa_sigaction) {
        former.sa_sigaction(number, info, context);
    } else {
        (void)sigaction(SIGBUS, &former, NULL); /* it happens again at once */
    }
    errno = kept;
}

/* With the mutex held. */
static enum err ones_make(void)
{
    static char page[PAGE_MAX];
    long size = sysconf(_SC_PAGESIZE);
    if (ones >= 0) {
        return ERR_OK;
    }
    if (size <= 0 || size > PAGE_MAX) {
        return ERR_UNSUPPORTED;
    }
    page_bytes = (size_t)size;
    memset(page, 0xff, page_bytes);
    int fd = memfd_create("gillnet-ones", MFD_CLOEXEC);
    if (fd < 0 || write(fd, page, page_bytes) != (ssize_t)page_bytes) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return ERR_IO;
    }
    ones = fd;
    return ERR_OK;
}

/* Called for each range, because other code may have replaced the handler. With the mutex held. */
static enum err handler_set(void)
{
    struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO};
    struct sigaction now;
    (void)sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, NULL, &now) != 0) {
        return ERR_IO;
    }
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_bus) {
        return ERR_OK;
    }
    former = now;
    return sigaction(SIGBUS, &action, NULL) == 0 ? ERR_OK : ERR_IO;
}

static enum err range_take(const void *p, size_t n)
{
    for (size_t i = 0; i < SIGBUS_RANGES; i++) {
        if (atomic_load(&ranges[i].begin) == 0) {
            atomic_store(&ranges[i].end, (uintptr_t)p + n);
            atomic_store(&ranges[i].begin, (uintptr_t)p);
            return ERR_OK;
        }
    }
    return ERR_LIMIT;
}

enum err sigbus_add(const void *p, size_t n)
{
    pthread_mutex_lock(&mutex);
    enum err e = ones_make();
    THEN(e, handler_set());
    THEN(e, range_take(p, n));
    pthread_mutex_unlock(&mutex);
    return e;
}

void sigbus_remove(const void *p)
{
    for (size_t i = 0; i < SIGBUS_RANGES; i++) {
        if (atomic_load(&ranges[i].begin) == (uintptr_t)p) {
            atomic_store(&ranges[i].begin, 0);
            return;
        }
    }
}
