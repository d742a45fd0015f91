/*
 * compact - one thread at a time, which reads only what it was given.
 */
#include "core/list/compact.h"

#include <pthread.h>
#include <sys/resource.h>

#include "core/list/commit.h"

enum { COMPACT_NICE = 5 };
#define ALL_LEVELS (UINT64_MAX / 2) /* a merge of this size takes in every level */

struct compaction {
    pthread_t thread;
    int is_done; /* atomic */
    struct merge merge;
    uint64_t updated_s; /* last change that the new level holds */
    enum err result;
    struct errinfo why;
};

static void *compact_thread(void *context)
{
    struct compaction *c = context;
    /* Of this thread alone, on Linux: mail that is checked meanwhile comes first. */
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), COMPACT_NICE);
    c->result = merge_run(&c->merge, &c->why);
    __atomic_store_n(&c->is_done, 1, __ATOMIC_RELEASE); /* partner: compact_settle */
    return NULL;
}

/* The tail and the memtable of the generation to come. */
static enum err rotate(struct list_writer *w, struct errinfo *reterr)
{
    struct memtable_numbers n = memtable_numbers_get(&w->recent);
    struct list_current next = w->current;
    struct active_segment tail = {.fd = -1};
    next.generation++;
    next.listed = n.totals.listed;
    next.revoked = n.totals.revoked;
    next.updated_s = n.updated_s;
    enum err e =
        list_commit_new_memtable(w, &next, w->tail.number + 1, &w->next, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = list_commit_new_segment(w, w->tail.number + 1, &tail, reterr);
    if (e != ERR_OK) {
        memtable_close(&w->next);
        return e;
    }
    active_segment_close(&w->tail);
    w->tail = tail;
    n.segment = tail.number;
    n.tail_bytes = SEGMENT_HEADER_BYTES;
    memtable_numbers_set(&w->recent, &n);
    return ERR_OK;
}

enum err compact_prepare(const struct list_writer *w, uint64_t incoming,
                         struct merge *m, struct errinfo *reterr)
{
    enum err e = writer_levels_check(w, reterr);
    if (e != ERR_OK) {
        return e;
    }
    m->order = (struct build_order){
        .dir = w->dir,
        .node = *writer_position_key(w),
        .key_id = w->key.id,
        .filter = w->filter,
        .number = w->current.generation + 1,
        .period_s = w->current.period_s,
    };
    m->stack = w->stack;
    for (uint32_t i = 0; i < w->current.nlevels; i++) {
        m->period_s[i] = w->current.level[i].period_s;
    }
    m->totals = memtable_numbers_get(&w->recent).totals;
    m->now_s = writer_expired_s(w);
    e = memtable_sorted(&w->recent, &m->recent, &m->nrecent, reterr);
    incoming = w->wants_all ? ALL_LEVELS : incoming + m->nrecent;
    m->from = merge_from(&w->current, incoming, m->order.period_s);
    return e;
}

static enum err compact_failed(struct list_writer *w, const struct errinfo *why,
                               struct errinfo *reterr)
{
    w->compact_why = *why;
    /* not again before this many more have come */
    w->compact_at = w->recent.used + memtable_capacity(&w->recent) / 8;
    return errinfo_set(reterr, why->code, why->source, 0, "%s", why->text);
}

enum err compact_start(struct list_writer *w, struct errinfo *reterr)
{
    struct errinfo info = {0};
    if (w->compaction) {
        return ERR_OK;
    }
    struct compaction *c = calloc(1, sizeof(*c));
    if (!c) {
        errinfo_nomem(&info, w->dir);
        return compact_failed(w, &info, reterr);
    }
    c->updated_s = memtable_numbers_get(&w->recent).updated_s;
    enum err e = compact_prepare(w, 0, &c->merge, &info);
    THEN(e, rotate(w, &info));
    if (e == ERR_OK && pthread_create(&c->thread, NULL, compact_thread, c) != 0) {
        e = errinfo_set(&info, ERR_NOMEM, w->dir, 0, "no thread to merge the list");
        memtable_close(&w->next);
    }
    if (e != ERR_OK) {
        merge_fini(&c->merge);
        free(c);
        return compact_failed(w, &info, reterr);
    }
    w->compaction = c;
    return ERR_OK;
}

/* The levels before `from` but those of a period that is dropped. */
static uint32_t levels_left(const struct list_writer *w, uint32_t from,
                            struct list_level *ret)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < from; i++) {
        const struct list_level *l = &w->current.level[i];
        if (!w->is_dropping || l->period_s != w->drop_period_s) {
            ret[n++] = *l;
        }
    }
    return n;
}

/* The generation that the merge made, with the memtable that was kept for it. */
static enum err commit_compaction(struct list_writer *w, struct compaction *c,
                                  struct errinfo *reterr)
{
    struct merge *m = &c->merge;
    struct publication p = {
        .current = w->current,
        .recent = w->next,
        .tail = {.fd = -1},
    };
    struct memtable_numbers n = memtable_numbers_get(&p.recent);
    w->next = (struct memtable){0};
    p.current.generation = m->level.number;
    p.current.tail = p.recent.ids.tail;
    p.current.updated_s = c->updated_s;
    p.current.listed = m->totals_after.listed;
    p.current.revoked = m->totals_after.revoked;
    p.current.period_s = w->period_next_s;
    p.current.classes = merge_classes(m, &w->current);
    p.current.nlevels = levels_left(w, m->from, p.current.level);
    if (m->level.entries > 0) {
        p.fresh[p.current.nlevels] = m->index;
        m->index = NULL;
        p.current.level[p.current.nlevels++] = m->level;
    }
    p.current.listed -= w->dropped.listed;
    p.current.revoked -= w->dropped.revoked;
    n.totals.listed -= w->dropped.listed;
    n.totals.revoked -= w->dropped.revoked;
    /* entries that had expired were left out */
    n.totals.listed -= m->totals.listed - m->totals_after.listed;
    n.totals.revoked -= m->totals.revoked - m->totals_after.revoked;
    memtable_numbers_set(&p.recent, &n);
    return publish(w, &p, reterr);
}

enum err compact_settle(struct list_writer *w, bool wait, struct errinfo *reterr)
{
    struct compaction *c = w->compaction;
    if (!c || (!wait && !__atomic_load_n(&c->is_done, __ATOMIC_ACQUIRE))) {
        return ERR_OK;
    }
    (void)pthread_join(c->thread, NULL);
    w->compaction = NULL;
    struct errinfo info = c->why;
    enum err e = c->result;
    if (e == ERR_OK) {
        e = commit_compaction(w, c, &info);
    } else {
        memtable_close(&w->next);
    }
    merge_fini(&c->merge);
    free(c);
    if (e != ERR_OK) {
        if (w->state == WRITER_READY) {
            writer_clean(w);
        }
        return compact_failed(w, &info, reterr);
    }
    w->compact_at = 0;
    w->compact_why = (struct errinfo){0};
    return ERR_OK;
}
