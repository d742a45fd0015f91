/* root - sums of hashes modulo 2^256, in four words. */
#include "core/ring/stream/root.h"

#include <endian.h>

enum { WORDS = 4, HEAD_MAX = 48 };

static uint64_t le64(const uint8_t *p)
{
    uint64_t v = 0;
    memcpy(&v, p, sizeof(v));
    return le64toh(v);
}

static void put_le(uint8_t *p, uint64_t v, size_t n)
{
    v = htole64(v);
    memcpy(p, &v, n);
}

/* Adds x, or subtracts it by adding its complement and one. */
static void add_to_root(struct root *r, const struct root *x, bool is_less)
{
    unsigned carry = is_less;
    for (unsigned i = 0; i < WORDS; i++) {
        __extension__ unsigned __int128 sum = r->w[i];
        sum += is_less ? ~x->w[i] : x->w[i];
        sum += carry;
        r->w[i] = (uint64_t)sum;
        carry = (unsigned)(sum >> 64);
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

/* The first bytes of every message. The kind decides how it goes on, so no message can be read as
 * one of another kind. */
static size_t begin_message(uint8_t *head, const struct object_id *ring, uint16_t kind)
{
    memcpy(head, ring->b, OBJECT_ID_BYTES);
    put_le(head + OBJECT_ID_BYTES, kind, sizeof(kind));
    return OBJECT_ID_BYTES + sizeof(kind);
}

/* The bytes before the digest or the text. */
static size_t begin_entry(uint8_t *head, const struct object_id *ring, uint16_t kind,
                          const struct list_record *record, uint8_t state)
{
    size_t n = begin_message(head, ring, kind);
    put_le(head + n, record->type, sizeof(record->type));
    n += sizeof(record->type);
    put_le(head + n, record->expiry_h, sizeof(record->expiry_h));
    n += sizeof(record->expiry_h);
    head[n++] = state;
    return n;
}

/* ---- terms, hashed four at a time ---- */

struct terms {
    unsigned n;
    size_t length; /* of each message */
    uint64_t by[HASH256_LANES];
    bool is_less[HASH256_LANES];
    struct hash256_message message[HASH256_LANES];
};

static void flush_terms(struct terms *t, struct root *r)
{
    struct hash256 hash[HASH256_LANES];
    struct root x;
    if (t->n == HASH256_LANES) {
        hash256_four(t->message, t->length, hash);
    }
    for (unsigned i = 0; i < t->n; i++) {
        if (t->n < HASH256_LANES) {
            hash256_of(slice_of(t->message[i].b, t->length), &hash[i]);
        }
        root_parse(&hash[i], &x);
        multiply(&x, t->by[i]);
        add_to_root(r, &x, t->is_less[i]);
    }
    t->n = 0;
}

/* The caller has written message number t->n. */
static void add_term(struct terms *t, struct root *r, size_t length, uint64_t by,
                     bool is_less)
{
    t->length = length;
    t->by[t->n] = by;
    t->is_less[t->n] = is_less;
    if (++t->n == HASH256_LANES) {
        flush_terms(t, r);
    }
}

void root_add_counts(struct root *r, const struct object_id *ring,
                     const struct count_record *v, size_t n)
{
    struct terms t = {.n = 0};
    for (size_t i = 0; i < n; i++) {
        uint8_t *p = t.message[t.n].b;
        const size_t length = begin_message(p, ring, OBJECT_COUNT);
        put_le(p + length, v[i].key, sizeof(v[i].key));
        add_term(&t, r, length + sizeof(v[i].key), v[i].count, false);
    }
    flush_terms(&t, r);
}

static void add_entry(struct terms *t, struct root *r, const struct object_id *ring,
                      const struct list_record *record, bool is_less)
{
    uint8_t *p = t->message[t->n].b;
    const uint8_t state = is_less ? record->before : record->after;
    const size_t length = begin_entry(p, ring, OBJECT_LIST, record, state);
    memcpy(p + length, record->digest.b, DIGEST_BYTES);
    add_term(t, r, length + DIGEST_BYTES, 1, is_less);
}

/* Texts have any length, so they are hashed one by one. */
static void step_text(struct root *r, const struct object_id *ring,
                      const struct list_record *record, bool is_less)
{
    uint8_t head[HEAD_MAX];
    struct hash256 hash;
    struct root x;
    const uint8_t state = is_less ? record->before : record->after;
    const size_t n = begin_entry(head, ring, OBJECT_TEXT, record, state);
    const struct slice part[] = {slice_of(head, n), record->text};
    hash256_make(part, 2, &hash);
    root_parse(&hash, &x);
    add_to_root(r, &x, is_less);
}

void root_steps(struct root *r, const struct object_id *ring, uint16_t kind,
                const struct list_record *v, size_t n)
{
    struct terms t = {.n = 0};
    for (size_t i = 0; i < n; i++) {
        for (unsigned is_after = 0; is_after < 2; is_after++) {
            if ((is_after ? v[i].after : v[i].before) == ENTRY_ABSENT) {
                continue;
            }
            if (kind == OBJECT_TEXT) {
                step_text(r, ring, &v[i], !is_after);
            } else {
                add_entry(&t, r, ring, &v[i], !is_after);
            }
        }
    }
    flush_terms(&t, r);
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
