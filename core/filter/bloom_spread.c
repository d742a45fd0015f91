/*
 * bloom_spread - the classic and the partitioned layout: k bits over the whole memory.
 *
 * A batch is tested in k rounds, each with the next bit of every key still in; its words are on
 * their way since the round before. A key leaves at its first zero bit.
 */
#include "core/base/uninitialized.h"
#include "core/filter/bloom_probe.h"

enum { SPREAD_BATCH = 64, QUEUE = 256 };

/* The size of the space that a key's positions are drawn from, and what to go on by after
 * each. */
struct spread {
    uint64_t part;
    uint64_t stride;
};

static struct spread spread_of(const struct bloom *b)
{
    uint64_t bits = b->nlines * BLOOM_LINE_BITS;
    if (b->layout == BLOOM_CLASSIC) {
        return (struct spread){.part = bits, .stride = 0};
    }
    return (struct spread){.part = bits / b->k, .stride = bits / b->k};
}

static void bits_add(uint64_t *words, const uint64_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bloom_set_bit(words, at[i]);
    }
}

void bloom_spread_add(struct bloom *b, const struct digest *d)
{
    struct spread s = spread_of(b);
    struct bloom_steps steps = bloom_steps_of(b, d);
    for (unsigned j = 0; j < b->k; j++) {
        bloom_set_bit(b->words, j * s.stride + bloom_step(&steps, s.part));
    }
}

void bloom_spread_add_range(struct bloom *b, const struct digest *d, size_t n,
                            uint64_t first, uint64_t end)
{
    uint64_t queue[2][QUEUE + BLOOM_K_MAX] UNINITIALIZED;
    size_t filled[2] = {0, 0};
    unsigned now = 0;
    struct spread s = spread_of(b);
    uint64_t from = first * BLOOM_LINE_BITS;
    uint64_t span = (end - first) * BLOOM_LINE_BITS;
    for (size_t i = 0; i < n; i++) {
        struct bloom_steps steps = bloom_steps_of(b, &d[i]);
        uint64_t base = 0;
        for (unsigned j = 0; j < b->k; j++) {
            uint64_t at = base + bloom_step(&steps, s.part);
            queue[now][filled[now]] = at; /* kept only when it is in the range */
            bool is_ours = at - from < span;
            __builtin_prefetch(b->words + (is_ours ? at : from) / 64, 1);
            filled[now] += is_ours ? 1 : 0;
            base += s.stride;
        }
        if (filled[now] >= QUEUE) {
            now ^= 1;
            bits_add(b->words, queue[now], filled[now]);
            filled[now] = 0;
        }
    }
    bits_add(b->words, queue[now ^ 1], filled[now ^ 1]);
    bits_add(b->words, queue[now], filled[now]);
}

static bool has_bit(const uint64_t *words, uint64_t at)
{
    return (bloom_load(&words[at / 64]) >> (at % 64) & 1) != 0;
}

bool bloom_spread_test(const struct bloom *b, const struct digest *d)
{
    struct spread s = spread_of(b);
    struct bloom_steps steps = bloom_steps_of(b, d);
    uint64_t base = 0;
    for (unsigned j = 0; j < b->k; j++) {
        if (!has_bit(b->words, base + bloom_step(&steps, s.part))) {
            return false;
        }
        base += s.stride;
    }
    return true;
}

struct spread_key {
    struct bloom_steps steps;
    uint64_t at; /* prefetched, to be tested in this round */
    size_t index;
};

static void spread_rounds(const struct bloom *b, const struct digest *d, size_t n,
                          uint8_t *rethit)
{
    struct spread_key keys[SPREAD_BATCH] UNINITIALIZED;
    struct spread s = spread_of(b);
    uint64_t base = 0;
    for (size_t i = 0; i < n; i++) {
        keys[i] = (struct spread_key){.steps = bloom_steps_of(b, &d[i]), .index = i};
        keys[i].at = bloom_step(&keys[i].steps, s.part);
        __builtin_prefetch(b->words + keys[i].at / 64);
    }
    for (unsigned j = 1; j < b->k; j++) {
        size_t kept = 0;
        base += s.stride;
        for (size_t i = 0; i < n; i++) {
            struct spread_key key = keys[i];
            if (has_bit(b->words, key.at)) {
                key.at = base + bloom_step(&key.steps, s.part);
                __builtin_prefetch(b->words + key.at / 64);
                keys[kept++] = key;
            }
        }
        n = kept;
    }
    for (size_t i = 0; i < n; i++) {
        rethit[keys[i].index] = has_bit(b->words, keys[i].at) ? 1 : 0;
    }
}

void bloom_spread_test_batch(const struct bloom *b, const struct digest *d, size_t n,
                             uint8_t *rethit)
{
    memset(rethit, 0, n);
    for (size_t done = 0; done < n; done += SPREAD_BATCH) {
        size_t batch = n - done < SPREAD_BATCH ? n - done : SPREAD_BATCH;
        spread_rounds(b, d + done, batch, rethit + done);
    }
}
