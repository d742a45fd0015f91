/*
 * sync_work - merges days and makes SNAPs of lists, one after the other, beside the loop that
 * answers peers.
 *
 * The thread reads a walk of a list that is not changed meanwhile (peerlist.h), or runs of ended
 * days. Cursors, signatures and answers stay with the owner, in their order.
 */

#include "core/base/log.h"
#include "core/count/runset.h"
#include "core/ring/sync/peerlist.h"
#include "core/ring/sync/sync_modules.h"

/* ---- in the thread ---- */

static void call_before(struct work *w)
{
    if (w->before) {
        w->before(w->before_context);
    }
}

static void run_days(void *context)
{
    struct work *w = context;
    struct runset *runs = NULL;
    call_before(w);
    enum err e = runset_open(w->runs, NULL, NULL, &runs, &w->why);
    THEN(e, runset_merge_days(runs, w->first_day, &w->why));
    if (e == ERR_OK && w->expires) {
        e = runset_expire(runs, w->bucket, &w->why);
    }
    runset_close(&runs);
    w->result = e;
}

static void run_snap(void *context)
{
    struct work *w = context;
    call_before(w);
    w->result = peerlist_snap_run(w->snap, &w->whole, &w->records, &w->why);
    if (w->result == ERR_OK) {
        hash256_of(slice_from(buf_slice(&w->whole), OBJECT_HEADER_BYTES), &w->hash);
    }
}

static void start_work(struct work *w, enum work_kind kind, background_job_fn *run)
{
    w->kind = kind;
    w->result = ERR_OK;
    if (w->has_thread) {
        background_job_start(&w->behind, run, w);
    } else {
        run(w);
    }
}

/* ---- in the owner's thread ---- */

static void wait_for(void *context)
{
    sync_work_wait(context);
}

void sync_work_init(struct sync *s)
{
    background_job_init(&s->work.behind);
    buf_init(&s->work.whole, (size_t)OBJECT_SNAP_MAX + OBJECT_HEADER_BYTES);
    peerlists_wait_by(s->lists, wait_for, s);
}

void sync_work_behind(struct sync *s)
{
    s->work.has_thread = true;
}

void sync_work_wait(struct sync *s)
{
    background_job_wait(&s->work.behind);
    peerlist_snap_end(s->lists, &s->work.snap);
}

void sync_work_fini(struct sync *s)
{
    if (s->lists) {
        sync_work_wait(s);
        background_job_fini(&s->work.behind);
        buf_fini(&s->work.whole);
    }
}

bool sync_is_busy_with(const struct sync *s, const char *list)
{
    const struct work *w = &s->work;
    const struct stream *st =
        w->kind == WORK_SNAP && w->is_own ? sync_find(s, &w->stream) : NULL;
    return st && strcmp(st->key.list, list) == 0;
}

/* Stores the payload of a peer's SNAP, if the content is that of the SNAP. */
static enum err complete(struct sync *s, struct stream *st, struct errinfo *reterr)
{
    const struct work *w = &s->work;
    struct object o;
    enum err e = object_parse(buf_slice(&w->whole), &o, reterr);
    if (e == ERR_OK && !hash256_equal(&w->hash, &o.payload)) {
        e = errinfo_set(reterr, ERR_CORRUPT, st->key.list, 0,
                        "the content is not that of its SNAP");
    }
    return e == ERR_OK && w->seq >= st->from
               ? sync_object_write(s, st, w->seq, buf_slice(&w->whole), reterr)
               : e;
}

static enum err take_snap(struct sync *s, struct errinfo *reterr)
{
    struct work *w = &s->work;
    struct stream *st = sync_find(s, &w->stream);
    if (st && !w->is_own) {
        return complete(s, st, reterr);
    }
    if (st && st->seq + 1 ==
                  w->seq) { /* else the stream moved on, and the next tick decides */
        return sync_list_snap(s, st, &w->whole, w->records, &w->hash, reterr);
    }
    return ERR_OK;
}

static enum err take_result(struct sync *s, struct errinfo *reterr)
{
    struct work *w = &s->work;
    const enum work_kind kind = w->kind;
    sync_work_wait(s);
    w->kind = WORK_NONE;
    enum err e = w->result == ERR_OK ? ERR_OK
                                     : errinfo_set(reterr, w->result, w->why.source,
                                                   w->why.line, "%s", w->why.text);
    if (kind == WORK_SNAP) {
        THEN(e, take_snap(s, reterr));
        buf_fini(&w->whole);
    }
    return e;
}

enum err sync_work_days(struct sync *s, uint64_t first_day, uint64_t bucket,
                        bool expires, struct errinfo *reterr)
{
    struct work *w = &s->work;
    if (w->kind != WORK_NONE) {
        return ERR_OK; /* the next bucket tries again */
    }
    enum err e = sync_path(s, w->runs, reterr, "counts/runs");
    if (e != ERR_OK) {
        return e;
    }
    w->first_day = first_day;
    w->bucket = bucket;
    w->expires = expires;
    start_work(w, WORK_DAYS, run_days);
    return w->has_thread ? ERR_OK : take_result(s, reterr);
}

/* The bytes before the payload: the stored header, or room for one. */
static enum err begin_whole(struct sync *s, const struct stream *st,
                            struct errinfo *reterr)
{
    struct work *w = &s->work;
    buf_clear(&w->whole);
    if (!w->is_own) {
        enum err e = sync_object_read(s, st, w->seq, &w->whole, reterr);
        if (e == ERR_OK && w->whole.n != OBJECT_HEADER_BYTES) {
            e = ERR_EXISTS; /* it has its payload */
        }
        return e;
    }
    char *room = buf_extend(&w->whole, OBJECT_HEADER_BYTES);
    if (!room) {
        return errinfo_nomem(reterr, s->dir);
    }
    memset(room, 0, OBJECT_HEADER_BYTES);
    return ERR_OK;
}

enum err sync_work_snap(struct sync *s, struct stream *st, struct errinfo *reterr)
{
    struct work *w = &s->work;
    st->wants_snap = true;
    if (w->kind != WORK_NONE) {
        return ERR_OK;
    }
    st->wants_snap = false;
    w->is_own = st->snap_seq != st->seq;
    w->stream = st->id;
    w->seq = w->is_own ? st->seq + 1 : st->seq;
    enum err e = begin_whole(s, st, reterr);
    THEN(e, peerlist_snap_begin(s->lists, &st->key, &w->snap, reterr));
    if (e != ERR_OK) {
        buf_fini(&w->whole);
        return e == ERR_EXISTS ? ERR_OK : e;
    }
    start_work(w, WORK_SNAP, run_snap);
    return w->has_thread ? ERR_OK : take_result(s, reterr);
}

/* An own SNAP while it is worth its cost; a peer's while it is the newest object, because later its
 * payload cannot be made. */
static bool still_wants(const struct sync *s, const struct stream *st)
{
    if (!st->wants_snap || st->applied < st->seq) {
        return false;
    }
    return st->snap_seq == st->seq ||
           (sync_is_self(s, &st->key.origin) && sync_may_continue(s, st) &&
            sync_is_worth_a_snap(st));
}

enum err sync_work_tick(struct sync *s, struct errinfo *reterr)
{
    struct work *w = &s->work;
    enum err e = ERR_OK;
    if (w->kind != WORK_NONE && !background_job_is_idle(&w->behind)) {
        return ERR_OK;
    }
    if (w->kind != WORK_NONE) {
        e = take_result(s, reterr);
    }
    for (unsigned i = 0; w->kind == WORK_NONE && e == ERR_OK && i < s->norigins; i++) {
        struct stream *st = s->origins[i]->streams;
        for (; st && w->kind == WORK_NONE && e == ERR_OK; st = st->of_origin) {
            if (still_wants(s, st)) {
                e = sync_work_snap(s, st, reterr);
            }
        }
    }
    return e;
}
