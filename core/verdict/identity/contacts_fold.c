/*
 * contacts_fold - the thread of the store: syncs the log, folds logs into the next known.N.
 *
 * The order of steps keeps every entry in some file at any moment: a new log takes what is learnt
 * from now on; known.N+1 is committed with all that the older logs have; only then these go.
 */
#include "core/base/array.h"
#include "core/base/clock.h"
#include "core/verdict/identity/contacts_internal.h"

enum {
    TICK_S = 5,
    FOLD_ENTRIES = 20000,
    AGES = CONTACTS_DAYS + CONTACT_REFRESH_DAYS + 1,
    DAY_S = 86400
};
#define TICK_US  ((uint64_t)TICK_S * 1000000)
#define FOLD_US  ((uint64_t)6 * 3600 * 1000000) /* between folds of few entries */
#define RETRY_US ((uint64_t)60 * 1000000)       /* after a fold that failed */

struct fold {
    struct contacts *c;
    uint32_t today;
    uint32_t oldest; /* entries of earlier days go: there are too many */
    size_t n;
    struct contact_entry *v; /* those of frozen, by key */
    size_t nlogs;
    uint64_t log[CONTACTS_FILES + 1]; /* whose entries are in frozen */
    struct errinfo *err;
};

/* ---- what is folded ---- */

static bool on_log_entry(void *context, const struct contact_entry *entry)
{
    struct contacts *c = context;

    pthread_mutex_lock(&c->lock);
    bool is_in = contact_put(&c->recent, entry->key, entry->value);
    pthread_mutex_unlock(&c->lock);
    return is_in;
}

static bool has_room(struct contacts *c)
{
    pthread_mutex_lock(&c->lock);
    bool is_less = tally_used(&c->recent) < CONTACTS_MOST_RECENT;
    pthread_mutex_unlock(&c->lock);
    return is_less;
}

/* Logs that nobody appends to. A log that does not fit waits for the next fold. */
static enum err load_dead_logs(struct fold *f)
{
    struct contacts *c = f->c;
    uint64_t number[CONTACTS_FILES];
    size_t n = 0;
    enum err e = contacts_files(c->dir, "log", number, &n, f->err);

    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        bool is_locked = true;
        if (number[i] == c->log_number) {
            continue;
        }
        e = contacts_log_read(c->dir, number[i], on_log_entry, c, &is_locked, f->err);
        e = e == ERR_NOT_FOUND ? ERR_OK : e;
        if (e == ERR_OK && !is_locked && has_room(c)) {
            f->log[f->nlogs++] = number[i];
        }
    }
    return e;
}

/* From here on a new log takes what is learnt. */
static enum err change_log(struct fold *f)
{
    struct contacts *c = f->c;
    int fresh = -1;
    uint64_t number = 0;
    enum err e = contacts_log_make(c->dir, &fresh, &number, f->err);

    if (e != ERR_OK) {
        return e;
    }
    f->log[f->nlogs++] = c->log_number;
    pthread_mutex_lock(&c->lock);
    int old = c->log;
    c->log = fresh;
    c->log_number = number;
    c->log_bytes = CONTACT_RECORD;
    c->is_volatile = false;
    c->frozen = c->recent;
    tally_init(&c->recent);
    pthread_mutex_unlock(&c->lock);
    fd_close(&old);
    return ERR_OK;
}

static void add_frozen(void *context, uint64_t key, uint64_t value)
{
    struct fold *f = context;

    f->v[f->n++] = (struct contact_entry){key, (uint32_t)value};
}

/* Only this thread changes frozen. */
static enum err sort_frozen(struct fold *f)
{
    const struct tally *t = &f->c->frozen;

    f->v = calloc(tally_used(t) + 1, sizeof(*f->v));
    if (f->v == NULL) {
        return errinfo_nomem(f->err, f->c->dir);
    }
    tally_each(t, add_frozen, f);
    qsort(f->v, f->n, sizeof(*f->v), array_u64_cmp);
    return ERR_OK;
}

/* ---- merging ---- */

/* Both sources in order of key, each key once with its later value. */
struct merge {
    const struct fold *f;
    struct run_cursor *cursor; /* NULL: nothing was folded before */
    bool has_old;
    struct run_record old;
    size_t at; /* in f->v */
};

static void next_old(struct merge *m)
{
    enum err e = ERR_CORRUPT;

    while (m->cursor != NULL && e == ERR_CORRUPT) { /* a damaged block is passed over */
        e = run_cursor_next(m->cursor, &m->old);
    }
    m->has_old = e == ERR_OK;
}

static void merge_begin(struct merge *m, const struct fold *f,
                        struct run_cursor *cursor)
{
    const struct contacts_known *known = f->c->known;

    *m = (struct merge){.f = f, .cursor = known != NULL ? cursor : NULL};
    if (known != NULL) {
        run_cursor_init(cursor, known->run, 1, UINT64_MAX);
    }
    next_old(m);
}

static bool merge_step(struct merge *m, struct run_record *ret)
{
    const struct contact_entry *e = m->at < m->f->n ? &m->f->v[m->at] : NULL;

    if (!m->has_old && e == NULL) {
        return false;
    }
    bool takes_old = m->has_old && (e == NULL || m->old.key <= e->key);
    bool takes_new = e != NULL && (!m->has_old || e->key <= m->old.key);
    *ret = takes_old ? m->old : (struct run_record){e->key, e->value};
    if (takes_new && e->value > ret->count) {
        ret->count = e->value;
    }
    m->at += takes_new;
    if (takes_old) {
        next_old(m);
    }
    return true;
}

static bool merge_next(struct merge *m, struct run_record *ret)
{
    while (merge_step(m, ret)) {
        if (!contact_is_over(ret->count, m->f->today) &&
            ret->count / CONTACT_KINDS >= m->f->oldest) {
            return true;
        }
    }
    return false;
}

/* Sets the day from which entries are kept, so that they are at most CONTACTS_MOST. */
static void choose_oldest(struct fold *f, struct run_cursor *cursor)
{
    uint64_t of_age[AGES] = {0};
    uint64_t n = 0;
    struct run_record r;
    struct merge m;

    merge_begin(&m, f, cursor);
    while (merge_next(&m, &r)) {
        uint64_t day = r.count / CONTACT_KINDS;
        uint64_t age = day < f->today ? f->today - day : 0;
        of_age[age < AGES ? age : AGES - 1]++;
    }
    for (uint32_t age = 0; age < AGES; age++) {
        n += of_age[age];
        if (n > CONTACTS_MOST) {
            f->oldest = f->today - age + 1;
            return;
        }
    }
}

static enum err write_run(struct fold *f, struct run_cursor *cursor, const char *path)
{
    const struct run_id id = {.inc = 1,
                              .start_s = (uint64_t)f->today * DAY_S,
                              .len_s = DAY_S,
                              .key_id = f->c->keys->ring[0].id};
    struct run_writer *w = NULL;
    struct run_record r;
    struct merge m;
    enum err e = run_writer_new(path, &id, &w, f->err);

    if (e != ERR_OK) {
        return e;
    }
    merge_begin(&m, f, cursor);
    while (merge_next(&m, &r)) {
        run_writer_add(w, &r);
    }
    return run_writer_commit(&w, f->err);
}

static void put_in_use(struct contacts *c, struct contacts_known *fresh)
{
    pthread_mutex_lock(&c->lock);
    struct contacts_known *old = c->known;
    c->known = fresh;
    bool is_last = old != NULL && --old->refs == 0;
    pthread_mutex_unlock(&c->lock);
    if (is_last) {
        contacts_known_free(old);
    }
}

/* Its entries are in known.N, which is in use. */
static void forget_frozen(struct contacts *c)
{
    pthread_mutex_lock(&c->lock);
    struct tally gone = c->frozen;
    tally_init(&c->frozen);
    pthread_mutex_unlock(&c->lock);
    tally_fini(&gone);
}

/* known.N as it is on disk now: another process may have folded since. A damaged one makes room;
 * its entries are lost. */
static enum err take_newest(struct fold *f, uint64_t *retnumber)
{
    struct contacts *c = f->c;
    uint64_t number[CONTACTS_FILES];
    size_t n = 0;
    struct contacts_known *fresh = NULL;
    enum err e = contacts_files(c->dir, "known", number, &n, f->err);

    *retnumber = n > 0 ? number[n - 1] : 0;
    if (e != ERR_OK || n == 0 || (c->known != NULL && c->known->number == *retnumber)) {
        return e;
    }
    e = contacts_known_open(c->dir, *retnumber, &c->keys->node, &fresh, f->err);
    if (e == ERR_OK) {
        put_in_use(c, fresh);
    }
    return e == ERR_CORRUPT ? ERR_OK : e;
}

/* ---- after it ---- */

static void remove_file(const char *dir, const char *prefix, uint64_t number)
{
    char path[FILE_PATH_MAX];

    if (contacts_path(path, dir, prefix, number, NULL) == ERR_OK) {
        (void)unlink(path); /* one that stays is folded, or removed, the next time */
    }
}

static void remove_folded(const struct fold *f, uint64_t number)
{
    uint64_t known[CONTACTS_FILES];
    size_t n = 0;

    for (size_t i = 0; i < f->nlogs; i++) {
        remove_file(f->c->dir, "log", f->log[i]);
    }
    if (contacts_files(f->c->dir, "known", known, &n, NULL) == ERR_OK) {
        for (size_t i = 0; i < n && known[i] < number; i++) {
            remove_file(f->c->dir, "known", known[i]);
        }
    }
}

static enum err fold_frozen(struct fold *f)
{
    struct contacts *c = f->c;
    struct contacts_known *fresh = NULL;
    struct run_cursor *cursor = malloc(sizeof(*cursor));
    char path[FILE_PATH_MAX];
    uint64_t number = 0;
    enum err e = cursor != NULL ? ERR_OK : errinfo_nomem(f->err, c->dir);

    THEN(e, take_newest(f, &number));
    THEN(e, contacts_path(path, c->dir, "known", ++number, f->err));
    THEN(e, sort_frozen(f));
    if (e == ERR_OK) {
        choose_oldest(f, cursor);
        e = write_run(f, cursor, path);
    }
    THEN(e, contacts_known_open(c->dir, number, &c->keys->node, &fresh, f->err));
    if (e == ERR_OK) {
        put_in_use(c, fresh);
        forget_frozen(c);
        remove_folded(f, number);
    }
    free(f->v);
    free(cursor);
    return e;
}

/* One process folds: the one that has LOCK, until it ends. */
static enum err take_lock(struct contacts *c, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];

    if (c->folding.fd >= 0) {
        return ERR_OK;
    }
    enum err e = path_make(path, reterr, "%s/LOCK", c->dir);
    THEN(e, filelock_take(&c->folding, path, reterr));
    THEN(e, file_sweep_temps(c->dir, reterr));
    return e;
}

/* One thread at a time. */
static enum err fold_now(struct contacts *c, struct errinfo *reterr)
{
    struct fold f = {.c = c, .today = contact_today(), .err = reterr};
    enum err e = take_lock(c, reterr);

    if (tally_used(&c->frozen) == 0) { /* else they are left from a fold that failed */
        THEN(e, load_dead_logs(&f));
        THEN(e, change_log(&f));
    }
    THEN(e, fold_frozen(&f));
    return e;
}

enum err contacts_fold(struct contacts *c, struct errinfo *reterr)
{
    if (!c->has_thread) {
        return fold_now(c, reterr);
    }
    pthread_mutex_lock(&c->lock);
    c->wants_fold = true;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    return ERR_OK;
}

/* ---- the thread ---- */

static bool take_wish(struct contacts *c)
{
    pthread_mutex_lock(&c->lock);
    bool wants_fold = c->wants_fold;
    c->wants_fold = false;
    pthread_mutex_unlock(&c->lock);
    return wants_fold;
}

static void tell_fault(struct contacts *c, const struct errinfo *why)
{
    char text[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16];

    if (c->hooks.on_fault != NULL && (why != NULL || c->is_faulty)) {
        c->hooks.on_fault(why != NULL ? errinfo_format(why, text, sizeof(text)) : NULL);
    }
    c->is_faulty = why != NULL;
}

static void sync_log(struct contacts *c)
{
    pthread_mutex_lock(&c->lock);
    bool is_dirty = c->is_dirty;
    c->is_dirty = false;
    pthread_mutex_unlock(&c->lock);
    if (is_dirty) {
        (void)fdatasync(c->log); /* only this thread changes it */
    }
}

static bool is_time_to_fold(struct contacts *c, uint64_t now_us, uint64_t next_us)
{
    struct contacts_numbers n;

    contacts_numbers(c, &n);
    return take_wish(c) || now_us >= next_us ||
           (!c->is_faulty && (n.recent >= FOLD_ENTRIES || n.is_volatile));
}

/* Folds when it is time. Returns when it is time again. */
static uint64_t fold_in_time(struct contacts *c, uint64_t next_us)
{
    struct errinfo why = {.code = ERR_OK};
    const uint64_t now = clock_mono_us();

    if (!is_time_to_fold(c, now, next_us)) {
        return next_us;
    }
    enum err e = fold_now(c, &why);
    if (e == ERR_LOCKED) { /* the gillnetd before us still runs */
        return now + TICK_US;
    }
    tell_fault(c, e == ERR_OK ? NULL : &why);
    return now + (e == ERR_OK ? FOLD_US : RETRY_US);
}

/* False: the thread is to end. */
static bool sleep_tick(struct contacts *c)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += TICK_S;
    pthread_mutex_lock(&c->lock);
    while (!c->ends && !c->wants_fold &&
           pthread_cond_clockwait(&c->changed, &c->lock, CLOCK_MONOTONIC, &until) ==
               0) {
    }
    bool ends = c->ends;
    pthread_mutex_unlock(&c->lock);
    return !ends;
}

void *contacts_run(void *context)
{
    struct contacts *c = context;
    uint64_t next_us = 0;

    do {
        sync_log(c);
        next_us = fold_in_time(c, next_us);
        if (c->hooks.on_tick != NULL) {
            c->hooks.on_tick();
        }
    } while (sleep_tick(c));
    return NULL;
}
