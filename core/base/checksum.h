/*
 * checksum - SHA-256 of attachments (OpenSSL) and XXH3-64 of file blocks (xxhash).
 *
 * Threads: one thread at a time per object.   Owns: the EVP context in struct sha256.
 */
#ifndef CORE_BASE_CHECKSUM_H
#define CORE_BASE_CHECKSUM_H

#include <stdint.h>

#include "core/base/err.h"
#include "core/base/slice.h"

enum { SHA256_BYTES = 32, SHA256_HEX = 64 };

struct sha256 {
    void *ctx; /* EVP_MD_CTX */
};

enum err sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, struct slice bytes);
/* Ends the sum, writes lower-case hexadecimal and a NUL, and frees the context. */
void sha256_final_hex(struct sha256 *s, char rethex[SHA256_HEX + 1]);
/* Frees the context of a sum that is not wanted; accepts one already ended. */
void sha256_fini(struct sha256 *s);

/* XXH3-64 with seed 0. Against accidents, not against people. */
uint64_t checksum64(struct slice bytes);
/* Low half of checksum64, for small records. */
uint32_t checksum32(struct slice bytes);

#endif
