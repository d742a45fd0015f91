/*
 * bloom_line - the layouts of one and of two cache lines: 9-bit positions cut from keyed mixes.
 *
 * Batches run one batch ahead: the lines of the next are on their way while this one is tested.
 */
#include "core/base/unfilled.h"
#include "core/filter/bloom_probe.h"
#include "core/filter/bloom_vector.h"

enum {
    FIRST_PROBES =
        4, /* tested without a branch: ends 97 % of the misses at half fill */
    ADD_BATCH = 64
};

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static size_t batch_of(size_t n, size_t done)
{
    return n - done < BLOOM_BATCH ? n - done : BLOOM_BATCH;
}

static bool has_bits(const uint64_t *line, uint64_t positions, unsigned n)
{
    uint64_t all = 1;
    for (unsigned i = 0; i < n; i++) {
        all &= bloom_load(&line[positions >> 6 & (LINE_WORDS - 1)]) >> (positions & 63);
        positions >>= POSITION_BITS;
    }
    return (all & 1) != 0;
}

static bool probe_test(const uint64_t *words, const struct bloom_probe *p, unsigned k)
{
    const uint64_t *line = words + p->word;
    unsigned left = k;
    unsigned n = smaller(left, FIRST_PROBES);
    if (!has_bits(line, p->at[0], n)) {
        return false;
    }
    left -= n;
    n = smaller(left, POSITIONS_PER_MIX - FIRST_PROBES);
    if (!has_bits(line, p->at[0] >> (FIRST_PROBES * POSITION_BITS), n)) {
        return false;
    }
    left -= n;
    n = smaller(left, POSITIONS_PER_MIX);
    if (!has_bits(line, p->at[1], n)) {
        return false;
    }
    return has_bits(line, p->spare, left - n);
}

void bloom_lines_plain(const uint64_t *words, const struct bloom_probe *p, size_t n,
                       unsigned k, uint8_t *rethit)
{
    for (size_t i = 0; i < n; i++) {
        rethit[i] = probe_test(words, &p[i], k) ? 1 : 0;
    }
}

static void probe_add(uint64_t *words, const struct bloom_probe *p, unsigned k)
{
    uint64_t *line = words + p->word;
    uint64_t positions = p->at[0];
    for (unsigned i = 0; i < k; i++) {
        if (i == POSITIONS_PER_MIX) {
            positions = p->at[1];
        } else if (i == 2 * POSITIONS_PER_MIX) {
            positions = p->spare;
        }
        bloom_set_bit(line, positions & (BLOOM_LINE_BITS - 1));
        positions >>= POSITION_BITS;
    }
}

void bloom_line_add(struct bloom *b, const struct digest *d)
{
    struct bloom_probe p = bloom_probe_of(b, d);
    probe_add(b->words, &p, b->k);
}

static void probes_add(uint64_t *words, const struct bloom_probe *p, size_t n,
                       unsigned k)
{
    for (size_t i = 0; i < n; i++) {
        probe_add(words, &p[i], k);
    }
}

void bloom_line_add_range(struct bloom *b, const struct digest *d, size_t n,
                          uint64_t first, uint64_t end)
{
    struct bloom_probe queue[2][ADD_BATCH + 1] UNFILLED;
    size_t filled[2] = {0, 0};
    unsigned now = 0;
    uint64_t from = first * LINE_WORDS;
    uint64_t span = (end - first) * LINE_WORDS;
    for (size_t i = 0; i < n; i++) {
        struct bloom_probe p = bloom_probe_of(b, &d[i]);
        queue[now][filled[now]] = p; /* kept only when it is ours: no branch to guess */
        bool is_ours = p.word - from < span;
        __builtin_prefetch(b->words + (is_ours ? p.word : from), 1);
        filled[now] += is_ours ? 1 : 0;
        if (filled[now] == ADD_BATCH) {
            now ^= 1;
            probes_add(b->words, queue[now], filled[now], b->k);
            filled[now] = 0;
        }
    }
    probes_add(b->words, queue[now ^ 1], filled[now ^ 1], b->k);
    probes_add(b->words, queue[now], filled[now], b->k);
}

bool bloom_line_test(const struct bloom *b, const struct digest *d)
{
    struct bloom_probe p = bloom_probe_of(b, d);
    return probe_test(b->words, &p, b->k);
}

static void line_prepare(const struct bloom *b, const struct digest *d, size_t n,
                         struct bloom_probe *retprobes)
{
    for (size_t i = 0; i < n; i++) {
        retprobes[i] = bloom_probe_of(b, &d[i]);
        __builtin_prefetch(b->words + retprobes[i].word);
    }
}

void bloom_line_test_batch(const struct bloom *b, const struct digest *d, size_t n,
                           uint8_t *rethit)
{
    struct bloom_probe probes[2][BLOOM_BATCH] UNFILLED;
    bloom_lines_fn *test = bloom_lines();
    unsigned now = 0;
    line_prepare(b, d, batch_of(n, 0), probes[now]);
    for (size_t done = 0; done < n; done += BLOOM_BATCH) {
        size_t batch = batch_of(n, done);
        size_t next = done + batch;
        line_prepare(b, d + next, batch_of(n, next), probes[now ^ 1]);
        test(b->words, probes[now], batch, b->k, rethit + done);
        now ^= 1;
    }
}

void bloom_pair_add(struct bloom *b, const struct digest *d)
{
    struct bloom_probe p = bloom_probe_of(b, d);
    struct bloom_probe second = bloom_probe_second(b, d, &p);
    probe_add(b->words, &p, b->k / 2);
    probe_add(b->words, &second, b->k / 2);
}

void bloom_pair_add_range(struct bloom *b, const struct digest *d, size_t n,
                          uint64_t first, uint64_t end)
{
    struct bloom_probe queue[2][ADD_BATCH + 2] UNFILLED;
    size_t filled[2] = {0, 0};
    unsigned now = 0;
    uint64_t from = first * LINE_WORDS;
    uint64_t span = (end - first) * LINE_WORDS;
    for (size_t i = 0; i < n; i++) {
        struct bloom_probe p = bloom_probe_of(b, &d[i]);
        struct bloom_probe second = bloom_probe_second(b, &d[i], &p);
        queue[now][filled[now]] = p;
        bool is_ours = p.word - from < span;
        __builtin_prefetch(b->words + (is_ours ? p.word : from), 1);
        filled[now] += is_ours ? 1 : 0;
        queue[now][filled[now]] = second;
        is_ours = second.word - from < span;
        __builtin_prefetch(b->words + (is_ours ? second.word : from), 1);
        filled[now] += is_ours ? 1 : 0;
        if (filled[now] >= ADD_BATCH) {
            now ^= 1;
            probes_add(b->words, queue[now], filled[now], b->k / 2);
            filled[now] = 0;
        }
    }
    probes_add(b->words, queue[now ^ 1], filled[now ^ 1], b->k / 2);
    probes_add(b->words, queue[now], filled[now], b->k / 2);
}

bool bloom_pair_test(const struct bloom *b, const struct digest *d)
{
    struct bloom_probe p = bloom_probe_of(b, d);
    struct bloom_probe second = bloom_probe_second(b, d, &p);
    return probe_test(b->words, &p, b->k / 2) &&
           probe_test(b->words, &second, b->k / 2);
}

struct pair_batch {
    struct bloom_probe first[BLOOM_BATCH];
    struct bloom_probe second[BLOOM_BATCH];
};

/* Those of a batch whose first line holds them: their second lines are on their way. */
struct pair_rest {
    struct bloom_probe second[BLOOM_BATCH];
    uint8_t *hit[BLOOM_BATCH]; /* where the answer goes; holds 1 */
    size_t n;
};

static void pair_prepare(const struct bloom *b, const struct digest *d, size_t n,
                         struct pair_batch *ret)
{
    for (size_t i = 0; i < n; i++) {
        ret->first[i] = bloom_probe_of(b, &d[i]);
        ret->second[i] = bloom_probe_second(b, &d[i], &ret->first[i]);
        __builtin_prefetch(b->words + ret->first[i].word);
    }
}

static void pair_finish(const struct bloom *b, bloom_lines_fn *test,
                        struct pair_rest *rest)
{
    uint8_t hit[BLOOM_BATCH] UNFILLED;
    test(b->words, rest->second, rest->n, b->k / 2, hit);
    for (size_t i = 0; i < rest->n; i++) {
        *rest->hit[i] = hit[i];
    }
    rest->n = 0;
}

void bloom_pair_test_batch(const struct bloom *b, const struct digest *d, size_t n,
                           uint8_t *rethit)
{
    struct pair_batch batches[2] UNFILLED;
    struct pair_rest rest UNFILLED;
    rest.n = 0;
    bloom_lines_fn *test = bloom_lines();
    unsigned now = 0;
    pair_prepare(b, d, batch_of(n, 0), &batches[now]);
    for (size_t done = 0; done < n; done += BLOOM_BATCH) {
        size_t batch = batch_of(n, done);
        size_t next = done + batch;
        pair_prepare(b, d + next, batch_of(n, next), &batches[now ^ 1]);
        pair_finish(b, test, &rest);
        test(b->words, batches[now].first, batch, b->k / 2, rethit + done);
        for (size_t i = 0; i < batch; i++) {
            if (rethit[done + i] != 0) {
                rest.second[rest.n] = batches[now].second[i];
                __builtin_prefetch(b->words + batches[now].second[i].word);
                rest.hit[rest.n] = &rethit[done + i];
                rest.n++;
            }
        }
        now ^= 1;
    }
    pair_finish(b, test, &rest);
}
