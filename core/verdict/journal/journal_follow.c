#include "core/verdict/journal/journal_follow.h"

#include <fcntl.h>

static void read_pieces(const struct journal_follow *f, int fd, uint64_t *at)
{
    bool goes_on = true;

    while (goes_on) {
        const size_t n = file_read_at(fd, *at, f->chunk, JOURNAL_CHUNK);
        size_t done = 0;

        goes_on = n > 0 && f->fn(f->context, slice_of(f->chunk, n), &done);
        if (goes_on && done == 0 && n == JOURNAL_CHUNK) {
            done =
                JOURNAL_CHUNK - RECORD_MAX; /* damage; a frame may begin at its end */
        }
        *at += done;
        goes_on = goes_on && done > 0;
        explicit_bzero(f->chunk, n);
    }
}

enum err journal_follow_file(const struct journal_follow *f,
                             const struct journal_name_of *name, uint64_t *at,
                             struct errinfo *reterr)
{
    char text[JOURNAL_FILE_NAME];
    char path[FILE_PATH_MAX];

    journal_file_print(name, text);
    enum err e = path_make(path, reterr, "%s/%s", f->dir, text);
    if (e != ERR_OK) {
        return e;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return errno == ENOENT
                   ? ERR_OK
                   : errinfo_errno(reterr, path,
                                   "a file of the journal cannot be read, so its "
                                   "messages are missing");
    }
    read_pieces(f, fd, at);
    fd_close(&fd);
    return ERR_OK;
}
