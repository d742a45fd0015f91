/* payload - records into columns, and how long these can be. */
#include "core/ring/stream/payload.h"

#include "core/ring/stream/leb128.h"

bool payload_length_is_possible(uint16_t kind, uint64_t records, uint64_t raw_len)
{
    uint64_t least = 0;
    uint64_t most = 0;
    switch (kind) {
    case OBJECT_COUNT:
        least = PAYLOAD_COUNT_MIN;
        most = PAYLOAD_COUNT_MAX;
        break;
    case OBJECT_LIST:
        least = PAYLOAD_LIST_MIN;
        most = PAYLOAD_LIST_MAX;
        break;
    case OBJECT_TEXT:
        least = PAYLOAD_TEXT_MIN;
        most = PAYLOAD_TEXT_MAX;
        break;
    case OBJECT_MEMBER:
    case OBJECT_MEMBER_REVOKED:
        return raw_len > 0; /* the filter's own reader knows */
    default:
        return false;
    }
    if (records == 0) {
        return raw_len == 0;
    }
    return raw_len / least >= records && (raw_len - 1) / most < records;
}

/* ---- columns ---- */

/* Collects what would be a call for each byte. */
struct column {
    struct buf *to;
    size_t n;
    uint8_t bytes[4096];
};

static void flush(struct column *c)
{
    buf_add(c->to, slice_of((const char *)c->bytes, c->n));
    c->n = 0;
}

static void put_number(struct column *c, uint64_t v)
{
    if (sizeof(c->bytes) - c->n < LEB128_MAX) {
        flush(c);
    }
    c->n += leb128_put(c->bytes + c->n, v);
}

void payload_print_counts(const struct count_record *v, size_t n, struct buf *ret)
{
    struct column c = {.to = ret, .n = 0};
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        put_number(&c, v[i].key - last);
        last = v[i].key;
    }
    for (size_t i = 0; i < n; i++) {
        put_number(&c, v[i].count);
    }
    flush(&c);
}

/* The columns that LIST and TEXT have in common. */
static void print_states(struct column *c, const struct list_record *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (c->n == sizeof(c->bytes)) {
            flush(c);
        }
        c->bytes[c->n++] = (uint8_t)(v[i].before << 4 | v[i].after);
    }
    for (size_t i = 0; i < n; i++) {
        put_number(c, v[i].type);
    }
    for (size_t i = 0; i < n; i++) {
        put_number(c, v[i].expiry_h);
    }
    flush(c);
}

void payload_print_list(const struct list_record *v, size_t n, struct buf *ret)
{
    struct column c = {.to = ret, .n = 0};
    for (size_t i = 0; i < n; i++) {
        buf_add(ret, slice_of((const char *)v[i].digest.b, DIGEST_BYTES));
    }
    print_states(&c, v, n);
}

void payload_print_texts(const struct list_record *v, size_t n, struct buf *ret)
{
    struct column c = {.to = ret, .n = 0};
    for (size_t i = 0; i < n; i++) {
        put_number(&c, v[i].text.n);
    }
    print_states(&c, v, n);
    for (size_t i = 0; i < n; i++) {
        buf_add(ret, v[i].text);
    }
}
