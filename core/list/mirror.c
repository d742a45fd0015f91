/*
 * mirror - a step is an explicit record; a removal is an entry that expired long ago.
 */
#include "core/list/mirror.h"

#include "core/list/import.h"
#include "core/list/reader.h"
#include "core/list/writer.h"
#include "core/list/writer_change.h"

/* ---- one step ---- */

static bool is_gone(const struct index_record *r)
{
    return r->expiry_s == ENTRY_GONE_S;
}

bool step_is_new(const struct mirror_entry *s, const struct index_record *known)
{
    bool stands = known && !is_gone(known);
    if (!stands || s->status == 0) {
        return stands || s->status != 0;
    }
    return known->status != s->status || known->expiry_s != s->expiry_s ||
           known->class_type != s->class_type;
}

struct log_record step_record(const struct mirror_entry *s, uint32_t time_s)
{
    return (struct log_record){
        .kind = s->status == ENTRY_REVOKED ? RECORD_REVOKE : RECORD_ADD,
        .class_type = s->class_type,
        .time_s = time_s,
        .expiry_s = s->status == 0 ? (uint32_t)ENTRY_GONE_S : s->expiry_s,
        .digest = s->digest,
    };
}

static struct mirror_entry state_of(const struct digest *d,
                                    const struct index_record *r)
{
    return (struct mirror_entry){.digest = *d,
                                 .class_type = r->class_type,
                                 .status = r->status,
                                 .expiry_s = r->expiry_s};
}

/* ---- what is known ---- */

struct mirror_lookup {
    const struct list_writer *w;
    struct stack_look *levels;
};

enum err mirror_lookup_new(const struct list_writer *w, struct mirror_lookup **ret,
                           struct errinfo *reterr)
{
    struct mirror_lookup *l = calloc(1, sizeof(*l));
    enum err e = l ? merged_lookup_new(&w->stack, &l->levels) : ERR_NOMEM;
    if (e != ERR_OK) {
        free(l);
        return errinfo_set(reterr, e, w->dir, 0, "cannot ask the index: %s",
                           err_text(e));
    }
    l->w = w;
    *ret = l;
    return ERR_OK;
}

static enum err look_prior(const struct mirror_lookup *l, const struct digest *d,
                           struct index_record *ret, bool *rethas,
                           struct errinfo *reterr)
{
    enum err e = memtable_get(&l->w->recent, d, ret);
    if (e == ERR_NOT_FOUND) {
        e = merged_lookup_get(l->levels, d, ret, NULL);
    }
    *rethas = e == ERR_OK;
    return e == ERR_OK || e == ERR_NOT_FOUND ? ERR_OK : change_damaged(l->w, e, reterr);
}

static void state_set(struct mirror_entry *io, const struct index_record *known,
                      bool has)
{
    if (has && !is_gone(known)) {
        *io = state_of(&io->digest, known);
    } else {
        io->status = 0;
    }
}

enum err mirror_lookup_get(const struct mirror_lookup *l, struct mirror_entry *io,
                           struct errinfo *reterr)
{
    struct index_record known;
    bool has = false;
    enum err e = look_prior(l, &io->digest, &known, &has, reterr);
    if (e == ERR_OK) {
        state_set(io, &known, has);
    }
    return e;
}

void mirror_lookup_free(struct mirror_lookup **l)
{
    if (*l) {
        merged_lookup_free(&(*l)->levels);
        free(*l);
    }
    *l = NULL;
}

/* ---- many ---- */

/* A step and the known state before it. */
struct known_step {
    struct mirror_entry said;
    struct index_record known;
    bool has;
};

enum { LOOK_AHEAD = 512 };

struct gathering {
    mirror_next_fn *next;
    void *context;
    bool is_end;
    bool has_last;
    struct digest last;
    size_t n;
    struct known_step v[LOOK_AHEAD];
};

/* Reads the next steps and the known states of their digests together, because staging one can
 * merge the list. */
static enum err look_ahead(struct list_writer *w, struct gathering *g,
                           struct errinfo *reterr)
{
    struct mirror_lookup *look = NULL;
    g->n = 0;
    enum err e = mirror_lookup_new(w, &look, reterr);
    while (look && e == ERR_OK && g->n < LOOK_AHEAD) {
        struct known_step *k = &g->v[g->n];
        if (!g->next(g->context, &k->said)) {
            g->is_end = true;
            break;
        }
        if (g->has_last && digest_cmp(&g->last, &k->said.digest) >= 0) {
            e = errinfo_set(reterr, ERR_RANGE, w->dir, 0,
                            "steps of a list are not in order");
            break;
        }
        g->has_last = true;
        g->last = k->said.digest;
        e = look_prior(look, &k->said.digest, &k->known, &k->has, reterr);
        g->n += e == ERR_OK;
    }
    mirror_lookup_free(&look);
    return e;
}

static enum err stage_all(struct list_writer *w, mirror_next_fn *next, void *context,
                          struct slice source, struct errinfo *reterr)
{
    struct gathering *g = calloc(1, sizeof(*g));
    if (!g) {
        return errinfo_nomem(reterr, w->dir);
    }
    g->next = next;
    g->context = context;
    enum err e = ERR_OK;
    while (e == ERR_OK && !g->is_end) {
        e = look_ahead(w, g, reterr);
        for (size_t i = 0; e == ERR_OK && i < g->n; i++) {
            const struct known_step *k = &g->v[i];
            const struct index_record *known = k->has ? &k->known : NULL;
            if (step_is_new(&k->said, known)) {
                struct log_record r = step_record(&k->said, writer_now_s());
                e = change_known(w, &r, known, source, reterr);
            }
        }
    }
    enum err flushed = list_flush(w, e == ERR_OK ? reterr : NULL);
    free(g);
    return e == ERR_OK ? flushed : e;
}

static enum err merge_all(struct list_writer *w, const struct merge_input *in,
                          struct errinfo *reterr)
{
    struct merge m = {.in = NULL};
    enum err e = writer_settled(w, reterr);
    return e == ERR_OK ? import_merge(w, in, &m, reterr) : e;
}

enum err mirror_apply(struct list_writer *w, mirror_next_fn *next, void *context,
                      uint64_t n, struct slice source, struct errinfo *reterr)
{
    enum err e = writer_check(w, reterr);
    if (e != ERR_OK) {
        return e;
    }
    source = slice_head(source, LIST_SOURCE_MAX - 1);
    if (n < MIRROR_BULK_MIN) {
        return stage_all(w, next, context, source, reterr);
    }
    struct merge_input in = {.next = next,
                             .next_context = context,
                             .nsteps = n,
                             .source = source,
                             .time_s = writer_now_s()};
    return merge_all(w, &in, reterr);
}

/* ---- asking ---- */

enum err mirror_get(const struct list_writer *w, struct mirror_entry *ret,
                    struct errinfo *reterr)
{
    struct index_record known;
    bool has = false;
    enum err e = change_prior(w, &ret->digest, &known, &has, reterr);
    if (e == ERR_OK) {
        state_set(ret, &known, has);
    }
    return e;
}

enum err mirror_get_of_reader(const struct list_reader *r, uint64_t now_s,
                              struct mirror_entry *io, struct errinfo *reterr)
{
    struct merged_index levels = levels_stack(r->level, r->current.nlevels);
    struct index_record known;
    enum err e = memtable_get(&r->recent, &io->digest, &known);
    if (e == ERR_NOT_FOUND && r->is_whole) {
        e = merged_index_get(&levels, &io->digest, &known, NULL);
    } else if (e == ERR_NOT_FOUND) {
        e = ERR_CORRUPT;
    }
    io->status = 0;
    if (e == ERR_OK && !entry_is_expired(&known, now_s)) {
        *io = state_of(&io->digest, &known);
    }
    return e == ERR_OK || e == ERR_NOT_FOUND
               ? ERR_OK
               : list_index_damaged(e, r->dir, r->name, reterr);
}

uint64_t mirror_count(const struct list_writer *w)
{
    struct memtable_numbers n = memtable_numbers_get(&w->recent);
    return n.totals.listed + n.totals.revoked;
}

bool mirror_is_empty(const struct list_writer *w)
{
    return w->current.nlevels == 0 && w->recent.used == 0 && w->npending == 0 &&
           !w->compaction;
}

struct mirror_iter {
    struct stack_walk *levels;
    struct memtable_entry next; /* of the levels */
    bool has_next;
    enum err failed;
    struct memtable_entry *recent;
    size_t nrecent;
    size_t at;
    uint64_t expired_s;
};

static void next_level(struct mirror_iter *w)
{
    enum err e = ERR_OK;
    w->has_next = merged_iter_next(w->levels, &w->next.digest, &w->next.record, &e);
    w->failed = w->failed == ERR_OK ? e : w->failed;
}

static enum err walk_new(const struct merged_index *levels,
                         const struct memtable *recent, uint64_t expired_s,
                         const char *dir, struct mirror_iter **ret,
                         struct errinfo *reterr)
{
    struct mirror_iter *w = calloc(1, sizeof(*w));
    if (!w) {
        return errinfo_nomem(reterr, dir);
    }
    w->expired_s = expired_s;
    enum err e = merged_iter_new(levels, 0, &w->levels);
    if (e != ERR_OK) {
        errinfo_set(reterr, e, dir, 0, "the index cannot be walked: %s", err_text(e));
    } else {
        e = memtable_sorted(recent, &w->recent, &w->nrecent, reterr);
    }
    if (e != ERR_OK) {
        mirror_iter_free(&w);
        return e;
    }
    next_level(w);
    *ret = w;
    return ERR_OK;
}

enum err mirror_iter_new(struct list_writer *w, struct mirror_iter **ret,
                         struct errinfo *reterr)
{
    enum err e = writer_check(w, reterr);
    THEN(e, writer_settled(w, reterr));
    THEN(e, writer_levels_check(w, reterr));
    return e == ERR_OK
               ? walk_new(&w->stack, &w->recent, ENTRY_GONE_S, w->dir, ret, reterr)
               : e;
}

enum err mirror_iter_of_reader(const struct list_reader *r, uint64_t now_s,
                               struct mirror_iter **ret, struct errinfo *reterr)
{
    if (!r->is_whole) {
        return list_index_damaged(ERR_CORRUPT, r->dir, r->name, reterr);
    }
    struct merged_index levels = levels_stack(r->level, r->current.nlevels);
    return walk_new(&levels, &r->recent, now_s, r->dir, ret, reterr);
}

/* The next digest of both; the memtable is newer. */
static bool pick(struct mirror_iter *w, struct memtable_entry *ret)
{
    bool has_recent = w->at < w->nrecent;
    if (!has_recent && !w->has_next) {
        return false;
    }
    int order = 0;
    if (has_recent && w->has_next) {
        order = digest_cmp(&w->recent[w->at].digest, &w->next.digest);
    } else {
        order = has_recent ? -1 : 1;
    }
    *ret = order <= 0 ? w->recent[w->at] : w->next;
    w->at += order <= 0;
    if (order >= 0) {
        next_level(w);
    }
    return true;
}

bool mirror_iter_next(struct mirror_iter *w, struct mirror_entry *ret, enum err *reterr)
{
    struct memtable_entry e;
    while (w->failed == ERR_OK && pick(w, &e)) {
        if (!entry_is_expired(&e.record, w->expired_s)) {
            *ret = state_of(&e.digest, &e.record);
            *reterr = ERR_OK;
            return true;
        }
    }
    *reterr = w->failed;
    return false;
}

void mirror_iter_free(struct mirror_iter **w)
{
    if (*w) {
        merged_iter_free(&(*w)->levels);
        free((*w)->recent);
        free(*w);
    }
    *w = NULL;
}
