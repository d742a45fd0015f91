/*
 * peer_identity - the keys of this server: a long-lived identity key, and the current signing key.
 *
 * Files in STATE/peers, mode 0600: identity.key and signing.key (Ed25519, PEM PKCS #8), cert.pem
 * (the self-signed certificate of the signing key, for TLS). The origin is the first half of the
 * hash of the identity's public key, and stays when the signing key changes. A signing key is
 * accepted by its binding: the identity's signature over "gillnet-key/1\0", the key and the time
 * from which it is good.
 * Depends: base, OpenSSL.   Threads: constant once loaded.   Owns: nothing outside itself.
 * ADR 0031.
 */
#ifndef CORE_RING_TRUST_PEER_IDENTITY_H
#define CORE_RING_TRUST_PEER_IDENTITY_H

#include "core/base/err.h"
#include "core/ring/stream/object.h"

struct key_binding {
    uint8_t key[OBJECT_KEY_BYTES]; /* public, signing */
    uint64_t not_before_ms;
    uint8_t signature[OBJECT_SIGNATURE_BYTES];
};
bool key_binding_holds(const struct key_binding *b,
                       const uint8_t identity[OBJECT_KEY_BYTES]);

struct identity {
    struct object_id origin;
    uint8_t public_key[OBJECT_KEY_BYTES]; /* of the identity */
    uint8_t secret[OBJECT_KEY_BYTES];
    struct key_binding signing;
    uint8_t signing_secret[OBJECT_KEY_BYTES];
};

/* The origin that belongs to a public identity key. */
void identity_origin(const uint8_t public_key[OBJECT_KEY_BYTES], struct object_id *ret);

/* Creates keys and certificate in dir. ERR_EXISTS: dir has an identity. */
enum err identity_create(const char *dir, struct identity *ret, struct errinfo *reterr);
/* ERR_NOT_FOUND: `gillnet peer init` was not done. ERR_DENIED: others may read a key. */
enum err identity_load(const char *dir, struct identity *ret, struct errinfo *reterr);
/* Creates the signing key for the time from not_before_ms (a whole second) and stores it as
 * signing.next, so that the ring can learn it first. Replaces a key there. Returns its binding. */
enum err identity_prepare(const char *dir, const struct identity *i,
                          uint64_t not_before_ms, struct key_binding *ret,
                          struct errinfo *reterr);
/* The binding of the key in signing.next. ERR_NOT_FOUND: there is no such file. */
enum err identity_prepared(const char *dir, const struct identity *i,
                           struct key_binding *ret, struct errinfo *reterr);
/* Replaces the signing key and its certificate by the key that waits, or by a new one. */
enum err identity_rotate(const char *dir, struct identity *io, struct errinfo *reterr);
void identity_wipe(struct identity *i); /* the secrets, from memory */

#endif
