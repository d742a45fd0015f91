#include "core/verdict/journal/journal.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/base/case_id.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/thread.h"
#include "core/telemetry/stats.h"
#include "core/verdict/journal/journal_head.h"
#include "core/verdict/journal/journal_internal.h"
#include "core/verdict/journal/pending.h"

enum {
    US_PER_S = 1000000,
    NS_PER_MS = 1000000,
    NS_PER_S = 1000000000,
    AGAIN_S = 5,   /* between tries to open after a failure */
    EXPIRE_S = 60, /* between looks at age and size */
    LOG_EVERY_S = 60
};
#define FAULT "journal"

struct journal {
    struct journal_folder folder;
    struct hashkey key;
    _Atomic uint64_t keep_s;
    _Atomic uint64_t size_max;
    _Atomic(struct pending *) ring; /* set once; NULL: not open yet */
    struct journal_out out;         /* the thread's, as all below but the lock's */
    struct buf moving;
    uint64_t expired_s;
    bool has_fault;
    struct clock_pace pace;
    pthread_t thread;
    pthread_mutex_t lock; /* guards: is_ending */
    pthread_cond_t changed;
    bool is_ending;
};

static uint64_t now_s(void)
{
    return clock_wall_us() / US_PER_S;
}

/* ---- faults ---- */

static void say_fault(struct journal *j, const struct errinfo *why)
{
    char text[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16];

    j->has_fault = true;
    if (clock_take_turn(&j->pace, (uint64_t)LOG_EVERY_S * US_PER_S)) {
        log_errinfo("journal", why);
    }
    stats_fault(FAULT, errinfo_format(why, text, sizeof(text)));
}

static void clear_fault(struct journal *j)
{
    if (j->has_fault) {
        j->has_fault = false;
        log_info("event=journal result=writable");
        stats_fault(FAULT, NULL);
    }
}

/* ---- opening ---- */

/* A ring for new records, after those of the last process are in the files. */
static enum err open_ring(struct journal *j, struct errinfo *reterr)
{
    struct buf head;
    char path[FILE_PATH_MAX];
    uint64_t number = 0;
    struct pending *ring = NULL;

    buf_init(&head, JOURNAL_HEAD);
    journal_head_print(j->key.id, &head);
    enum err e = buf_failed(&head) ? errinfo_nomem(reterr, j->folder.dir) : ERR_OK;
    THEN(e, journal_settle(&j->folder, &number, reterr));
    THEN(e, path_make(path, reterr, "%s/" JOURNAL_PENDING, j->folder.dir));
    THEN(e, pending_make(path, buf_slice(&head), number, &ring, reterr));
    THEN(e, journal_out_open(&j->out, &j->folder, buf_slice(&head), reterr));
    buf_fini(&head);
    if (e != ERR_OK) {
        pending_close(&ring);
        return e;
    }
    atomic_store(&j->ring, ring);
    return ERR_OK;
}

/* ---- the thread ---- */

static enum err move_records(struct journal *j, struct errinfo *reterr)
{
    struct pending *ring = atomic_load(&j->ring);

    pending_keep(ring);
    buf_clear(&j->moving);
    uint64_t place = pending_take(ring, &j->moving);
    if (buf_failed(&j->moving)) {
        return errinfo_nomem(reterr, j->folder.dir);
    }
    if (j->moving.n == 0) {
        return ERR_OK;
    }
    enum err e = journal_out_add(&j->out, now_s() / JOURNAL_DAY_S,
                                 buf_slice(&j->moving), reterr);
    if (e == ERR_OK) {
        pending_free_to(ring, place);
    }
    return e;
}

/* The journal was switched off: its files go next. */
static void drop_records(struct journal *j)
{
    struct pending *ring = atomic_load(&j->ring);

    if (ring != NULL) {
        buf_clear(&j->moving);
        pending_free_to(ring, pending_take(ring, &j->moving));
    }
    fd_close(&j->out.fd);
}

static enum err do_work(struct journal *j, struct errinfo *reterr)
{
    enum err e = ERR_OK;

    if (atomic_load(&j->keep_s) == 0) {
        drop_records(j);
    } else {
        e = atomic_load(&j->ring) == NULL ? open_ring(j, reterr) : ERR_OK;
        THEN(e, move_records(j, reterr));
    }
    if (now_s() >= j->expired_s + EXPIRE_S || now_s() < j->expired_s) {
        j->expired_s = now_s();
        enum err expired = journal_expire(&j->folder, atomic_load(&j->keep_s),
                                          atomic_load(&j->size_max), now_s(),
                                          e == ERR_OK ? reterr : NULL);
        e = e == ERR_OK ? expired : e;
    }
    return e;
}

/* False: the end has come. */
static bool wait_for_turn(struct journal *j, bool has_failed)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)JOURNAL_MOVE_MS * NS_PER_MS;
    until.tv_sec += until.tv_nsec / NS_PER_S + (has_failed ? AGAIN_S : 0);
    until.tv_nsec %= NS_PER_S;
    pthread_mutex_lock(&j->lock);
    if (!j->is_ending) {
        (void)pthread_cond_clockwait(&j->changed, &j->lock, CLOCK_MONOTONIC, &until);
    }
    bool goes_on = !j->is_ending;
    pthread_mutex_unlock(&j->lock);
    return goes_on;
}

static void *run_journal(void *context)
{
    struct journal *j = context;
    bool has_failed = false;

    do {
        struct errinfo why = {.code = ERR_OK};
        has_failed = do_work(j, &why) != ERR_OK;
        if (has_failed) {
            say_fault(j, &why);
        } else {
            clear_fault(j);
        }
    } while (wait_for_turn(j, has_failed));
    return NULL;
}

/* ---- gillnetd's side ---- */

static void release(struct journal *j)
{
    struct pending *ring = atomic_load(&j->ring);

    pending_close(&ring);
    journal_out_close(&j->out);
    journal_folder_drop(&j->folder);
    buf_fini(&j->moving);
    free(j);
}

static enum err start_thread(struct journal *j, struct errinfo *reterr)
{
    (void)pthread_mutex_init(&j->lock, NULL);
    (void)pthread_cond_init(&j->changed, NULL);
    int errnum = thread_start(&j->thread, run_journal, j);
    return errnum == 0 ? ERR_OK
                       : errinfo_set(reterr, ERR_NOMEM, j->folder.dir, 0,
                                     "the thread of the journal cannot be started");
}

enum err journal_open(const struct journal_options *options, struct journal **ret,
                      struct errinfo *reterr)
{
    struct journal *j = calloc(1, sizeof(*j));

    *ret = NULL;
    if (j == NULL) {
        return errinfo_nomem(reterr, options->state_dir);
    }
    j->key = *options->key;
    case_id_begin(options->key, clock_wall_us());
    j->out.fd = -1;
    journal_set_bounds(j, options->keep_s, options->size_max);
    buf_init(&j->moving, PENDING_BYTES);
    enum err e = journal_folder_take(&j->folder, options->state_dir, reterr);
    if (e == ERR_OK && options->keep_s > 0) {
        e = open_ring(j, reterr);
    }
    if (e == ERR_LOCKED) {
        release(j);
        return e;
    }
    if (e != ERR_OK) {
        say_fault(j, reterr);
    }
    enum err started = start_thread(j, reterr);
    if (started != ERR_OK) {
        release(j);
        return started;
    }
    *ret = j;
    return e;
}

void journal_close(struct journal **j)
{
    struct errinfo why = {.code = ERR_OK};

    if (*j == NULL) {
        return;
    }
    pthread_mutex_lock(&(*j)->lock);
    (*j)->is_ending = true;
    pthread_cond_signal(&(*j)->changed);
    pthread_mutex_unlock(&(*j)->lock);
    (void)pthread_join((*j)->thread, NULL);
    if (atomic_load(&(*j)->ring) != NULL && move_records(*j, &why) != ERR_OK) {
        log_errinfo("journal", &why); /* they stay in the ring */
    }
    (void)pthread_cond_destroy(&(*j)->changed);
    (void)pthread_mutex_destroy(&(*j)->lock);
    release(*j);
    *j = NULL;
}

void journal_set_bounds(struct journal *j, uint64_t keep_s, uint64_t size_max)
{
    atomic_store(&j->keep_s, keep_s);
    atomic_store(&j->size_max, size_max);
}

bool journal_is_on(struct journal *j)
{
    return atomic_load_explicit(&j->keep_s, memory_order_relaxed) > 0;
}

bool journal_add(struct journal *j, const struct record *r)
{
    struct pending *ring = atomic_load_explicit(&j->ring, memory_order_acquire);
    struct buf frame;

    record_print(r, &frame);
    bool is_kept =
        ring != NULL && !buf_failed(&frame) && pending_add(ring, frame.p, frame.n);
    stats_add(is_kept ? STAT_journal_records : STAT_journal_dropped, 1);
    stats_add(STAT_journal_bytes, is_kept ? frame.n : 0);
    buf_fini(&frame);
    return is_kept;
}

uint64_t journal_message_id(const struct hashkey *key, struct slice message_id)
{
    struct slice id = slice_trim(message_id);
    struct digest digest;
    uint64_t ret = 0;

    if (id.n > 1 && *id.p == '<' && id.p[id.n - 1] == '>') {
        id = slice_of(id.p + 1, id.n - 2);
    }
    if (id.n == 0) {
        return 0;
    }
    digest_make(key, 0, id, &digest);
    memcpy(&ret, digest.b, sizeof(ret));
    return ret;
}
