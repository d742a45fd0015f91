/*
 * keys - a fixed-seed stream of digests and filters in memory, for the tests of this room.
 */
#ifndef TESTS_UNIT_FILTER_KEYS_H
#define TESTS_UNIT_FILTER_KEYS_H

#include "core/base/base.h"
#include "core/filter/bloom.h"

#include "tests/unit/unit.h"

static const struct hashkey key_one = {.id = 1, .bytes = "0123456789abcde"};
static const struct hashkey key_two = {.id = 2, .bytes = "0123456789abcdf"};

/* SplitMix64. */
static inline uint64_t split_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/* The n-th of stream s. */
static inline struct digest digest_number(uint64_t stream, uint64_t n)
{
    uint64_t half[2] = {split_mix(stream * 0x100000000 + n * 2),
                        split_mix(~(stream * 0x100000000 + n * 2 + 1))};
    struct digest d;
    memcpy(d.b, half, sizeof(half));
    return d;
}

/* Words to be freed by the test. */
static inline struct bloom bloom_make(enum bloom_layout layout, uint64_t nlines,
                                      unsigned k, const struct hashkey *key)
{
    struct bloom b = {.nlines = nlines, .layout = layout, .k = k};
    b.words = aligned_alloc(BLOOM_LINE_BYTES, (size_t)nlines * BLOOM_LINE_BYTES);
    assert_non_null(b.words);
    memset(b.words, 0, (size_t)nlines * BLOOM_LINE_BYTES);
    bloom_key(&b, key);
    return b;
}

static inline size_t bloom_bytes(const struct bloom *b)
{
    return (size_t)b->nlines * BLOOM_LINE_BYTES;
}

static inline void bloom_fill_keys(struct bloom *b, uint64_t stream, uint64_t n)
{
    enum { STEP = 4096 };
    static struct digest d[STEP];
    for (uint64_t done = 0; done < n; done += STEP) {
        size_t step = n - done < STEP ? (size_t)(n - done) : STEP;
        for (size_t i = 0; i < step; i++) {
            d[i] = digest_number(stream, done + i);
        }
        bloom_add_batch(b, d, step);
    }
}

/* The share of n keys of a stream that the filter says it may hold. */
static inline double bloom_share(const struct bloom *b, uint64_t stream, uint64_t n)
{
    enum { STEP = 4096 };
    static struct digest d[STEP];
    static uint8_t hit[STEP];
    uint64_t hits = 0;
    for (uint64_t done = 0; done < n; done += STEP) {
        size_t step = n - done < STEP ? (size_t)(n - done) : STEP;
        for (size_t i = 0; i < step; i++) {
            d[i] = digest_number(stream, done + i);
        }
        bloom_test_batch(b, d, step, hit);
        for (size_t i = 0; i < step; i++) {
            hits += hit[i];
        }
    }
    return (double)hits / (double)n;
}

#endif
