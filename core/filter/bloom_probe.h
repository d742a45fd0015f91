/*
 * bloom_probe - where a key's bits lie: shared by the files of the layouts, not for others.
 *
 * Frozen: positions are what files hold. Inline, since a call for each key costs as much as the
 * mix itself (bench_filter: 12 ns a look-up, of which 3 are the mix).
 * Threads: pure, except bloom_set_bit (one writer).   Allocates: nothing.
 */
#ifndef CORE_FILTER_BLOOM_PROBE_H
#define CORE_FILTER_BLOOM_PROBE_H

#include "core/filter/bloom.h"
#include "core/filter/mix.h"

enum {
    LINE_WORDS = BLOOM_LINE_BYTES / 8,
    POSITION_BITS = 9, /* 2^9 bits in a line */
    POSITIONS_PER_MIX = 64 / POSITION_BITS
};

/* k positions of 9 bits in one line: 7 in at[0], 7 in at[1], 2 in spare. */
struct bloom_probe {
    uint64_t word; /* index of the line's first word */
    uint64_t at[2];
    uint64_t spare;
};

/* Positions by linear congruential steps, each scaled to the size of a part: unlike i * b, no
 * short cycles in small filters. */
struct bloom_steps {
    uint64_t at;
    uint64_t add;
};

/* Digits of pi: they only keep the mixes of one key apart. */
#define BLOOM_MIX_A ((uint64_t)0x243f6a8885a308d3)
#define BLOOM_MIX_B ((uint64_t)0x13198a2e03707345)
#define BLOOM_MIX_C ((uint64_t)0xa4093822299f31d1)
#define BLOOM_STEP  ((uint64_t)6364136223846793005) /* Knuth's MMIX multiplier */

static inline struct bloom_probe bloom_probe_of(const struct bloom *b,
                                                const struct digest *d)
{
    uint64_t half[2];
    memcpy(half, d->b, sizeof(half));
    uint64_t h = mix_product(half[0] ^ b->mix[0], half[1] ^ b->mix[1]);
    struct bloom_probe p = {
        /* the high bits of h choose the line, its low bits are the spare positions */
        .word = mix_scale(h, b->nlines) * LINE_WORDS,
        .at = {mix_product(h ^ b->mix[1], half[0] ^ BLOOM_MIX_A),
               mix_product(h ^ b->mix[0], half[1] ^ BLOOM_MIX_B)},
        .spare = h,
    };
    return p;
}

/* The second line of BLOOM_TWO_LINES; the first is that of bloom_probe_of, with at[0]. */
static inline struct bloom_probe bloom_probe_second(const struct bloom *b,
                                                    const struct digest *d,
                                                    const struct bloom_probe *first)
{
    uint64_t half[2];
    memcpy(half, d->b, sizeof(half));
    uint64_t h = mix_product(half[0] ^ b->mix[1], half[1] ^ b->mix[0] ^ BLOOM_MIX_C);
    struct bloom_probe p = {
        .word = mix_scale(h, b->nlines) * LINE_WORDS,
        .at = {first->at[1], 0},
        .spare = 0,
    };
    return p;
}

static inline struct bloom_steps bloom_steps_of(const struct bloom *b,
                                                const struct digest *d)
{
    struct bloom_probe p = bloom_probe_of(b, d);
    return (struct bloom_steps){p.at[0], p.at[1]};
}

/* The next position within `part` bits. */
static inline uint64_t bloom_step(struct bloom_steps *s, uint64_t part)
{
    uint64_t at = mix_scale(s->at, part);
    s->at = s->at * BLOOM_STEP + s->add;
    return at;
}

/* Word loads are acquire: partner of the release store in bloom_set_bit. A reader that sees a bit
 * also sees all writes before the key was added (the slot of the recent table). Plain loads on
 * x86. */
static inline uint64_t bloom_load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* One writer only, so a load, an or and a release store suffice; see bloom_load. */
static inline void bloom_set_bit(uint64_t *words, uint64_t position)
{
    uint64_t *word = &words[position / 64];
    uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
    __atomic_store_n(word, old | (uint64_t)1 << (position % 64), __ATOMIC_RELEASE);
}

/* Layouts: bloom_line.c and bloom_spread.c. */
void bloom_line_add(struct bloom *b, const struct digest *d);
void bloom_line_add_range(struct bloom *b, const struct digest *d, size_t n,
                          uint64_t first, uint64_t end);
bool bloom_line_test(const struct bloom *b, const struct digest *d);
void bloom_pair_add(struct bloom *b, const struct digest *d);
void bloom_pair_add_range(struct bloom *b, const struct digest *d, size_t n,
                          uint64_t first, uint64_t end);
bool bloom_pair_test(const struct bloom *b, const struct digest *d);
void bloom_spread_add(struct bloom *b, const struct digest *d);
void bloom_spread_add_range(struct bloom *b, const struct digest *d, size_t n,
                            uint64_t first, uint64_t end);
bool bloom_spread_test(const struct bloom *b, const struct digest *d);
void bloom_spread_test_batch(const struct bloom *b, const struct digest *d, size_t n,
                             uint8_t *rethit);

#endif
