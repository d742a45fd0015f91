/* file_out - files that appear whole or not at all. */

#include "core/base/file.h"
#include "core/base/file_internal.h"
#include "core/base/random.h"

enum {
    PENDING_MAX = 256 * 1024,
    TEMP_TRIES = 16 /* names are 64 random bits: one collision is already a fault */
};

/* A rename would replace a device or a socket as readily as a file: as root, /dev/null. */
static enum err check_place(const char *path, struct errinfo *reterr)
{
    struct stat st;
    if (lstat(path, &st) != 0 ||
        !(S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode) || S_ISSOCK(st.st_mode))) {
        return ERR_OK; /* what cannot be seen, making the temporary will tell */
    }
    return errinfo_set(
        reterr, ERR_CORRUPT, path, 0,
        "a device or a socket, so it is not replaced; name another file");
}

static enum err set_up(int *fd, const char *temp, const char *path, mode_t mode,
                       struct errinfo *reterr)
{
    enum err e = fchmod(*fd, mode) == 0 /* whatever the umask took away */
                     ? file_sys_give(*fd, path, reterr)
                     : file_sys_fail(reterr, path, "cannot set the file's rights");
    if (e != ERR_OK) {
        fd_close(fd);
        (void)unlink(temp);
    }
    return e;
}

/* Makes a new file beside path under a name nobody else has; temp gets the name. */
static enum err make_temp(const char *path, mode_t mode, char temp[FILE_PATH_MAX],
                          int *retfd, struct errinfo *reterr)
{
    enum err placed = check_place(path, reterr);
    if (placed != ERR_OK) {
        return placed;
    }
    for (int i = 0; i < TEMP_TRIES; i++) {
        uint64_t name = 0;
        random_bytes(&name, sizeof(name));
        enum err e =
            path_make(temp, reterr, "%s.%016" PRIx64 FILE_TEMP_SUFFIX, path, name);
        if (e != ERR_OK) {
            return e;
        }
        *retfd = open(temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (*retfd >= 0) {
            return set_up(retfd, temp, path, mode, reterr);
        }
        if (errno != EEXIST) {
            return file_sys_fail(reterr, path,
                                 "cannot make a temporary file beside it");
        }
    }
    return errinfo_set(reterr, ERR_EXISTS, path, 0,
                       "cannot find a free name for a temporary file beside it");
}

/* fsync of the folder that path lies in. */
static enum err sync_parent(const char *path, struct errinfo *reterr)
{
    char dir[FILE_PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!slash) {
        return file_sync_dir(".", reterr);
    }
    int n = slash == path ? 1 : (int)(slash - path);
    enum err e = path_make(dir, reterr, "%.*s", n, path);
    return THEN(e, file_sync_dir(dir, reterr));
}

enum err file_exchange(const char *fresh, const char *path, struct errinfo *reterr)
{
    if (renameat2(AT_FDCWD, fresh, AT_FDCWD, path, RENAME_EXCHANGE) != 0) {
        return file_sys_fail(reterr, path,
                             "cannot put the new file or folder in its place");
    }
    enum err e = sync_parent(path, reterr);
    return THEN(e, sync_parent(fresh, reterr));
}

/* Everything between the last byte and the new name. fsync is called once: after a failure the
 * kernel may have dropped the pages, and a second call would lie. */
static enum err sync_and_rename(int fd, const char *temp, const char *path,
                                struct errinfo *reterr)
{
    if (fsync(fd) != 0) {
        return file_sys_fail(reterr, path, "cannot sync the file to disk");
    }
    if (rename(temp, path) != 0) {
        return file_sys_fail(reterr, path, "cannot put the new file in place");
    }
    return sync_parent(path, reterr);
}

static enum err write_at(int fd, uint64_t offset, struct slice bytes)
{
    return file_write_at(fd, offset, bytes) ? ERR_OK : err_of_errno(errno);
}

enum err file_out_open(struct file_out *f, const char *path, mode_t mode,
                       struct errinfo *reterr)
{
    f->fd = -1;
    f->temp[0] = '\0';
    f->written = 0;
    f->failed = ERR_OK;
    buf_init(&f->pending, PENDING_MAX);
    enum err e = path_make(f->path, reterr, "%s", path);
    return THEN(e, make_temp(path, mode, f->temp, &f->fd, reterr));
}

static void keep_failure(struct file_out *f, enum err e)
{
    if (f->failed == ERR_OK) {
        f->failed = e;
    }
}

static void flush_pending(struct file_out *f)
{
    if (f->failed == ERR_OK && f->pending.n) {
        keep_failure(
            f, write_at(f->fd, f->written - f->pending.n, buf_slice(&f->pending)));
    }
    buf_clear(&f->pending);
}

void file_out_add(struct file_out *f, struct slice bytes)
{
    if (f->fd < 0 || f->failed != ERR_OK || bytes.n == 0) {
        return;
    }
    if (bytes.n > PENDING_MAX - f->pending.n) {
        flush_pending(f);
    }
    if (bytes.n >= PENDING_MAX) {
        keep_failure(f, write_at(f->fd, f->written, bytes));
    } else {
        buf_add(&f->pending, bytes);
        if (buf_failed(&f->pending)) {
            keep_failure(f, ERR_NOMEM);
        }
    }
    f->written += bytes.n;
}

void file_out_put_at(struct file_out *f, uint64_t offset, struct slice bytes)
{
    if (f->fd < 0 || f->failed != ERR_OK) {
        return;
    }
    flush_pending(f);
    if (offset > f->written || bytes.n > f->written - offset) {
        keep_failure(f, ERR_RANGE);
    } else if (f->failed == ERR_OK) {
        keep_failure(f, write_at(f->fd, offset, bytes));
    }
}

enum err file_out_commit(struct file_out *f, struct errinfo *reterr)
{
    if (f->fd < 0) {
        return errinfo_set(reterr, ERR_IO, f->path, 0, "the file is not open");
    }
    flush_pending(f);
    enum err e = f->failed;
    if (e == ERR_NOSPACE) {
        (void)errinfo_set(reterr, e, f->path, 0,
                          "the disk is full; free some space and try again");
    } else if (e != ERR_OK) {
        (void)errinfo_set(reterr, e, f->path, 0, "cannot write the file: %s",
                          err_text(e));
    } else {
        e = sync_and_rename(f->fd, f->temp, f->path, reterr);
    }
    /* After a failed sync of the folder the temporary is gone: it was renamed. */
    file_out_abort(f);
    return e;
}

void file_out_abort(struct file_out *f)
{
    if (f->fd >= 0) {
        (void)unlink(f->temp); /* a commit has renamed it */
        fd_close(&f->fd);
    }
    buf_fini(&f->pending);
}

enum err file_write_atomic(const char *path, struct slice bytes, mode_t mode,
                           struct errinfo *reterr)
{
    struct file_out f;
    enum err e = file_out_open(&f, path, mode, reterr);
    if (e != ERR_OK) {
        return e;
    }
    file_out_add(&f, bytes);
    return file_out_commit(&f, reterr);
}

enum err file_allocate(const char *path, uint64_t size, mode_t mode,
                       struct errinfo *reterr)
{
    char temp[FILE_PATH_MAX];
    int fd = -1;
    if (size > INT64_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, path, 0,
                           "the size is too large for a file");
    }
    enum err e = make_temp(path, mode, temp, &fd, reterr);
    if (e != ERR_OK) {
        return e;
    }
    int failed = 0;
    if (size > 0) {
        do {
            failed = posix_fallocate(fd, 0, (off_t)size);
        } while (failed == EINTR);
    }
    if (failed) {
        errno = failed;
        e = file_sys_fail(reterr, path, "cannot reserve the file's space on disk");
    } else {
        e = sync_and_rename(fd, temp, path, reterr);
    }
    if (e != ERR_OK) {
        (void)unlink(temp);
    }
    (void)close(fd);
    return e;
}

/* Some file systems have no nameless files: the file loses its name at once there. */
int file_open_nameless(const char *dir)
{
    char path[FILE_PATH_MAX];
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT &&
                    errno != EINVAL)) {
        return fd;
    }
    if (file_path(path, "%s/XXXXXX" FILE_TEMP_SUFFIX, dir) != ERR_OK) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemps(path, (int)strlen(FILE_TEMP_SUFFIX), O_CLOEXEC);
    if (fd >= 0) {
        (void)unlink(path);
    }
    return fd;
}
