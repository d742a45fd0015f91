/* shared_log - streams of counts as a log, and the state file beside them. */
#include "core/base/array.h"
#include "core/base/clock.h"
#include "core/base/hash256.h"
#include "core/base/log.h"
#include "core/count/count.h"
#include "core/hub/shared/shared_log_internal.h"

enum {
    FOLDER_MODE = 0750,
    STATE_MODE = 0640,
    STATE_MAX = 256,
    WRITERS_MAX = 4, /* open at a time: the clock goes forward */
    DECIMAL = 10,
    HEX = 16
};

/* ---- the state file ---- */

static enum err state_path(const struct shared_log *l, char ret[FILE_PATH_MAX],
                           struct errinfo *reterr)
{
    return path_make(ret, reterr, "%s/state", l->folder);
}

static enum err write_state(const struct shared_log *l, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct buf text;

    buf_init(&text, STATE_MAX);
    buf_printf(&text,
               "gillnet-shared 1\ninc %016" PRIx64 "\nlast %" PRIu64 "\nfrom %" PRIu64
               "\nsure %" PRIu64 "\n",
               l->inc, l->last, l->from_s, l->sure);
    enum err e = buf_failed(&text) ? errinfo_nomem(reterr, l->folder) : ERR_OK;
    THEN(e, state_path(l, path, reterr));
    THEN(e, file_write_atomic(path, buf_slice(&text), STATE_MODE, reterr));
    buf_fini(&text);
    return e;
}

/* The number on the next line, behind the word. */
static bool state_number(struct slice *rest, const char *word, unsigned base,
                         uint64_t *ret)
{
    struct slice line = slice_cut(rest, '\n');
    const struct slice first = slice_cut(&line, ' ');

    return slice_eq(first, slice_str(word)) &&
           slice_to_u64(line, base, UINT64_MAX, ret);
}

/* A state file that cannot be understood is none: then a new incarnation begins. */
static enum err read_state(struct shared_log *l, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct buf text;
    enum err e = state_path(l, path, reterr);

    buf_init(&text, STATE_MAX);
    THEN(e, file_read(path, &text, reterr));
    struct slice rest = buf_slice(&text);
    if (e == ERR_OK &&
        (!slice_eq(slice_cut(&rest, '\n'), SLICE_LIT("gillnet-shared 1")) ||
         !state_number(&rest, "inc", HEX, &l->inc) ||
         !state_number(&rest, "last", DECIMAL, &l->last) ||
         !state_number(&rest, "from", DECIMAL, &l->from_s) ||
         !state_number(&rest, "sure", DECIMAL, &l->sure))) {
        l->inc = 0;
        l->last = 0;
        l->sure = UINT64_MAX;
        log_warn("event=store error=\"%s is damaged: the log of counts begins anew\"",
                 path);
    }
    buf_fini(&text);
    return e == ERR_NOT_FOUND || e == ERR_LIMIT ? ERR_OK : e;
}

/* ---- files ---- */

enum err log_file_path(const struct shared_log *l, const struct run_id *id,
                       char ret[FILE_PATH_MAX], struct errinfo *reterr)
{
    return stream_path(ret, l->dir, id) == ERR_OK
               ? ERR_OK
               : errinfo_set(reterr, ERR_LIMIT, l->dir, 0, "the path is too long");
}

struct log_file *log_add_file(struct shared_log *l, const struct run_id *id)
{
    size_t i = 0;

    if (!array_room(&l->v, &l->room, l->n + 1, SIZE_MAX, sizeof(*l->v))) {
        return NULL;
    }
    for (i = l->n; i > 0 && l->v[i - 1].id.start_s > id->start_s; i--) {
        l->v[i] = l->v[i - 1];
    }
    l->n++;
    l->v[i] = (struct log_file){.id = *id};
    return &l->v[i];
}

struct log_file *log_find_file(const struct shared_log *l, uint64_t start_s,
                               uint32_t key_id)
{
    for (size_t i = l->n; i > 0; i--) {
        if (l->v[i - 1].id.start_s == start_s && l->v[i - 1].id.key_id == key_id) {
            return &l->v[i - 1];
        }
    }
    return NULL;
}

static void close_log_file(struct log_file *f)
{
    if (f->writer != NULL) {
        stream_writer_close(&f->writer);
    }
}

void log_unlink_file(const struct shared_log *l, const struct run_id *id)
{
    char path[FILE_PATH_MAX];

    if (log_file_path(l, id, path, NULL) == ERR_OK && unlink(path) != 0 &&
        errno != ENOENT) {
        log_warn("event=store error=\"%s cannot be removed\"", path);
    }
}

/* ---- life ---- */

enum err shared_log_open(const struct shared_log_options *options,
                         struct shared_positions *positions, struct shared_log **ret,
                         struct errinfo *reterr)
{
    char hex[2 * RUN_ORIGIN_BYTES + 1];
    struct shared_log *l = calloc(1, sizeof(*l));

    positions_init(positions, 0);
    if (l == NULL) {
        return errinfo_nomem(reterr, options->dir);
    }
    memcpy(l->origin, options->origin, sizeof(l->origin));
    l->key_id = options->key_id;
    l->sure = UINT64_MAX;
    hex_print(l->origin, sizeof(l->origin), hex);
    enum err e = path_make(l->dir, reterr, "%s", options->dir);
    THEN(e, path_make(l->folder, reterr, "%s/%s", options->dir, hex));
    THEN(e, file_make_dir(l->dir, FOLDER_MODE, reterr));
    THEN(e, file_make_dir(l->folder, FOLDER_MODE, reterr));
    THEN(e, file_sweep_temps(l->folder, reterr));
    THEN(e, read_state(l, reterr));
    THEN(e, log_index_folder(l, positions, reterr));
    if (e != ERR_OK) {
        shared_log_close(&l);
        return e;
    }
    *ret = l;
    return ERR_OK;
}

void shared_log_close(struct shared_log **l)
{
    if (*l == NULL) {
        return;
    }
    for (size_t i = 0; i < (*l)->n; i++) {
        close_log_file(&(*l)->v[i]);
    }
    log_empty_cache(*l);
    free((*l)->v);
    free(*l);
    *l = NULL;
}

uint64_t shared_log_inc(const struct shared_log *l)
{
    return l->inc;
}

uint64_t shared_log_from(const struct shared_log *l)
{
    return l->from_s;
}

enum err shared_log_begin(struct shared_log *l, uint64_t inc, uint64_t from_s,
                          struct errinfo *reterr)
{
    const struct shared_log before = *l;

    l->inc = inc;
    l->last = 0;
    l->sure = UINT64_MAX;
    l->from_s = from_s > l->from_s ? from_s : l->from_s;
    enum err e = write_state(l, reterr);
    if (e != ERR_OK) {
        l->inc = before.inc;
        l->last = before.last;
        l->sure = before.sure;
        l->from_s = before.from_s;
        return e;
    }
    for (size_t i = 0; i < l->n; i++) { /* those that a crash leaves go at the start */
        close_log_file(&l->v[i]);
        log_unlink_file(l, &l->v[i].id);
    }
    l->n = 0;
    log_empty_cache(l);
    return ERR_OK;
}

static enum err set_sure(struct shared_log *l, uint64_t sure, struct errinfo *reterr)
{
    const uint64_t before = l->sure;

    l->sure = sure;
    enum err e = write_state(l, reterr);
    if (e != ERR_OK) {
        l->sure = before;
    }
    return e;
}

enum err shared_log_doubt(struct shared_log *l, uint64_t sure, struct errinfo *reterr)
{
    return shared_log_is_doubted(l) ? ERR_OK : set_sure(l, sure, reterr);
}

enum err shared_log_trust(struct shared_log *l, struct errinfo *reterr)
{
    return shared_log_is_doubted(l) ? set_sure(l, UINT64_MAX, reterr) : ERR_OK;
}

bool shared_log_is_doubted(const struct shared_log *l)
{
    return l->sure != UINT64_MAX;
}

/* ---- appending ---- */

static enum err open_for_append(struct shared_log *l, uint64_t start_s,
                                struct log_file **ret, struct errinfo *reterr)
{
    struct log_file *f = log_find_file(l, start_s, l->key_id);
    size_t nopen = 0;
    uint64_t seq = 0;
    char path[FILE_PATH_MAX];

    if (f != NULL && f->writer != NULL) {
        *ret = f;
        return ERR_OK;
    }
    for (size_t i = l->n; i > 0; i--) { /* closes the oldest */
        nopen += l->v[i - 1].writer != NULL ? 1 : 0;
        if (nopen >= WRITERS_MAX && !l->v[i - 1].is_dirty) {
            close_log_file(&l->v[i - 1]);
        }
    }
    struct run_id id = {.inc = l->inc,
                        .start_s = start_s,
                        .len_s = COUNT_BUCKET_S,
                        .key_id = l->key_id};
    memcpy(id.origin, l->origin, sizeof(id.origin));
    if (f == NULL) {
        f = log_add_file(l, &id);
        l->has_new_file = true;
    }
    if (f == NULL) {
        return errinfo_nomem(reterr, l->folder);
    }
    enum err e = stream_writer_open(l->dir, &id, &f->writer, &seq, reterr);
    THEN(e, log_file_path(l, &id, path, reterr));
    THEN(e, stream_reader_open(path, &f->begin, reterr));
    if (e == ERR_OK) {
        f->bytes = stream_writer_size(f->writer);
        *ret = f;
    }
    return e;
}

enum err shared_log_append(struct shared_log *l, struct shared_record *record,
                           const struct run_record *v, size_t n, struct errinfo *reterr)
{
    struct log_file *f = NULL;
    struct run_record *copy = malloc((n + 1) * sizeof(*copy));

    if (copy == NULL) {
        return errinfo_nomem(reterr, l->folder);
    }
    enum err e = open_for_append(l, record->start_s, &f, reterr);
    if (f == NULL) {
        free(copy);
        return e;
    }
    const uint64_t at = stream_writer_size(f->writer);
    e = stream_writer_add(f->writer, record->number, v, n, reterr);
    if (e != ERR_OK) {
        free(copy);
        return e;
    }
    record->at = at;
    record->logged_us = clock_mono_us();
    for (size_t i = 0; i < n; i++) {
        copy[i] = v[i];
        log_mark_cell(record, v[i].key);
    }
    f->bytes = stream_writer_size(f->writer);
    f->is_dirty = true;
    log_cache(l, record->number, copy, n);
    return ERR_OK;
}

enum err shared_log_sync(struct shared_log *l, struct errinfo *reterr)
{
    enum err e = ERR_OK;

    for (size_t i = l->n; e == ERR_OK && i > 0; i--) {
        if (l->v[i - 1].is_dirty) {
            e = stream_writer_sync(l->v[i - 1].writer, reterr);
            l->v[i - 1].is_dirty = e != ERR_OK;
        }
    }
    if (e == ERR_OK && l->has_new_file) {
        e = file_sync_dir(l->folder, reterr);
        l->has_new_file = e != ERR_OK;
    }
    return e;
}

/* ---- removal ---- */

uint64_t shared_log_bytes(const struct shared_log *l)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < l->n; i++) {
        sum += l->v[i].bytes;
    }
    return sum;
}

uint64_t shared_log_bucket(const struct shared_log *l, size_t k)
{
    return k < l->n ? l->v[k].id.start_s : 0;
}

enum err shared_log_remove(struct shared_log *l, uint64_t start_s, bool is_over,
                           uint64_t last, struct errinfo *reterr)
{
    size_t kept = 0;

    l->last = last;
    l->from_s = is_over && start_s > l->from_s ? start_s : l->from_s;
    enum err e = write_state(l, reterr);
    if (e != ERR_OK) {
        return e;
    }
    for (size_t i = 0; i < l->n; i++) {
        if (l->v[i].id.start_s == start_s) {
            close_log_file(&l->v[i]);
            log_unlink_file(l, &l->v[i].id);
        } else {
            l->v[kept++] = l->v[i];
        }
    }
    l->n = kept;
    return ERR_OK;
}
