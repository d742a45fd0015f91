/* follow_read - a journal, read on, and a run, read once. */

#include "core/base/cursor.h"
#include "core/base/file_internal.h"
#include "core/count/follow_internal.h"

/* A journal that is open. */
struct wal {
    const char *path;
    int fd;
    uint64_t size;
    uint64_t inode;
};

/* ---- journals ---- */

static bool read_all(int fd, uint64_t offset, char *dst, size_t n)
{
    size_t done = 0;

    while (done < n) {
        ssize_t got = pread(fd, dst + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

static enum err take_pairs(struct follow_bucket *b, struct follow_source *s,
                           struct slice pairs, const char *path, struct errinfo *reterr)
{
    struct cursor c = cursor_of(pairs);

    while (!cursor_done(&c)) {
        uint64_t key = cursor_u64(&c);
        uint64_t count = cursor_u64(&c);
        if (key != 0 && !follow_raise(b, s, key, count)) {
            return follow_no_memory(path, reterr);
        }
    }
    return ERR_OK;
}

/* The next record; *retmore: there was one, whole. */
static enum err take_record(struct follow_bucket *b, struct follow_source *s,
                            const struct wal *j, bool *retmore, struct errinfo *reterr)
{
    char head[LIVE_RECORD_HEAD];
    uint64_t left = j->size - s->at;

    *retmore = false;
    if (left < LIVE_RECORD_HEAD || !read_all(j->fd, s->at, head, sizeof(head))) {
        return ERR_OK;
    }
    struct cursor c = cursor_of(slice_of(head, sizeof(head)));
    uint32_t magic = cursor_u32(&c);
    uint64_t n = cursor_u32(&c);
    uint64_t whole = LIVE_RECORD_HEAD + n * LIVE_PAIR + LIVE_SUM;
    if (magic != LIVE_RECORD_MAGIC || cursor_u64(&c) != s->seq) {
        s->is_bad = true;
        return ERR_OK;
    }
    if (left < whole) {
        return ERR_OK; /* being written, or torn */
    }
    char *bytes = malloc(whole);
    if (bytes == NULL) {
        return follow_no_memory(j->path, reterr);
    }
    enum err e = ERR_OK;
    if (read_all(j->fd, s->at, bytes, whole)) {
        struct slice record = slice_of(bytes, whole - LIVE_SUM);
        struct cursor end = cursor_of(slice_of(bytes + record.n, LIVE_SUM));
        s->is_bad = cursor_u64(&end) != live_record_sum(record, s->salt);
        if (!s->is_bad) {
            e = take_pairs(b, s, slice_from(record, LIVE_RECORD_HEAD), j->path, reterr);
            *retmore = e == ERR_OK;
        }
    }
    free(bytes);
    if (*retmore) {
        s->at += whole;
        s->seq++;
    }
    return e;
}

/* Another file than before, or the first: gillnetd writes its journal anew where it grew too long. */
static enum err begin_journal(const struct follow *f, const struct follow_bucket *b,
                              struct follow_source *s, const struct wal *j,
                              struct errinfo *reterr)
{
    char head[LIVE_JOURNAL_HEADER];
    struct run_id id;

    if (!read_all(j->fd, 0, head, sizeof(head))) {
        return ERR_NOT_FOUND; /* gone meanwhile */
    }
    struct slice bytes = slice_of(head, sizeof(head));
    enum err e = live_journal_header_parse(bytes, j->path, &id, reterr);
    /* its name must be as durable as what it says */
    e = e != ERR_OK ? e : file_sync_dir(f->dir, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (id.start_s != b->start_s || id.inc != s->inc || id.key_id != f->key_id ||
        memcmp(id.origin, f->origin, sizeof(id.origin)) != 0) {
        s->is_bad = true; /* of another digest key, or a copy */
    }
    s->inode = j->inode;
    s->at = LIVE_JOURNAL_HEADER;
    s->seq = 1;
    s->salt = live_journal_salt(bytes);
    return ERR_OK;
}

/* What gillnetd has written is made durable before it is read: else peers might know of counts that we
 * lose with the power. */
static enum err read_on(const struct follow *f, struct follow_bucket *b,
                        struct follow_source *s, const struct wal *j,
                        struct errinfo *reterr)
{
    bool has_more = true;
    enum err e = ERR_OK;

    if (j->inode != s->inode || j->size < s->at) {
        s->is_bad = false;
        e = begin_journal(f, b, s, j, reterr);
    }
    if (e != ERR_OK || s->is_bad || j->size <= s->at) {
        return e;
    }
    if (fdatasync(j->fd) != 0) {
        return errinfo_errno(reterr, j->path, "the disk refuses the write-ahead log");
    }
    while (e == ERR_OK && has_more && !s->is_bad) {
        e = take_record(b, s, j, &has_more, reterr);
    }
    return e;
}

static enum err open_journal(const char *path, struct wal *ret, struct errinfo *reterr)
{
    struct stat st;

    *ret = (struct wal){.path = path};
    enum err e = file_sys_open_regular(path, O_RDONLY, &ret->fd, &ret->size, reterr);
    if (e == ERR_OK && fstat(ret->fd, &st) != 0) {
        e = errinfo_errno(reterr, path, "cannot look at the write-ahead log");
        (void)close(ret->fd);
    }
    if (e == ERR_OK) {
        ret->size = (uint64_t)st.st_size;
        ret->inode = (uint64_t)st.st_ino;
    }
    return e;
}

enum err follow_read_journal(const struct follow *f, struct follow_bucket *b,
                             const struct live_name *name, struct errinfo *reterr)
{
    const struct run_id id = {.start_s = name->start_s, .inc = name->inc};
    char path[FILE_PATH_MAX];
    struct wal j;
    struct follow_source *s = follow_source(b, name->inc);

    if (s == NULL) {
        return follow_no_memory(f->dir, reterr);
    }
    if (s->has_run || live_journal_path(path, f->dir, &id) != ERR_OK) {
        return ERR_OK;
    }
    enum err e = open_journal(path, &j, reterr);
    if (e == ERR_OK) {
        e = read_on(f, b, s, &j, reterr);
        (void)close(j.fd);
    }
    return e == ERR_NOT_FOUND ? ERR_OK : e; /* a run by now */
}

/* ---- runs ---- */

static enum err take_run(struct follow_bucket *b, struct follow_source *s,
                         const char *path, struct errinfo *reterr)
{
    struct run *run = NULL;
    struct run_cursor cursor;
    struct run_record record;
    enum err e = run_open(path, &run, reterr);

    if (e != ERR_OK) {
        return e;
    }
    run_cursor_init(&cursor, run, 0, UINT64_MAX);
    while ((e = run_cursor_next(&cursor, &record)) != ERR_NOT_FOUND) {
        if (e == ERR_OK && !follow_raise(b, s, record.key, record.count)) {
            run_close(&run);
            return follow_no_memory(path, reterr);
        }
    }
    run_close(&run);
    return ERR_OK;
}

enum err follow_read_run(const struct follow *f, struct follow_bucket *b,
                         const struct run_id *id, struct errinfo *reterr)
{
    char name[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    struct follow_source *s = follow_source(b, id->inc);

    if (s == NULL) {
        return follow_no_memory(f->runs, reterr);
    }
    if (s->has_run || runset_name(id, name) != ERR_OK ||
        file_path(path, "%s/%s", f->runs, name) != ERR_OK) {
        return ERR_OK;
    }
    enum err e = file_sync_dir(f->runs, reterr);
    e = e != ERR_OK ? e : take_run(b, s, path, reterr);
    /* a damaged one stays so: what the journal said of it was told */
    s->has_run = e == ERR_OK || e == ERR_CORRUPT || e == ERR_VERSION;
    return e == ERR_NOT_FOUND ? ERR_OK : e;
}
