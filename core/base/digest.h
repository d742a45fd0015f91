/*
 * digest - the keyed 128-bit name of a value: SipHash-2-4-128(key, type || 0 || value).
 *
 * Everything gillnet knows or counts is known by this digest. The digest key is random for each
 * installation, so nobody outside can aim at an entry; two keys can be active at once (joining
 * a ring, rotation): writers use the first, readers try both.
 * Type is written as 16 bits little-endian before the zero byte.
 * Source: SipHash (Aumasson, Bernstein 2012), libsodium crypto_shorthash_siphashx24. Frozen by
 * the vectors in tests/unit/base/test_digest.c and ADR 0006.
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_BASE_DIGEST_H
#define CORE_BASE_DIGEST_H

#include "core/base/slice.h"

enum { DIGEST_BYTES = 16, HASHKEY_BYTES = 16 };

struct digest {
    uint8_t b[DIGEST_BYTES];
};

struct hashkey {
    uint32_t
        id; /* names the key in file headers: first 4 bytes (LE) of BLAKE2b-256(key bytes) */
    uint8_t bytes[HASHKEY_BYTES];
};

void digest_make(const struct hashkey *key, uint16_t type, struct slice value,
                 struct digest *ret);
/* memcmp order: the order of runs, of the exact index and of sorted imports. */
int digest_cmp(const struct digest *a, const struct digest *b);

/* 64 bits of an unkeyed-looking, per-process keyed hash for hash tables that hostile text
 * fills; differs from process to process, never stored. */
uint64_t hash_local(struct slice s);
/* Draws the key of hash_local. base_init calls it; without it the key is zero. */
void hash_local_init(void);

#endif
