/*
 * bloom_avx2 - tests a line with AVX2: eight probes to two permutations of its half words.
 */
#include "core/filter/bloom_line_loop.h"

#if defined(__x86_64__)

#    include <immintrin.h>

/* As in bloom_avx512.c; here the lanes are of 4 bytes. */
#    define VECTOR __attribute__((target("avx2"), no_sanitize("thread")))

struct halves {
    __m256i low;
    __m256i high;
};

/* The low halves of eight numbers, in the order of lane_number. */
VECTOR static inline __m256i narrowed(__m256i a, __m256i b)
{
    return _mm256_castps_si256(
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88));
}

/* Bit i: the half word of line that position i falls into has the bit set. */
VECTOR static inline unsigned bits_set(struct halves line, __m256i positions)
{
    __m256i index = _mm256_srli_epi32(positions, 5);
    __m256i low = _mm256_permutevar8x32_epi32(line.low, index);
    __m256i high = _mm256_permutevar8x32_epi32(line.high, index);
    __m256i is_high = _mm256_slli_epi32(positions, 31 - 8); /* bit 8 becomes the sign */
    __m256 words = _mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high),
                                    _mm256_castsi256_ps(is_high));
    __m256i to_sign = _mm256_andnot_si256(positions, _mm256_set1_epi32(31));
    __m256i signs = _mm256_sllv_epi32(_mm256_castps_si256(words), to_sign);
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(signs));
}

/* Bit i: lane i is not among the first k of the eight probes. */
VECTOR static inline unsigned lanes_unasked(int k)
{
    const __m256i lane_number = _mm256_setr_epi32(0, 1, 4, 5, 2, 3, 6, 7);
    __m256i asked = _mm256_cmpgt_epi32(_mm256_set1_epi32(k), lane_number);
    return ~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(asked)) & 0xff;
}

VECTOR static inline bool is_hit(const uint64_t *words, const struct bloom_probe *p,
                                 unsigned k)
{
    const uint64_t *at = words + p->word;
    struct halves line = {_mm256_loadu_si256((const void *)at),
                          _mm256_loadu_si256((const void *)(at + 4))};
    __m256i zero = _mm256_set1_epi64x((long long)p->at[0]);
    __m256i one = _mm256_set1_epi64x((long long)p->at[1]);
    __m256i a = _mm256_srlv_epi64(zero, _mm256_setr_epi64x(0, 9, 18, 27));
    __m256i b = _mm256_srlv_epi64(_mm256_blend_epi32(zero, one, 0xc0),
                                  _mm256_setr_epi64x(36, 45, 54, 0));
    unsigned all = bits_set(line, narrowed(a, b)) | lanes_unasked((int)k);
    if (k > 8) {
        __m256i spare = _mm256_set1_epi64x((long long)p->spare);
        a = _mm256_srlv_epi64(one, _mm256_setr_epi64x(9, 18, 27, 36));
        b = _mm256_srlv_epi64(_mm256_blend_epi32(one, spare, 0xf0),
                              _mm256_setr_epi64x(45, 54, 0, 9));
        all &= bits_set(line, narrowed(a, b)) | lanes_unasked((int)k - 8);
    }
    return all == 0xff;
}

/* As in bloom_avx512.c. */
#    define KEEP_ORDER() __atomic_signal_fence(__ATOMIC_ACQUIRE)

BLOOM_BATCHES(avx2)

const struct bloom_lines bloom_lines_avx2 = {
    "avx2", avx2_one, avx2_two, bloom_line_add_range, bloom_pair_add_range};

#else

typedef int bloom_avx2_is_not_here; /* an empty file is not C */

#endif
