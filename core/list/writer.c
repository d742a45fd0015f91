/*
 * writer - one lock, one list: opening with repair of what a crash left, single changes.
 */
#include "core/list/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/list/build.h"
#include "core/list/merge.h"

enum { LOCK_TEXT_MAX = 128 };

uint32_t writer_now_s(void)
{
    return (uint32_t)(clock_wall_us() / 1000000);
}

/* ---- the lock ---- */

/* Says in reterr who holds the lock, as the holder wrote it into the file. */
static void lock_blame(const char *path, struct errinfo *reterr)
{
    struct buf holder;
    buf_init(&holder, LOCK_TEXT_MAX);
    if (file_read(path, &holder, NULL) == ERR_OK) {
        struct slice who = slice_trim(buf_slice(&holder));
        for (size_t i = 0; i < who.n; i++) {
            holder.p[i] = (char)(who.p[i] >= ' ' && who.p[i] <= '~' ? who.p[i] : '?');
        }
        errinfo_set(
            reterr, ERR_LOCKED, path, 0,
            "the lists are being changed by another process (%.*s); wait for it "
            "or stop it",
            SLICE_ARGS(who));
    }
    buf_fini(&holder);
}

static enum err lock_take(struct list_writer *w, const char *state_dir,
                          struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = file_path(path, "%s/lists/LOCK", state_dir);
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, state_dir, 0, "the path is too long");
    }
    e = filelock_take(&w->lock, path, reterr);
    if (e == ERR_LOCKED) {
        lock_blame(path, reterr);
    } else if (e == ERR_DENIED && access(path, W_OK) != 0) { /* not for being a link */
        errinfo_set(reterr, e, path, 0,
                    "this user may not change the lists; do it as the user that made "
                    "them, or as root");
    }
    if (e != ERR_OK) {
        return e;
    }
    char text[LOCK_TEXT_MAX];
    int n = snprintf(text, sizeof(text), "process %ld, %s\n", (long)getpid(),
                     program_invocation_short_name);
    if (n > 0 && ftruncate(w->lock.fd, 0) == 0) {
        /* only for the error text of others: a full disk must not prevent the lock */
        (void)!pwrite(w->lock.fd, text, strnlen(text, sizeof(text)), 0);
    }
    return ERR_OK;
}

/* ---- what lies in the folder ---- */

struct clean {
    const struct list_writer *w;
    uint64_t former; /* generation that CURRENT.prev names */
};

static enum err clean_file(void *context, enum list_file kind, uint64_t number)
{
    const struct clean *c = context;
    const struct list_current *now = &c->w->current;
    bool is_needed = kind == LIST_FILE_LOG
                         ? number <= now->tail
                         : number == now->generation || number == c->former;
    char path[FILE_PATH_MAX];
    if (!is_needed && list_file_path(path, c->w->dir, kind, number, NULL) == ERR_OK) {
        (void)unlink(path);
    }
    return ERR_OK;
}

void writer_clean(const struct list_writer *w)
{
    struct clean c = {.w = w, .former = w->current.generation};
    struct list_current former;
    if (current_read(w->dir, LIST_CURRENT_PREV, &former, NULL) == ERR_OK) {
        c.former = former.generation;
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

/* No list was ever published here: at most the beginnings of a creation. */
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

/* Builds the recent table anew from the tail, cutting a record that a crash left unfinished,
 * and touches CURRENT so that readers look again. */
static enum err tail_replay(struct list_writer *w, const struct recent_ids *ids,
                            struct errinfo *reterr)
{
    struct segment s;
    struct errinfo header_err;
    struct recent image;
    enum err e = segment_open(w->dir, w->current.tail, &s, &header_err, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (!s.has_header) {
        segment_close(&s);
        *reterr = header_err;
        return header_err.code;
    }
    e = recent_new(ids, &w->node, &image, reterr);
    if (e != ERR_OK) {
        segment_close(&s);
        return e;
    }
    struct recent_numbers start = {
        .updated_s = w->current.updated_s,
        .totals = {w->current.listed, w->current.revoked},
    };
    size_t good = 0;
    unsigned damage = 0;
    e = recent_replay(&image, segment_scan_all(&s, w->current.tail), w->index, start,
                      &good, &damage);
    if (e != ERR_OK) {
        errinfo_set(reterr, e, w->dir, 0, "segment %" PRIu32 " holds too many entries",
                    w->current.tail);
    } else {
        e = tail_open(&w->tail, w->dir, w->current.tail, good, reterr);
    }
    if (e == ERR_OK) {
        e = recent_save(&image, w->dir, reterr);
    }
    if (e == ERR_OK) {
        e = recent_open(w->dir, ids, &w->node, FILEMAP_WRITE, &w->recent, reterr);
    }
    recent_close(&image);
    segment_close(&s);
    return e == ERR_OK ? current_write(w->dir, LIST_CURRENT, &w->current, reterr) : e;
}

/* Opens the tail and its recent table, rebuilding the table when it does not fit the tail. */
static enum err tail_load(struct list_writer *w, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct recent_ids ids = {w->current.generation, w->current.tail, w->current.key_id};
    struct stat st;
    enum err e = list_file_path(path, w->dir, LIST_FILE_LOG, w->current.tail, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (lstat(path, &st) != 0) {
        return errinfo_errno(reterr, path, "cannot examine the log");
    }
    if (recent_open(w->dir, &ids, &w->node, FILEMAP_WRITE, &w->recent, NULL) ==
        ERR_OK) {
        uint64_t bytes = recent_numbers_get(&w->recent).tail_bytes;
        if (bytes == (uint64_t)st.st_size) {
            return tail_open(&w->tail, w->dir, w->current.tail, bytes, reterr);
        }
        recent_close(&w->recent);
    }
    return tail_replay(w, &ids, reterr);
}

static enum err index_load(struct list_writer *w, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e =
        list_file_path(path, w->dir, LIST_FILE_INDEX, w->current.generation, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = index_open(path, &w->index, &w->index_why);
    if (e != ERR_OK) {
        w->index = NULL; /* single changes go on without it; see writer_prior */
        w->index_why.code = e;
    }
    return ERR_OK;
}

/* Damage leaves the writer open for a rebuild; only missing rights or memory are failures. */
static enum err generation_load(struct list_writer *w, struct errinfo *reterr)
{
    struct errinfo info = {0};
    enum err e = index_load(w, reterr);
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

static enum err generation_create(struct list_writer *w, struct errinfo *reterr)
{
    struct build b = {.w = w};
    (void)file_sweep_temps(w->dir, NULL);
    enum err e = build_begin(&b, 1, 0, reterr);
    return e == ERR_OK ? build_publish(&b, 1, writer_now_s(), reterr) : e;
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
            "there is no list of this name; `gillnet list import` makes it");
    }
    if (e == ERR_NOT_FOUND || e == ERR_CORRUPT || e == ERR_VERSION) {
        w->current = (struct list_current){0};
        return writer_damaged(w, &info);
    }
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, info.source, 0, "%s", info.text);
    }
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
            "there is no list of this name; `gillnet list import` makes it");
    }
    e = file_path(lists, "%s/lists", state_dir);
    return e == ERR_OK ? file_make_dir(lists, LIST_DIR_MODE, reterr)
                       : errinfo_set(reterr, e, state_dir, 0, "the path is too long");
}

enum err list_writer_open(const char *state_dir, struct slice name,
                          const struct keyring *keys, bool create,
                          struct list_writer **ret, struct errinfo *reterr)
{
    struct list_writer *w = calloc(1, sizeof(*w));
    if (!w) {
        return errinfo_set(reterr, ERR_NOMEM, state_dir, 0, "no memory");
    }
    w->lock.fd = -1;
    w->tail.fd = -1;
    w->keep_text = true;
    w->filter = (struct filter_wish){.layout = 1, .error = LIST_FILTER_ERROR};
    w->keys = *keys;
    w->key = keys->ring[0];
    w->node = keys->node;
    enum err e = folders_make(w, state_dir, name, create, reterr);
    if (e == ERR_OK) {
        e = lock_take(w, state_dir, reterr);
    }
    if (e == ERR_OK && create) {
        e = file_make_dir(w->dir, LIST_DIR_MODE, reterr);
    }
    if (e == ERR_OK) {
        e = writer_load(w, keys, create, reterr);
    }
    if (e != ERR_OK) {
        list_writer_close(&w);
        return e;
    }
    *ret = w;
    return ERR_OK;
}

void writer_close_generation(struct list_writer *w)
{
    index_close(&w->index);
    recent_close(&w->recent);
    tail_close(&w->tail);
}

void list_writer_close(struct list_writer **w)
{
    if (*w) {
        writer_close_generation(*w);
        filelock_drop(&(*w)->lock);
        free(*w);
    }
    *w = NULL;
}

void list_writer_set_keep_text(struct list_writer *w, bool keep_text)
{
    w->keep_text = keep_text;
}

void list_writer_set_filter(struct list_writer *w, const struct filter_wish *wish)
{
    w->filter = *wish;
}

enum err writer_check(const struct list_writer *w, struct errinfo *reterr)
{
    if (w->state != WRITER_READY) {
        return errinfo_set(reterr, w->why.code, w->why.source, 0, "%s", w->why.text);
    }
    return ERR_OK;
}

/* ---- single changes ---- */

/* What is known of d. With a damaged index only the recent table is asked: the change then may
 * lose the entry's first date, and the totals are wrong until the rebuild. */
static enum err writer_prior(const struct list_writer *w, const struct digest *d,
                             struct index_record *ret, bool *rethas,
                             struct errinfo *reterr)
{
    enum err e = recent_get(&w->recent, d, ret);
    if (e == ERR_NOT_FOUND && w->index) {
        e = index_get(w->index, d, ret);
    }
    *rethas = e == ERR_OK;
    if (e == ERR_OK || e == ERR_NOT_FOUND) {
        return ERR_OK;
    }
    return errinfo_set(
        reterr, e, w->dir, 0,
        "what is known of this entry is damaged; run `gillnet list rebuild "
        "%s`",
        w->name);
}

/* An explicit record that says what stands already need not be written again. */
static bool says_nothing_new(const struct index_record *state,
                             const struct log_record *r)
{
    uint8_t status = r->kind == RECORD_REVOKE ? ENTRY_REVOKED : ENTRY_LISTED;
    return (state->flags & ENTRY_FLAG_EXPLICIT) != 0 && state->status == status &&
           state->expiry_s == r->expiry_s && !entry_is_expired(state, r->time_s);
}

static enum err make_room(struct list_writer *w, struct errinfo *reterr)
{
    struct list_import_result ignored;
    if (!recent_is_full(&w->recent) && !tail_is_full(&w->tail)) {
        return ERR_OK;
    }
    return list_merge(w, NULL, NULL, NULL, &ignored, reterr);
}

static enum err writer_change(struct list_writer *w, struct log_record *r,
                              const struct feature_entry *entry, struct slice source,
                              struct errinfo *reterr)
{
    struct index_record state = {0};
    bool has = false;
    enum err e = writer_check(w, reterr);
    if (e == ERR_OK && entry->text.n > LIST_TEXT_MAX) {
        e = errinfo_set(reterr, ERR_LIMIT, "", 0, "the entry is longer than %d bytes",
                        LIST_TEXT_MAX);
    }
    if (e != ERR_OK) {
        return e;
    }
    digest_make(&w->key, entry->class_type, entry->text, &r->digest);
    r->class_type = entry->class_type;
    r->time_s = writer_now_s();
    r->text = w->keep_text ? entry->text : SLICE_NONE;
    e = make_room(w, reterr);
    if (e == ERR_OK) {
        e = writer_prior(w, &r->digest, &state, &has, reterr);
    }
    if (e != ERR_OK || (has && says_nothing_new(&state, r))) {
        return e;
    }
    struct index_record before = state;
    e = tail_append(&w->tail, r, source, reterr);
    if (e != ERR_OK) {
        return e;
    }
    (void)entry_fold(&state, has, r); /* an explicit record always changes something */
    e = recent_put(&w->recent, &r->digest, &state);
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, w->dir, 0, "the recent table has no room");
    }
    struct recent_numbers n = recent_numbers_get(&w->recent);
    entry_count(&n.totals, &before, has, &state);
    n.tail_bytes = w->tail.bytes;
    n.updated_s = r->time_s;
    recent_numbers_set(&w->recent, &n);
    return ERR_OK;
}

enum err list_add(struct list_writer *w, const struct feature_entry *e,
                  struct slice source, uint32_t expiry_s, struct errinfo *reterr)
{
    struct log_record r = {.kind = RECORD_ADD, .expiry_s = expiry_s};
    return writer_change(w, &r, e, source, reterr);
}

enum err list_revoke(struct list_writer *w, const struct feature_entry *e,
                     struct slice source, struct errinfo *reterr)
{
    struct log_record r = {.kind = RECORD_REVOKE};
    return writer_change(w, &r, e, source, reterr);
}
