/*
 * trust_internal - keys and certificates as PEM, and the body of a manifest as JSON.
 *
 * Not for other rooms.   Depends: base, OpenSSL, jansson.   Threads: any.   Owns: nothing.
 */
#ifndef CORE_RING_TRUST_TRUST_INTERNAL_H
#define CORE_RING_TRUST_TRUST_INTERNAL_H

#include "core/ring/trust/manifest.h"

enum { IDENTITY_PEM_MAX = 16384 };

void identity_public_of(const uint8_t secret[OBJECT_KEY_BYTES],
                        uint8_t ret[OBJECT_KEY_BYTES]);
enum err identity_bind(const uint8_t identity_secret[OBJECT_KEY_BYTES],
                       struct key_binding *io);

/* PKCS #8. */
enum err identity_pem_print(const uint8_t secret[OBJECT_KEY_BYTES], struct buf *ret);
/* ERR_SYNTAX: no unencrypted Ed25519 key. */
enum err identity_pem_parse(struct slice pem, uint8_t ret[OBJECT_KEY_BYTES]);

/* A self-signed certificate of the key, valid from not_before_ms without end: the manifest limits
 * how long a key is accepted. */
enum err identity_cert_print(const uint8_t secret[OBJECT_KEY_BYTES],
                             const struct object_id *origin, uint64_t not_before_ms,
                             struct buf *ret);
/* The certificate in pem, which must be of this public key; retcert: the certificate alone, as PEM
 * (may be NULL). */
enum err identity_cert_parse(struct slice pem, const uint8_t key[OBJECT_KEY_BYTES],
                             uint64_t *retnot_before_ms, struct buf *retcert);

/* Checks form, bounds and unique values of one line of JSON. m is empty; after a failure the caller
 * calls manifest_fini. */
enum err manifest_body_parse(struct slice body, struct manifest *m,
                             struct errinfo *reterr);
void manifest_body_print(const struct manifest *m, struct buf *ret);

#endif
