/* shared_objects_get - heads and objects of the other servers, and own ones after a restore. */

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/shared/shared_objects_internal.h"

enum {
    WANTS_MAX = 64, /* asked of sync at once */
    PARTS_MAX = 4,  /* read at once: each may be an object that is made durable */
    SAME_S = 1,     /* a stream that had nothing new is left alone */
    PROOFS_MAX = 3 * MANIFEST_MEMBERS_MAX /* entries of them beside a heartbeat */
};

/* ---- streams that are left alone for a while ---- */

static void skip(struct shared_objects *o, const struct objects_fetch *f,
                 unsigned seconds)
{
    struct objects_skipped *s = &o->skipped[o->next_skipped++ % OBJECTS_SKIPPED_MAX];
    struct objects_member *m = objects_member(o, &f->want.stream.origin);

    s->id = f->id;
    s->until_us = objects_soon(seconds);
    if (m != NULL && (m->again_us == 0 || m->again_us > s->until_us)) {
        m->again_us = s->until_us;
    }
}

static bool is_left_alone(const struct shared_objects *o, const struct object_id *id)
{
    const uint64_t now = clock_mono_us();

    for (size_t i = 0; i < OBJECTS_SKIPPED_MAX; i++) {
        if (o->skipped[i].until_us > now && object_id_equal(&o->skipped[i].id, id)) {
            return true;
        }
    }
    return false;
}

/* ---- the end of a fetch ---- */

static void drop_fetch(struct objects_fetch *f)
{
    buf_fini(&f->bytes);
    f->is_used = false;
}

void objects_fetches_reset(struct shared_objects *o)
{
    for (size_t i = 0; i < OBJECTS_FETCHES; i++) {
        if (o->fetches[i].is_used) {
            drop_fetch(&o->fetches[i]);
        }
    }
}

/* seconds: until the stream is fetched again; 0: it may be at once. */
static void end_fetch(struct objects_fetch *f, unsigned seconds)
{
    struct shared_objects *o = f->o;
    struct objects_member *m = objects_member(o, &f->want.stream.origin);

    if (seconds > 0) {
        skip(o, f, seconds);
    }
    if (m != NULL) {
        m->is_due = true; /* there may be more to fetch */
    }
    drop_fetch(f);
    objects_look(o);
}

static void refuse_fetch(struct objects_fetch *f, enum sync_result r,
                         const struct errinfo *why)
{
    objects_refused(f->o, &f->want.stream.origin, "object", r, why);
    end_fetch(f, OBJECTS_SKIP_S);
}

static void refuse_form(struct objects_fetch *f, const char *text)
{
    struct errinfo why;

    (void)errinfo_set(&why, ERR_SYNTAX, "", 0, "%s", text);
    refuse_fetch(f, SYNC_MALFORMED, &why);
}

/* ---- objects ---- */

/* Header and payload, or the header alone. */
static size_t length_of(const struct objects_fetch *f, const struct object *o)
{
    const bool is_header = o->type == OBJECT_SNAP && f->want.kind == WANT_CHAIN;

    return OBJECT_HEADER_BYTES + (is_header ? 0 : (size_t)o->sent_len);
}

/* Only a header that its origin signed may announce much. */
static bool is_signed(const struct objects_fetch *f, const struct object *o,
                      struct slice header)
{
    const struct node *n = shared_node(f->o->shared);
    const struct manifest_key *key = NULL;

    return manifest_find_key(&n->manifest, o->key_id, o->created_ms, &key) != NULL &&
           object_is_signed_by(header, key->binding.key);
}

/* The first part of an object. NULL: good; else what is wrong. */
static const char *begin_object(struct objects_fetch *f, struct slice part)
{
    const struct slice header = slice_head(part, OBJECT_HEADER_BYTES);
    struct object o;

    if (part.n < OBJECT_HEADER_BYTES || object_parse(header, &o, NULL) != ERR_OK) {
        return "it begins with no header of an object";
    }
    if (!stream_key_equal(&o.stream, &f->want.stream) || o.seq != f->next.seq) {
        return "it is another object than its place says";
    }
    f->length = length_of(f, &o);
    if (f->length > OBJECTS_PART_BYTES && !is_signed(f, &o, header)) {
        return "its origin did not sign it";
    }
    buf_fini(&f->bytes);
    buf_init(&f->bytes, f->length);
    return NULL;
}

/* Gives the whole object to sync. False: the fetch has ended. */
static bool offer(struct objects_fetch *f)
{
    struct shared_objects *o = f->o;
    struct errinfo why = {.text = ""};
    const enum sync_result r = sync_offer(objects_sync(o), buf_slice(&f->bytes), &why);

    if (r == SYNC_APPLIED || r == SYNC_DUPLICATE) {
        o->stat.applied += r == SYNC_APPLIED;
        f->has_progress = f->has_progress || r == SYNC_APPLIED;
        f->next = (struct objects_place){f->next.seq + 1, 0};
        return true;
    }
    if (r == SYNC_TROUBLE || r == SYNC_GAP) { /* of our own; or the ring was faster */
        if (r == SYNC_TROUBLE) {
            log_errinfo("store", &why);
        }
        end_fetch(f, OBJECTS_MISSED_S);
        return false;
    }
    refuse_fetch(f, r, &why);
    return false;
}

/* False: the fetch has ended. */
static bool take_part(struct objects_fetch *f, struct slice part)
{
    const char *fault = f->next.part == 0 ? begin_object(f, part) : NULL;

    if (fault != NULL) {
        refuse_form(f, fault);
        return false;
    }
    const size_t left = f->length - f->bytes.n;
    const size_t due = left < OBJECTS_PART_BYTES ? left : OBJECTS_PART_BYTES;

    if (part.n != due) {
        refuse_form(f, "a part has another length than the object needs");
        return false;
    }
    f->o->stat.got_bytes += part.n;
    buf_add(&f->bytes, part);
    f->next.part++;
    if (buf_failed(&f->bytes)) {
        end_fetch(f, OBJECTS_MISSED_S);
        return false;
    }
    return f->bytes.n < f->length || offer(f);
}

static bool has_all(const struct objects_fetch *f)
{
    return f->next.seq > f->want.to;
}

/* The store has less of the want than the heads said. */
static void end_missing(struct objects_fetch *f)
{
    f->o->stat.missing++;
    end_fetch(f, OBJECTS_MISSED_S);
}

static void ask_parts(struct objects_fetch *f);

/* The bytes of the i-th entry of the reply, if it is the part that must come next. */
static bool next_part(const struct objects_fetch *f, const struct resp *r, size_t i,
                      struct slice *ret)
{
    const size_t entry = resp_below(r, 0, i);
    const size_t fields = resp_below(r, entry, 1);
    struct objects_place place;

    if (entry == 0 || fields == 0 || r->nodes[fields].number != 2 ||
        !objects_place_parse(resp_text(r, resp_below(r, entry, 0)), &place) ||
        place.seq != f->next.seq || place.part != f->next.part ||
        !slice_eq(resp_text(r, resp_below(r, fields, 0)), SLICE_LIT("b"))) {
        return false;
    }
    *ret = resp_text(r, resp_below(r, fields, 1));
    return true;
}

static void take_parts(struct shared_objects *o, const struct object_id *origin,
                       void *what, const struct resp *r, struct slice error)
{
    struct objects_fetch *f = what;
    struct slice part;
    size_t n = 0;

    (void)o;
    (void)origin;
    (void)error;
    if (r == NULL) {
        end_fetch(f, OBJECTS_MISSED_S);
        return;
    }
    if (r->nodes[0].kind == RESP_ARRAY) {
        n = (size_t)r->nodes[0].number;
        n = n < PARTS_MAX ? n : PARTS_MAX;
    }
    for (size_t i = 0; i < n && !has_all(f); i++) {
        if (!next_part(f, r, i, &part)) {
            n = 0;
        } else if (!take_part(f, part)) {
            return;
        }
    }
    if (has_all(f)) {
        end_fetch(f, f->has_progress ? 0 : SAME_S); /* heads that lie are no hot loop */
    } else if (n == 0) {
        end_missing(f);
    } else {
        ask_parts(f);
    }
}

static void ask_parts(struct objects_fetch *f)
{
    const bool is_snap = f->want.kind == WANT_SNAP;
    const struct shared_name key = objects_stream_name(
        f->o, &f->want.stream.origin, &f->id, is_snap ? f->want.from : 0);
    char from[48];
    char to[24];
    char most[8];

    (void)snprintf(from, sizeof(from), "%" PRIu64 "-%" PRIu64, f->next.seq,
                   f->next.part);
    (void)snprintf(to, sizeof(to), "%" PRIu64, f->want.to); /* with all its parts */
    (void)snprintf(most, sizeof(most), "%d", PARTS_MAX);
    const struct slice args[] = {SLICE_LIT("XRANGE"), slice_str(key.text),
                                 slice_str(from),     slice_str(to),
                                 SLICE_LIT("COUNT"),  slice_str(most)};
    const struct objects_request request = {.key = &key,
                                            .args = args,
                                            .nargs = LENGTH(args),
                                            .take = take_parts,
                                            .origin = &f->want.stream.origin,
                                            .what = f};
    if (!objects_ask(f->o, &request)) {
        skip(f->o, f, OBJECTS_MISSED_S);
        drop_fetch(f);
    }
}

/* ---- wants ---- */

static bool is_under_way(const struct shared_objects *o, const struct want *w,
                         const struct object_id *id)
{
    for (size_t i = 0; i < OBJECTS_FETCHES; i++) {
        if (o->fetches[i].is_used && object_id_equal(&o->fetches[i].id, id)) {
            return true;
        }
    }
    return o->exchange != NULL && exchange_is_fetching(o->exchange, &w->stream);
}

/* A place for it; NULL: all are in use. A SNAP leaves one for a chain, which is short. */
static struct objects_fetch *free_fetch(struct shared_objects *o, enum want_kind kind)
{
    const size_t n = kind == WANT_SNAP ? OBJECTS_FETCHES - 1 : OBJECTS_FETCHES;

    for (size_t i = 0; i < n; i++) {
        if (!o->fetches[i].is_used) {
            return &o->fetches[i];
        }
    }
    return NULL;
}

/* False: not now. */
static bool start_fetch(struct shared_objects *o, const struct want *w)
{
    struct object_id id;

    stream_key_id(&w->stream, &id);
    if (is_left_alone(o, &id)) {
        return true; /* the member is due again when that ends */
    }
    struct objects_fetch *f = is_under_way(o, w, &id) ? NULL : free_fetch(o, w->kind);

    if (f == NULL) {
        return false;
    }
    *f = (struct objects_fetch){
        .o = o, .is_used = true, .want = *w, .id = id, .next = {w->from, 0}};
    buf_init(&f->bytes, 0);
    ask_parts(f);
    return true;
}

static bool has_own_fetch(const struct shared_objects *o)
{
    for (size_t i = 0; i < OBJECTS_FETCHES; i++) {
        if (o->fetches[i].is_used &&
            objects_is_self(o, &o->fetches[i].want.stream.origin)) {
            return true;
        }
    }
    return false;
}

static void fetch_wants(struct shared_objects *o, struct objects_member *m,
                        const struct heads *heads)
{
    struct want wants[WANTS_MAX];
    const size_t n = sync_wants(objects_sync(o), heads, wants, WANTS_MAX);

    for (size_t i = 0; i < n; i++) {
        if (!start_fetch(o, &wants[i])) {
            m->is_due = true; /* at the next turn, or when a fetch ends */
        }
    }
}

/* ---- heads ---- */

struct hearing {
    struct shared_objects *o;
    const struct object_id *origin;
};

static void on_heard(void *context, enum sync_result r, const struct errinfo *why)
{
    const struct hearing *h = context;

    if (r != SYNC_APPLIED && r != SYNC_DUPLICATE) {
        objects_refused(h->o, h->origin, "heads", r, why);
    }
}

static enum err check_heads(const struct heads *h, const struct object_id *origin,
                            struct errinfo *reterr)
{
    if (h->n > OBJECTS_STREAMS_MAX || h->nheartbeats > 1 + PROOFS_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, "", 0, "there are too many heads");
    }
    for (size_t i = 0; i < h->n; i++) {
        if (!object_id_equal(&h->v[i].stream.origin, origin) ||
            h->v[i].stream.kind == OBJECT_COUNT) {
            return errinfo_set(reterr, ERR_RANGE, "", 0,
                               "a head is of another origin or kind");
        }
    }
    return ERR_OK;
}

static void hear(struct shared_objects *o, struct objects_member *m,
                 const struct heads *heads)
{
    struct sync *sync = objects_sync(o);
    struct hearing h = {o, &m->origin};
    const bool is_self = objects_is_self(o, &m->origin);

    (void)sync_hear(sync, heads, on_heard, &h);
    if (is_self && !m->was_heard && !sync_knows_itself(sync, heads)) {
        log_warn(
            "event=restored from=store: the store has newer objects of this server "
            "than the local state (restored from a backup?); fetching them");
    }
    if (is_self && !m->was_heard) {
        objects_put_note(o, heads);
    }
    fetch_wants(o, m, heads);
}

static void take_heads(struct shared_objects *o, const struct object_id *origin,
                       void *what, const struct resp *r, struct slice error)
{
    struct objects_member *m = objects_member(o, origin);
    struct errinfo why = {.text = ""};
    struct heads heads;

    const bool is_other = slice_has_prefix(error, SLICE_LIT("WRONGTYPE"));

    (void)what;
    if (m == NULL) {
        return;
    }
    m->is_asking = false;
    m->has_failed = r == NULL && !is_other;
    if (m->has_failed) {
        m->again_us = objects_soon(1);
        return;
    }
    const struct slice text = r != NULL ? resp_text(r, 0) : SLICE_NONE;

    if (is_other) {
        (void)errinfo_set(&why, ERR_SYNTAX, "", 0, "the key of the heads has no text");
        objects_refused(o, origin, "heads", SYNC_MALFORMED, &why);
    } else if (text.n > 0) {
        enum err e = heads_parse(text, &heads, &why);

        if (e == ERR_OK) {
            e = check_heads(&heads, origin, &why);
            if (e == ERR_OK) {
                hear(o, m, &heads);
            }
            heads_fini(&heads);
        }
        if (e != ERR_OK) {
            objects_refused(o, origin, "heads", SYNC_MALFORMED, &why);
        }
    }
    if (objects_is_self(o, origin) && !has_own_fetch(o) && !m->is_due) {
        m->was_heard = true;
        objects_put_step(o);
    }
}

static void ask_heads(struct shared_objects *o, struct objects_member *m)
{
    const struct shared_name key = objects_name(o, &m->origin, "heads");
    char end[16];

    (void)snprintf(end, sizeof(end), "%d", OBJECTS_HEADS_MAX - 1);
    const struct slice args[] = {SLICE_LIT("GETRANGE"), slice_str(key.text),
                                 SLICE_LIT("0"), slice_str(end)};
    m->is_asking = objects_ask(o, &(struct objects_request){.key = &key,
                                                            .args = args,
                                                            .nargs = LENGTH(args),
                                                            .take = take_heads,
                                                            .origin = &m->origin});
    m->is_due = !m->is_asking;
}

void objects_look(struct shared_objects *o)
{
    for (size_t i = 0; i < o->nmembers; i++) {
        if (o->members[i].is_due && !o->members[i].is_asking) {
            ask_heads(o, &o->members[i]);
        }
    }
}
