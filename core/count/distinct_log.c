/* distinct_log - triples in a file of ten minutes, written and followed. */
#include "core/count/distinct_log.h"

#include <fcntl.h>
#include <pthread.h>

#include "core/base/dir_walk.h"
#include "core/base/file.h"
#include "core/count/pair_log.h"
#include "core/count/runset_internal.h"

enum { FILE_MODE = 0640, MARK_AT = 6, PAIRS_OF_TRIPLE = 2 };

static const struct pair_log_form form = {
    .magic = UINT64_C(0x31424d4d434e4747), /* "GGNCMMB1" */
    .record_magic = 0x524d4e47,            /* "GNMR" */
    .pairs_max = DISTINCT_LOG_MAX * PAIRS_OF_TRIPLE,
    .is_dense = true};

/* ---- the mark ---- */

void count_mark_member(struct digest *d)
{
    d->b[MARK_AT] = COUNT_MEMBER_MARK >> 8;
    d->b[MARK_AT + 1] = COUNT_MEMBER_MARK & 0xff;
}

bool count_is_member_key(uint64_t key)
{
    return (key & 0xffff) == COUNT_MEMBER_MARK;
}

/* ---- names ---- */

static bool parse_name(struct slice name, uint64_t *retstart_s, uint64_t *retinc)
{
    if (!slice_has_prefix(name, SLICE_LIT("members."))) {
        return false;
    }
    name = slice_from(name, sizeof("members.") - 1);
    return runset_cut_number(&name, 10, 1, 19, '-', retstart_s) &&
           runset_cut_number(&name, 16, 1, 16, '.', retinc) &&
           slice_eq(name, SLICE_LIT("wal"));
}

static enum err make_path(char ret[FILE_PATH_MAX], const char *dir, uint64_t start_s,
                          uint64_t inc, struct errinfo *reterr)
{
    return path_make(ret, reterr, "%s/members.%010" PRIu64 "-%016" PRIx64 ".wal", dir,
                     start_s, inc);
}

/* ---- writing ---- */

struct distinct_writer {
    pthread_mutex_t lock; /* guards: v, n */
    struct distinct_triple *v;
    size_t n;
    /* of the thread that flushes: */
    struct distinct_triple *taken;
    struct run_id id; /* of the open file */
    int fd;           /* -1: none, or it failed */
    uint64_t seq;
    uint64_t salt;
    char dir[FILE_PATH_MAX];
};

struct distinct_writer *distinct_writer_new(const char *dir, const struct run_id *id)
{
    struct distinct_writer *w = calloc(1, sizeof(*w));

    if (w == NULL) {
        return NULL;
    }
    w->fd = -1;
    w->id = *id;
    w->id.start_s = 0;
    w->id.len_s = COUNT_BUCKET_S;
    w->v = calloc(DISTINCT_LOG_MAX, sizeof(w->v[0]));
    w->taken = calloc(DISTINCT_LOG_MAX, sizeof(w->taken[0]));
    if (w->v == NULL || w->taken == NULL || pthread_mutex_init(&w->lock, NULL) != 0 ||
        file_path(w->dir, "%s", dir) != ERR_OK) {
        free(w->v);
        free(w->taken);
        free(w);
        return NULL;
    }
    return w;
}

void distinct_writer_free(struct distinct_writer **w)
{
    if (*w != NULL) {
        fd_close(&(*w)->fd);
        (void)pthread_mutex_destroy(&(*w)->lock);
        free((*w)->v);
        free((*w)->taken);
        free(*w);
        *w = NULL;
    }
}

void distinct_writer_add(struct distinct_writer *w, const struct distinct_triple *t)
{
    pthread_mutex_lock(&w->lock);
    if (w->n < DISTINCT_LOG_MAX) {
        w->v[w->n++] = *t;
    }
    pthread_mutex_unlock(&w->lock);
}

static size_t take_all(struct distinct_writer *w)
{
    struct distinct_triple *v = w->v;

    pthread_mutex_lock(&w->lock);
    size_t n = w->n;
    w->v = w->taken;
    w->n = 0;
    pthread_mutex_unlock(&w->lock);
    w->taken = v;
    return n;
}

static enum err remove_old(const struct distinct_writer *w, struct errinfo *reterr)
{
    struct dir_walk walk = dir_walk_begin(w->dir, DIR_NEEDED);

    while (dir_walk_next(&walk)) {
        char path[FILE_PATH_MAX];
        uint64_t start_s = 0;
        uint64_t inc = 0;
        if (parse_name(slice_str(walk.name), &start_s, &inc) &&
            start_s + COUNT_BUCKET_S < w->id.start_s &&
            file_path(path, "%s/%s", w->dir, walk.name) == ERR_OK) {
            (void)unlink(path);
        }
    }
    return dir_walk_end(&walk, ERR_OK, reterr);
}

static enum err begin_members_file(struct distinct_writer *w, uint64_t bucket,
                                   struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct buf header;

    fd_close(&w->fd);
    w->id.start_s = bucket * COUNT_BUCKET_S;
    w->seq = 1;
    buf_init(&header, PAIR_LOG_HEADER);
    pair_log_header_print(&form, &w->id, &header);
    w->salt = pair_log_salt(buf_slice(&header));
    enum err e = make_path(path, w->dir, w->id.start_s, w->id.inc, reterr);
    THEN(e, file_write_atomic(path, buf_slice(&header), FILE_MODE, reterr));
    buf_fini(&header);
    if (e != ERR_OK) {
        return e;
    }
    w->fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
    return w->fd >= 0 ? remove_old(w, reterr)
                      : errinfo_errno(reterr, path, "cannot open the members' log");
}

static enum err append(struct distinct_writer *w, size_t n, struct errinfo *reterr)
{
    struct buf record;

    buf_init(&record, PAIR_RECORD_HEAD + PAIR_LOG_SUM +
                          n * PAIRS_OF_TRIPLE * (size_t)PAIR_BYTES);
    pair_record_begin(&record);
    for (size_t i = 0; i < n; i++) {
        pair_record_add(&record, w->taken[i].key, w->taken[i].number);
        pair_record_add(&record, w->taken[i].pair, 0);
    }
    pair_record_end(&record, &form, w->seq++, w->salt);
    bool is_written = !buf_failed(&record) && file_write_all(w->fd, buf_slice(&record));
    buf_fini(&record);
    if (!is_written) {
        enum err e = errinfo_errno(reterr, w->dir, "cannot write the members' log");
        fd_close(&w->fd); /* half a record: nothing may follow it */
        return e;
    }
    return ERR_OK;
}

enum err distinct_writer_flush(struct distinct_writer *w, uint64_t bucket,
                               struct errinfo *reterr)
{
    size_t n = take_all(w);
    enum err e = ERR_OK;

    if (n > 0 && w->id.start_s != bucket * COUNT_BUCKET_S) {
        e = begin_members_file(w, bucket, reterr);
    }
    return e == ERR_OK && n > 0 && w->fd >= 0 ? append(w, n, reterr) : e;
}

/* ---- reading ---- */

struct source {
    uint64_t start_s;
    uint64_t inc;
    struct pair_log_place place; /* inode 0: not opened yet */
    bool is_bad;
    bool is_there; /* in this look */
};

struct distinct_reader {
    uint32_t key_id;
    struct source v[DISTINCT_FILES_MAX];
    size_t n;
    char dir[FILE_PATH_MAX];
};

struct distinct_reader *distinct_reader_new(const char *state_dir, uint32_t key_id)
{
    struct distinct_reader *r = calloc(1, sizeof(*r));

    if (r != NULL && file_path(r->dir, "%s/counts", state_dir) != ERR_OK) {
        free(r);
        return NULL;
    }
    if (r != NULL) {
        r->key_id = key_id;
    }
    return r;
}

void distinct_reader_free(struct distinct_reader **r)
{
    free(*r);
    *r = NULL;
}

static void take_log_name(struct distinct_reader *r, struct slice name)
{
    uint64_t start_s = 0;
    uint64_t inc = 0;

    if (!parse_name(name, &start_s, &inc)) {
        return;
    }
    for (size_t i = 0; i < r->n; i++) {
        if (r->v[i].start_s == start_s && r->v[i].inc == inc) {
            r->v[i].is_there = true;
            return;
        }
    }
    if (r->n < DISTINCT_FILES_MAX) {
        r->v[r->n++] =
            (struct source){.start_s = start_s, .inc = inc, .is_there = true};
    }
}

static enum err list(struct distinct_reader *r, struct errinfo *reterr)
{
    struct dir_walk w = dir_walk_begin(r->dir, DIR_OPTIONAL);
    size_t kept = 0;

    for (size_t i = 0; i < r->n; i++) {
        r->v[i].is_there = false;
    }
    while (dir_walk_next(&w)) {
        take_log_name(r, slice_str(w.name));
    }
    for (size_t i = 0; i < r->n; i++) {
        if (r->v[i].is_there) {
            r->v[kept++] = r->v[i];
        }
    }
    r->n = kept;
    return dir_walk_end(&w, ERR_OK, reterr);
}

static void pass(struct slice pairs, distinct_fn *fn, void *context)
{
    struct cursor c = cursor_of(pairs);

    while (c.rest.n >= (size_t)PAIRS_OF_TRIPLE * PAIR_BYTES) {
        struct distinct_triple t = {.key = cursor_u64(&c)};
        t.number = cursor_u64(&c);
        t.pair = cursor_u64(&c);
        (void)cursor_u64(&c);
        fn(context, &t);
    }
}

static enum err begin_source(const struct distinct_reader *r, struct source *s,
                             struct pair_log *l, struct errinfo *reterr)
{
    uint32_t version = 0;
    enum err e = pair_log_begin(l, &form, &s->place, &version, reterr);

    s->is_bad = e == ERR_CORRUPT || e == ERR_VERSION ||
                (e == ERR_OK && s->place.id.key_id != r->key_id);
    return s->is_bad ? ERR_OK : e;
}

static enum err read_on(const struct distinct_reader *r, struct source *s,
                        struct pair_log *l, distinct_fn *fn, void *context,
                        struct errinfo *reterr)
{
    enum err e = s->place.inode == 0 ? begin_source(r, s, l, reterr) : ERR_OK;

    while (e == ERR_OK && !s->is_bad && l->size > s->place.at) {
        struct slice pairs;
        e = pair_log_next(l, &form, &s->place, &pairs, reterr);
        if (e == ERR_OK) {
            pass(pairs, fn, context);
        }
    }
    s->is_bad = s->is_bad || e == ERR_CORRUPT;
    return e == ERR_NOT_FOUND || e == ERR_CORRUPT ? ERR_OK : e;
}

enum err distinct_reader_look(struct distinct_reader *r, distinct_fn *fn, void *context,
                              struct errinfo *reterr)
{
    enum err e = list(r, reterr);

    for (size_t i = 0; e == ERR_OK && i < r->n; i++) {
        char path[FILE_PATH_MAX];
        struct pair_log log;
        struct source *s = &r->v[i];
        if (s->is_bad || make_path(path, r->dir, s->start_s, s->inc, NULL) != ERR_OK) {
            continue;
        }
        e = pair_log_open(path, &log, reterr);
        THEN(e, read_on(r, s, &log, fn, context, reterr));
        pair_log_close(&log);
        e = e == ERR_NOT_FOUND ? ERR_OK : e; /* gone meanwhile */
    }
    return e;
}
