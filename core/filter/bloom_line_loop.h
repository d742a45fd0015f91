/*
 * bloom_line_loop - the batches of both line layouts, round any test of one line.
 *
 * Inlined into the file of each kind of instructions with its `hit`. BLOOM_BATCH keys are being
 * prefetched at any time: after each test the next key takes the place of the tested one, so the
 * reads flow evenly (bench_filter, 200 MB: 10.8 ns; batch after batch 12.1; the read alone 9.8).
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_FILTER_BLOOM_LINE_LOOP_H
#define CORE_FILTER_BLOOM_LINE_LOOP_H

#include "core/base/uninitialized.h"
#include "core/filter/bloom_vector.h"

#define BLOOM_INLINE static inline __attribute__((always_inline))

/* Whether the first k positions of p are set in its line. */
typedef bool bloom_hit_fn(const uint64_t *words, const struct bloom_probe *p,
                          unsigned k);

BLOOM_INLINE void bloom_one_loop(const struct bloom *b, const struct digest *d,
                                 size_t n, uint8_t *rethit, bloom_hit_fn *hit)
{
    const struct bloom shape = *b; /* a copy, which no answer can overwrite */
    struct bloom_probe ring[BLOOM_BATCH] UNINITIALIZED;
    size_t ahead = n < BLOOM_BATCH ? n : BLOOM_BATCH;
    for (size_t i = 0; i < ahead; i++) {
        ring[i] = bloom_probe_of(&shape, &d[i]);
        __builtin_prefetch(shape.words + ring[i].word);
    }
    for (size_t i = 0; i + ahead < n; i++) {
        struct bloom_probe *p = &ring[i % BLOOM_BATCH];
        rethit[i] = hit(shape.words, p, shape.k) ? 1 : 0;
        *p = bloom_probe_of(&shape, &d[i + ahead]);
        __builtin_prefetch(shape.words + p->word);
    }
    for (size_t i = n - ahead; i < n; i++) {
        rethit[i] = hit(shape.words, &ring[i % BLOOM_BATCH], shape.k) ? 1 : 0;
    }
}

/* A key whose first line holds it, and whose second is on its way. */
struct bloom_second {
    struct bloom_probe probe;
    size_t index;
};

enum {
    BLOOM_REST = 2 * BLOOM_BATCH, /* a power of two */
    BLOOM_REST_STEP = 8
};

BLOOM_INLINE void bloom_rest_ask(const struct bloom *shape,
                                 const struct bloom_second *rest, size_t from, size_t n,
                                 uint8_t *rethit, bloom_hit_fn *hit)
{
    for (size_t i = from; i < from + n; i++) {
        const struct bloom_second *r = &rest[i % BLOOM_REST];
        rethit[r->index] = hit(shape->words, &r->probe, shape->k / 2) ? 1 : 0;
    }
}

/* Most absent keys end at their first line, so the second is not even fetched before. */
BLOOM_INLINE void bloom_two_loop(const struct bloom *b, const struct digest *d,
                                 size_t n, uint8_t *rethit, bloom_hit_fn *hit)
{
    const struct bloom shape = *b;
    struct bloom_probe ring[BLOOM_BATCH] UNINITIALIZED;
    struct bloom_second rest[BLOOM_REST] UNINITIALIZED;
    size_t head = 0;
    size_t tail = 0;
    size_t ahead = n < BLOOM_BATCH ? n : BLOOM_BATCH;
    for (size_t i = 0; i < ahead; i++) {
        ring[i] = bloom_probe_of(&shape, &d[i]);
        __builtin_prefetch(shape.words + ring[i].word);
    }
    for (size_t i = 0; i < n; i++) {
        struct bloom_probe *p = &ring[i % BLOOM_BATCH];
        rethit[i] = 0;
        if (hit(shape.words, p, shape.k / 2)) {
            struct bloom_second *r = &rest[tail++ % BLOOM_REST];
            r->probe = bloom_probe_second(&shape, &d[i], p);
            r->index = i;
            __builtin_prefetch(shape.words + r->probe.word);
        }
        if (i + ahead < n) {
            *p = bloom_probe_of(&shape, &d[i + ahead]);
            __builtin_prefetch(shape.words + p->word);
        }
        if (tail - head == BLOOM_BATCH + BLOOM_REST_STEP) {
            bloom_rest_ask(&shape, rest, head, BLOOM_REST_STEP, rethit, hit);
            head += BLOOM_REST_STEP;
        }
    }
    bloom_rest_ask(&shape, rest, head, tail - head, rethit, hit);
}

/* Sets the first k positions of p in its line. */
typedef void bloom_set_fn(uint64_t *words, const struct bloom_probe *p, unsigned k);

enum {
    BLOOM_ADD_QUEUE = 64, /* a power of two, above BLOOM_ADD_AHEAD + BLOOM_ADD_STEP */
    BLOOM_ADD_AHEAD = 32, /* lines on their way while others are written */
    BLOOM_ADD_STEP = 8
};

/* Probes whose lines are on their way; the oldest are set in steps of BLOOM_ADD_STEP. */
struct bloom_queue {
    struct bloom_probe probes[BLOOM_ADD_QUEUE];
    uint64_t *words;
    uint64_t from; /* only words from..from+span-1 are set */
    uint64_t span;
    size_t head;
    size_t tail;
};

BLOOM_INLINE void bloom_queue_init(struct bloom_queue *q, const struct bloom *b,
                                   uint64_t first, uint64_t end)
{
    q->words = b->words;
    q->from = first * LINE_WORDS;
    q->span = (end - first) * LINE_WORDS;
    q->head = 0;
    q->tail = 0;
}

/* A probe that is not ours is overwritten by the next one: no branch to guess. */
BLOOM_INLINE void bloom_queue_put(struct bloom_queue *q, const struct bloom_probe *p)
{
    bool is_ours = p->word - q->from < q->span;
    q->probes[q->tail % BLOOM_ADD_QUEUE] = *p;
    __builtin_prefetch(q->words + (is_ours ? p->word : q->from), 1);
    q->tail += is_ours ? 1 : 0;
}

BLOOM_INLINE void bloom_queue_set(struct bloom_queue *q, size_t n, unsigned k,
                                  bloom_set_fn *set)
{
    for (size_t end = q->head + n; q->head < end; q->head++) {
        set(q->words, &q->probes[q->head % BLOOM_ADD_QUEUE], k);
    }
}

BLOOM_INLINE void bloom_one_add_loop(struct bloom *b, const struct digest *d, size_t n,
                                     uint64_t first, uint64_t end, bloom_set_fn *set)
{
    const struct bloom shape = *b; /* known to stay: the stores go elsewhere */
    struct bloom_queue q UNINITIALIZED;
    bloom_queue_init(&q, &shape, first, end);
    for (size_t i = 0; i < n; i++) {
        struct bloom_probe p = bloom_probe_of(&shape, &d[i]);
        bloom_queue_put(&q, &p);
        if (q.tail - q.head >= BLOOM_ADD_AHEAD + BLOOM_ADD_STEP) {
            bloom_queue_set(&q, BLOOM_ADD_STEP, shape.k, set);
        }
    }
    bloom_queue_set(&q, q.tail - q.head, shape.k, set);
}

BLOOM_INLINE void bloom_two_add_loop(struct bloom *b, const struct digest *d, size_t n,
                                     uint64_t first, uint64_t end, bloom_set_fn *set)
{
    const struct bloom shape = *b;
    struct bloom_queue q UNINITIALIZED;
    bloom_queue_init(&q, &shape, first, end);
    for (size_t i = 0; i < n; i++) {
        struct bloom_probe p = bloom_probe_of(&shape, &d[i]);
        struct bloom_probe second = bloom_probe_second(&shape, &d[i], &p);
        bloom_queue_put(&q, &p);
        bloom_queue_put(&q, &second);
        if (q.tail - q.head >= BLOOM_ADD_AHEAD + BLOOM_ADD_STEP) {
            bloom_queue_set(&q, BLOOM_ADD_STEP, shape.k / 2, set);
        }
    }
    bloom_queue_set(&q, q.tail - q.head, shape.k / 2, set);
}

/* The batches of a kind of instructions: its file defines VECTOR, is_hit and KEEP_ORDER. */
#define BLOOM_BATCHES(kind)                                                      \
    VECTOR static void kind##_one(const struct bloom *b, const struct digest *d, \
                                  size_t n, uint8_t *rethit)                     \
    {                                                                            \
        bloom_one_loop(b, d, n, rethit, is_hit);                                 \
        KEEP_ORDER();                                                            \
    }                                                                            \
    VECTOR static void kind##_two(const struct bloom *b, const struct digest *d, \
                                  size_t n, uint8_t *rethit)                     \
    {                                                                            \
        bloom_two_loop(b, d, n, rethit, is_hit);                                 \
        KEEP_ORDER();                                                            \
    }

#endif
