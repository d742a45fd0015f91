/*
 * writer_change - single changes: staged, synced together, then entered where readers see them.
 */
#include "core/list/writer_change.h"

#include "core/list/compact.h"
#include "core/list/retention.h"
#include "core/list/writer.h"

enum { ROOM_ATTEMPTS = 4 };

enum err change_damaged(const struct list_writer *w, enum err e, struct errinfo *reterr)
{
    return errinfo_set(
        reterr, e, w->dir, 0,
        "what is known of this entry is damaged; run `gillnet list rebuild "
        "%s`",
        w->name);
}

/* With a damaged level the other levels are read. The change can then lose the entry's first date,
 * and the totals are wrong until the rebuild. */
enum err change_prior(const struct list_writer *w, const struct digest *d,
                      struct index_record *ret, bool *rethas, struct errinfo *reterr)
{
    enum err e = memtable_state(&w->recent, &w->stack, d, ret);
    *rethas = e == ERR_OK;
    return e == ERR_OK || e == ERR_NOT_FOUND ? ERR_OK : change_damaged(w, e, reterr);
}

/* True if an explicit record repeats the current state and need not be written. */
static bool says_nothing_new(const struct index_record *state,
                             const struct log_record *r)
{
    uint8_t status = r->kind == RECORD_REVOKE ? ENTRY_REVOKED : ENTRY_LISTED;
    return (state->flags & ENTRY_FLAG_EXPLICIT) != 0 && state->status == status &&
           state->expiry_s == r->expiry_s && !entry_is_expired(state, r->time_s);
}

/* The slot of d: it holds the number of d's pending change, or 0 where it would go. */
static uint16_t *pending_slot(struct list_writer *w, const struct digest *d)
{
    uint64_t at = 0;
    memcpy(&at, d->b, sizeof(at));
    for (;; at++) {
        uint16_t *slot = &w->slot[at % PENDING_SLOTS];
        if (*slot == 0 || digest_cmp(&w->pending[*slot - 1].digest, d) == 0) {
            return slot;
        }
    }
}

static void pending_forget(struct list_writer *w)
{
    w->npending = 0;
    memset(w->slot, 0, sizeof(w->slot));
}

static enum err no_room(const struct list_writer *w, struct errinfo *reterr)
{
    if (w->compact_why.code != ERR_OK) {
        return errinfo_set(
            reterr, w->compact_why.code, w->compact_why.source, 0,
            "no room for more changes before the recent ones are merged, "
            "which failed: %.300s",
            w->compact_why.text);
    }
    return errinfo_set(reterr, ERR_NOSPACE, w->dir, 0,
                       "no room for more changes: the recent ones could not be merged");
}

static bool memtable_has_room(const struct memtable *r)
{
    return r->used + PENDING_MAX <= memtable_capacity(r);
}

/* Room for as many changes as are ever staged, in the table that serves and the one to come. Waits
 * for a compaction if there is none, and perhaps for a second, because the table to come can be
 * full by then. */
static enum err reserve_changes(struct list_writer *w, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    (void)compact_settle(w, false, NULL); /* one that failed is tried again below */
    for (unsigned i = 0; i < ROOM_ATTEMPTS; i++) {
        if (w->state != WRITER_READY) {
            return writer_check(w, reterr);
        }
        if (memtable_has_room(&w->recent) && w->tail.bytes < ACTIVE_SEGMENT_BYTES_MAX &&
            (!w->compaction || memtable_has_room(&w->next))) {
            return ERR_OK;
        }
        THEN(e, compact_start(w, NULL));
        THEN(e, compact_settle(w, true, NULL));
        if (e != ERR_OK) {
            return no_room(w, reterr);
        }
    }
    return no_room(w, reterr);
}

/* A table half full, or a long segment: from here on there is time enough for a compaction. */
static bool is_time_to_compact(const struct list_writer *w)
{
    return !w->compaction && w->recent.used >= w->compact_at &&
           (w->wants_all || w->recent.used >= memtable_capacity(&w->recent) / 2 ||
            w->tail.bytes >= ACTIVE_SEGMENT_BYTES_MAX / 2);
}

/* Enters one change into a memtable. */
static enum err enter_change(const struct list_writer *w, struct memtable *r,
                             const struct pending *p, struct errinfo *reterr)
{
    enum err e = memtable_put(r, &p->digest, &p->after);
    return e == ERR_OK
               ? ERR_OK
               : errinfo_set(reterr, e, w->dir, 0, "the recent table has no room");
}

static void numbers_move(const struct list_writer *w, struct memtable *r)
{
    struct memtable_numbers n = memtable_numbers_get(r);
    for (size_t i = 0; i < w->npending; i++) {
        const struct pending *p = &w->pending[i];
        entry_count(&n.totals, &p->before, p->has_before, &p->after);
    }
    n.segment = w->tail.number;
    n.tail_bytes = (uint32_t)w->tail.bytes;
    n.updated_s = w->pending_s;
    memtable_numbers_set(r, &n);
}

/* All pending changes, synced by now, into the table that serves and into the one to come. */
static enum err enter_changes(struct list_writer *w, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < w->npending; i++) {
        e = enter_change(w, &w->recent, &w->pending[i], reterr);
        if (e == ERR_OK && w->compaction) {
            e = enter_change(w, &w->next, &w->pending[i], reterr);
        }
    }
    if (e == ERR_OK) {
        numbers_move(w, &w->recent);
        if (w->compaction) {
            numbers_move(w, &w->next);
        }
    }
    return e;
}

enum err list_flush(struct list_writer *w, struct errinfo *reterr)
{
    if (w->npending == 0) {
        return ERR_OK;
    }
    enum err e = active_segment_sync(&w->tail, reterr);
    THEN(e, enter_changes(w, reterr));
    pending_forget(w);
    if (e == ERR_OK && is_time_to_compact(w)) {
        (void)compact_start(w, NULL); /* kept in compact_why */
    }
    return e;
}

/* Room for one more pending change; a second one of the same digest is judged by the first. */
static enum err stage_room(struct list_writer *w, const struct digest *d,
                           struct errinfo *reterr)
{
    bool is_full =
        w->npending == PENDING_MAX || w->tail.staged.n >= ACTIVE_SEGMENT_STAGED_MAX;
    if (w->npending > 0 && (is_full || *pending_slot(w, d) != 0)) {
        enum err e = list_flush(w, reterr);
        if (e != ERR_OK) {
            return e;
        }
    }
    /* a compaction changes the segment: only with nothing staged */
    if (w->npending > 0) {
        return ERR_OK;
    }
    enum err e = retention_roll(w, reterr);
    return e == ERR_OK ? reserve_changes(w, reterr) : e;
}

/* p has what was known before. */
static enum err stage_over(struct list_writer *w, struct pending *p,
                           struct log_record *r, struct slice source,
                           struct errinfo *reterr)
{
    enum err e = active_segment_stage(&w->tail, r, source, reterr);
    if (e != ERR_OK) {
        pending_forget(w);
        return e;
    }
    p->after = p->before;
    (void)entry_fold(&p->after, p->has_before,
                     r); /* an explicit record always changes the state */
    uint16_t *slot = pending_slot(w, &r->digest);
    w->pending[w->npending++] = *p;
    *slot = (uint16_t)w->npending;
    w->pending_s = r->time_s;
    return ERR_OK;
}

static enum err stage(struct list_writer *w, struct log_record *r, struct slice source,
                      bool is_again, struct errinfo *reterr)
{
    struct pending p = {.digest = r->digest};
    enum err e = change_prior(w, &r->digest, &p.before, &p.has_before, reterr);
    if (e != ERR_OK || (p.has_before && !is_again && says_nothing_new(&p.before, r))) {
        return e;
    }
    return stage_over(w, &p, r, source, reterr);
}

enum err list_stage(struct list_writer *w, const struct list_change *c,
                    struct slice source, struct errinfo *reterr)
{
    struct writer_entry own;
    struct log_record r = {.kind = c->is_revoke ? RECORD_REVOKE : RECORD_ADD,
                           .expiry_s = c->is_revoke ? 0 : c->expiry_s,
                           .time_s = writer_now_s()};
    enum err e = writer_check(w, reterr);
    THEN(e, writer_entry_of(w, &c->entry, &own, reterr));
    if (e != ERR_OK) {
        return e;
    }
    r.class_type = own.class_type;
    r.digest = own.digest;
    r.text = own.text;
    e = stage_room(w, &r.digest, reterr);
    return e == ERR_OK ? stage(w, &r, source, false, reterr) : e;
}

bool list_holds(const struct list_writer *w, const struct feature_entry *e)
{
    struct writer_entry own;
    struct index_record known;
    bool is_known = false;
    return writer_check(w, NULL) == ERR_OK &&
           writer_entry_of(w, e, &own, NULL) == ERR_OK &&
           change_prior(w, &own.digest, &known, &is_known, NULL) == ERR_OK &&
           is_known && known.status == ENTRY_LISTED &&
           !entry_is_expired(&known, writer_now_s());
}

enum err change_again(struct list_writer *w, struct log_record *r, struct slice source,
                      struct errinfo *reterr)
{
    enum err e = stage_room(w, &r->digest, reterr);
    return e == ERR_OK ? stage(w, r, source, true, reterr) : e;
}

enum err change_known(struct list_writer *w, struct log_record *r,
                      const struct index_record *known, struct slice source,
                      struct errinfo *reterr)
{
    struct pending p = {.digest = r->digest, .has_before = known != NULL};
    if (known) {
        p.before = *known;
    }
    enum err e = stage_room(w, &r->digest, reterr);
    return e == ERR_OK ? stage_over(w, &p, r, source, reterr) : e;
}

enum err writer_settled(struct list_writer *w, struct errinfo *reterr)
{
    enum err e = list_flush(w, reterr);
    enum err settled = compact_settle(w, true, NULL);
    if (settled != ERR_OK && w->state != WRITER_READY) {
        return writer_check(w, reterr);
    }
    return e;
}

const struct errinfo *list_writer_trouble(const struct list_writer *w)
{
    return w->compact_why.code != ERR_OK ? &w->compact_why : NULL;
}
