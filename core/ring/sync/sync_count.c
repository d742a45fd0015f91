/* sync_count - COUNT streams: files that gillnetd follows, then runs when the bucket has ended. */
#include "core/base/dir_walk.h"
#include "core/base/log.h"
#include "core/count/merged_runs.h"
#include "core/count/runset.h"
#include "core/ring/sync/sync_modules.h"

/* ---- files ---- */

static struct run_id id_of(const struct stream *st)
{
    struct run_id id = {.inc = st->key.inc,
                        .start_s = st->key.start_s,
                        .len_s = st->key.len_s,
                        .key_id = st->key.ring_key};
    memcpy(id.origin, st->key.origin.b, OBJECT_ID_BYTES);
    return id;
}

static enum err dir_of(const struct sync *s, const struct stream *st,
                       char ret[FILE_PATH_MAX], struct errinfo *reterr)
{
    return sync_path(s, ret, reterr, "%s",
                     sync_is_self(s, &st->key.origin) ? "own" : "counts");
}

static enum err file_of(const struct sync *s, const struct stream *st,
                        char ret[FILE_PATH_MAX], struct errinfo *reterr)
{
    char dir[FILE_PATH_MAX];
    const struct run_id id = id_of(st);
    enum err e = dir_of(s, st, dir, reterr);
    if (e == ERR_OK && stream_path(ret, dir, &id) != ERR_OK) {
        e = errinfo_set(reterr, ERR_LIMIT, dir, 0, "the path is too long");
    }
    return e;
}

static enum err run_of(const struct sync *s, const struct stream *st,
                       char ret[FILE_PATH_MAX], struct errinfo *reterr)
{
    char dir[FILE_PATH_MAX];
    char name[FILE_PATH_MAX];
    const struct run_id id = id_of(st);
    enum err e = dir_of(s, st, dir, reterr);
    THEN(e, runset_name(&id, name));
    THEN(e, path_make(ret, reterr, "%s/runs/%s", dir, name));
    return e;
}

static bool is_sealed(const struct sync *s, const struct stream *st)
{
    char path[FILE_PATH_MAX];
    return run_of(s, st, path, NULL) == ERR_OK && access(path, F_OK) == 0;
}

/* ---- writers ---- */

static void close_writer(struct sync *s, struct stream *st)
{
    if (st->writer) {
        stream_writer_close(&st->writer);
        s->nwriters--;
    }
}

static void close_least_used(struct sync *s)
{
    struct stream *least = NULL;
    for (size_t i = 0; i < s->nslots; i++) {
        for (struct stream *st = s->slots[i]; st; st = st->next) {
            if (st->writer && (!least || st->used < least->used)) {
                least = st;
            }
        }
    }
    if (least) {
        close_writer(s, least);
    }
}

static enum err open_writer(struct sync *s, struct stream *st, struct errinfo *reterr)
{
    char dir[FILE_PATH_MAX];
    const struct run_id id = id_of(st);
    st->used = ++s->uses;
    if (st->writer) {
        return ERR_OK;
    }
    if (s->nwriters >= SYNC_WRITERS_MAX) {
        close_least_used(s);
    }
    enum err e = dir_of(s, st, dir, reterr);
    THEN(e, stream_writer_open(dir, &id, &st->writer, &st->written, reterr));
    s->nwriters += e == ERR_OK;
    return e;
}

/* ---- content ---- */

static void take_record(void *context, const struct run_record *record)
{
    content_add(context, record->key, record->count);
}

static enum err read_stream_file(const char *path, struct content *ret,
                                 struct errinfo *reterr)
{
    struct pair_log_place r;
    enum err e = stream_reader_open(path, &r, reterr);
    if (e == ERR_NOT_FOUND) {
        return ERR_OK;
    }
    return e != ERR_OK ? e : stream_reader_next(&r, path, take_record, ret, reterr);
}

static enum err read_run(const char *path, struct content *ret, struct errinfo *reterr)
{
    struct run *run = NULL;
    struct run_cursor *c = malloc(sizeof(*c));
    struct run_record record;
    enum err e = c ? run_open(path, &run, reterr) : ERR_NOMEM;
    if (e == ERR_OK) {
        run_cursor_init(c, run, 0, UINT64_MAX);
        while ((e = run_cursor_next(c, &record)) == ERR_OK) {
            content_add(ret, record.key, record.count);
        }
        e = e == ERR_NOT_FOUND ? ERR_OK
                               : errinfo_set(reterr, e, path, 0, "a block is damaged");
        run_close(&run);
    }
    free(c);
    return e;
}

enum err sync_count_content(struct sync *s, struct stream *st, struct content *ret,
                            struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    const bool is_run = is_sealed(s, st);
    enum err e = (is_run ? run_of : file_of)(s, st, path, reterr);
    THEN(e, (is_run ? read_run : read_stream_file)(path, ret, reterr));
    THEN(e, content_sort(ret, reterr));
    if (e != ERR_OK) {
        content_fini(ret);
    }
    return e;
}

/* Adds the records of object seq to c. */
static enum err add_object(struct sync *s, struct stream *st, uint64_t seq,
                           struct content *c, struct errinfo *reterr)
{
    struct buf bytes;
    struct offer f = {.stream = st};
    struct count_record record;
    buf_init(&bytes, (size_t)OBJECT_SNAP_MAX + OBJECT_HEADER_BYTES);
    enum err e = sync_offer_stored(s, st, seq, &bytes, &f, reterr);
    while (e == ERR_OK && f.o.type == OBJECT_DELTA &&
           payload_next_count(&f.reader, &record)) {
        content_add(c, record.key, record.count);
    }
    offer_fini(&f);
    buf_fini(&bytes);
    return e;
}

enum err sync_count_own(struct sync *s, struct stream *st, struct content *ret,
                        struct errinfo *reterr)
{
    enum err e = ERR_OK;
    if (st->own_seq == st->seq) {
        return sync_count_content(s, st, ret, reterr);
    }
    if (st->from > 1 && st->own_seq > 0) {
        return errinfo_set(reterr, ERR_NOT_FOUND, s->dir, 0,
                           "the objects of an own stream are missing");
    }
    for (uint64_t seq = 1; seq <= st->own_seq && e == ERR_OK; seq++) {
        e = add_object(s, st, seq, ret, reterr);
    }
    THEN(e, content_sort(ret, reterr));
    if (e != ERR_OK) {
        content_fini(ret);
    }
    return e;
}

/* ---- checking an object ---- */

/* Whether the SNAP f has all counts that are held. */
static enum sync_result covers(struct sync *s, struct offer *f, struct errinfo *reterr)
{
    struct content held = {.v = NULL};
    struct payload_reader r = f->reader;
    struct count_record record = {0};
    if (sync_count_content(s, f->stream, &held, reterr) != ERR_OK) {
        return SYNC_TROUBLE;
    }
    size_t i = 0;
    while (i < held.n && payload_next_count(&r, &record)) {
        if (record.key == held.v[i].key && record.count >= held.v[i].count) {
            i++;
        } else if (record.key >= held.v[i].key) {
            break;
        }
    }
    const bool has_all = i == held.n;
    content_fini(&held);
    if (!has_all) {
        (void)errinfo_set(reterr, ERR_RANGE, "snap", 0,
                          "the SNAP has less than its origin signed before");
    }
    return has_all ? SYNC_APPLIED : SYNC_ROOT;
}

static enum sync_result check_count(struct sync *s, struct offer *f,
                                    struct errinfo *reterr)
{
    const struct stream *st = f->stream;
    const bool is_whole = f->o.type == OBJECT_SNAP;
    const uint64_t before = st && !is_whole ? st->total : 0;
    struct payload_reader r = f->reader;
    struct count_record some[ROOT_SOME];
    struct root root = {{0}};
    uint64_t total = 0; /* below 2^64, as the reader checked */
    size_t n = 0;
    if (st && !is_whole) {
        root = st->root;
    }
    do {
        for (n = 0; n < ROOT_SOME && payload_next_count(&r, &some[n]); n++) {
            total += some[n].count;
        }
        root_add_counts(&root, &f->o.ring, some, n);
    } while (n == ROOT_SOME);
    if (total >= SYNC_TOTAL_MAX) {
        (void)errinfo_set(reterr, ERR_LIMIT, "total", 0, "it counts too much");
        return SYNC_QUOTA;
    }
    if (total != f->o.total) {
        (void)errinfo_set(reterr, ERR_RANGE, "total", 0,
                          "the records do not add up to it");
        return SYNC_PAYLOAD;
    }
    if (before + total >= SYNC_TOTAL_MAX) {
        (void)errinfo_set(reterr, ERR_LIMIT, "total", 0, "the stream counts too much");
        return SYNC_QUOTA;
    }
    f->root = root;
    return is_whole && st && st->seq > 0 ? covers(s, f, reterr) : SYNC_APPLIED;
}

/* ---- applying ---- */

static enum err add_records(struct sync *s, struct stream *st, uint64_t seq,
                            const struct content *c, struct errinfo *reterr)
{
    enum err e = c->failed ? errinfo_nomem(reterr, s->dir) : ERR_OK;
    if (e == ERR_OK && c->n > 0) {
        e = stream_writer_add(st->writer, seq, c->v, c->n, reterr);
    }
    if (e == ERR_OK && c->n > 0) {
        st->written = seq;
    }
    return e;
}

/* Adds the records of a DELTA, or the counts of a SNAP that are not held yet. */
static enum err apply_records(struct sync *s, struct offer *f, struct errinfo *reterr)
{
    struct content held = {.v = NULL};
    struct content more = {.v = NULL};
    struct payload_reader r = f->reader;
    struct count_record record;
    size_t i = 0;
    if (f->stream->written >= f->o.seq) {
        return ERR_OK;
    }
    enum err e = f->o.type == OBJECT_SNAP
                     ? sync_count_content(s, f->stream, &held, reterr)
                     : ERR_OK;
    content_reserve(&more, f->o.type == OBJECT_SNAP ? 0 : (size_t)f->o.records);
    while (e == ERR_OK && payload_next_count(&r, &record)) {
        while (i < held.n && held.v[i].key < record.key) {
            i++;
        }
        uint64_t has = i < held.n && held.v[i].key == record.key ? held.v[i].count : 0;
        if (record.count > has) {
            content_add(&more, record.key, record.count - has);
        }
    }
    THEN(e, add_records(s, f->stream, f->o.seq, &more, reterr));
    content_fini(&held);
    content_fini(&more);
    return e;
}

static enum err write_run(struct sync *s, struct stream *st, const struct content *c,
                          struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct run_writer *w = NULL;
    const struct run_id id = id_of(st);
    enum err e = run_of(s, st, path, reterr);
    THEN(e, run_writer_new(path, &id, &w, reterr));
    for (size_t i = 0; e == ERR_OK && i < c->n; i++) {
        run_writer_add(w, &c->v[i]);
    }
    return e != ERR_OK ? e : run_writer_commit(&w, reterr);
}

enum err sync_count_seal(struct sync *s, struct stream *st, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct content c = {.v = NULL};
    uint64_t total = 0;
    enum err e = file_of(s, st, path, reterr);
    if (e == ERR_OK && !is_sealed(s, st)) {
        e = sync_count_content(s, st, &c, reterr);
        for (size_t i = 0; i < c.n; i++) {
            total += c.v[i].count;
        }
        if (e == ERR_OK && total != st->total) {
            e = errinfo_set(reterr, ERR_CORRUPT, path, 0,
                            "it has not what was applied; the hub makes it again from "
                            "the objects when it starts");
        }
        if (e == ERR_OK && c.n > 0) {
            e = write_run(s, st, &c, reterr);
        }
        content_fini(&c);
    }
    if (e == ERR_OK) {
        close_writer(s, st);
        if (unlink(path) != 0 && errno != ENOENT) {
            e = errinfo_errno(reterr, path,
                              "cannot remove the file of an ended stream");
        }
    }
    return e;
}

static enum err apply_count(struct sync *s, struct offer *f, struct errinfo *reterr)
{
    struct stream *st = f->stream;
    const bool is_end = (f->o.flags & OBJECT_CLOSED) != 0;
    enum err e = ERR_OK;
    if (is_sealed(s, st)) {
        return is_end ? sync_strip(s, f, reterr) : ERR_OK;
    }
    if (f->has_payload) {
        e = open_writer(s, st, reterr);
        THEN(e, apply_records(s, f, reterr));
    }
    if (e == ERR_OK && is_end) {
        e = sync_count_seal(s, st, reterr);
        THEN(e, sync_strip(s, f, reterr)); /* its run is there */
    }
    return e;
}

static enum err snap_count(struct sync *s, struct stream *st, struct buf *ret,
                           uint64_t *retrecords, struct errinfo *reterr)
{
    struct content c = {.v = NULL};
    enum err e = sync_count_content(s, st, &c, reterr);
    if (e != ERR_OK) {
        return e;
    }
    struct count_record *v = malloc((c.n + 1) * sizeof(*v));
    for (size_t i = 0; v && i < c.n; i++) {
        v[i] = (struct count_record){c.v[i].key, c.v[i].count};
    }
    if (v) {
        payload_print_counts(v, c.n, ret);
    }
    if (!v || buf_failed(ret)) {
        e = errinfo_nomem(reterr, s->dir);
    }
    *retrecords = c.n;
    free(v);
    content_fini(&c);
    return e;
}

const struct kind_ops sync_count_ops = {check_count, apply_count, snap_count};

/* ---- recovery and removal ---- */

enum err sync_count_recover(struct sync *s, struct stream *st, struct errinfo *reterr)
{
    const bool is_closed = (st->flags & OBJECT_CLOSED) != 0;
    if (is_sealed(s, st) || (is_closed && st->total == 0)) {
        return sync_count_seal(s, st, reterr); /* its file may be left */
    }
    enum err e = open_writer(s, st, reterr);
    if (e == ERR_OK) {
        st->applied = st->written < st->from ? st->from - 1 : st->written;
        e = sync_catch_up(s, st, reterr);
    }
    return e;
}

void sync_count_remove(struct sync *s, struct stream *st)
{
    char path[FILE_PATH_MAX];
    close_writer(s, st);
    if (file_of(s, st, path, NULL) == ERR_OK) {
        (void)unlink(path);
    }
    if (run_of(s, st, path, NULL) == ERR_OK) {
        (void)unlink(path);
    }
}

/* Removes the runs with the origin in their names. */
static enum err remove_runs(const char *dir, const char *hex, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    struct dir_walk w = dir_walk_begin(dir, DIR_OPTIONAL);
    while (dir_walk_next(&w)) {
        char path[FILE_PATH_MAX];
        if (strstr(w.name, hex) &&
            path_make(path, NULL, "%s/%s", dir, w.name) == ERR_OK &&
            unlink(path) != 0 && errno != ENOENT) {
            e = errinfo_errno(reterr, path, "cannot remove a run");
        }
    }
    return dir_walk_end(&w, e, reterr);
}

enum err sync_count_drop(struct sync *s, const struct object_id *origin,
                         struct errinfo *reterr)
{
    const struct object_id_hex hex = object_id_hex(origin);
    char path[FILE_PATH_MAX];
    sync_work_wait(s); /* a day being merged may have it */
    enum err e = sync_path(s, path, reterr, "counts/%s", hex.digits);
    THEN(e, file_remove_tree(path, reterr));
    THEN(e, sync_path(s, path, reterr, "counts/runs"));
    THEN(e, remove_runs(path, hex.digits, reterr));
    THEN(e, sync_path(s, path, reterr, "counts"));
    if (e == ERR_OK) {
        e = merged_runs_drop(path, origin->b, reterr);
        s->merged_at_s = 0; /* those of other origins are made again */
    }
    return e;
}

/* ---- counts that go through a store ---- */

bool sync_takes_counts(const struct sync *s)
{
    return !s->has_store || s->manifest.kind != RING_OWN;
}

static enum err leave_counts_of(struct sync *s, struct origin *o,
                                struct errinfo *reterr)
{
    struct stream *next = NULL;
    bool has_any = false;
    enum err e = ERR_OK;
    for (struct stream *st = o->streams; st && e == ERR_OK; st = next) {
        next = st->of_origin;
        if (st->key.kind == OBJECT_COUNT) {
            has_any = true;
            sync_count_remove(s, st);
            e = sync_erase(s, st, false, reterr);
        }
    }
    if (has_any && e == ERR_OK) {
        log_warn("event=store state=counts: what peer %s counted before the store was "
                 "configured is removed",
                 o->name);
    }
    THEN(e, sync_count_drop(s, &o->id, reterr));
    return e;
}

enum err sync_count_leave(struct sync *s, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    for (unsigned i = 0; i < s->norigins && e == ERR_OK && !sync_takes_counts(s); i++) {
        if (!sync_is_self(s, &s->origins[i]->id)) {
            e = leave_counts_of(s, s->origins[i], reterr);
        }
    }
    return e;
}
