/* heads - answers of heads as bytes. */
#include "core/ring/stream/heads.h"

#include "core/ring/stream/object_internal.h"

enum { PADDING = 16 };

static const char magic[4] = {'G', 'N', 'X', 'H'};

static void print_head(const struct head *h, struct buf *ret)
{
    static const char zeros[PADDING];
    stream_key_print(&h->stream, ret);
    buf_add_u16(ret, h->flags);
    buf_add(ret, slice_of(zeros, 6));
    buf_add_u64(ret, h->seq);
    buf_add(ret, slice_of(h->hash.b, HASH256_BYTES));
    buf_add_u64(ret, h->from);
    buf_add_u64(ret, h->snap_seq);
    buf_add(ret, slice_of(h->snap.b, HASH256_BYTES));
    buf_add(ret, slice_of(zeros, PADDING));
}

void heads_print(const struct heads *h, struct buf *ret)
{
    buf_add(ret, slice_of(magic, sizeof(magic)));
    buf_add_u32(ret, (uint32_t)h->n);
    buf_add_u64(ret, h->version);
    for (size_t i = 0; i < h->n; i++) {
        print_head(&h->v[i], ret);
    }
    buf_add_u32(ret, (uint32_t)h->nheartbeats);
    for (size_t i = 0; i < h->nheartbeats; i++) {
        buf_add(ret, slice_head(h->heartbeats[i], OBJECT_HEADER_BYTES));
    }
}

static bool read_head(struct cursor *c, struct head *ret)
{
    struct head h = {0};
    bool is_good = stream_key_read(c, &h.stream);
    h.flags = cursor_u16(c);
    is_good = zeros_read(c, 6) && is_good;
    h.seq = cursor_u64(c);
    cursor_copy(c, h.hash.b, HASH256_BYTES);
    h.from = cursor_u64(c);
    h.snap_seq = cursor_u64(c);
    cursor_copy(c, h.snap.b, HASH256_BYTES);
    is_good = zeros_read(c, PADDING) && is_good;
    *ret = h;
    return is_good;
}

static const char *head_fault(const struct head *h)
{
    static const struct hash256 none;
    const char *field = stream_key_fault(&h->stream);
    if (field) {
        return field;
    }
    if ((h->flags & ~OBJECT_CLOSED) != 0 ||
        (h->flags != 0 && (h->stream.kind != OBJECT_COUNT || h->snap_seq != h->seq))) {
        return "flags";
    }
    if (h->seq == 0) {
        return "seq";
    }
    if (h->from == 0 || h->from - 1 > h->seq) {
        return "from";
    }
    if (h->snap_seq > h->seq) {
        return "snap_seq";
    }
    if (hash256_equal(&h->snap, &none) != (h->snap_seq == 0)) {
        return "snap";
    }
    if (h->snap_seq == h->seq && !hash256_equal(&h->snap, &h->hash)) {
        return "hash";
    }
    return NULL;
}

static enum err read_heads(struct cursor *c, size_t n, struct heads *ret,
                           struct errinfo *reterr)
{
    for (size_t i = 0; i < n; i++) {
        struct head h;
        if (!read_head(c, &h)) {
            return errinfo_set(reterr, ERR_SYNTAX, "reserved", 0,
                               "head %zu has bytes that must be zero and are not", i);
        }
        if (h.stream.kind == OBJECT_NONE) {
            return errinfo_set(reterr, ERR_SYNTAX, "kind", 0, "head %zu has none", i);
        }
        if (h.stream.kind > OBJECT_MEMBER_REVOKED) {
            continue; /* of a later version: of no use here */
        }
        const char *field = head_fault(&h);
        if (field) {
            return errinfo_set(reterr, ERR_SYNTAX, field, 0,
                               "head %zu cannot have this %s", i, field);
        }
        ret->v[ret->n++] = h;
    }
    return ERR_OK;
}

/* n things of `size` bytes each are no more than most, and the rest may hold as many. */
static enum err check_number(const struct cursor *c, const char *what, size_t n,
                             size_t most, size_t size, struct errinfo *reterr)
{
    if (!cursor_ok(c) || c->rest.n / size < n) {
        return errinfo_set(reterr, ERR_SYNTAX, what, 0, "the answer is cut off");
    }
    return n <= most ? ERR_OK
                     : errinfo_set(reterr, ERR_LIMIT, what, 0, "%zu are more than %zu",
                                   n, most);
}

static enum err read_heartbeats(struct cursor *c, struct heads *ret,
                                struct errinfo *reterr)
{
    const size_t n = cursor_u32(c);
    enum err e =
        check_number(c, "heartbeats", n, HEARTBEATS_MAX, OBJECT_HEADER_BYTES, reterr);
    if (e != ERR_OK) {
        return e;
    }
    ret->heartbeats = calloc(n + 1, sizeof(*ret->heartbeats));
    if (!ret->heartbeats) {
        return errinfo_nomem(reterr, "heartbeats");
    }
    for (size_t i = 0; i < n; i++) {
        ret->heartbeats[ret->nheartbeats++] = cursor_bytes(c, OBJECT_HEADER_BYTES);
    }
    return cursor_done(c) ? ERR_OK
                          : errinfo_set(reterr, ERR_SYNTAX, "length", 0,
                                        "%zu bytes too many", c->rest.n);
}

enum err heads_parse(struct slice bytes, struct heads *ret, struct errinfo *reterr)
{
    struct heads h = {0};
    struct cursor c = cursor_of(bytes);
    struct slice mark = cursor_bytes(&c, sizeof(magic));
    if (!slice_eq(mark, slice_of(magic, sizeof(magic)))) {
        return errinfo_set(reterr, ERR_SYNTAX, "magic", 0, "these are no heads");
    }
    const size_t n = cursor_u32(&c);
    h.version = cursor_u64(&c);
    enum err e = check_number(&c, "heads", n, HEADS_MAX, HEAD_BYTES, reterr);
    if (e != ERR_OK) {
        return e;
    }
    h.v = calloc(n + 1, sizeof(*h.v));
    if (!h.v) {
        return errinfo_nomem(reterr, "heads");
    }
    e = read_heads(&c, n, &h, reterr);
    THEN(e, read_heartbeats(&c, &h, reterr));
    if (e != ERR_OK) {
        heads_fini(&h);
        return e;
    }
    *ret = h;
    return ERR_OK;
}

void heads_fini(struct heads *h)
{
    free(h->v);
    free(h->heartbeats);
    *h = (struct heads){0};
}
