/*
 * cuckoo - a membership filter that can forget: for sets whose members come and go.
 *
 * A key leaves a 16-bit fingerprint in one of two buckets of four. "No" is final for every key
 * that was added and not removed; "yes" means only "perhaps": a fingerprint is shared by
 * one in 65,535 others, so the exact store decides, as behind every other filter. It is a
 * multiset: a key added twice must be removed twice, and a fingerprint fits at most
 * CUCKOO_COPIES_MAX times.
 * cuckoo_remove takes away a fingerprint. Where none matches it is refused; where another key
 * has the same one (as likely as cuckoo_error) nobody can know, and that key would be lost: remove
 * only what an exact store confirms to be inside.
 * An addition that finds no room changes nothing.
 * Depends: base (digest).   Threads: any readers, or one writer alone: an addition moves other
 * keys, which a reader might miss meanwhile.   Allocates: nothing.
 * Source: Fan, Andersen, Kaminsky, Mitzenmacher 2014; any number of buckets instead of powers of
 * two; measured in ADR 0018.
 */
#ifndef CORE_LAB_CUCKOO_H
#define CORE_LAB_CUCKOO_H

#include "core/base/digest.h"
#include "core/base/err.h"

enum {
    CUCKOO_BUCKET_ENTRIES = 4,
    CUCKOO_FINGERPRINT_BITS = 16,
    CUCKOO_FINGERPRINTS = 65535, /* different ones; 0 is an empty place */
    CUCKOO_BUCKET_BYTES = 8,
    CUCKOO_KICKS_MAX = 500, /* entries moved for one addition */
    CUCKOO_COPIES_MAX = 8,  /* of one fingerprint in its two buckets */
    CUCKOO_BATCH = 32
};

/* Largest n of cuckoo_buckets_for. */
#define CUCKOO_KEYS_MAX (UINT64_C(1) << 48)

struct cuckoo {
    uint64_t *buckets; /* nbuckets, 0 at first, owner: the caller */
    uint64_t nbuckets; /* at least 1 */
    uint64_t entries;  /* fingerprints inside */
    uint64_t mix[2];   /* from the key, by cuckoo_key */
    uint64_t walk;     /* chooses who moves; any value */
};

/* Buckets for n different keys at a load of 0.95; fewer than one set of keys in 1,000 does not fit
 * (cuckoo_add says so: take more). 0 where n is above CUCKOO_KEYS_MAX. */
uint64_t cuckoo_buckets_for(uint64_t n);
/* Derives the mixing constants. */
void cuckoo_key(struct cuckoo *c, const struct hashkey *key);

/* ERR_NOSPACE: the filter is full, make a larger one from the exact entries. ERR_LIMIT: this
 * fingerprint is there CUCKOO_COPIES_MAX times. */
enum err cuckoo_add(struct cuckoo *c, const struct digest *d);
/* Adds in order, with prefetch, until one fails; *retadded are inside then. */
enum err cuckoo_add_batch(struct cuckoo *c, const struct digest *d, size_t n,
                          size_t *retadded);
/* ERR_NOT_FOUND: it is surely not inside, nothing was done. */
enum err cuckoo_remove(struct cuckoo *c, const struct digest *d);
bool cuckoo_test(const struct cuckoo *c, const struct digest *d);
/* Tests n digests in batches with prefetch; rethit[i] is 0 or 1. */
void cuckoo_test_batch(const struct cuckoo *c, const struct digest *d, size_t n,
                       uint8_t *rethit);

/* Expected share of false answers with this many entries inside. */
double cuckoo_error(uint64_t nbuckets, uint64_t entries);
/* Entries over places. */
double cuckoo_load(const struct cuckoo *c);

#endif
