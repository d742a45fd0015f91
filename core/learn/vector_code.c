/* vector_code - a vector as bytes: version, kind, group; then of each block the number of its terms
 * and the distances of their hashes in rising order, all in LEB128. URLs follow, each as group and
 * blocks. */
#include "core/base/le.h"
#include "core/learn/url_vector.h"

enum { VECTOR_HEAD = 4, GROUP_BYTES = 2 };

static int by_key(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static size_t put_leb128(uint8_t *p, uint32_t v)
{
    size_t n = 0;
    for (; v >= 0x80; v >>= 7) {
        p[n++] = (uint8_t)(v | 0x80);
    }
    p[n++] = (uint8_t)v;
    return n;
}

/* Group and blocks; returns the end. */
static size_t put_terms(uint8_t *bytes, size_t at, const struct vector *v)
{
    uint32_t key[VECTOR_TERMS];
    size_t n = v->n < VECTOR_TERMS ? v->n : VECTOR_TERMS;
    size_t i = 0;
    memcpy(key, v->term, n * sizeof(*key));
    qsort(key, n, sizeof(*key), by_key);
    le_put(bytes + at, v->group, GROUP_BYTES);
    at += GROUP_BYTES;
    for (unsigned b = 0; b < VECTOR_BLOCKS; b++) {
        uint32_t last = 0;
        at += put_leb128(bytes + at, v->count[b]);
        for (unsigned j = 0; j < v->count[b] && i < n; j++, i++) {
            at += put_leb128(bytes + at, (key[i] & VECTOR_HASH_MASK) - last);
            last = key[i] & VECTOR_HASH_MASK;
        }
    }
    return at;
}

bool vector_encode(const struct vector *v, struct buf *to)
{
    uint8_t bytes[VECTOR_BYTES];
    bytes[0] = VECTOR_VERSION;
    bytes[1] = (uint8_t)v->kind;
    size_t at = put_terms(bytes, VECTOR_HEAD - GROUP_BYTES, v);
    for (size_t i = 0; i < v->nurls && at + URL_VECTOR_BYTES <= sizeof(bytes); i++) {
        at = put_terms(bytes, at, &v->url[i]);
    }
    buf_add(to, slice_of(bytes, at));
    return !buf_failed(to);
}

/* Reads a number of at most 21 bits. */
static bool get_leb128(struct slice *s, uint32_t *ret)
{
    uint32_t v = 0;
    for (unsigned i = 0; i < 3 && i < s->n; i++) {
        uint8_t byte = (uint8_t)s->p[i];
        v |= (uint32_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *s = slice_from(*s, i + 1);
            *ret = v;
            return true;
        }
    }
    return false;
}

/* One block of the vector; n of its terms are there already. */
static bool read_block(struct slice *s, unsigned block, uint32_t *key, size_t *n,
                       uint16_t *retcount)
{
    uint32_t count = 0;
    uint32_t hash = 0;
    if (!get_leb128(s, &count) || count > VECTOR_TERMS - *n) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t step = 0;
        if (!get_leb128(s, &step) || (i > 0 && step == 0) ||
            step > VECTOR_HASH_MASK - hash) {
            return false;
        }
        hash += step;
        key[(*n)++] = block << VECTOR_HASH_BITS | hash;
    }
    *retcount = (uint16_t)count;
    return true;
}

/* Group and blocks, with the terms in the arena. */
static enum err read_terms(struct arena *arena, struct slice *bytes, struct vector *ret)
{
    uint32_t key[VECTOR_TERMS];
    if (bytes->n < GROUP_BYTES) {
        return ERR_SYNTAX;
    }
    ret->group = (uint16_t)le_get(bytes->p, GROUP_BYTES);
    *bytes = slice_from(*bytes, GROUP_BYTES);
    for (unsigned b = 0; b < VECTOR_BLOCKS; b++) {
        if (!read_block(bytes, b, key, &ret->n, &ret->count[b])) {
            return ERR_SYNTAX;
        }
    }
    uint32_t *term = arena_array(arena, ret->n + 1, sizeof(*term));
    if (term == NULL) {
        return ERR_NOMEM;
    }
    memcpy(term, key, ret->n * sizeof(*term));
    ret->term = term;
    return ERR_OK;
}

static enum err read_urls(struct arena *arena, struct slice bytes, struct vector *ret)
{
    struct vector *url =
        bytes.n > 0 ? arena_array(arena, VECTOR_URLS, sizeof(*url)) : NULL;
    enum err e = bytes.n > 0 && url == NULL ? ERR_NOMEM : ERR_OK;
    ret->url = url;
    while (e == ERR_OK && bytes.n > 0) {
        if (ret->nurls == VECTOR_URLS) {
            return ERR_SYNTAX;
        }
        url[ret->nurls] = (struct vector){.n = 0};
        e = read_terms(arena, &bytes, &url[ret->nurls]);
        ret->nurls += e == ERR_OK;
    }
    return e;
}

enum err vector_decode(struct arena *arena, struct slice bytes, struct vector *ret)
{
    struct vector v = {.n = 0};
    if (bytes.n < VECTOR_HEAD || bytes.n > VECTOR_BYTES) {
        return ERR_SYNTAX;
    }
    if ((uint8_t)bytes.p[0] != VECTOR_VERSION) {
        return ERR_VERSION;
    }
    if ((uint8_t)bytes.p[1] >= VECTOR_KINDS) {
        return ERR_SYNTAX;
    }
    v.kind = (enum vector_kind)bytes.p[1];
    bytes = slice_from(bytes, VECTOR_HEAD - GROUP_BYTES);
    enum err e = read_terms(arena, &bytes, &v);
    THEN(e, read_urls(arena, bytes, &v));
    if (e == ERR_OK) {
        *ret = v;
    }
    return e;
}
