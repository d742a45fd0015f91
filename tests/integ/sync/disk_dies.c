/* disk_dies - the system's calls, asked for by number where they are allowed. */
#include "tests/integ/sync/disk_dies.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define VISIBLE __attribute__((visibility("default")))

static uint64_t left; /* 0: no end */
static bool is_dead;
static uint64_t ncalls;

void disk_dies_after(uint64_t calls)
{
    left = calls;
    is_dead = false;
}

bool disk_lives(void)
{
    const bool was = is_dead;
    is_dead = false;
    left = 0;
    return was;
}

uint64_t disk_calls(void)
{
    return ncalls;
}

enum fate { DONE, IN_PART, NOT_DONE };
static enum fate fate(void)
{
    ncalls++;
    if (is_dead) {
        errno = EIO;
        return NOT_DONE;
    }
    if (left > 0 && --left == 0) {
        is_dead = true;
        errno = EIO;
        return IN_PART;
    }
    return DONE;
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
VISIBLE ssize_t write(int fd, const void *p, size_t n)
{
    if (fd <= 2) {
        return syscall(SYS_write, fd, p, n);
    }
    enum fate f = fate();
    if (f == NOT_DONE) {
        return -1;
    }
    if (f == IN_PART) {
        (void)syscall(SYS_write, fd, p, n / 2);
        errno = EIO;
        return -1;
    }
    return syscall(SYS_write, fd, p, n);
}

VISIBLE ssize_t pwrite(int fd, const void *p, size_t n, off_t offset)
{
    enum fate f = fate();
    if (f == NOT_DONE) {
        return -1;
    }
    if (f == IN_PART) {
        (void)syscall(SYS_pwrite64, fd, p, n / 2, offset);
        errno = EIO;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, p, n, offset);
}

VISIBLE ssize_t pwrite64(int fd, const void *p, size_t n, off_t offset)
{
    return pwrite(fd, p, n, offset);
}

VISIBLE ssize_t writev(int fd, const struct iovec *v, int n)
{
    return fate() == DONE ? syscall(SYS_writev, fd, v, n) : -1;
}

VISIBLE ssize_t pwritev(int fd, const struct iovec *v, int n, off_t offset)
{
    return fate() == DONE ? syscall(SYS_pwritev, fd, v, n, offset, 0) : -1;
}

VISIBLE int fsync(int fd)
{
    (void)fd;
    return fate() == DONE ? 0 : -1; /* the machine still runs, so written bytes stay */
}

VISIBLE int fdatasync(int fd)
{
    (void)fd;
    return fate() == DONE ? 0 : -1;
}

VISIBLE int rename(const char *from, const char *to)
{
    return fate() == DONE ? (int)syscall(SYS_rename, from, to) : -1;
}

VISIBLE int unlink(const char *path)
{
    return fate() == DONE ? (int)syscall(SYS_unlink, path) : -1;
}

VISIBLE int rmdir(const char *path)
{
    return fate() == DONE ? (int)syscall(SYS_rmdir, path) : -1;
}

VISIBLE int mkdir(const char *path, mode_t mode)
{
    return fate() == DONE ? (int)syscall(SYS_mkdir, path, mode) : -1;
}

VISIBLE int ftruncate(int fd, off_t size)
{
    return fate() == DONE ? (int)syscall(SYS_ftruncate, fd, size) : -1;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
