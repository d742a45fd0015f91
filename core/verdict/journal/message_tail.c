#include "core/verdict/journal/message_tail.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/ticker.h"
#include "core/base/uninitialized.h"
#include "core/verdict/journal/journal_follow.h"
#include "core/verdict/journal/journal_forget.h"
#include "core/verdict/journal/journal_head.h"

enum {
    KNOWN_MAX = 4096, /* files that rows can be of */
    WARN_US = 60000000
};

/* Identity of the file that journal_forget replaces (JOURNAL_FORGOTTEN). */
struct mark {
    uint64_t inode;
    int64_t s;
    int64_t ns;
};

struct message_tail {
    char dir[FILE_PATH_MAX];
    char mark_path[FILE_PATH_MAX];
    pthread_rwlock_t lock; /* guards: ring, mark, generation */
    struct message_ring *ring;
    struct mark mark;    /* before the ring was filled */
    uint64_t generation; /* rises when all rows are dropped */
    _Atomic size_t rows;
    _Atomic bool is_whole;
    _Atomic uint64_t newest; /* number of a row */
    struct ticker ticker;
    /* of the ticker */
    size_t ring_rows; /* of the ring */
    uint64_t seen;    /* the generation that it fills */
    uint64_t file;    /* that it reads; 0: none yet */
    uint64_t at;
    size_t nknown;
    uint64_t known[KNOWN_MAX]; /* files that rows are of, and newer ones; rising */
    char *chunk;
    struct record *record;
};

static struct mark read_mark(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0) {
        return (struct mark){.inode = 0};
    }
    return (struct mark){st.st_ino, st.st_ctim.tv_sec, st.st_ctim.tv_nsec};
}

static bool is_same_mark(const struct mark *a, const struct mark *b)
{
    return a->inode == b->inode && a->s == b->s && a->ns == b->ns;
}

/* ---- following ---- */

/* Drops all rows; they are read again from the files. Under the lock. */
static void begin_again(struct message_tail *t)
{
    message_ring_clear(t->ring);
    atomic_store(&t->newest, 0);
    t->generation++;
    atomic_store(&t->is_whole, false);
}

/* Drops all rows if a person was forgotten since. True: it did. */
static bool drop_forgotten(struct message_tail *t)
{
    (void)pthread_rwlock_rdlock(&t->lock);
    const struct mark now = read_mark(t->mark_path);
    bool is_same = is_same_mark(&now, &t->mark);
    (void)pthread_rwlock_unlock(&t->lock);
    if (is_same) {
        return false;
    }
    (void)pthread_rwlock_wrlock(&t->lock);
    t->mark = read_mark(t->mark_path); /* before anything is read */
    begin_again(t);
    (void)pthread_rwlock_unlock(&t->lock);
    return true;
}

/* Frames of a chunk become rows. Stops also if all rows were dropped meanwhile: a person in the
 * chunk may be forgotten. */
static bool take_chunk(void *context, struct slice bytes, size_t *retdone)
{
    struct message_tail *t = context;
    struct journal_walk w = journal_walk_begin(bytes);
    struct slice frame;

    (void)pthread_rwlock_wrlock(&t->lock);
    while (t->generation == t->seen && journal_walk_next(&w, &frame)) {
        if (record_parse(frame, t->record) && t->record->kind == RECORD_MESSAGE) {
            message_ring_add(t->ring, t->record, t->file);
        }
    }
    const bool is_same = t->generation == t->seen;
    atomic_store(&t->newest, message_ring_newest(t->ring));
    (void)pthread_rwlock_unlock(&t->lock);
    *retdone = w.whole;
    return is_same && !ticker_stops(&t->ticker);
}

static void read_file(struct message_tail *t, const struct journal_name_of *name)
{
    static struct clock_pace pace;
    struct errinfo why;

    const struct journal_follow f = {t->dir, t->chunk, take_chunk, t};
    if (journal_follow_file(&f, name, &t->at, &why) != ERR_OK &&
        clock_take_turn(&pace, WARN_US)) {
        log_errinfo("messages", &why);
    }
    explicit_bzero(t->record, sizeof(*t->record));
}

/* The place from which there are enough records for the ring, even of the longest. */
static void choose_begin(struct message_tail *t, const struct journal_files *files,
                         size_t n)
{
    const uint64_t wanted = (uint64_t)atomic_load(&t->rows) * RECORD_MAX;
    uint64_t have = 0;
    size_t i = n;

    while (i > 0 && have < wanted) {
        const uint64_t size = files->v[--i].size;
        have += size > JOURNAL_HEAD ? size - JOURNAL_HEAD : 0;
    }
    t->file = i < n ? journal_file_number(&files->v[i]) : 0;
    t->at = JOURNAL_HEAD + (have > wanted ? have - wanted : 0);
}

/* Whether the files are those that are known, without old ones at the beginning and with new ones
 * at the end. */
static bool is_continued(const struct message_tail *t,
                         const struct journal_files *files, size_t n)
{
    const uint64_t first = n > 0 ? journal_file_number(&files->v[0]) : UINT64_MAX;
    size_t at = 0;

    for (size_t i = 0; i < t->nknown; i++) {
        while (at < n && journal_file_number(&files->v[at]) < t->known[i]) {
            at++;
        }
        const bool is_there =
            at < n && journal_file_number(&files->v[at]) == t->known[i];
        const bool is_shorter =
            is_there && t->known[i] == t->file && files->v[at].size < t->at;
        if ((!is_there && t->known[i] >= first) || is_shorter) {
            return false;
        }
    }
    return true;
}

static void note_known(struct message_tail *t, const struct journal_files *files,
                       size_t n)
{
    (void)pthread_rwlock_rdlock(&t->lock);
    const uint64_t first = message_ring_first_file(t->ring);
    (void)pthread_rwlock_unlock(&t->lock);

    t->nknown = 0;
    for (size_t i = n > KNOWN_MAX ? n - KNOWN_MAX : 0; i < n; i++) {
        if (journal_file_number(&files->v[i]) >= first ||
            journal_file_number(&files->v[i]) == t->file) {
            t->known[t->nknown++] = journal_file_number(&files->v[i]);
        }
    }
}

/* How many files of messages there are; they stand before the others. */
static size_t count_messages(const struct journal_files *files)
{
    size_t n = 0;

    while (n < files->n && files->v[n].kind == JOURNAL_MESSAGES) {
        n++;
    }
    return n;
}

static void follow(struct message_tail *t, const struct journal_files *files)
{
    const size_t n = count_messages(files);

    (void)pthread_rwlock_wrlock(&t->lock);
    if (!is_continued(t, files, n)) {
        begin_again(t);
    }
    message_ring_drop_before(t->ring,
                             n > 0 ? journal_file_number(&files->v[0]) : UINT64_MAX);
    t->seen = t->generation;
    atomic_store(&t->newest, message_ring_newest(t->ring));
    if (!atomic_load(&t->is_whole) || n == 0) {
        choose_begin(t, files, n);
    }
    (void)pthread_rwlock_unlock(&t->lock);
    for (size_t i = 0; i < n; i++) {
        const uint64_t number = journal_file_number(&files->v[i]);
        if (number > t->file) {
            t->file = number;
            t->at = JOURNAL_HEAD;
        }
        if (number == t->file) {
            read_file(t, &files->v[i]);
        }
    }
    note_known(t, files, n);
}

/* Gives the ring the rows that are wanted. False: there are none, or no memory. */
static bool has_ring(struct message_tail *t)
{
    const size_t rows = atomic_load(&t->rows);

    if (rows != t->ring_rows) {
        struct message_ring *fresh = message_ring_new(rows);
        if (fresh == NULL) {
            return false;
        }
        (void)pthread_rwlock_wrlock(&t->lock);
        struct message_ring *old = t->ring;
        t->ring = fresh;
        atomic_store(&t->is_whole, false);
        (void)pthread_rwlock_unlock(&t->lock);
        message_ring_free(&old);
        t->ring_rows = rows;
    }
    return rows > 0;
}

static void look_at_files(void *context)
{
    struct message_tail *t = context;
    static struct clock_pace pace;
    struct journal_files files;
    struct errinfo why;

    (void)drop_forgotten(t);
    if (!has_ring(t)) {
        return;
    }
    if (journal_files_list(t->dir, &files, &why) != ERR_OK) {
        if (clock_take_turn(&pace, WARN_US)) {
            log_errinfo("messages", &why);
        }
        return;
    }
    follow(t, &files);
    journal_files_fini(&files);
    (void)pthread_rwlock_wrlock(&t->lock);
    atomic_store(&t->is_whole, t->generation == t->seen && !ticker_stops(&t->ticker));
    (void)pthread_rwlock_unlock(&t->lock);
}

/* ---- up and down ---- */

enum err message_tail_new(const char *state_dir, size_t rows, struct message_tail **ret,
                          struct errinfo *reterr)
{
    struct message_tail *t = calloc(1, sizeof(*t));

    *ret = NULL;
    if (t == NULL) {
        return errinfo_nomem(reterr, "messages");
    }
    (void)pthread_rwlock_init(&t->lock, NULL);
    atomic_store(&t->rows, rows);
    t->ring = message_ring_new(0);
    t->chunk = malloc(JOURNAL_CHUNK);
    t->record = calloc(1, sizeof(*t->record));
    enum err e = path_make(t->dir, reterr, "%s/" STATE_JOURNAL_DIR, state_dir);
    THEN(e, path_make(t->mark_path, reterr, "%s/" JOURNAL_FORGOTTEN, t->dir));
    if (e == ERR_OK && (t->ring == NULL || t->chunk == NULL || t->record == NULL)) {
        e = errinfo_nomem(reterr, t->dir);
    }
    if (e == ERR_OK && !ticker_start(&t->ticker, look_at_files, t, MESSAGE_TAIL_MS)) {
        e = errinfo_nomem(reterr, t->dir);
    }
    if (e != ERR_OK) {
        message_tail_free(&t);
    }
    *ret = t;
    return e;
}

void message_tail_free(struct message_tail **t)
{
    struct message_tail *x = *t;

    if (x == NULL) {
        return;
    }
    ticker_stop(&x->ticker);
    message_ring_free(&x->ring);
    free(x->chunk);
    free(x->record);
    (void)pthread_rwlock_destroy(&x->lock);
    free(x);
    *t = NULL;
}

void message_tail_set_rows(struct message_tail *t, size_t rows)
{
    atomic_store(&t->rows, rows);
    ticker_call(&t->ticker);
}

/* ---- searching ---- */

/* Under the lock. */
static void search(const struct message_tail *t, const struct message_search *s,
                   struct message_searched *ret)
{
    const struct message_ring *ring = t->ring;
    const size_t begin = message_ring_below(ring, s->after + 1);
    const size_t end =
        s->before == 0 ? message_ring_count(ring) : message_ring_below(ring, s->before);
    const size_t n = end > begin ? end - begin : 0;
    struct message_view v UNINITIALIZED;
    struct message_ring_query q UNINITIALIZED;
    bool goes_on = true;
    size_t at = 0;

    message_ring_prepare(ring, s->query, &q);
    *ret = (struct message_searched){.is_whole = atomic_load(&t->is_whole)};
    while (goes_on && ret->rows < n && (s->most == 0 || ret->rows < s->most)) {
        at = s->oldest_first ? begin + ret->rows : end - 1 - ret->rows;
        ret->rows++;
        goes_on = !message_ring_matches(ring, at, &q, &v) || s->fn(s->context, &v);
    }
    ret->last = ret->rows > 0 ? message_ring_number(ring, at) : 0;
    ret->has_more = ret->rows < n;
}

void message_tail_search(struct message_tail *t, const struct message_search *s,
                         struct message_searched *ret)
{
    if (drop_forgotten(t)) {
        ticker_call(&t->ticker);
    }
    (void)pthread_rwlock_rdlock(&t->lock);
    search(t, s, ret);
    (void)pthread_rwlock_unlock(&t->lock);
}

bool message_tail_try(struct message_tail *t, const struct message_search *s,
                      struct message_searched *ret)
{
    const struct mark now = read_mark(t->mark_path);

    if (pthread_rwlock_tryrdlock(&t->lock) != 0) {
        return false;
    }
    bool may = is_same_mark(&now, &t->mark) && atomic_load(&t->is_whole);
    if (may) {
        search(t, s, ret);
    }
    (void)pthread_rwlock_unlock(&t->lock);
    return may;
}

uint64_t message_tail_newest(struct message_tail *t)
{
    return atomic_load(&t->is_whole) ? atomic_load(&t->newest) : UINT64_MAX;
}
