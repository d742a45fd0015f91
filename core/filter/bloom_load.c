/*
 * bloom_load - the error that follows from the bits, not from the planned entries.
 */
#include <math.h>

#include "core/filter/bloom_probe.h"

static double line_load(const struct bloom *b, uint64_t line)
{
    unsigned set = 0;
    for (uint64_t w = 0; w < LINE_WORDS; w++) {
        set += (unsigned)__builtin_popcountll(
            bloom_load(&b->words[line * LINE_WORDS + w]));
    }
    return set / (double)BLOOM_LINE_BITS;
}

/* Positions of other keys are independent of the set bits: k of them hit with load^k. Where a key
 * stays within lines the mean is taken over lines, of load^k, not of the load: full lines err
 * far more than empty ones make up for. */
double bloom_error_of_bits(const struct bloom *b, uint64_t max_lines)
{
    uint64_t lines = b->nlines < max_lines ? b->nlines : max_lines;
    bool is_pair = b->layout == BLOOM_TWO_LINES;
    unsigned k = is_pair ? b->k / 2 : b->k;
    double sum = 0;
    if (lines == 0) {
        return 0;
    }
    if (b->layout == BLOOM_CLASSIC || b->layout == BLOOM_PARTITIONED) {
        return pow(bloom_fill(b, max_lines), b->k);
    }
    for (uint64_t i = 0; i < lines; i++) {
        uint64_t line = (uint64_t)((double)b->nlines / (double)lines * (double)i);
        sum += pow(line_load(b, line), k);
    }
    double mean = sum / (double)lines;
    return is_pair ? mean * mean : mean;
}
