/* signature - Ed25519 of OpenSSL, and the signatures of headers. */
#include "core/ring/stream/signature.h"

#include <openssl/err.h>
#include <openssl/evp.h>

#include "core/base/cursor.h"

enum { MESSAGE_SMALL = 512 };

static const char object_domain[] = "gillnet-exchange/1";

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

enum err signature_make(const uint8_t secret[OBJECT_KEY_BYTES], const char *domain,
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

bool signature_holds(const uint8_t public_key[OBJECT_KEY_BYTES], const char *domain,
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

uint64_t object_key_id(const uint8_t public_key[OBJECT_KEY_BYTES])
{
    struct hash256 hash;
    hash256_of(slice_of(public_key, OBJECT_KEY_BYTES), &hash);
    struct cursor c = cursor_of(slice_of(hash.b, sizeof(uint64_t)));
    return cursor_u64(&c);
}

bool object_is_signed_by(struct slice header,
                         const uint8_t public_key[OBJECT_KEY_BYTES])
{
    return header.n >= OBJECT_HEADER_BYTES &&
           signature_holds(public_key, object_domain,
                           slice_head(header, OBJECT_SIGNED_BYTES),
                           (const uint8_t *)header.p + OBJECT_SIGNED_BYTES);
}

enum err object_sign(const struct object *o, const uint8_t secret[OBJECT_KEY_BYTES],
                     struct buf *ret)
{
    uint8_t signature[OBJECT_SIGNATURE_BYTES];
    const size_t at = ret->n;
    object_print(o, ret);
    enum err e = buf_failed(ret) ? ERR_NOMEM : ERR_OK;
    THEN(e, signature_make(secret, object_domain, slice_from(buf_slice(ret), at),
                           signature));
    if (e == ERR_OK) {
        buf_add(ret, slice_of(signature, sizeof(signature)));
    }
    return buf_failed(ret) ? ERR_NOMEM : e;
}
