/* sync_receive - the checks of a received object, in their order. */

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/ring/sync/sync_modules.h"

static enum sync_result refuse_object(struct errinfo *reterr, enum sync_result r,
                                      const char *field, const char *why)
{
    (void)errinfo_set(reterr, r == SYNC_TROUBLE ? ERR_IO : ERR_RANGE, field, 0, "%s",
                      why);
    return r;
}

static enum sync_result trouble(enum err e, enum sync_result other)
{
    return e == ERR_NOMEM || e == ERR_IO || e == ERR_NOSPACE || e == ERR_DENIED
               ? SYNC_TROUBLE
               : other;
}

void offer_fini(struct offer *f)
{
    buf_fini(&f->raw);
}

bool sync_is_exchanged(uint16_t kind)
{
    return kind == OBJECT_COUNT || kind == OBJECT_LIST || kind == OBJECT_MEMBER ||
           kind == OBJECT_MEMBER_REVOKED;
}

const struct kind_ops *sync_ops(uint16_t kind)
{
    return kind == OBJECT_COUNT  ? &sync_count_ops
           : kind == OBJECT_LIST ? &sync_list_ops
                                 : &sync_member_ops;
}

/* ---- form, signer, time ---- */

static enum sync_result check_form(const struct sync *s, struct slice object,
                                   struct offer *f, struct errinfo *reterr)
{
    enum err e = object_parse(object, &f->o, reterr);
    if (e == ERR_VERSION || e == ERR_UNSUPPORTED) {
        return SYNC_VERSION;
    }
    if (e != ERR_OK) {
        return SYNC_MALFORMED;
    }
    f->header = slice_head(object, OBJECT_HEADER_BYTES);
    f->payload = slice_from(object, OBJECT_HEADER_BYTES);
    f->has_payload = f->payload.n > 0 || f->o.sent_len == 0;
    object_hash(f->header, &f->hash);
    const bool may_lack = f->o.type == OBJECT_SNAP && f->payload.n == 0;
    if (f->payload.n != f->o.sent_len && !may_lack) {
        return refuse_object(reterr, SYNC_MALFORMED, "sent_len",
                             "the payload has another length than the header says");
    }
    if (!object_id_equal(&f->o.ring, &s->manifest.ring)) {
        return refuse_object(reterr, SYNC_UNKNOWN, "ring", "it is of another ring");
    }
    return SYNC_APPLIED;
}

static enum sync_result check_signer(const struct sync *s, struct offer *f,
                                     struct errinfo *reterr)
{
    const struct object *o = &f->o;
    const struct manifest_member *m = manifest_find(&s->manifest, &o->stream.origin);
    f->origin = sync_origin(s, &o->stream.origin);
    if (!m || !f->origin) {
        return refuse_object(reterr, SYNC_UNKNOWN, "origin",
                             "the manifest does not have it");
    }
    const struct manifest_key *key = manifest_key_by_id(m, o->key_id);
    if (!key || o->created_ms < key->binding.not_before_ms) {
        return refuse_object(reterr, SYNC_UNKNOWN, "key_id",
                             "the manifest does not have this key of that time");
    }
    if (m->state == MEMBER_DROPPED || key->is_revoked ||
        (key->until_ms != 0 && o->created_ms >= key->until_ms) ||
        (m->state == MEMBER_LEFT && o->created_ms >= m->since_ms)) {
        return refuse_object(reterr, SYNC_REVOKED, m->name,
                             "the manifest no longer trusts its signatures");
    }
    if (f->origin->is_distrusted && !sync_is_self(s, &m->origin)) {
        return refuse_object(reterr, SYNC_REVOKED, m->name,
                             "it signed two histories and is distrusted");
    }
    if (!object_is_signed_by(f->header, key->binding.key)) {
        return refuse_object(reterr, SYNC_SIGNATURE, m->name, "the signature is wrong");
    }
    f->is_verified = true;
    return SYNC_APPLIED;
}

enum sync_result sync_examine(struct sync *s, struct slice object, struct offer *f,
                              struct errinfo *reterr)
{
    enum sync_result r = check_form(s, object, f, reterr);
    if (r == SYNC_APPLIED) {
        r = check_signer(s, f, reterr);
    }
    const uint64_t now = sync_now_ms();
    if (r != SYNC_APPLIED || sync_is_self(s, &f->o.stream.origin)) {
        return r; /* own: the local clock may have been set since */
    }
    if (f->o.created_ms > now + SYNC_SKEW_S * UINT64_C(1000)) {
        return refuse_object(reterr, SYNC_FUTURE, "created", "it is from the future");
    }
    if (f->o.expires_ms != 0 && f->o.expires_ms <= now) {
        return refuse_object(reterr, SYNC_OLD, "expires", "it is no longer good");
    }
    return SYNC_APPLIED;
}

/* ---- the stream ---- */

/* Another incarnation of the same list. */
static enum sync_result check_inc(const struct offer *f, struct errinfo *reterr)
{
    const struct stream_key *k = &f->o.stream;
    const struct stream *newest = sync_newest(f->origin, k->kind, k->list);
    return newest && newest->key.inc >= k->inc
               ? refuse_object(reterr, SYNC_OLD, "inc",
                               "a newer incarnation of it is here")
               : SYNC_APPLIED;
}

static enum sync_result check_stream(struct sync *s, struct offer *f,
                                     struct errinfo *reterr)
{
    const struct stream_key *k = &f->o.stream;
    const uint64_t now_s = sync_now_ms() / 1000;
    struct object_id id;
    if (!sync_is_exchanged(k->kind)) {
        return refuse_object(reterr, SYNC_VERSION, "kind",
                             "not exchanged within a ring");
    }
    if (k->kind == OBJECT_COUNT && !sync_takes_counts(s) &&
        !sync_is_self(s, &k->origin)) {
        return refuse_object(reterr, SYNC_VERSION, "kind",
                             "counts go through a store here");
    }
    if (!manifest_has_ring_key(&s->manifest, k->ring_key)) {
        return refuse_object(reterr, SYNC_UNKNOWN, "ring_key",
                             "the manifest does not have it; is it up to date?");
    }
    if (k->kind == OBJECT_COUNT && k->start_s > now_s + OBJECT_BUCKET_S) {
        return refuse_object(reterr, SYNC_FUTURE, "start", "its bucket has not begun");
    }
    if (k->kind == OBJECT_COUNT && k->start_s + SYNC_ACCEPT_S < now_s) {
        return refuse_object(reterr, SYNC_OLD, "start", "its bucket is too old");
    }
    stream_key_id(k, &id);
    f->stream = sync_find(s, &id);
    if (f->stream) {
        return SYNC_APPLIED;
    }
    if (k->kind != OBJECT_COUNT) {
        return check_inc(f, reterr);
    }
    return sync_is_buried(s, &id)
               ? refuse_object(reterr, SYNC_OLD, "start",
                               "the stream has ended and was removed")
               : SYNC_APPLIED;
}

/* ---- the chain ---- */

/* Compares with the stored object of the same place. */
static enum sync_result check_past(struct sync *s, struct offer *f,
                                   struct errinfo *reterr)
{
    const struct stream *st = f->stream;
    struct hash256 hash = st->hash;
    struct buf stored;
    buf_init(&stored, (size_t)OBJECT_SNAP_MAX + OBJECT_HEADER_BYTES);
    enum err e = ERR_OK;
    if (f->o.seq != st->seq) {
        e = f->o.seq < st->from ? ERR_NOT_FOUND
                                : sync_object_read(s, st, f->o.seq, &stored, reterr);
        if (e == ERR_OK) {
            object_hash(buf_slice(&stored), &hash);
        }
    }
    buf_fini(&stored);
    if (e != ERR_OK) {
        return refuse_object(reterr, SYNC_OLD, "seq", "the stream is further");
    }
    return hash256_equal(&hash, &f->hash) ? SYNC_DUPLICATE
                                          : sync_fork(s, f, f->o.seq, reterr);
}

static enum sync_result check_next(struct sync *s, struct offer *f,
                                   struct errinfo *reterr)
{
    const struct stream *st = f->stream;
    const bool is_filter = sync_ops(f->o.stream.kind) == &sync_member_ops;
    if (st && !hash256_equal(&f->o.prev, &st->hash)) {
        return sync_fork(s, f, st->seq, reterr);
    }
    if (!f->has_payload && (is_filter || ((!st || st->seq == 0) && f->o.records > 0))) {
        return refuse_object(reterr, SYNC_GAP, "payload", "it is needed here");
    }
    return SYNC_APPLIED;
}

static enum sync_result check_chain(struct sync *s, struct offer *f,
                                    struct errinfo *reterr)
{
    const struct stream *st = f->stream;
    const uint64_t seq = st ? st->seq : 0;
    if (st && f->o.seq <= seq) {
        return check_past(s, f, reterr);
    }
    if (seq > 0 && f->o.key_id != st->key_id) {
        return refuse_object(reterr, SYNC_MALFORMED, "key_id",
                             "a stream has one key from its begin to its end");
    }
    if (st && (st->flags & OBJECT_CLOSED) != 0) {
        return refuse_object(reterr, SYNC_OLD, "seq", "the stream was ended before");
    }
    if (f->o.stream.kind == OBJECT_COUNT && f->o.seq > SYNC_OBJECTS_MAX) {
        return refuse_object(reterr, SYNC_QUOTA, "seq",
                             "too many objects in one bucket");
    }
    if (f->o.seq == seq + 1) {
        return check_next(s, f, reterr);
    }
    return f->o.type == OBJECT_SNAP && f->has_payload
               ? SYNC_APPLIED
               : refuse_object(reterr, SYNC_GAP, "seq", "an earlier object is missing");
}

/* ---- the payload ---- */

static enum sync_result unpack_payload(struct offer *f, struct errinfo *reterr)
{
    const bool is_snap = f->o.type == OBJECT_SNAP;
    f->records = f->payload;
    if (!is_snap) {
        buf_init(&f->raw, OBJECT_RAW_MAX);
        enum err e = payload_unpack(f->payload, f->o.raw_len, &f->raw, reterr);
        if (e != ERR_OK) {
            return trouble(e, SYNC_PAYLOAD);
        }
        f->records = buf_slice(&f->raw);
    }
    if (sync_ops(f->o.stream.kind) == &sync_member_ops) {
        return SYNC_APPLIED;
    }
    enum err e = payload_reader_init(&f->reader, f->o.stream.kind, is_snap,
                                     f->o.records, f->records, reterr);
    return e == ERR_OK ? SYNC_APPLIED : trouble(e, SYNC_PAYLOAD);
}

enum sync_result sync_unpack(struct offer *f, struct errinfo *reterr)
{
    return f->has_payload ? unpack_payload(f, reterr) : SYNC_APPLIED;
}

static enum sync_result check_payload(struct sync *s, struct offer *f,
                                      struct errinfo *reterr)
{
    if (!f->has_payload) {
        f->root = f->stream ? f->stream->root : (struct root){{0}};
        f->is_same = true;
        return SYNC_APPLIED;
    }
    if (!object_has_payload(&f->o, f->payload)) {
        f->is_verified = false; /* changed by the sender, not by the origin */
        return refuse_object(reterr, SYNC_PAYLOAD, "payload",
                             "it is not what was signed");
    }
    enum sync_result r = sync_unpack(f, reterr);
    return r == SYNC_APPLIED ? sync_ops(f->o.stream.kind)->check(s, f, reterr) : r;
}

static enum sync_result check_root(struct offer *f, struct errinfo *reterr)
{
    const struct stream *st = f->stream;
    struct hash256 root;
    struct hash256 held;
    root_print(&f->root, &root);
    if (!hash256_equal(&root, &f->o.root)) {
        return refuse_object(reterr, SYNC_ROOT, "root",
                             "the root is not that of the content");
    }
    if (f->o.type == OBJECT_SNAP && st && st->seq + 1 == f->o.seq &&
        sync_ops(st->key.kind) != &sync_member_ops) {
        root_print(&st->root, &held);
        if (!hash256_equal(&root, &held)) {
            return refuse_object(reterr, SYNC_ROOT, "root",
                                 "a SNAP changes the content of the stream");
        }
        f->is_same = true;
    }
    return SYNC_APPLIED;
}

/* ---- storing and applying ---- */

/* Makes the payload of a SNAP that came as a header, while the content is that of the SNAP. */
static void complete_snap(struct sync *s, const struct offer *f)
{
    struct errinfo why;
    if (f->stream->seq == f->o.seq && sync_work_snap(s, f->stream, &why) != ERR_OK) {
        log_errinfo("peers", &why);
    }
}

enum err sync_strip(struct sync *s, struct offer *f, struct errinfo *reterr)
{
    struct stream *st = f->stream;
    const uint64_t n = f->payload.n < st->bytes ? f->payload.n : st->bytes;
    if (!f->has_payload) {
        return ERR_OK;
    }
    enum err e = sync_object_write(s, st, f->o.seq, f->header, reterr);
    if (e == ERR_OK) {
        st->bytes -= n;
        st->snap_bytes = st->bytes;
        st->origin->bytes -= n;
    }
    return e;
}

enum err sync_apply(struct sync *s, struct offer *f, struct errinfo *reterr)
{
    const struct kind_ops *ops = sync_ops(f->o.stream.kind);
    const bool is_end = (f->o.flags & OBJECT_CLOSED) != 0;
    enum err e = ERR_OK;
    if (!f->is_same || is_end) {
        e = ops->apply(s, f, reterr);
    }
    if (e == ERR_OK && ops == &sync_member_ops && f->has_payload) {
        e = sync_strip(s, f, reterr);
        THEN(e, sync_trim(s, f->stream, f->o.seq, reterr));
    }
    if (e == ERR_OK) {
        f->stream->applied = f->o.seq;
    }
    if (e == ERR_OK && !ops->snap && f->o.type == OBJECT_SNAP && !f->has_payload) {
        complete_snap(s, f);
    }
    return e;
}

enum err sync_offer_stored(struct sync *s, struct stream *st, uint64_t seq,
                           struct buf *bytes, struct offer *f, struct errinfo *reterr)
{
    enum err e = sync_object_read(s, st, seq, bytes, reterr);
    THEN(e, object_parse(buf_slice(bytes), &f->o, reterr));
    if (e == ERR_OK && !stream_key_equal(&f->o.stream, &st->key)) {
        e = errinfo_set(reterr, ERR_CORRUPT, s->dir, 0, "an object of another stream");
    }
    if (e == ERR_OK) {
        f->header = slice_head(buf_slice(bytes), OBJECT_HEADER_BYTES);
        f->payload = slice_from(buf_slice(bytes), OBJECT_HEADER_BYTES);
        f->has_payload = f->payload.n > 0 || f->o.sent_len == 0;
        f->is_same = !f->has_payload;
        object_hash(f->header, &f->hash);
        e = sync_unpack(f, reterr) == SYNC_APPLIED ? ERR_OK : ERR_CORRUPT;
    }
    return e;
}

static enum err apply_stored(struct sync *s, struct stream *st, uint64_t seq,
                             struct errinfo *reterr)
{
    struct buf bytes;
    struct offer f = {.stream = st, .origin = st->origin};
    buf_init(&bytes, (size_t)OBJECT_SNAP_MAX + OBJECT_HEADER_BYTES);
    enum err e = sync_offer_stored(s, st, seq, &bytes, &f, reterr);
    THEN(e, sync_apply(s, &f, reterr));
    offer_fini(&f);
    buf_fini(&bytes);
    return e;
}

enum err sync_catch_up(struct sync *s, struct stream *st, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    while (e == ERR_OK && st->applied < st->seq) {
        const uint64_t next = st->applied + 1 < st->from ? st->from : st->applied + 1;
        e = apply_stored(s, st, next, reterr);
    }
    return e;
}

enum err sync_replace_older(struct sync *s, const struct stream *st,
                            struct errinfo *reterr)
{
    enum err e = ERR_OK;
    struct stream *next = NULL;
    for (struct stream *p = st->origin->streams; e == ERR_OK && p; p = next) {
        next = p->of_origin;
        if (p != st && p->key.kind == st->key.kind &&
            strcmp(p->key.list, st->key.list) == 0) {
            e = sync_erase(s, p, false, reterr);
        }
    }
    return e;
}

/* Marks an own stream that this server does not remember, before its objects are stored: else it
 * would look like one whose last object was signed but has no cursor. */
static enum err mark_left(struct sync *s, struct stream *st, struct errinfo *reterr)
{
    if (!sync_is_self(s, &st->key.origin) || s->is_adopting || st->is_left) {
        return ERR_OK;
    }
    st->is_left = true;
    enum err e = sync_save(s, st, reterr);
    st->is_left = e == ERR_OK;
    return e;
}

/* Stores and applies an object that passed all checks. */
static enum sync_result accept_object(struct sync *s, struct offer *f,
                                      struct errinfo *reterr)
{
    const bool is_new = f->stream == NULL;
    if (is_new) {
        f->stream = sync_add(s, &f->o.stream, f->origin);
    }
    if (!f->stream) {
        return refuse_object(reterr, SYNC_TROUBLE, "memory", "no memory for a stream");
    }
    if (f->is_same && sync_ops(f->o.stream.kind)->snap) {
        f->has_payload = false;
        f->payload = SLICE_NONE;
    }
    f->is_own = s->is_adopting;
    enum err e = mark_left(s, f->stream, reterr);
    THEN(e, sync_keep(s, f, reterr));
    if (e != ERR_OK) {
        if (is_new) {
            sync_forget(s, f->stream);
            f->stream = NULL;
        }
        return SYNC_TROUBLE;
    }
    struct errinfo why;
    if (sync_apply(s, f, &why) != ERR_OK ||
        (is_new && f->o.stream.kind != OBJECT_COUNT &&
         sync_replace_older(s, f->stream, &why) != ERR_OK)) {
        log_errinfo("peers", &why); /* it is stored: sync_tick applies it */
    }
    return SYNC_APPLIED;
}

static enum sync_result take_object(struct sync *s, struct offer *f,
                                    struct errinfo *reterr)
{
    enum sync_result r = check_stream(s, f, reterr);
    if (r == SYNC_APPLIED) {
        r = check_chain(s, f, reterr);
    }
    if (r == SYNC_APPLIED && f->stream && f->stream->applied < f->stream->seq &&
        sync_catch_up(s, f->stream, reterr) != ERR_OK) {
        return SYNC_TROUBLE;
    }
    if (r == SYNC_APPLIED) {
        r = check_payload(s, f, reterr);
    }
    if (r == SYNC_APPLIED) {
        r = sync_quota_check(s, f, reterr);
    }
    if (r == SYNC_APPLIED) {
        r = check_root(f, reterr);
    }
    return r == SYNC_APPLIED ? accept_object(s, f, reterr) : r;
}

/* ---- results ---- */

static bool is_for_good(enum sync_result r)
{
    static const bool is[SYNC_RESULTS] = {
        [SYNC_OLD] = true,     [SYNC_FUTURE] = true,  [SYNC_QUOTA] = true,
        [SYNC_UNKNOWN] = true, [SYNC_REVOKED] = true, [SYNC_PAYLOAD] = true,
        [SYNC_ROOT] = true,    [SYNC_FILTER] = true,  [SYNC_MALFORMED] = true,
        [SYNC_VERSION] = true,
    };
    return is[r];
}

bool sync_is_refused(const struct sync *s, const struct object_id *stream)
{
    const uint64_t now = sync_now_ms();
    for (unsigned i = 0; i < SYNC_REFUSALS; i++) {
        const struct refusal *r = &s->refusals[i];
        if (r->until_ms > now && r->until_ms <= now + SYNC_RETRY_S * UINT64_C(1000) &&
            object_id_equal(&r->stream, stream)) {
            return true;
        }
    }
    return false;
}

static void note_result(struct sync *s, const struct offer *f, enum sync_result r)
{
    struct origin *o = f->origin;
    if (o && r == SYNC_APPLIED) {
        o->applied++;
        o->records += f->o.records;
        o->object_ms = f->o.created_ms > o->object_ms ? f->o.created_ms : o->object_ms;
    } else if (o && r != SYNC_DUPLICATE) {
        o->refused[r]++;
    }
    if (f->is_verified && is_for_good(r) && f->o.stream.kind != OBJECT_NONE) {
        struct refusal *refusal = &s->refusals[s->next_refusal++ % SYNC_REFUSALS];
        stream_key_id(&f->o.stream, &refusal->stream);
        refusal->until_ms = sync_now_ms() + SYNC_RETRY_S * UINT64_C(1000);
    }
}

enum sync_result sync_offer(struct sync *s, struct slice object, struct errinfo *reterr)
{
    struct offer f = {.has_payload = false};
    enum sync_result r = sync_examine(s, object, &f, reterr);
    if (r == SYNC_APPLIED && f.o.type == OBJECT_HEARTBEAT) {
        r = sync_take_heartbeat(s, &f, reterr);
    } else if (r == SYNC_APPLIED && f.o.type == OBJECT_PROOF) {
        r = sync_take_proof(s, &f, reterr);
    } else if (r == SYNC_APPLIED) {
        r = take_object(s, &f, reterr);
    }
    note_result(s, &f, r);
    offer_fini(&f);
    return r;
}
