/* sync_serve - answers to peers, and wants from peers. */

#include "core/ring/sync/sync_modules.h"

enum {
    VERSION_BITS = 32,
    FEW_OBJECTS = 64 /* of a closed stream with more, a new receiver takes the SNAP */
};

uint64_t sync_version(const struct sync *s)
{
    return s->version;
}

/* ---- heads ---- */

static struct head head_of(const struct stream *st)
{
    const bool is_filter = sync_ops(st->key.kind) == &sync_member_ops;
    struct head h = {.stream = st->key,
                     .flags = st->flags & OBJECT_CLOSED,
                     .seq = st->seq,
                     .hash = st->hash,
                     .from = is_filter ? st->seq + 1 : st->from,
                     .snap_seq = st->snap_seq,
                     .snap = st->snap};
    return h;
}

static int by_version(const void *a, const void *b)
{
    const struct stream *const *x = a;
    const struct stream *const *y = b;
    return (*x)->version < (*y)->version ? -1 : (*x)->version > (*y)->version;
}

/* Whether `after` is a version of this process. */
static uint64_t since(const struct sync *s, uint64_t after)
{
    return after >> VERSION_BITS == s->version >> VERSION_BITS && after <= s->version
               ? after
               : 0;
}

/* Streams that changed, oldest change first; *retversion: the version that the answer covers. */
static struct stream **changed(const struct sync *s, uint64_t after, size_t *retn,
                               uint64_t *retversion)
{
    struct stream **v = malloc((s->nstreams + 1) * sizeof(struct stream *));
    size_t n = 0;
    for (size_t i = 0; v && i < s->nslots; i++) {
        for (struct stream *st = s->slots[i]; st; st = st->next) {
            if (st->version > after && st->seq > 0) {
                v[n++] = st;
            }
        }
    }
    *retversion = s->version;
    if (v && n > 1) {
        qsort(v, n, sizeof(*v), by_version); /* NOLINT(bugprone-sizeof-expression) */
    }
    if (n > HEADS_MAX) {
        n = HEADS_MAX;
        *retversion = v[n - 1]->version;
    }
    *retn = n;
    return v;
}

static size_t tell_heartbeat(const struct origin *o, uint64_t after, uint64_t now_ms,
                             struct slice *ret)
{
    if (o->heartbeat_ms == 0 || o->heartbeat_version <= after ||
        o->expires_ms <= now_ms) {
        return 0;
    }
    *ret = slice_of(o->heartbeat, OBJECT_HEADER_BYTES);
    return 1;
}

static size_t tell_proof(struct sync *s, struct origin *o, uint64_t after,
                         struct slice *ret)
{
    return o->is_distrusted && o->proof_version > after && sync_tell_proof(s, o, ret)
               ? 3
               : 0;
}

static size_t tell_origins(struct sync *s, uint64_t after, struct slice *ret)
{
    const uint64_t now = sync_now_ms();
    size_t n = 0;
    for (unsigned i = 0; i < s->norigins && n + 4 <= HEARTBEATS_MAX; i++) {
        n += tell_heartbeat(s->origins[i], after, now, ret + n);
        n += tell_proof(s, s->origins[i], after, ret + n);
    }
    return n;
}

enum err sync_heads(struct sync *s, uint64_t after, struct buf *ret)
{
    struct heads h = {.version = 0};
    const uint64_t from = since(s, after);
    struct stream **v = changed(s, from, &h.n, &h.version);
    h.v = calloc(h.n + 1, sizeof(*h.v));
    h.heartbeats = calloc(HEARTBEATS_MAX, sizeof(*h.heartbeats));
    enum err e = v && h.v && h.heartbeats ? ERR_OK : ERR_NOMEM;
    if (e == ERR_OK) {
        for (size_t i = 0; i < h.n; i++) {
            h.v[i] = head_of(v[i]);
        }
        h.nheartbeats = tell_origins(s, from, h.heartbeats);
        heads_print(&h, ret);
        e = buf_failed(ret) ? ERR_NOMEM : ERR_OK;
    }
    free(v);
    heads_fini(&h);
    return e;
}

static int by_kind(const void *a, const void *b)
{
    const struct head *x = a;
    const struct head *y = b;
    if (x->stream.kind != y->stream.kind) {
        return x->stream.kind < y->stream.kind ? -1 : 1;
    }
    return strcmp(x->stream.list, y->stream.list);
}

enum err sync_own_heads(struct sync *s, struct heads *ret)
{
    struct heads h = {.version = s->version};
    const struct origin *self = sync_origin(s, &s->self->origin);
    const size_t most = self ? self->nstreams : 0;
    h.v = calloc(most + 1, sizeof(*h.v));
    h.heartbeats = calloc(HEARTBEATS_MAX, sizeof(*h.heartbeats));
    if (!h.v || !h.heartbeats) {
        heads_fini(&h);
        return ERR_NOMEM;
    }
    for (struct stream *st = self ? self->streams : NULL; st; st = st->of_origin) {
        if (st->key.kind != OBJECT_COUNT && st->seq > 0 && !st->is_left) {
            h.v[h.n++] = head_of(st);
        }
    }
    if (h.n > 1) {
        qsort(h.v, h.n, sizeof(*h.v), by_kind);
    }
    if (self) {
        h.nheartbeats = tell_heartbeat(self, 0, sync_now_ms(), h.heartbeats);
    }
    for (unsigned i = 0; i < s->norigins && h.nheartbeats + 3 <= HEARTBEATS_MAX; i++) {
        h.nheartbeats += tell_proof(s, s->origins[i], 0, h.heartbeats + h.nheartbeats);
    }
    *ret = h;
    return ERR_OK;
}

/* ---- objects ---- */

enum err sync_chain(struct sync *s, const struct object_id *stream, uint64_t from,
                    uint64_t to, size_t max_bytes, struct buf *ret)
{
    const struct stream *st = sync_find(s, stream);
    size_t sent = 0;
    if (!st || from < st->from || from == 0 || from > st->seq || to < from) {
        return ERR_NOT_FOUND;
    }
    for (uint64_t seq = from; seq <= to && seq <= st->seq; seq++) {
        struct buf bytes;
        struct object o;
        buf_init(&bytes, (size_t)OBJECT_SNAP_MAX + OBJECT_HEADER_BYTES);
        enum err e = sync_object_read(s, st, seq, &bytes, NULL);
        struct slice all = buf_slice(&bytes);
        THEN(e, object_parse(all, &o, NULL));
        if (e == ERR_OK && o.type == OBJECT_SNAP) {
            all = slice_head(all, OBJECT_HEADER_BYTES);
        }
        const bool is_enough = sent > 0 && sent + all.n > max_bytes;
        if (e == ERR_OK && !is_enough) {
            buf_add(ret, all);
            sent += all.n;
        }
        buf_fini(&bytes);
        if (e != ERR_OK || is_enough) {
            return sent > 0 ? ERR_OK : e;
        }
    }
    return buf_failed(ret) ? ERR_NOMEM : ERR_OK;
}

bool sync_reaches(const struct sync *s, const struct object_id *stream, uint64_t seq)
{
    const struct stream *st = sync_find(s, stream);
    return st && seq <= st->seq;
}

static enum err bad_snap(struct sync *s, struct errinfo *reterr)
{
    return errinfo_set(reterr, ERR_NOT_FOUND, s->dir, 0,
                       "the content is not that of the SNAP");
}

/* Makes the payload from the content, behind the stored header. */
static enum err make_payload(struct sync *s, struct stream *st, struct buf *ret,
                             struct errinfo *reterr)
{
    struct made_snap *m = &s->made;
    struct object o;
    struct hash256 hash;
    uint64_t records = 0;
    enum err e = object_parse(buf_slice(ret), &o, reterr);
    if (e == ERR_OK && sync_ops(st->key.kind)->snap) {
        e = sync_ops(st->key.kind)->snap(s, st, ret, &records, reterr);
    }
    if (e != ERR_OK) {
        return e;
    }
    buf_fini(&m->bytes);
    buf_init(&m->bytes, SYNC_MADE_MAX);
    hash256_of(slice_from(buf_slice(ret), OBJECT_HEADER_BYTES), &hash);
    m->is_bad = !hash256_equal(&hash, &o.payload);
    m->until_ms = sync_now_ms() + SYNC_RETRY_S * UINT64_C(1000);
    if (!m->is_bad) {
        buf_add(&m->bytes, buf_slice(ret));
    }
    m->stream = st->id;
    m->seq = buf_failed(&m->bytes) ? 0 : st->snap_seq; /* too large: not kept */
    return m->is_bad ? bad_snap(s, reterr) : ERR_OK;
}

static bool is_made(const struct sync *s, const struct stream *st)
{
    const struct made_snap *m = &s->made;
    const uint64_t now = sync_now_ms();
    return m->seq == st->snap_seq && object_id_equal(&m->stream, &st->id) &&
           (!m->is_bad ||
            (now < m->until_ms && m->until_ms <= now + SYNC_RETRY_S * UINT64_C(1000)));
}

static enum err make_snap(struct sync *s, struct stream *st, struct buf *ret,
                          struct errinfo *reterr)
{
    if (is_made(s, st)) {
        buf_add(ret, buf_slice(&s->made.bytes));
        return s->made.is_bad ? bad_snap(s, reterr) : ERR_OK;
    }
    enum err e = sync_object_read(s, st, st->snap_seq, ret, reterr);
    if (e != ERR_OK || ret->n > OBJECT_HEADER_BYTES) {
        return e; /* it is stored with its payload */
    }
    return st->applied < st->seq
               ? errinfo_set(reterr, ERR_NOT_FOUND, s->dir, 0, "it is not applied yet")
               : make_payload(s, st, ret, reterr);
}

enum err sync_snap(struct sync *s, const struct object_id *stream, uint64_t seq,
                   struct buf *ret, struct errinfo *reterr)
{
    struct stream *st = sync_find(s, stream);
    struct buf bytes;
    if (!st || st->snap_seq != seq || seq == 0) {
        return errinfo_set(reterr, ERR_NOT_FOUND, s->dir, 0, "there is no such SNAP");
    }
    buf_init(&bytes, (size_t)OBJECT_SNAP_MAX + OBJECT_HEADER_BYTES);
    enum err e = make_snap(s, st, &bytes, reterr);
    if (e == ERR_OK) {
        buf_add(ret, buf_slice(&bytes));
        e = buf_failed(&bytes) || buf_failed(ret) ? errinfo_nomem(reterr, s->dir)
                                                  : ERR_OK;
    }
    buf_fini(&bytes);
    return e;
}

/* ---- wants ---- */

/* Lists first, they are few; then the newest buckets. */
static int by_need(const void *a, const void *b)
{
    const struct want *x = a;
    const struct want *y = b;
    const bool x_is = x->stream.kind == OBJECT_COUNT;
    const bool y_is = y->stream.kind == OBJECT_COUNT;
    if (x_is != y_is) {
        return x_is ? 1 : -1;
    }
    return x->stream.start_s > y->stream.start_s
               ? -1
               : x->stream.start_s < y->stream.start_s;
}

/* Whether sync_offer would accept objects of this time and origin. */
static bool may_want(struct sync *s, const struct head *h, const struct object_id *id)
{
    const struct origin *o = sync_origin(s, &h->stream.origin);
    const uint64_t now_s = sync_now_ms() / 1000;
    if (!o || o->state == MEMBER_DROPPED || !sync_is_exchanged(h->stream.kind) ||
        (o->is_distrusted && !sync_is_self(s, &o->id))) {
        return false;
    }
    if (h->stream.kind == OBJECT_COUNT) {
        return sync_takes_counts(s) && h->stream.start_s <= now_s + OBJECT_BUCKET_S &&
               h->stream.start_s + SYNC_ACCEPT_S >= now_s && !sync_is_refused(s, id);
    }
    const struct stream *newest = sync_newest(o, h->stream.kind, h->stream.list);
    return (!newest || newest->key.inc <= h->stream.inc) && !sync_is_refused(s, id);
}

static bool want_of(struct sync *s, const struct head *h, struct want *ret)
{
    struct object_id id;
    stream_key_id(&h->stream, &id);
    const struct stream *st = sync_find(s, &id);
    const uint64_t seq = st ? st->seq : 0;
    *ret = (struct want){.kind = WANT_CHAIN, .stream = h->stream};
    if (st && h->seq == seq && !hash256_equal(&h->hash, &st->hash)) {
        ret->from = seq; /* two histories: the header is the proof */
        ret->to = seq;
        return h->from <= seq && may_want(s, h, &id);
    }
    if (h->seq <= seq || (st && (st->flags & OBJECT_CLOSED) != 0) ||
        !may_want(s, h, &id) || (!st && sync_is_buried(s, &id))) {
        return false;
    }
    const bool is_far = seq == 0 && h->snap_seq == h->seq && h->seq > FEW_OBJECTS;
    if (h->from <= seq + 1 && !is_far) {
        ret->from = seq + 1;
        ret->to = h->seq;
        return true;
    }
    ret->kind = WANT_SNAP;
    ret->from = h->snap_seq;
    ret->to = h->snap_seq;
    ret->hash = h->snap;
    return h->snap_seq > seq;
}

size_t sync_wants(struct sync *s, const struct heads *heads, struct want *ret,
                  size_t most)
{
    struct want *v = calloc(heads->n + 1, sizeof(*v));
    size_t n = 0;
    for (size_t i = 0; v && i < heads->n; i++) {
        n += want_of(s, &heads->v[i], &v[n]);
    }
    if (v && n > 1) {
        qsort(v, n, sizeof(*v), by_need);
    }
    n = n < most ? n : most;
    if (v && n > 0) {
        memcpy(ret, v, n * sizeof(*v));
    }
    free(v);
    return n;
}

size_t sync_hear(struct sync *s, const struct heads *heads, sync_heard_fn *fn,
                 void *context)
{
    size_t n = 0;
    for (size_t i = 0; i < heads->nheartbeats; i++) {
        struct slice object = heads->heartbeats[i];
        struct object o;
        struct errinfo why = {.code = ERR_OK};
        const bool is_proof =
            object_parse(object, &o, NULL) == ERR_OK && o.type == OBJECT_PROOF;
        if (is_proof && heads->nheartbeats - i > 2) { /* its headers follow it */
            object.n += SYNC_PROOF_BYTES;
            i += 2;
        }
        enum sync_result r = sync_offer(s, object, &why);
        n += r == SYNC_APPLIED;
        if (fn) {
            fn(context, r, &why);
        }
    }
    return n;
}

bool sync_knows_itself(struct sync *s, const struct heads *heads)
{
    bool knows = true;
    for (size_t i = 0; i < heads->n; i++) {
        const struct head *h = &heads->v[i];
        struct object_id id;
        if (!sync_is_self(s, &h->stream.origin)) {
            continue;
        }
        stream_key_id(&h->stream, &id);
        struct stream *st = sync_find(s, &id);
        /* heads are not signed: a liar can force a new stream once in the life of a process */
        if (st && h->seq > st->seq && !st->is_left && !st->is_signed_here) {
            st->is_left =
                true; /* its objects come back, and another stream continues */
            if (sync_save(s, st, NULL) != ERR_OK) {
                st->is_left = false;
            }
        }
        knows = knows && (st ? h->seq <= st->seq : sync_is_buried(s, &id));
    }
    return knows;
}
