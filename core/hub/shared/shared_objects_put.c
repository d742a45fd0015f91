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
    ITEMS_MAX = 32,  /* parts of one call */
    ARGS_BEFORE = 6, /* of the call, before the parts */
    PLACE_TEXT = 48,
    HEADS_BEFORE = 16,   /* bytes of printed heads before the first */
    NOTICES_KEPT = 1000, /* or so */
    HEARTBEAT_S = 30,    /* between heads that only have a newer heartbeat */
    WAIT_S = 10          /* after an error, such as a full store */
};

/* KEYS: a stream. ARGV: seconds that it lives on, the entry that must be the last one, and pairs of
 * the id of a new entry and its bytes. Returns the ids of the first and of the last entry. */
static const char append_script[] =
    "local function id(c, a, b)"
    " local e = redis.call(c, KEYS[1], a, b, 'COUNT', 1)[1]"
    " return e and e[1] or '0-0' end "
    "local last = id('XREVRANGE', '+', '-') "
    "if last == ARGV[2] then for i = 3, #ARGV, 2 do"
    " redis.call('XADD', KEYS[1], ARGV[i], 'b', ARGV[i + 1]) last = ARGV[i] end end "
    "redis.call('EXPIRE', KEYS[1], ARGV[1]) "
    "return {id('XRANGE', '-', '+'), last}";

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

static struct sync *sync_of(const struct shared_objects *o)
{
    return shared_node(o->shared)->sync;
}

static const struct object_id *self_of(const struct shared_objects *o)
{
    return &shared_node(o->shared)->self.origin;
}

static uint64_t seconds_from_now(unsigned s)
{
    return clock_mono_us() + (uint64_t)s * OBJECTS_US_PER_S;
}

static bool is_list(const struct objects_own *w)
{
    return w->head.stream.kind == OBJECT_LIST;
}

/* ---- bytes of objects ---- */

static void drop_load(struct objects_load *l)
{
    buf_fini(&l->bytes);
    *l = (struct objects_load){.seq = 0};
}

static uint64_t parts_of(size_t length)
{
    return (length + OBJECTS_PART_BYTES - 1) / OBJECTS_PART_BYTES;
}

/* In a chain a SNAP is its header. */
static size_t length_in_key(const struct object *o, bool is_snap)
{
    return OBJECT_HEADER_BYTES +
           (o->type == OBJECT_SNAP && !is_snap ? 0 : (size_t)o->sent_len);
}

/* Sets l->length from the header at l->begin. False: there is no further object. */
static bool measure(struct objects_load *l, bool is_snap)
{
    const struct slice rest = slice_from(buf_slice(&l->bytes), l->begin);
    struct object o;

    if (object_parse(slice_head(rest, OBJECT_HEADER_BYTES), &o, NULL) != ERR_OK) {
        return false;
    }
    l->length = length_in_key(&o, is_snap);
    return l->length <= rest.n;
}

/* The next objects of a chain, or a SNAP, from that place on. */
static bool load(struct shared_objects *o, struct objects_load *l,
                 const struct objects_own *w, bool is_snap, struct objects_place from)
{
    struct errinfo why = {.text = ""};
    enum err e = ERR_OK;

    if (l->seq == from.seq && l->part == from.part && l->begin < l->bytes.n &&
        object_id_equal(&l->id, &w->id)) {
        return true;
    }
    drop_load(l);
    buf_init(&l->bytes, (size_t)OBJECT_SNAP_MAX + OBJECT_HEADER_BYTES);
    e = is_snap ? sync_snap(sync_of(o), &w->id, from.seq, &l->bytes, &why)
                : sync_chain(sync_of(o), &w->id, from.seq, w->head.seq,
                             OBJECTS_PART_BYTES, &l->bytes);
    if (e != ERR_OK || !measure(l, is_snap)) {
        drop_load(l);
        return false;
    }
    l->id = w->id;
    l->seq = from.seq;
    l->part = from.part;
    return l->part < parts_of(l->length);
}

/* Takes the next part from l. */
static struct slice next_part(struct objects_load *l, bool is_snap)
{
    const size_t at = (size_t)l->part * OBJECTS_PART_BYTES;
    const struct slice object =
        slice_head(slice_from(buf_slice(&l->bytes), l->begin), l->length);
    const struct slice part = slice_head(slice_from(object, at), OBJECTS_PART_BYTES);

    l->part++;
    if (l->part >= parts_of(l->length)) {
        l->begin += l->length;
        l->part = 0;
        l->seq++;
        if (l->begin < l->bytes.n && !measure(l, is_snap)) {
            l->begin = l->bytes.n;
        }
    }
    return part;
}

static bool has_part(const struct objects_load *l)
{
    return l->begin < l->bytes.n;
}

static void print_place(const struct objects_place *p, char ret[PLACE_TEXT])
{
    (void)snprintf(ret, PLACE_TEXT, "%" PRIu64 "-%" PRIu64, p->seq, p->part);
}

/* The number of parts that the object has in its key; 0: it is gone here. */
static uint64_t parts_there(struct shared_objects *o, const struct objects_own *w,
                            uint64_t seq, bool is_snap)
{
    struct object object;

    if (sync_header(sync_of(o), &w->id, seq, &object) != ERR_OK) {
        return 0;
    }
    return parts_of(length_in_key(&object, is_snap));
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

    if (p->version == sync_version(sync_of(o)) ||
        sync_own_heads(sync_of(o), &heads) != ERR_OK) {
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

/* What others can have now; false: nothing yet. */
static bool tell(struct objects_own *w)
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

/* ---- answers ---- */

/* A fault: at the next turn. An error, such as a full store: after a while. */
static void wait_a_while(struct shared_objects *o, struct slice error)
{
    o->put.wait_us = seconds_from_now(error.n > 0 ? WAIT_S : 1);
    drop_load(&o->put.chain);
    drop_load(&o->put.snap);
}

/* False: it was not asked, and the step is to be done again. */
static bool ask(struct shared_objects *o, const struct shared_name *key,
                const struct slice *args, size_t nargs, objects_take_fn *take,
                void *what)
{
    o->put.is_busy = objects_ask(o, key, args, nargs, take, self_of(o), what);
    if (!o->put.is_busy) {
        wait_a_while(o, SLICE_NONE);
    }
    return o->put.is_busy;
}

static void take_removed(struct shared_objects *o, const struct object_id *origin,
                         void *what, const struct resp *r, struct slice error)
{
    (void)origin;
    (void)what;
    o->put.is_busy = false;
    if (r == NULL) {
        wait_a_while(o, error);
        return;
    }
    objects_put_step(o);
}

static void remove_key(struct shared_objects *o, const struct shared_name *key)
{
    const struct slice args[] = {SLICE_LIT("UNLINK"), slice_str(key->text)};

    (void)ask(o, key, args, LENGTH(args), take_removed, NULL);
}

/* ---- the chain of a list ---- */

/* What is in the key is not what this server put there: it puts all in again. A store that spoils
 * it again at once is left alone for a while. */
static void put_again(struct shared_objects *o, struct objects_own *w, uint64_t snap)
{
    const struct shared_name key = objects_stream_name(o, self_of(o), &w->id, snap);

    o->put.wait_us = seconds_from_now(1);
    if (clock_mono_us() < w->again_us) {
        w->rest_us = seconds_from_now(OBJECTS_SPOILT_S);
        return;
    }
    w->again_us = seconds_from_now(OBJECTS_SPOILT_S);
    o->stat.put_again++;
    log_warn(
        "event=store what=objects state=again list=%s: the store has something else "
        "than this server put there",
        w->head.stream.list);
    if (snap == 0) {
        w->first = w->last = (struct objects_place){0, 0};
        w->is_whole = true;
    } else {
        w->snap_last = (struct objects_place){0, 0};
        w->has_snap = false;
    }
    remove_key(o, &key);
}

static bool is_resting(const struct objects_own *w)
{
    return !w->is_there || clock_mono_us() < w->rest_us;
}

/* The store has objects of a stream that this server does not remember: it was restored from a
 * backup, and the heads in the store are lost. False: the stream goes on. */
static bool was_left(struct shared_objects *o, const struct objects_own *w)
{
    struct head h = w->head;
    const struct heads more = {.v = &h, .n = 1};
    struct stream_key key;

    h.seq = w->last.seq;
    (void)sync_knows_itself(sync_of(o), &more);
    return !sync_own_stream(sync_of(o), h.stream.kind, h.stream.list, &key) ||
           !stream_key_equal(&key, &h.stream);
}

/* Whether what the store has of the chain can be continued. */
static bool may_continue(struct shared_objects *o, struct objects_own *w)
{
    uint64_t parts = 0;

    w->is_whole = true;
    if (w->last.seq == 0) {
        return w->last.part == 0;
    }
    if (w->last.seq > w->head.seq || w->last.seq + 1 < w->head.from ||
        w->first.seq == 0 || w->first.part != 0) {
        return false;
    }
    parts = parts_there(o, w, w->last.seq, false); /* 0: its end was put before */
    w->is_whole = parts == 0 || w->last.part + 1 == parts;
    return parts == 0 || w->last.part < parts;
}

static bool read_places(const struct resp *r, struct objects_place *retfirst,
                        struct objects_place *retlast)
{
    return r->nodes[0].kind == RESP_ARRAY && r->nodes[0].number == 2 &&
           objects_place_parse(resp_text(r, resp_below(r, 0, 0)), retfirst) &&
           objects_place_parse(resp_text(r, resp_below(r, 0, 1)), retlast);
}

/* The key is not the stream that this server made. */
static bool is_spoilt(struct slice error)
{
    return slice_find_slice(error, SLICE_LIT("WRONGTYPE")) < error.n ||
           slice_find_slice(error, SLICE_LIT("equal or smaller")) < error.n ||
           slice_find_slice(error, SLICE_LIT("exhausted")) < error.n;
}

static bool is_same_place(const struct objects_place *a, const struct objects_place *b)
{
    return a->seq == b->seq && a->part == b->part;
}

static void take_chain(struct shared_objects *o, const struct object_id *origin,
                       void *what, const struct resp *r, struct slice error)
{
    struct objects_own *w = what;
    const struct objects_place wanted = w->last;

    (void)origin;
    o->put.is_busy = false;
    if (r == NULL && !is_spoilt(error)) {
        w->knows_chain = false;
        wait_a_while(o, error);
        return;
    }
    w->knows_chain = r != NULL && read_places(r, &w->first, &w->last);
    if (!w->knows_chain) {
        put_again(o, w, 0);
    } else if (is_same_place(&w->last, &wanted)) {
        objects_put_step(o);
    } else if (w->last.seq > w->head.seq && was_left(o, w)) {
        drop_load(&o->put.chain);
        o->put.version = 0; /* another stream replaces it */
        objects_put_step(o);
    } else if (may_continue(o, w)) {
        drop_load(&o->put.chain);
        objects_put_step(o);
    } else {
        put_again(o, w, 0);
    }
}

/* ---- a SNAP ---- */

static void take_snap(struct shared_objects *o, const struct object_id *origin,
                      void *what, const struct resp *r, struct slice error)
{
    struct objects_own *w = what;
    struct objects_place first;

    (void)origin;
    o->put.is_busy = false;
    if (r == NULL && !is_spoilt(error)) {
        w->knows_snap = false;
        wait_a_while(o, error);
        return;
    }
    if (w->snap_of != w->head.snap_seq) {
        objects_put_step(o); /* another one replaces it */
        return;
    }
    w->knows_snap =
        r != NULL && read_places(r, &first, &w->snap_last) &&
        (w->snap_last.seq == 0 ||
         (first.seq == w->snap_of && first.part == 0 &&
          w->snap_last.seq == w->snap_of && w->snap_last.part < w->snap_parts));
    w->has_snap = w->knows_snap && w->snap_last.seq != 0 &&
                  w->snap_last.part + 1 == w->snap_parts;
    if (w->knows_snap) {
        objects_put_step(o);
    } else {
        put_again(o, w, w->snap_of);
    }
}

/* ---- the script ---- */

/* Appends the next parts of l, as many as fit one call, behind *last, which becomes the place of
 * the newest. l NULL: only asks for the places. snap: its seq, or 0 for the chain. */
static void append(struct shared_objects *o, struct objects_own *w,
                   struct objects_load *l, uint64_t snap, struct objects_place *last)
{
    const struct shared_name key = objects_stream_name(o, self_of(o), &w->id, snap);
    struct slice args[ARGS_BEFORE + 2 * ITEMS_MAX];
    char ids[ITEMS_MAX][PLACE_TEXT];
    char behind[PLACE_TEXT];
    char life[PLACE_TEXT];
    size_t n = 0;
    size_t bytes = 0;

    (void)snprintf(life, sizeof(life), "%d", OBJECTS_LIFE_S);
    print_place(last, behind);
    args[n++] = SLICE_LIT("EVAL");
    args[n++] = slice_of(append_script, sizeof(append_script) - 1);
    args[n++] = SLICE_LIT("1");
    args[n++] = slice_str(key.text);
    args[n++] = slice_str(life);
    args[n++] = slice_str(behind);
    for (size_t i = 0; l != NULL && i < ITEMS_MAX && has_part(l) &&
                       l->seq <= w->head.seq && bytes < OBJECTS_PART_BYTES;
         i++) {
        *last = (struct objects_place){l->seq, l->part};
        print_place(last, ids[i]);
        args[n++] = slice_str(ids[i]);
        args[n] = next_part(l, snap != 0);
        bytes += args[n++].n;
        w->is_whole = snap != 0 ? w->is_whole : l->part == 0;
    }
    o->stat.put += (n - ARGS_BEFORE) / 2;
    o->stat.put_bytes += bytes;
    if (!ask(o, &key, args, n, snap != 0 ? take_snap : take_chain, w)) {
        w->knows_chain = w->knows_chain && snap != 0;
        w->knows_snap = w->knows_snap && snap == 0;
    }
}

/* ---- steps: each says whether it began, or has to wait ---- */

static bool not_now(struct shared_objects *o)
{
    o->put.version = 0;
    wait_a_while(o, SLICE_NONE);
    return true;
}

static bool compare(struct shared_objects *o)
{
    struct objects_put *p = &o->put;

    for (size_t i = 0; i < p->nown; i++) {
        struct objects_own *w = &p->own[i];

        if (is_resting(w)) {
            continue;
        }
        if (is_list(w) && !w->knows_chain) {
            append(o, w, NULL, 0, &w->last);
            return true;
        }
        if (w->head.snap_seq != 0 && !w->knows_snap) {
            w->snap_of = w->head.snap_seq;
            w->snap_parts = parts_there(o, w, w->snap_of, true);
            append(o, w, NULL, w->snap_of, &w->snap_last);
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
        put_again(o, w, 0);
        return true;
    }
    if (!load(o, &o->put.chain, w, false, next)) {
        return not_now(o);
    }
    append(o, w, &o->put.chain, 0, &w->last);
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
        if (!load(o, &p->snap, w, true, next)) {
            return not_now(o);
        }
        append(o, w, &p->snap, w->head.snap_seq, &w->snap_last);
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
        wait_a_while(o, error);
        return;
    }
    if (!p->is_written || r->nodes[0].kind != RESP_INTEGER || r->nodes[0].number != 1) {
        p->wants_notice = true;
        p->check_us = seconds_from_now(OBJECTS_CHECK_SOON_S);
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

    if (sync_own_heads(sync_of(o), &now) != ERR_OK) {
        return false;
    }
    for (size_t i = 0; i < p->nown; i++) {
        if (p->own[i].is_there && tell(&p->own[i])) {
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
    const struct shared_name key = objects_name(o, self_of(o), "heads");
    struct buf fresh;
    size_t compared = 0;
    char life[PLACE_TEXT];
    char until[PLACE_TEXT];

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
    p->heads_us = seconds_from_now(HEARTBEAT_S);
    (void)snprintf(life, sizeof(life), "%d", OBJECTS_LIFE_S);
    (void)snprintf(until, sizeof(until), "%zu", compared);
    const struct slice args[] = {
        SLICE_LIT("EVAL"), slice_of(heads_script, sizeof(heads_script) - 1),
        SLICE_LIT("1"),    slice_str(key.text),
        slice_str(life),   buf_slice(&p->heads),
        slice_str(until)};
    p->is_written =
        ask(o, &key, args, LENGTH(args), take_written, NULL) && p->is_written;
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
        wait_a_while(o, error);
        if (is_spoilt(error)) {
            const struct shared_name key = shared_name(o->shared, "objects", "");

            remove_key(o, &key);
        }
        return;
    }
    objects_put_step(o);
}

static bool give_notice(struct shared_objects *o)
{
    const struct shared_name key = shared_name(o->shared, "objects", "");
    char kept[PLACE_TEXT];

    if (!o->put.wants_notice) {
        return false;
    }
    (void)snprintf(kept, sizeof(kept), "%d", NOTICES_KEPT);
    const struct slice args[] = {
        SLICE_LIT("XADD"),   slice_str(key.text),
        SLICE_LIT("MAXLEN"), SLICE_LIT("~"),
        slice_str(kept),     SLICE_LIT("*"),
        SLICE_LIT("o"),      slice_of(self_of(o)->b, OBJECT_ID_BYTES)};
    o->put.wants_notice = !ask(o, &key, args, LENGTH(args), take_noticed, NULL);
    return true;
}

/* ---- what is replaced ---- */

static void trim(struct shared_objects *o, struct objects_own *w)
{
    const struct shared_name key = objects_stream_name(o, self_of(o), &w->id, 0);
    char to[PLACE_TEXT];

    (void)snprintf(to, sizeof(to), "%" PRIu64,
                   w->told.from - 1); /* with all its parts */
    const struct slice args[] = {SLICE_LIT("EVAL"),
                                 slice_of(trim_script, sizeof(trim_script) - 1),
                                 SLICE_LIT("1"), slice_str(key.text), slice_str(to)};
    w->knows_chain = false;
    (void)ask(o, &key, args, LENGTH(args), take_removed, NULL);
}

/* The stream is not continued. */
static void remove_stream(struct shared_objects *o, struct objects_own *w)
{
    const struct shared_name chain = objects_stream_name(o, self_of(o), &w->id, 0);
    const struct shared_name snaps[] = {
        objects_stream_name(o, self_of(o), &w->id, w->snap_of),
        objects_stream_name(o, self_of(o), &w->id, w->told.snap_seq),
        objects_stream_name(o, self_of(o), &w->id, w->old_snap)};
    const struct slice args[] = {SLICE_LIT("UNLINK"), slice_str(chain.text),
                                 slice_str(snaps[0].text), slice_str(snaps[1].text),
                                 slice_str(snaps[2].text)};

    *w = o->put.own[--o->put.nown];
    (void)ask(o, &chain, args, LENGTH(args), take_removed, NULL);
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
                objects_stream_name(o, self_of(o), &w->id, w->old_snap);

            w->old_snap = 0;
            remove_key(o, &key);
            return true;
        }
        if (is_list(w) && w->has_told && w->told.from > w->first.seq) {
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
    p->check_us = seconds_from_now(OBJECTS_CHECK_S);
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
    o->stat.is_current = !(compare(o) || put_chains(o) || write_heads(o) ||
                           give_notice(o) || put_snaps(o) || remove_replaced(o));
}

void objects_put_reset(struct objects_put *p)
{
    drop_load(&p->chain);
    drop_load(&p->snap);
    buf_fini(&p->heads);
    *p = (struct objects_put){.is_busy = false};
}
