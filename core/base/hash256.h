/*
 * hash256 - BLAKE2b-256: the name of an object, a key, a stream; unkeyed.
 *
 * Source: RFC 7693 (libsodium).   Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_BASE_HASH256_H
#define CORE_BASE_HASH256_H

#include "core/base/slice.h"

enum {
    HASH256_BYTES = 32,
    HASH256_HEX = 2 * HASH256_BYTES,
    HASH256_LANES = 4,
    HASH256_SHORT = 128 /* bytes of a short message at most */
};

struct hash256 {
    uint8_t b[HASH256_BYTES];
};

/* The hash of the n parts one after the other. */
void hash256_make(const struct slice *parts, size_t n, struct hash256 *ret);
/* The hash of one part. */
void hash256_of(struct slice bytes, struct hash256 *ret);
bool hash256_equal(const struct hash256 *a, const struct hash256 *b);

struct hash256_message {
    uint8_t b[HASH256_SHORT];
};
/* The hashes of four messages of n bytes each (HASH256_SHORT at most, zeros after them), in one
 * pass where the processor can. */
void hash256_four(const struct hash256_message p[HASH256_LANES], size_t n,
                  struct hash256 ret[HASH256_LANES]);
/* The same in one way, for tests. False: this machine cannot. */
enum hash256_way { HASH256_ONE_BY_ONE, HASH256_AVX2, HASH256_AVX512 };
bool hash256_four_in(enum hash256_way way,
                     const struct hash256_message p[HASH256_LANES], size_t n,
                     struct hash256 ret[HASH256_LANES]);

/* ---- bytes as hexadecimal digits, small letters ---- */

/* ret: 2 * n digits and a NUL. */
void hex_print(const uint8_t *bytes, size_t n, char *ret);
/* text must be exactly 2 * n digits, of either case. */
bool hex_parse(struct slice text, uint8_t *ret, size_t n);
/* The same for digits in lower case alone: one value has one text. */
bool hex_parse_lower(struct slice text, uint8_t *ret, size_t n);

#endif
