/* beneath - folders below an open one. */
#include "core/backup/beneath.h"

#include "core/base/slice.h"

enum { NAME_BYTES = 256, MADE_MODE = 0700 };

/* Opens a folder of at, which it makes first where make is set. */
static int open_step(int at, const char *name, bool make,
                     const struct beneath_owner *owner)
{
    const bool is_made = make && mkdirat(at, name, MADE_MODE) == 0;

    if (make && !is_made && errno != EEXIST) {
        return -1;
    }
    const int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && is_made && owner != NULL &&
        (fchown(fd, owner->uid, owner->gid) != 0 || fchmod(fd, owner->mode) != 0)) {
        const int why = errno;
        (void)close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

static int go(int fd, const char *path, bool make, const struct beneath_owner *owner)
{
    struct slice rest = slice_str(path);
    int at = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    while (at >= 0 && rest.n > 0) {
        char name[NAME_BYTES];
        const struct slice part = slice_cut(&rest, '/');
        int next = -1;

        errno = ENAMETOOLONG;
        if (part.n < sizeof(name)) {
            memcpy(name, part.p, part.n);
            name[part.n] = '\0';
            next = open_step(at, name, make, owner);
        }
        const int why = errno;
        (void)close(at);
        errno = why;
        at = next;
    }
    return at;
}

int beneath_open(int fd, const char *path)
{
    return go(fd, path, false, NULL);
}

int beneath_make(int fd, const char *path, const struct beneath_owner *owner)
{
    return go(fd, path, true, owner);
}
