#include "core/verdict/journal/worth_tail.h"

#include <stdatomic.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/ticker.h"
#include "core/verdict/journal/journal_follow.h"
#include "core/verdict/journal/journal_head.h"
#include "core/verdict/journal/journal_read.h"

enum {
    US_PER_S = 1000000,
    WARN_US = 60000000,
    CASE_MARGIN_S = 60 /* between the second of a case id and the time of its record */
};

/* Work that takes long and may come often. */
struct pace {
    uint64_t next_us; /* not before */
};

struct worth_tail {
    char state_dir[FILE_PATH_MAX];
    char dir[FILE_PATH_MAX];
    pthread_rwlock_t lock; /* guards: worth */
    struct worth *worth;
    _Atomic bool is_whole;
    struct ticker ticker;
    /* of the ticker */
    uint64_t file; /* that it reads; 0: none yet */
    uint64_t at;
    uint64_t stamp; /* of the log of reports that was read */
    struct pace reports;
    struct pace seeking;
    char *chunk;
    struct record *record;
};

static void warn(const struct errinfo *why)
{
    static struct clock_pace pace;

    if (clock_take_turn(&pace, WARN_US)) {
        log_errinfo("worth", why);
    }
}

/* After work that began at begun_us: WORTH_SHARE times as long without it. */
static void pace_after(struct pace *p, uint64_t begun_us)
{
    const uint64_t now_us = clock_mono_us();

    p->next_us = now_us + WORTH_SHARE * (now_us - begun_us);
}

/* ---- reports ---- */

static void read_reports(struct worth_tail *t)
{
    const uint64_t begun_us = clock_mono_us();
    const uint64_t stamp = report_log_stamp(t->state_dir);
    struct report_cases cases = {.v = NULL};
    struct errinfo why = {.code = ERR_OK};

    if (stamp == t->stamp || begun_us < t->reports.next_us) {
        return;
    }
    if (report_cases_read(t->state_dir, &cases, &why) == ERR_OK) {
        (void)pthread_rwlock_wrlock(&t->lock);
        t->stamp = worth_set_reports(t->worth, &cases) ? stamp : t->stamp;
        (void)pthread_rwlock_unlock(&t->lock);
    } else {
        warn(&why);
    }
    report_cases_fini(&cases);
    pace_after(&t->reports, begun_us);
}

static bool note_record(void *context, const struct record *r,
                        const struct journal_names *names)
{
    struct worth_tail *t = context;

    (void)names;
    (void)pthread_rwlock_wrlock(&t->lock);
    worth_note(t->worth, r);
    (void)pthread_rwlock_unlock(&t->lock);
    return !ticker_stops(&t->ticker);
}

/* Seeks messages that were reported after they were counted. */
static void seek_reported(struct worth_tail *t)
{
    const uint64_t begun_us = clock_mono_us();
    struct journal_query q = {
        .state_dir = t->state_dir, .fn = note_record, .context = t};
    struct errinfo why = {.code = ERR_OK};
    struct journal_numbers numbers;
    uint64_t from_s = 0;
    uint64_t to_s = 0;

    if (begun_us < t->seeking.next_us || !worth_sought(t->worth, &from_s, &to_s)) {
        return;
    }
    q.since_us = (from_s - CASE_MARGIN_S) * US_PER_S;
    q.until_us = (to_s + CASE_MARGIN_S) * US_PER_S;
    if (journal_read(&q, &numbers, &why) != ERR_OK) {
        warn(&why);
    }
    (void)pthread_rwlock_wrlock(&t->lock);
    worth_sought_all(t->worth);
    (void)pthread_rwlock_unlock(&t->lock);
    pace_after(&t->seeking, begun_us);
}

/* ---- messages ---- */

/* A message of a clock that ran ahead would age all others. */
static bool is_of_future(const struct record *r, uint64_t now_us)
{
    return r->time_us > now_us + (uint64_t)WORTH_DAY_S * US_PER_S;
}

static bool take_piece(void *context, struct slice frames, size_t *retdone)
{
    struct worth_tail *t = context;
    struct journal_walk w = journal_walk_begin(frames);
    const uint64_t now_us = clock_wall_us();
    struct slice frame;

    (void)pthread_rwlock_wrlock(&t->lock);
    while (journal_walk_next(&w, &frame)) {
        if (record_parse(frame, t->record) && !is_of_future(t->record, now_us)) {
            worth_add(t->worth, t->record);
        }
    }
    (void)pthread_rwlock_unlock(&t->lock);
    *retdone = w.whole;
    return !ticker_stops(&t->ticker);
}

/* Whether the file that is read is still there, and as long as it was. */
static bool is_continued(const struct worth_tail *t, const struct journal_files *files)
{
    for (size_t i = 0; i < files->n; i++) {
        const struct journal_name_of *f = &files->v[i];
        if (f->kind == JOURNAL_MESSAGES && journal_file_number(f) == t->file) {
            return f->size >= t->at;
        }
    }
    return t->file == 0;
}

static void begin_again(struct worth_tail *t)
{
    (void)pthread_rwlock_wrlock(&t->lock);
    worth_clear(t->worth);
    (void)pthread_rwlock_unlock(&t->lock);
    atomic_store(&t->is_whole, false);
    t->file = 0;
}

static void read_files(struct worth_tail *t, const struct journal_files *files)
{
    const uint64_t today = clock_wall_us() / US_PER_S / WORTH_DAY_S;
    const struct journal_follow how = {t->dir, t->chunk, take_piece, t};
    struct errinfo why;

    if (!is_continued(t, files)) {
        begin_again(t);
    }
    for (size_t i = 0; i < files->n && !ticker_stops(&t->ticker); i++) {
        const struct journal_name_of *f = &files->v[i];
        const uint64_t number = journal_file_number(f);
        if (f->kind != JOURNAL_MESSAGES || f->day + WORTH_DAYS <= today ||
            number < t->file) {
            continue;
        }
        if (number > t->file) {
            t->file = number;
            t->at = JOURNAL_HEAD;
        }
        if (journal_follow_file(&how, f, &t->at, &why) != ERR_OK) {
            warn(&why);
        }
    }
    explicit_bzero(t->record, sizeof(*t->record));
}

static void look(void *context)
{
    struct worth_tail *t = context;
    struct journal_files files;
    struct errinfo why;

    read_reports(t);
    if (journal_files_list(t->dir, &files, &why) != ERR_OK) {
        warn(&why);
        return;
    }
    read_files(t, &files);
    journal_files_fini(&files);
    atomic_store(&t->is_whole, true);
    seek_reported(t);
}

/* ---- up and down ---- */

enum err worth_tail_new(const char *state_dir, struct worth_tail **ret,
                        struct errinfo *reterr)
{
    struct worth_tail *t = calloc(1, sizeof(*t));

    *ret = NULL;
    if (t == NULL) {
        return errinfo_nomem(reterr, "worth");
    }
    (void)pthread_rwlock_init(&t->lock, NULL);
    t->worth = worth_new(WORTH_DAYS);
    t->chunk = malloc(JOURNAL_CHUNK);
    t->record = calloc(1, sizeof(*t->record));
    enum err e = path_make(t->state_dir, reterr, "%s", state_dir);
    THEN(e, path_make(t->dir, reterr, "%s/" STATE_JOURNAL_DIR, state_dir));
    if (e == ERR_OK && (t->worth == NULL || t->chunk == NULL || t->record == NULL)) {
        e = errinfo_nomem(reterr, t->dir);
    }
    if (e == ERR_OK && !ticker_start(&t->ticker, look, t, WORTH_TAIL_MS)) {
        e = errinfo_nomem(reterr, t->dir);
    }
    if (e != ERR_OK) {
        worth_tail_free(&t);
    }
    *ret = t;
    return e;
}

void worth_tail_free(struct worth_tail **t)
{
    struct worth_tail *x = *t;

    if (x == NULL) {
        return;
    }
    ticker_stop(&x->ticker);
    worth_free(&x->worth);
    free(x->chunk);
    free(x->record);
    (void)pthread_rwlock_destroy(&x->lock);
    free(x);
    *t = NULL;
}

const struct worth *worth_tail_acquire(struct worth_tail *t, bool *retwhole)
{
    (void)pthread_rwlock_rdlock(&t->lock);
    *retwhole = atomic_load(&t->is_whole);
    return t->worth;
}

void worth_tail_release(struct worth_tail *t)
{
    (void)pthread_rwlock_unlock(&t->lock);
}
