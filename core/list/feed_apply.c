/*
 * feed_apply - compares each item with the known entry and writes only differences.
 */
#include "core/list/feed_apply.h"

#include "core/list/import.h"
#include "core/list/writer_change.h"

enum { TEXT_ARENA = 64 * 1024 };

/* ---- one item ---- */

static uint32_t first_of(const struct refresh *r, const struct refresh_item *item,
                         const struct index_record *known)
{
    uint32_t first = r->time_s;
    if (item->first_seen_s != 0 && item->first_seen_s < first) {
        first = item->first_seen_s;
    }
    return known && known->first_seen_s < first ? known->first_seen_s : first;
}

/* 0 is for ever. */
static bool ends_by(const struct index_record *known, uint32_t expiry_s)
{
    return known->expiry_s != 0 && known->expiry_s <= expiry_s;
}

/* Counts the item. False: nothing to write. */
static bool is_new(struct refresh *r, const struct refresh_item *item,
                   const struct index_record *known, uint32_t expiry_s)
{
    bool stands = known && !entry_is_expired(known, r->time_s);
    uint64_t *n = &r->done.known;
    if (stands && (known->flags & ENTRY_FLAG_EXPLICIT) != 0) {
        n = &r->done.kept;
    } else if (item->has_left && stands && !ends_by(known, expiry_s)) {
        n = &r->done.left;
    } else if (!item->has_left && !stands) {
        n = &r->done.entered;
    } else if (!item->has_left && known->expiry_s != expiry_s) {
        n = &r->done.changed;
    }
    ++*n;
    return n != &r->done.kept && n != &r->done.known;
}

bool refresh_record(struct refresh *r, const struct refresh_item *item,
                    const struct index_record *known, struct log_record *ret)
{
    uint32_t expiry_s = item->expiry_s;
    if (item->has_left && expiry_s <= r->time_s) {
        expiry_s = ENTRY_GONE_S;
    }
    if (!is_new(r, item, known, expiry_s)) {
        return false;
    }
    *ret = (struct log_record){.kind = RECORD_FEED,
                               .class_type = item->class_type,
                               .time_s = r->time_s,
                               .expiry_s = expiry_s,
                               .first_seen_s = first_of(r, item, known),
                               .digest = item->digest};
    if (!item->has_left) {
        ret->text = r->keep_text ? item->text : SLICE_NONE;
        return true;
    }
    struct list_provenance was = {.text = SLICE_NONE};
    arena_reset(r->arena);
    log_texts_get(&r->texts, &item->digest, known, r->arena, &was);
    ret->class_type = known->class_type;
    ret->text = was.text;
    return true;
}

/* ---- all ---- */

static enum err out_of_order(const struct list_writer *w, struct errinfo *reterr)
{
    return errinfo_set(reterr, ERR_RANGE, w->dir, 0,
                       "changes of a feed are not in order");
}

static enum err stage_all(struct list_writer *w, struct refresh *r,
                          struct errinfo *reterr)
{
    struct refresh_item item;
    struct digest last;
    bool has_last = false;
    enum err e = ERR_OK;
    while (e == ERR_OK && r->in->next(r->in->context, &item, &e)) {
        struct index_record known;
        struct log_record rec;
        bool has = false;
        if (has_last && digest_cmp(&last, &item.digest) >= 0) {
            e = out_of_order(w, reterr);
            break;
        }
        has_last = true;
        last = item.digest;
        e = change_prior(w, &item.digest, &known, &has, reterr);
        if (e == ERR_OK && refresh_record(r, &item, has ? &known : NULL, &rec)) {
            e = change_known(w, &rec, has ? &known : NULL, r->in->source, reterr);
        }
    }
    enum err flushed = list_flush(w, e == ERR_OK ? reterr : NULL);
    return e == ERR_OK ? flushed : e;
}

static enum err merge_all(struct list_writer *w, struct refresh *r,
                          struct errinfo *reterr)
{
    struct merge_input in = {.refresh = r,
                             .nsteps = r->in->n,
                             .source = slice_head(r->in->source, LIST_SOURCE_MAX - 1),
                             .time_s = r->time_s};
    struct merge m = {.progress = r->in->progress, .context = r->in->progress_context};
    enum err e = writer_settled(w, reterr);
    return e == ERR_OK ? import_merge(w, &in, &m, reterr) : e;
}

enum err list_refresh(struct list_writer *w, const struct refresh_input *in,
                      struct refresh_result *ret, struct errinfo *reterr)
{
    struct refresh r = {.in = in, .time_s = writer_now_s(), .keep_text = w->keep_text};
    enum err e = writer_check(w, reterr);
    *ret = r.done;
    if (e != ERR_OK) {
        return e;
    }
    r.arena = arena_new(TEXT_ARENA);
    if (!r.arena) {
        return errinfo_nomem(reterr, w->dir);
    }
    log_texts_init(&r.texts, w->dir);
    e = in->n < REFRESH_BULK ? stage_all(w, &r, reterr) : merge_all(w, &r, reterr);
    log_texts_fini(&r.texts);
    arena_free(&r.arena);
    *ret = r.done;
    return e;
}
