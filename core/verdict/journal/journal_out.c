/* journal_out - the folder, the file that is written, and the end of old ones. */
#include <fcntl.h>

#include "core/base/clock.h"
#include "core/base/file_internal.h"
#include "core/verdict/journal/journal_head.h"
#include "core/verdict/journal/journal_internal.h"
#include "core/verdict/journal/pending.h"

enum { US_PER_S = 1000000 };

enum err journal_folder_take(struct journal_folder *f, const char *state_dir,
                             struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];

    f->lock.fd = -1;
    enum err e = path_make(f->dir, reterr, "%s/" STATE_JOURNAL_DIR, state_dir);
    THEN(e, file_make_dir(f->dir, JOURNAL_FOLDER_MODE, reterr));
    THEN(e, path_make(path, reterr, "%s/LOCK", f->dir));
    THEN(e, filelock_take(&f->lock, path, reterr));
    return e;
}

void journal_folder_drop(struct journal_folder *f)
{
    filelock_drop(&f->lock);
}

/* ---- one file ---- */

/* Where the last whole record ends. */
static enum err find_end(const char *path, uint64_t *retend, uint64_t *retnumber,
                         struct errinfo *reterr)
{
    struct filemap m = {0};
    struct slice frame;
    enum err e = filemap_open(&m, path, FILEMAP_READ, reterr);

    if (e != ERR_OK) {
        return e;
    }
    struct journal_walk w =
        journal_walk_begin(slice_from(slice_of(m.p, m.n), JOURNAL_HEAD));
    while (journal_walk_next(&w, &frame)) {
        *retnumber = record_number_of(frame.p);
    }
    *retend = JOURNAL_HEAD + w.whole;
    e = filemap_check(&m, path, reterr);
    filemap_close(&m);
    return e;
}

static enum err make_file(const char *path, struct slice head, int *retfd,
                          struct errinfo *reterr)
{
    enum err e = file_write_atomic(path, head, JOURNAL_FILE_MODE, reterr);
    uint64_t size = 0;

    THEN(e, file_sys_open_regular(path, O_RDWR | O_APPEND, retfd, &size, reterr));
    return e;
}

enum err journal_file_open(const char *path, struct slice head, int *retfd,
                           uint64_t *retsize, struct errinfo *reterr)
{
    uint64_t number = 0;
    struct stat st;

    if (lstat(path, &st) != 0 && errno == ENOENT) {
        *retsize = JOURNAL_HEAD;
        return make_file(path, head, retfd, reterr);
    }
    enum err e = file_sys_open_regular(path, O_RDWR | O_APPEND, retfd, retsize, reterr);
    uint64_t end = *retsize;
    if (e == ERR_OK && *retsize > JOURNAL_HEAD) {
        e = find_end(path, &end, &number, reterr);
    }
    if (e == ERR_OK && end < *retsize && ftruncate(*retfd, (off_t)end) != 0) {
        e = errinfo_errno(reterr, path, "cannot cut off a record that is not whole");
    }
    if (e != ERR_OK) {
        fd_close(retfd);
        return e;
    }
    *retsize = end;
    return ERR_OK;
}

/* ---- the file that is written ---- */

static enum err path_of(const struct journal_folder *f,
                        const struct journal_name_of *name, char ret[FILE_PATH_MAX],
                        struct errinfo *reterr)
{
    char text[JOURNAL_FILE_NAME];

    journal_file_print(name, text);
    return path_make(ret, reterr, "%s/%s", f->dir, text);
}

/* The newest file of messages. False: there is none. */
static bool find_newest(const struct journal_files *files, struct journal_name_of *ret)
{
    bool is_found = false;

    for (size_t i = 0; i < files->n && files->v[i].kind == JOURNAL_MESSAGES; i++) {
        *ret = files->v[i];
        is_found = true;
    }
    return is_found;
}

static bool has_head(const char *path, struct slice head)
{
    struct filemap m = {0};

    if (filemap_open(&m, path, FILEMAP_READ, NULL) != ERR_OK) {
        return false;
    }
    bool is_same = slice_eq(slice_head(slice_of(m.p, m.n), JOURNAL_HEAD), head) &&
                   !filemap_is_damaged(&m);
    filemap_close(&m);
    return is_same;
}

static enum err continue_newest(struct journal_out *o,
                                const struct journal_files *files,
                                struct errinfo *reterr)
{
    struct journal_name_of name;
    char path[FILE_PATH_MAX];

    if (!find_newest(files, &name)) {
        return ERR_OK;
    }
    enum err e = path_of(o->folder, &name, path, reterr);
    if (e != ERR_OK || !has_head(path, buf_slice(&o->head))) {
        return e;
    }
    o->day = name.day;
    return journal_file_open(path, buf_slice(&o->head), &o->fd, &o->size, reterr);
}

enum err journal_out_open(struct journal_out *o, const struct journal_folder *folder,
                          struct slice head, struct errinfo *reterr)
{
    struct journal_files files;

    *o = (struct journal_out){.folder = folder, .fd = -1};
    buf_init(&o->head, JOURNAL_HEAD);
    buf_add(&o->head, head);
    if (buf_failed(&o->head)) {
        return errinfo_nomem(reterr, folder->dir);
    }
    enum err e = journal_files_list(folder->dir, &files, reterr);
    if (e == ERR_OK) {
        e = continue_newest(o, &files, reterr);
        journal_files_fini(&files);
    }
    return e;
}

static enum err begin_file(struct journal_out *o, uint64_t day, struct errinfo *reterr)
{
    struct journal_files files;
    struct journal_name_of name = {.kind = JOURNAL_MESSAGES};
    char path[FILE_PATH_MAX];
    enum err e = journal_files_list(o->folder->dir, &files, reterr);

    if (e != ERR_OK) {
        return e;
    }
    bool is_of_day = find_newest(&files, &name) && name.day >= day;
    journal_files_fini(&files);
    name.part = is_of_day ? name.part + 1 : 1;
    name.day =
        is_of_day ? name.day : day; /* the clock was set back: names still rise */
    fd_close(&o->fd);
    e = path_of(o->folder, &name, path, reterr);
    THEN(e, make_file(path, buf_slice(&o->head), &o->fd, reterr));
    o->day = name.day;
    o->size = JOURNAL_HEAD;
    return e;
}

enum err journal_out_add(struct journal_out *o, uint64_t day, struct slice frames,
                         struct errinfo *reterr)
{
    enum err e = ERR_OK;

    if (o->fd < 0 || day > o->day || o->size + frames.n > JOURNAL_FILE_BYTES) {
        e = begin_file(o, day, reterr);
    }
    if (e == ERR_OK && !file_write_all(o->fd, frames)) {
        e = errinfo_errno(reterr, o->folder->dir, "cannot write to the journal");
        if (ftruncate(o->fd, (off_t)o->size) != 0) {
            fd_close(&o->fd); /* the next try begins another file */
        }
    }
    o->size += e == ERR_OK ? frames.n : 0;
    return e;
}

void journal_out_close(struct journal_out *o)
{
    fd_close(&o->fd);
    buf_fini(&o->head);
}

/* ---- the ring of a process that ended ---- */

/* The number of the last record in the files. */
static enum err last_number(const struct journal_folder *f, uint64_t *ret,
                            struct errinfo *reterr)
{
    struct journal_files files;
    uint64_t end = 0;
    enum err e = journal_files_list(f->dir, &files, reterr);

    *ret = 0;
    for (size_t i = files.n; e == ERR_OK && *ret == 0 && i-- > 0;) {
        char path[FILE_PATH_MAX];
        if (files.v[i].kind == JOURNAL_MESSAGES) {
            e = path_of(f, &files.v[i], path, reterr);
            THEN(e, find_end(path, &end, ret, reterr));
        }
    }
    journal_files_fini(&files);
    return e;
}

/* Drops the frames up to number `last`, which are in the files; *retlast: the last number of
 * all. */
static void skip_known(struct buf *frames, uint64_t last, uint64_t *retlast)
{
    struct journal_walk w = journal_walk_begin(buf_slice(frames));
    struct slice frame;
    size_t kept = 0;

    *retlast = last;
    while (journal_walk_next(&w, &frame)) {
        uint64_t number = record_number_of(frame.p);
        if (number > last) {
            memmove(frames->p + kept, frame.p, frame.n);
            kept += frame.n;
            *retlast = number > *retlast ? number : *retlast;
        }
    }
    frames->n = kept;
}

static enum err write_left(const struct journal_folder *f, struct slice head,
                           struct slice frames, struct errinfo *reterr)
{
    struct journal_out out = {.fd = -1};
    uint64_t day = clock_wall_us() / US_PER_S / JOURNAL_DAY_S;
    enum err e = journal_out_open(&out, f, head, reterr);

    THEN(e, journal_out_add(&out, day, frames, reterr));
    journal_out_close(&out);
    return e;
}

enum err journal_settle(const struct journal_folder *f, uint64_t *retnumber,
                        struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct buf head;
    struct buf frames;
    uint64_t place = 0;
    uint64_t last = 0;

    buf_init(&head, JOURNAL_HEAD);
    buf_init(&frames, PENDING_BYTES);
    enum err e = path_make(path, reterr, "%s/" JOURNAL_PENDING, f->dir);
    THEN(e, last_number(f, &last, reterr));
    if (e == ERR_OK) {
        e = pending_read(path, &head, &frames, &place, reterr);
        /* a ring that is damaged is replaced: nothing can be read from it */
        e = e == ERR_NOT_FOUND || e == ERR_CORRUPT ? ERR_OK : e;
    }
    if (e == ERR_OK && frames.n > 0) {
        skip_known(&frames, last, &last);
    }
    if (e == ERR_OK && frames.n > 0) {
        e = write_left(f, buf_slice(&head), buf_slice(&frames), reterr);
    }
    *retnumber = last + 1;
    buf_fini(&frames);
    buf_fini(&head);
    return e;
}

/* ---- age and size ---- */

static enum err remove_file(const struct journal_folder *f,
                            const struct journal_name_of *name, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = path_of(f, name, path, reterr);

    if (e == ERR_OK && unlink(path) != 0 && errno != ENOENT) {
        e = errinfo_errno(reterr, path, "cannot remove an old file of the journal");
    }
    return e;
}

enum err journal_expire(const struct journal_folder *f, uint64_t keep_s,
                        uint64_t size_max, uint64_t now_s, struct errinfo *reterr)
{
    struct journal_files files;
    struct journal_name_of newest = {.part = 0};
    enum err e = journal_files_list(f->dir, &files, reterr);
    bool has_newest = e == ERR_OK && find_newest(&files, &newest);

    for (size_t i = 0; e == ERR_OK && i < files.n; i++) {
        const struct journal_name_of *name = &files.v[i];
        bool is_old = (name->day + 1) * JOURNAL_DAY_S + keep_s <= now_s || keep_s == 0;
        bool is_newest = has_newest && name->kind == JOURNAL_MESSAGES &&
                         name->day == newest.day && name->part == newest.part;
        bool is_much =
            files.bytes > size_max && name->kind == JOURNAL_MESSAGES && !is_newest;
        if (is_old || is_much) {
            files.bytes -= name->size;
            e = remove_file(f, name, reterr);
        }
    }
    journal_files_fini(&files);
    return e;
}
