/*
 * shingle - near-duplicate keys of a text: keyed min-hashes over runs of words, in bands.
 *
 * A shingle is SHINGLE_WORDS folded words in a row (of scripts without spaces: characters, each
 * with the one before it). Each is hashed once, and once more per epoch; one-permutation hashing
 * drops it into one of SHINGLE_BINS bins, which keep their least value, empty bins borrow from
 * full ones, and SHINGLE_ROWS bins make a band. Texts that share much share a band, a countable
 * key; nobody without the epoch's key can tell which words matter. Sketches of two texts can be
 * merged into that of both. Texts of few distinct shingles give no keys.
 * Threads: one at a time per object.   Allocates: nothing.   Depends: base, text.
 * Source: Li, Owen, Zhang 2012 (one permutation hashing); Shrivastava 2017 (optimal
 * densification); numbers and widths: ADR 0015.
 */
#ifndef CORE_MESSAGE_EXTRACT_SHINGLE_H
#define CORE_MESSAGE_EXTRACT_SHINGLE_H

#include "core/base/digest.h"
#include "core/message/extract/boilerplate.h"
#include "core/message/text/fold.h"

enum {
    SHINGLE_WORDS = 3,
    SHINGLE_BANDS = 12, /* of each epoch */
    SHINGLE_ROWS = 3,   /* bins of a band */
    SHINGLE_BINS = SHINGLE_BANDS * SHINGLE_ROWS,
    SHINGLE_EPOCHS = 2,           /* live at once: the one of now and the one before */
    SHINGLE_EPOCH_S = 30 * 86400, /* seconds */
    SHINGLE_DISTINCT_MIN = 20, /* entropy gate: distinct shingles of a text with keys */
    SHINGLE_SEEN_BITS = 1024   /* to count the distinct ones with */
};

struct shingle_epoch {
    uint32_t number; /* time since 1970 in SHINGLE_EPOCH_S */
    uint64_t key[4];
};

/* The secrets of fingerprints. */
struct shingle_keys {
    bool is_set;      /* false: no keyed fingerprints are made */
    uint64_t word[4]; /* of words and shingles: the same in all epochs */
    struct shingle_epoch epoch[SHINGLE_EPOCHS];
};

/* Those of this time, derived from the digest key (of which they tell nothing). */
void shingle_keys_make(const struct hashkey *ring, uint64_t unix_s,
                       struct shingle_keys *ret);

/* The least hashes of a text's shingles. */
struct sketch {
    uint64_t least[SHINGLE_EPOCHS][SHINGLE_BINS]; /* UINT64_MAX: empty */
    uint64_t seen[SHINGLE_SEEN_BITS / 64];
};

/* All skeleton words of a text in order. */
struct wordsum {
    uint32_t nwords;
    uint64_t sum[2];
};

/* State between words and shingles. A new one is zero bytes with keys set. */
struct shingler {
    const struct shingle_keys *keys;
    unsigned nrun;      /* words since shingler_break, at most SHINGLE_WORDS */
    unsigned nunspoken; /* of these the last that are numbers, ids, URLs or addresses */
    uint64_t last[2];   /* hashes of the last words */
    uint64_t alone;     /* hash of the character before, when that stood alone */
    uint64_t line;      /* of all words since the caller set it to 0 */
};

/* A word; true when it ends a shingle. Shingles in which nothing is spoken (numbers, ids, URLs and
 * addresses, which differ from copy to copy and are alike in all mail) are none. sum may be
 * NULL. */
bool shingler_word(struct shingler *s, struct wordsum *sum,
                   const struct fold_word *word, uint64_t *retshingle);
/* The next word does not follow the last one. */
void shingler_break(struct shingler *s);

void wordsum_merge(struct wordsum *into, const struct wordsum *from);

void sketch_init(struct sketch *s);
/* n shingles of a text go in; those that guard (may be NULL) takes for common do not. */
void sketch_add(struct sketch *s, const struct shingle_keys *keys,
                const struct boilerplate *guard, const uint64_t *shingles, size_t n);
void sketch_merge(struct sketch *into, const struct sketch *from);
/* Distinct shingles, about; those that the guard took out not counted. */
unsigned sketch_distinct(const struct sketch *s);
/* The keys of an epoch (an index of shingle_keys.epoch). False: the text has too few shingles. */
bool sketch_bands(const struct sketch *s, const struct shingle_keys *keys,
                  unsigned epoch, uint64_t retbands[SHINGLE_BANDS]);

#endif
