/* identity_key - bindings of keys, and names made from keys, without files. */
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "core/base/hash256.h"
#include "core/ring/stream/signature.h"
#include "core/ring/trust/peer_identity.h"
#include "core/ring/trust/trust_internal.h"

enum { BINDING_BYTES = OBJECT_KEY_BYTES + 8 };

static const char binding_domain[] = "gillnet-key/1";

void identity_public_of(const uint8_t secret[OBJECT_KEY_BYTES],
                        uint8_t ret[OBJECT_KEY_BYTES])
{
    EVP_PKEY *key =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, OBJECT_KEY_BYTES);
    size_t n = OBJECT_KEY_BYTES;

    memset(ret, 0, OBJECT_KEY_BYTES);
    if (key != NULL) {
        (void)EVP_PKEY_get_raw_public_key(key, ret, &n);
    }
    EVP_PKEY_free(key);
}

static struct slice binding_bytes(const struct key_binding *b,
                                  uint8_t bytes[BINDING_BYTES])
{
    memcpy(bytes, b->key, OBJECT_KEY_BYTES);
    for (size_t i = 0; i < 8; i++) {
        bytes[OBJECT_KEY_BYTES + i] = (uint8_t)(b->not_before_ms >> (8 * i));
    }
    return slice_of(bytes, BINDING_BYTES);
}

enum err identity_bind(const uint8_t identity_secret[OBJECT_KEY_BYTES],
                       struct key_binding *io)
{
    uint8_t bytes[BINDING_BYTES];

    return signature_make(identity_secret, binding_domain, binding_bytes(io, bytes),
                          io->signature);
}

bool key_binding_holds(const struct key_binding *b,
                       const uint8_t identity[OBJECT_KEY_BYTES])
{
    uint8_t bytes[BINDING_BYTES];

    return signature_holds(identity, binding_domain, binding_bytes(b, bytes),
                           b->signature);
}

void identity_origin(const uint8_t public_key[OBJECT_KEY_BYTES], struct object_id *ret)
{
    struct hash256 hash;

    hash256_of(slice_of(public_key, OBJECT_KEY_BYTES), &hash);
    memcpy(ret->b, hash.b, OBJECT_ID_BYTES);
}

void identity_wipe(struct identity *i)
{
    OPENSSL_cleanse(i->secret, sizeof(i->secret));
    OPENSSL_cleanse(i->signing_secret, sizeof(i->signing_secret));
}
