/* stream - a header, then records that are whole or not there. */
#include "core/count/stream.h"

#include "core/base/file_internal.h"
#include "core/base/hash256.h"
#include "core/base/le.h"
#include "core/count/runset_internal.h"

enum { FILE_MODE = 0640, DIR_MODE = 0750, HEX_ORIGIN = 2 * RUN_ORIGIN_BYTES };

static const struct pair_log_form form = {
    .magic = UINT64_C(0x3152545343474e47), /* "GNGCSTR1" */
    .record_magic = 0x52534e47,            /* "GNSR" */
    .pairs_max = STREAM_RECORD_MAX};

/* ---- names ---- */

static enum err folder_path(char dst[FILE_PATH_MAX], const char *dir,
                            const struct run_id *id)
{
    char origin[HEX_ORIGIN + 1];

    hex_print(id->origin, RUN_ORIGIN_BYTES, origin);
    return file_path(dst, "%s/%s", dir, origin);
}

enum err stream_path(char dst[FILE_PATH_MAX], const char *dir, const struct run_id *id)
{
    char folder[FILE_PATH_MAX];
    enum err e = folder_path(folder, dir, id);

    return e != ERR_OK
               ? e
               : file_path(dst, "%s/%016" PRIx64 "-%016" PRIx64 "-%08" PRIx32 ".stream",
                           folder, id->start_s, id->inc, id->key_id);
}

static bool is_possible(const struct run_id *id)
{
    return id->len_s == COUNT_BUCKET_S && id->start_s % COUNT_BUCKET_S == 0 &&
           id->start_s / COUNT_BUCKET_S <= UINT32_MAX;
}

bool stream_name_parse(struct slice name, struct run_id *ret)
{
    struct run_id id = *ret;
    uint64_t key = 0;

    id.len_s = COUNT_BUCKET_S;
    if (!runset_cut_number(&name, 16, 16, 16, '-', &id.start_s) ||
        !runset_cut_number(&name, 16, 16, 16, '-', &id.inc) ||
        !runset_cut_number(&name, 16, 8, 8, '.', &key) ||
        !slice_eq(name, SLICE_LIT("stream"))) {
        return false;
    }
    id.key_id = (uint32_t)key;
    *ret = id;
    return is_possible(&id);
}

/* ---- reading ---- */

static enum err read_stream_header(struct pair_log *l, struct pair_log_place *ret,
                                   struct errinfo *reterr)
{
    uint32_t version = 0;
    enum err e = pair_log_begin(l, &form, ret, &version, reterr);

    if (e == ERR_CORRUPT) {
        return errinfo_set(reterr, e, l->path, 0,
                           "this is no stream of counts, or its header is damaged; "
                           "the hub makes it again when it is removed");
    }
    if (e == ERR_VERSION) {
        return errinfo_set(reterr, e, l->path, 0,
                           "a stream of counts in a format (%" PRIu32
                           ") of another version of gillnet",
                           version);
    }
    if (e == ERR_OK && !is_possible(&ret->id)) {
        return errinfo_set(reterr, ERR_CORRUPT, l->path, 0,
                           "a stream of counts of a bucket that cannot be");
    }
    return e;
}

/* The pairs are ones that a stream may have. */
static bool pairs_hold(struct slice pairs)
{
    struct cursor c = cursor_of(pairs);
    bool ok = true;

    while (ok && !cursor_done(&c)) {
        uint64_t key = cursor_u64(&c);
        uint64_t amount = cursor_u64(&c);
        ok = key != 0 && amount != 0;
    }
    return ok;
}

size_t stream_npairs(struct slice pairs)
{
    return pairs.n / PAIR_BYTES;
}

struct run_record stream_pair(struct slice pairs, size_t i)
{
    const char *p = pairs.p + i * PAIR_BYTES;

    return (struct run_record){le_get(p, 8), le_get(p + 8, 8)};
}

struct pair_taker {
    stream_fn *fn;
    void *context;
};

static bool hand_over(void *context, const struct stream_record *r)
{
    const struct pair_taker *t = context;

    for (size_t i = 0; i < stream_npairs(r->pairs); i++) {
        const struct run_record record = stream_pair(r->pairs, i);

        t->fn(t->context, &record);
    }
    return true;
}

/* From the place to the last whole record, or as far as fn wants; fn may be NULL. */
static enum err walk(struct pair_log *l, struct pair_log_place *p, stream_record_fn *fn,
                     void *context, struct errinfo *reterr)
{
    for (;;) {
        struct pair_log_place next = *p;
        struct slice pairs;
        enum err e = pair_log_next(l, &form, &next, &pairs, reterr);
        if (e == ERR_CORRUPT || (e == ERR_OK && !pairs_hold(pairs))) {
            return errinfo_set(reterr, ERR_CORRUPT, l->path, 0,
                               "the record at byte %" PRIu64 " is damaged; the hub "
                               "makes the file again when it is removed",
                               p->at);
        }
        if (e != ERR_OK) { /* what a disk does not give now comes with the next look */
            return e == ERR_NOMEM ? e : ERR_OK;
        }
        const struct stream_record record = {next.seq, p->at, pairs};
        *p = next;
        if (fn != NULL && !fn(context, &record)) {
            return ERR_OK;
        }
    }
}

enum err stream_reader_open(const char *path, struct pair_log_place *ret,
                            struct errinfo *reterr)
{
    struct pair_log log;
    enum err e = pair_log_open(path, &log, reterr);

    THEN(e, read_stream_header(&log, ret, reterr));
    pair_log_close(&log);
    return e;
}

enum err stream_reader_records(struct pair_log_place *r, const char *path,
                               stream_record_fn *fn, void *context,
                               struct errinfo *reterr)
{
    struct pair_log log;
    enum err e = pair_log_open(path, &log, reterr);

    if (e == ERR_OK && (log.inode != r->inode || log.size < r->at)) {
        e = errinfo_set(reterr, ERR_CORRUPT, path, 0,
                        "another stream of counts took the place of this one");
    }
    THEN(e, walk(&log, r, fn, context, reterr));
    pair_log_close(&log);
    return e;
}

enum err stream_reader_next(struct pair_log_place *r, const char *path, stream_fn *fn,
                            void *context, struct errinfo *reterr)
{
    struct pair_taker t = {fn, context};

    return stream_reader_records(r, path, hand_over, &t, reterr);
}

/* ---- writing ---- */

struct stream_writer {
    struct pair_log_place at; /* how far it is whole */
    int fd;
    char path[FILE_PATH_MAX];
};

/* Puts bytes at the whole end; else the file is as it was. */
static enum err append_bytes(const struct stream_writer *w, struct slice bytes,
                             struct errinfo *reterr)
{
    if (file_write_at(w->fd, w->at.at, bytes)) {
        return ERR_OK;
    }
    enum err e = errinfo_errno(reterr, w->path, "cannot write a stream of counts");
    (void)!ftruncate(w->fd, (off_t)w->at.at); /* else it is a torn end, cut later */
    return e;
}

static enum err begin_file(struct stream_writer *w, const struct run_id *id,
                           struct errinfo *reterr)
{
    struct buf head;

    buf_init(&head, PAIR_LOG_HEADER);
    pair_log_header_print(&form, id, &head);
    enum err e = buf_failed(&head) ? errinfo_nomem(reterr, w->path) : ERR_OK;
    if (e == ERR_OK && ftruncate(w->fd, 0) != 0) {
        e = errinfo_errno(reterr, w->path, "cannot begin a stream of counts");
    }
    w->at = (struct pair_log_place){.id = *id};
    THEN(e, append_bytes(w, buf_slice(&head), reterr));
    if (e == ERR_OK) {
        w->at.at = PAIR_LOG_HEADER;
        w->at.salt = pair_log_salt(buf_slice(&head));
    }
    buf_fini(&head);
    return e;
}

/* Finds the end of the last whole record, and cuts off the rest. */
static enum err take_up(struct stream_writer *w, const struct run_id *id,
                        struct errinfo *reterr)
{
    struct pair_log log;
    enum err e = pair_log_open(w->path, &log, reterr);

    if (e == ERR_OK && log.size < PAIR_LOG_HEADER) {
        pair_log_close(&log);
        return begin_file(w, id, reterr);
    }
    THEN(e, read_stream_header(&log, &w->at, reterr));
    if (e == ERR_OK && runset_id_cmp(&w->at.id, id) != 0) {
        e = errinfo_set(reterr, ERR_CORRUPT, w->path, 0,
                        "a stream of counts of another time or server than its name "
                        "says");
    }
    if (e == ERR_OK) {
        e = walk(&log, &w->at, NULL, NULL, reterr);
        e = e == ERR_CORRUPT ? ERR_OK : e; /* the rest is made again from the objects */
    }
    pair_log_close(&log);
    if (e == ERR_OK && log.size > w->at.at && ftruncate(w->fd, (off_t)w->at.at) != 0) {
        e = errinfo_errno(reterr, w->path, "cannot cut the torn end of a stream");
    }
    return e;
}

static enum err open_stream_file(struct stream_writer *w, const char *dir,
                                 const struct run_id *id, struct errinfo *reterr)
{
    char folder[FILE_PATH_MAX];
    struct stat st;
    enum err e = folder_path(folder, dir, id);

    e = e != ERR_OK ? e : stream_path(w->path, dir, id);
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, dir, 0, "the path is too long");
    }
    e = file_make_dir(folder, DIR_MODE, reterr);
    if (e != ERR_OK) {
        return e;
    }
    w->fd = open(w->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
                 FILE_MODE);
    if (w->fd < 0) {
        return file_sys_fail(reterr, w->path, "cannot open a stream of counts");
    }
    if (fstat(w->fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return errinfo_set(reterr, ERR_CORRUPT, w->path, 0, "this is no file");
    }
    return ERR_OK;
}

enum err stream_writer_open(const char *dir, const struct run_id *id,
                            struct stream_writer **ret, uint64_t *retseq,
                            struct errinfo *reterr)
{
    if (!is_possible(id)) {
        return errinfo_set(reterr, ERR_RANGE, dir, 0,
                           "a stream of counts of a bucket that cannot be");
    }
    struct stream_writer *w = calloc(1, sizeof(*w));
    if (w == NULL) {
        return errinfo_nomem(reterr, dir);
    }
    w->fd = -1;
    enum err e = open_stream_file(w, dir, id, reterr);
    e = e != ERR_OK ? e : take_up(w, id, reterr);
    if (e != ERR_OK) {
        stream_writer_close(&w);
        return e;
    }
    *retseq = w->at.seq;
    *ret = w;
    return ERR_OK;
}

enum err stream_writer_add(struct stream_writer *w, uint64_t seq,
                           const struct run_record *v, size_t n, struct errinfo *reterr)
{
    struct buf bytes;

    if (n > STREAM_RECORD_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, w->path, 0,
                           "more than %d keys in one record", STREAM_RECORD_MAX);
    }
    if (seq <= w->at.seq) {
        return errinfo_set(reterr, ERR_RANGE, w->path, 0,
                           "record %" PRIu64 " is there already", seq);
    }
    buf_init(&bytes, SIZE_MAX / 2);
    pair_record_begin(&bytes);
    for (size_t i = 0; i < n; i++) {
        pair_record_add(&bytes, v[i].key, v[i].count);
    }
    pair_record_end(&bytes, &form, seq, w->at.salt);
    enum err e = buf_failed(&bytes) ? errinfo_nomem(reterr, w->path)
                                    : append_bytes(w, buf_slice(&bytes), reterr);
    if (e == ERR_OK) {
        w->at.at += bytes.n;
        w->at.seq = seq;
    }
    buf_fini(&bytes);
    return e;
}

enum err stream_writer_sync(const struct stream_writer *w, struct errinfo *reterr)
{
    return fdatasync(w->fd) == 0
               ? ERR_OK
               : errinfo_errno(reterr, w->path, "the disk refuses a stream of counts");
}

uint64_t stream_writer_size(const struct stream_writer *w)
{
    return w->at.at;
}

void stream_writer_close(struct stream_writer **w)
{
    if (*w != NULL) {
        fd_close(&(*w)->fd);
        free(*w);
        *w = NULL;
    }
}
