/*
 * rebuild - everything anew from the log, also when CURRENT or the index are gone.
 */
#include <inttypes.h>

#include "core/list/build.h"
#include "core/list/compact.h"
#include "core/list/member.h"
#include "core/list/publish.h"
#include "core/list/replay.h"

/* What the folder says when CURRENT does not. */
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
        x.tail = x.last; /* no head is whole: whatever there is */
    }
    if (x.last == 0) {
        return errinfo_set(reterr, ERR_NOT_FOUND, w->dir, 0,
                           "the list has no log to rebuild it from; import it again");
    }
    *ret = x;
    return ERR_OK;
}

static enum err read_log(struct replay *r, const struct extent *x,
                         list_progress_fn *progress, void *context,
                         struct errinfo *reterr)
{
    enum err e = replay_begin(r, reterr);
    for (uint32_t n = 1; e == ERR_OK && n <= x->tail; n++) {
        e = replay_segment(r, n, n == x->tail, 0, reterr);
        if (progress) {
            progress(context, "log", (double)n / (double)x->tail);
        }
    }
    return e == ERR_OK ? replay_finish(r, reterr) : e;
}

/* What a rebuild makes. */
struct making {
    struct list_writer *w;
    struct build build;
    struct entry_totals totals;
    uint64_t now_s;
    list_progress_fn *progress; /* may be NULL */
    void *context;
};

/* Folds the sorted records, one digest after the other, into the build; expired ones are left
 * out. */
static enum err fold_log(struct replay *r, struct making *m, struct errinfo *reterr)
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
        if (e == ERR_OK && has && !entry_is_expired(&state, m->now_s)) {
            e = build_add(&m->build, &d, &state, reterr);
            entry_count(&m->totals, &state, false, &state);
        }
        if (m->progress && steps % BUILD_PROGRESS_EVERY == 0) {
            m->progress(m->context, "index", (double)steps / (double)(r->order + 1));
        }
    }
    return e;
}

struct first_damage {
    struct errinfo info;
    bool is_set;
};

static void keep_first(void *context, const struct errinfo *finding)
{
    struct first_damage *f = context;
    if (!f->is_set) {
        f->info = *finding;
        f->is_set = true;
    }
}

/* Without CURRENT only the log tells with which key the list was made. */
static enum err key_choose(struct list_writer *w, const struct extent *x,
                           struct errinfo *reterr)
{
    const struct hashkey *key =
        x->key_id != 0 ? keyring_find(&w->keys, x->key_id) : &w->key;
    if (!key) {
        return errinfo_set(reterr, ERR_KEY, w->dir, 0,
                           "the log was written with the ring key %08" PRIx32
                           ", which keys/ring.key does not hold; put that key back",
                           x->key_id);
    }
    w->key = *key;
    return ERR_OK;
}

/* A generation of one level, with everything up to a new tail in it. */
static enum err making_publish(struct making *m, uint32_t tail, uint64_t updated_s,
                               struct errinfo *reterr)
{
    struct list_writer *w = m->w;
    struct publication p = {
        .current = {.generation = m->build.order.number,
                    .tail = tail,
                    .key_id = w->key.id,
                    .created_s =
                        w->current.created_s != 0 ? w->current.created_s : m->now_s,
                    .updated_s = updated_s,
                    .listed = m->totals.listed,
                    .revoked = m->totals.revoked,
                    .member_spam = w->current.member_spam,
                    .member_revoked = w->current.member_revoked},
        .tail = {.fd = -1},
        .fresh_number = m->build.order.number,
    };
    struct list_level level;
    if (w->current.generation == 0) {
        member_find(w->dir, &p.current.member_spam, &p.current.member_revoked);
    }
    enum err e = build_finish(&m->build, &level, &p.fresh, reterr);
    if (e == ERR_OK && level.entries > 0) {
        p.current.level[p.current.nlevels++] = level;
    }
    if (e == ERR_OK) {
        e = publish_start_tail(w, tail, &p.tail, reterr);
    }
    if (e == ERR_OK) {
        e = publish_start_recent(w, &p.current, tail, &p.recent, reterr);
    }
    if (e != ERR_OK) {
        index_close(&p.fresh);
        tail_close(&p.tail);
        return e;
    }
    return publish(w, &p, reterr);
}

static enum err rebuild(struct replay *r, const struct extent *x, struct making *m,
                        struct errinfo *reterr)
{
    enum err e = read_log(r, x, m->progress, m->context, reterr);
    struct build_order order = {
        .dir = m->w->dir,
        .node = m->w->node,
        .key_id = m->w->key.id,
        .filter = m->w->filter,
        .number = x->generation + 1,
        .expected = r->order,
        .is_oldest = true,
    };
    if (e == ERR_OK) {
        e = build_begin(&m->build, &order, reterr);
    }
    if (e != ERR_OK) {
        return e;
    }
    e = fold_log(r, m, reterr);
    if (e == ERR_OK) {
        uint64_t updated_s = r->updated_s != 0 ? r->updated_s : m->now_s;
        e = making_publish(m, x->tail + 1, updated_s, reterr);
    }
    build_abort(&m->build);
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
    if (e == ERR_OK) {
        e = extent_find(w, &x, reterr);
    }
    if (e == ERR_OK) {
        e = key_choose(w, &x, reterr);
    }
    if (e != ERR_OK) {
        return e;
    }
    struct replay r = {
        .dir = w->dir, .key_id = x.key_id, .on_damage = keep_first, .context = &damage};
    struct making m = {
        .w = w, .now_s = writer_now_s(), .progress = progress, .context = context};
    e = rebuild(&r, &x, &m, reterr);
    replay_end(&r);
    if (e == ERR_OK && r.damage > 0) {
        return errinfo_set(reterr, ERR_CORRUPT, damage.info.source, 0,
                           "the list was rebuilt and is in use, but without %u damaged "
                           "places of its log; the first: %.300s",
                           r.damage, damage.info.text);
    }
    return e;
}
