/*
 * retention - drops whole periods, except entries of people.
 */
#include "core/list/retention.h"

#include "core/list/compact.h"
#include "core/list/reader.h"
#include "core/list/writer_change.h"

enum { TEXT_ARENA_BYTES = 64 * 1024 };

void list_writer_set_ageing(struct list_writer *w, const struct list_ageing *ageing)
{
    w->ageing = *ageing;
}

static uint64_t period_of(const struct list_writer *w, uint64_t now_s)
{
    uint64_t length_s = w->ageing.period_s;
    return length_s == 0 ? 0 : now_s - now_s % length_s;
}

enum err retention_roll(struct list_writer *w, struct errinfo *reterr)
{
    uint64_t now = period_of(w, writer_now_s());
    if (now <= w->current.period_s) { /* also when the clock went back */
        return ERR_OK;
    }
    enum err e = compact_settle(w, true, reterr);
    w->period_next_s = now;
    if (e == ERR_OK && w->recent.used > 0) {
        e = compact_start(w, reterr);
        return e == ERR_OK ? compact_settle(w, true, reterr) : e;
    }
    if (e == ERR_OK) {
        w->current.period_s = now;
        e = current_write(w->dir, LIST_CURRENT, &w->current, reterr);
    }
    return e;
}

/* ---- dropping ---- */

struct drop {
    struct list_writer *w;
    uint64_t period_s;
    uint64_t now_s;
    struct log_texts texts;
    struct arena *arena;
    struct entry_totals dropped;
    struct list_aged aged;
};

/* Whether the list's answer for d is this record. */
static bool is_in_force(const struct list_writer *w, const struct digest *d,
                        const struct index_record *r)
{
    struct index_record now;
    return memtable_state(&w->recent, &w->stack, d, &now) == ERR_OK &&
           now.segment == r->segment && now.offset == r->offset;
}

/* Writes an entry of a person into the log again, so that it belongs to the present period. */
static enum err keep_entry(struct drop *x, const struct digest *d,
                           const struct index_record *r, struct errinfo *reterr)
{
    struct list_provenance p = {.text = SLICE_NONE};
    arena_reset(x->arena);
    log_texts_get(&x->texts, d, r, x->arena, &p);
    struct log_record again = {
        .kind = r->status == ENTRY_REVOKED ? RECORD_REVOKE : RECORD_ADD,
        .class_type = r->class_type,
        .time_s = writer_now_s(),
        .expiry_s = r->expiry_s,
        .digest = *d,
        .text = p.text,
    };
    x->aged.kept++;
    return change_again(x->w, &again, slice_str(p.source), reterr);
}

/* Every entry of one level: kept, or counted as dropped. */
static enum err drop_level(struct drop *x, const struct index *ix,
                           struct errinfo *reterr)
{
    struct index_walk *walk = NULL;
    struct digest d;
    struct index_record r;
    enum err e = index_walk_new(ix, &walk);
    while (e == ERR_OK && index_walk_next(walk, &d, &r, &e)) {
        if (!is_in_force(x->w, &d, &r)) {
            continue; /* a later period has it */
        }
        bool is_explicit = (r.flags & ENTRY_FLAG_EXPLICIT) != 0;
        if (is_explicit && !entry_is_expired(&r, x->now_s)) {
            e = keep_entry(x, &d, &r, reterr);
        } else {
            entry_count(&x->dropped, &r, false, &r);
            x->aged.entries++;
        }
    }
    index_walk_free(&walk);
    return e == ERR_OK ? ERR_OK : list_index_damaged(e, x->w->dir, x->w->name, reterr);
}

static bool is_segment_used(const struct list_current *c, uint32_t number)
{
    for (uint32_t i = 0; i < c->nlevels; i++) {
        if (c->level[i].first <= number && number <= c->level[i].last) {
            return true;
        }
    }
    return number >= c->tail;
}

/* Empties the segments that only the dropped levels referred to: a hole in the log would look
 * like damage. */
static enum err segments_empty(const struct list_writer *w,
                               const struct list_current *before,
                               struct errinfo *reterr)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < before->nlevels; i++) {
        const struct list_level *l = &before->level[i];
        for (uint32_t n = l->first; n > 0 && n <= l->last && e == ERR_OK; n++) {
            struct segment_header h = {
                .number = n, .key_id = w->key.id, .kind = SEGMENT_BULK};
            if (l->period_s == w->drop_period_s && !is_segment_used(&w->current, n)) {
                h.created_s = l->period_s;
                e = segment_create(w->dir, &h, reterr);
            }
        }
    }
    return e;
}

static enum err drop_period(struct drop *x, struct errinfo *reterr)
{
    struct list_writer *w = x->w;
    struct list_current before = w->current;
    enum err e = ERR_OK;
    x->dropped = (struct entry_totals){0};
    /* kept entries can fill the memtable and start a merge of the present period; the levels of
     * this period stay open */
    struct index *index[LIST_LEVELS_MAX];
    memcpy(index, w->index, sizeof(index));
    for (uint32_t i = 0; e == ERR_OK && i < before.nlevels; i++) {
        if (before.level[i].period_s == x->period_s) {
            e = drop_level(x, index[i], reterr);
        }
    }
    THEN(e, writer_settled(w, reterr));
    w->is_dropping = true;
    w->drop_period_s = x->period_s;
    w->dropped = x->dropped;
    THEN(e, compact_start(w, reterr));
    THEN(e, compact_settle(w, true, reterr));
    THEN(e, segments_empty(w, &before, reterr));
    w->is_dropping = false;
    w->dropped = (struct entry_totals){0};
    return e;
}

/* The oldest former period without a hit for inactive_after_s. False: none. */
static bool find_inactive(const struct list_writer *w, list_last_hit_fn *last_hit,
                          void *context, uint64_t now_s, uint64_t *ret)
{
    for (uint32_t i = 0; i < w->current.nlevels; i++) {
        uint64_t period_s = w->current.level[i].period_s;
        uint64_t last_s = period_s + w->ageing.period_s;
        uint64_t hit_s = last_hit ? last_hit(context, period_s) : 0;
        last_s = hit_s > last_s ? hit_s : last_s;
        if (period_s != 0 && period_s < w->current.period_s &&
            last_s + w->ageing.inactive_after_s <= now_s) {
            *ret = period_s;
            return true;
        }
    }
    return false;
}

enum err list_age(struct list_writer *w, list_last_hit_fn *last_hit, void *context,
                  uint64_t now_s, struct list_aged *ret, struct errinfo *reterr)
{
    struct drop x = {.w = w, .now_s = now_s};
    enum err e = writer_check(w, reterr);
    *ret = (struct list_aged){0};
    if (e != ERR_OK || w->ageing.period_s == 0 || w->ageing.inactive_after_s == 0) {
        return e;
    }
    x.arena = arena_new(TEXT_ARENA_BYTES);
    if (!x.arena) {
        return errinfo_nomem(reterr, w->dir);
    }
    log_texts_init(&x.texts, w->dir);
    e = writer_settled(w, reterr);
    THEN(e, writer_levels_check(w, reterr));
    THEN(e, retention_roll(w, reterr));
    while (e == ERR_OK && find_inactive(w, last_hit, context, now_s, &x.period_s)) {
        e = drop_period(&x, reterr);
        x.aged.periods += e == ERR_OK;
    }
    log_texts_fini(&x.texts);
    arena_free(&x.arena);
    *ret = x.aged;
    return e;
}
