/*
 * bloom_line - the layouts of one and of two cache lines: 9-bit positions cut from keyed mixes.
 *
 * Here the plain code; bloom_avx512.c and its like test the same positions by vectors.
 */
#include "core/filter/bloom_line_loop.h"

enum {
    FIRST_PROBES =
        4, /* tested without a branch: ends 97 % of the misses at half fill */
};

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
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

static void plain_one(const struct bloom *b, const struct digest *d, size_t n,
                      uint8_t *rethit)
{
    bloom_one_loop(b, d, n, rethit, probe_test);
}

static void plain_two(const struct bloom *b, const struct digest *d, size_t n,
                      uint8_t *rethit)
{
    bloom_two_loop(b, d, n, rethit, probe_test);
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

void bloom_line_add_range(struct bloom *b, const struct digest *d, size_t n,
                          uint64_t first, uint64_t end)
{
    bloom_one_add_loop(b, d, n, first, end, probe_add);
}

bool bloom_line_test(const struct bloom *b, const struct digest *d)
{
    struct bloom_probe p = bloom_probe_of(b, d);
    return probe_test(b->words, &p, b->k);
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
    bloom_two_add_loop(b, d, n, first, end, probe_add);
}

bool bloom_pair_test(const struct bloom *b, const struct digest *d)
{
    struct bloom_probe p = bloom_probe_of(b, d);
    struct bloom_probe second = bloom_probe_second(b, d, &p);
    return probe_test(b->words, &p, b->k / 2) &&
           probe_test(b->words, &second, b->k / 2);
}

/* ---- lines that lie elsewhere ---- */

bool bloom_is_of_lines(unsigned layout)
{
    return layout == BLOOM_ONE_LINE || layout == BLOOM_TWO_LINES;
}

unsigned bloom_line_numbers(const struct bloom *b, const struct digest *d,
                            uint64_t ret[BLOOM_KEY_LINES])
{
    struct bloom_probe p = bloom_probe_of(b, d);
    ret[0] = p.word / LINE_WORDS;
    if (b->layout == BLOOM_ONE_LINE) {
        return 1;
    }
    ret[1] = bloom_probe_second(b, d, &p).word / LINE_WORDS;
    return 2;
}

bool bloom_line_has(const struct bloom *b, const struct digest *d, unsigned i,
                    const uint64_t line[BLOOM_LINE_BYTES / 8])
{
    struct bloom_probe p = bloom_probe_of(b, d);
    if (i > 0) {
        p = bloom_probe_second(b, d, &p);
    }
    p.word = 0; /* of the line that was given */
    return probe_test(line, &p, b->layout == BLOOM_ONE_LINE ? b->k : b->k / 2);
}

const struct bloom_lines bloom_lines_plain = {
    "plain", plain_one, plain_two, bloom_line_add_range, bloom_pair_add_range};
