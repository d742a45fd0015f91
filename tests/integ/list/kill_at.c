/*
 * kill_at - a library to preload: counts the calls that change files, and kills at one of them.
 *
 * KILL_AT=N: SIGKILL to the process before its N-th call, or after it with KILL_AFTER=1, so that
 * a state on disk is named by a number; with KILL_NAMES=1 only calls that change names count.
 * KILL_COUNT=FILE: each call adds a byte to FILE, 'n' those that change names, '.' the others.
 * Calls are counted across threads.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;
static long kill_at;
static bool kills_after;
static bool counts_names;
static int count_fd = -1;

__attribute__((constructor)) static void start(void)
{
    const char *at = getenv("KILL_AT"); /* NOLINT(concurrency-mt-unsafe): before main */
    const char *after = getenv("KILL_AFTER"); /* NOLINT(concurrency-mt-unsafe) */
    const char *count = getenv("KILL_COUNT"); /* NOLINT(concurrency-mt-unsafe) */
    const char *names = getenv("KILL_NAMES"); /* NOLINT(concurrency-mt-unsafe) */
    kill_at = at ? strtol(at, NULL, 10) : 0;
    kills_after = after != NULL;
    counts_names = names != NULL;
    count_fd =
        count ? open(count, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
}

static void *real(const char *name)
{
    void *p = dlsym(RTLD_NEXT, name);
    if (!p) {
        _exit(99);
    }
    return p;
}

/* Number of this call, 0: not counted; kills before it where that is asked for. */
static long before(bool is_name)
{
    if (count_fd >= 0 && write(count_fd, is_name ? "n" : ".", 1) != 1) {
        _exit(99);
    }
    if (counts_names && !is_name) {
        return 0;
    }
    long n = atomic_fetch_add(&calls, 1) + 1;
    if (n == kill_at && !kills_after) {
        (void)kill(getpid(), SIGKILL);
    }
    return n;
}

static void after(long n)
{
    if (n > 0 && n == kill_at && kills_after) {
        (void)kill(getpid(), SIGKILL);
    }
}

#define COUNTED(is_name, type, name, parameters, arguments) \
    type name parameters                                    \
    {                                                       \
        type(*of_libc) parameters;                          \
        void *found = real(#name);                          \
        memcpy(&of_libc, &found, sizeof(found));            \
        long number = before(is_name);                      \
        type result = of_libc arguments;                    \
        after(number);                                      \
        return result;                                      \
    }

#pragma GCC visibility push(default)
COUNTED(true, int, rename, (const char *from, const char *to), (from, to))
COUNTED(true, int, unlink, (const char *path), (path))
COUNTED(false, int, fsync, (int fd), (fd))
COUNTED(false, int, fdatasync, (int fd), (fd))
COUNTED(false, int, ftruncate, (int fd, off_t size), (fd, size))
COUNTED(false, ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at),
        (fd, p, n, at))
#pragma GCC visibility pop
