/* sync_store - one file for each signed object; the cursor moves once it is durable. */
#include <dirent.h>

#include "core/base/log.h"
#include "core/ring/sync/sync_modules.h"

enum { ID_HEX = 2 * OBJECT_ID_BYTES, SEQ_DIGITS = 20 };
static const size_t object_max = (size_t)OBJECT_SNAP_MAX + OBJECT_HEADER_BYTES;

/* ---- paths ---- */

static enum err stream_dir(const struct sync *s, const struct stream *st,
                           char ret[FILE_PATH_MAX])
{
    char origin[ID_HEX + 1];
    char id[ID_HEX + 1];
    hex_print(st->key.origin.b, OBJECT_ID_BYTES, origin);
    hex_print(st->id.b, OBJECT_ID_BYTES, id);
    return sync_path(s, ret, "objects/%s/%s", origin, id);
}

static enum err object_path(const struct sync *s, const struct stream *st, uint64_t seq,
                            char ret[FILE_PATH_MAX])
{
    char dir[FILE_PATH_MAX];
    enum err e = stream_dir(s, st, dir);
    return e != ERR_OK ? e : file_path(ret, "%s/%020" PRIu64, dir, seq);
}

/* The folders of the stream's objects, durable in their parents. */
static enum err make_dirs(const struct sync *s, const struct stream *st,
                          struct errinfo *reterr)
{
    char origin[ID_HEX + 1];
    char dir[FILE_PATH_MAX];
    char parent[FILE_PATH_MAX];
    char top[FILE_PATH_MAX];
    struct stat there;
    hex_print(st->key.origin.b, OBJECT_ID_BYTES, origin);
    if (stream_dir(s, st, dir) != ERR_OK ||
        sync_path(s, parent, "objects/%s", origin) != ERR_OK ||
        sync_path(s, top, "objects") != ERR_OK) {
        return errinfo_set(reterr, ERR_LIMIT, s->dir, 0, "the path is too long");
    }
    if (lstat(dir, &there) == 0) {
        return ERR_OK;
    }
    enum err e = file_make_dir(parent, SYNC_DIR_MODE, reterr);
    THEN(e, file_sync_dir(top, reterr));
    THEN(e, file_make_dir(dir, SYNC_DIR_MODE, reterr));
    return e == ERR_OK ? file_sync_dir(parent, reterr) : e;
}

/* ---- reading, writing ---- */

enum err sync_object_read(const struct sync *s, const struct stream *st, uint64_t seq,
                          struct buf *ret, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    if (object_path(s, st, seq, path) != ERR_OK) {
        return errinfo_set(reterr, ERR_LIMIT, s->dir, 0, "the path is too long");
    }
    struct buf b;
    buf_init(&b, object_max);
    enum err e = file_read(path, &b, reterr);
    if (e == ERR_OK && b.n < OBJECT_HEADER_BYTES) {
        e = errinfo_set(reterr, ERR_CORRUPT, path, 0, "this is no object");
    }
    if (e == ERR_OK) {
        buf_add(ret, buf_slice(&b));
        e = buf_failed(ret) ? errinfo_set(reterr, ERR_NOMEM, path, 0, "out of memory")
                            : ERR_OK;
    }
    buf_fini(&b);
    return e;
}

bool sync_object_is_there(const struct sync *s, const struct stream *st, uint64_t seq)
{
    char path[FILE_PATH_MAX];
    struct stat there;
    return object_path(s, st, seq, path) == ERR_OK && lstat(path, &there) == 0;
}

enum err sync_object_write(const struct sync *s, const struct stream *st, uint64_t seq,
                           struct slice bytes, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    if (object_path(s, st, seq, path) != ERR_OK) {
        return errinfo_set(reterr, ERR_LIMIT, s->dir, 0, "the path is too long");
    }
    return file_write_atomic(path, bytes, SYNC_FILE_MODE, reterr);
}

static enum err write_offer(const struct sync *s, const struct stream *st,
                            const struct offer *f, struct errinfo *reterr)
{
    struct file_out out;
    char path[FILE_PATH_MAX];
    enum err e = make_dirs(s, st, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (object_path(s, st, f->o.seq, path) != ERR_OK) {
        return errinfo_set(reterr, ERR_LIMIT, s->dir, 0, "the path is too long");
    }
    e = file_out_open(&out, path, SYNC_FILE_MODE, reterr);
    if (e == ERR_OK) {
        file_out_add(&out, f->header);
        file_out_add(&out, f->has_payload ? f->payload : SLICE_NONE);
        e = file_out_commit(&out, reterr);
    }
    return e;
}

/* What the cursor says once f is in. */
static struct stream advanced(const struct stream *st, const struct offer *f)
{
    struct stream next = *st;
    const uint64_t size = OBJECT_HEADER_BYTES + (f->has_payload ? f->payload.n : 0);
    const bool is_jump = f->o.seq != st->seq + 1;
    next.key_id = f->o.key_id;
    next.seq = f->o.seq;
    next.hash = f->hash;
    next.root = f->root;
    next.flags = f->o.flags;
    next.changed_ms = sync_now_ms();
    next.bytes += size;
    if (f->o.type == OBJECT_SNAP) {
        next.snap_seq = f->o.seq;
        next.snap = f->hash;
        next.snap_bytes = next.bytes;
    } else {
        next.records += f->o.records;
        next.total += f->o.total;
    }
    if (is_jump) { /* a SNAP: it is the whole */
        next.from = f->o.seq;
        next.bytes = size;
        next.snap_bytes = size;
        next.records = f->o.records;
        next.total = f->o.total;
    }
    if (f->is_own) {
        next.own_seq = f->o.seq;
    }
    return next;
}

static enum err put_position(struct table_txn *x, const struct offer *f)
{
    char key[1 + OBJECT_NAME_BYTES + 1] = "l";
    if (!f->list) {
        return ERR_OK;
    }
    const size_t n = strlen(f->list);
    memcpy(key + 1, f->list, n);
    return table_put(x, slice_of(key, 1 + n), f->position);
}

static enum err put_signed(struct table_txn *x, uint64_t nsigned)
{
    struct buf b;
    buf_init(&b, sizeof(nsigned));
    buf_add_u64(&b, nsigned);
    enum err e =
        buf_failed(&b) ? ERR_NOMEM : table_put(x, SLICE_LIT("self"), buf_slice(&b));
    buf_fini(&b);
    return e;
}

/* Objects that a SNAP took the place of. What stays is removed at the next start. */
static void remove_range(const struct sync *s, const struct stream *st, uint64_t from,
                         uint64_t to)
{
    for (uint64_t seq = from; seq < to; seq++) {
        char path[FILE_PATH_MAX];
        if (object_path(s, st, seq, path) == ERR_OK) {
            (void)unlink(path);
        }
    }
}

enum err sync_keep(struct sync *s, struct offer *f, struct errinfo *reterr)
{
    struct stream *st = f->stream;
    const uint64_t first = st->from;
    const uint64_t last = st->seq;
    struct table_txn *x = NULL;
    const struct stream next = advanced(st, f);
    const uint64_t was = st->bytes;
    enum err e = write_offer(s, st, f, reterr);
    THEN(e, table_begin(s->table, true, &x, reterr));
    if (e != ERR_OK) {
        return e;
    }
    e = sync_put_cursor(x, &next);
    if (e == ERR_OK && f->is_own) {
        e = put_signed(x, s->nsigned + 1);
    }
    THEN(e, put_position(x, f));
    if (e != ERR_OK) {
        table_abort(&x);
        return errinfo_set(reterr, e, s->dir, 0, "cannot note how far a stream is: %s",
                           err_text(e));
    }
    e = table_commit(&x, reterr);
    if (e == ERR_OK) {
        *st = next;
        st->version = sync_bump(s);
        st->origin->bytes += st->bytes - was;
        s->nsigned += f->is_own;
        remove_range(s, st, first, st->from > last ? last + 1 : first);
    }
    return e;
}

/* ---- removing ---- */

enum err sync_trim(struct sync *s, struct stream *st, uint64_t seq,
                   struct errinfo *reterr)
{
    struct stream next = *st;
    if (seq <= st->from) {
        return ERR_OK;
    }
    next.from = seq;
    for (uint64_t i = st->from; i < seq; i++) {
        char path[FILE_PATH_MAX];
        struct stat there;
        if (object_path(s, st, i, path) == ERR_OK && lstat(path, &there) == 0) {
            const uint64_t n = (uint64_t)there.st_size;
            next.bytes -= n < next.bytes ? n : next.bytes;
            next.snap_bytes -= n < next.snap_bytes ? n : next.snap_bytes;
        }
    }
    /* first said, then done: what stays after a crash is removed at the next start */
    enum err e = sync_save(s, &next, reterr);
    if (e != ERR_OK) {
        return e;
    }
    remove_range(s, st, st->from, seq);
    st->origin->bytes -= st->bytes - next.bytes;
    next.version = sync_bump(s);
    *st = next;
    return ERR_OK;
}

void sync_remove_objects(const struct sync *s, const struct stream *st)
{
    char path[FILE_PATH_MAX];
    struct errinfo why;
    if (stream_dir(s, st, path) == ERR_OK && file_remove_tree(path, &why) != ERR_OK) {
        log_errinfo("peers", &why); /* tried again at the next start */
    }
}

/* ---- after a crash ---- */

/* A file named by a number: which. */
static bool seq_of(const char *name, uint64_t *ret)
{
    uint64_t v = 0;
    if (strlen(name) != SEQ_DIGITS) {
        return false;
    }
    for (const char *p = name; *p; p++) {
        if (*p < '0' || *p > '9' || v > UINT64_MAX / 10 - 1) {
            return false;
        }
        v = v * 10 + (uint64_t)(*p - '0');
    }
    *ret = v;
    return true;
}

bool sync_adopt(struct sync *s, struct stream *st, uint64_t seq)
{
    struct buf bytes;
    struct errinfo why;
    buf_init(&bytes, object_max);
    enum sync_result r = SYNC_TROUBLE;
    if (sync_object_read(s, st, seq, &bytes, &why) == ERR_OK) {
        s->is_adopting = st->own_seq == st->seq;
        r = sync_offer(s, buf_slice(&bytes), &why);
        s->is_adopting = false;
    }
    buf_fini(&bytes);
    return r == SYNC_APPLIED;
}

/* The files of one stream's folder: those outside from..seq are nobody's, but the next of ours. */
static void finish_stream(struct sync *s, struct stream *st, const char *dir)
{
    DIR *d = opendir(dir);
    const struct dirent *entry = NULL;
    if (!d) {
        return;
    }
    bool may_adopt = sync_is_self(s, &st->key.origin) && !st->is_left &&
                     sync_object_is_there(s, st, st->seq + 1);
    if (may_adopt && st->seq > 0 && st->key.kind == OBJECT_COUNT) {
        may_adopt = sync_count_recover(s, st, NULL) == ERR_OK; /* in order */
    }
    while (may_adopt && sync_adopt(s, st, st->seq + 1)) {
        may_adopt = sync_object_is_there(s, st, st->seq + 1);
    }
    /* cppcheck-suppress readdirCalled ; the stream is ours alone */
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the folder is this thread's own */
    while ((entry = readdir(d)) != NULL) {
        char path[FILE_PATH_MAX];
        uint64_t seq = 0;
        bool is_good = seq_of(entry->d_name, &seq) && seq >= st->from && seq <= st->seq;
        if (entry->d_name[0] != '.' && !is_good &&
            file_path(path, "%s/%s", dir, entry->d_name) == ERR_OK) {
            (void)unlink(path);
        }
    }
    (void)closedir(d);
}

/* The stream that an own object begins, which no cursor knows yet. */
static struct stream *begun(struct sync *s, struct origin *o, const char *dir)
{
    char path[FILE_PATH_MAX];
    struct buf bytes;
    struct object first;
    struct stream *st = NULL;
    buf_init(&bytes, object_max);
    if (file_path(path, "%s/%020d", dir, 1) == ERR_OK &&
        file_read(path, &bytes, NULL) == ERR_OK &&
        object_parse(buf_slice(&bytes), &first, NULL) == ERR_OK &&
        sync_is_self(s, &first.stream.origin)) {
        st = sync_add(s, &first.stream, o);
    }
    buf_fini(&bytes);
    return st;
}

static void finish_folder(struct sync *s, struct origin *o, const char *dir,
                          const char *name)
{
    struct object_id id;
    struct errinfo why;
    struct stream *st = NULL;
    if (hex_parse(slice_str(name), id.b, OBJECT_ID_BYTES)) {
        st = sync_find(s, &id);
        if (!st && sync_is_self(s, &o->id)) {
            st = begun(s, o, dir);
        }
    }
    if (st) {
        finish_stream(s, st, dir);
    }
    if (st && st->seq == 0 && sync_erase(s, st, &why) == ERR_OK) {
        st = NULL;
    }
    if (!st && file_remove_tree(dir, &why) != ERR_OK) {
        log_errinfo("peers", &why);
    }
}

enum err sync_finish_objects(struct sync *s, struct errinfo *reterr)
{
    for (unsigned i = 0; i < s->norigins; i++) {
        char dir[FILE_PATH_MAX];
        char hex[ID_HEX + 1];
        const struct dirent *entry = NULL;
        hex_print(s->origins[i]->id.b, OBJECT_ID_BYTES, hex);
        if (sync_path(s, dir, "objects/%s", hex) != ERR_OK) {
            return errinfo_set(reterr, ERR_LIMIT, s->dir, 0, "the path is too long");
        }
        DIR *d = opendir(dir);
        /* cppcheck-suppress readdirCalled ; the stream is ours alone */
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): the folder is this thread's own */
        while (d && (entry = readdir(d)) != NULL) {
            char sub[FILE_PATH_MAX];
            if (entry->d_name[0] != '.' &&
                file_path(sub, "%s/%s", dir, entry->d_name) == ERR_OK) {
                finish_folder(s, s->origins[i], sub, entry->d_name);
            }
        }
        if (d) {
            (void)closedir(d);
        }
    }
    return ERR_OK;
}
