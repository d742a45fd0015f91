/*
 * hash256_four - four short messages at once, a lane of a vector each (RFC 7693, one block).
 *
 * One message leaves most of a core idle: its 12 rounds wait for themselves. With AVX2 four cost
 * 1.6 times one, with AVX-512's rotations 1.1 times; elsewhere libsodium takes one after the other.
 */

#include "core/base/hash256.h"

#if defined(__x86_64__)

enum { WORDS = 16, HALF = 8, OUT = 4, PARAMETERS = 0x01010000 | HASH256_BYTES };

typedef uint64_t lanes __attribute__((vector_size(HASH256_LANES * 8)));

static const uint64_t begin[HALF] = {
    UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b),
    UINT64_C(0x3c6ef372fe94f82b), UINT64_C(0xa54ff53a5f1d36f1),
    UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
    UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179)};

#    define INLINE     static inline __attribute__((always_inline))
#    define TURN(x, n) ((x) = (x) >> (n) | (x) << (64 - (n)))

INLINE void mix(lanes *a, lanes *b, lanes *c, lanes *d, const lanes *x, const lanes *y)
{
    *a += *b + *x;
    *d ^= *a;
    TURN(*d, 32);
    *c += *d;
    *b ^= *c;
    TURN(*b, 24);
    *a += *b + *y;
    *d ^= *a;
    TURN(*d, 16);
    *c += *d;
    *b ^= *c;
    TURN(*b, 63);
}

/* A macro, since indexes must be constants for the state to stay in registers. */
#    define ROUND(s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf) \
        mix(&v[0], &v[4], &v[8], &v[12], &m[s0], &m[s1]);                         \
        mix(&v[1], &v[5], &v[9], &v[13], &m[s2], &m[s3]);                         \
        mix(&v[2], &v[6], &v[10], &v[14], &m[s4], &m[s5]);                        \
        mix(&v[3], &v[7], &v[11], &v[15], &m[s6], &m[s7]);                        \
        mix(&v[0], &v[5], &v[10], &v[15], &m[s8], &m[s9]);                        \
        mix(&v[1], &v[6], &v[11], &v[12], &m[sa], &m[sb]);                        \
        mix(&v[2], &v[7], &v[8], &v[13], &m[sc], &m[sd]);                         \
        mix(&v[3], &v[4], &v[9], &v[14], &m[se], &m[sf])

/* NOLINTNEXTLINE(readability-function-size): 12 rounds of 8 are many statements */
INLINE void rounds(lanes v[WORDS], const lanes m[WORDS])
{
    ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    ROUND(14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3);
    ROUND(11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4);
    ROUND(7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8);
    ROUND(9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13);
    ROUND(2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9);
    ROUND(12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11);
    ROUND(13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10);
    ROUND(6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5);
    ROUND(10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0);
    ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    ROUND(14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3);
}

/* One function for each instruction set, the same words. x86 is little-endian, as the words are. */
static inline __attribute__((always_inline)) void four(
    const struct hash256_message p[HASH256_LANES], size_t n,
    struct hash256 ret[HASH256_LANES])
{
    lanes m[WORDS] = {{0}};
    lanes v[WORDS];
    for (size_t i = 0; i * sizeof(uint64_t) < n; i++) {
        for (size_t k = 0; k < HASH256_LANES; k++) {
            uint64_t word = 0;
            memcpy(&word, p[k].b + i * sizeof(word), sizeof(word));
            m[i][k] = word;
        }
    }
    for (size_t i = 0; i < HALF; i++) {
        v[i] = (lanes){begin[i], begin[i], begin[i], begin[i]};
        v[HALF + i] = v[i];
    }
    v[0] ^= (uint64_t)PARAMETERS;
    v[12] ^= (uint64_t)n;
    v[14] = ~v[14]; /* the last block */
    rounds(v, m);
    for (size_t i = 0; i < OUT; i++) {
        const uint64_t first = begin[i] ^ (i == 0 ? (uint64_t)PARAMETERS : 0);
        v[i] ^= v[HALF + i] ^ (lanes) { first, first, first, first };
        for (size_t k = 0; k < HASH256_LANES; k++) {
            uint64_t word = v[i][k];
            memcpy(ret[k].b + i * sizeof(word), &word, sizeof(word));
        }
    }
}

static __attribute__((target("avx2"))) void four_avx2(
    const struct hash256_message p[HASH256_LANES], size_t n,
    struct hash256 ret[HASH256_LANES])
{
    four(p, n, ret);
}

static __attribute__((target("avx512f,avx512vl"))) void four_avx512(
    const struct hash256_message p[HASH256_LANES], size_t n,
    struct hash256 ret[HASH256_LANES])
{
    four(p, n, ret);
}

#endif

bool hash256_four_in(enum hash256_way way,
                     const struct hash256_message p[HASH256_LANES], size_t n,
                     struct hash256 ret[HASH256_LANES])
{
    switch (way) {
    case HASH256_ONE_BY_ONE:
        for (size_t k = 0; k < HASH256_LANES; k++) {
            hash256_of(slice_of((const char *)p[k].b, n), &ret[k]);
        }
        return true;
    case HASH256_AVX2:
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx2")) {
            four_avx2(p, n, ret);
            return true;
        }
#endif
        return false;
    case HASH256_AVX512:
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx512vl")) {
            four_avx512(p, n, ret);
            return true;
        }
#endif
        return false;
    }
    return false;
}

void hash256_four(const struct hash256_message p[HASH256_LANES], size_t n,
                  struct hash256 ret[HASH256_LANES])
{
    if (!hash256_four_in(HASH256_AVX512, p, n, ret) &&
        !hash256_four_in(HASH256_AVX2, p, n, ret)) {
        (void)hash256_four_in(HASH256_ONE_BY_ONE, p, n, ret);
    }
}
