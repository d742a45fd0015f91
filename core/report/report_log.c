#include "core/report/report_log.h"

#include <fcntl.h>

#include "core/base/array.h"
#include "core/base/checksum.h"
#include "core/base/dir_walk.h"
#include "core/base/le.h"

#define LOG_PREFIX  "log."
#define FRAME_MAGIC UINT32_C(0x314c5247) /* "GRL1" */

enum {
    FRAME_HEAD = 16,
    FRAME_MAX = 65536,
    BATCH_MAX = 16 << 20,
    FILE_MODE = 0640,
    DIR_MODE = 02750,
    DECIMAL = 10
};

struct report_log {
    char dir[FILE_PATH_MAX];
    struct filelock lock;
    int fd; /* -1: the next entry begins a file */
    uint64_t size;
    uint64_t next;
    struct buf batch;
};

/* ---- files ---- */

struct files {
    uint64_t *v; /* first numbers, rising */
    size_t n;
    size_t room;
};

static enum err list_files(const char *dir, struct files *ret, struct errinfo *reterr)
{
    struct dir_walk w = dir_walk_begin(dir, DIR_OPTIONAL);
    enum err e = ERR_OK;

    *ret = (struct files){.v = NULL};
    while (e == ERR_OK && dir_walk_next(&w)) {
        struct slice name = slice_str(w.name);
        uint64_t first = 0;
        if (!slice_has_prefix(name, SLICE_LIT(LOG_PREFIX)) ||
            !slice_to_u64(slice_from(name, strlen(LOG_PREFIX)), DECIMAL, UINT64_MAX,
                          &first)) {
            continue;
        }
        if (!array_room(&ret->v, &ret->room, ret->n + 1, REPORT_FILES_MAX,
                        sizeof(*ret->v))) {
            e = errinfo_nomem(reterr, dir);
            break;
        }
        ret->v[ret->n++] = first;
    }
    e = dir_walk_end(&w, e, reterr);
    if (ret->n > 1) {
        qsort(ret->v, ret->n, sizeof(*ret->v), array_u64_cmp);
    }
    return e;
}

static enum err file_name(const char *dir, uint64_t first, char ret[FILE_PATH_MAX],
                          struct errinfo *reterr)
{
    return path_make(ret, reterr, "%s/" LOG_PREFIX "%" PRIu64, dir, first);
}

/* ---- reading ---- */

/* The bytes of the whole entry at the beginning of bytes; 0: there is none. */
static size_t whole_frame(struct slice bytes, struct report *ret)
{
    if (bytes.n < FRAME_HEAD || le_get(bytes.p, 4) != FRAME_MAGIC) {
        return 0;
    }
    size_t n = le_get(bytes.p + 4, 4);
    struct slice body = slice_head(slice_from(bytes, FRAME_HEAD), n);

    return n <= FRAME_MAX && body.n == n &&
                   checksum64(body) == le_get(bytes.p + 8, 8) && report_parse(body, ret)
               ? FRAME_HEAD + n
               : 0;
}

/* Where the next entry after damage begins, or the end. */
static size_t next_magic(struct slice bytes, size_t at)
{
    char magic[4];

    le_put(magic, FRAME_MAGIC, sizeof(magic));
    return at + slice_find_slice(slice_from(bytes, at), slice_of(magic, sizeof(magic)));
}

struct reading {
    report_log_fn *fn;
    void *context;
    struct report_log_numbers *numbers;
    uint64_t after;    /* files whose entries are not above it are left out */
    uint64_t expected; /* number of the entry to come; 0: any */
    bool is_stopped;
    bool ends_whole; /* the last file ends with a whole entry */
    uint64_t base;   /* of the bytes at hand, in their file */
    uint64_t last; /* begin and end of the last whole entry in a file, if it has one */
    uint64_t end;
    uint64_t sum;
};

/* Entries before this number are gone, if it is not the one that must come. */
static bool is_gap(const struct reading *r, uint64_t number)
{
    return r->expected != 0 && number > r->expected;
}

static void read_frames(struct reading *r, struct slice bytes)
{
    struct report *one = calloc(1, sizeof(*one));
    size_t at = 0;
    bool is_damaged = false;

    while (one != NULL && at < bytes.n && !r->is_stopped) {
        size_t n = whole_frame(slice_from(bytes, at), one);
        if (n == 0) {
            r->numbers->damaged += !is_damaged;
            is_damaged = true;
            at = next_magic(bytes, at + 1);
            continue;
        }
        r->numbers->damaged += !is_damaged && is_gap(r, one->number);
        is_damaged = false;
        r->expected = one->number + 1;
        r->last = r->base + at;
        r->sum = le_get(bytes.p + at + 8, 8);
        at += n;
        r->end = r->base + at;
        r->numbers->entries++;
        if (one->number >= r->numbers->next) {
            r->numbers->next = one->number + 1;
        }
        r->is_stopped = r->fn != NULL && !r->fn(r->context, one);
    }
    r->ends_whole = one != NULL && !is_damaged;
    free(one);
}

static enum err read_file(struct reading *r, const char *path, struct errinfo *reterr)
{
    struct filemap m = {0};
    enum err e = filemap_open(&m, path, FILEMAP_COPY, reterr);

    if (e == ERR_OK) {
        r->numbers->bytes += m.n;
        read_frames(r, slice_of(m.p, m.n));
        filemap_close(&m);
    }
    return e == ERR_NOT_FOUND ? ERR_OK : e; /* it was just removed */
}

static enum err read_log(struct reading *r, const char *dir, struct errinfo *reterr)
{
    struct files files;
    char path[FILE_PATH_MAX];
    enum err e = list_files(dir, &files, reterr);

    for (size_t i = 0; e == ERR_OK && i < files.n && !r->is_stopped; i++) {
        if (i + 1 < files.n && files.v[i + 1] <= r->after) {
            continue;
        }
        r->numbers->damaged += is_gap(r, files.v[i]);
        r->expected = files.v[i];
        e = file_name(dir, files.v[i], path, reterr);
        THEN(e, read_file(r, path, reterr));
        if (files.v[i] > r->numbers->next) {
            r->numbers->next = files.v[i];
        }
    }
    free(files.v);
    return e;
}

enum err report_log_each(const char *state_dir, report_log_fn *fn, void *context,
                         struct report_log_numbers *ret, struct errinfo *reterr)
{
    return report_log_after(state_dir, 0, fn, context, ret, reterr);
}

enum err report_log_after(const char *state_dir, uint64_t number, report_log_fn *fn,
                          void *context, struct report_log_numbers *ret,
                          struct errinfo *reterr)
{
    struct report_log_numbers numbers = {.next = 1};
    struct reading r = {
        .fn = fn, .context = context, .numbers = &numbers, .after = number};
    char dir[FILE_PATH_MAX];
    enum err e = path_make(dir, reterr, "%s/" STATE_REPORTS_DIR, state_dir);

    THEN(e, read_log(&r, dir, reterr));
    if (ret != NULL) {
        *ret = numbers;
    }
    return e;
}

/* Whether the entry at which the reader stopped is still there. False also if it cannot be read. */
static bool is_there(const char *path, const struct report_log_place *p)
{
    char sum[8];
    int fd = p->end > 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    bool found =
        p->end == 0 || (fd >= 0 && file_read_at(fd, p->last + 8, sum, 8) == 8 &&
                        le_get(sum, 8) == p->sum);
    fd_close(&fd);
    return found;
}

/* Reads the entries of a file from r->base on. */
static enum err read_tail(struct reading *r, const char *path, struct errinfo *reterr)
{
    struct stat st = {.st_size = 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    enum err e = ERR_OK;

    if (fd < 0 && errno == ENOENT) {
        return ERR_OK; /* it was just removed */
    }
    if (fd < 0 || fstat(fd, &st) != 0) {
        e = errinfo_errno(reterr, path, "cannot be read");
    }
    size_t n = e == ERR_OK && (uint64_t)st.st_size > r->base
                   ? (size_t)((uint64_t)st.st_size - r->base)
                   : 0;
    char *bytes = n > 0 ? malloc(n) : NULL;
    if (n > 0 && bytes == NULL) {
        e = errinfo_nomem(reterr, path);
    } else if (n > 0) {
        read_frames(r, slice_of(bytes, file_read_at(fd, r->base, bytes, n)));
    } else {
        /* nothing is new */
    }
    free(bytes);
    fd_close(&fd);
    return e;
}

static enum err read_behind(const char *dir, const struct files *files,
                            struct report_log_place *p, struct reading *r,
                            struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = ERR_OK;

    for (size_t i = 0; e == ERR_OK && i < files->n; i++) {
        if (files->v[i] < p->file) {
            continue;
        }
        if (files->v[i] > p->file) {
            *p = (struct report_log_place){.oldest = files->v[0], .file = files->v[i]};
        }
        r->base = r->end = p->end;
        r->last = p->last;
        r->sum = p->sum;
        e = file_name(dir, files->v[i], path, reterr);
        THEN(e, read_tail(r, path, reterr));
        p->end = r->end;
        p->last = r->last;
        p->sum = r->sum;
    }
    return e;
}

enum err report_log_follow(const char *state_dir, struct report_log_place *place,
                           report_log_fn *fn, void *context, struct errinfo *reterr)
{
    struct report_log_numbers numbers = {.next = 1};
    struct reading r = {.fn = fn, .context = context, .numbers = &numbers};
    struct files files = {.v = NULL};
    char dir[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    enum err e = path_make(dir, reterr, "%s/" STATE_REPORTS_DIR, state_dir);

    THEN(e, list_files(dir, &files, reterr));
    if (e == ERR_OK && place->file != 0) {
        e = file_name(dir, place->file, path, reterr);
        if (e == ERR_OK &&
            (files.n == 0 || files.v[0] != place->oldest || !is_there(path, place))) {
            *place = (struct report_log_place){.file = 0};
            e = errinfo_set(reterr, ERR_RANGE, dir, 0, "entries are gone");
        }
    }
    THEN(e, read_behind(dir, &files, place, &r, reterr));
    free(files.v);
    return e;
}

uint64_t report_log_stamp(const char *state_dir)
{
    struct files files = {.v = NULL};
    struct stat st = {.st_size = 0};
    char dir[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    uint64_t last = 0;

    if (path_make(dir, NULL, "%s/" STATE_REPORTS_DIR, state_dir) == ERR_OK &&
        list_files(dir, &files, NULL) == ERR_OK && files.n > 0) {
        last = files.v[files.n - 1];
    }
    free(files.v);
    if (last == 0 || file_name(dir, last, path, NULL) != ERR_OK ||
        lstat(path, &st) != 0) {
        return 0;
    }
    return last * (2 * (uint64_t)REPORT_FILE_BYTES) + (uint64_t)st.st_size;
}

/* ---- writing ---- */

/* Finds the next number, and the last file if more can be put behind it. */
static enum err find_end(struct report_log *l, struct errinfo *reterr)
{
    struct report_log_numbers numbers = {.next = 1};
    struct reading r = {.numbers = &numbers};
    struct files files;
    char path[FILE_PATH_MAX];
    struct stat st;
    enum err e = list_files(l->dir, &files, reterr);

    if (e == ERR_OK && files.n > 0) {
        numbers.next = files.v[files.n - 1];
        e = file_name(l->dir, files.v[files.n - 1], path, reterr);
        THEN(e, read_file(&r, path, reterr));
    }
    if (e == ERR_OK && files.n > 0 && r.ends_whole) {
        l->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
        if (l->fd < 0 || fstat(l->fd, &st) != 0) {
            e = errinfo_errno(reterr, path, "cannot be written");
        } else {
            l->size = (uint64_t)st.st_size;
        }
    } else if (e == ERR_OK && files.n > 0) {
        numbers.next++; /* the damaged file keeps its name */
    }
    l->next = numbers.next;
    free(files.v);
    return e;
}

enum err report_log_open(const char *state_dir, struct report_log **ret,
                         struct errinfo *reterr)
{
    struct report_log *l = calloc(1, sizeof(*l));
    char path[FILE_PATH_MAX];

    *ret = NULL;
    if (l == NULL) {
        return errinfo_nomem(reterr, state_dir);
    }
    l->fd = -1;
    l->lock.fd = -1;
    buf_init(&l->batch, BATCH_MAX);
    enum err e = path_make(l->dir, reterr, "%s/" STATE_REPORTS_DIR, state_dir);
    THEN(e, path_make(path, reterr, "%s/LOCK", l->dir));
    THEN(e, file_make_dir(l->dir, DIR_MODE, reterr));
    THEN(e, filelock_take(&l->lock, path, reterr));
    THEN(e, find_end(l, reterr));
    if (e != ERR_OK) {
        report_log_close(&l);
    }
    *ret = l;
    return e;
}

void report_log_close(struct report_log **l)
{
    if (*l != NULL) {
        fd_close(&(*l)->fd);
        filelock_drop(&(*l)->lock);
        buf_fini(&(*l)->batch);
        free(*l);
        *l = NULL;
    }
}

static enum err begin_log_file(struct report_log *l, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = file_name(l->dir, l->next, path, reterr);

    fd_close(&l->fd);
    if (e == ERR_OK) {
        l->fd =
            open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
        l->size = 0;
        e = l->fd < 0 ? errinfo_errno(reterr, path, "cannot be made") : ERR_OK;
    }
    THEN(e, file_sync_dir(l->dir, reterr));
    return e;
}

static void add_frame(struct buf *batch, const struct report *r)
{
    size_t begin = batch->n;
    char *head = buf_extend(batch, FRAME_HEAD);

    if (head == NULL) {
        return;
    }
    report_print(r, batch);
    if (!buf_failed(batch)) {
        struct slice body = slice_from(buf_slice(batch), begin + FRAME_HEAD);
        head = batch->p + begin;
        le_put(head, FRAME_MAGIC, 4);
        le_put(head + 4, body.n, 4);
        le_put(head + 8, checksum64(body), 8);
    }
}

/* Cuts off the rest of a failed write, so that the next entry follows the last whole one. */
static void mend_end(struct report_log *l)
{
    if (l->fd >= 0 && ftruncate(l->fd, (off_t)l->size) != 0) {
        fd_close(&l->fd); /* another file then */
        l->next++;
    }
}

enum err report_log_add(struct report_log *l, struct report *v, size_t n,
                        struct errinfo *reterr)
{
    enum err e = ERR_OK;

    buf_clear(&l->batch);
    for (size_t i = 0; i < n; i++) {
        v[i].number = l->next + i;
        add_frame(&l->batch, &v[i]);
    }
    if (buf_failed(&l->batch)) {
        return errinfo_nomem(reterr, l->dir);
    }
    if (l->fd < 0 || l->size >= REPORT_FILE_BYTES) {
        e = begin_log_file(l, reterr);
    }
    if (e == ERR_OK && (!file_write_at(l->fd, l->size, buf_slice(&l->batch)) ||
                        fdatasync(l->fd) != 0)) {
        e = errinfo_errno(reterr, l->dir, "the report cannot be written");
        mend_end(l);
    }
    if (e == ERR_OK) {
        l->size += l->batch.n;
        l->next += n;
    }
    return e;
}

uint64_t report_log_last(const struct report_log *l)
{
    return l->next - 1;
}

void report_log_skip(struct report_log *l, uint64_t number)
{
    if (l->next <= number) {
        fd_close(&l->fd); /* a file's name is the number of its first entry */
        l->next = number + 1;
    }
}

/* ---- a person ---- */

static bool is_of_person(struct slice reporter, struct slice person)
{
    size_t before = reporter.n > person.n ? reporter.n - person.n : 0;

    return slice_eq_nocase(slice_from(reporter, before), person) &&
           (before == 0 || reporter.p[before - 1] == '/');
}

/* frame: a whole one, in a copy of the file. */
static bool erase_name(unsigned char *frame, size_t n, struct slice name)
{
    size_t at = (size_t)((const unsigned char *)name.p - frame);

    memset(frame + at, '*', name.n);
    le_put(frame + 8, checksum64(slice_of(frame + FRAME_HEAD, n - FRAME_HEAD)), 8);
    return true;
}

static enum err forget_in_file(const char *path, struct slice person, uint64_t *retn,
                               struct errinfo *reterr)
{
    struct filemap m = {0};
    struct report *one = calloc(1, sizeof(*one));
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    enum err e = one == NULL ? errinfo_nomem(reterr, path) : ERR_OK;

    if (e == ERR_OK && fd < 0) {
        e = errinfo_errno(reterr, path, "cannot be written");
    }
    THEN(e, filemap_open(&m, path, FILEMAP_COPY, reterr));
    for (size_t at = 0; e == ERR_OK && at < m.n;) {
        struct slice rest = slice_of(m.p + at, m.n - at);
        size_t n = whole_frame(rest, one);
        if (n > 0 && is_of_person(one->reporter, person)) {
            *retn += erase_name(m.p + at, n, one->reporter);
            e = file_write_at(fd, at, slice_of(m.p + at, n)) ? ERR_OK : ERR_IO;
        }
        at = n > 0 ? at + n : next_magic(slice_of(m.p, m.n), at + 1);
    }
    if (e == ERR_IO || (e == ERR_OK && fdatasync(fd) != 0)) {
        e = errinfo_errno(reterr, path, "cannot erase a name");
    }
    filemap_close(&m);
    fd_close(&fd);
    free(one);
    return e;
}

enum err report_log_forget(const char *state_dir, struct slice person, uint64_t *retn,
                           struct errinfo *reterr)
{
    struct files files;
    char dir[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    enum err e = path_make(dir, reterr, "%s/" STATE_REPORTS_DIR, state_dir);

    THEN(e, list_files(dir, &files, reterr));
    if (e != ERR_OK) {
        return e;
    }
    for (size_t i = 0; e == ERR_OK && i < files.n; i++) {
        e = file_name(dir, files.v[i], path, reterr);
        THEN(e, forget_in_file(path, person, retn, reterr));
    }
    free(files.v);
    return e;
}

/* ---- age ---- */

/* A file ends at the latest when it was last written. */
static bool is_expired(const char *path, uint64_t oldest_s, uint64_t *retbytes)
{
    struct stat st;

    if (lstat(path, &st) != 0) {
        return false;
    }
    *retbytes = (uint64_t)st.st_size;
    return (uint64_t)st.st_mtime < oldest_s;
}

uint64_t report_log_trim(struct report_log *l, uint64_t now_s, uint64_t keep_s)
{
    struct files files;
    char path[FILE_PATH_MAX];
    uint64_t first = 0;
    uint64_t bytes = 0;
    uint64_t oldest_s = now_s > keep_s ? now_s - keep_s : 0;

    if (list_files(l->dir, &files, NULL) != ERR_OK) {
        return 0;
    }
    for (size_t i = files.n; i-- > 0;) {
        uint64_t size = 0;
        if (file_name(l->dir, files.v[i], path, NULL) != ERR_OK) {
            continue;
        }
        bool is_old = is_expired(path, oldest_s, &size);
        bytes += size;
        if (i + 1 < files.n && (is_old || bytes > REPORT_LOG_BYTES)) {
            (void)unlink(path);
        } else {
            first = files.v[i];
        }
    }
    free(files.v);
    return first;
}
