/* object_sign - signatures of headers: Ed25519 of OpenSSL. */
#include <openssl/err.h>
#include <openssl/evp.h>

#include "core/base/cursor.h"
#include "core/ring/stream/object.h"

/* Its NUL is signed too: no other use of the key signs what begins so. */
static const char domain[] = "gillnet-exchange/1";

enum { MESSAGE_BYTES = sizeof(domain) + OBJECT_SIGNED_BYTES };

static void message_of(struct slice header, uint8_t ret[MESSAGE_BYTES])
{
    memcpy(ret, domain, sizeof(domain));
    memcpy(ret + sizeof(domain), header.p, OBJECT_SIGNED_BYTES);
}

uint64_t object_key_id(const uint8_t public_key[OBJECT_KEY_BYTES])
{
    struct hash256 hash;
    hash256_of(slice_of((const char *)public_key, OBJECT_KEY_BYTES), &hash);
    struct cursor c = cursor_of(slice_of((const char *)hash.b, sizeof(uint64_t)));
    return cursor_u64(&c);
}

bool object_is_signed_by(struct slice header,
                         const uint8_t public_key[OBJECT_KEY_BYTES])
{
    uint8_t message[MESSAGE_BYTES];
    bool holds = false;
    if (header.n < OBJECT_HEADER_BYTES) {
        return false;
    }
    message_of(header, message);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public_key,
                                                OBJECT_KEY_BYTES);
    if (ctx && key && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) == 1) {
        holds =
            EVP_DigestVerify(ctx, (const unsigned char *)header.p + OBJECT_SIGNED_BYTES,
                             OBJECT_SIGNATURE_BYTES, message, sizeof(message)) == 1;
    }
    EVP_PKEY_free(key);
    EVP_MD_CTX_free(ctx);
    ERR_clear_error(); /* a refused signature leaves one behind */
    return holds;
}

static bool sign(const uint8_t secret[OBJECT_KEY_BYTES], const uint8_t *message,
                 size_t n, uint8_t ret[OBJECT_SIGNATURE_BYTES])
{
    size_t written = OBJECT_SIGNATURE_BYTES;
    bool is_done = false;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    EVP_PKEY *key =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, OBJECT_KEY_BYTES);
    if (ctx && key && EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) == 1) {
        is_done = EVP_DigestSign(ctx, ret, &written, message, n) == 1 &&
                  written == OBJECT_SIGNATURE_BYTES;
    }
    EVP_PKEY_free(key);
    EVP_MD_CTX_free(ctx);
    ERR_clear_error();
    return is_done;
}

enum err object_sign(const struct object *o, const uint8_t secret[OBJECT_KEY_BYTES],
                     struct buf *ret)
{
    uint8_t message[MESSAGE_BYTES];
    uint8_t signature[OBJECT_SIGNATURE_BYTES];
    const size_t at = ret->n;
    object_print(o, ret);
    if (buf_failed(ret)) {
        return ERR_NOMEM;
    }
    message_of(slice_from(buf_slice(ret), at), message);
    if (!sign(secret, message, sizeof(message), signature)) {
        return ERR_NOMEM; /* nothing else can go wrong with 32 bytes */
    }
    buf_add(ret, slice_of((const char *)signature, sizeof(signature)));
    return buf_failed(ret) ? ERR_NOMEM : ERR_OK;
}
