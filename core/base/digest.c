/* digest - SipHash-2-4-128 through libsodium; long values streamed. */
#include "core/base/digest.h"

#include <endian.h>
#include <sodium.h>

#include "core/base/random.h"

_Static_assert(DIGEST_BYTES == crypto_shorthash_siphashx24_BYTES, "digest size");
_Static_assert(HASHKEY_BYTES == crypto_shorthash_siphashx24_KEYBYTES, "key size");

enum {
    PREFIX_BYTES = 3,      /* type and the zero byte */
    SHORT_VALUE_MAX = 1024 /* up to here a copy on the stack goes to libsodium */
};

/* libsodium hashes one contiguous run, and digest_make neither allocates nor fails: a value too
 * long for the stack is hashed here, in the same rounds (tests compare the two). */
struct sip {
    uint64_t v0, v1, v2, v3;
};

static uint64_t rotl(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

static void sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v1 = rotl(s->v1, 13) ^ s->v0;
    s->v0 = rotl(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotl(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotl(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotl(s->v1, 17) ^ s->v2;
    s->v2 = rotl(s->v2, 32);
}

static void sip_word(struct sip *s, uint64_t m)
{
    s->v3 ^= m;
    sip_round(s);
    sip_round(s);
    s->v0 ^= m;
}

static uint64_t load_le(const uint8_t *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        v |= (uint64_t)p[i] << (8 * i);
    }
    return v;
}

static void sip_end(struct sip *s, uint8_t out[8])
{
    for (int i = 0; i < 4; i++) {
        sip_round(s);
    }
    uint64_t v = s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
    for (unsigned i = 0; i < 8; i++) {
        out[i] = (uint8_t)(v >> (8 * i));
    }
}

static void make_long(const struct hashkey *key, const uint8_t prefix[PREFIX_BYTES],
                      struct slice value, struct digest *ret)
{
    uint64_t k0 = load_le(key->bytes, 8);
    uint64_t k1 = load_le(key->bytes + 8, 8);
    struct sip s = {k0 ^ 0x736f6d6570736575U, k1 ^ 0x646f72616e646f6dU ^ 0xee,
                    k0 ^ 0x6c7967656e657261U, k1 ^ 0x7465646279746573U};
    enum { HEAD = 8 - PREFIX_BYTES }; /* bytes of value that fill the first word */
    uint8_t head[8];
    memcpy(head, prefix, PREFIX_BYTES);
    memcpy(head + PREFIX_BYTES, value.p, HEAD);
    sip_word(&s, load_le(head, 8));
    const uint8_t *p = (const uint8_t *)value.p + HEAD;
    size_t left = value.n - HEAD;
    for (; left >= 8; p += 8, left -= 8) {
        sip_word(&s, load_le(p, 8));
    }
    sip_word(&s, load_le(p, left) | (uint64_t)(value.n + PREFIX_BYTES) << 56);
    s.v2 ^= 0xee;
    sip_end(&s, ret->b);
    s.v1 ^= 0xdd;
    sip_end(&s, ret->b + 8);
}

void digest_make(const struct hashkey *key, uint16_t type, struct slice value,
                 struct digest *ret)
{
    uint8_t text[PREFIX_BYTES + SHORT_VALUE_MAX];
    text[0] = (uint8_t)type;
    text[1] = (uint8_t)(type >> 8);
    text[2] = 0;
    if (value.n > SHORT_VALUE_MAX) {
        make_long(key, text, value, ret);
        return;
    }
    if (value.n) {
        memcpy(text + PREFIX_BYTES, value.p, value.n);
    }
    (void)crypto_shorthash_siphashx24(ret->b, text, PREFIX_BYTES + value.n, key->bytes);
}

static uint64_t load_be(const uint8_t *p)
{
    uint64_t v = 0;
    memcpy(&v, p, sizeof(v));
    return be64toh(v);
}

/* Merges ask for each record: two words instead of a call of memcmp. */
int digest_cmp(const struct digest *a, const struct digest *b)
{
    enum { HALF = DIGEST_BYTES / 2 };
    uint64_t x = load_be(a->b);
    uint64_t y = load_be(b->b);
    if (x == y) {
        x = load_be(a->b + HALF);
        y = load_be(b->b + HALF);
    }
    return (x > y) - (x < y);
}

/* Written once, in base_init, before other threads start. */
static uint8_t local_key[crypto_shorthash_siphash24_KEYBYTES];

void hash_local_init(void)
{
    random_bytes(local_key, sizeof(local_key));
}

uint64_t hash_local(struct slice s)
{
    uint8_t out[crypto_shorthash_siphash24_BYTES];
    uint64_t hash = 0;
    (void)crypto_shorthash_siphash24(out, (const uint8_t *)s.p, s.n, local_key);
    memcpy(&hash, out, sizeof(hash));
    return hash;
}
