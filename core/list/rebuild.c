/*
 * rebuild - builds all files from the log, also without CURRENT or index.
 */

#include "core/list/commit.h"
#include "core/list/compact.h"
#include "core/list/level_build.h"
#include "core/list/peer_filter.h"
#include "core/list/replay.h"

/* Extent of the log, read from the files. */
struct extent {
    const char *dir;
    uint64_t generation; /* highest of any file */
    uint32_t tail; /* highest segment that is a tail: later ones were never published */
    uint32_t key_id; /* of the highest segment with a whole head */
    uint32_t key_number;
    uint32_t last; /* highest segment of any kind */
};

static enum err extent_file(void *context, enum list_file kind, uint64_t number)
{
    struct extent *x = context;
    if (kind != LIST_FILE_LOG) {
        x->generation = number > x->generation ? number : x->generation;
        return ERR_OK;
    }
    struct segment s;
    if (number == 0 || number >= UINT32_MAX) {
        return ERR_OK;
    }
    uint32_t n = (uint32_t)number;
    x->last = n > x->last ? n : x->last;
    if (segment_open(x->dir, n, &s, NULL, NULL) != ERR_OK) {
        return ERR_OK;
    }
    if (s.has_header && n > x->key_number) {
        x->key_number = n;
        x->key_id = s.header.key_id;
    }
    if (s.has_header && s.header.kind == SEGMENT_TAIL && n > x->tail) {
        x->tail = n;
    }
    segment_close(&s);
    return ERR_OK;
}

/* Generation, tail and key of a list, from CURRENT or from the files. */
static enum err extent_find(const struct list_writer *w, struct extent *ret,
                            struct errinfo *reterr)
{
    struct extent x = {.dir = w->dir};
    enum err e = list_files_each(w->dir, extent_file, &x, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (w->current.generation != 0) {
        x.tail = list_tail_last(w->dir, w->current.tail);
        x.key_id = w->current.key_id;
        if (w->current.generation > x.generation) {
            x.generation = w->current.generation;
        }
    } else if (x.tail == 0) {
        x.tail = x.last; /* no undamaged header: use all segments */
    }
    if (x.last == 0) {
        return errinfo_set(reterr, ERR_NOT_FOUND, w->dir, 0,
                           "the list has no log to rebuild it from; import it again");
    }
    *ret = x;
    return ERR_OK;
}

struct first_damage {
    struct errinfo info;
    bool is_set;
};

/* State of a rebuild, which makes a level for each run of segments of one period. */
struct making {
    struct list_writer *w;
    const struct extent *extent;
    struct publication p;
    uint64_t updated_s;
    uint64_t now_s;
    list_progress_fn *progress; /* may be NULL */
    void *context;
    struct first_damage *damage;
    unsigned damages;
};

/* Folds the sorted records, one digest after the other, into the build; expired ones are left
 * out where no older level may have the digest. */
static enum err fold_log(struct replay *r, const struct making *m, struct build *b,
                         struct errinfo *reterr)
{
    struct log_record rec;
    enum err e = ERR_OK;
    uint64_t steps = 0;
    while (e == ERR_OK && replay_peek(r, &rec)) {
        struct index_record state = {0};
        struct digest d = rec.digest;
        bool has = false;
        while (e == ERR_OK && replay_peek(r, &rec) &&
               digest_cmp(&rec.digest, &d) == 0) {
            has = entry_fold(&state, has, &rec) || has;
            e = replay_next(r, reterr);
            steps++;
        }
        bool is_out =
            b->order.is_oldest && entry_is_expired(&state, writer_expired_s(m->w));
        if (e == ERR_OK && has && !is_out) {
            e = build_add(b, &d, &state, reterr);
        }
        if (m->progress && steps % BUILD_PROGRESS_EVERY == 0) {
            m->progress(m->context, "index", (double)steps / (double)(r->order + 1));
        }
    }
    return e;
}

static void keep_first(void *context, const struct errinfo *finding)
{
    struct first_damage *f = context;
    if (!f->is_set) {
        f->info = *finding;
        f->is_set = true;
    }
}

/* Without CURRENT the key of the list is read from the log. */
static enum err key_choose(struct list_writer *w, const struct extent *x,
                           struct errinfo *reterr)
{
    const struct hashkey *key =
        x->key_id != 0 ? keyring_find(&w->keys, x->key_id) : &w->key;
    if (!key) {
        return errinfo_set(reterr, ERR_KEY, w->dir, 0,
                           "the log was written with the digest key %08" PRIx32
                           ", which keys/digest.key does not hold; put that key back",
                           x->key_id);
    }
    w->key = *key;
    return ERR_OK;
}

/* The period of a segment; `before` if its header is damaged. */
static uint64_t segment_period(const struct list_writer *w, uint32_t number,
                               uint64_t before)
{
    struct segment s;
    if (w->ageing.period_s == 0 ||
        segment_open(w->dir, number, &s, NULL, NULL) != ERR_OK) {
        return before;
    }
    uint64_t created_s = s.has_header ? s.header.created_s : before;
    segment_close(&s);
    return created_s - created_s % w->ageing.period_s;
}

/* The last segment of the run of one period that begins at first. With as many levels as there
 * may be the rest is one run. */
static uint32_t run_end(const struct making *m, uint32_t first, uint64_t period_s)
{
    uint32_t last = first;
    bool is_last_run = m->p.current.nlevels == LIST_LEVELS_MAX - 1;
    while (last < m->extent->tail &&
           (is_last_run || segment_period(m->w, last + 1, period_s) == period_s)) {
        last++;
    }
    return last;
}

static enum err read_run(struct making *m, struct replay *r, uint32_t first,
                         uint32_t last, struct errinfo *reterr)
{
    uint32_t tail = m->extent->tail;
    enum err e = replay_begin(r, reterr);
    for (uint32_t n = first; e == ERR_OK && n <= last; n++) {
        e = replay_segment(r, n, n == tail, 0, reterr);
        if (m->progress) {
            m->progress(m->context, "log", (double)n / (double)tail);
        }
    }
    return e == ERR_OK ? replay_finish(r, reterr) : e;
}

/* One level from one run of segments. */
static enum err make_level(struct making *m, struct replay *r, uint64_t period_s,
                           struct errinfo *reterr)
{
    struct list_current *c = &m->p.current;
    struct build b = {.count = 0};
    struct build_order order = {
        .dir = m->w->dir,
        .node = *writer_position_key(m->w),
        .key_id = m->w->key.id,
        .filter = m->w->filter,
        .number = c->generation,
        .expected = r->order,
        .is_oldest = c->nlevels == 0,
        .period_s = period_s,
    };
    struct list_level level = {0};
    struct index *index = NULL;
    enum err e = build_begin(&b, &order, reterr);
    THEN(e, fold_log(r, m, &b, reterr));
    THEN(e, build_finish(&b, &level, &index, reterr));
    build_abort(&b);
    feature_classes_join(&c->classes, &b.classes);
    if (e == ERR_OK && level.entries > 0) {
        m->p.fresh[c->nlevels] = index;
        c->level[c->nlevels++] = level;
        c->generation++;
    } else {
        index_close(&index);
    }
    return e;
}

static enum err make_levels(struct making *m, struct errinfo *reterr)
{
    uint64_t period_s = 0;
    enum err e = ERR_OK;
    for (uint32_t first = 1; e == ERR_OK && first <= m->extent->tail;) {
        period_s = segment_period(m->w, first, period_s);
        uint32_t last = run_end(m, first, period_s);
        struct replay r = {.dir = m->w->dir,
                           .key_id = m->extent->key_id,
                           .on_damage = keep_first,
                           .context = m->damage};
        e = read_run(m, &r, first, last, reterr);
        THEN(e, make_level(m, &r, period_s, reterr));
        m->updated_s = r.updated_s > m->updated_s ? r.updated_s : m->updated_s;
        m->damages += r.damage;
        replay_end(&r);
        first = last + 1;
    }
    return e;
}

/* Counts the entries in force over all levels. */
static enum err count_totals(struct making *m, struct errinfo *reterr)
{
    struct merged_index s = {.n = m->p.current.nlevels};
    struct entry_totals t = {0};
    struct stack_walk *walk = NULL;
    struct digest d;
    struct index_record r;
    for (uint32_t i = 0; i < s.n; i++) {
        s.index[i] = m->p.fresh[i];
    }
    enum err e = merged_iter_new(&s, 0, &walk);
    while (e == ERR_OK && merged_iter_next(walk, &d, &r, &e)) {
        entry_count(&t, &r, false, &r);
    }
    merged_iter_free(&walk);
    m->p.current.listed = t.listed;
    m->p.current.revoked = t.revoked;
    return e == ERR_OK ? ERR_OK
                       : errinfo_set(reterr, e, m->w->dir, 0,
                                     "cannot walk the new index: %s", err_text(e));
}

static enum err making_publish(struct making *m, struct errinfo *reterr)
{
    struct list_writer *w = m->w;
    struct list_current *c = &m->p.current;
    c->tail = m->extent->tail + 1;
    c->key_id = w->key.id;
    c->created_s = w->current.created_s != 0 ? w->current.created_s : m->now_s;
    c->updated_s = m->updated_s != 0 ? m->updated_s : m->now_s;
    c->form = w->current.form; /* LIST_FORM_FORMER without a CURRENT: nobody knows */
    c->url_match = w->current.url_match;
    c->member_spam = w->current.member_spam;
    c->member_revoked = w->current.member_revoked;
    if (w->current.generation == 0) {
        peer_filter_find(w->dir, &c->member_spam, &c->member_revoked);
    }
    c->period_s =
        w->ageing.period_s == 0 ? 0 : m->now_s - m->now_s % w->ageing.period_s;
    enum err e = list_commit_fresh(w, &m->p, reterr);
    w->period_next_s = e == ERR_OK ? c->period_s : w->period_next_s;
    return e;
}

/* Stops the rebuild if it would lose entries that an undamaged index still has. */
static enum err check_loss(const struct making *m, struct errinfo *reterr)
{
    const struct list_writer *w = m->w;
    bool is_whole = w->state == WRITER_READY && w->current.generation != 0 &&
                    w->stack.n == w->current.nlevels;
    if (m->damages == 0 || !is_whole) {
        return ERR_OK;
    }
    return errinfo_set(reterr, ERR_CORRUPT, m->damage->info.source, 0,
                       "%.200s; as the index still has what the log lacks, nothing was "
                       "changed and the list stays in use; without a backup of the "
                       "log: export the list, remove its file CURRENT, rebuild, and "
                       "import feeds and export again",
                       m->damage->info.text);
}

static enum err rebuild(struct making *m, struct errinfo *reterr)
{
    enum err e = make_levels(m, reterr);
    THEN(e, check_loss(m, reterr));
    THEN(e, count_totals(m, reterr));
    if (e == ERR_OK) {
        e = making_publish(m, reterr);
    } else {
        list_edit_drop(&m->p);
    }
    if (e != ERR_OK && m->w->state == WRITER_READY) {
        writer_clean(m->w);
    }
    return e;
}

enum err list_rebuild(struct list_writer *w, list_progress_fn *progress, void *context,
                      struct errinfo *reterr)
{
    struct extent x = {0};
    struct first_damage damage = {0};
    enum err e = w->state == WRITER_STOPPED ? writer_check(w, reterr) : ERR_OK;
    if (e == ERR_OK && w->state == WRITER_READY) {
        e = writer_settled(w, reterr);
    }
    THEN(e, extent_find(w, &x, reterr));
    THEN(e, key_choose(w, &x, reterr));
    if (e != ERR_OK) {
        return e;
    }
    struct making m = {
        .w = w,
        .extent = &x,
        .p = {.current = {.generation = x.generation + 1}, .tail = {.fd = -1}},
        .now_s = writer_now_s(),
        .progress = progress,
        .context = context,
        .damage = &damage};
    e = rebuild(&m, reterr);
    if (e == ERR_OK && m.damages > 0) {
        return errinfo_set(reterr, ERR_CORRUPT, damage.info.source, 0,
                           "the list was rebuilt and is in use, but without %u damaged "
                           "places of its log; the first: %.300s",
                           m.damages, damage.info.text);
    }
    return e;
}
