/*
 * bloom - a one-line blocked filter: 9-bit positions cut from keyed multiply-mixes.
 */
#include "core/filter/bloom.h"

#include <math.h>
#include <string.h>

enum {
    LINE_WORDS = BLOOM_LINE_BYTES / 8,
    POSITION_BITS = 9, /* 2^9 bits in a line */
    POSITIONS_PER_MIX = 64 / POSITION_BITS,
    FIRST_PROBES =
        4, /* tested without a branch: ends 97 % of the misses at half fill */
    KEY_LABEL_TYPE = 0xffff /* no feature type: the label cannot be a list entry */
};

/* Odd constants from the digits of pi: they only keep the two mixes of one key apart. */
static const uint64_t mix_a = 0x243f6a8885a308d3;
static const uint64_t mix_b = 0x13198a2e03707345;
static const double lambda_max = 600; /* exp(-lambda) is still a normal double */

struct probe {
    uint64_t line; /* index of the first word */
    uint64_t at[2];
    uint64_t spare;
};

/* Both halves of the product folded: every input bit reaches every output bit. */
static uint64_t multiply_mix(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 p = a;
    p *= b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint64_t multiply_high(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 p = a;
    p *= b;
    return (uint64_t)(p >> 64);
}

static struct probe probe_of(const struct bloom *b, const struct digest *d)
{
    uint64_t half[2];
    memcpy(half, d->b, sizeof(half));
    uint64_t h = multiply_mix(half[0] ^ b->mix[0], half[1] ^ b->mix[1]);
    struct probe p = {
        /* the high bits of h choose the line, its low bits are the spare positions */
        .line = multiply_high(h, b->nlines) * LINE_WORDS,
        .at = {multiply_mix(h ^ b->mix[1], half[0] ^ mix_a),
               multiply_mix(h ^ b->mix[0], half[1] ^ mix_b)},
        .spare = h,
    };
    return p;
}

/* Word loads are acquire: partner of the release store in set_bit. Who sees a bit also sees
 * what was written before the key was added (the recent table's slot). Plain loads on x86. */
static uint64_t load_word(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* One writer only, so a load, an or and a release store suffice; see load_word. */
static void set_bit(uint64_t *line, unsigned position)
{
    uint64_t *word = &line[position / 64];
    uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
    __atomic_store_n(word, old | (uint64_t)1 << (position % 64), __ATOMIC_RELEASE);
}

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static bool has_bits(const uint64_t *line, uint64_t positions, unsigned n)
{
    uint64_t all = 1;
    for (unsigned i = 0; i < n; i++) {
        all &= load_word(&line[positions >> 6 & (LINE_WORDS - 1)]) >> (positions & 63);
        positions >>= POSITION_BITS;
    }
    return (all & 1) != 0;
}

static bool probe_test(const struct bloom *b, const struct probe *p)
{
    const uint64_t *line = b->words + p->line;
    unsigned left = b->k;
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

uint64_t bloom_lines_for(uint64_t n, double bits_per_key)
{
    double lines = ceil((double)n * bits_per_key / BLOOM_LINE_BITS);
    return lines < 1 ? 1 : (uint64_t)lines;
}

void bloom_key(struct bloom *b, const struct hashkey *key)
{
    struct digest d;
    digest_make(key, KEY_LABEL_TYPE, SLICE_LIT("bloom positions 1"), &d);
    memcpy(b->mix, d.b, sizeof(b->mix));
}

void bloom_add(struct bloom *b, const struct digest *d)
{
    struct probe p = probe_of(b, d);
    uint64_t *line = b->words + p.line;
    uint64_t positions = p.at[0];
    for (unsigned i = 0; i < b->k; i++) {
        if (i == POSITIONS_PER_MIX) {
            positions = p.at[1];
        } else if (i == 2 * POSITIONS_PER_MIX) {
            positions = p.spare;
        }
        set_bit(line, (unsigned)(positions & (BLOOM_LINE_BITS - 1)));
        positions >>= POSITION_BITS;
    }
}

bool bloom_test(const struct bloom *b, const struct digest *d)
{
    struct probe p = probe_of(b, d);
    return probe_test(b, &p);
}

void bloom_test_batch(const struct bloom *b, const struct digest *d, size_t n,
                      uint8_t *rethit)
{
    struct probe probes[BLOOM_BATCH];
    for (size_t done = 0; done < n; done += BLOOM_BATCH) {
        size_t batch = n - done < BLOOM_BATCH ? n - done : BLOOM_BATCH;
        for (size_t i = 0; i < batch; i++) {
            probes[i] = probe_of(b, &d[done + i]);
            __builtin_prefetch(b->words + probes[i].line);
        }
        for (size_t i = 0; i < batch; i++) {
            rethit[done + i] = probe_test(b, &probes[i]) ? 1 : 0;
        }
    }
}

/* Expected chance that k probes of a foreign key hit in a line that holds `keys` keys: the
 * k-th moment of the share of set bits, to second order around its mean. */
static double line_error(unsigned k, double keys)
{
    double m = BLOOM_LINE_BITS;
    double balls = keys * k;
    double one_empty = pow(1 - 1 / m, balls);
    double two_empty = pow(1 - 2 / m, balls);
    double mean = m * (1 - one_empty);
    if (mean <= 0) {
        return 0;
    }
    double variance =
        m * (m - 1) * two_empty + m * one_empty - m * m * one_empty * one_empty;
    double spread = 0.5 * k * (k - 1) * variance / (mean * mean);
    return fmin(1, pow(mean / m, k) * (1 + spread));
}

double bloom_error(uint64_t nlines, unsigned k, uint64_t n)
{
    double lambda = (double)n / (double)nlines;
    if (lambda > lambda_max) {
        return 1;
    }
    double last = lambda + 12 * sqrt(lambda) + 40;
    double share = exp(-lambda);
    double sum = 0;
    for (int keys = 0; keys <= (int)last; keys++) {
        sum += share * line_error(k, keys);
        share *= lambda / (keys + 1);
    }
    return fmin(1, sum);
}

double bloom_fill(const struct bloom *b, uint64_t max_lines)
{
    uint64_t lines = b->nlines < max_lines ? b->nlines : max_lines;
    if (lines == 0) {
        return 0;
    }
    uint64_t set = 0;
    for (uint64_t i = 0; i < lines; i++) {
        /* evenly spread without overflow: nlines / lines >= 1 */
        uint64_t line = (uint64_t)((double)b->nlines / (double)lines * (double)i);
        for (uint64_t w = 0; w < LINE_WORDS; w++) {
            set += (uint64_t)__builtin_popcountll(
                load_word(&b->words[line * LINE_WORDS + w]));
        }
    }
    return (double)set / ((double)lines * BLOOM_LINE_BITS);
}
