/* shared_log_read - the log's records: found at the start, and read again to be sent again. */
#include "core/base/array.h"
#include "core/base/clock.h"
#include "core/base/dir_walk.h"
#include "core/base/log.h"
#include "core/hub/shared/shared_log_internal.h"

enum { CACHED_BYTES = 64 << 20 };

/* ---- reading ---- */

void log_mark_cell(struct shared_record *r, uint64_t key)
{
    enum { WORD_BITS = 64 };
    const unsigned cell = shared_cell_of(key);

    r->cells[cell / WORD_BITS] |= UINT64_C(1) << (cell % WORD_BITS);
}

struct indexing {
    struct shared_record *v;
    size_t n;
    size_t room;
    uint64_t start_s;
    bool has_failed;
};

static bool index_record(void *context, const struct stream_record *record)
{
    struct indexing *x = context;
    struct shared_record r = {.number = record->seq,
                              .start_s = x->start_s,
                              .at = record->at,
                              .logged_us = clock_mono_us()};

    if (!array_room(&x->v, &x->room, x->n + 1, SIZE_MAX, sizeof(*x->v))) {
        x->has_failed = true;
        return false;
    }
    for (size_t i = 0; i < stream_npairs(record->pairs); i++) {
        log_mark_cell(&r, stream_pair(record->pairs, i).key);
    }
    x->v[x->n++] = r;
    return true;
}

/* Damage ends the file: what follows is lost, and the store will be found ahead of the log. */
static enum err index_file(struct shared_log *l, const struct run_id *id,
                           struct indexing *x, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct pair_log_place place;
    enum err e = log_file_path(l, id, path, reterr);

    THEN(e, stream_reader_open(path, &place, reterr));
    if (e != ERR_OK) {
        return e;
    }
    struct log_file *f = log_add_file(l, id);
    if (f == NULL) {
        return errinfo_nomem(reterr, path);
    }
    f->begin = place;
    x->start_s = id->start_s;
    e = stream_reader_records(&place, path, index_record, x, reterr);
    f->bytes = place.at;
    return x->has_failed ? errinfo_nomem(reterr, path) : e;
}

static int by_number(const void *a, const void *b)
{
    const struct shared_record *x = a;
    const struct shared_record *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

/* Two files with the same number cannot be: the second is not taken. */
static enum err hand_index(const struct shared_log *l, struct indexing *x,
                           struct shared_positions *positions, struct errinfo *reterr)
{
    if (x->n > 1) {
        qsort(x->v, x->n, sizeof(*x->v), by_number);
    }
    for (size_t i = 0; i < x->n; i++) {
        if ((i == 0 || x->v[i].number > x->v[i - 1].number) &&
            !positions_add(positions, &x->v[i])) {
            return errinfo_nomem(reterr, l->folder);
        }
    }
    positions->last_at_ask = positions->last < l->sure ? positions->last : l->sure;
    return ERR_OK;
}

enum err log_index_folder(struct shared_log *l, struct shared_positions *positions,
                          struct errinfo *reterr)
{
    struct indexing x = {.v = NULL};
    struct dir_walk w = dir_walk_begin(l->folder, DIR_NEEDED);
    enum err e = ERR_OK;

    while (e == ERR_OK && dir_walk_next(&w)) {
        struct run_id id = {.inc = 0};

        memcpy(id.origin, l->origin, sizeof(id.origin));
        if (!stream_name_parse(slice_str(w.name), &id)) {
            continue;
        }
        if (id.inc != l->inc) {
            log_unlink_file(l, &id);
            continue;
        }
        struct errinfo why;
        e = index_file(l, &id, &x, &why);
        if (e == ERR_CORRUPT || e == ERR_VERSION || e == ERR_NOT_FOUND) {
            log_errinfo("store", &why);
            e = ERR_OK;
        } else if (e != ERR_OK && reterr != NULL) {
            *reterr = why;
        }
    }
    e = dir_walk_end(&w, e, reterr);
    positions_init(positions, l->last);
    THEN(e, hand_index(l, &x, positions, reterr));
    free(x.v);
    return e;
}
/* ---- the cache ---- */

static void drop_cached(struct shared_log *l, struct cached_record *c)
{
    l->cached_bytes -= c->n * sizeof(*c->v);
    free(c->v);
    *c = (struct cached_record){.number = 0};
}

void log_cache(struct shared_log *l, uint64_t number, struct run_record *v, size_t n)
{
    struct cached_record *c = &l->cache[number % LOG_CACHED_MAX];

    drop_cached(l, c);
    *c = (struct cached_record){number, v, n};
    l->cached_bytes += n * sizeof(*v);
    for (uint64_t k = 1; k < LOG_CACHED_MAX && l->cached_bytes > CACHED_BYTES; k++) {
        drop_cached(l,
                    &l->cache[(number + k) % LOG_CACHED_MAX]); /* mostly the oldest */
    }
}
void log_empty_cache(struct shared_log *l)
{
    for (size_t i = 0; i < LOG_CACHED_MAX; i++) {
        free(l->cache[i].v);
        l->cache[i] = (struct cached_record){.number = 0};
    }
    l->cached_bytes = 0;
}

/* ---- reading again ---- */

struct one_record {
    struct run_record *v;
    size_t n;
    uint64_t number;
    bool is_there;
};

static struct run_record *copy_pairs(struct slice pairs)
{
    const size_t n = stream_npairs(pairs);
    struct run_record *v = malloc((n + 1) * sizeof(*v));

    for (size_t i = 0; v != NULL && i < n; i++) {
        v[i] = stream_pair(pairs, i);
    }
    return v;
}

static bool take_wanted(void *context, const struct stream_record *record)
{
    struct one_record *x = context;

    x->is_there = record->seq == x->number;
    if (x->is_there) {
        x->v = copy_pairs(record->pairs);
        x->n = stream_npairs(record->pairs);
    }
    return false;
}

static struct log_file *file_with(const struct shared_log *l,
                                  const struct shared_record *r, size_t *at)
{
    while (*at < l->n) {
        struct log_file *f = &l->v[(*at)++];

        if (f->id.start_s == r->start_s) {
            return f;
        }
    }
    return NULL;
}

/* After a change of the digest key a bucket has two files. */
static enum err find_record(const struct shared_log *l, const struct shared_record *r,
                            struct one_record *x, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    size_t at = 0;
    struct log_file *f = NULL;
    enum err e = ERR_OK;

    while (!x->is_there && (f = file_with(l, r, &at)) != NULL) {
        struct pair_log_place place = f->begin;

        place.at = r->at;
        place.seq = r->number - 1;
        e = log_file_path(l, &f->id, path, reterr);
        THEN(e, stream_reader_records(&place, path, take_wanted, x, reterr));
    }
    if (x->is_there) {
        return x->v != NULL ? ERR_OK : errinfo_nomem(reterr, l->folder);
    }
    return e != ERR_OK ? e
                       : errinfo_set(reterr, ERR_CORRUPT, l->folder, 0,
                                     "record %" PRIu64 " of the log of counts is gone",
                                     r->number);
}

enum err shared_log_read(struct shared_log *l, const struct shared_record *record,
                         const struct run_record **ret, size_t *retn,
                         struct errinfo *reterr)
{
    const struct cached_record *c = &l->cache[record->number % LOG_CACHED_MAX];

    if (c->number != record->number) {
        struct one_record x = {.number = record->number};
        enum err e = find_record(l, record, &x, reterr);

        if (e != ERR_OK) {
            return e;
        }
        log_cache(l, record->number, x.v, x.n);
    }
    *ret = c->v;
    *retn = c->n;
    return ERR_OK;
}

struct each_record {
    shared_log_fn *fn;
    void *context;
    bool has_failed;
};

static bool pass_record(void *context, const struct stream_record *record)
{
    struct each_record *x = context;
    struct run_record *v = copy_pairs(record->pairs);

    x->has_failed = v == NULL || !x->fn(x->context, v, stream_npairs(record->pairs));
    free(v);
    return !x->has_failed;
}

enum err shared_log_each(struct shared_log *l, uint64_t start_s, shared_log_fn *fn,
                         void *context, struct errinfo *reterr)
{
    const struct log_file *f = log_find_file(l, start_s, l->key_id);
    struct each_record x = {.fn = fn, .context = context};
    char path[FILE_PATH_MAX];

    if (f == NULL) {
        return ERR_OK;
    }
    struct pair_log_place place = f->begin;
    enum err e = log_file_path(l, &f->id, path, reterr);
    THEN(e, stream_reader_records(&place, path, pass_record, &x, reterr));
    return x.has_failed ? errinfo_nomem(reterr, path) : e;
}
