/* live_recover - turns the files of a gillnetd that ended into runs; reads a count for another
 * process. */
#include "core/base/array.h"
#include "core/base/dir_walk.h"
#include "core/base/file_internal.h"
#include "core/count/live_internal.h"
#include "core/count/runset.h"

enum {
    FILES_MAX = 1024, /* of running tables: one or two, more after very many crashes */
    CHUNK_SLOTS = 4096,
    CHUNK = CHUNK_SLOTS * (int)sizeof(struct live_slot)
};

/* The names of running tables' files in a folder. */
struct found {
    struct live_name v[FILES_MAX];
    size_t n;
};

static int by_bucket(const void *a, const void *b)
{
    const struct live_name *x = a;
    const struct live_name *y = b;
    if (x->start_s != y->start_s) {
        return x->start_s < y->start_s ? -1 : 1;
    }
    if (x->inc != y->inc) {
        return x->inc < y->inc ? -1 : 1;
    }
    return 0;
}

/* Sorted by bucket and incarnation. Files beyond FILES_MAX wait for the next start. */
static enum err list_files(const char *dir, struct found *ret, struct errinfo *reterr)
{
    struct dir_walk w = dir_walk_begin(dir, DIR_NEEDED);

    ret->n = 0;
    while (ret->n < FILES_MAX && dir_walk_next(&w)) {
        struct live_name name = live_name_parse(slice_str(w.name));
        if (name.kind != LIVE_OTHER) {
            ret->v[ret->n++] = name;
        }
    }
    enum err e = dir_walk_end(&w, ERR_OK, reterr);
    qsort(ret->v, ret->n, sizeof(*ret->v), by_bucket);
    return e;
}

/* ---- what one incarnation counted in one bucket ---- */

struct saved {
    struct run_id id;
    bool has_id;
    struct run_record *records;
    size_t n;
    size_t room;
    bool is_partly; /* something could not be used */
    bool has_table; /* a table served */
};

static bool saved_add(struct saved *s, uint64_t key, uint64_t count)
{
    if (!array_room(&s->records, &s->room, s->n + 1, SIZE_MAX, sizeof(*s->records))) {
        return false;
    }
    s->records[s->n++] = (struct run_record){key, count};
    return true;
}

static int by_key_then_count(const void *a, const void *b)
{
    const struct run_record *x = a;
    const struct run_record *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->count > y->count ? -1 : x->count < y->count;
}

/* Of each key the largest count: counts only grow. */
static void saved_settle(struct saved *s)
{
    size_t kept = 0;
    if (s->n > 1) {
        qsort(s->records, s->n, sizeof(*s->records), by_key_then_count);
    }
    for (size_t i = 0; i < s->n; i++) {
        if (kept == 0 || s->records[kept - 1].key != s->records[i].key) {
            s->records[kept++] = s->records[i];
        }
    }
    s->n = kept;
}

/* A table that is open. */
struct source {
    int fd;
    uint64_t size;
    struct live_header header;
};

static enum err source_open(const char *path, struct source *ret,
                            struct errinfo *reterr)
{
    char head[LIVE_DATA_AT];
    enum err e = file_sys_open_regular(path, O_RDONLY, &ret->fd, &ret->size, reterr);
    if (e != ERR_OK) {
        return e;
    }
    size_t n = file_read_at(ret->fd, 0, head, sizeof(head));
    e = live_header_read(slice_of(head, n), ret->size, path, &ret->header, reterr);
    if (e != ERR_OK) {
        (void)close(ret->fd);
    }
    return e;
}

/* ERR_CORRUPT: a slot says what no gillnetd stored. */
static enum err take_chunk(const struct live_header *h, const struct live_slot *slots,
                           uint64_t first, size_t n, struct saved *s)
{
    for (size_t i = 0; i < n; i++) {
        if (slots[i].key == 0) {
            continue;
        }
        if (slots[i].count == 0 ||
            live_shard_of(slots[i].key, h->nshards) != (first + i) / h->per_shard) {
            return ERR_CORRUPT;
        }
        if (!saved_add(s, slots[i].key, slots[i].count)) {
            return ERR_NOMEM;
        }
    }
    return ERR_OK;
}

static enum err take_slots(const struct source *t, struct saved *s)
{
    const uint64_t slots = t->header.nshards * t->header.per_shard;
    struct live_slot *chunk = malloc(CHUNK);
    if (!chunk) {
        return ERR_NOMEM;
    }
    enum err e = ERR_OK;
    for (uint64_t i = 0; i < slots && e == ERR_OK; i += CHUNK_SLOTS) {
        size_t n = slots - i < CHUNK_SLOTS ? (size_t)(slots - i) : CHUNK_SLOTS;
        size_t want = n * sizeof(*chunk);
        uint64_t at = LIVE_DATA_AT + i * sizeof(*chunk);
        e = file_read_at(t->fd, at, chunk, want) == want
                ? take_chunk(&t->header, chunk, i, n, s)
                : ERR_CORRUPT;
    }
    free(chunk);
    return e;
}

/* Whether what the header says fits the file's name: a copy under another name would count
 * twice. */
static bool is_of_name(const struct run_id *id, const struct live_name *name)
{
    return id->start_s == name->start_s && id->inc == name->inc;
}

/* A table of another boot is not read: the stop of the machine may have torn it. */
static enum err take_table(const char *path, const struct live_name *name,
                           struct saved *s, struct errinfo *reterr)
{
    struct source t = {.fd = -1};
    enum err e = source_open(path, &t, reterr);
    if (e == ERR_NOT_FOUND) {
        return ERR_OK; /* made, never used */
    }
    if (e == ERR_CORRUPT || (e == ERR_OK && !is_of_name(&t.header.id, name))) {
        s->is_partly = true;
        if (e == ERR_OK) {
            (void)close(t.fd);
        }
        return ERR_OK;
    }
    if (e != ERR_OK) {
        return e;
    }
    struct live_boot now = live_boot_now();
    if (live_boot_is_same(&t.header.boot, &now)) {
        size_t before = s->n;
        e = take_slots(&t, s);
        if (e == ERR_OK) {
            s->has_table = true;
            s->id = t.header.id;
            s->has_id = true;
        } else if (e == ERR_CORRUPT) {
            s->n = before;
            s->is_partly = true;
            e = ERR_OK;
        } else {
            e = errinfo_nomem(reterr, path);
        }
    }
    (void)close(t.fd);
    return e;
}

/* ---- journals ---- */

/* Adds whole records up to the first bad one: the rest was not synced, or is damaged. */
static enum err take_records(struct pair_log *l, struct pair_log_place *p,
                             struct saved *s, struct errinfo *reterr)
{
    struct slice pairs;
    enum err e = ERR_OK;

    while ((e = pair_log_next(l, &live_journal_form, p, &pairs, reterr)) == ERR_OK) {
        struct cursor c = cursor_of(pairs);
        while (!cursor_done(&c)) {
            uint64_t key = cursor_u64(&c);
            uint64_t count = cursor_u64(&c);
            if (key != 0 && count != 0 && !saved_add(s, key, count)) {
                return errinfo_nomem(reterr, l->path);
            }
        }
    }
    return e == ERR_NOT_FOUND || e == ERR_CORRUPT ? ERR_OK : e;
}

static enum err take_journal(const char *path, const struct live_name *name,
                             struct saved *s, struct errinfo *reterr)
{
    struct pair_log log;
    struct pair_log_place place;
    size_t before = s->n;
    enum err e = pair_log_open(path, &log, reterr);

    THEN(e, live_journal_begin(&log, &place, reterr));
    if (e == ERR_OK && !is_of_name(&place.id, name)) {
        e = ERR_CORRUPT;
    }
    THEN(e, take_records(&log, &place, s, reterr));
    if (e == ERR_OK) {
        s->id = place.id;
        s->has_id = true;
    } else {
        s->n = before;
    }
    if (e == ERR_CORRUPT) {
        s->is_partly = true;
        e = ERR_OK;
    }
    pair_log_close(&log);
    return e;
}

enum err live_logged(const char *dir, const struct run_id *id, struct run_record **ret,
                     size_t *retn, struct errinfo *reterr)
{
    const struct live_name name = {
        .kind = LIVE_JOURNAL, .start_s = id->start_s, .inc = id->inc};
    struct saved s = {.n = 0};
    char path[FILE_PATH_MAX];
    enum err e = live_journal_path(path, dir, id);

    THEN(e, take_journal(path, &name, &s, reterr));
    if (e != ERR_OK) {
        free(s.records);
        return e;
    }
    saved_settle(&s);
    *ret = s.records;
    *retn = s.n;
    return ERR_OK;
}

/* ---- from saved to a run ---- */

/* Whether the bucket's run is there already, whole as far as opening shows. */
static bool is_run_there(const char *path)
{
    struct run *r = NULL;
    if (run_open(path, &r, NULL) != ERR_OK) {
        return false;
    }
    enum err e = run_verify(r, NULL);
    run_close(&r);
    return e == ERR_OK;
}

static enum err save(const struct saved *s, const char *runs_dir,
                     struct live_recovered *ret, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct run_writer *w = NULL;
    enum err e = runset_path(runs_dir, &s->id, path, reterr);
    if (e == ERR_OK && is_run_there(path)) {
        return ERR_OK;
    }
    THEN(e, run_writer_new(path, &s->id, &w, reterr));
    if (e != ERR_OK) {
        return e;
    }
    for (size_t i = 0; i < s->n; i++) {
        run_writer_add(w, &s->records[i]);
    }
    e = run_writer_commit(&w, reterr);
    if (e == ERR_OK) {
        ret->keys += s->n;
        ret->runs++;
        ret->by_journal = ret->by_journal || !s->has_table;
    }
    return e;
}

static enum err path_of_name(char dst[FILE_PATH_MAX], const char *dir,
                             const struct live_name *name)
{
    const struct run_id id = {.start_s = name->start_s, .inc = name->inc};
    return name->kind == LIVE_JOURNAL
               ? live_journal_path(dst, dir, &id)
               : live_table_path(dst, dir, &id, name->generation);
}

/* A foreign or unreadable file stays where it is; the other files are used. */
static bool stays_unread(enum err e)
{
    return e == ERR_IO || e == ERR_DENIED || e == ERR_CORRUPT || e == ERR_LIMIT ||
           e == ERR_NOT_FOUND;
}

/* The n files of one bucket and incarnation: read, saved, removed. */
static enum err recover_one(const char *dir, const char *runs_dir,
                            const struct live_name *names, size_t n,
                            struct live_recovered *ret, struct errinfo *reterr)
{
    struct saved s = {.n = 0};
    char path[FILE_PATH_MAX];
    enum err e = ERR_OK;
    bool is_unread = false;
    for (size_t i = 0; i < n && e == ERR_OK; i++) {
        e = path_of_name(path, dir, &names[i]);
        THEN(e, names[i].kind == LIVE_JOURNAL
                    ? take_journal(path, &names[i], &s, reterr)
                    : take_table(path, &names[i], &s, reterr));
        if (stays_unread(e)) {
            is_unread = true;
            e = ERR_OK;
        }
    }
    if (e == ERR_OK && s.has_id && s.n > 0) {
        saved_settle(&s);
        e = save(&s, runs_dir, ret, reterr);
    }
    for (size_t i = 0; i < n && e == ERR_OK && !is_unread; i++) {
        if (path_of_name(path, dir, &names[i]) == ERR_OK) {
            (void)unlink(path); /* what stays is found again, and its run with it */
        }
    }
    ret->damaged += s.is_partly || is_unread || (e == ERR_OK && s.n == 0 && !s.has_id);
    free(s.records);
    return e;
}

enum err live_recover(const char *dir, const char *runs_dir, struct live_recovered *ret,
                      struct errinfo *reterr)
{
    struct live_recovered done = {.keys = 0};
    struct found *files = malloc(sizeof(*files));
    if (!files) {
        return errinfo_nomem(reterr, dir);
    }
    enum err e = file_make_dir(runs_dir, 0750, reterr);
    THEN(e, file_sweep_temps(dir, reterr));
    THEN(e, file_sweep_temps(runs_dir, reterr));
    THEN(e, list_files(dir, files, reterr));
    for (size_t i = 0; e == ERR_OK && i < files->n;) {
        size_t n = 1;
        while (i + n < files->n && by_bucket(&files->v[i], &files->v[i + n]) == 0) {
            n++;
        }
        e = recover_one(dir, runs_dir, &files->v[i], n, &done, reterr);
        i += n;
    }
    free(files);
    *ret = done;
    return e;
}

/* ---- another process's look ---- */

/* Returns the count of key in the table; 0: none. Reads slot by slot; the slots of one probe lie in
 * one page. */
static uint64_t find_count(const struct source *t, uint64_t key)
{
    const struct live_header *h = &t->header;
    const uint64_t first = live_shard_of(key, h->nshards) * h->per_shard;
    uint64_t at = live_slot_of(key, h->nshards, h->per_shard);
    for (uint64_t i = 0; i < h->per_shard; i++) {
        struct live_slot s;
        uint64_t offset = LIVE_DATA_AT + (first + at) * sizeof(s);
        if (file_read_at(t->fd, offset, &s, sizeof(s)) != sizeof(s) || s.key == 0) {
            return 0;
        }
        if (s.key == key) {
            return s.count;
        }
        at = at + 1 < h->per_shard ? at + 1 : 0;
    }
    return 0;
}

/* True if the table at path is the running one. Raises *retcount to its count of key. */
static bool peek_one(const char *path, uint64_t key, uint64_t *retcount)
{
    struct source t = {.fd = -1};
    if (source_open(path, &t, NULL) != ERR_OK) {
        return false;
    }
    struct live_boot now = live_boot_now();
    bool counts =
        t.header.state == LIVE_RUNNING && live_boot_is_same(&t.header.boot, &now);
    uint64_t count = counts ? find_count(&t, key) : 0;
    if (count > *retcount) { /* while it grows, its keys are in two */
        *retcount = count;
    }
    (void)close(t.fd);
    return counts;
}

enum err live_peek(const char *dir, uint64_t key, uint64_t *retcount,
                   uint64_t *retstart_s, struct errinfo *reterr)
{
    struct found *files = malloc(sizeof(*files));
    if (!files) {
        return errinfo_nomem(reterr, dir);
    }
    enum err e = list_files(dir, files, reterr);
    bool is_found = false;
    uint64_t start_s = 0;
    uint64_t count = 0;
    for (size_t i = files->n; e == ERR_OK && i-- > 0;) {
        const struct live_name *name = &files->v[i];
        char path[FILE_PATH_MAX];
        if ((is_found && name->start_s != start_s) || name->kind != LIVE_TABLE ||
            path_of_name(path, dir, name) != ERR_OK) {
            continue;
        }
        if (peek_one(path, key, &count)) {
            is_found = true;
            start_s = name->start_s;
        }
    }
    free(files);
    if (e != ERR_OK) {
        return e;
    }
    if (!is_found) {
        return errinfo_set(reterr, ERR_NOT_FOUND, dir, 0, "nothing is being counted");
    }
    *retcount = count;
    *retstart_s = start_s;
    return ERR_OK;
}

/* ---- verifying a journal ---- */

bool live_is_journal(const char *name)
{
    return live_name_parse(slice_str(name)).kind == LIVE_JOURNAL;
}

static enum err verify_records(struct pair_log *l, struct pair_log_place *p,
                               struct errinfo *reterr)
{
    struct slice pairs;
    enum err e = ERR_OK;

    while (e == ERR_OK) {
        e = pair_log_next(l, &live_journal_form, p, &pairs, reterr);
    }
    if (e == ERR_CORRUPT) {
        return errinfo_set(reterr, e, l->path, 0,
                           "record %" PRIu64 " at byte %" PRIu64
                           " is damaged: after a loss of power what was counted from "
                           "there on would be lost",
                           p->seq + 1, p->at);
    }
    return e == ERR_NOT_FOUND ? ERR_OK : e;
}

enum err live_verify_journal(const char *path, struct errinfo *reterr)
{
    struct pair_log log;
    struct pair_log_place place;
    enum err e = pair_log_open(path, &log, reterr);

    if (e == ERR_OK && log.size >= PAIR_LOG_HEADER) { /* else gillnetd is making it */
        e = live_journal_begin(&log, &place, reterr);
        THEN(e, verify_records(&log, &place, reterr));
    }
    pair_log_close(&log);
    return e;
}
