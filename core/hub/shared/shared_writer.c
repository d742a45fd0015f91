/* shared_writer - reports into records, records into batches, and batches again. */
#include "core/hub/shared/shared_writer.h"

#include "core/base/array.h"
#include "core/base/log.h"
#include "core/count/count.h"
#include "core/count/follow.h"
#include "core/hub/shared/shared_writer_internal.h"
#include "core/ring/stream/object.h"

enum {
    RECORDS_A_TICK = 256,
    AHEAD_BUCKETS = 2, /* follow reports no later ones */
    MS_PER_S = 1000
};
/* A bucket that follow does not report any more, with room for a clock that was set back. */
#define DONE_S ((uint64_t)(FOLLOW_BUCKETS + 6) * COUNT_BUCKET_S)

/* ---- life ---- */

enum err shared_writer_new(const struct shared_writer_options *options,
                           struct shared_writer **ret, struct errinfo *reterr)
{
    struct shared_writer *w = calloc(1, sizeof(*w));

    if (w == NULL) {
        return errinfo_nomem(reterr, options->log.dir);
    }
    w->port = options->port;
    w->spool = options->spool;
    w->pending = shared_pending_new();
    enum err e = w->pending != NULL ? ERR_OK : errinfo_nomem(reterr, options->log.dir);
    THEN(e, shared_log_open(&options->log, &w->positions, &w->log, reterr));
    if (e != ERR_OK) {
        shared_writer_free(&w);
        return e;
    }
    *ret = w;
    return ERR_OK;
}

void shared_writer_free(struct shared_writer **w)
{
    if (*w != NULL) {
        shared_log_close(&(*w)->log);
        shared_pending_free(&(*w)->pending);
        positions_fini(&(*w)->positions);
        free((*w)->unsynced);
        free((*w)->batch);
        free(*w);
        *w = NULL;
    }
}

void shared_writer_set_spool(struct shared_writer *w, uint64_t spool)
{
    w->spool = spool;
}

/* ---- reports ---- */

struct restoring {
    struct shared_writer *w;
    uint64_t start_s;
};

static bool restore_record(void *context, const struct run_record *v, size_t n)
{
    const struct restoring *r = context;

    return shared_pending_restore(r->w->pending, r->start_s, v, n);
}

/* A bucket is opened with all that the log has of it, or not at all. */
static enum err open_bucket(struct shared_writer *w, uint64_t start_s,
                            struct errinfo *reterr)
{
    struct restoring r = {w, start_s};
    uint64_t lost = 0;

    if (!shared_pending_open(w->pending, start_s, &lost)) {
        return errinfo_nomem(reterr, "store");
    }
    w->dropped += lost;
    enum err e = shared_log_each(w->log, start_s, restore_record, &r, reterr);
    if (e != ERR_OK) {
        (void)shared_pending_close(w->pending, start_s);
    }
    return e;
}

enum err shared_writer_report(struct shared_writer *w, const struct shared_report *r,
                              struct shared_now now, struct errinfo *reterr)
{
    enum err e = ERR_OK;

    w->now = now;
    if (r->start_s <= shared_log_from(w->log) || (r->n == 0 && !r->is_complete)) {
        return ERR_OK;
    }
    w->newest_s = r->start_s > w->newest_s ? r->start_s : w->newest_s;
    if (!shared_pending_has(w->pending, r->start_s)) {
        e = open_bucket(w, r->start_s, reterr);
    }
    if (e == ERR_OK && !shared_pending_report(w->pending, r, now.mono_us)) {
        e = errinfo_nomem(reterr, "store");
    }
    return e;
}

/* ---- incarnations ---- */

/* Buckets that the former incarnation may have published are left alone. */
static uint64_t first_bucket_left(const struct shared_writer *w)
{
    const uint64_t running_s = w->now.wall_s - w->now.wall_s % COUNT_BUCKET_S;

    return w->newest_s > running_s ? w->newest_s : running_s;
}

static enum err begin_incarnation(struct shared_writer *w, struct errinfo *reterr)
{
    const uint64_t known = shared_log_inc(w->log);
    const uint64_t newest = known > w->newest_inc ? known : w->newest_inc;
    const uint64_t inc = stream_next_inc(w->now.wall_s * MS_PER_S, newest);
    const uint64_t from_s = w->is_lost ? first_bucket_left(w) : 0;
    enum err e = shared_log_begin(w->log, inc, from_s, reterr);

    if (e != ERR_OK) {
        return e;
    }
    if (w->is_lost) {
        w->incarnations++;
        log_warn("event=store state=incarnation: the log of counts is older than what "
                 "the store has of this server (restored, copied or removed); counts "
                 "go there again from the next ten minutes on");
    }
    w->dropped += shared_pending_close_until(w->pending, shared_log_from(w->log));
    w->nunsynced = 0;
    positions_restart(&w->positions);
    w->must_begin = false;
    w->is_lost = false;
    return ERR_OK;
}

/* ---- records ---- */

static enum err log_record(struct shared_writer *w, const struct shared_due *due,
                           struct errinfo *reterr)
{
    const uint64_t last =
        w->nunsynced > 0 ? w->unsynced[w->nunsynced - 1].number : w->positions.last;
    struct shared_record r = {.number = last + 1, .start_s = due->start_s};

    if (!array_room(&w->unsynced, &w->unsynced_room, w->nunsynced + 1, SIZE_MAX,
                    sizeof(*w->unsynced))) {
        return errinfo_nomem(reterr, "store");
    }
    enum err e = shared_log_append(w->log, &r, due->v, due->n, reterr);
    if (e == ERR_OK) {
        shared_pending_logged(w->pending);
        w->unsynced[w->nunsynced++] = r;
    }
    return e;
}

static enum err log_due(struct shared_writer *w, bool all, struct errinfo *reterr)
{
    struct shared_due due;
    enum err e = w->positions.is_asking
                     ? shared_log_doubt(w->log, w->positions.last_at_ask, reterr)
                     : shared_log_trust(w->log, reterr);

    for (unsigned i = 0; e == ERR_OK && (all || i < RECORDS_A_TICK) &&
                         shared_pending_due(w->pending, w->now.mono_us, all, &due);
         i++) {
        e = log_record(w, &due, reterr);
    }
    if (w->nunsynced == 0) {
        return e;
    }
    enum err synced = shared_log_sync(w->log, e == ERR_OK ? reterr : NULL);
    size_t n = 0;
    while (synced == ERR_OK && n < w->nunsynced) {
        synced = positions_add(&w->positions, &w->unsynced[n])
                     ? ERR_OK
                     : errinfo_nomem(e == ERR_OK ? reterr : NULL, "store");
        n += synced == ERR_OK ? 1 : 0;
    }
    w->nunsynced -= n;
    memmove(w->unsynced, w->unsynced + n, w->nunsynced * sizeof(*w->unsynced));
    return e == ERR_OK ? synced : e;
}

/* ---- batches ---- */

/* Of a record's pairs those of one cell. */
static const struct run_record *cell_pairs(const struct run_record *v, size_t n,
                                           unsigned cell, size_t *retn)
{
    const uint64_t width = UINT64_MAX / SHARED_CELLS + 1;
    size_t low = 0;
    size_t high = n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (v[middle].key < cell * width) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    while (high < n && shared_cell_of(v[high].key) == cell) {
        high++;
    }
    *retn = high - low;
    return v + low;
}

/* Adds the pairs of the cell in record i. False: they do not fit, or cannot be read. */
static bool add_pairs(struct shared_writer *w, unsigned cell, size_t i, size_t *n)
{
    const struct run_record *all = NULL;
    struct errinfo why;
    size_t nall = 0;
    size_t more = 0;
    enum err e = shared_log_read(w->log, &w->positions.v[i], &all, &nall, &why);

    if (e == ERR_CORRUPT && *n == 0) {
        log_errinfo("store", &why);
        positions_skip(&w->positions, cell, i);
        w->dropped++;
    }
    if (e != ERR_OK) {
        return false;
    }
    const struct run_record *v = cell_pairs(all, nall, cell, &more);
    if ((*n > 0 && *n + more > SHARED_BATCH_PAIRS) ||
        !array_room(&w->batch, &w->batch_room, *n + more, SIZE_MAX,
                    sizeof(*w->batch))) {
        return false;
    }
    memcpy(w->batch + *n, v, more * sizeof(*v));
    *n += more;
    return true;
}

static bool is_too_old(const struct shared_writer *w, uint64_t start_s, uint64_t age_s)
{
    return w->now.wall_s > start_s + COUNT_BUCKET_S + age_s;
}

/* Sends the cell's next batch, if there is one. */
static void send_next(struct shared_writer *w, unsigned cell)
{
    struct shared_positions *p = &w->positions;
    size_t i = 0;
    size_t n = 0;
    size_t last = 0;

    if (w->must_begin || shared_log_is_doubted(w->log) ||
        !positions_next(p, cell, &i)) {
        return;
    }
    struct shared_batch b = {.inc = shared_log_inc(w->log),
                             .expected = p->cells[cell].position,
                             .start_s = p->v[i].start_s};
    for (last = i; i < p->n && add_pairs(w, cell, i, &n);
         i = positions_following(p, cell, i)) {
        last = i;
    }
    if (n == 0) {
        return;
    }
    b.number = p->v[last].number;
    b.is_old = is_too_old(w, b.start_s, SHARED_BUCKET_SENT_S);
    b.v = w->batch;
    b.n = n;
    positions_sent(p, cell);
    if (!w->port.add(w->port.context, cell, &b)) {
        positions_failed(p, cell, true);
    }
}

static void ask_cells(struct shared_writer *w)
{
    const uint64_t inc = shared_log_inc(w->log);

    if (w->now.mono_us >= w->next_ask_us) {
        positions_doubt(&w->positions);
        w->next_ask_us = w->now.mono_us + SHARED_ASK_S * UINT64_C(1000000);
    }
    for (unsigned c = 0; c < SHARED_CELLS; c++) {
        const struct shared_cell *cell = &w->positions.cells[c];

        if (!cell->is_known && !cell->is_busy && !w->is_asked[c]) {
            w->is_asked[c] = w->port.ask(w->port.context, c, inc);
        }
    }
}

void shared_writer_doubt(struct shared_writer *w)
{
    w->next_ask_us = 0;
}

/* ---- answers ---- */

static bool is_of_now(const struct shared_writer *w, uint64_t inc)
{
    return !w->must_begin && inc == shared_log_inc(w->log);
}

void shared_writer_told(struct shared_writer *w, unsigned cell, uint64_t inc,
                        uint64_t newest, uint64_t position)
{
    const struct shared_cell *c = &w->positions.cells[cell];
    const bool is_first = w->positions.is_asking;

    w->is_asked[cell] = false;
    w->newest_inc = newest > w->newest_inc ? newest : w->newest_inc;
    if (!is_of_now(w, inc)) {
        return;
    }
    w->repeated += !c->is_busy && position < c->position ? 1 : 0;
    w->is_lost = w->is_lost || (is_first && newest > inc);
    w->is_lost = !positions_hear(&w->positions, cell, position) || w->is_lost;
    if (!w->positions.is_asking) { /* the first one of all has no number yet */
        w->must_begin = w->is_lost || inc == 0;
    }
    send_next(w, cell);
}

bool shared_writer_added(struct shared_writer *w, unsigned cell, uint64_t inc,
                         uint64_t number, uint64_t position)
{
    struct shared_positions *p = &w->positions;

    if (!is_of_now(w, inc)) {
        return false;
    }
    if (position == number) {
        positions_added(p, cell, number);
        send_next(w, cell);
        return true;
    }
    w->repeated++;
    positions_failed(p, cell, false);
    w->is_lost = !positions_hear(p, cell, position);
    w->must_begin = w->is_lost;
    send_next(w, cell);
    return false;
}

void shared_writer_lost(struct shared_writer *w, unsigned cell, uint64_t inc,
                        bool is_batch)
{
    if (!is_batch) {
        w->is_asked[cell] = false;
    } else if (is_of_now(w, inc)) {
        positions_failed(&w->positions, cell, false);
    }
}

/* ---- removal ---- */

/* Pairs of the bucket that the store never had. */
static void count_lost(struct shared_writer *w, uint64_t start_s)
{
    for (size_t i = 0; i < w->positions.n; i++) {
        const struct shared_record *r = &w->positions.v[i];
        const struct run_record *v = NULL;
        size_t n = 0;

        if (r->start_s != start_s || !positions_is_waiting(&w->positions, r) ||
            shared_log_read(w->log, r, &v, &n, NULL) != ERR_OK) {
            continue;
        }
        for (size_t k = 0; k < n; k++) {
            const unsigned cell = shared_cell_of(v[k].key);

            w->dropped += w->positions.cells[cell].position < r->number ? 1 : 0;
        }
    }
}

/* The numbers of its records stay used. */
static enum err remove_bucket(struct shared_writer *w, uint64_t start_s, bool is_over,
                              struct errinfo *reterr)
{
    count_lost(w, start_s);
    enum err e = shared_log_remove(w->log, start_s, is_over, w->positions.last, reterr);
    if (e == ERR_OK) {
        positions_forget(&w->positions, start_s);
        if (is_over) {
            w->dropped += shared_pending_close(w->pending, start_s);
        }
    }
    return e;
}

static bool is_in_future(const struct shared_writer *w, uint64_t start_s)
{
    return start_s > w->now.wall_s + (uint64_t)AHEAD_BUCKETS * COUNT_BUCKET_S;
}

/* What was sent and is not reported again, and what is too old for the store. */
static bool is_done(const struct shared_writer *w, uint64_t start_s)
{
    return is_too_old(w, start_s, SHARED_DAY_SENT_S) ||
           (is_too_old(w, start_s, DONE_S) && !w->positions.is_asking &&
            !positions_is_bucket_waiting(&w->positions, start_s));
}

/* Over its bound the log loses a bucket from another time, if it has one, or else the oldest. */
static uint64_t bucket_to_lose(const struct shared_writer *w)
{
    uint64_t start_s = 0;

    for (size_t k = 0; (start_s = shared_log_bucket(w->log, k)) != 0; k++) {
        if (is_in_future(w, start_s)) {
            return start_s;
        }
    }
    return shared_log_bucket(w->log, 0);
}

static enum err remove_done(struct shared_writer *w, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    uint64_t start_s = 0;

    for (size_t k = 0; e == ERR_OK && (start_s = shared_log_bucket(w->log, k)) != 0;) {
        if (is_done(w, start_s)) {
            e = remove_bucket(w, start_s, true, reterr);
        } else {
            k++;
        }
    }
    while (e == ERR_OK && shared_log_bytes(w->log) > w->spool) {
        start_s = bucket_to_lose(w);
        log_warn("event=store state=full: the log of counts is at store.spool; the "
                 "oldest ten minutes are dropped");
        e = remove_bucket(w, start_s, !is_in_future(w, start_s), reterr);
    }
    return e;
}

/* Forgets buckets that are over, once the store has them. */
static void close_complete(struct shared_writer *w)
{
    uint64_t start_s = 0;
    size_t at = 0;

    while ((start_s = shared_pending_complete(w->pending, &at)) != 0) {
        if (!positions_is_bucket_waiting(&w->positions, start_s)) {
            (void)shared_pending_close(w->pending, start_s);
            at = 0;
        }
    }
}

/* ---- each second ---- */

enum err shared_writer_tick(struct shared_writer *w, struct shared_now now, bool all,
                            struct errinfo *reterr)
{
    enum err e = ERR_OK;

    w->now = now;
    if (w->must_begin) {
        e = begin_incarnation(w, reterr);
    }
    if (e == ERR_OK && shared_log_inc(w->log) != 0) {
        e = log_due(w, all, reterr);
    }
    if (e == ERR_OK &&
        (now.mono_us >= w->next_look_us || shared_log_bytes(w->log) > w->spool)) {
        w->next_look_us = now.mono_us + SHARED_ASK_S * UINT64_C(1000000) / 4;
        close_complete(w);
        e = remove_done(w, reterr);
    }
    ask_cells(w);
    for (unsigned c = 0; c < SHARED_CELLS; c++) {
        send_next(w, c);
    }
    return e;
}
