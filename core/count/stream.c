/* stream - a header, then records that are whole or not there. */
#include "core/count/stream.h"

#include "core/base/checksum.h"
#include "core/base/cursor.h"
#include "core/base/file_internal.h"
#include "core/base/hash256.h"
#include "core/count/runset.h"

#define STREAM_MAGIC UINT64_C(0x3152545343474e47) /* "GNGCSTR1" */
enum {
    STREAM_VERSION = 1,
    RECORD_MAGIC = 0x52534e47, /* "GNSR" */
    RECORD_HEAD = 16,
    PAIR = 16,
    SUM = 8,
    SUMMED = STREAM_HEADER - SUM,
    FILE_MODE = 0640,
    DIR_MODE = 0750,
    HEX_ORIGIN = 2 * RUN_ORIGIN_BYTES,
    START_BYTES = 8,
    INC_BYTES = 8,
    KEY_BYTES = 4
};
#define RECORD_BYTES_MAX \
    ((size_t)RECORD_HEAD + (size_t)STREAM_RECORD_MAX * PAIR + (size_t)SUM)

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

/* Cuts n bytes as hexadecimal small letters and the character behind them off s. */
static bool cut_hex(struct slice *s, size_t n, char end, uint64_t *ret)
{
    uint8_t bytes[START_BYTES];
    uint64_t v = 0;
    struct slice digits = slice_head(*s, 2 * n);

    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] >= 'A' && digits.p[i] <= 'F') {
            return false; /* one name for a stream */
        }
    }
    if (s->n <= 2 * n || s->p[2 * n] != end || !hex_parse(digits, bytes, n)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        v = v << 8 | bytes[i];
    }
    *s = slice_from(*s, 2 * n + 1);
    *ret = v;
    return true;
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
    if (!cut_hex(&name, START_BYTES, '-', &id.start_s) ||
        !cut_hex(&name, INC_BYTES, '-', &id.inc) ||
        !cut_hex(&name, KEY_BYTES, '.', &key) || !slice_eq(name, SLICE_LIT("stream"))) {
        return false;
    }
    id.key_id = (uint32_t)key;
    *ret = id;
    return is_possible(&id);
}

/* ---- the header ---- */

static void header_print(const struct run_id *id, struct buf *ret)
{
    buf_add_u64(ret, STREAM_MAGIC);
    buf_add_u32(ret, STREAM_VERSION);
    buf_add_u32(ret, 0);
    buf_add(ret, slice_of((const char *)id->origin, RUN_ORIGIN_BYTES));
    buf_add_u64(ret, id->inc);
    buf_add_u64(ret, id->start_s);
    buf_add_u32(ret, id->len_s);
    buf_add_u32(ret, id->key_id);
    buf_add_u64(ret, checksum64(buf_slice(ret)));
}

static enum err header_parse(struct slice bytes, const char *path, struct run_id *ret,
                             struct errinfo *reterr)
{
    struct cursor c = cursor_of(slice_head(bytes, STREAM_HEADER));
    uint64_t magic = cursor_u64(&c);
    uint32_t version = cursor_u32(&c);
    (void)cursor_u32(&c);
    struct slice origin = cursor_bytes(&c, RUN_ORIGIN_BYTES);
    struct run_id id = {.inc = cursor_u64(&c)};
    id.start_s = cursor_u64(&c);
    id.len_s = cursor_u32(&c);
    id.key_id = cursor_u32(&c);
    uint64_t sum = cursor_u64(&c);

    if (!cursor_done(&c) || magic != STREAM_MAGIC ||
        sum != checksum64(slice_head(bytes, SUMMED))) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "this is no stream of counts, or its header is damaged; "
                           "the hub makes it again when it is removed");
    }
    if (version != STREAM_VERSION) {
        return errinfo_set(reterr, ERR_VERSION, path, 0,
                           "a stream of counts in a format (%" PRIu32
                           ") of another version of gillnet",
                           version);
    }
    memcpy(id.origin, origin.p, RUN_ORIGIN_BYTES);
    if (!is_possible(&id)) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "a stream of counts of a bucket that cannot be");
    }
    *ret = id;
    return ERR_OK;
}

/* What every record's checksum is mixed with, so that a record of another stream is none. */
static uint64_t salt_of(struct slice header)
{
    return ~checksum64(slice_head(header, STREAM_HEADER));
}

/* ---- records ---- */

/* Up to n bytes from offset; fewer at the end of the file or where it cannot be read. */
static size_t read_some(int fd, uint64_t offset, void *dst, size_t n)
{
    size_t done = 0;

    while (done < n) {
        ssize_t got = pread(fd, (char *)dst + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        done += (size_t)got;
    }
    return done;
}

/* A file that is read record by record. */
struct source {
    int fd;
    uint64_t size;
    char *bytes; /* of the last record */
    size_t room;
};

static void source_fini(struct source *s)
{
    free(s->bytes);
    if (s->fd >= 0) {
        (void)close(s->fd);
    }
    *s = (struct source){.fd = -1};
}

static bool make_room(struct source *s, size_t n)
{
    char *more = n > s->room ? realloc(s->bytes, n) : s->bytes;

    if (more == NULL) {
        return false;
    }
    s->bytes = more;
    s->room = n > s->room ? n : s->room;
    return true;
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

/* The record at r->at; *ret its pairs, empty with retbytes 0 where it is not all there yet. Memory is
 * taken for what the file has, whatever the record says of itself. */
static enum err read_record(struct source *s, const struct stream_reader *r,
                            struct slice *ret, size_t *retbytes, uint64_t *retseq)
{
    char head[RECORD_HEAD];
    uint64_t left = s->size > r->at ? s->size - r->at : 0;

    *retbytes = 0;
    if (left < RECORD_HEAD ||
        read_some(s->fd, r->at, head, sizeof(head)) < sizeof(head)) {
        return ERR_OK;
    }
    struct cursor c = cursor_of(slice_of(head, sizeof(head)));
    uint32_t magic = cursor_u32(&c);
    uint32_t n = cursor_u32(&c);
    *retseq = cursor_u64(&c);
    if (magic != RECORD_MAGIC || n > STREAM_RECORD_MAX || *retseq <= r->seq) {
        return ERR_CORRUPT;
    }
    size_t bytes = RECORD_HEAD + (size_t)n * PAIR + SUM;
    if (left < bytes) {
        return ERR_OK;
    }
    if (!make_room(s, bytes)) {
        return ERR_NOMEM;
    }
    if (read_some(s->fd, r->at, s->bytes, bytes) < bytes) {
        return ERR_OK; /* cut meanwhile */
    }
    struct slice whole = slice_of(s->bytes, bytes);
    struct cursor end = cursor_of(slice_from(whole, bytes - SUM));
    *ret = slice_from(slice_head(whole, bytes - SUM), RECORD_HEAD);
    if (cursor_u64(&end) != (checksum64(slice_head(whole, bytes - SUM)) ^ r->salt) ||
        !pairs_hold(*ret)) {
        return ERR_CORRUPT;
    }
    *retbytes = bytes;
    return ERR_OK;
}

static void hand_over(struct slice pairs, stream_fn *fn, void *context)
{
    struct cursor c = cursor_of(pairs);

    while (!cursor_done(&c)) {
        struct run_record record = {.key = cursor_u64(&c)};
        record.count = cursor_u64(&c);
        fn(context, &record);
    }
}

/* From r->at to the last whole record; fn may be NULL. */
static enum err walk(struct source *s, struct stream_reader *r, const char *path,
                     stream_fn *fn, void *context, struct errinfo *reterr)
{
    for (;;) {
        struct slice pairs = SLICE_NONE;
        size_t bytes = 0;
        uint64_t seq = 0;
        enum err e = read_record(s, r, &pairs, &bytes, &seq);
        if (e == ERR_CORRUPT) {
            return errinfo_set(reterr, e, path, 0,
                               "the record at byte %" PRIu64 " is damaged; the hub "
                               "makes the file again when it is removed",
                               r->at);
        }
        if (e != ERR_OK) {
            return errinfo_set(reterr, e, path, 0, "no memory for a record");
        }
        if (bytes == 0) {
            return ERR_OK;
        }
        r->at += bytes;
        r->seq = seq;
        if (fn != NULL) {
            hand_over(pairs, fn, context);
        }
    }
}

/* ---- reading ---- */

static enum err source_open(const char *path, int flags, struct source *ret,
                            struct stat *retstat, struct errinfo *reterr)
{
    *ret = (struct source){.fd = -1};
    enum err e = file_sys_open_regular(path, flags, &ret->fd, &ret->size, reterr);
    if (e != ERR_OK) {
        ret->fd = -1;
        return e;
    }
    if (fstat(ret->fd, retstat) != 0) {
        e = errinfo_errno(reterr, path, "cannot look at the stream of counts");
        source_fini(ret);
        return e;
    }
    ret->size = (uint64_t)retstat->st_size;
    return ERR_OK;
}

static enum err read_header(const struct source *s, const char *path,
                            struct stream_reader *ret, struct errinfo *reterr)
{
    char head[STREAM_HEADER];
    size_t n = read_some(s->fd, 0, head, sizeof(head));
    enum err e = header_parse(slice_of(head, n), path, &ret->id, reterr);

    if (e == ERR_OK) {
        ret->at = STREAM_HEADER;
        ret->seq = 0;
        ret->salt = salt_of(slice_of(head, n));
    }
    return e;
}

enum err stream_reader_open(const char *path, struct stream_reader *ret,
                            struct errinfo *reterr)
{
    struct source s;
    struct stat st;
    enum err e = source_open(path, O_RDONLY, &s, &st, reterr);

    if (e != ERR_OK) {
        return e;
    }
    *ret = (struct stream_reader){.inode = (uint64_t)st.st_ino};
    e = read_header(&s, path, ret, reterr);
    source_fini(&s);
    return e;
}

enum err stream_reader_next(struct stream_reader *r, const char *path, stream_fn *fn,
                            void *context, struct errinfo *reterr)
{
    struct source s;
    struct stat st;
    enum err e = source_open(path, O_RDONLY, &s, &st, reterr);

    if (e != ERR_OK) {
        return e;
    }
    if ((uint64_t)st.st_ino != r->inode || s.size < r->at) {
        e = errinfo_set(reterr, ERR_CORRUPT, path, 0,
                        "another stream of counts took the place of this one");
    } else {
        e = walk(&s, r, path, fn, context, reterr);
    }
    source_fini(&s);
    return e;
}

/* ---- writing ---- */

struct stream_writer {
    struct stream_reader at; /* how far it is whole */
    int fd;
    char path[FILE_PATH_MAX];
};

static bool write_all(int fd, uint64_t offset, struct slice bytes)
{
    while (bytes.n > 0) {
        ssize_t n = pwrite(fd, bytes.p, bytes.n, (off_t)offset);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            errno = n == 0 ? ENOSPC : errno;
            return false;
        }
        offset += (uint64_t)n;
        bytes = slice_from(bytes, (size_t)n);
    }
    return true;
}

/* Puts bytes at the whole end; else the file is as it was. */
static enum err put(const struct stream_writer *w, struct slice bytes,
                    struct errinfo *reterr)
{
    if (write_all(w->fd, w->at.at, bytes)) {
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

    buf_init(&head, STREAM_HEADER);
    header_print(id, &head);
    enum err e = buf_failed(&head)
                     ? errinfo_set(reterr, ERR_NOMEM, w->path, 0, "out of memory")
                     : ERR_OK;
    if (e == ERR_OK && ftruncate(w->fd, 0) != 0) {
        e = errinfo_errno(reterr, w->path, "cannot begin a stream of counts");
    }
    w->at = (struct stream_reader){.id = *id};
    THEN(e, put(w, buf_slice(&head), reterr));
    if (e == ERR_OK) {
        w->at.at = STREAM_HEADER;
        w->at.salt = salt_of(buf_slice(&head));
    }
    buf_fini(&head);
    return e;
}

static bool same_id(const struct run_id *a, const struct run_id *b)
{
    return memcmp(a->origin, b->origin, RUN_ORIGIN_BYTES) == 0 && a->inc == b->inc &&
           a->start_s == b->start_s && a->len_s == b->len_s && a->key_id == b->key_id;
}

/* Finds the whole end of what is there, and cuts the rest. */
static enum err take_up(struct stream_writer *w, const struct run_id *id,
                        struct errinfo *reterr)
{
    struct source s = {.fd = w->fd};
    struct stat st;

    if (fstat(w->fd, &st) != 0) {
        return errinfo_errno(reterr, w->path, "cannot look at the stream of counts");
    }
    s.size = (uint64_t)st.st_size;
    if (s.size < STREAM_HEADER) {
        return begin_file(w, id, reterr);
    }
    enum err e = read_header(&s, w->path, &w->at, reterr);
    if (e == ERR_OK && !same_id(&w->at.id, id)) {
        e = errinfo_set(reterr, ERR_CORRUPT, w->path, 0,
                        "a stream of counts of another time or server than its name "
                        "says");
    }
    if (e != ERR_OK) {
        return e;
    }
    e = walk(&s, &w->at, w->path, NULL, NULL, reterr);
    s.fd = -1;
    source_fini(&s);
    if (e == ERR_CORRUPT) {
        e = ERR_OK; /* what follows is made again from the objects */
    }
    if (e == ERR_OK && (uint64_t)st.st_size > w->at.at &&
        ftruncate(w->fd, (off_t)w->at.at) != 0) {
        e = errinfo_errno(reterr, w->path, "cannot cut the torn end of a stream");
    }
    return e;
}

static enum err open_file(struct stream_writer *w, const char *dir,
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
        return errinfo_set(reterr, ERR_NOMEM, dir, 0, "out of memory");
    }
    w->fd = -1;
    enum err e = open_file(w, dir, id, reterr);
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
    buf_init(&bytes, RECORD_BYTES_MAX);
    buf_add_u32(&bytes, RECORD_MAGIC);
    buf_add_u32(&bytes, (uint32_t)n);
    buf_add_u64(&bytes, seq);
    for (size_t i = 0; i < n; i++) {
        buf_add_u64(&bytes, v[i].key);
        buf_add_u64(&bytes, v[i].count);
    }
    buf_add_u64(&bytes, checksum64(buf_slice(&bytes)) ^ w->at.salt);
    enum err e = buf_failed(&bytes)
                     ? errinfo_set(reterr, ERR_NOMEM, w->path, 0, "out of memory")
                     : put(w, buf_slice(&bytes), reterr);
    if (e == ERR_OK) {
        w->at.at += bytes.n;
        w->at.seq = seq;
    }
    buf_fini(&bytes);
    return e;
}

void stream_writer_close(struct stream_writer **w)
{
    if (*w != NULL) {
        if ((*w)->fd >= 0) {
            (void)close((*w)->fd);
        }
        free(*w);
        *w = NULL;
    }
}
