/*
 * fault_calls - a library to preload: makes calls that touch files fail, wait or be the last one,
 * memory run out, and the clock jump, as a mapped file of orders says at any moment.
 *
 * FAULT_ORDERS names that file (struct orders, written by faults_calls.py); FAULT_ROOT is a folder:
 * only calls on files in it are counted. All processes that map the file share its counter.
 * Calls that libc makes inside itself (stdio) are not seen.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind {
    KIND_WRITE = 1,
    KIND_SYNC = 2,
    KIND_SIZE = 4, /* ftruncate, fallocate */
    KIND_NAME = 8, /* rename, unlink, mkdir, link, an open that creates or empties */
    KIND_READ = 16,
    KIND_MEMORY = 32
};

enum action { ACTION_NONE, ACTION_KILL, ACTION_FAIL, ACTION_WAIT };

struct orders {
    _Atomic uint64_t calls; /* of the kinds below, so far */
    _Atomic uint64_t kinds; /* that are counted */
    _Atomic uint64_t first; /* number of the first call that is hit, from 1 */
    _Atomic uint64_t last;
    _Atomic uint64_t action;
    _Atomic uint64_t value;  /* errno, or ms */
    _Atomic int64_t clock_s; /* added to the time of day */
};

static struct orders *orders;
static char root[PATH_MAX];
static size_t nroot;

/* NOLINTBEGIN: names of glibc for its own allocation, without dlsym, and for read where it checks sizes */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t m);
extern void *__libc_realloc(void *p, size_t n);
ssize_t __read_chk(int fd, void *p, size_t n, size_t room);
ssize_t __pread_chk(int fd, void *p, size_t n, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *p, size_t n, off_t at, size_t room);
/* NOLINTEND */

__attribute__((constructor)) static void start(void)
{
    const char *file =
        getenv("FAULT_ORDERS"); /* NOLINT(concurrency-mt-unsafe): before main */
    const char *below = getenv("FAULT_ROOT"); /* NOLINT(concurrency-mt-unsafe) */
    if (!file || !below || strlen(below) >= sizeof(root)) {
        return;
    }
    nroot = strlen(below);
    memcpy(root, below, nroot + 1);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0);
    void *p =
        fd < 0 ? MAP_FAILED
               : mmap(NULL, sizeof(*orders), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        _exit(99);
    }
    (void)syscall(SYS_close, fd);
    orders = p;
}

static void *real(const char *name)
{
    void *p = dlsym(RTLD_NEXT, name);
    if (!p) {
        _exit(99);
    }
    return p;
}

/* Counts a call; true: it must fail, and errno says how. */
static bool is_hit(enum kind kind)
{
    if (!orders || !(atomic_load(&orders->kinds) & kind)) {
        return false;
    }
    uint64_t n = atomic_fetch_add(&orders->calls, 1) + 1;
    if (n < atomic_load(&orders->first) || n > atomic_load(&orders->last)) {
        return false;
    }
    uint64_t value = atomic_load(&orders->value);
    struct timespec rest = {(time_t)(value / 1000), (long)(value % 1000) * 1000000};
    switch ((enum action)atomic_load(&orders->action)) {
    case ACTION_KILL:
        (void)kill(getpid(), SIGKILL);
        return false;
    case ACTION_WAIT:
        (void)nanosleep(&rest, NULL);
        return false;
    case ACTION_FAIL:
        errno = (int)value;
        return true;
    case ACTION_NONE:
        break;
    }
    return false;
}

static bool is_ours(const char *path)
{
    return strncmp(path, root, nroot) == 0;
}

static bool is_ours_fd(int fd)
{
    char link[64];
    char path[PATH_MAX];
    int kept = errno;
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof(path) - 1);
    errno = kept;
    if (n < 0) {
        return false;
    }
    path[n] = '\0';
    return is_ours(path);
}

static bool fd_hit(int fd, enum kind kind)
{
    return orders && (atomic_load(&orders->kinds) & kind) && is_ours_fd(fd) &&
           is_hit(kind);
}

/* A name below an open folder, or a whole path. */
static bool name_hit(int dir, const char *path)
{
    return orders && (atomic_load(&orders->kinds) & KIND_NAME) &&
           (path[0] == '/' ? is_ours(path) : dir != AT_FDCWD && is_ours_fd(dir)) &&
           is_hit(KIND_NAME);
}

#define WRAPPED(type, name, parameters, arguments, hit, failed) \
    type name parameters                                        \
    {                                                           \
        type(*of_libc) parameters;                              \
        void *found = real(#name);                              \
        memcpy(&of_libc, &found, sizeof(found));                \
        return (hit) ? (failed) : of_libc arguments;            \
    }

#define ON_FD(type, name, kind, parameters, arguments) \
    WRAPPED(type, name, parameters, arguments, fd_hit(fd, kind), -1)

#pragma GCC visibility push(default)
ON_FD(ssize_t, write, KIND_WRITE, (int fd, const void *p, size_t n), (fd, p, n))
ON_FD(ssize_t, writev, KIND_WRITE, (int fd, const struct iovec *v, int n), (fd, v, n))
ON_FD(ssize_t, pwrite, KIND_WRITE, (int fd, const void *p, size_t n, off_t at),
      (fd, p, n, at))
ON_FD(ssize_t, pwrite64, KIND_WRITE, (int fd, const void *p, size_t n, off_t at),
      (fd, p, n, at))
ON_FD(ssize_t, pwritev, KIND_WRITE, (int fd, const struct iovec *v, int n, off_t at),
      (fd, v, n, at))
ON_FD(ssize_t, pwritev64, KIND_WRITE, (int fd, const struct iovec *v, int n, off_t at),
      (fd, v, n, at))
ON_FD(int, fsync, KIND_SYNC, (int fd), (fd))
ON_FD(int, fdatasync, KIND_SYNC, (int fd), (fd))
ON_FD(int, ftruncate, KIND_SIZE, (int fd, off_t size), (fd, size))
ON_FD(int, ftruncate64, KIND_SIZE, (int fd, off_t size), (fd, size))
ON_FD(int, fallocate, KIND_SIZE, (int fd, int mode, off_t at, off_t n),
      (fd, mode, at, n))
ON_FD(int, fallocate64, KIND_SIZE, (int fd, int mode, off_t at, off_t n),
      (fd, mode, at, n))
WRAPPED(int, posix_fallocate, (int fd, off_t at, off_t n), (fd, at, n),
        fd_hit(fd, KIND_SIZE), errno)
WRAPPED(int, posix_fallocate64, (int fd, off_t at, off_t n), (fd, at, n),
        fd_hit(fd, KIND_SIZE), errno)
ON_FD(ssize_t, read, KIND_READ, (int fd, void *p, size_t n), (fd, p, n))
ON_FD(ssize_t, pread, KIND_READ, (int fd, void *p, size_t n, off_t at), (fd, p, n, at))
ON_FD(ssize_t, pread64, KIND_READ, (int fd, void *p, size_t n, off_t at),
      (fd, p, n, at))
ON_FD(ssize_t, __read_chk, KIND_READ, (int fd, void *p, size_t n, size_t room),
      (fd, p, n, room))
ON_FD(ssize_t, __pread_chk, KIND_READ,
      (int fd, void *p, size_t n, off_t at, size_t room), (fd, p, n, at, room))
ON_FD(ssize_t, __pread64_chk, KIND_READ,
      (int fd, void *p, size_t n, off_t at, size_t room), (fd, p, n, at, room))

WRAPPED(int, rename, (const char *from, const char *to), (from, to),
        name_hit(AT_FDCWD, to), -1)
WRAPPED(int, renameat, (int from_dir, const char *from, int to_dir, const char *to),
        (from_dir, from, to_dir, to), name_hit(to_dir, to), -1)
WRAPPED(int, renameat2,
        (int from_dir, const char *from, int to_dir, const char *to, unsigned flags),
        (from_dir, from, to_dir, to, flags), name_hit(to_dir, to), -1)
WRAPPED(int, link, (const char *from, const char *to), (from, to),
        name_hit(AT_FDCWD, to), -1)
WRAPPED(int, linkat,
        (int from_dir, const char *from, int to_dir, const char *to, int flags),
        (from_dir, from, to_dir, to, flags), name_hit(to_dir, to), -1)
WRAPPED(int, unlink, (const char *path), (path), name_hit(AT_FDCWD, path), -1)
WRAPPED(int, unlinkat, (int dir, const char *path, int flags), (dir, path, flags),
        name_hit(dir, path), -1)
WRAPPED(int, mkdir, (const char *path, mode_t mode), (path, mode),
        name_hit(AT_FDCWD, path), -1)
WRAPPED(int, mkdirat, (int dir, const char *path, mode_t mode), (dir, path, mode),
        name_hit(dir, path), -1)

static int opened(int dir, const char *path, int flags, mode_t mode)
{
    if ((flags & (O_CREAT | O_TRUNC)) && name_hit(dir, path)) {
        return -1;
    }
    return (int)syscall(SYS_openat, dir, path, flags, mode);
}

#define OPENS(name, parameters, dir)                                            \
    int name parameters                                                         \
    {                                                                           \
        va_list rest;                                                           \
        va_start(rest, flags);                                                  \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
        va_end(rest);                                                           \
        return opened(dir, path, flags, mode);                                  \
    }
OPENS(open, (const char *path, int flags, ...), AT_FDCWD)
OPENS(open64, (const char *path, int flags, ...), AT_FDCWD)
OPENS(openat, (int dir, const char *path, int flags, ...), dir)
OPENS(openat64, (int dir, const char *path, int flags, ...), dir)

void *malloc(size_t n)
{
    return is_hit(KIND_MEMORY) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t m)
{
    return is_hit(KIND_MEMORY) ? NULL : __libc_calloc(n, m);
}

void *realloc(void *p, size_t n)
{
    return is_hit(KIND_MEMORY) ? NULL : __libc_realloc(p, n);
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    int result = (int)syscall(SYS_clock_gettime, clock, t);
    if (result == 0 && orders &&
        (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        t->tv_sec += atomic_load(&orders->clock_s);
    }
    return result;
}

time_t time(time_t *at)
{
    struct timespec t = {0, 0};
    (void)clock_gettime(CLOCK_REALTIME, &t);
    if (at) {
        *at = t.tv_sec;
    }
    return t.tv_sec;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now = {0, 0};
    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}
#pragma GCC visibility pop
