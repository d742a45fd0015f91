/*
 * identity_seed - identities made from a seed, without files.
 */
#ifndef TESTS_UNIT_TRUST_IDENTITY_SEED_H
#define TESTS_UNIT_TRUST_IDENTITY_SEED_H

#include "core/base/hash256.h"
#include "core/ring/trust/peer_identity.h"
#include "core/ring/trust/trust_internal.h"

static inline void secret_of_seed(const uint8_t seed[32], const char *purpose,
                                  uint8_t ret[OBJECT_KEY_BYTES])
{
    struct hash256 hash;
    struct slice parts[2] = {slice_of(seed, 32), slice_str(purpose)};

    hash256_make(parts, 2, &hash);
    memcpy(ret, hash.b, OBJECT_KEY_BYTES);
}

static inline void identity_of_seed(const uint8_t seed[32], struct identity *ret)
{
    memset(ret, 0, sizeof(*ret));
    secret_of_seed(seed, "identity", ret->secret);
    secret_of_seed(seed, "signing", ret->signing_secret);
    identity_public_of(ret->secret, ret->public_key);
    identity_public_of(ret->signing_secret, ret->signing.key);
    identity_origin(ret->public_key, &ret->origin);
    /* a binding is short: no memory is needed, nothing can fail */
    (void)identity_bind(ret->secret, &ret->signing);
}

#endif
