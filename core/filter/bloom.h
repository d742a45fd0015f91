/*
 * bloom - a membership filter of bits in four layouts: "no" is final, "yes" means "perhaps".
 *
 * Positions come from the 128-bit digest by a keyed multiply-mix, so nobody without the key can aim
 * at a line. The functions are pure; the caller gives the memory: nlines lines, aligned to 64
 * bytes. bloom_add and its batches may run beside bloom_test, because words are set with release
 * stores. Batches of the line layouts are tested by AVX-512, AVX2, NEON or plain code, whichever
 * the machine offers; the answers are the same (bloom_vector.h).
 * Depends: base (digest).   Threads: any readers, one writer, or several writers with disjoint
 * ranges of lines (bloom_add_range).   Allocates: nothing.
 * Source: Bloom 1970; Putze, Sanders, Singler 2007; Yan, Cho 2006; measured in ADR 0017.
 */
#ifndef CORE_FILTER_BLOOM_H
#define CORE_FILTER_BLOOM_H

#include "core/base/digest.h"
#include "core/base/err.h"

/* The numbers are in files: never changed, never used again. */
enum bloom_layout {
    BLOOM_ONE_LINE = 1, /* k bits in one 64-byte line: a test reads one line */
    BLOOM_TWO_LINES =
        2, /* k / 2 bits in each of two lines: less error, a hit reads two */
    BLOOM_CLASSIC = 3,    /* k bits anywhere: the least error, a hit reads k lines */
    BLOOM_PARTITIONED = 4 /* one bit in each of k parts of floor(bits / k) bits */
};

enum {
    BLOOM_LINE_BYTES = 64,
    BLOOM_LINE_BITS = 512,
    BLOOM_K_MAX = 16,
    BLOOM_TWO_LINES_K_MAX = 14,
    BLOOM_BATCH = 32
};

#define BLOOM_LINES_MAX ((uint64_t)1 << 40) /* 64 TiB */

struct bloom {
    uint64_t *words; /* nlines * 8, 64-byte aligned, owner: the caller */
    uint64_t nlines;
    enum bloom_layout layout;
    unsigned k; /* 1..BLOOM_K_MAX; BLOOM_TWO_LINES: even, to BLOOM_TWO_LINES_K_MAX */
    uint64_t mix[2]; /* from the key, by bloom_key */
};

/* ERR_OK, or why no filter may have this shape: ERR_UNSUPPORTED (no such layout), ERR_RANGE (k
 * or nlines outside what the layout takes). Check every shape that comes from outside. */
enum err bloom_check(unsigned layout, uint64_t nlines, uint64_t k);
/* "one-line", "two-lines", "classic", "partitioned"; NULL for another number. */
const char *bloom_layout_name(unsigned layout);

/* n rounded up to the next step, so that two sites with about as many entries choose the same size:
 * a factor of the square root of two, from BLOOM_STEP_LEAST on. */
enum { BLOOM_STEP_LEAST = 1024 };
uint64_t bloom_items_step(uint64_t n);
/* The fewest lines, and the k, with which the layout's own formula stays at or below error with
 * n keys. ERR_UNSUPPORTED: no such layout; ERR_RANGE: n is 0, error is not within (0, 1), or
 * the layout would need more than 128 bits a key or BLOOM_LINES_MAX. Costs 1 to 10 ms. */
enum err bloom_size(enum bloom_layout layout, uint64_t n, double error,
                    uint64_t *retnlines, unsigned *retk);
/* The fewest lines for this k; 0: it takes more than 128 bits a key. */
uint64_t bloom_lines_for_error(enum bloom_layout layout, uint64_t n, double error,
                               unsigned k);
/* Lines for n keys at bits_per_key; at least 1. */
uint64_t bloom_lines_for(uint64_t n, double bits_per_key);

/* Derives the mixing constants. */
void bloom_key(struct bloom *b, const struct hashkey *key);

void bloom_add(struct bloom *b, const struct digest *d);
/* Adds n digests, with prefetch: several times faster in memory larger than the caches. */
void bloom_add_batch(struct bloom *b, const struct digest *d, size_t n);
/* Of n digests sets only the bits in lines first..end-1: threads that own disjoint ranges
 * build one filter together when each is given all digests. */
void bloom_add_range(struct bloom *b, const struct digest *d, size_t n, uint64_t first,
                     uint64_t end);
bool bloom_test(const struct bloom *b, const struct digest *d);
/* Tests n digests: computes and prefetches in batches, then tests; rethit[i] is 0 or 1. */
void bloom_test_batch(const struct bloom *b, const struct digest *d, size_t n,
                      uint8_t *rethit);

/* For a filter whose lines lie elsewhere, in a line layout (bloom_is_of_lines). b->words is not
 * used. */
enum { BLOOM_KEY_LINES = 2 };
bool bloom_is_of_lines(unsigned layout);
/* The numbers of the lines that a test reads; returns how many: 1, or 2. */
unsigned bloom_line_numbers(const struct bloom *b, const struct digest *d,
                            uint64_t ret[BLOOM_KEY_LINES]);
/* Whether the i-th of these lines, given here, has the digest's bits. bloom_test says yes if all of
 * them do. */
bool bloom_line_has(const struct bloom *b, const struct digest *d, unsigned i,
                    const uint64_t line[BLOOM_LINE_BYTES / 8]);

/* Adds to dst what is in src. Nothing is done, and ERR_UNSUPPORTED (another layout), ERR_RANGE
 * (another k or nlines) or ERR_KEY (another key) returned, unless the two are alike. */
enum err bloom_or(struct bloom *dst, const struct bloom *src);

/* Expected share of false answers with n keys inside, by the layout's formula. */
double bloom_error(enum bloom_layout layout, uint64_t nlines, unsigned k, uint64_t n);
/* Set bits over all bits, sampled over at most max_lines lines spread evenly; exact when
 * max_lines >= nlines. */
double bloom_fill(const struct bloom *b, uint64_t max_lines);
/* Share of false answers that follows from the bits, sampled like bloom_fill: load^k in the form
 * that fits the layout. bloom_error computes the same from the number of keys. */
double bloom_error_of_bits(const struct bloom *b, uint64_t max_lines);

#endif
