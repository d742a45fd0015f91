/*
 * reader_iter - all entries in digest order: the levels with the memtable laid over them.
 */

#include "core/base/clock.h"
#include "core/list/reader.h"

enum { ENTRY_ARENA_BYTES = 64 * 1024 };

struct each {
    const struct list_reader *r;
    list_entry_fn *on_entry;
    list_digest_fn *on_digest; /* instead, when not NULL */
    void *context;
    uint64_t now_s;
    struct arena *arena;
    struct log_texts texts;
    struct memtable_entry *recent;
    size_t nrecent;
    size_t at;
};

static bool give_entry(struct each *x, const struct memtable_entry *e)
{
    if (entry_is_expired(&e->record, x->now_s)) {
        return true;
    }
    if (x->on_digest) {
        return x->on_digest(x->context, &e->digest,
                            (enum entry_status)e->record.status);
    }
    struct list_provenance p = entry_shown(&e->digest, &e->record);
    arena_reset(x->arena);
    log_texts_get(&x->texts, &e->digest, &e->record, x->arena, &p);
    return x->on_entry(x->context, &p);
}

/* Gives the recent entries before d (all that are left when d is NULL); *retsame: d itself was
 * among them. */
static bool give_recent(struct each *x, const struct digest *d, bool *retsame)
{
    *retsame = false;
    while (x->at < x->nrecent) {
        const struct memtable_entry *e = &x->recent[x->at];
        int order = d ? digest_cmp(&e->digest, d) : -1;
        if (order > 0) {
            break;
        }
        *retsame = order == 0;
        x->at++;
        if (!give_entry(x, e)) {
            return false;
        }
    }
    return true;
}

static enum err walk_all(struct each *x, struct errinfo *reterr)
{
    struct merged_index levels = levels_stack(x->r->level, x->r->current.nlevels);
    struct stack_walk *walk = NULL;
    struct memtable_entry e;
    bool is_same = false;
    bool goes_on = true;
    enum err failed = merged_iter_new(&levels, 0, &walk);
    while (failed == ERR_OK && goes_on &&
           merged_iter_next(walk, &e.digest, &e.record, &failed)) {
        goes_on = give_recent(x, &e.digest, &is_same) && (is_same || give_entry(x, &e));
    }
    merged_iter_free(&walk);
    if (goes_on && failed != ERR_OK) {
        return list_index_damaged(failed, x->r->dir, x->r->name, reterr);
    }
    if (goes_on) {
        (void)give_recent(x, NULL, &is_same);
    }
    return ERR_OK;
}

static enum err each_all(struct each *x, struct errinfo *reterr)
{
    const struct list_reader *r = x->r;
    if (!r->is_whole) {
        return list_index_damaged(ERR_CORRUPT, r->dir, r->name, reterr);
    }
    x->now_s = clock_wall_us() / 1000000;
    x->arena = arena_new(ENTRY_ARENA_BYTES);
    if (!x->arena) {
        return errinfo_nomem(reterr, r->dir);
    }
    log_texts_init(&x->texts, r->dir);
    enum err e = memtable_sorted(&r->recent, &x->recent, &x->nrecent, reterr);
    THEN(e, walk_all(x, reterr));
    free(x->recent);
    log_texts_fini(&x->texts);
    arena_free(&x->arena);
    return e;
}

enum err list_reader_each(const struct list_reader *r, list_entry_fn *on_entry,
                          void *context, struct errinfo *reterr)
{
    struct each x = {.r = r, .on_entry = on_entry, .context = context};
    return each_all(&x, reterr);
}

enum err list_reader_each_digest(const struct list_reader *r, list_digest_fn *on_digest,
                                 void *context, struct errinfo *reterr)
{
    struct each x = {.r = r, .on_digest = on_digest, .context = context};
    return each_all(&x, reterr);
}
