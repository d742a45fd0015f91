/*
 * bloom_neon - tests a line with NEON: the line is a table of 64 bytes, 16 probes look it up.
 */
#include "core/filter/bloom_line_loop.h"

#if defined(__aarch64__) && defined(__AARCH64EL__)

#    include <arm_neon.h>

/* As in bloom_avx512.c; here the lanes are single bytes. */
#    define VECTOR __attribute__((no_sanitize("thread")))

enum { PROBES = 16 };

static inline void positions_of(const struct bloom_probe *p, uint16_t ret[PROBES])
{
    for (unsigned i = 0; i < POSITIONS_PER_MIX; i++) {
        unsigned shift = i * POSITION_BITS;
        ret[i] = p->at[0] >> shift & (BLOOM_LINE_BITS - 1);
        ret[POSITIONS_PER_MIX + i] = p->at[1] >> shift & (BLOOM_LINE_BITS - 1);
    }
    ret[14] = p->spare & (BLOOM_LINE_BITS - 1);
    ret[15] = p->spare >> POSITION_BITS & (BLOOM_LINE_BITS - 1);
}

VECTOR static inline bool is_hit(const uint64_t *words, const struct bloom_probe *p,
                                 unsigned k)
{
    static const uint8_t numbers[PROBES] = {0, 1, 2,  3,  4,  5,  6,  7,
                                            8, 9, 10, 11, 12, 13, 14, 15};
    uint16_t at[PROBES];
    positions_of(p, at);
    uint16x8_t first = vld1q_u16(at);
    uint16x8_t last = vld1q_u16(at + 8);
    uint8x16_t bytes = vcombine_u8(vshrn_n_u16(first, 3), vshrn_n_u16(last, 3));
    uint8x16_t places = vcombine_u8(vmovn_u16(first), vmovn_u16(last));
    places = vandq_u8(places, vdupq_n_u8(7));
    uint8x16_t bits = vshlq_u8(vdupq_n_u8(1), vreinterpretq_s8_u8(places));
    uint8x16x4_t line = vld1q_u8_x4((const uint8_t *)(words + p->word));
    uint8x16_t set = vtstq_u8(vqtbl4q_u8(line, bytes), bits);
    uint8x16_t unasked = vcgeq_u8(vld1q_u8(numbers), vdupq_n_u8((uint8_t)k));
    return vminvq_u8(vorrq_u8(set, unasked)) == 0xff;
}

/* The acquire of bloom_load: the line is read before what follows an answer. */
#    define KEEP_ORDER() __asm__ volatile("dmb ishld" ::: "memory")

BLOOM_BATCHES(neon)

const struct bloom_lines bloom_lines_neon = {
    "neon", neon_one, neon_two, bloom_line_add_range, bloom_pair_add_range};

#else

typedef int bloom_neon_is_not_here; /* an empty file is not C */

#endif
