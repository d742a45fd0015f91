/*
 * bloom_avx512 - tests a line with AVX-512: eight probes to a permutation of its words.
 */
#include "core/filter/bloom_vector.h"

#if defined(__x86_64__)

#    include <immintrin.h>

/* The thread sanitizer knows no vector loads: they are plain reads beside bloom_set_bit's
 * stores. Each lane of 8 bytes is read whole, and each probe asks one lane. */
#    define VECTOR __attribute__((target("avx512f"), no_sanitize("thread")))

/* Bit i: the word of line that position i falls into has the bit set. */
VECTOR static inline __mmask8 bits_set(__m512i line, __m512i positions)
{
    __m512i words = _mm512_permutexvar_epi64(_mm512_srli_epi64(positions, 6), line);
    __m512i places = _mm512_and_si512(positions, _mm512_set1_epi64(63));
    return _mm512_test_epi64_mask(words,
                                  _mm512_sllv_epi64(_mm512_set1_epi64(1), places));
}

VECTOR void bloom_lines_avx512(const uint64_t *words, const struct bloom_probe *p,
                               size_t n, unsigned k, uint8_t *rethit)
{
    const __m512i first_shifts = _mm512_setr_epi64(0, 9, 18, 27, 36, 45, 54, 0);
    const __m512i last_shifts = _mm512_setr_epi64(9, 18, 27, 36, 45, 54, 0, 9);
    const __mmask8 first_unasked = (__mmask8)(k < 8 ? 0xffu << k : 0);
    const __mmask8 last_unasked = (__mmask8)(k < 8 ? 0xff : 0xffu << (k - 8));
    for (size_t i = 0; i < n; i++) {
        __m512i line = _mm512_loadu_si512(words + p[i].word);
        __m512i source = _mm512_set1_epi64((long long)p[i].at[0]);
        source = _mm512_mask_set1_epi64(source, 0x80, (long long)p[i].at[1]);
        __mmask8 set = bits_set(line, _mm512_srlv_epi64(source, first_shifts));
        unsigned all = (unsigned)(set | first_unasked);
        if (k > 8) {
            source = _mm512_set1_epi64((long long)p[i].at[1]);
            source = _mm512_mask_set1_epi64(source, 0xc0, (long long)p[i].spare);
            set = bits_set(line, _mm512_srlv_epi64(source, last_shifts));
            all &= (unsigned)(set | last_unasked);
        }
        rethit[i] = all == 0xff ? 1 : 0;
    }
    /* the loads above before whatever follows: the machine keeps that order by itself */
    __atomic_signal_fence(__ATOMIC_ACQUIRE);
}

#else

typedef int bloom_avx512_is_not_here; /* an empty file is not C */

#endif
