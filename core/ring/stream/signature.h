/*
 * signature - Ed25519 signatures over a domain, its NUL and bytes.
 *
 * Each use of a key has its own domain, so a signature made for one use is worthless for another.
 * Depends: base, OpenSSL.   Threads: pure.   ADR 0030, 0031.
 */
#ifndef CORE_RING_STREAM_SIGNATURE_H
#define CORE_RING_STREAM_SIGNATURE_H

#include "core/ring/stream/object.h"

/* secret: the 32 bytes of an Ed25519 private key. ERR_NOMEM. */
enum err signature_make(const uint8_t secret[OBJECT_KEY_BYTES], const char *domain,
                        struct slice bytes, uint8_t ret[OBJECT_SIGNATURE_BYTES]);
bool signature_holds(const uint8_t public_key[OBJECT_KEY_BYTES], const char *domain,
                     struct slice bytes,
                     const uint8_t signature[OBJECT_SIGNATURE_BYTES]);

#endif
