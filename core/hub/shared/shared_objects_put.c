/*
 * shared_objects_put - the own objects on their way into the store.
 *
 * There is one call at a time, and after each answer the most urgent step is chosen anew: compare,
 * chains of lists, heads, the notice of a change, SNAPs and filters, removal of what is replaced.
 */

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/shared/shared_objects_internal.h"

enum {
    HEADS_BEFORE = 16,   /* bytes of printed heads before the first */
    NOTICES_KEPT = 1000, /* or so */
    HEARTBEAT_S = 30     /* between heads that only have a newer heartbeat */
};

/* KEYS: a stream. ARGV: the last entry that goes. */
static const char trim_script[] =
    "for _, e in ipairs(redis.call('XRANGE', KEYS[1], '-', ARGV[1], 'COUNT', 64)) do"
    " redis.call('XDEL', KEYS[1], e[1]) end return 1";

/* KEYS: heads. ARGV: seconds, the heads, the number of bytes that others fetch by. Returns whether
 * these were there already. */
static const char heads_script[] =
    "local old = redis.pcall('GET', KEYS[1]) "
    "redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[1]) "
    "local n = tonumber(ARGV[3]) "
    "return type(old) == 'string' and old:sub(1, n) == ARGV[2]:sub(1, n) and 1 or 0";

static bool is_list(const struct objects_own *w)
{
    return w->head.stream.kind == OBJECT_LIST;
}

/* ---- own streams ---- */

static struct objects_own *find_own(struct objects_put *p, const struct object_id *id)
{
    for (size_t i = 0; i < p->nown; i++) {
        if (object_id_equal(&p->own[i].id, id)) {
            return &p->own[i];
        }
    }
    return NULL;
}

static void take_head(struct objects_put *p, const struct head *h)
{
    struct object_id id;

    stream_key_id(&h->stream, &id);
    struct objects_own *w = find_own(p, &id);

    if (w == NULL && p->nown < OBJECTS_STREAMS_MAX) {
        w = &p->own[p->nown++];
        *w = (struct objects_own){.id = id};
    }
    if (w == NULL) {
        return; /* those that were replaced make room */
    }
    if (w->head.snap_seq != h->snap_seq) {
        if (w->snap_of != 0 && w->snap_of != w->told.snap_seq) {
            w->old_snap = w->snap_of; /* it was not put in whole */
        }
        w->knows_snap = false;
        w->has_snap = false;
        w->snap_last = (struct objects_place){0, 0};
    }
    w->head = *h;
    w->is_there = true;
}

/* The own heads, when something changed here. */
static void take_own_heads(struct shared_objects *o)
{
    struct objects_put *p = &o->put;
    struct heads heads;

    if (p->version == sync_version(objects_sync(o)) ||
        sync_own_heads(objects_sync(o), &heads) != ERR_OK) {
        return;
    }
    for (size_t i = 0; i < p->nown; i++) {
        p->own[i].is_there = false;
    }
    for (size_t i = 0; i < heads.n; i++) {
        take_head(p, &heads.v[i]);
    }
    p->version = heads.version;
    heads_fini(&heads);
}

static bool has_chain(const struct objects_own *w)
{
    return w->knows_chain && w->last.seq == w->head.seq && w->is_whole;
}

/* The head of all that others can have now; false: nothing yet. */
static bool compose_head(struct objects_own *w)
{
    const bool has_snap = w->has_snap && w->head.snap_seq != 0;
    struct head h = w->head;

    if (is_list(w) ? !has_chain(w) : !has_snap) {
        return w->has_told; /* what is there stays */
    }
    if (is_list(w)) {
        h.from = w->first.seq;
        if (has_snap && w->head.from > h.from) {
            h.from = w->head.from; /* the rest is removed after this was told */
        } else if (!has_snap) {
            h.snap_seq = w->has_told ? w->told.snap_seq : 0;
            h.snap = w->has_told ? w->told.snap : (struct hash256){{0}};
        }
    }
    if (w->has_told && w->told.snap_seq != 0 && w->told.snap_seq != h.snap_seq) {
        w->old_snap = w->told.snap_seq;
    }
    w->told = h;
    w->has_told = true;
    return true;
}

static bool is_resting(const struct objects_own *w)
{
    return !w->is_there || clock_mono_us() < w->rest_us;
}

/* ---- steps: each says whether it began, or has to wait ---- */

static bool not_now(struct shared_objects *o)
{
    o->put.version = 0;
    objects_put_wait(o, SLICE_NONE);
    return true;
}

static bool compare_store(struct shared_objects *o)
{
    struct objects_put *p = &o->put;

    for (size_t i = 0; i < p->nown; i++) {
        struct objects_own *w = &p->own[i];

        if (is_resting(w)) {
            continue;
        }
        if (is_list(w) && !w->knows_chain) {
            objects_append(o, w, NULL, 0, &w->last);
            return true;
        }
        if (w->head.snap_seq != 0 && !w->knows_snap) {
            w->snap_of = w->head.snap_seq;
            w->snap_parts = objects_parts_there(o, w, w->snap_of, true);
            objects_append(o, w, NULL, w->snap_of, &w->snap_last);
            return true;
        }
    }
    return false;
}

static bool put_chain(struct shared_objects *o, struct objects_own *w)
{
    struct objects_place next = {w->head.from, 0};

    if (w->last.seq != 0) {
        next = w->is_whole ? (struct objects_place){w->last.seq + 1, 0}
                           : (struct objects_place){w->last.seq, w->last.part + 1};
    }
    if (next.seq < w->head.from) { /* what is missing between is gone here */
        objects_put_again(o, w, 0);
        return true;
    }
    if (!objects_load(o, &o->put.chain, w, false, next)) {
        return not_now(o);
    }
    objects_append(o, w, &o->put.chain, 0, &w->last);
    return true;
}

static bool put_chains(struct shared_objects *o)
{
    struct objects_put *p = &o->put;

    for (size_t i = 0; i < p->nown; i++) {
        struct objects_own *w = &p->own[i];

        if (!is_resting(w) && is_list(w) && !has_chain(w)) {
            return put_chain(o, w);
        }
    }
    return false;
}

static bool put_snaps(struct shared_objects *o)
{
    struct objects_put *p = &o->put;

    for (size_t i = 0; i < p->nown; i++) {
        struct objects_own *w = &p->own[i];
        const struct objects_place next = {
            w->head.snap_seq, w->snap_last.seq != 0 ? w->snap_last.part + 1 : 0};

        if (is_resting(w) || w->head.snap_seq == 0 || w->has_snap) {
            continue;
        }
        if (!objects_load(o, &p->snap, w, true, next)) {
            return not_now(o);
        }
        objects_append(o, w, &p->snap, w->head.snap_seq, &w->snap_last);
        return true;
    }
    return false;
}

/* ---- heads ---- */

static void take_written(struct shared_objects *o, const struct object_id *origin,
                         void *what, const struct resp *r, struct slice error)
{
    struct objects_put *p = &o->put;

    (void)origin;
    (void)what;
    p->is_busy = false;
    if (r == NULL) {
        p->is_written = false;
        objects_put_wait(o, error);
        return;
    }
    if (!p->is_written || r->nodes[0].kind != RESP_INTEGER || r->nodes[0].number != 1) {
        p->wants_notice = true;
        p->check_us = objects_soon(OBJECTS_CHECK_SOON_S);
    }
    p->is_written = true;
    objects_put_step(o);
}

/* The heads of all that is complete in the store. */
static bool make_heads(struct shared_objects *o, struct buf *ret, size_t *retcompared)
{
    struct objects_put *p = &o->put;
    struct head told[OBJECTS_STREAMS_MAX];
    struct heads now;
    size_t n = 0;

    if (sync_own_heads(objects_sync(o), &now) != ERR_OK) {
        return false;
    }
    for (size_t i = 0; i < p->nown; i++) {
        if (p->own[i].is_there && compose_head(&p->own[i])) {
            told[n++] = p->own[i].told;
        }
    }
    const struct heads heads = {.v = told,
                                .n = n,
                                .heartbeats = now.heartbeats,
                                .nheartbeats = now.nheartbeats};
    heads_print(&heads, ret);
    *retcompared = HEADS_BEFORE + n * HEAD_BYTES;
    heads_fini(&now);
    return !buf_failed(ret);
}

static bool write_heads(struct shared_objects *o)
{
    struct objects_put *p = &o->put;
    const struct shared_name key = objects_name(o, objects_self(o), "heads");
    struct buf fresh;
    size_t compared = 0;
    char life[OBJECTS_PLACE_TEXT];
    char until[OBJECTS_PLACE_TEXT];

    buf_init(&fresh, OBJECTS_HEADS_MAX);
    if (!make_heads(o, &fresh, &compared)) {
        buf_fini(&fresh);
        return not_now(o);
    }
    const bool is_same = compared == p->compared && p->heads.n >= compared &&
                         memcmp(fresh.p, p->heads.p, compared) == 0;

    if (is_same && p->is_written && clock_mono_us() < p->heads_us) {
        buf_fini(&fresh);
        return false;
    }
    buf_fini(&p->heads);
    p->heads = fresh;
    p->compared = compared;
    p->heads_us = objects_soon(HEARTBEAT_S);
    (void)snprintf(life, sizeof(life), "%d", OBJECTS_LIFE_S);
    (void)snprintf(until, sizeof(until), "%zu", compared);
    const struct slice args[] = {
        SLICE_LIT("EVAL"), slice_of(heads_script, sizeof(heads_script) - 1),
        SLICE_LIT("1"),    slice_str(key.text),
        slice_str(life),   buf_slice(&p->heads),
        slice_str(until)};
    p->is_written = objects_put_call(o, &key, args, LENGTH(args), take_written, NULL) &&
                    p->is_written;
    return true;
}

static void take_noticed(struct shared_objects *o, const struct object_id *origin,
                         void *what, const struct resp *r, struct slice error)
{
    (void)origin;
    (void)what;
    o->put.is_busy = false;
    if (r == NULL) {
        o->put.wants_notice = true;
        objects_put_wait(o, error);
        if (objects_is_spoilt(error)) {
            const struct shared_name key = shared_name(o->shared, "objects", "");

            objects_put_remove(o, &key);
        }
        return;
    }
    objects_put_step(o);
}

static bool give_notice(struct shared_objects *o)
{
    const struct shared_name key = shared_name(o->shared, "objects", "");
    char kept[OBJECTS_PLACE_TEXT];

    if (!o->put.wants_notice) {
        return false;
    }
    (void)snprintf(kept, sizeof(kept), "%d", NOTICES_KEPT);
    const struct slice args[] = {
        SLICE_LIT("XADD"),   slice_str(key.text),
        SLICE_LIT("MAXLEN"), SLICE_LIT("~"),
        slice_str(kept),     SLICE_LIT("*"),
        SLICE_LIT("o"),      slice_of(objects_self(o)->b, OBJECT_ID_BYTES)};
    o->put.wants_notice =
        !objects_put_call(o, &key, args, LENGTH(args), take_noticed, NULL);
    return true;
}

/* ---- what is replaced ---- */

static void trim(struct shared_objects *o, struct objects_own *w)
{
    const struct shared_name key = objects_stream_name(o, objects_self(o), &w->id, 0);
    char to[OBJECTS_PLACE_TEXT];

    (void)snprintf(to, sizeof(to), "%" PRIu64,
                   w->told.from - 1); /* with all its parts */
    const struct slice args[] = {SLICE_LIT("EVAL"),
                                 slice_of(trim_script, sizeof(trim_script) - 1),
                                 SLICE_LIT("1"), slice_str(key.text), slice_str(to)};
    w->knows_chain = false;
    (void)objects_put_call(o, &key, args, LENGTH(args), objects_put_removed, NULL);
}

/* The stream is not continued. */
static void remove_stream(struct shared_objects *o, struct objects_own *w)
{
    const struct shared_name chain = objects_stream_name(o, objects_self(o), &w->id, 0);
    const struct shared_name snaps[] = {
        objects_stream_name(o, objects_self(o), &w->id, w->snap_of),
        objects_stream_name(o, objects_self(o), &w->id, w->told.snap_seq),
        objects_stream_name(o, objects_self(o), &w->id, w->old_snap)};
    const struct slice args[] = {SLICE_LIT("UNLINK"), slice_str(chain.text),
                                 slice_str(snaps[0].text), slice_str(snaps[1].text),
                                 slice_str(snaps[2].text)};

    *w = o->put.own[--o->put.nown];
    (void)objects_put_call(o, &chain, args, LENGTH(args), objects_put_removed, NULL);
}

static bool remove_replaced(struct shared_objects *o)
{
    struct objects_put *p = &o->put;

    for (size_t i = 0; i < p->nown; i++) {
        struct objects_own *w = &p->own[i];

        if (!w->is_there) {
            remove_stream(o, w);
            return true;
        }
        if (w->old_snap != 0) {
            const struct shared_name key =
                objects_stream_name(o, objects_self(o), &w->id, w->old_snap);

            w->old_snap = 0;
            objects_put_remove(o, &key);
            return true;
        }
        /* once for each first entry: a store that keeps it is left alone */
        if (is_list(w) && !is_resting(w) && w->has_told &&
            w->told.from > w->first.seq && w->trimmed != w->first.seq) {
            w->trimmed = w->first.seq;
            trim(o, w);
            return true;
        }
    }
    return false;
}

/* ---- ---- */

void objects_put_check(struct objects_put *p)
{
    for (size_t i = 0; i < p->nown; i++) {
        p->own[i].knows_chain = false;
        p->own[i].knows_snap = false;
    }
    p->heads_us = 0;
    p->check_us = objects_soon(OBJECTS_CHECK_S);
}

void objects_put_note(struct shared_objects *o, const struct heads *heads)
{
    struct objects_put *p = &o->put;

    for (size_t i = 0; i < heads->n && p->nown < OBJECTS_STREAMS_MAX; i++) {
        struct objects_own w = {.told = heads->v[i]};

        stream_key_id(&heads->v[i].stream, &w.id);
        if (find_own(p, &w.id) == NULL) {
            w.head.stream = heads->v[i].stream;
            p->own[p->nown++] = w;
        }
    }
    p->version = 0;
}

static bool may_put(const struct shared_objects *o)
{
    const struct exchange_sources s = shared_objects_source(o);

    return o->is_open && s.asked > 0 && node_self(shared_node(o->shared)) != NULL;
}

void objects_put_step(struct shared_objects *o)
{
    struct objects_put *p = &o->put;
    const uint64_t now = clock_mono_us();

    if (p->is_busy || now < p->wait_us || !may_put(o)) {
        return;
    }
    if (now >= p->check_us) {
        objects_put_check(p);
    }
    take_own_heads(o);
    o->stat.is_current = !(compare_store(o) || put_chains(o) || write_heads(o) ||
                           give_notice(o) || put_snaps(o) || remove_replaced(o));
}

void objects_put_reset(struct objects_put *p)
{
    objects_load_drop(&p->chain);
    objects_load_drop(&p->snap);
    buf_fini(&p->heads);
    *p = (struct objects_put){.is_busy = false};
}
