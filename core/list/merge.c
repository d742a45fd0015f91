/*
 * merge - three streams in digest order: the levels, the recent entries, the import.
 */
#include "core/list/merge.h"

#include "core/base/cursor.h"
#include "core/list/feed_apply.h"

/* The state of a merge while it runs. */
struct streams {
    struct merge *m;
    struct build build;
    struct merged_index older; /* the levels that stay */
    struct stack_look *look;   /* in these, for imported digests */
    struct stack_walk *walk;
    struct memtable_entry base; /* next of the levels */
    bool has_base;
    size_t at_recent;
    struct sorter_record import;
    struct mirror_entry step; /* instead of the import's data */
    struct refresh_item item;
    bool has_import;
    uint64_t steps;
};

uint32_t merge_from(const struct list_current *c, uint64_t incoming, uint64_t period_s)
{
    uint32_t from = c->nlevels;
    while (from > 0) {
        const struct list_level *l = &c->level[from - 1];
        bool is_small =
            l->period_s == period_s && l->entries / LEVEL_GROWTH <= incoming;
        if (!is_small && from < LIST_LEVELS_MAX) {
            break;
        }
        incoming += l->entries;
        from--;
    }
    return from;
}

void merge_data_print(uint16_t class_type, uint32_t expiry_s, struct slice text,
                      struct buf *ret)
{
    buf_add_u16(ret, class_type);
    buf_add_u32(ret, expiry_s);
    buf_add(ret, text);
}

static enum err next_base(struct streams *s, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    s->has_base = merged_iter_next(s->walk, &s->base.digest, &s->base.record, &e);
    return e == ERR_OK
               ? ERR_OK
               : errinfo_set(reterr, e, s->m->order.dir, 0,
                             "the index is damaged; run `gillnet list rebuild`");
}

/* The next step, or change of a feed, in the place of an import's entry. */
static enum err next_step(struct streams *s, struct errinfo *reterr)
{
    const struct merge_input *in = s->m->in;
    struct digest last = s->import.digest;
    bool had_one = s->has_import;
    enum err e = ERR_OK;
    if (in->next) {
        s->has_import = in->next(in->next_context, &s->step);
        s->import.digest = s->step.digest;
    } else {
        const struct refresh_input *changes = in->refresh->in;
        s->has_import = changes->next(changes->context, &s->item, &e);
        s->import.digest = s->item.digest;
    }
    if (s->has_import && had_one && digest_cmp(&last, &s->import.digest) >= 0) {
        return errinfo_set(reterr, ERR_RANGE, s->m->order.dir, 0,
                           "steps of a list are not in order; nothing was changed");
    }
    return e == ERR_OK ? ERR_OK
                       : errinfo_set(reterr, e, s->m->order.dir, 0,
                                     "cannot read the changes; nothing was changed");
}

static enum err next_import(struct streams *s, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    if (s->m->in && !s->m->in->sorter) {
        return next_step(s, reterr);
    }
    s->has_import = s->m->in && sorter_next(s->m->in->sorter, &s->import, &e);
    return e == ERR_OK
               ? ERR_OK
               : errinfo_set(reterr, e, s->m->order.dir, 0,
                             "cannot read back the sorted import; nothing was changed");
}

/* The smallest digest that any stream has next. */
static bool smallest(const struct streams *s, struct digest *ret)
{
    const struct digest *d = NULL;
    if (s->has_base) {
        d = &s->base.digest;
    }
    if (s->at_recent < s->m->nrecent &&
        (!d || digest_cmp(&s->m->recent[s->at_recent].digest, d) < 0)) {
        d = &s->m->recent[s->at_recent].digest;
    }
    if (s->has_import && (!d || digest_cmp(&s->import.digest, d) < 0)) {
        d = &s->import.digest;
    }
    if (d) {
        *ret = *d;
    }
    return d != NULL;
}

/* Result for one digest. */
struct outcome {
    struct index_record state;
    bool has;   /* something is known of it */
    bool is_in; /* it belongs into the new level: it was in a merged one, or changed */
    bool is_former; /* known from a level of another period */
};

/* Adds r to the log and the outcome's new state to the totals. */
static enum err enter_record(struct merge *m, struct outcome *o,
                             const struct index_record *before, struct log_record *r,
                             struct errinfo *reterr)
{
    enum err e = import_log_add(&m->bulk, r, reterr);
    if (e == ERR_OK) {
        o->state.segment = r->segment;
        o->state.offset = r->offset;
        entry_count(&m->totals_after, before, o->has, &o->state);
        o->has = true;
        o->is_in = true;
        m->is_made = true;
    }
    return e;
}

/* As apply_import, for a step, which replaces the known state. */
static enum err apply_step(struct streams *s, struct outcome *o, struct errinfo *reterr)
{
    struct merge *m = s->m;
    if (!step_is_new(&s->step, o->has ? &o->state : NULL)) {
        m->result.known++;
        return ERR_OK;
    }
    struct log_record r = step_record(&s->step, m->bulk.time_s);
    struct index_record before = o->state;
    m->result.added += s->step.status == ENTRY_LISTED;
    (void)entry_fold(&o->state, o->has, &r);
    return enter_record(m, o, &before, &r, reterr);
}

/* As apply_import, for a feed's change. */
static enum err apply_refresh(struct streams *s, struct outcome *o,
                              struct errinfo *reterr)
{
    struct index_record before = o->state;
    struct log_record r;
    if (!refresh_record(s->m->in->refresh, &s->item, o->has ? &before : NULL, &r) ||
        !entry_fold(&o->state, o->has, &r)) {
        return ERR_OK;
    }
    return enter_record(s->m, o, &before, &r, reterr);
}

/* Applies the import's entry for the digest; writes it to the log when it changes anything. */
static enum err apply_import(struct streams *s, struct outcome *o,
                             struct errinfo *reterr)
{
    struct merge *m = s->m;
    struct cursor c = cursor_of(s->import.data);
    struct log_record r = {.kind = RECORD_IMPORT, .time_s = m->bulk.time_s};
    r.class_type = cursor_u16(&c);
    r.expiry_s = cursor_u32(&c);
    r.text = c.rest;
    r.digest = s->import.digest;
    bool stands = o->has && !entry_is_expired(&o->state, r.time_s);
    if (stands && o->state.status == ENTRY_REVOKED) {
        m->result.revoked++;
    } else if (stands) {
        m->result.known++;
    } else {
        m->result.added++;
    }
    if (stands && o->is_former) {
        r.kind = RECORD_AGAIN; /* so that it does not go with its former period */
    }
    struct index_record before = o->state;
    if (!entry_fold(&o->state, o->has, &r)) {
        return ERR_OK;
    }
    return enter_record(m, o, &before, &r, reterr);
}

static enum err apply_one(struct streams *s, struct outcome *o, struct errinfo *reterr)
{
    const struct merge_input *in = s->m->in;
    if (in->next) {
        return apply_step(s, o, reterr);
    }
    return in->refresh ? apply_refresh(s, o, reterr) : apply_import(s, o, reterr);
}

/* Looks up an imported digest in the levels that stay. */
static enum err ask_older(struct streams *s, const struct digest *d, struct outcome *o,
                          struct errinfo *reterr)
{
    uint32_t level = 0;
    enum err e = merged_lookup_get(s->look, d, &o->state, &level);
    o->has = e == ERR_OK;
    o->is_former = o->has && s->m->period_s[level] != s->m->order.period_s;
    return e == ERR_OK || e == ERR_NOT_FOUND
               ? ERR_OK
               : errinfo_set(reterr, e, s->m->order.dir, 0,
                             "an older index is damaged; run `gillnet list rebuild`");
}

/* Takes the import's entries for digest d, of which all but the first are repetitions. */
static enum err take_imports(struct streams *s, const struct digest *d,
                             struct outcome *o, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    if (!o->has && s->older.n > 0) {
        e = ask_older(s, d, o, reterr);
    }
    bool is_first = true;
    while (e == ERR_OK && s->has_import && digest_cmp(&s->import.digest, d) == 0) {
        if (is_first) {
            e = apply_one(s, o, reterr);
        } else {
            s->m->result.duplicates++;
        }
        is_first = false;
        THEN(e, next_import(s, reterr));
    }
    return e;
}

/* Takes everything known of digest d from the streams into the build. */
static enum err merge_digest(struct streams *s, const struct digest *d,
                             struct errinfo *reterr)
{
    struct merge *m = s->m;
    struct outcome o = {.has = false};
    enum err e = ERR_OK;
    if (s->has_base && digest_cmp(&s->base.digest, d) == 0) {
        o = (struct outcome){.state = s->base.record, .has = true, .is_in = true};
        e = next_base(s, reterr);
    }
    if (s->at_recent < m->nrecent &&
        digest_cmp(&m->recent[s->at_recent].digest, d) == 0) {
        /* already folded over what the levels knew */
        o = (struct outcome){
            .state = m->recent[s->at_recent++].record, .has = true, .is_in = true};
    }
    if (e == ERR_OK && s->has_import && digest_cmp(&s->import.digest, d) == 0) {
        e = take_imports(s, d, &o, reterr);
    }
    if (e != ERR_OK || !o.is_in) {
        return e;
    }
    /* an expired record can hide an older one, so it is dropped only with the oldest level */
    if (m->from == 0 && entry_is_expired(&o.state, m->now_s)) {
        entry_uncount(&m->totals_after, &o.state);
        return ERR_OK;
    }
    return build_add(&s->build, d, &o.state, reterr);
}

static enum err streams_run(struct streams *s, struct errinfo *reterr)
{
    const struct merge *m = s->m;
    struct digest d;
    enum err e = next_base(s, reterr);
    THEN(e, next_import(s, reterr));
    while (e == ERR_OK && smallest(s, &d)) {
        e = merge_digest(s, &d, reterr);
        if (++s->steps % BUILD_PROGRESS_EVERY == 0 && m->progress) {
            m->progress(m->context, "index",
                        (double)s->steps / (double)s->build.order.expected);
        }
    }
    if (e == ERR_OK && m->in) {
        e = import_log_end(&s->m->bulk, reterr);
    }
    return e;
}

/* Everything up to the first record of the build. */
static enum err streams_begin(struct streams *s, struct errinfo *reterr)
{
    struct merge *m = s->m;
    enum err e = merged_iter_new(&m->stack, m->from, &s->walk);
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, m->order.dir, 0, "cannot walk the index: %s",
                           err_text(e));
    }
    m->order.is_oldest = m->from == 0;
    m->order.expected = m->nrecent;
    if (m->in) {
        m->order.expected +=
            m->in->sorter ? sorter_count(m->in->sorter) : m->in->nsteps;
    }
    for (uint32_t i = 0; i < m->stack.n; i++) {
        if (i < m->from) {
            s->older.index[s->older.n++] = m->stack.index[i];
        } else {
            m->order.expected += index_count(m->stack.index[i]);
        }
    }
    e = m->in ? merged_lookup_new(&s->older, &s->look) : ERR_OK;
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, m->order.dir, 0, "cannot ask the index: %s",
                           err_text(e));
    }
    return build_begin(&s->build, &m->order, reterr);
}

struct feature_classes merge_classes(const struct merge *m,
                                     const struct list_current *c)
{
    struct feature_classes all = m->classes;
    if (m->from > 0) {
        feature_classes_join(&all, &c->classes);
    }
    return all;
}

enum err merge_run(struct merge *m, struct errinfo *reterr)
{
    struct streams s = {.m = m};
    m->totals_after = m->totals;
    m->is_made = !m->in;
    enum err e = streams_begin(&s, reterr);
    THEN(e, streams_run(&s, reterr));
    merged_iter_free(&s.walk);
    merged_lookup_free(&s.look);
    if (e == ERR_OK && m->is_made) {
        if (m->progress) {
            m->progress(m->context, "filter", 1);
        }
        e = build_finish(&s.build, &m->level, &m->index, reterr);
    }
    m->result.entries = m->totals_after.listed;
    m->classes = s.build.classes;
    build_abort(&s.build);
    return e;
}

void merge_fini(struct merge *m)
{
    if (m->in) {
        import_log_fini(&m->bulk);
    }
    index_close(&m->index);
    free(m->recent);
    m->recent = NULL;
}
