/* dir_walk - opendir, readdir and closedir with one rule for errno. */
#include "core/base/dir_walk.h"

#include "core/base/file.h"

struct dir_walk dir_walk_begin(const char *path, enum dir_need need)
{
    struct dir_walk w = {.path = path, .dir = opendir(path)};

    if (w.dir == NULL && !(need == DIR_OPTIONAL && errno == ENOENT)) {
        w.errnum = errno;
    }
    return w;
}

struct dir_walk dir_walk_fd(int fd, const char *path)
{
    struct dir_walk w = {.path = path, .dir = fd < 0 ? NULL : fdopendir(fd)};

    if (w.dir == NULL) {
        w.errnum = errno;
        fd_close(&fd);
    }
    return w;
}

bool dir_walk_next(struct dir_walk *w)
{
    const struct dirent *entry = NULL;

    while (w->dir != NULL && w->errnum == 0) {
        errno = 0;
        /* cppcheck-suppress readdirCalled ; the stream is ours alone */
        entry = readdir(w->dir); /* NOLINT(concurrency-mt-unsafe) */
        if (entry == NULL) {
            w->errnum = errno;
            return false;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            w->name = entry->d_name;
            w->type = entry->d_type;
            return true;
        }
    }
    return false;
}

enum err dir_walk_end(struct dir_walk *w, enum err e, struct errinfo *reterr)
{
    if (w->dir != NULL) {
        (void)closedir(w->dir);
        w->dir = NULL;
    }
    if (e != ERR_OK || w->errnum == 0) {
        return e;
    }
    errno = w->errnum;
    return errinfo_errno(reterr, w->path, "cannot list the folder");
}
