/*
 * bloom_avx512 - tests a line with AVX-512: sixteen probes to a permutation of its half words.
 */
#include "core/filter/bloom_line_loop.h"

#if defined(__x86_64__)

#    include <immintrin.h>

/* The thread sanitizer knows no vector loads: they are plain reads beside bloom_set_bit's
 * stores. Each lane is read whole, and each probe asks one lane. */
#    define VECTOR __attribute__((target("avx512f"), no_sanitize("thread")))

/* Positions 0..7 in the even lanes of 4 bytes, 8..15 in the odd ones. */
VECTOR static inline __m512i positions_of(const struct bloom_probe *p)
{
    const __m512i to_low = _mm512_setr_epi64(0, 9, 18, 27, 36, 45, 54, 0);
    const __m512i to_high = _mm512_setr_epi64(41, 50, 59, 4, 13, 22, 32, 41);
    __m512i first = _mm512_set1_epi64((long long)p->at[0]);
    first = _mm512_mask_set1_epi64(first, 0x80, (long long)p->at[1]);
    __m512i last = _mm512_set1_epi64((long long)p->at[1]);
    last = _mm512_mask_set1_epi64(last, 0xc0, (long long)p->spare);
    return _mm512_mask_blend_epi32(0xaaaa, _mm512_srlv_epi64(first, to_low),
                                   _mm512_rorv_epi64(last, to_high));
}

VECTOR static inline bool is_hit(const uint64_t *words, const struct bloom_probe *p,
                                 unsigned k)
{
    /* k lanes in the order of positions_of */
    static const uint16_t asked[BLOOM_K_MAX + 1] = {
        0,      0x1,    0x5,    0x15,   0x55,   0x155,  0x555,  0x1555, 0x5555,
        0x5557, 0x555f, 0x557f, 0x55ff, 0x57ff, 0x5fff, 0x7fff, 0xffff};
    __m512i line = _mm512_loadu_si512(words + p->word);
    __m512i positions = positions_of(p);
    /* the permutation takes the lowest 4 bits of an index: 16 half words */
    __m512i halves = _mm512_permutexvar_epi32(_mm512_srli_epi32(positions, 5), line);
    __m512i places = _mm512_and_si512(positions, _mm512_set1_epi32(31));
    __m512i bits = _mm512_sllv_epi32(_mm512_set1_epi32(1), places);
    return _mm512_mask_testn_epi32_mask(asked[k], halves, bits) == 0;
}

/* The line is put together in a register: bit after bit in memory each would wait for the one
 * before where both fall into one word (17 ns against 12). Lanes that get no bit are written as
 * they were read, which one writer may do; each lane is stored whole. */
VECTOR static inline void set_bits(uint64_t *words, const struct bloom_probe *p,
                                   unsigned k)
{
    enum { LANES = 16 };
    const __m512i numbers =
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    uint32_t halves[LANES] UNINITIALIZED; /* which half word, and its bit */
    uint32_t bits[LANES] UNINITIALIZED;
    __m512i positions = positions_of(p);
    __m512i places = _mm512_and_si512(positions, _mm512_set1_epi32(31));
    __m512i indexes =
        _mm512_and_si512(_mm512_srli_epi32(positions, 5), _mm512_set1_epi32(15));
    _mm512_storeu_si512(halves, indexes);
    _mm512_storeu_si512(bits, _mm512_sllv_epi32(_mm512_set1_epi32(1), places));
    __m512i line = _mm512_loadu_si512(words + p->word);
    for (unsigned i = 0; i < k; i++) {
        unsigned lane = i < 8 ? 2 * i : 2 * i - (LANES - 1); /* as in positions_of */
        __mmask16 at =
            _mm512_cmpeq_epi32_mask(numbers, _mm512_set1_epi32((int)halves[lane]));
        line = _mm512_mask_or_epi32(line, at, line, _mm512_set1_epi32((int)bits[lane]));
    }
    _mm512_storeu_si512(words + p->word, line);
}

/* Reads after an answer must follow the read of the line. The processor keeps that order, so only
 * the compiler needs the fence. */
#    define KEEP_ORDER() __atomic_signal_fence(__ATOMIC_ACQUIRE)

BLOOM_BATCHES(avx512)

/* Readers must see earlier writes before the bits of a key. The processor keeps the order of
 * stores. */
VECTOR static void avx512_add_one(struct bloom *b, const struct digest *d, size_t n,
                                  uint64_t first, uint64_t end)
{
    __atomic_signal_fence(__ATOMIC_RELEASE);
    bloom_one_add_loop(b, d, n, first, end, set_bits);
}

VECTOR static void avx512_add_two(struct bloom *b, const struct digest *d, size_t n,
                                  uint64_t first, uint64_t end)
{
    __atomic_signal_fence(__ATOMIC_RELEASE);
    bloom_two_add_loop(b, d, n, first, end, set_bits);
}

const struct bloom_lines bloom_lines_avx512 = {"avx512", avx512_one, avx512_two,
                                               avx512_add_one, avx512_add_two};

#else

typedef int bloom_avx512_is_not_here; /* an empty file is not C */

#endif
