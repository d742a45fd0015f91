/* file - reading whole files, folders and locks. */
#include "core/base/file.h"

#include <stdarg.h>
#include <sys/file.h>

#include "core/base/dir_walk.h"
#include "core/base/file_internal.h"

enum { READ_CHUNK = 64 * 1024 };

enum err file_path(char dst[FILE_PATH_MAX], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(dst, FILE_PATH_MAX, format, args);
    va_end(args);
    return n < 0 || n >= FILE_PATH_MAX ? ERR_LIMIT : ERR_OK;
}

enum err path_make(char dst[FILE_PATH_MAX], struct errinfo *reterr, const char *format,
                   ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(dst, FILE_PATH_MAX, format, args);
    va_end(args);
    return n < 0 || n >= FILE_PATH_MAX
               ? errinfo_set(reterr, ERR_LIMIT, dst, 0, "the path is too long")
               : ERR_OK;
}

size_t file_read_at(int fd, uint64_t at, void *dst, size_t n)
{
    size_t done = 0;

    while (done < n) {
        ssize_t got = pread(fd, (char *)dst + done, n - done, (off_t)(at + done));
        if (got == 0) {
            errno = 0;
            break;
        }
        if (got < 0 && errno != EINTR) {
            break;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return done;
}

/* at: NULL writes at the file's position. */
static bool write_bytes(int fd, const uint64_t *at, struct slice bytes)
{
    size_t done = 0;

    while (done < bytes.n) {
        const char *p = bytes.p + done;
        ssize_t n = at == NULL ? write(fd, p, bytes.n - done)
                               : pwrite(fd, p, bytes.n - done, (off_t)(*at + done));
        if (n == 0) {
            errno = ENOSPC;
        }
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool file_write_all(int fd, struct slice bytes)
{
    return write_bytes(fd, NULL, bytes);
}

bool file_write_at(int fd, uint64_t at, struct slice bytes)
{
    return write_bytes(fd, &at, bytes);
}

void fd_close(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
    *fd = -1;
}

enum err file_sys_fail(struct errinfo *reterr, const char *path, const char *what)
{
    if (errno == ELOOP) {
        return errinfo_set(reterr, ERR_DENIED, path, 0,
                           "%s: it is a symbolic link, which is not followed here; "
                           "name the file itself",
                           what);
    }
    return errinfo_errno(reterr, path, what);
}

enum err file_sys_give(int fd, const char *path, struct errinfo *reterr)
{
    const char *slash = strrchr(path, '/');
    char dir[FILE_PATH_MAX];
    struct stat st;

    if (geteuid() != 0) {
        return ERR_OK;
    }
    if (file_path(dir, "%.*s", slash == NULL ? 1 : (int)(slash - path) + 1,
                  slash == NULL ? "." : path) != ERR_OK ||
        stat(dir, &st) != 0 || st.st_uid == 0 || (st.st_mode & S_ISGID) == 0) {
        return ERR_OK;
    }
    return fchown(fd, st.st_uid, st.st_gid) == 0
               ? ERR_OK
               : file_sys_fail(reterr, path, "cannot give it to the folder's owner");
}

enum err file_sys_open_regular(const char *path, int flags, int *retfd,
                               uint64_t *retsize, struct errinfo *reterr)
{
    /* O_NONBLOCK: a FIFO in the place of a file must not hang us. */
    int fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return file_sys_fail(reterr, path, "cannot open the file");
    }
    struct stat st;
    enum err e = ERR_OK;
    if (fstat(fd, &st) != 0) {
        e = file_sys_fail(reterr, path, "cannot examine the file");
    } else if (!S_ISREG(st.st_mode)) {
        e = errinfo_set(reterr, ERR_CORRUPT, path, 0, "not a regular file");
    }
    if (e != ERR_OK) {
        (void)close(fd);
        return e;
    }
    *retfd = fd;
    *retsize = (uint64_t)st.st_size;
    return ERR_OK;
}

ssize_t file_sys_read(int fd, void *dst, size_t n)
{
    ssize_t got = 0;
    do {
        got = read(fd, dst, n);
    } while (got < 0 && errno == EINTR);
    return got;
}

enum err file_read(const char *path, struct buf *retbuf, struct errinfo *reterr)
{
    int fd = -1;
    uint64_t size = 0;
    enum err e = file_sys_open_regular(path, O_RDONLY, &fd, &size, reterr);
    if (e != ERR_OK) {
        return e;
    }
    char chunk[READ_CHUNK];
    for (;;) {
        ssize_t got = file_sys_read(fd, chunk, sizeof(chunk));
        if (got < 0) {
            e = file_sys_fail(reterr, path, "cannot read the file");
        }
        if (got <= 0) {
            break;
        }
        buf_add(retbuf, slice_of(chunk, (size_t)got));
        if (buf_failed(retbuf)) {
            e = errinfo_set(reterr, ERR_LIMIT, path, 0,
                            "the file is larger than the %zu bytes allowed here",
                            retbuf->max);
            break;
        }
    }
    (void)close(fd);
    return e;
}

enum err file_sync_dir(const char *dir, struct errinfo *reterr)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return file_sys_fail(reterr, dir, "cannot open the folder");
    }
    enum err e = ERR_OK;
    if (fsync(fd) != 0) {
        e = file_sys_fail(reterr, dir, "cannot sync the folder to disk");
    }
    (void)close(fd);
    return e;
}

/* The umask may have taken bits away; a set-group-ID bit that the parent gave stays. systemd's
 * RestrictSUIDSGID forbids every call that names that bit, also where it is set: a service's folder
 * has it from its parent, or does not have it. */
static enum err set_up_dir(const char *dir, mode_t mode, struct errinfo *reterr)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    mode_t wanted = mode;
    enum err e = ERR_OK;

    if (fd < 0 || fstat(fd, &st) != 0) {
        e = file_sys_fail(reterr, dir, "cannot examine the folder");
    } else if ((wanted |= st.st_mode & (mode_t)07000) != (st.st_mode & (mode_t)07777) &&
               fchmod(fd, wanted) != 0 &&
               (errno != EPERM || fchmod(fd, wanted & 0777) != 0)) {
        e = file_sys_fail(reterr, dir, "cannot set the rights of the folder");
    } else {
        e = file_sys_give(fd, dir, reterr);
    }
    fd_close(&fd);
    return e;
}

enum err file_make_dir(const char *dir, mode_t mode, struct errinfo *reterr)
{
    struct stat st;
    if (mkdir(dir, mode & 0777) == 0) {
        return set_up_dir(dir, mode, reterr);
    }
    if (errno != EEXIST) {
        return file_sys_fail(reterr, dir, "cannot make the folder");
    }
    if (stat(dir, &st) != 0) {
        return file_sys_fail(reterr, dir, "cannot examine the folder");
    }
    if (!S_ISDIR(st.st_mode)) {
        return errinfo_set(reterr, ERR_EXISTS, dir, 0,
                           "a file lies where a folder is needed; move it away");
    }
    return ERR_OK;
}

/* Whether it was last written before that time; one that cannot be examined was not. */
static bool is_older(int dir, const char *name, time_t than)
{
    struct stat st;

    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_mtime < than;
}

enum err file_sweep_old_temps(const char *dir, unsigned age_s, struct errinfo *reterr)
{
    struct dir_walk w = dir_walk_begin(dir, DIR_NEEDED);
    enum err e = ERR_OK;
    time_t than = time(NULL) - (time_t)age_s;

    while (dir_walk_next(&w)) {
        struct slice name = slice_str(w.name);
        if (slice_has_suffix_nocase(name, SLICE_LIT(FILE_TEMP_SUFFIX)) &&
            (age_s == 0 || is_older(dirfd(w.dir), w.name, than)) &&
            unlinkat(dirfd(w.dir), w.name, 0) != 0 && errno != ENOENT &&
            errno != EISDIR && e == ERR_OK) {
            e = file_sys_fail(reterr, dir, "cannot remove a temporary file");
        }
    }
    return dir_walk_end(&w, e, reterr);
}

enum err file_sweep_temps(const char *dir, struct errinfo *reterr)
{
    return file_sweep_old_temps(dir, 0, reterr);
}

static enum err lock_file(struct filelock *l, const char *path, int how,
                          struct errinfo *reterr)
{
    const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY;
    l->fd = -1;
    int fd = open(path, flags | O_CREAT | O_EXCL, 0640);
    if (fd >= 0) {
        (void)file_sys_give(fd, path, NULL); /* who may not change it will say so */
    } else if (errno == EEXIST) {
        fd = open(path, flags);
    }
    if (fd < 0) {
        return file_sys_fail(reterr, path, "cannot open the lock file");
    }
    if (flock(fd, how | LOCK_NB) != 0) {
        enum err e =
            errno == EWOULDBLOCK
                ? errinfo_set(reterr, ERR_LOCKED, path, 0,
                              "another gillnet process holds this lock; let it "
                              "finish or stop it")
                : file_sys_fail(reterr, path, "cannot lock the file");
        (void)close(fd);
        return e;
    }
    l->fd = fd;
    return ERR_OK;
}

enum err filelock_take(struct filelock *l, const char *path, struct errinfo *reterr)
{
    return lock_file(l, path, LOCK_EX, reterr);
}

enum err filelock_share(struct filelock *l, const char *path, struct errinfo *reterr)
{
    return lock_file(l, path, LOCK_SH, reterr);
}

bool filelock_is_held(const char *path)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
    bool held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    fd_close(&fd);
    return held;
}

void filelock_drop(struct filelock *l)
{
    fd_close(&l->fd); /* the lock ends with the descriptor; the file stays */
}
