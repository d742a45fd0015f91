/* root - sums of hashes modulo 2^256, in four words. */
#include "core/peer/root.h"

#include <stddef.h>
#include <string.h>

enum { WORDS = 4, HEAD_MAX = 48 };

static uint64_t le64(const uint8_t *p)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < sizeof(v); i++) {
        v |= (uint64_t)p[i] << (8 * i);
    }
    return v;
}

static void put_le(uint8_t *p, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = (uint8_t)(v >> (8 * i));
    }
}

static void add(struct root *r, const struct root *x)
{
    unsigned carry = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        __extension__ unsigned __int128 sum = r->w[i];
        sum += x->w[i];
        sum += carry;
        r->w[i] = (uint64_t)sum;
        carry = (unsigned)(sum >> 64);
    }
}

static void subtract(struct root *r, const struct root *x)
{
    unsigned borrow = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        __extension__ unsigned __int128 difference = r->w[i];
        difference -= x->w[i];
        difference -= borrow;
        r->w[i] = (uint64_t)difference;
        borrow = (unsigned)(difference >> 64) & 1;
    }
}

static void multiply(struct root *x, uint64_t by)
{
    uint64_t carry = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        __extension__ unsigned __int128 product = x->w[i];
        product *= by;
        product += carry;
        x->w[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
}

/* Both kinds of input begin so; kind tells how it goes on, so none can be read as another. */
static size_t begin(uint8_t head[HEAD_MAX], const struct object_id *ring, uint16_t kind)
{
    memcpy(head, ring->b, OBJECT_ID_BYTES);
    put_le(head + OBJECT_ID_BYTES, kind, sizeof(kind));
    return OBJECT_ID_BYTES + sizeof(kind);
}

void root_add_count(struct root *r, const struct object_id *ring, uint64_t key,
                    uint64_t count)
{
    uint8_t head[HEAD_MAX];
    struct hash256 hash;
    struct root x;
    size_t n = begin(head, ring, OBJECT_COUNT);
    put_le(head + n, key, sizeof(key));
    hash256_of(slice_of((const char *)head, n + sizeof(key)), &hash);
    root_parse(&hash, &x);
    multiply(&x, count);
    add(r, &x);
}

static void hash_entry(const struct object_id *ring, uint16_t kind,
                       const struct list_record *record, uint8_t state,
                       struct root *ret)
{
    uint8_t head[HEAD_MAX];
    struct hash256 hash;
    size_t n = begin(head, ring, kind);
    put_le(head + n, record->type, sizeof(record->type));
    n += sizeof(record->type);
    put_le(head + n, record->expiry_h, sizeof(record->expiry_h));
    n += sizeof(record->expiry_h);
    head[n++] = state;
    if (kind == OBJECT_TEXT) {
        const struct slice part[] = {slice_of((const char *)head, n), record->text};
        hash256_make(part, 2, &hash);
    } else {
        memcpy(head + n, record->digest.b, DIGEST_BYTES);
        hash256_of(slice_of((const char *)head, n + DIGEST_BYTES), &hash);
    }
    root_parse(&hash, ret);
}

void root_step(struct root *r, const struct object_id *ring, uint16_t kind,
               const struct list_record *record)
{
    struct root x;
    if (record->before != ENTRY_ABSENT) {
        hash_entry(ring, kind, record, record->before, &x);
        subtract(r, &x);
    }
    if (record->after != ENTRY_ABSENT) {
        hash_entry(ring, kind, record, record->after, &x);
        add(r, &x);
    }
}

void root_print(const struct root *r, struct hash256 *ret)
{
    for (size_t i = 0; i < WORDS; i++) {
        put_le(ret->b + i * sizeof(uint64_t), r->w[i], sizeof(uint64_t));
    }
}

void root_parse(const struct hash256 *bytes, struct root *ret)
{
    for (size_t i = 0; i < WORDS; i++) {
        ret->w[i] = le64(bytes->b + i * sizeof(uint64_t));
    }
}
