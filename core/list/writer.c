/*
 * writer - opens a list with its lock and repairs it after a crash.
 */
#include "core/list/writer.h"

#include "core/base/clock.h"
#include "core/list/commit.h"
#include "core/list/compact.h"
#include "core/list/level_build.h"
#include "core/list/mirror.h"

enum { SCRATCH_BYTES = 64 * 1024 };

uint32_t writer_now_s(void)
{
    return (uint32_t)(clock_wall_us() / 1000000);
}

uint32_t writer_expired_s(const struct list_writer *w)
{
    return w->is_exact ? ENTRY_GONE_S : writer_now_s();
}

/* ---- files of the folder ---- */

struct clean {
    const struct list_writer *w;
    struct list_current former; /* what CURRENT.prev names */
    uint32_t tail;              /* the last segment in use */
};

static bool current_names(const struct list_current *c, enum list_file kind,
                          uint64_t number)
{
    switch (kind) {
    case LIST_FILE_RECENT:
        return number == c->generation;
    case LIST_FILE_SPAM:
        return number == c->member_spam;
    case LIST_FILE_REVOKED:
        return number == c->member_revoked;
    case LIST_FILE_INDEX:
    case LIST_FILE_INDEX_SUM:
    case LIST_FILE_BASE:
    case LIST_FILE_FRONT:
        for (uint32_t i = 0; i < c->nlevels; i++) {
            if (c->level[i].number == number) {
                return true;
            }
        }
        return false;
    case LIST_FILE_LOG:
    case LIST_FILE_OTHER:
        break;
    }
    return true;
}

static enum err clean_file(void *context, enum list_file kind, uint64_t number)
{
    const struct clean *c = context;
    bool is_needed = kind == LIST_FILE_LOG
                         ? number <= c->tail
                         : current_names(&c->w->current, kind, number) ||
                               current_names(&c->former, kind, number);
    char path[FILE_PATH_MAX];
    if (!is_needed && list_file_path(path, c->w->dir, kind, number, NULL) == ERR_OK) {
        (void)unlink(path);
    }
    return ERR_OK;
}

void writer_clean(const struct list_writer *w)
{
    struct clean c = {.w = w, .tail = list_tail_last(w->dir, w->current.tail)};
    if (current_read(w->dir, LIST_CURRENT_PREV, &c.former, NULL) != ERR_OK) {
        c.former = w->current;
    }
    (void)file_sweep_temps(w->dir, NULL);
    (void)list_files_each(w->dir, clean_file, &c, NULL);
}

static enum err note_file(void *context, enum list_file kind, uint64_t number)
{
    bool *has_more = context;
    /* a creation that broke off leaves generation 1 and an empty first segment */
    if (kind == LIST_FILE_LOG ? number != 1 : number > 1) {
        *has_more = true;
    }
    return ERR_OK;
}

/* True if no generation was ever committed here: at most an interrupted creation. */
static bool is_new_folder(const struct list_writer *w)
{
    bool has_more = false;
    struct list_current c;
    char path[FILE_PATH_MAX];
    struct stat st;
    if (current_read(w->dir, LIST_CURRENT_PREV, &c, NULL) != ERR_NOT_FOUND ||
        list_files_each(w->dir, note_file, &has_more, NULL) != ERR_OK ||
        list_file_path(path, w->dir, LIST_FILE_LOG, 1, NULL) != ERR_OK) {
        return false;
    }
    bool is_empty = lstat(path, &st) != 0 || st.st_size <= SEGMENT_HEADER_BYTES;
    return !has_more && is_empty;
}

/* ---- opening ---- */

static enum err writer_damaged(struct list_writer *w, const struct errinfo *what)
{
    w->state = WRITER_DAMAGED;
    errinfo_set(&w->why, what->code == ERR_OK ? ERR_CORRUPT : what->code, what->source,
                0, "%.300s; run `gillnet list rebuild %s`", what->text, w->name);
    return ERR_OK;
}

/* Folds segment number into the image; *retgood is where its last whole record ends. */
static enum err replay_segment_into(struct list_writer *w, struct memtable *image,
                                    uint32_t number, size_t *retgood,
                                    struct errinfo *reterr)
{
    struct segment s;
    struct errinfo header_err;
    unsigned damage = 0;
    enum err e = segment_open(w->dir, number, &s, &header_err, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (!s.has_header) {
        segment_close(&s);
        *reterr = header_err;
        return header_err.code;
    }
    e = memtable_replay(image, segment_scan_all(&s, number), &w->stack,
                        memtable_numbers_get(image), retgood, &damage);
    segment_close(&s);
    return e == ERR_OK
               ? ERR_OK
               : errinfo_set(reterr, e, w->dir, 0,
                             "segment %" PRIu32 " holds too many entries", number);
}

/* Builds the memtable again from the tail, cuts an unfinished record, and touches CURRENT so that
 * readers open the list again. */
static enum err tail_replay(struct list_writer *w, const struct memtable_ids *ids,
                            uint32_t last, struct errinfo *reterr)
{
    struct memtable image;
    size_t good = 0;
    /* the largest size: the segments can hold the records of several tables */
    enum err e = memtable_new(ids, &w->node, MEMTABLE_SLOTS_MAX, &image, reterr);
    if (e != ERR_OK) {
        return e;
    }
    struct memtable_numbers start = {
        .updated_s = w->current.updated_s,
        .totals = {w->current.listed, w->current.revoked},
    };
    memtable_numbers_set(&image, &start);
    memtable_keep_current(&image, &w->current);
    for (uint32_t n = w->current.tail; e == ERR_OK && n <= last; n++) {
        e = replay_segment_into(w, &image, n, &good, reterr);
    }
    THEN(e, active_segment_open(&w->tail, w->dir, last, good, reterr));
    THEN(e, memtable_save(&image, w->dir, reterr));
    THEN(e, memtable_open(w->dir, ids, &w->node, FILEMAP_WRITE, &w->recent, reterr));
    memtable_close(&image);
    return e == ERR_OK ? current_write(w->dir, LIST_CURRENT, &w->current, reterr) : e;
}

/* Opens the tail and its memtable, rebuilding the table when it does not fit the tail. */
static enum err tail_load(struct list_writer *w, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct memtable_ids ids = {w->current.generation, w->current.tail,
                               w->current.key_id};
    uint32_t last = list_tail_last(w->dir, w->current.tail);
    struct stat st;
    enum err e = list_file_path(path, w->dir, LIST_FILE_LOG, last, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (lstat(path, &st) != 0) {
        return errinfo_errno(reterr, path, "cannot examine the log");
    }
    if (memtable_open(w->dir, &ids, &w->node, FILEMAP_WRITE, &w->recent, NULL) ==
        ERR_OK) {
        struct memtable_numbers n = memtable_numbers_get(&w->recent);
        if (n.segment == last && n.tail_bytes == (uint64_t)st.st_size) {
            return active_segment_open(&w->tail, w->dir, last, n.tail_bytes, reterr);
        }
        memtable_close(&w->recent);
    }
    return tail_replay(w, &ids, last, reterr);
}

void writer_stack(struct list_writer *w)
{
    w->stack.n = 0;
    for (uint32_t i = 0; i < w->current.nlevels; i++) {
        if (w->index[i]) {
            w->stack.index[w->stack.n++] = w->index[i];
        }
    }
}

/* Single changes continue without a damaged level; see change_prior. */
static enum err indexes_load(struct list_writer *w, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    for (uint32_t i = 0; i < w->current.nlevels; i++) {
        struct errinfo info = {0};
        enum err e = list_file_path(path, w->dir, LIST_FILE_INDEX,
                                    w->current.level[i].number, reterr);
        if (e != ERR_OK) {
            return e;
        }
        e = index_open(path, &w->index[i], &info);
        if (e != ERR_OK) {
            w->index[i] = NULL;
            info.code = e;
            w->index_why = info;
        }
    }
    writer_stack(w);
    return ERR_OK;
}

/* Damage leaves the writer open for a rebuild. Only missing rights or memory are failures. */
static enum err generation_load(struct list_writer *w, struct errinfo *reterr)
{
    struct errinfo info = {0};
    enum err e = indexes_load(w, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = tail_load(w, &info);
    if (e == ERR_CORRUPT || e == ERR_NOT_FOUND || e == ERR_VERSION ||
        e == ERR_NOSPACE) {
        return writer_damaged(w, &info);
    }
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, info.source, 0, "%s", info.text);
    }
    writer_clean(w);
    return ERR_OK;
}

/* The first generation has no level. */
static enum err generation_create(struct list_writer *w, struct errinfo *reterr)
{
    uint32_t now_s = writer_now_s();
    struct publication p = {
        .current = {.generation = 1,
                    .tail = 1,
                    .key_id = w->key.id,
                    .created_s = now_s,
                    .updated_s = now_s,
                    .form = LIST_FORM,
                    .url_match = URL_MATCH_NORMAL},
        .tail = {.fd = -1},
    };
    (void)file_sweep_temps(w->dir, NULL);
    return list_commit_fresh(w, &p, reterr);
}

static enum err writer_load(struct list_writer *w, const struct keyring *keys,
                            bool create, struct errinfo *reterr)
{
    struct errinfo info = {0};
    enum err e = current_read(w->dir, LIST_CURRENT, &w->current, &info);
    if (e == ERR_NOT_FOUND && is_new_folder(w)) {
        if (create) {
            return generation_create(w, reterr);
        }
        return errinfo_set(
            reterr, ERR_NOT_FOUND, w->dir, 0,
            "there is no list of this name; `gillnet list` shows those there are");
    }
    if (e == ERR_NOT_FOUND || e == ERR_CORRUPT || e == ERR_VERSION) {
        w->current = (struct list_current){0};
        return writer_damaged(w, &info);
    }
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, info.source, 0, "%s", info.text);
    }
    w->period_next_s = w->current.period_s;
    e = current_key(&w->current, keys, w->dir, &w->key, reterr);
    return e == ERR_OK ? generation_load(w, reterr) : e;
}

static enum err folders_make(struct list_writer *w, const char *state_dir,
                             struct slice name, bool create, struct errinfo *reterr)
{
    char lists[FILE_PATH_MAX];
    struct stat st;
    enum err e = list_dir_path(w->dir, state_dir, name, reterr);
    if (e != ERR_OK) {
        return e;
    }
    memcpy(w->name, name.p, name.n);
    if (!create && stat(w->dir, &st) != 0 && errno == ENOENT) {
        return errinfo_set(
            reterr, ERR_NOT_FOUND, w->dir, 0,
            "there is no list of this name; `gillnet list` shows those there are");
    }
    e = path_make(lists, reterr, "%s/lists", state_dir);
    THEN(e, file_make_dir(lists, LIST_DIR_MODE, reterr));
    return e;
}

static struct list_writer *writer_new(const struct keyring *keys)
{
    struct list_writer *w = calloc(1, sizeof(*w));
    if (w) {
        w->pending = calloc(PENDING_MAX, sizeof(*w->pending));
        w->scratch = arena_new(SCRATCH_BYTES);
    }
    if (!w || !w->pending || !w->scratch) {
        if (w) {
            arena_free(&w->scratch);
            free(w->pending);
        }
        free(w);
        return NULL;
    }
    w->lock = LIST_LOCK_NONE;
    w->tail.fd = -1;
    w->keep_text = true;
    w->filter = (struct filter_wish){.layout = 1, .error = LIST_FILTER_ERROR};
    w->keys = *keys;
    w->key = keys->ring[0];
    w->node = keys->node;
    return w;
}

enum err list_writer_open(const char *state_dir, struct slice name,
                          const struct keyring *keys, bool create,
                          struct list_writer **ret, struct errinfo *reterr)
{
    if (list_name_is_taken(name)) {
        return errinfo_set(reterr, ERR_SYNTAX, "list", 0,
                           "%.*s is what servers of a ring tell each other; take "
                           "another name",
                           SLICE_ARGS(name));
    }
    struct list_writer *w = writer_new(keys);
    if (!w) {
        return errinfo_nomem(reterr, state_dir);
    }
    enum err e = folders_make(w, state_dir, name, create, reterr);
    THEN(e, list_lock_take(&w->lock, state_dir, name, reterr));
    if (e == ERR_OK && create) {
        e = file_make_dir(w->dir, LIST_DIR_MODE, reterr);
    }
    THEN(e, writer_load(w, keys, create, reterr));
    if (e != ERR_OK) {
        list_writer_close(&w);
        return e;
    }
    *ret = w;
    return ERR_OK;
}

enum err mirror_open(const char *state_dir, struct slice name,
                     const struct keyring *keys, uint32_t key_id,
                     struct list_writer **ret, struct errinfo *reterr)
{
    const struct hashkey *key = keyring_find(keys, key_id);
    if (!key) {
        return errinfo_set(reterr, ERR_KEY, state_dir, 0,
                           "the digest key %08" PRIx32 " is not here", key_id);
    }
    struct list_writer *w = writer_new(keys);
    if (!w) {
        return errinfo_nomem(reterr, state_dir);
    }
    w->key = *key;
    w->keep_text = false;
    w->is_exact = true;
    enum err e = folders_make(w, state_dir, name, true, reterr);
    THEN(e, file_make_dir(w->dir, LIST_DIR_MODE, reterr));
    THEN(e, writer_load(w, keys, true, reterr));
    if (e == ERR_OK && w->state == WRITER_DAMAGED) {
        e = list_rebuild(w, NULL, NULL, reterr);
    }
    if (e != ERR_OK) {
        list_writer_close(&w);
        return e;
    }
    *ret = w;
    return ERR_OK;
}

uint32_t list_writer_key(const struct list_writer *w)
{
    return w->key.id;
}

uint64_t list_writer_log_bytes(const struct list_writer *w)
{
    uint64_t sum = 0;
    for (uint32_t n = 1; n <= w->tail.number; n++) {
        sum += (uint64_t)list_file_mark(w->dir, LIST_FILE_LOG, n).size;
    }
    return sum;
}

void writer_close_generation(struct list_writer *w)
{
    for (uint32_t i = 0; i < LIST_LEVELS_MAX; i++) {
        index_close(&w->index[i]);
    }
    w->stack.n = 0;
    memtable_close(&w->recent);
    active_segment_close(&w->tail);
}

void list_writer_close(struct list_writer **w)
{
    if (*w) {
        if ((*w)->state == WRITER_READY) {
            (void)writer_settled(*w, NULL);
        } else {
            (void)compact_settle(*w, true, NULL);
        }
        writer_close_generation(*w);
        list_lock_drop(&(*w)->lock);
        arena_free(&(*w)->scratch);
        free((*w)->pending);
        free(*w);
    }
    *w = NULL;
}

void list_writer_set_keep_text(struct list_writer *w, bool keep_text)
{
    w->keep_text = keep_text;
}

/* True if a level has a filter of the configured layout with at most the configured error. */
static bool is_as_wished(const struct list_writer *w, const struct list_level *l)
{
    char path[FILE_PATH_MAX];
    struct bloomfile_shape s;
    return list_file_path(path, w->dir, LIST_FILE_BASE, l->number, NULL) == ERR_OK &&
           bloomfile_peek(path, NULL, &s, NULL) == ERR_OK &&
           (unsigned)s.layout == w->filter.layout &&
           (!w->filter.is_shared || s.facts.position_key == w->key.id) &&
           bloom_error(s.layout, s.nlines, s.k, s.facts.entries) <= w->filter.error;
}

void list_writer_set_filter(struct list_writer *w, const struct filter_wish *wish)
{
    w->filter = *wish;
    for (uint32_t i = 0; i < w->current.nlevels; i++) {
        const struct list_level *l = &w->current.level[i];
        bool is_mergeable = l->period_s == w->current.period_s;
        w->wants_all = w->wants_all || (is_mergeable && !is_as_wished(w, l));
    }
}

const struct hashkey *writer_position_key(const struct list_writer *w)
{
    return w->filter.is_shared ? &w->key : &w->node;
}

enum err writer_entry_of(const struct list_writer *w, const struct feature_entry *e,
                         struct writer_entry *ret, struct errinfo *reterr)
{
    arena_reset(w->scratch);
    struct feature_entry own =
        feature_entry_matched(e, (enum url_match)w->current.url_match, w->scratch);
    struct slice written = own.written.p != NULL ? own.written : own.text;
    if (own.text.p == NULL) {
        return errinfo_nomem(reterr, "");
    }
    if (own.text.n > LIST_TEXT_MAX || written.n > LIST_TEXT_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, "", 0,
                           "the entry is longer than %d bytes", LIST_TEXT_MAX);
    }
    ret->class_type = own.class_type;
    ret->text = w->keep_text ? written : SLICE_NONE;
    digest_make(&w->key, own.class_type, own.text, &ret->digest);
    return ERR_OK;
}

enum err writer_check(const struct list_writer *w, struct errinfo *reterr)
{
    if (w->state != WRITER_READY) {
        return errinfo_set(reterr, w->why.code, w->why.source, 0, "%s", w->why.text);
    }
    return ERR_OK;
}

enum err writer_levels_check(const struct list_writer *w, struct errinfo *reterr)
{
    if (w->stack.n != w->current.nlevels) {
        return errinfo_set(reterr, w->index_why.code, w->index_why.source, 0,
                           "%s; run `gillnet list rebuild %s`", w->index_why.text,
                           w->name);
    }
    return ERR_OK;
}
