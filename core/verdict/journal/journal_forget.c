/* journal_forget - erases an address in the files of the journal. */
#include "core/verdict/journal/journal_forget.h"

#include <fcntl.h>

#include "core/base/clock.h"
#include "core/base/file_internal.h"
#include "core/verdict/journal/journal_head.h"
#include "core/verdict/journal/journal_internal.h"
#include "core/verdict/journal/pending.h"

enum { US_PER_S = 1000000, WAIT_STEP_US = 50000 };

/* gillnetd has the ring: waits until what is in it now is in the files. */
static enum err await_ring(const char *dir, struct errinfo *reterr)
{
    uint64_t end_us = clock_mono_us() + (uint64_t)JOURNAL_FORGET_WAIT_S * US_PER_S;
    char path[FILE_PATH_MAX];
    struct buf head;
    struct buf frames;
    uint64_t place = 0;

    buf_init(&head, JOURNAL_HEAD);
    buf_init(&frames, PENDING_BYTES);
    enum err e = path_make(path, reterr, "%s/" JOURNAL_PENDING, dir);
    THEN(e, pending_read(path, &head, &frames, &place, reterr));
    buf_fini(&frames);
    buf_fini(&head);
    while (e == ERR_OK && !pending_is_past(path, place)) {
        if (clock_mono_us() >= end_us) {
            return errinfo_set(reterr, ERR_TIMEOUT, dir, 0,
                               "gillnetd does not move its newest records into the "
                               "journal, so the address may be in them; see its fault "
                               "in `gillnet stat`, then try again");
        }
        usleep(WAIT_STEP_US);
    }
    return e == ERR_NOT_FOUND ? ERR_OK : e;
}

static enum err empty_ring(const char *state_dir, const char *dir,
                           struct errinfo *reterr)
{
    struct journal_folder folder;
    struct pending *ring = NULL;
    struct buf head;
    char path[FILE_PATH_MAX];
    uint64_t number = 0;
    enum err e = journal_folder_take(&folder, state_dir, reterr);

    if (e == ERR_LOCKED) {
        return await_ring(dir, reterr);
    }
    buf_init(&head, JOURNAL_HEAD);
    journal_head_print(0, &head);
    THEN(e, journal_settle(&folder, &number, reterr));
    THEN(e, path_make(path, reterr, "%s/" JOURNAL_PENDING, dir));
    THEN(e, pending_make(path, buf_slice(&head), number, &ring, reterr));
    pending_close(&ring);
    buf_fini(&head);
    journal_folder_drop(&folder);
    return e;
}

static enum err forget_frame(int fd, uint64_t at, struct slice frame,
                             struct slice address, struct journal_forgotten *ret)
{
    char copy[RECORD_MAX];
    struct slice part;

    memcpy(copy, frame.p, frame.n);
    if (record_erase(copy, frame.n, address, &part) == 0) {
        return ERR_OK;
    }
    ret->records++;
    return file_write_at(fd, at + (uint64_t)(part.p - copy), part) ? ERR_OK : ERR_IO;
}

static enum err forget_in(const char *path, struct slice address,
                          struct journal_forgotten *ret, struct errinfo *reterr)
{
    struct filemap m = {0};
    struct slice frame;
    uint64_t size = 0;
    int fd = -1;
    enum err e = file_sys_open_regular(path, O_WRONLY, &fd, &size, reterr);

    THEN(e, filemap_open(&m, path, FILEMAP_READ, reterr));
    struct journal_walk w =
        journal_walk_begin(slice_from(slice_of(m.p, m.n), JOURNAL_HEAD));
    while (e == ERR_OK && journal_walk_next(&w, &frame)) {
        e = forget_frame(fd, (uint64_t)((const unsigned char *)frame.p - m.p), frame,
                         address, ret);
        e = e == ERR_OK ? e : errinfo_errno(reterr, path, "cannot erase the address");
    }
    THEN(e, filemap_check(&m, path, reterr));
    if (e == ERR_OK && fdatasync(fd) != 0) {
        e = errinfo_errno(reterr, path, "cannot erase the address on disk");
    }
    filemap_close(&m);
    fd_close(&fd);
    return e == ERR_NOT_FOUND ? ERR_OK : e; /* it was just removed */
}

/* Readers with texts in memory drop them. */
static enum err tell_readers(const char *dir, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = path_make(path, reterr, "%s/" JOURNAL_FORGOTTEN, dir);

    THEN(e, file_write_atomic(path, SLICE_NONE, JOURNAL_FILE_MODE, reterr));
    return e;
}

enum err journal_forget(const char *state_dir, struct slice address,
                        struct journal_forgotten *ret, struct errinfo *reterr)
{
    char dir[FILE_PATH_MAX];
    struct journal_files files = {.v = NULL};

    *ret = (struct journal_forgotten){.records = 0};
    enum err e = path_make(dir, reterr, "%s/" STATE_JOURNAL_DIR, state_dir);
    if (e == ERR_OK && access(dir, F_OK) != 0) {
        return errinfo_errno(reterr, dir, "cannot look into the journal");
    }
    THEN(e, empty_ring(state_dir, dir, reterr));
    THEN(e, journal_files_list(dir, &files, reterr));
    for (size_t i = 0; e == ERR_OK && i < files.n; i++) {
        char text[JOURNAL_FILE_NAME];
        char path[FILE_PATH_MAX];
        journal_file_print(&files.v[i], text);
        e = path_make(path, reterr, "%s/%s", dir, text);
        THEN(e, forget_in(path, address, ret, reterr));
        ret->files++;
    }
    journal_files_fini(&files);
    const enum err told = tell_readers(dir, e == ERR_OK ? reterr : NULL);
    return e == ERR_OK ? told : e;
}
