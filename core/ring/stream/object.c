/* object - headers as bytes: printing, and the checks that need no other knowledge. */
#include "core/ring/stream/object.h"

#include "core/base/random.h"
#include "core/ring/stream/object_internal.h"
#include "core/ring/stream/payload.h"

enum { MINOR = 0, RESERVED = 40, PROOF_HEADERS = 2, INC_RANDOM_BITS = 22 };

static const char magic[4] = {'G', 'N', 'X', 'O'};

bool object_id_equal(const struct object_id *a, const struct object_id *b)
{
    return memcmp(a->b, b->b, OBJECT_ID_BYTES) == 0;
}

struct object_id_hex object_id_hex(const struct object_id *id)
{
    struct object_id_hex hex = {.digits = ""};
    hex_print(id->b, OBJECT_ID_BYTES, hex.digits);
    return hex;
}

static bool is_zero(const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    uint8_t all = 0;
    for (size_t i = 0; i < n; i++) {
        all |= p[i];
    }
    return all == 0;
}

bool stream_key_equal(const struct stream_key *a, const struct stream_key *b)
{
    return object_id_equal(&a->origin, &b->origin) && a->inc == b->inc &&
           a->start_s == b->start_s && a->len_s == b->len_s &&
           a->ring_key == b->ring_key && a->kind == b->kind &&
           strncmp(a->list, b->list, OBJECT_NAME_BYTES) == 0;
}

/* ---- the stream's fields ---- */

static void add_bytes(struct buf *b, const void *bytes, size_t n)
{
    buf_add(b, slice_of(bytes, n));
}

void stream_key_print(const struct stream_key *k, struct buf *ret)
{
    static const char zeros[6];
    char list[OBJECT_NAME_BYTES] = {0};
    memcpy(list, k->list, strnlen(k->list, OBJECT_NAME_BYTES));
    add_bytes(ret, k->origin.b, OBJECT_ID_BYTES);
    buf_add_u64(ret, k->inc);
    buf_add_u64(ret, k->start_s);
    buf_add_u32(ret, k->len_s);
    buf_add_u32(ret, k->ring_key);
    buf_add_u16(ret, k->kind);
    add_bytes(ret, zeros, sizeof(zeros));
    add_bytes(ret, list, sizeof(list));
}

bool zeros_read(struct cursor *c, size_t n)
{
    struct slice s = cursor_bytes(c, n);
    return cursor_ok(c) && is_zero(s.p, s.n);
}

bool stream_key_read(struct cursor *c, struct stream_key *ret)
{
    struct stream_key k = {0};
    cursor_copy(c, k.origin.b, OBJECT_ID_BYTES);
    k.inc = cursor_u64(c);
    k.start_s = cursor_u64(c);
    k.len_s = cursor_u32(c);
    k.ring_key = cursor_u32(c);
    k.kind = cursor_u16(c);
    bool has_zeros = zeros_read(c, 6);
    cursor_copy(c, k.list, OBJECT_NAME_BYTES);
    const size_t n = strlen(k.list); /* its last byte is never written */
    if (!cursor_ok(c) || !has_zeros || !is_zero(k.list + n, OBJECT_NAME_BYTES - n)) {
        return false;
    }
    *ret = k;
    return true;
}

bool object_name_is_valid(struct slice name)
{
    for (size_t i = 0; i < name.n; i++) {
        const char c = name.p[i];
        bool is_first = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!is_first && (i == 0 || (c != '_' && c != '-'))) {
            return false;
        }
    }
    return name.n > 0 && name.n <= OBJECT_NAME_BYTES;
}

const char *stream_key_fault(const struct stream_key *k)
{
    const bool is_count = k->kind == OBJECT_COUNT;
    if (is_zero(k->origin.b, OBJECT_ID_BYTES)) {
        return "origin";
    }
    if (k->kind != OBJECT_NONE && k->inc == 0) {
        return "inc";
    }
    if (is_count ? k->start_s == 0 || k->start_s % OBJECT_BUCKET_S != 0
                 : k->start_s != 0) {
        return "start";
    }
    if (k->len_s != (is_count ? (uint32_t)OBJECT_BUCKET_S : 0)) {
        return "length of the bucket";
    }
    if ((k->kind == OBJECT_TEXT || k->kind == OBJECT_NONE) && k->ring_key != 0) {
        return "digest key";
    }
    if (is_count || k->kind == OBJECT_NONE
            ? k->list[0] != '\0'
            : !object_name_is_valid(slice_str(k->list))) {
        return "list";
    }
    return NULL;
}

void stream_key_id(const struct stream_key *k, struct object_id *ret)
{
    struct hash256 hash;
    struct buf b;
    buf_init(&b, STREAM_KEY_BYTES);
    stream_key_print(k, &b);
    hash256_of(buf_slice(&b), &hash);
    buf_fini(&b);
    memcpy(ret->b, hash.b, OBJECT_ID_BYTES);
}

uint64_t stream_next_inc(uint64_t now_ms, uint64_t newest)
{
    uint32_t noise = 0;
    random_bytes(&noise, sizeof(noise));
    newest >>= INC_RANDOM_BITS;
    now_ms = now_ms > newest ? now_ms : newest + 1;
    return now_ms << INC_RANDOM_BITS | (noise & ((1U << INC_RANDOM_BITS) - 1));
}

/* ---- the header ---- */

void object_print(const struct object *o, struct buf *ret)
{
    static const char zeros[RESERVED];
    add_bytes(ret, magic, sizeof(magic));
    buf_add_u8(ret, OBJECT_VERSION_MAJOR);
    buf_add_u8(ret, MINOR);
    buf_add_u16(ret, o->type);
    buf_add_u16(ret, o->flags);
    add_bytes(ret, zeros, 6);
    add_bytes(ret, o->ring.b, OBJECT_ID_BYTES);
    stream_key_print(&o->stream, ret);
    buf_add_u64(ret, o->key_id);
    buf_add_u64(ret, o->seq);
    buf_add_u64(ret, o->base_seq);
    add_bytes(ret, o->prev.b, HASH256_BYTES);
    add_bytes(ret, o->root.b, HASH256_BYTES);
    add_bytes(ret, o->payload.b, HASH256_BYTES);
    buf_add_u64(ret, o->records);
    buf_add_u64(ret, o->total);
    buf_add_u64(ret, o->raw_len);
    buf_add_u64(ret, o->sent_len);
    buf_add_u64(ret, o->created_ms);
    buf_add_u64(ret, o->expires_ms);
    add_bytes(ret, zeros, RESERVED);
}

void object_hash(struct slice header, struct hash256 *ret)
{
    hash256_of(slice_head(header, OBJECT_SIGNED_BYTES), ret);
}

bool object_has_payload(const struct object *o, struct slice payload)
{
    struct hash256 hash;
    hash256_of(payload, &hash);
    return hash256_equal(&hash, &o->payload);
}

static enum err read_begin(struct cursor *c, struct object *ret, bool *retis_later,
                           struct errinfo *reterr)
{
    struct slice mark = cursor_bytes(c, sizeof(magic));
    if (!slice_eq(mark, slice_of(magic, sizeof(magic)))) {
        return errinfo_set(reterr, ERR_SYNTAX, "magic", 0, "this is no object");
    }
    unsigned major = cursor_u8(c);
    if (major != OBJECT_VERSION_MAJOR) {
        return errinfo_set(reterr, ERR_VERSION, "version", 0,
                           "the object is of version %u, this gillnet knows %d", major,
                           OBJECT_VERSION_MAJOR);
    }
    *retis_later = cursor_u8(c) > MINOR;
    ret->type = cursor_u16(c);
    ret->flags = cursor_u16(c);
    if (!zeros_read(c, 6)) {
        return errinfo_set(reterr, ERR_SYNTAX, "reserved", 0,
                           "bytes that must be zero are not");
    }
    return ERR_OK;
}

static enum err read_rest(struct cursor *c, struct object *ret, struct errinfo *reterr)
{
    cursor_copy(c, ret->ring.b, OBJECT_ID_BYTES);
    if (!stream_key_read(c, &ret->stream)) {
        return errinfo_set(reterr, ERR_SYNTAX, "stream", 0,
                           "bytes that must be zero are not");
    }
    ret->key_id = cursor_u64(c);
    ret->seq = cursor_u64(c);
    ret->base_seq = cursor_u64(c);
    cursor_copy(c, ret->prev.b, HASH256_BYTES);
    cursor_copy(c, ret->root.b, HASH256_BYTES);
    cursor_copy(c, ret->payload.b, HASH256_BYTES);
    ret->records = cursor_u64(c);
    ret->total = cursor_u64(c);
    ret->raw_len = cursor_u64(c);
    ret->sent_len = cursor_u64(c);
    ret->created_ms = cursor_u64(c);
    ret->expires_ms = cursor_u64(c);
    if (!zeros_read(c, RESERVED)) {
        return errinfo_set(reterr, ERR_SYNTAX, "reserved", 0,
                           "bytes that must be zero are not");
    }
    return ERR_OK;
}

static bool is_known(const struct object *o)
{
    switch (o->type) {
    case OBJECT_DELTA:
        return o->stream.kind == OBJECT_COUNT || o->stream.kind == OBJECT_LIST ||
               o->stream.kind == OBJECT_TEXT;
    case OBJECT_SNAP:
        return o->stream.kind >= OBJECT_COUNT &&
               o->stream.kind <= OBJECT_MEMBER_REVOKED;
    case OBJECT_HEARTBEAT:
    case OBJECT_PROOF:
        return o->stream.kind == OBJECT_NONE;
    default:
        return false;
    }
}

/* Place in the chain. Objects without a stream have none. */
static const char *chain_fault(const struct object *o)
{
    const bool has_stream = o->stream.kind != OBJECT_NONE;
    const bool may_close = o->type == OBJECT_SNAP && o->stream.kind == OBJECT_COUNT;
    if ((o->flags & ~OBJECT_CLOSED) != 0 || (o->flags != 0 && !may_close)) {
        return "flags";
    }
    if (o->seq == 0) {
        return "seq";
    }
    if (o->base_seq != (o->type == OBJECT_DELTA ? o->seq - 1 : 0)) {
        return "base_seq";
    }
    bool has_prev = !is_zero(o->prev.b, HASH256_BYTES);
    return has_prev == (has_stream && o->seq > 1) ? NULL : "prev";
}

static const char *records_fault(const struct object *o)
{
    const uint16_t kind = o->stream.kind;
    if (kind == OBJECT_NONE) {
        const uint64_t headers = o->type == OBJECT_PROOF ? PROOF_HEADERS : 0;
        return o->records != headers                         ? "records"
               : o->raw_len != headers * OBJECT_HEADER_BYTES ? "raw_len"
                                                             : NULL;
    }
    if (o->type == OBJECT_DELTA && o->records == 0) {
        return "records";
    }
    if (o->raw_len > (o->type == OBJECT_SNAP ? OBJECT_SNAP_MAX : OBJECT_RAW_MAX) ||
        !payload_length_is_possible(kind, o->records, o->raw_len)) {
        return "raw_len";
    }
    return NULL;
}

static bool sent_len_is_possible(const struct object *o)
{
    const bool is_delta = o->type == OBJECT_DELTA;
    if ((!is_delta && o->stream.kind != OBJECT_TEXT) || o->records == 0) {
        return o->sent_len == o->raw_len; /* not packed */
    }
    return o->sent_len > 0 &&
           o->sent_len <= (is_delta ? OBJECT_PACKED_MAX : OBJECT_SNAP_PACKED_MAX);
}

static const char *payload_fault(const struct object *o)
{
    const uint16_t kind = o->stream.kind;
    if (kind == OBJECT_COUNT
            ? o->total < o->records || (o->records == 0 && o->total != 0)
            : o->total != 0) {
        return "total";
    }
    if (!sent_len_is_possible(o)) {
        return "sent_len";
    }
    const bool is_filter = kind == OBJECT_MEMBER || kind == OBJECT_MEMBER_REVOKED;
    if (is_filter && !hash256_equal(&o->root, &o->payload)) {
        return "root";
    }
    return NULL;
}

static const char *time_fault(const struct object *o)
{
    if (o->created_ms == 0) {
        return "created";
    }
    bool is_good = o->type == OBJECT_HEARTBEAT ? o->expires_ms > o->created_ms
                                               : o->expires_ms == 0;
    return is_good ? NULL : "expires";
}

static const char *object_fault(const struct object *o)
{
    const char *field = stream_key_fault(&o->stream);
    field = field ? field : chain_fault(o);
    field = field ? field : records_fault(o);
    field = field ? field : payload_fault(o);
    return field ? field : time_fault(o);
}

enum err object_parse(struct slice header, struct object *ret, struct errinfo *reterr)
{
    struct object o = {0};
    bool is_later = false;
    if (header.n < OBJECT_HEADER_BYTES) {
        return errinfo_set(reterr, ERR_SYNTAX, "length", 0,
                           "an object has %d bytes at least, not %zu",
                           OBJECT_HEADER_BYTES, header.n);
    }
    struct cursor c = cursor_of(slice_head(header, OBJECT_SIGNED_BYTES));
    enum err e = read_begin(&c, &o, &is_later, reterr);
    THEN(e, read_rest(&c, &o, reterr));
    if (e != ERR_OK) {
        return e;
    }
    if (!is_known(&o)) {
        return errinfo_set(reterr, is_later ? ERR_UNSUPPORTED : ERR_SYNTAX, "type", 0,
                           "there is no type %u of kind %u", o.type, o.stream.kind);
    }
    const char *field = object_fault(&o);
    if (field) {
        return errinfo_set(reterr, ERR_RANGE, field, 0,
                           "an object of type %u and kind %u cannot have this %s",
                           o.type, o.stream.kind, field);
    }
    *ret = o;
    return ERR_OK;
}
