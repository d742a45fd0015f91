/*
 * reader_each - all entries in digest order: the index with the recent table laid over it.
 */
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/list/reader.h"

enum { ENTRY_ARENA_BYTES = 64 * 1024 };

struct each_entry {
    struct digest digest;
    struct index_record record;
};

struct each {
    const struct list_reader *r;
    list_entry_fn *on_entry;
    void *context;
    uint64_t now_s;
    struct arena *arena;
    struct log_texts texts;
    struct each_entry *recent;
    size_t nrecent;
    size_t at;
};

static int compare_entries(const void *a, const void *b)
{
    const struct each_entry *x = a;
    const struct each_entry *y = b;
    return digest_cmp(&x->digest, &y->digest);
}

static enum err collect_recent(struct each *x, struct errinfo *reterr)
{
    x->recent = calloc(RECENT_SLOTS, sizeof(*x->recent));
    if (!x->recent) {
        return errinfo_set(reterr, ERR_NOMEM, x->r->dir, 0,
                           "no memory for the entries");
    }
    for (uint64_t i = 0; i < RECENT_SLOTS; i++) {
        struct exact_value v;
        struct each_entry *to = &x->recent[x->nrecent];
        if (exact_at(&x->r->recent.table, i, &to->digest, &v) == ERR_OK) {
            to->record = entry_unpack(&v);
            x->nrecent++;
        }
    }
    qsort(x->recent, x->nrecent, sizeof(*x->recent), compare_entries);
    return ERR_OK;
}

static bool give(struct each *x, const struct each_entry *e)
{
    if (entry_is_expired(&e->record, x->now_s)) {
        return true;
    }
    struct list_provenance p = {
        .status = (enum entry_status)e->record.status,
        .class_type = e->record.class_type,
        .is_explicit = (e->record.flags & ENTRY_FLAG_EXPLICIT) != 0,
        .first_seen_s = e->record.first_seen_s,
        .expiry_s = e->record.expiry_s,
    };
    arena_reset(x->arena);
    log_texts_get(&x->texts, &e->digest, &e->record, x->arena, &p);
    return x->on_entry(x->context, &p);
}

/* Gives the recent entries before d (all that are left when d is NULL); *retsame: d itself is
 * among them and stands in the recent table. */
static bool give_recent(struct each *x, const struct digest *d, bool *retsame)
{
    *retsame = false;
    while (x->at < x->nrecent) {
        const struct each_entry *e = &x->recent[x->at];
        int order = d ? digest_cmp(&e->digest, d) : -1;
        if (order > 0) {
            break;
        }
        *retsame = order == 0;
        x->at++;
        if (!give(x, e)) {
            return false;
        }
    }
    return true;
}

static enum err walk_all(struct each *x, struct errinfo *reterr)
{
    struct index_walk *walk = NULL;
    struct each_entry e;
    bool is_same = false;
    bool goes_on = true;
    enum err failed = index_walk_new(x->r->index, &walk);
    if (failed == ERR_OK) {
        while (goes_on && index_walk_next(walk, &e.digest, &e.record, &failed)) {
            goes_on = give_recent(x, &e.digest, &is_same) && (is_same || give(x, &e));
        }
    }
    index_walk_free(&walk);
    if (goes_on && failed != ERR_OK) {
        return errinfo_set(reterr, failed, x->r->dir, 0,
                           "the index is damaged; run `gillnet list rebuild %s`",
                           x->r->name);
    }
    if (goes_on) {
        (void)give_recent(x, NULL, &is_same);
    }
    return ERR_OK;
}

enum err list_reader_each(const struct list_reader *r, list_entry_fn *on_entry,
                          void *context, struct errinfo *reterr)
{
    struct each x = {.r = r, .on_entry = on_entry, .context = context};
    if (!r->index) {
        return errinfo_set(reterr, ERR_CORRUPT, r->dir, 0,
                           "the index is damaged; run `gillnet list rebuild %s`",
                           r->name);
    }
    x.now_s = clock_wall_us() / 1000000;
    x.arena = arena_new(ENTRY_ARENA_BYTES);
    if (!x.arena) {
        return errinfo_set(reterr, ERR_NOMEM, r->dir, 0, "no memory for the entries");
    }
    log_texts_init(&x.texts, r->dir);
    enum err e = collect_recent(&x, reterr);
    if (e == ERR_OK) {
        e = walk_all(&x, reterr);
    }
    free(x.recent);
    log_texts_fini(&x.texts);
    arena_free(&x.arena);
    return e;
}
