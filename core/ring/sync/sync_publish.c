/* sync_publish - own streams: each place is signed once, and durable before a peer can see it. */

#include "core/base/log.h"
#include "core/ring/sync/peerlist.h"
#include "core/ring/sync/sync_modules.h"

/* ---- one object ---- */

bool sync_may_go_on(const struct sync *s, const struct stream *st)
{
    return !st->is_left && st->own_seq == st->seq && (st->flags & OBJECT_CLOSED) == 0 &&
           (st->seq == 0 || st->key_id == object_key_id(s->self->signing.key));
}

bool sync_may_continue(const struct sync *s, const struct stream *st)
{
    return sync_may_go_on(s, st) && st->key.ring_key == s->keys->ring[0].id;
}

enum err sync_may_publish(const struct sync *s, struct errinfo *reterr)
{
    const struct origin *self = sync_origin(s, &s->self->origin);
    if (!self || self->state != MEMBER_ACTIVE) {
        return errinfo_set(
            reterr, ERR_DENIED, s->dir, 0,
            "this server is no member of the ring; see `gillnet peer list`");
    }
    return manifest_has_ring_key(&s->manifest, s->keys->ring[0].id)
               ? ERR_OK
               : errinfo_set(reterr, ERR_KEY, s->dir, 0,
                             "the ring's manifest does not have the digest key that "
                             "this server counts with; see `gillnet peer status`");
}

static enum err sign(struct sync *s, struct offer *f, struct buf *header,
                     struct errinfo *reterr)
{
    const struct stream *st = f->stream;
    const uint64_t now = sync_now_ms();
    const uint64_t since = s->self->signing.not_before_ms;
    struct object *o = &f->o;
    o->ring = s->manifest.ring;
    o->key_id = object_key_id(s->self->signing.key);
    o->stream = st->key;
    o->seq = st->seq + 1;
    o->base_seq = o->type == OBJECT_DELTA ? st->seq : 0;
    o->prev = st->hash;
    o->sent_len = f->payload.n;
    o->created_ms = now > since ? now : since;
    root_print(&f->root, &o->root);
    if (f->sum) {
        o->payload = *f->sum;
    } else {
        hash256_of(f->payload, &o->payload);
    }
    enum err e = object_sign(o, s->self->signing_secret, header);
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, s->dir, 0, "cannot sign an object");
    }
    f->header = buf_slice(header);
    object_hash(f->header, &f->hash);
    f->is_own = true;
    f->origin = st->origin;
    return ERR_OK;
}

enum err sync_publish(struct sync *s, struct offer *f, struct errinfo *reterr)
{
    struct buf header;
    struct object parsed;
    struct errinfo why;
    if (sync_object_is_there(s, f->stream, f->stream->seq + 1)) {
        /* signed before a failure: only those bytes may be published */
        return sync_adopt(s, f->stream, f->stream->seq + 1)
                   ? errinfo_set(reterr, ERR_EXISTS, s->dir, 0,
                                 "an object that was signed before is taken first")
                   : errinfo_set(reterr, ERR_IO, s->dir, 0,
                                 "an object that was signed before cannot be read");
    }
    buf_init(&header, OBJECT_HEADER_BYTES);
    enum err e = sync_catch_up(s, f->stream, reterr);
    THEN(e, sign(s, f, &header, reterr));
    THEN(e, object_parse(f->header, &parsed, reterr));
    if (e == ERR_OK && f->o.type == OBJECT_SNAP && f->is_same &&
        sync_ops(f->o.stream.kind)->snap) {
        f->payload = SLICE_NONE; /* any holder of the stream can make it */
        f->has_payload = false;
    }
    THEN(e, sync_keep(s, f, reterr));
    f->stream->is_signed_here = f->stream->is_signed_here || e == ERR_OK;
    if (e == ERR_OK && sync_apply(s, f, &why) != ERR_OK) {
        log_errinfo("peers", &why); /* it is stored: sync_tick applies it */
    }
    buf_fini(&header);
    return e;
}

enum err sync_publish_delta(struct sync *s, struct offer *f, struct errinfo *reterr)
{
    struct buf packed;
    const struct stream_key *key = &f->stream->key;
    buf_init(&packed, OBJECT_PACKED_MAX);
    f->o.type = OBJECT_DELTA;
    f->o.stream = *key;
    f->o.seq = f->stream->seq + 1;
    f->records = buf_slice(&f->raw);
    f->o.raw_len = f->records.n;
    enum err e = buf_failed(&f->raw) ? ERR_NOMEM : payload_pack(f->records, &packed);
    if (e != ERR_OK || buf_failed(&packed)) {
        e = errinfo_nomem(reterr, s->dir);
    }
    THEN(e, payload_reader_init(&f->reader, key->kind, false, f->o.records, f->records,
                                reterr));
    f->payload = buf_slice(&packed);
    f->has_payload = true;
    if (e == ERR_OK && key->kind == OBJECT_LIST) {
        e = peerlist_check(s->lists, &f->o, &f->reader, reterr);
    }
    THEN(e, sync_publish(s, f, reterr));
    offer_fini(f);
    buf_fini(&packed);
    return e;
}

/* ---- published counts of a bucket ---- */

static void published_fini(struct published *p)
{
    content_fini(&p->counts);
    *p = (struct published){.is_known = false};
}

void sync_forget_published(struct sync *s, uint64_t start_s)
{
    for (unsigned i = 0; i < SYNC_PUBLISHED_MAX; i++) {
        if (start_s == 0 || s->published[i].start_s == start_s) {
            published_fini(&s->published[i]);
        }
    }
}

static enum err add_stream(struct sync *s, struct published *p, struct stream *st,
                           struct errinfo *reterr)
{
    struct content c = {.v = NULL};
    enum err e = sync_count_own(s, st, &c, reterr);
    if (e == ERR_NOT_FOUND) { /* all of it: a count too few is better than one twice */
        e = sync_count_content(s, st, &c, reterr);
    }
    for (size_t i = 0; e == ERR_OK && i < c.n; i++) {
        content_add(&p->counts, c.v[i].key, c.v[i].count);
    }
    content_fini(&c);
    return e;
}

/* The published counts, made from the own streams of that bucket if they are not in memory. */
static enum err published_of(struct sync *s, uint64_t start_s, struct published **ret,
                             struct errinfo *reterr)
{
    struct published *oldest = &s->published[0];
    enum err e = ERR_OK;
    for (unsigned i = 0; i < SYNC_PUBLISHED_MAX; i++) {
        struct published *p = &s->published[i];
        if (p->is_known && p->start_s == start_s) {
            *ret = p;
            return ERR_OK;
        }
        oldest = p->start_s < oldest->start_s ? p : oldest;
    }
    published_fini(oldest);
    oldest->start_s = start_s;
    struct stream *st = sync_origin(s, &s->self->origin)->streams;
    for (; e == ERR_OK && st; st = st->of_origin) {
        if (st->key.kind == OBJECT_COUNT && st->key.start_s == start_s &&
            st->key.ring_key == s->keys->ring[0].id) {
            e = add_stream(s, oldest, st, reterr);
        }
    }
    THEN(e, content_sort(&oldest->counts, reterr));
    if (e != ERR_OK) {
        published_fini(oldest);
        return e;
    }
    oldest->is_known = true;
    *ret = oldest;
    return ERR_OK;
}

/* ---- counts ---- */

/* The open stream of that bucket if this process began it; else a new one. */
static enum err count_stream(struct sync *s, uint64_t start_s, struct stream **ret,
                             struct errinfo *reterr)
{
    struct origin *self = sync_origin(s, &s->self->origin);
    struct stream_key k = {.origin = s->self->origin,
                           .start_s = start_s,
                           .len_s = OBJECT_BUCKET_S,
                           .ring_key = s->keys->ring[0].id,
                           .kind = OBJECT_COUNT};
    unsigned nincs = 0;
    bool is_used = false;
    for (struct stream *st = self->streams; st; st = st->of_origin) {
        if (st->key.kind != OBJECT_COUNT || st->key.start_s != start_s) {
            continue;
        }
        nincs++;
        is_used = is_used || st->key.inc == s->inc;
        if (st->is_begun_here && sync_may_continue(s, st)) {
            *ret = st;
            return ERR_OK;
        }
    }
    if (nincs >= SYNC_INCS_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, s->dir, 0,
                           "the hub was started more than %d times in this bucket: its "
                           "counts stay here",
                           SYNC_INCS_MAX);
    }
    if (is_used) { /* that stream has ended */
        s->inc = sync_fresh_inc(s);
    }
    k.inc = s->inc;
    *ret = sync_add(s, &k, self);
    if (!*ret) {
        return errinfo_nomem(reterr, s->dir);
    }
    (*ret)->is_begun_here = true;
    return ERR_OK;
}

static enum err count_part(struct sync *s, uint64_t start_s,
                           const struct count_record *v, size_t n,
                           struct errinfo *reterr)
{
    struct offer f = {.o = {.records = n}};
    enum err e = count_stream(s, start_s, &f.stream, reterr);
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&f.raw, OBJECT_RAW_MAX);
    payload_print_counts(v, n, &f.raw);
    f.root = f.stream->root;
    for (size_t i = 0; i < n; i++) {
        f.o.total += v[i].count;
    }
    root_add_counts(&f.root, &s->manifest.ring, v, n);
    e = sync_publish_delta(s, &f, reterr);
    if (f.stream->seq == 0) {
        sync_forget(s, f.stream);
    }
    return e;
}

struct count_publisher {
    struct count_record *v;
    size_t n;
};

/* The counts in totals that are not published; ret->v has room for n. */
static enum err differences(const struct published *p,
                            const struct count_record *totals, size_t n,
                            struct count_publisher *ret, struct errinfo *reterr)
{
    size_t k = 0;
    ret->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (totals[i].key == 0 || (i > 0 && totals[i].key <= totals[i - 1].key)) {
            return errinfo_set(reterr, ERR_RANGE, "counts", 0, "keys must rise");
        }
        while (k < p->counts.n && p->counts.v[k].key < totals[i].key) {
            k++;
        }
        const bool is_there = k < p->counts.n && p->counts.v[k].key == totals[i].key;
        const uint64_t has = is_there ? p->counts.v[k].count : 0;
        if (totals[i].count > has) {
            ret->v[ret->n++] =
                (struct count_record){totals[i].key, totals[i].count - has};
        }
    }
    return ERR_OK;
}

static enum err publish_differences(struct sync *s, uint64_t start_s,
                                    struct published *p,
                                    const struct count_publisher *c,
                                    struct errinfo *reterr)
{
    const struct origin *self = sync_origin(s, &s->self->origin);
    const uint64_t quota = sync_quota(s, self);
    enum err e = ERR_OK;
    if (sync_quota_used(self, start_s) + c->n > quota) {
        return errinfo_set(reterr, ERR_LIMIT, s->dir, 0,
                           "more than the %" PRIu64
                           " records that the manifest lets this "
                           "server share in one bucket; the rest counts here alone",
                           quota);
    }
    for (size_t i = 0; i < c->n && e == ERR_OK; i += SYNC_COUNT_PART) {
        const size_t part = c->n - i < SYNC_COUNT_PART ? c->n - i : SYNC_COUNT_PART;
        e = count_part(s, start_s, c->v + i, part, reterr);
        for (size_t k = i; e == ERR_OK && k < i + part; k++) {
            content_add(&p->counts, c->v[k].key, c->v[k].count);
        }
    }
    return e == ERR_OK ? content_sort(&p->counts, reterr) : e;
}

enum err sync_publish_counts(struct sync *s, uint64_t start_s,
                             const struct count_record *totals, size_t n,
                             struct errinfo *reterr)
{
    struct published *p = NULL;
    struct count_publisher more = {.n = 0};
    enum err e = sync_may_publish(s, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (start_s == 0 || start_s % OBJECT_BUCKET_S != 0) {
        return errinfo_set(reterr, ERR_RANGE, s->dir, 0, "no bucket begins then");
    }
    if (start_s < s->counts_from_s) {
        return ERR_OK;
    }
    more.v = malloc((n + 1) * sizeof(*more.v));
    if (!more.v) {
        return errinfo_nomem(reterr, s->dir);
    }
    do {
        e = published_of(s, start_s, &p, reterr);
        THEN(e, differences(p, totals, n, &more, reterr));
        if (e == ERR_OK && more.n > 0) {
            e = publish_differences(s, start_s, p, &more, reterr);
        }
        if (e != ERR_OK) {
            sync_forget_published(s, start_s); /* made again from the stored objects */
        }
    } while (e == ERR_EXISTS);
    free(more.v);
    return e;
}

enum err sync_close_stream(struct sync *s, struct stream *st, struct errinfo *reterr)
{
    struct buf whole;
    struct offer f = {.o = {.type = OBJECT_SNAP, .flags = OBJECT_CLOSED},
                      .stream = st,
                      .root = st->root,
                      .is_same = true};
    buf_init(&whole, OBJECT_SNAP_MAX);
    enum err e = sync_count_ops.snap(s, st, &whole, &f.o.records, reterr);
    f.payload = buf_slice(&whole);
    f.o.raw_len = whole.n;
    f.o.total = st->total;
    THEN(e, sync_publish(s, &f, reterr));
    buf_fini(&whole);
    return e;
}

enum err sync_close_counts(struct sync *s, uint64_t start_s, struct errinfo *reterr)
{
    enum err e = sync_may_publish(s, reterr);
    struct stream *next = NULL;
    struct stream *st = e == ERR_OK ? sync_origin(s, &s->self->origin)->streams : NULL;
    for (; e == ERR_OK && st; st = next) {
        next = st->of_origin;
        if (st->key.kind == OBJECT_COUNT && st->key.start_s == start_s &&
            st->is_begun_here && sync_may_continue(s, st) && st->seq > 0) {
            e = sync_close_stream(s, st, reterr);
        }
    }
    if (e == ERR_OK) {
        sync_forget_published(s, start_s);
    }
    return e == ERR_EXISTS ? sync_close_counts(s, start_s, reterr) : e;
}
