/* payload - records into columns, and how long these can be. */
#include "core/ring/stream/payload.h"

#include "core/ring/stream/leb128.h"

bool payload_length_is_possible(uint16_t kind, uint64_t records, uint64_t raw_len)
{
    static const struct {
        uint64_t least; /* bytes of a record */
        uint64_t most;
    } limits[] = {[OBJECT_COUNT] = {PAYLOAD_COUNT_MIN, PAYLOAD_COUNT_MAX},
                  [OBJECT_LIST] = {PAYLOAD_LIST_MIN, PAYLOAD_LIST_MAX},
                  [OBJECT_TEXT] = {PAYLOAD_TEXT_MIN, PAYLOAD_TEXT_MAX}};
    if (kind == OBJECT_MEMBER || kind == OBJECT_MEMBER_REVOKED) {
        return raw_len > 0; /* the filter's own reader knows */
    }
    if (kind >= LENGTH(limits) || limits[kind].most == 0) {
        return false;
    }
    if (records == 0) {
        return raw_len == 0;
    }
    return raw_len / limits[kind].least >= records &&
           (raw_len - 1) / limits[kind].most < records;
}

/* ---- columns ---- */

/* Collects bytes, because a call for each would be slow. */
struct column {
    struct buf *to;
    size_t n;
    uint8_t bytes[4096];
};

static void flush_column(struct column *c)
{
    buf_add(c->to, slice_of(c->bytes, c->n));
    c->n = 0;
}

static void put_number(struct column *c, uint64_t v)
{
    if (sizeof(c->bytes) - c->n < LEB128_MAX) {
        flush_column(c);
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
    flush_column(&c);
}

/* The columns that LIST and TEXT have in common. */
static void print_states(struct column *c, const struct list_record *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (c->n == sizeof(c->bytes)) {
            flush_column(c);
        }
        c->bytes[c->n++] = (uint8_t)(v[i].before << 4 | v[i].after);
    }
    for (size_t i = 0; i < n; i++) {
        put_number(c, v[i].type);
    }
    for (size_t i = 0; i < n; i++) {
        put_number(c, v[i].expiry_h);
    }
    flush_column(c);
}

void payload_print_list(const struct list_record *v, size_t n, struct buf *ret)
{
    struct column c = {.to = ret, .n = 0};
    for (size_t i = 0; i < n; i++) {
        buf_add(ret, slice_of(v[i].digest.b, DIGEST_BYTES));
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
