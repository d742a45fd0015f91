/* sigbus - one handler for the process, a table that it may read at any moment. */
#include "core/base/sigbus.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum {
    PAGE_MAX = 65536,
    ONES_MAX = 2 * 1024 * 1024, /* a filter of 100 GiB needs 51,200 mappings of these */
    /* that are replaced each for itself, then all of the range. Many ranges are only read, few are
     * written, and those lose what was written to replaced pages. */
    SINGLE_ONES = 8,
    SINGLE_ZEROS = 1024
};

/* begin is set last and cleared first; 0: free. */
struct range {
    _Atomic uintptr_t begin;
    _Atomic uintptr_t end;
    _Atomic enum sigbus_page kind;
    _Atomic unsigned replaced; /* times that a page was */
};

static struct range ranges[SIGBUS_RANGES];
static struct sigaction former;
static size_t page_bytes;
static unsigned char ones_page[PAGE_MAX];
static int ones = -1;              /* a memory file of ones */
static atomic_size_t ones_written; /* bytes of it */
static _Thread_local atomic_bool *section;
static pthread_mutex_t mutex =
    PTHREAD_MUTEX_INITIALIZER; /* guards all but reading `ranges` */

/* ---- the handler: only system calls and atomics ---- */

static struct range *find_range(uintptr_t at)
{
    for (size_t i = 0; i < SIGBUS_RANGES; i++) {
        uintptr_t begin = atomic_load(&ranges[i].begin);
        if (begin != 0 && at >= begin && at < atomic_load(&ranges[i].end)) {
            return &ranges[i];
        }
    }
    return NULL;
}

/* The bare calls: a wrapper (a sanitizer's, say) may do more than a handler may. */
static bool map_over(uintptr_t at, size_t n, int prot, int flags, int fd)
{
    return syscall(SYS_mmap, at, n, prot, flags | MAP_FIXED, fd, 0) != -1;
}

static bool map_zeros(uintptr_t at, size_t n)
{
    return map_over(at, n, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

/* The first n bytes of the memory file are there. Two threads may write the same ones. */
static bool ones_write(size_t n)
{
    size_t at = atomic_load(&ones_written);

    while (at < n) {
        long wrote = syscall(SYS_pwrite64, ones, ones_page,
                             n - at < PAGE_MAX ? n - at : (size_t)PAGE_MAX, at);
        if (wrote <= 0) {
            return false;
        }
        at += (size_t)wrote;
    }
    if (at > atomic_load(&ones_written)) {
        atomic_store(&ones_written, at);
    }
    return true;
}

/* The pages come full, so no thread ever reads zeros there. */
static bool map_ones(uintptr_t at, size_t n)
{
    bool is_done = ones_write(n < ONES_MAX ? n : (size_t)ONES_MAX);

    for (size_t done = 0; is_done && done < n; done += ONES_MAX) {
        size_t step = n - done < ONES_MAX ? n - done : (size_t)ONES_MAX;
        is_done = map_over(at + done, step, PROT_READ, MAP_SHARED, ones);
    }
    return is_done;
}

static bool replace(struct range *r, uintptr_t page)
{
    uintptr_t begin = atomic_load(&r->begin);
    size_t n = (atomic_load(&r->end) - begin + page_bytes - 1) & ~(page_bytes - 1);
    enum sigbus_page kind = atomic_load(&r->kind);

    /* first: who reads the new page must see the flag */
    if (atomic_fetch_add(&r->replaced, 1) <
        (kind == SIGBUS_ONES ? SINGLE_ONES : SINGLE_ZEROS)) {
        begin = page;
        n = page_bytes;
    }
    bool is_done = kind == SIGBUS_ONES ? map_ones(begin, n) : map_zeros(begin, n);
    /* again: the range may have got a sound mapping in between, and this lies over it */
    unsigned none = 0;
    (void)atomic_compare_exchange_strong(&r->replaced, &none, 1);
    return is_done;
}

static bool replace_at(uintptr_t at, int code)
{
    uintptr_t page = at & ~(uintptr_t)(page_bytes - 1);
    struct range *r = find_range(at);
    atomic_bool *damaged = section;

    if (r != NULL) {
        return replace(r, page);
    }
    if (damaged == NULL || code != BUS_ADRERR) {
        return false;
    }
    atomic_store(damaged, true);
    return map_zeros(page, page_bytes);
}

static void on_bus(int number, siginfo_t *info, void *context)
{
    int kept = errno;

    if (info->si_code > 0 && replace_at((uintptr_t)info->si_addr, info->si_code)) {
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

/* ---- setting up ---- */

/* With the mutex held. */
static enum err ones_make(void)
{
    long size = sysconf(_SC_PAGESIZE);
    if (ones >= 0) {
        return ERR_OK;
    }
    if (size <= 0 || size > PAGE_MAX) {
        return ERR_UNSUPPORTED;
    }
    page_bytes = (size_t)size;
    memset(ones_page, 0xff, sizeof(ones_page));
    ones = memfd_create("gillnet-ones", MFD_CLOEXEC);
    if (ones < 0 || !ones_write(page_bytes)) {
        if (ones >= 0) {
            (void)close(ones);
            ones = -1;
        }
        return ERR_IO;
    }
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

static enum err range_take(const void *p, size_t n, enum sigbus_page kind)
{
    for (size_t i = 0; i < SIGBUS_RANGES; i++) {
        if (atomic_load(&ranges[i].begin) == 0) {
            atomic_store(&ranges[i].end, (uintptr_t)p + n);
            atomic_store(&ranges[i].kind, kind);
            atomic_store(&ranges[i].replaced, 0);
            atomic_store(&ranges[i].begin, (uintptr_t)p);
            return ERR_OK;
        }
    }
    return ERR_LIMIT;
}

static enum err get_ready(void)
{
    enum err e = ones_make();

    return e == ERR_OK ? handler_set() : e;
}

/* ---- ranges ---- */

enum err sigbus_add(const void *p, size_t n, enum sigbus_page kind)
{
    pthread_mutex_lock(&mutex);
    enum err e = get_ready();
    THEN(e, range_take(p, n, kind));
    pthread_mutex_unlock(&mutex);
    return e;
}

static struct range *range_of(const void *p)
{
    for (size_t i = 0; i < SIGBUS_RANGES; i++) {
        if (atomic_load(&ranges[i].begin) == (uintptr_t)p) {
            return &ranges[i];
        }
    }
    return NULL;
}

void sigbus_remove(const void *p)
{
    struct range *r = range_of(p);

    if (r != NULL) {
        atomic_store(&r->begin, 0);
    }
}

bool sigbus_is_damaged(const void *p)
{
    const struct range *r = range_of(p);

    return r != NULL && atomic_load(&r->replaced) > 0;
}

void sigbus_clear(const void *p)
{
    struct range *r = range_of(p);

    if (r != NULL) {
        atomic_store(&r->replaced, 0);
    }
}

/* ---- sections ---- */

enum err sigbus_prepare(void)
{
    pthread_mutex_lock(&mutex);
    enum err e = get_ready();
    pthread_mutex_unlock(&mutex);
    return e;
}

atomic_bool *sigbus_enter(atomic_bool *damaged)
{
    atomic_bool *before = section;

    section = damaged;
    /* the compiler must not touch the pages first */
    atomic_signal_fence(memory_order_seq_cst);
    return before;
}

void sigbus_leave(atomic_bool *before)
{
    atomic_signal_fence(memory_order_seq_cst);
    section = before;
}
