/*
 * identity_internal - keys and certificates as PEM; private to identity.
 *
 * Depends: base, OpenSSL.   Threads: any.   Owns: nothing.
 */
#ifndef CORE_RING_TRUST_IDENTITY_INTERNAL_H
#define CORE_RING_TRUST_IDENTITY_INTERNAL_H

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/ring/trust/identity.h"

enum { IDENTITY_PEM_MAX = 16384 };

void identity_public_of(const uint8_t secret[OBJECT_KEY_BYTES],
                        uint8_t ret[OBJECT_KEY_BYTES]);
enum err identity_bind(const uint8_t identity_secret[OBJECT_KEY_BYTES],
                       struct key_binding *io);

/* PKCS #8. */
enum err identity_pem_print(const uint8_t secret[OBJECT_KEY_BYTES], struct buf *ret);
/* ERR_SYNTAX: no unencrypted Ed25519 key. */
enum err identity_pem_parse(struct slice pem, uint8_t ret[OBJECT_KEY_BYTES]);

/* A self-signed certificate of the key, good from not_before_ms without end: how long a key counts is the manifest's
 * to say. */
enum err identity_cert_print(const uint8_t secret[OBJECT_KEY_BYTES],
                             const struct object_id *origin, uint64_t not_before_ms,
                             struct buf *ret);
/* The certificate in pem, which must be of this public key; retcert: it alone, as PEM (may be NULL). */
enum err identity_cert_parse(struct slice pem, const uint8_t key[OBJECT_KEY_BYTES],
                             uint64_t *retnot_before_ms, struct buf *retcert);

#endif
