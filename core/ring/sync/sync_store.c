/* sync_store - one file for each signed object; the cursor moves after the file is durable. */
#include "core/base/dir_walk.h"
#include "core/base/log.h"
#include "core/ring/sync/sync_modules.h"

enum { SEQ_DIGITS = 20 };
static const size_t object_max = (size_t)OBJECT_SNAP_MAX + OBJECT_HEADER_BYTES;

/* ---- paths ---- */

static enum err stream_dir(const struct sync *s, const struct stream *st,
                           char ret[FILE_PATH_MAX], struct errinfo *reterr)
{
    return sync_path(s, ret, reterr, "objects/%s/%s",
                     object_id_hex(&st->key.origin).digits,
                     object_id_hex(&st->id).digits);
}

static enum err object_path(const struct sync *s, const struct stream *st, uint64_t seq,
                            char ret[FILE_PATH_MAX], struct errinfo *reterr)
{
    char dir[FILE_PATH_MAX];
    enum err e = stream_dir(s, st, dir, reterr);
    return e == ERR_OK ? path_make(ret, reterr, "%s/%020" PRIu64, dir, seq) : e;
}

/* The folders of the stream's objects, durable in their parents. */
static enum err make_dirs(const struct sync *s, const struct stream *st,
                          struct errinfo *reterr)
{
    char dir[FILE_PATH_MAX];
    char parent[FILE_PATH_MAX];
    char top[FILE_PATH_MAX];
    enum err e = stream_dir(s, st, dir, reterr);
    THEN(e, sync_path(s, parent, reterr, "objects/%s",
                      object_id_hex(&st->key.origin).digits));
    THEN(e, sync_path(s, top, reterr, "objects"));
    if (e != ERR_OK || access(dir, F_OK) == 0) {
        return e;
    }
    e = file_make_dir(parent, SYNC_DIR_MODE, reterr);
    THEN(e, file_sync_dir(top, reterr));
    THEN(e, file_make_dir(dir, SYNC_DIR_MODE, reterr));
    return e == ERR_OK ? file_sync_dir(parent, reterr) : e;
}

/* ---- reading, writing ---- */

enum err sync_object_read(const struct sync *s, const struct stream *st, uint64_t seq,
                          struct buf *ret, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    const size_t before = ret->n;
    enum err e = object_path(s, st, seq, path, reterr);
    THEN(e, file_read(path, ret, reterr));
    if (e == ERR_OK && ret->n - before < OBJECT_HEADER_BYTES) {
        e = errinfo_set(reterr, ERR_CORRUPT, path, 0, "this is no object");
    }
    return e;
}

enum err sync_header(const struct sync *s, const struct object_id *stream, uint64_t seq,
                     struct object *ret)
{
    char path[FILE_PATH_MAX];
    char header[OBJECT_HEADER_BYTES];
    const struct stream *st = sync_find(s, stream);
    if (!st || object_path(s, st, seq, path, NULL) != ERR_OK) {
        return ERR_NOT_FOUND;
    }
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT ? ERR_NOT_FOUND : ERR_IO;
    }
    const size_t n = file_read_at(fd, 0, header, sizeof(header));
    (void)close(fd);
    return object_parse(slice_of(header, n), ret, NULL);
}

bool sync_object_is_there(const struct sync *s, const struct stream *st, uint64_t seq)
{
    char path[FILE_PATH_MAX];
    return object_path(s, st, seq, path, NULL) == ERR_OK && access(path, F_OK) == 0;
}

enum err sync_object_write(const struct sync *s, const struct stream *st, uint64_t seq,
                           struct slice bytes, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = object_path(s, st, seq, path, reterr);
    return e == ERR_OK ? file_write_atomic(path, bytes, SYNC_FILE_MODE, reterr) : e;
}

static enum err write_offer(const struct sync *s, const struct stream *st,
                            const struct offer *f, struct errinfo *reterr)
{
    struct file_out out;
    char path[FILE_PATH_MAX];
    enum err e = make_dirs(s, st, reterr);
    THEN(e, object_path(s, st, f->o.seq, path, reterr));
    THEN(e, file_out_open(&out, path, SYNC_FILE_MODE, reterr));
    if (e == ERR_OK) {
        file_out_add(&out, f->header);
        file_out_add(&out, f->has_payload ? f->payload : SLICE_NONE);
        e = file_out_commit(&out, reterr);
    }
    return e;
}

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
    if (is_jump) { /* a SNAP has the whole stream */
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

/* Removes objects that a SNAP replaced. The next start removes those that stay. */
static void remove_range(const struct sync *s, const struct stream *st, uint64_t from,
                         uint64_t to)
{
    for (uint64_t seq = from; seq < to; seq++) {
        char path[FILE_PATH_MAX];
        if (object_path(s, st, seq, path, NULL) == ERR_OK) {
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
        e = sync_put_number(x, "self", s->nsigned + 1);
    }
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
        if (object_path(s, st, i, path, NULL) == ERR_OK && lstat(path, &there) == 0) {
            const uint64_t n = (uint64_t)there.st_size;
            next.bytes -= n < next.bytes ? n : next.bytes;
            next.snap_bytes -= n < next.snap_bytes ? n : next.snap_bytes;
        }
    }
    /* the cursor first: files that stay after a crash are removed at the next start */
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
    if (stream_dir(s, st, path, NULL) == ERR_OK &&
        file_remove_tree(path, &why) != ERR_OK) {
        log_errinfo("peers", &why); /* tried again at the next start */
    }
}

/* ---- after a crash ---- */

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

/* Removes files outside from..seq from a stream's folder; the next own object is adopted. */
static void finish_stream(struct sync *s, struct stream *st, const char *dir)
{
    bool may_adopt = sync_is_self(s, &st->key.origin) && !st->is_left &&
                     sync_object_is_there(s, st, st->seq + 1);
    if (may_adopt && st->seq > 0 && st->key.kind == OBJECT_COUNT) {
        may_adopt = sync_count_recover(s, st, NULL) == ERR_OK; /* in order */
    }
    while (may_adopt && sync_adopt(s, st, st->seq + 1)) {
        may_adopt = sync_object_is_there(s, st, st->seq + 1);
    }
    struct dir_walk w = dir_walk_begin(dir, DIR_OPTIONAL);
    while (dir_walk_next(&w)) {
        char path[FILE_PATH_MAX];
        struct slice name = slice_str(w.name);
        uint64_t seq = 0;
        bool is_good = name.n == SEQ_DIGITS &&
                       slice_to_u64(name, 10, UINT64_MAX, &seq) && seq >= st->from &&
                       seq <= st->seq;
        if (w.name[0] != '.' && !is_good &&
            path_make(path, NULL, "%s/%s", dir, w.name) == ERR_OK) {
            (void)unlink(path);
        }
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
}

/* The stream of an own first object without a cursor. */
static struct stream *begun(struct sync *s, struct origin *o, const char *dir)
{
    char path[FILE_PATH_MAX];
    struct buf bytes;
    struct object first;
    struct stream *st = NULL;
    buf_init(&bytes, object_max);
    if (path_make(path, NULL, "%s/%020d", dir, 1) == ERR_OK &&
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
    if (st && st->seq == 0 && sync_erase(s, st, false, &why) == ERR_OK) {
        st = NULL;
    }
    if (!st && file_remove_tree(dir, &why) != ERR_OK) {
        log_errinfo("peers", &why);
    }
}

enum err sync_finish_objects(struct sync *s, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    for (unsigned i = 0; i < s->norigins && e == ERR_OK; i++) {
        char dir[FILE_PATH_MAX];
        char sub[FILE_PATH_MAX];
        e = sync_path(s, dir, reterr, "objects/%s",
                      object_id_hex(&s->origins[i]->id).digits);
        if (e != ERR_OK) {
            return e;
        }
        struct dir_walk w = dir_walk_begin(dir, DIR_OPTIONAL);
        while (dir_walk_next(&w)) {
            if (w.name[0] != '.' &&
                path_make(sub, NULL, "%s/%s", dir, w.name) == ERR_OK) {
                finish_folder(s, s->origins[i], sub, w.name);
            }
        }
        (void)dir_walk_end(&w, ERR_OK, NULL);
    }
    return e;
}
