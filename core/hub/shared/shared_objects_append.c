/*
 * shared_objects_append - calls that change what the store has of an own stream: parts of objects
 * behind the known end, and what their answers mean.
 */

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/shared/shared_objects_internal.h"

enum {
    ITEMS_MAX = 32,  /* parts of one call */
    ARGS_BEFORE = 6, /* of the call, before the parts */
    WAIT_S = 10      /* after an error, such as a full store */
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

/* ---- bytes of objects ---- */

void objects_load_drop(struct objects_load *l)
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

bool objects_load(struct shared_objects *o, struct objects_load *l,
                  const struct objects_own *w, bool is_snap, struct objects_place from)
{
    struct errinfo why = {.text = ""};
    enum err e = ERR_OK;

    if (l->seq == from.seq && l->part == from.part && l->begin < l->bytes.n &&
        object_id_equal(&l->id, &w->id)) {
        return true;
    }
    objects_load_drop(l);
    buf_init(&l->bytes, (size_t)OBJECT_SNAP_MAX + OBJECT_HEADER_BYTES);
    e = is_snap ? sync_snap(objects_sync(o), &w->id, from.seq, &l->bytes, &why)
                : sync_chain(objects_sync(o), &w->id, from.seq, w->head.seq,
                             OBJECTS_PART_BYTES, &l->bytes);
    if (e != ERR_OK || !measure(l, is_snap)) {
        objects_load_drop(l);
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

static void print_place(const struct objects_place *p, char ret[OBJECTS_PLACE_TEXT])
{
    (void)snprintf(ret, OBJECTS_PLACE_TEXT, "%" PRIu64 "-%" PRIu64, p->seq, p->part);
}

uint64_t objects_parts_there(struct shared_objects *o, const struct objects_own *w,
                             uint64_t seq, bool is_snap)
{
    struct object object;

    if (sync_header(objects_sync(o), &w->id, seq, &object) != ERR_OK) {
        return 0;
    }
    return parts_of(length_in_key(&object, is_snap));
}

/* ---- answers ---- */

void objects_put_wait(struct shared_objects *o, struct slice error)
{
    o->put.wait_us = objects_soon(error.n > 0 ? WAIT_S : 1);
    objects_load_drop(&o->put.chain);
    objects_load_drop(&o->put.snap);
}

bool objects_put_call(struct shared_objects *o, const struct shared_name *key,
                      const struct slice *args, size_t nargs, objects_take_fn *take,
                      void *what)
{
    o->put.is_busy = objects_ask(
        o, &(struct objects_request){key, args, nargs, take, objects_self(o), what});
    if (!o->put.is_busy) {
        objects_put_wait(o, SLICE_NONE);
    }
    return o->put.is_busy;
}

void objects_put_removed(struct shared_objects *o, const struct object_id *origin,
                         void *what, const struct resp *r, struct slice error)
{
    (void)origin;
    (void)what;
    o->put.is_busy = false;
    if (r == NULL) {
        objects_put_wait(o, error);
        return;
    }
    objects_put_step(o);
}

void objects_put_remove(struct shared_objects *o, const struct shared_name *key)
{
    const struct slice args[] = {SLICE_LIT("UNLINK"), slice_str(key->text)};

    (void)objects_put_call(o, key, args, LENGTH(args), objects_put_removed, NULL);
}

/* ---- the chain of a list ---- */

void objects_put_again(struct shared_objects *o, struct objects_own *w, uint64_t snap)
{
    const struct shared_name key =
        objects_stream_name(o, objects_self(o), &w->id, snap);

    o->put.wait_us = objects_soon(1);
    if (clock_mono_us() < w->again_us) {
        w->rest_us = objects_soon(OBJECTS_SPOILT_S);
        return;
    }
    w->again_us = objects_soon(OBJECTS_SPOILT_S);
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
    objects_put_remove(o, &key);
}

static bool goes_on(struct shared_objects *o, const struct stream_key *stream)
{
    struct heads heads;
    bool is_there = false;

    if (sync_own_heads(objects_sync(o), &heads) != ERR_OK) {
        return true;
    }
    for (size_t i = 0; i < heads.n && !is_there; i++) {
        is_there = stream_key_equal(&heads.v[i].stream, stream);
    }
    heads_fini(&heads);
    return is_there;
}

/* The store has objects of a stream that this server does not remember: it was restored from a
 * backup, and the heads in the store are lost. False: the stream goes on. */
static bool was_left(struct shared_objects *o, const struct objects_own *w)
{
    struct head h = w->head;
    const struct heads more = {.v = &h, .n = 1};

    h.seq = w->last.seq;
    (void)sync_knows_itself(objects_sync(o), &more);
    return !goes_on(o, &h.stream);
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
    parts =
        objects_parts_there(o, w, w->last.seq, false); /* 0: its end was put before */
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

bool objects_is_spoilt(struct slice error)
{
    return slice_find_slice(error, SLICE_LIT("WRONGTYPE")) < error.n ||
           slice_find_slice(error, SLICE_LIT("equal or smaller")) < error.n ||
           slice_find_slice(error, SLICE_LIT("exhausted")) < error.n;
}

static bool is_same_place(const struct objects_place *a, const struct objects_place *b)
{
    return a->seq == b->seq && a->part == b->part;
}

/* The store does not have what it was to have. A store that never does gets no hot loop. */
static void not_done(struct shared_objects *o)
{
    objects_load_drop(&o->put.chain);
    if (o->put.is_append) {
        objects_put_wait(o, SLICE_NONE);
    }
}

static void take_chain(struct shared_objects *o, const struct object_id *origin,
                       void *what, const struct resp *r, struct slice error)
{
    struct objects_own *w = what;
    const struct objects_place wanted = w->last;

    (void)origin;
    o->put.is_busy = false;
    if (r == NULL && !objects_is_spoilt(error)) {
        w->knows_chain = false;
        objects_put_wait(o, error);
        return;
    }
    w->knows_chain = r != NULL && read_places(r, &w->first, &w->last);
    if (w->knows_chain && is_same_place(&w->last, &wanted)) {
        objects_put_step(o);
        return;
    }
    not_done(o);
    if (w->knows_chain && w->last.seq > w->head.seq && was_left(o, w)) {
        o->put.version = 0; /* another stream replaces it */
    } else if (!w->knows_chain || !may_continue(o, w)) {
        objects_put_again(o, w, 0);
        return;
    }
    objects_put_step(o);
}

/* ---- a SNAP ---- */

static void take_snap(struct shared_objects *o, const struct object_id *origin,
                      void *what, const struct resp *r, struct slice error)
{
    struct objects_own *w = what;
    const struct objects_place wanted = w->snap_last;
    struct objects_place first;

    (void)origin;
    o->put.is_busy = false;
    if (r == NULL && !objects_is_spoilt(error)) {
        w->knows_snap = false;
        objects_put_wait(o, error);
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
    if (!is_same_place(&w->snap_last, &wanted)) {
        not_done(o);
    }
    if (w->knows_snap) {
        objects_put_step(o);
    } else {
        objects_put_again(o, w, w->snap_of);
    }
}

/* ---- the script ---- */

void objects_append(struct shared_objects *o, struct objects_own *w,
                    struct objects_load *l, uint64_t snap, struct objects_place *last)
{
    const struct shared_name key =
        objects_stream_name(o, objects_self(o), &w->id, snap);
    struct slice args[ARGS_BEFORE + 2 * ITEMS_MAX];
    char ids[ITEMS_MAX][OBJECTS_PLACE_TEXT];
    char behind[OBJECTS_PLACE_TEXT];
    char life[OBJECTS_PLACE_TEXT];
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
    o->put.is_append = l != NULL;
    if (!objects_put_call(o, &key, args, n, snap != 0 ? take_snap : take_chain, w)) {
        w->knows_chain = w->knows_chain && snap != 0;
        w->knows_snap = w->knows_snap && snap == 0;
    }
}
