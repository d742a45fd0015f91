/*
 * scheme - the ways in which the literature turns a key into k positions of a filter of m bits.
 *
 * Universal hashing ((c x + d) mod p) mod m, chunks of an MD5 or SHA-1 sum, and the keyed digest,
 * which is the default. A scheme that cannot reach every bit is refused: chunks of 128/k bits
 * reach 2^(128/k) positions however large m is, and no value mod p exceeds p. A classic filter
 * over plain words stands here too, so that published figures can be run; lists use bloom.h.
 * Chunk sums have no key, so an attacker can choose texts with the bits of another text.
 * Depends: base.   Threads: pure; scheme_add needs its words alone.   Allocates: nothing.
 * Source: Yan, Cho 2006, sections 2.2, 3 and 5.1, equation (2); Carter, Wegman 1979.
 */
#ifndef CORE_LAB_SCHEME_H
#define CORE_LAB_SCHEME_H

#include "core/base/digest.h"
#include "core/base/err.h"

enum {
    SCHEME_K_MAX = 64,
    SCHEME_MD5_BITS = 128,
    SCHEME_SHA1_BITS = 160,
    SCHEME_BITS_LOG_MAX = 60 /* m is at most 2^60: below the larger prime */
};

/* A Mersenne prime above every m, and the prime of the paper's simulation, for m up to 2.1e9. */
#define SCHEME_PRIME       ((UINT64_C(1) << 61) - 1)
#define SCHEME_PRIME_PAPER UINT64_C(2100000011)

/* The numbers are stable: files and figures may name them. */
enum scheme_kind {
    SCHEME_KEYED = 1,
    SCHEME_UNIVERSAL = 2,
    SCHEME_UNIVERSAL_PAPER = 3, /* the paper's prime */
    SCHEME_MD5_CHUNKS = 4,
    SCHEME_SHA1_CHUNKS = 5
};

/* Both are below the prime; c is not 0. */
struct scheme_constant {
    uint64_t c;
    uint64_t d;
};

struct scheme_params {
    enum scheme_kind kind;
    uint64_t m;          /* bits of the filter */
    unsigned k;          /* probes, 1..SCHEME_K_MAX */
    bool is_partitioned; /* each probe has floor(m/k) bits of its own */
};

/* Filled by scheme_init; the constants of a universal scheme belong into a filter's header. */
struct scheme {
    struct scheme_params params;
    uint64_t part;  /* positions of one probe: m, or floor(m/k) */
    uint64_t prime; /* universal schemes */
    struct hashkey key;
    struct scheme_constant constants[SCHEME_K_MAX];
};

/* "keyed", "universal", "universal-paper", "md5", "sha1"; NULL: another number. */
const char *scheme_name(enum scheme_kind kind);
/* False: no scheme has this name. */
bool scheme_of_name(const char *name, enum scheme_kind *ret);

/* Bits that some key can reach: of m, or of the k parts together. 0: scheme_check
 * refuses the shape as impossible. */
uint64_t scheme_utilisable(const struct scheme_params *p);

/* ERR_RANGE for an impossible size, ERR_UNSUPPORTED where bits cannot be reached (both numbers
 * are in the text) or the system forbids the sum. */
enum err scheme_check(const struct scheme_params *p, struct errinfo *reterr);

/* Checks, and draws the constants of a universal scheme from the system's random source. key is
 * copied; chunks do not use it. */
enum err scheme_init(struct scheme *s, const struct scheme_params *p,
                     const struct hashkey *key, struct errinfo *reterr);
/* The same with constants that were stored or are given by a test; universal schemes only. */
enum err scheme_init_with(struct scheme *s, const struct scheme_params *p,
                          const struct scheme_constant *constants,
                          struct errinfo *reterr);

/* Writes k positions below m. Universal schemes take the first 64 bits of the keyed digest. */
void scheme_positions(const struct scheme *s, struct slice key,
                      uint64_t ret[SCHEME_K_MAX]);
/* The same for a number, as the paper's simulation has it: universal schemes only. */
void scheme_positions_of_number(const struct scheme *s, uint64_t x,
                                uint64_t ret[SCHEME_K_MAX]);

/* A classic filter in words (m bits, rounded up to whole words, zero at first). */
void scheme_add(uint64_t *words, const uint64_t *positions, unsigned k);
bool scheme_test(const uint64_t *words, const uint64_t *positions, unsigned k);

#endif
