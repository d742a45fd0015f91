/* identity_key - what is signed and verified, without files. */
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "core/base/hash256.h"
#include "core/ring/trust/identity.h"
#include "core/ring/trust/identity_internal.h"

enum { BINDING_BYTES = OBJECT_KEY_BYTES + 8, MESSAGE_SMALL = 512 };

static const char binding_domain[] = "gillnet-key/1";

/* A message is the domain, its NUL and the bytes; short ones need no memory. */
struct message {
    uint8_t small[MESSAGE_SMALL];
    uint8_t *p; /* NULL: out of memory */
    size_t n;
};

static void message_init(struct message *m, const char *domain, struct slice bytes)
{
    size_t lead = strlen(domain) + 1;

    m->n = lead + bytes.n;
    m->p = m->n <= sizeof(m->small) ? m->small : malloc(m->n);
    if (m->p != NULL) {
        memcpy(m->p, domain, lead);
        if (bytes.n > 0) {
            memcpy(m->p + lead, bytes.p, bytes.n);
        }
    }
}

static void message_fini(struct message *m)
{
    if (m->p != m->small) {
        free(m->p);
    }
}

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

enum err identity_sign(const uint8_t secret[OBJECT_KEY_BYTES], const char *domain,
                       struct slice bytes, uint8_t ret[OBJECT_SIGNATURE_BYTES])
{
    EVP_PKEY *key =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, OBJECT_KEY_BYTES);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    size_t n = OBJECT_SIGNATURE_BYTES;
    struct message m;

    message_init(&m, domain, bytes);
    bool ok = m.p != NULL && key != NULL && ctx != NULL &&
              EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) == 1 &&
              EVP_DigestSign(ctx, ret, &n, m.p, m.n) == 1 &&
              n == OBJECT_SIGNATURE_BYTES;
    message_fini(&m);
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return ok ? ERR_OK : ERR_NOMEM; /* nothing else can be wrong */
}

bool identity_verify(const uint8_t public_key[OBJECT_KEY_BYTES], const char *domain,
                     struct slice bytes,
                     const uint8_t signature[OBJECT_SIGNATURE_BYTES])
{
    EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public_key,
                                                OBJECT_KEY_BYTES);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    struct message m;

    message_init(&m, domain, bytes);
    bool ok = m.p != NULL && key != NULL && ctx != NULL &&
              EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) == 1 &&
              EVP_DigestVerify(ctx, signature, OBJECT_SIGNATURE_BYTES, m.p, m.n) == 1;
    message_fini(&m);
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return ok;
}

static struct slice binding_bytes(const struct key_binding *b,
                                  uint8_t bytes[BINDING_BYTES])
{
    memcpy(bytes, b->key, OBJECT_KEY_BYTES);
    for (size_t i = 0; i < 8; i++) {
        bytes[OBJECT_KEY_BYTES + i] = (uint8_t)(b->not_before_ms >> (8 * i));
    }
    return slice_of((const char *)bytes, BINDING_BYTES);
}

enum err identity_bind(const uint8_t identity_secret[OBJECT_KEY_BYTES],
                       struct key_binding *io)
{
    uint8_t bytes[BINDING_BYTES];

    return identity_sign(identity_secret, binding_domain, binding_bytes(io, bytes),
                         io->signature);
}

bool key_binding_holds(const struct key_binding *b,
                       const uint8_t identity[OBJECT_KEY_BYTES])
{
    uint8_t bytes[BINDING_BYTES];

    return identity_verify(identity, binding_domain, binding_bytes(b, bytes),
                           b->signature);
}

void identity_origin(const uint8_t public_key[OBJECT_KEY_BYTES], struct object_id *ret)
{
    struct hash256 hash;

    hash256_of(slice_of((const char *)public_key, OBJECT_KEY_BYTES), &hash);
    memcpy(ret->b, hash.b, OBJECT_ID_BYTES);
}

static void secret_of_seed(const uint8_t seed[32], const char *purpose,
                           uint8_t ret[OBJECT_KEY_BYTES])
{
    struct hash256 hash;
    struct slice parts[2] = {slice_of((const char *)seed, 32), slice_str(purpose)};

    hash256_make(parts, 2, &hash);
    memcpy(ret, hash.b, OBJECT_KEY_BYTES);
    OPENSSL_cleanse(&hash, sizeof(hash));
}

void identity_of_seed(const uint8_t seed[32], struct identity *ret)
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

void identity_wipe(struct identity *i)
{
    OPENSSL_cleanse(i->secret, sizeof(i->secret));
    OPENSSL_cleanse(i->signing_secret, sizeof(i->signing_secret));
}
