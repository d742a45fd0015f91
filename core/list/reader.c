/*
 * reader - opens what CURRENT names, and as much as can be had where files are damaged.
 */
#include "core/list/reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/list/build.h"

enum {
    OPEN_ATTEMPTS = 5,  /* a writer may replace the generation while it is opened */
    TAIL_ATTEMPTS = 20, /* a writer may be between the log and the recent table */
    TAIL_WAIT_NS = 500000
};

/* ---- marks ---- */

static bool mark_of(const char *path, struct file_mark *ret)
{
    struct stat st;
    if (lstat(path, &st) != 0) {
        *ret = (struct file_mark){0};
        return false;
    }
    *ret = (struct file_mark){st.st_dev, st.st_ino, st.st_size, st.st_ctim};
    return true;
}

bool file_mark_eq(const struct file_mark *a, const struct file_mark *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

static struct file_mark current_mark(const char *dir)
{
    char path[FILE_PATH_MAX];
    struct file_mark m = {0};
    if (file_path(path, "%s/%s", dir, LIST_CURRENT) == ERR_OK) {
        (void)mark_of(path, &m);
    }
    return m;
}

struct file_mark list_current_mark(const char *state_dir, struct slice name)
{
    char dir[FILE_PATH_MAX];
    if (list_dir_path(dir, state_dir, name, NULL) != ERR_OK) {
        return (struct file_mark){0};
    }
    return current_mark(dir);
}

struct file_mark list_key_mark(const char *state_dir, const char *name)
{
    char path[FILE_PATH_MAX];
    struct file_mark m = {0};
    if (file_path(path, "%s/keys/%s", state_dir, name) == ERR_OK) {
        (void)mark_of(path, &m);
    }
    return m;
}

static struct file_mark tail_mark(const char *dir, uint32_t tail)
{
    char path[FILE_PATH_MAX];
    struct file_mark m = {0};
    if (list_file_path(path, dir, LIST_FILE_LOG, tail, NULL) == ERR_OK) {
        (void)mark_of(path, &m);
    }
    return m;
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
    now = tail_mark(r->dir, r->current.tail);
    return !file_mark_eq(&now, &r->tail_mark);
}

/* ---- faults ---- */

/* Appends to the reader's fault text; what does not fit is cut. */
static void fault(struct list_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void fault(struct list_reader *r, const char *format, ...)
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

/* A generation whose recent table has a whole head names its tail, as CURRENT would. */
static enum err newest_file(void *context, enum list_file kind, uint64_t number)
{
    struct newest *n = context;
    struct recent_ids ids;
    char path[FILE_PATH_MAX];
    struct stat st;
    if (kind != LIST_FILE_RECENT || number <= n->found.generation ||
        list_file_path(path, n->dir, LIST_FILE_INDEX_SUM, number, NULL) != ERR_OK ||
        lstat(path, &st) != 0 || recent_peek(n->dir, number, &ids, NULL) != ERR_OK) {
        return ERR_OK;
    }
    n->found = (struct list_current){
        .generation = number, .tail = ids.tail, .key_id = ids.key_id};
    return ERR_OK;
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
    if (n.found.generation != 0) {
        r->current = n.found;
        fault(r,
              "CURRENT is damaged, generation %" PRIu64 " serves in its place; run "
              "`gillnet list rebuild %s`",
              n.found.generation, r->name);
        return ERR_OK;
    }
    if (e == ERR_CORRUPT &&
        current_read(r->dir, LIST_CURRENT_PREV, &r->current, NULL) == ERR_OK) {
        fault(r,
              "CURRENT is damaged, the former generation %" PRIu64 " serves and newer "
              "entries are not seen; run `gillnet list rebuild %s`",
              r->current.generation, r->name);
        return ERR_OK;
    }
    return errinfo_set(reterr, e, info.source, 0, "%.300s%s%s%s", info.text,
                       e == ERR_CORRUPT ? "; run `gillnet list rebuild " : "",
                       e == ERR_CORRUPT ? r->name : "", e == ERR_CORRUPT ? "`" : "");
}

/* ---- recent table ---- */

/* Folds a whole tail into the image; *retok false when it cannot be read whole. */
static enum err replay_tail(struct list_reader *r, uint32_t number,
                            const struct index *base, struct recent_numbers *n,
                            bool *retok, struct errinfo *reterr)
{
    struct segment s;
    size_t good = 0;
    unsigned damage = 0;
    enum err e = segment_open(r->dir, number, &s, NULL, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = recent_replay(&r->recent, segment_scan_all(&s, number), base, *n, &good,
                      &damage);
    *retok = e == ERR_OK && damage == 0 && s.has_header;
    if (e != ERR_OK) {
        errinfo_set(reterr, e, r->dir, 0, "segment %" PRIu32 " does not fit in memory",
                    number);
    }
    *n = recent_numbers_get(&r->recent);
    segment_close(&s);
    return e;
}

/* Builds the table from the tail: the file is missing, damaged, or of another boot. */
static enum err recent_private(struct list_reader *r, const struct recent_ids *ids,
                               const struct hashkey *node, struct errinfo *reterr)
{
    struct recent_numbers n = {
        .updated_s = r->current.updated_s,
        .totals = {r->current.listed, r->current.revoked},
    };
    bool is_whole = false;
    r->is_private = true;
    r->tail_mark = tail_mark(r->dir, r->current.tail);
    enum err e = recent_new(ids, node, &r->recent, reterr);
    if (e == ERR_OK) {
        e = replay_tail(r, r->current.tail, r->index, &n, &is_whole, reterr);
    }
    if (e == ERR_OK && !is_whole) {
        fault(
            r,
            "the log's last segment is damaged, some recent changes are not seen; run "
            "`gillnet list verify %s`",
            r->name);
    }
    return e;
}

/* Waits a moment for a writer that has synced a record and not yet entered it. */
static bool recent_is_complete(const struct list_reader *r, const struct recent *recent)
{
    for (unsigned i = 0; i < TAIL_ATTEMPTS; i++) {
        struct file_mark tail = tail_mark(r->dir, r->current.tail);
        if (recent_numbers_get(recent).tail_bytes >= (uint64_t)tail.size) {
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
    struct recent_ids ids = {r->current.generation, r->current.tail, r->current.key_id};
    struct recent recent;
    struct errinfo info = {0};
    enum err e = recent_open(r->dir, &ids, node, FILEMAP_READ, &recent, &info);
    if (e == ERR_OK && recent_is_complete(r, &recent)) {
        r->recent = recent;
        return ERR_OK;
    }
    if (e == ERR_OK) {
        recent_close(&recent);
    }
    return recent_private(r, &ids, node, reterr);
}

/* ---- index and filter ---- */

/* The index of the generation before, made whole by the single changes since: with an index
 * that is damaged. Imports since are known to the filter only. */
static void former_load(struct list_reader *r, const struct hashkey *node)
{
    struct list_current former;
    char path[FILE_PATH_MAX];
    struct recent_ids ids = {r->current.generation, r->current.tail, r->current.key_id};
    struct recent_numbers n = {.totals = {r->current.listed, r->current.revoked}};
    struct recent kept = r->recent;
    bool was_private = r->is_private;
    bool is_whole = false;
    if (current_read(r->dir, LIST_CURRENT_PREV, &former, NULL) != ERR_OK ||
        former.key_id != r->current.key_id || former.tail >= r->current.tail ||
        list_file_path(path, r->dir, LIST_FILE_INDEX, former.generation, NULL) !=
            ERR_OK ||
        index_open(path, &r->former, NULL) != ERR_OK) {
        r->former = NULL;
        return;
    }
    r->tail_mark = tail_mark(r->dir, r->current.tail);
    enum err e = recent_new(&ids, node, &r->recent, NULL);
    if (e == ERR_OK) {
        e = replay_tail(r, former.tail, r->former, &n, &is_whole, NULL);
    }
    if (e == ERR_OK && is_whole) {
        e = replay_tail(r, r->current.tail, r->former, &n, &is_whole, NULL);
    }
    if (e == ERR_OK && is_whole) {
        recent_close(&kept);
        r->is_private = true;
        return;
    }
    recent_close(&r->recent);
    r->recent = kept;
    r->is_private = was_private;
    index_close(&r->former);
}

static enum err index_load(struct list_reader *r, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct errinfo info = {0};
    enum err e =
        list_file_path(path, r->dir, LIST_FILE_INDEX, r->current.generation, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = index_open(path, &r->index, &info);
    if (e == ERR_OK) {
        return ERR_OK;
    }
    r->index = NULL;
    if (e == ERR_DENIED || e == ERR_NOMEM) {
        return errinfo_set(reterr, e, info.source, 0, "%s", info.text);
    }
    fault(r,
          "index damaged (%.120s), hits cannot be confirmed; run `gillnet list rebuild "
          "%s`",
          info.text, r->name);
    return ERR_OK;
}

static enum err base_load(struct list_reader *r, const struct hashkey *node,
                          struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct errinfo info = {0};
    enum err e =
        list_file_path(path, r->dir, LIST_FILE_BASE, r->current.generation, reterr);
    if (e != ERR_OK) {
        return e;
    }
    struct bloomfile_want want = {
        .key = node, .digest_key = r->current.key_id, .role = BLOOMFILE_BASE};
    e = bloomfile_open(&r->base, path, &want, &info);
    r->has_base = e == ERR_OK;
    if (r->has_base) {
        return ERR_OK;
    }
    if (e == ERR_DENIED || !r->index) {
        return errinfo_set(reterr, e, info.source, 0,
                           "%.300s; run `gillnet list rebuild %s`", info.text, r->name);
    }
    fault(r,
          "filter damaged (%.120s), the exact index answers alone; run `gillnet list "
          "rebuild %s`",
          info.text, r->name);
    return ERR_OK;
}

/* ---- open ---- */

static void close_files(struct list_reader *r)
{
    index_close(&r->index);
    index_close(&r->former);
    bloomfile_close(&r->base);
    r->has_base = false;
    recent_close(&r->recent);
    confirm_free(&r->cache);
    r->is_private = false;
    r->fault[0] = '\0';
}

static enum err open_files(struct list_reader *r, const struct keyring *keys,
                           struct errinfo *reterr)
{
    r->mark = current_mark(r->dir);
    enum err e = current_find(r, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = current_key(&r->current, keys, r->dir, &r->key, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = index_load(r, reterr);
    if (e == ERR_OK) {
        e = base_load(r, &keys->node, reterr);
    }
    if (e == ERR_OK) {
        e = recent_load(r, &keys->node, reterr);
    }
    if (e == ERR_OK && !r->index) {
        former_load(r, &keys->node);
    }
    return e;
}

/* Opens until CURRENT stands still meanwhile: files of a replaced generation may be gone. */
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
    struct list_reader *r = calloc(1, sizeof(*r));
    if (!r) {
        return errinfo_set(reterr, ERR_NOMEM, state_dir, 0, "no memory to open a list");
    }
    enum err e = list_dir_path(r->dir, state_dir, name, reterr);
    if (e == ERR_OK) {
        memcpy(r->name, name.p, name.n);
        e = open_steady(r, keys, reterr);
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
