/* follow_read - a journal, read on, and a run, read once. */

#include "core/count/follow_internal.h"

/* ---- journals ---- */

static enum err take_pairs(struct follow_bucket *b, struct follow_source *s,
                           struct slice pairs, const char *path, struct errinfo *reterr)
{
    struct cursor c = cursor_of(pairs);

    while (!cursor_done(&c)) {
        uint64_t key = cursor_u64(&c);
        uint64_t count = cursor_u64(&c);
        if (key != 0 && !follow_raise(b, s, key, count)) {
            return errinfo_nomem(reterr, path);
        }
    }
    return ERR_OK;
}

/* Reads the header of a new file: the first one, or one that replaced a journal that grew too
 * long. */
static enum err begin_journal(const struct follow *f, const struct follow_bucket *b,
                              struct follow_source *s, struct pair_log *l,
                              struct errinfo *reterr)
{
    if (l->size < PAIR_LOG_HEADER) {
        return ERR_NOT_FOUND; /* gone meanwhile */
    }
    struct pair_log_place place;
    enum err e = live_journal_begin(l, &place, reterr);
    /* the name must be as durable as the contents */
    THEN(e, file_sync_dir(f->dir, reterr));
    if (e != ERR_OK) {
        return e;
    }
    const struct run_id *id = &place.id;
    /* true: of another digest key, or a copy */
    s->is_bad = id->start_s != b->start_s || id->inc != s->inc ||
                id->key_id != f->key_id ||
                memcmp(id->origin, f->origin, sizeof(id->origin)) != 0;
    s->place = place;
    return ERR_OK;
}

/* Syncs the journal before it reads it: otherwise peers could have counts that this server loses
 * with the power. */
static enum err read_on(const struct follow *f, struct follow_bucket *b,
                        struct follow_source *s, struct pair_log *l,
                        struct errinfo *reterr)
{
    enum err e = ERR_OK;

    if (l->inode != s->place.inode || l->size < s->place.at) {
        s->is_bad = false;
        e = begin_journal(f, b, s, l, reterr);
    }
    if (e != ERR_OK || s->is_bad || l->size <= s->place.at) {
        return e;
    }
    if (fdatasync(l->fd) != 0) {
        return errinfo_errno(reterr, l->path, "the disk refuses the write-ahead log");
    }
    while (e == ERR_OK) {
        struct pair_log_place next = s->place;
        struct slice pairs;
        e = pair_log_next(l, &live_journal_form, &next, &pairs, reterr);
        THEN(e, take_pairs(b, s, pairs, l->path, reterr));
        if (e == ERR_OK) {
            s->place = next;
        }
    }
    s->is_bad = e == ERR_CORRUPT;
    return e == ERR_NOMEM ? e : ERR_OK; /* the next look tries again */
}

enum err follow_read_journal(const struct follow *f, struct follow_bucket *b,
                             const struct live_name *name, struct errinfo *reterr)
{
    const struct run_id id = {.start_s = name->start_s, .inc = name->inc};
    char path[FILE_PATH_MAX];
    struct pair_log log;
    struct follow_source *s = follow_source(b, name->inc);

    if (s == NULL) {
        return errinfo_nomem(reterr, f->dir);
    }
    if (s->has_run || live_journal_path(path, f->dir, &id) != ERR_OK) {
        return ERR_OK;
    }
    enum err e = pair_log_open(path, &log, reterr);
    THEN(e, read_on(f, b, s, &log, reterr));
    pair_log_close(&log);
    return e == ERR_NOT_FOUND ? ERR_OK : e; /* a run by now */
}

/* ---- runs ---- */

static enum err take_run(struct follow_bucket *b, struct follow_source *s,
                         const char *path, struct errinfo *reterr)
{
    struct run *run = NULL;
    struct run_cursor cursor;
    struct run_record record;
    enum err e = run_open(path, &run, reterr);

    if (e != ERR_OK) {
        return e;
    }
    run_cursor_init(&cursor, run, 0, UINT64_MAX);
    while ((e = run_cursor_next(&cursor, &record)) != ERR_NOT_FOUND) {
        if (e == ERR_OK && !follow_raise(b, s, record.key, record.count)) {
            run_close(&run);
            return errinfo_nomem(reterr, path);
        }
    }
    run_close(&run);
    return ERR_OK;
}

enum err follow_read_run(const struct follow *f, struct follow_bucket *b,
                         const struct run_id *id, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct follow_source *s = follow_source(b, id->inc);

    if (s == NULL) {
        return errinfo_nomem(reterr, f->runs);
    }
    if (s->has_run || runset_path(f->runs, id, path, NULL) != ERR_OK) {
        return ERR_OK;
    }
    enum err e = file_sync_dir(f->runs, reterr);
    THEN(e, take_run(b, s, path, reterr));
    /* a damaged run stays damaged; the counts of its journal were reported */
    s->has_run = e == ERR_OK || e == ERR_CORRUPT || e == ERR_VERSION;
    return e == ERR_NOT_FOUND ? ERR_OK : e;
}
