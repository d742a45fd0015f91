/*
 * reader - opens the generation that CURRENT names, or as much of it as is undamaged.
 */
#include "core/list/reader.h"

#include <stdarg.h>

#include "core/list/locks.h"

enum {
    OPEN_ATTEMPTS = 5,  /* a writer may replace the generation while it is opened */
    TAIL_ATTEMPTS = 20, /* a writer may be between the log and the memtable */
    TAIL_WAIT_NS = 500000
};

/* ---- marks ---- */

static struct file_mark current_mark(const char *dir)
{
    return file_mark_in(dir, LIST_CURRENT);
}

struct file_mark list_current_mark(const char *state_dir, struct slice name)
{
    char dir[FILE_PATH_MAX];
    return list_dir_path(dir, state_dir, name, NULL) == ERR_OK ? current_mark(dir)
                                                               : (struct file_mark){0};
}

bool list_reader_is_stale(const struct list_reader *r)
{
    struct file_mark now = current_mark(r->dir);
    if (!file_mark_eq(&now, &r->mark)) {
        return true;
    }
    if (!r->is_private) {
        return false;
    }
    now = list_file_mark(r->dir, LIST_FILE_LOG, r->tail_last);
    return !file_mark_eq(&now, &r->tail_mark) ||
           list_tail_last(r->dir, r->tail_last) != r->tail_last;
}

bool list_reader_is_damaged(const struct list_reader *r)
{
    bool is_damaged =
        filemap_is_damaged(&r->recent.map) || peer_filter_is_damaged(r->member);

    for (uint32_t i = 0; i < LIST_LEVELS_MAX; i++) {
        is_damaged = is_damaged || (r->level[i] && level_is_damaged(r->level[i])) ||
                     (r->former[i] && level_is_damaged(r->former[i]));
    }
    return is_damaged;
}

/* ---- faults ---- */

/* Appends to the reader's fault text and cuts it at the end of the buffer. */
static void add_fault(struct list_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_fault(struct list_reader *r, const char *format, ...)
{
    size_t n = strnlen(r->fault, sizeof(r->fault));
    if (n > 0 && n + 2 < sizeof(r->fault)) {
        memcpy(r->fault + n, "; ", 3);
        n += 2;
    }
    va_list args;
    va_start(args, format);
    (void)vsnprintf(r->fault + n, sizeof(r->fault) - n, format, args);
    va_end(args);
}

/* ---- CURRENT ---- */

struct newest {
    const char *dir;
    struct list_current found;
};

/* True if all files that a CURRENT names exist. */
static bool is_complete(const char *dir, const struct list_current *c)
{
    for (uint32_t i = 0; i < c->nlevels; i++) {
        if (list_file_mark(dir, LIST_FILE_INDEX_SUM, c->level[i].number).inode == 0) {
            return false;
        }
    }
    return true;
}

/* A memtable holds a copy of the CURRENT that it was published with. */
static enum err newest_file(void *context, enum list_file kind, uint64_t number)
{
    struct newest *n = context;
    struct list_current c;
    if (kind == LIST_FILE_RECENT && number > n->found.generation &&
        memtable_peek(n->dir, number, &c, NULL) == ERR_OK && is_complete(n->dir, &c)) {
        n->found = c;
    }
    return ERR_OK;
}

/* Somebody changes the list: the files of a first generation are there before its CURRENT. */
static bool is_in_work(const struct list_reader *r)
{
    char path[FILE_PATH_MAX];
    return file_path(path, "%s" LIST_LOCK_SUFFIX, r->dir) == ERR_OK &&
           filelock_is_held(path);
}

/* CURRENT, else the newest generation that is complete, else CURRENT.prev. */
static enum err current_find(struct list_reader *r, struct errinfo *reterr)
{
    struct errinfo info = {0};
    enum err e = current_read(r->dir, LIST_CURRENT, &r->current, &info);
    if (e == ERR_OK) {
        return ERR_OK;
    }
    struct newest n = {.dir = r->dir};
    if (e == ERR_CORRUPT || e == ERR_NOT_FOUND) {
        (void)list_files_each(r->dir, newest_file, &n, NULL);
    }
    if (e == ERR_NOT_FOUND && n.found.generation == 1 && is_in_work(r)) {
        return errinfo_set(reterr, ERR_NOT_FOUND, r->dir, 0, "the list is being made");
    }
    if (n.found.generation != 0) {
        r->current = n.found;
        add_fault(r,
                  "CURRENT is damaged, generation %" PRIu64 " serves in its place; run "
                  "`gillnet list rebuild %s`",
                  n.found.generation, r->name);
        return ERR_OK;
    }
    if (e == ERR_CORRUPT &&
        current_read(r->dir, LIST_CURRENT_PREV, &r->current, NULL) == ERR_OK) {
        add_fault(r,
                  "CURRENT is damaged, the former generation %" PRIu64
                  " serves and newer "
                  "entries are not seen; run `gillnet list rebuild %s`",
                  r->current.generation, r->name);
        return ERR_OK;
    }
    return errinfo_set(reterr, e, info.source, 0, "%.300s%s%s%s", info.text,
                       e == ERR_CORRUPT ? "; run `gillnet list rebuild " : "",
                       e == ERR_CORRUPT ? r->name : "", e == ERR_CORRUPT ? "`" : "");
}

/* ---- memtable ---- */

/* Folds one segment into the image. *retok is made false when it cannot be read whole. */
static enum err replay_segment_into(struct list_reader *r, uint32_t number,
                                    const struct merged_index *base, bool *retok,
                                    struct errinfo *reterr)
{
    struct segment s;
    size_t good = 0;
    unsigned damage = 0;
    enum err e = segment_open(r->dir, number, &s, NULL, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (s.has_header && s.header.kind == SEGMENT_BULK) {
        segment_close(&s);
        return ERR_OK; /* an import's, after the former generation */
    }
    e = memtable_replay(&r->recent, segment_scan_all(&s, number), base,
                        memtable_numbers_get(&r->recent), &good, &damage);
    *retok = *retok && e == ERR_OK && damage == 0 && s.has_header;
    if (e != ERR_OK) {
        errinfo_set(reterr, e, r->dir, 0, "segment %" PRIu32 " does not fit in memory",
                    number);
    }
    segment_close(&s);
    return e;
}

/* Builds the table from the segments first..tail_last, over what base knows. */
static enum err replay_tail(struct list_reader *r, const struct hashkey *node,
                            uint32_t first, const struct merged_index *base,
                            bool *retok, struct errinfo *reterr)
{
    struct memtable_ids ids = {r->current.generation, r->current.tail,
                               r->current.key_id};
    struct memtable_numbers start = {
        .updated_s = r->current.updated_s,
        .totals = {r->current.listed, r->current.revoked},
    };
    *retok = true;
    r->is_private = true;
    r->tail_last = list_tail_last(r->dir, r->current.tail);
    r->tail_mark = list_file_mark(r->dir, LIST_FILE_LOG, r->tail_last);
    enum err e = memtable_new(&ids, node, MEMTABLE_SLOTS_MAX, &r->recent, reterr);
    if (e != ERR_OK) {
        return e;
    }
    memtable_numbers_set(&r->recent, &start);
    recent_classes_join(&r->recent, &r->current.classes);
    for (uint32_t n = first; e == ERR_OK && n <= r->tail_last; n++) {
        e = replay_segment_into(r, n, base, retok, reterr);
    }
    return e;
}

/* Builds the table from the tail: the file is missing, damaged, or of another boot. */
static enum err recent_private(struct list_reader *r, const struct hashkey *node,
                               struct errinfo *reterr)
{
    struct merged_index base = levels_stack(r->level, r->current.nlevels);
    bool is_whole = false;
    enum err e = replay_tail(r, node, r->current.tail, &base, &is_whole, reterr);
    if (e == ERR_OK && !is_whole) {
        add_fault(
            r,
            "the log's last segment is damaged, some recent changes are not seen; run "
            "`gillnet list verify %s`",
            r->name);
    }
    return e;
}

/* Waits a moment for a writer that has synced a record but not yet entered it, or created a segment
 * but not yet recorded it. */
static bool recent_is_complete(const struct list_reader *r,
                               const struct memtable *recent)
{
    for (unsigned i = 0; i < TAIL_ATTEMPTS; i++) {
        struct memtable_numbers n = memtable_numbers_get(recent);
        struct file_mark tail = list_file_mark(r->dir, LIST_FILE_LOG, n.segment);
        if (n.tail_bytes >= (uint64_t)tail.size &&
            list_tail_last(r->dir, n.segment) == n.segment) {
            return true;
        }
        struct timespec pause = {.tv_nsec = TAIL_WAIT_NS};
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

static enum err recent_load(struct list_reader *r, const struct hashkey *node,
                            struct errinfo *reterr)
{
    struct memtable_ids ids = {r->current.generation, r->current.tail,
                               r->current.key_id};
    struct memtable recent;
    struct errinfo info = {0};
    enum err e = memtable_open(r->dir, &ids, node, FILEMAP_READ, &recent, &info);
    if (e == ERR_OK && recent_is_complete(r, &recent)) {
        r->recent = recent;
        return ERR_OK;
    }
    if (e == ERR_OK) {
        memtable_close(&recent);
    }
    return recent_private(r, node, reterr);
}

/* ---- levels ---- */

static void levels_release(struct level **level)
{
    for (uint32_t i = 0; i < LIST_LEVELS_MAX; i++) {
        level_release(&level[i]);
    }
}

/* A level that another reader of the list has open, or NULL. */
static struct level *level_found(const struct list_reader *other, const char *dir,
                                 uint64_t number, enum bloomfile_hold hold)
{
    for (uint32_t i = 0; other && i < other->current.nlevels; i++) {
        if (other->level[i] && other->level[i]->names.number == number) {
            return level_share(other->level[i], dir, hold);
        }
    }
    return NULL;
}

/* Opens the levels that c names; those in use are shared. */
static enum err levels_open(const struct list_reader *r, const struct list_current *c,
                            const struct hashkey *node, struct level **ret,
                            struct errinfo *reterr)
{
    const struct level_open how = {r->dir,    node,    &r->key,
                                   c->key_id, r->hold, r->hold == BLOOMFILE_MAP};
    for (uint32_t i = 0; i < c->nlevels; i++) {
        ret[i] = level_found(r->other, r->dir, c->level[i].number, r->hold);
        if (!ret[i]) {
            ret[i] = level_found(r, r->dir, c->level[i].number, r->hold);
        }
        if (ret[i]) {
            continue;
        }
        enum err e = level_open(&how, &c->level[i], &ret[i], reterr);
        if (e != ERR_OK) {
            levels_release(ret);
            return e;
        }
    }
    return ERR_OK;
}

/* With a damaged index: the levels of the generation before, made whole by the single changes
 * since. Imports since are known to the filters only. */
static void former_load(struct list_reader *r, const struct hashkey *node)
{
    struct list_current former;
    struct memtable kept = r->recent;
    bool was_private = r->is_private;
    bool is_whole = false;
    if (current_read(r->dir, LIST_CURRENT_PREV, &former, NULL) != ERR_OK ||
        former.key_id != r->current.key_id || former.tail >= r->current.tail ||
        levels_open(r, &former, node, r->former, NULL) != ERR_OK) {
        return;
    }
    struct merged_index base = levels_stack(r->former, former.nlevels);
    enum err e = base.n == former.nlevels
                     ? replay_tail(r, node, former.tail, &base, &is_whole, NULL)
                     : ERR_CORRUPT;
    if (e == ERR_OK && is_whole) {
        memtable_close(&kept);
        r->nformer = former.nlevels;
        return;
    }
    if (base.n == former.nlevels) {
        memtable_close(&r->recent);
    }
    r->recent = kept;
    r->is_private = was_private;
    levels_release(r->former);
}

static void say_damage(struct list_reader *r, const struct level *l)
{
    if (!l->index) {
        r->is_whole = false;
        add_fault(
            r,
            "index damaged (%.120s); the last good generation answers, and imports "
            "since then may score nothing; run `gillnet list rebuild %s`",
            l->index_why.text, r->name);
    }
    if (!l->has_base) {
        r->has_filters = false;
        add_fault(
            r,
            "filter damaged (%.120s), the exact index answers alone; run `gillnet "
            "list rebuild %s`",
            l->base_why.text, r->name);
    }
}

static enum err levels_load(struct list_reader *r, const struct hashkey *node,
                            struct errinfo *reterr)
{
    enum err e = levels_open(r, &r->current, node, r->level, reterr);
    r->is_whole = true;
    r->has_filters = true;
    for (uint32_t i = 0; e == ERR_OK && i < r->current.nlevels; i++) {
        const struct level *l = r->level[i];
        say_damage(r, l);
        r->has_remote = r->has_remote || level_is_remote(l);
        if (!l->index && !l->has_base) {
            e = errinfo_set(reterr, l->base_why.code, l->base_why.source, 0,
                            "%.300s; run `gillnet list rebuild %s`", l->base_why.text,
                            r->name);
        }
    }
    return e;
}

/* ---- filters of peers ---- */

/* Without them the list answers for its own entries only. */
static void member_load(struct list_reader *r)
{
    struct peer_filter_files files = {
        .dir = r->dir,
        .key = &r->key,
        .spam = r->current.member_spam,
        .revoked = r->current.member_revoked,
        .hold = r->hold == BLOOMFILE_REMOTE ? BLOOMFILE_MAP : r->hold};
    struct errinfo info = {.text = ""};
    if (files.spam == 0) {
        return; /* a filter of revocations alone is useless */
    }
    r->member = r->other ? peer_filter_share(r->other->member, &files) : NULL;
    if (!r->member && peer_filter_open(&files, &r->member, &info) != ERR_OK) {
        add_fault(r, "the filters of peers cannot be used (%.200s)", info.text);
    }
}

/* ---- open ---- */

static void close_files(struct list_reader *r)
{
    levels_release(r->level);
    levels_release(r->former);
    r->nformer = 0;
    peer_filter_release(&r->member);
    memtable_close(&r->recent);
    confirm_cache_free(&r->cache);
    r->is_private = false;
    r->fault[0] = '\0';
}

static enum err open_files(struct list_reader *r, const struct keyring *keys,
                           struct errinfo *reterr)
{
    r->mark = current_mark(r->dir);
    enum err e = current_find(r, reterr);
    THEN(e, current_key(&r->current, keys, r->dir, &r->key, reterr));
    THEN(e, levels_load(r, &keys->node, reterr));
    THEN(e, recent_load(r, &keys->node, reterr));
    if (e == ERR_OK) {
        member_load(r);
    }
    if (e == ERR_OK && !r->is_whole) {
        former_load(r, &keys->node);
    }
    return e;
}

/* Opens again while CURRENT changes, because files of a replaced generation can be gone. */
static enum err open_steady(struct list_reader *r, const struct keyring *keys,
                            struct errinfo *reterr)
{
    enum err e = ERR_OK;
    for (unsigned i = 0; i < OPEN_ATTEMPTS; i++) {
        e = open_files(r, keys, reterr);
        struct file_mark now = current_mark(r->dir);
        if ((e == ERR_OK && r->fault[0] == '\0') || file_mark_eq(&now, &r->mark)) {
            break;
        }
        if (i + 1 < OPEN_ATTEMPTS) {
            close_files(r);
        }
    }
    return e;
}

enum err list_reader_open(const char *state_dir, struct slice name,
                          const struct keyring *keys, struct list_reader **ret,
                          struct errinfo *reterr)
{
    return list_reader_open_beside(state_dir, name, keys, NULL, ret, reterr);
}

enum err list_reader_open_beside(const char *state_dir, struct slice name,
                                 const struct keyring *keys,
                                 const struct list_reader *other,
                                 struct list_reader **ret, struct errinfo *reterr)
{
    struct reader_opening how = {.other = other, .hold = BLOOMFILE_COPY};
    return list_reader_open_held(state_dir, name, keys, &how, ret, reterr);
}

enum err list_reader_open_held(const char *state_dir, struct slice name,
                               const struct keyring *keys,
                               const struct reader_opening *how,
                               struct list_reader **ret, struct errinfo *reterr)
{
    struct list_reader *r = calloc(1, sizeof(*r));
    if (!r) {
        return errinfo_nomem(reterr, state_dir);
    }
    enum err e = list_dir_path(r->dir, state_dir, name, reterr);
    if (e == ERR_OK) {
        memcpy(r->name, name.p, name.n);
        r->other = how->other;
        r->hold = how->hold;
        e = open_steady(r, keys, reterr);
        r->other = NULL;
    }
    if (e != ERR_OK) {
        list_reader_close(&r);
        return e;
    }
    *ret = r;
    return ERR_OK;
}

void list_reader_close(struct list_reader **r)
{
    if (*r) {
        close_files(*r);
        free(*r);
    }
    *r = NULL;
}

const char *list_reader_name(const struct list_reader *r)
{
    return r->name;
}

const char *list_reader_fault(const struct list_reader *r)
{
    return r->fault[0] != '\0' ? r->fault : NULL;
}

const struct hashkey *list_reader_key(const struct list_reader *r)
{
    return &r->key;
}

enum err list_index_damaged(enum err e, const char *dir, const char *name,
                            struct errinfo *reterr)
{
    return errinfo_set(reterr, e, dir, 0,
                       "the index is damaged; run `gillnet list rebuild %s`", name);
}
