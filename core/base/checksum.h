/*
 * checksum - SHA-256 of attachments, MD5 and SHA-1 for the arithmetic of old papers (OpenSSL), and
 * XXH3-64 of file blocks (xxhash).
 *
 * Threads: one thread at a time per object.   Owns: the EVP context in struct sha256.
 */
#ifndef CORE_BASE_CHECKSUM_H
#define CORE_BASE_CHECKSUM_H

#include "core/base/err.h"
#include "core/base/slice.h"

enum {
    SHA256_BYTES = 32,
    SHA256_HEX = 64,
    MD5_BYTES = 16,
    MD5_HEX = 32,
    SHA1_BYTES = 20,
    SHA1_HEX = 40
};

struct sha256 {
    void *ctx; /* EVP_MD_CTX */
};

enum err sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, struct slice bytes);
/* Ends the sum, writes lower-case hexadecimal and a NUL, and frees the context. */
void sha256_final_hex(struct sha256 *s, char rethex[SHA256_HEX + 1]);
/* Frees the context of a sum that is not wanted; accepts one already ended. */
void sha256_fini(struct sha256 *s);

/* Both are broken and keyless: for filters that must place keys as others do, never for trust.
 * ERR_UNSUPPORTED where the system's policy forbids them. */
enum err md5_sum(struct slice bytes, uint8_t ret[MD5_BYTES]);
enum err sha1_sum(struct slice bytes, uint8_t ret[SHA1_BYTES]);

/* XXH3-64 with seed 0. Against accidents, not against people. */
uint64_t checksum64(struct slice bytes);
/* Low half of checksum64, for small records. */
uint32_t checksum32(struct slice bytes);

#endif
