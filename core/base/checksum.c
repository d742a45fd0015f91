/* checksum - OpenSSL and xxhash behind two small interfaces. */
#include "core/base/checksum.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <sodium.h>
#include <xxhash.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Looked up once: OpenSSL takes microseconds for it. */
static const EVP_MD *sha256;
static const EVP_MD *md5;
static const EVP_MD *sha1;

static void fetch_all(void)
{
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    md5 = EVP_MD_fetch(NULL, "MD5", NULL);
    sha1 = EVP_MD_fetch(NULL, "SHA1", NULL);
}

enum err sha256_init(struct sha256 *s)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    s->ctx = NULL;
    (void)pthread_once(&once, fetch_all);
    if (!ctx) {
        return ERR_NOMEM;
    }
    if (sha256 == NULL || EVP_DigestInit_ex2(ctx, sha256, NULL) != 1) {
        EVP_MD_CTX_free(ctx);
        return ERR_UNSUPPORTED;
    }
    s->ctx = ctx;
    return ERR_OK;
}

void sha256_add(struct sha256 *s, struct slice bytes)
{
    /* Cannot fail after a successful init of a built-in digest; if it does, the sum is not
     * trusted: final then writes the empty text. */
    if (s->ctx && EVP_DigestUpdate(s->ctx, bytes.p, bytes.n) != 1) {
        sha256_fini(s);
    }
}

void sha256_final_hex(struct sha256 *s, char rethex[SHA256_HEX + 1])
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    rethex[0] = '\0';
    if (s->ctx && EVP_DigestFinal_ex(s->ctx, sum, &n) == 1 && n == SHA256_BYTES) {
        sodium_bin2hex(rethex, SHA256_HEX + 1, sum, SHA256_BYTES);
    }
    sha256_fini(s);
}

void sha256_fini(struct sha256 *s)
{
    EVP_MD_CTX_free(s->ctx);
    s->ctx = NULL;
}

/* ret has room for the sum; md may be NULL. */
static enum err sum_at_once(const EVP_MD *md, struct slice bytes, uint8_t *ret)
{
    if (md == NULL || EVP_Digest(bytes.p, bytes.n, ret, NULL, md, NULL) != 1) {
        return ERR_UNSUPPORTED;
    }
    return ERR_OK;
}

enum err md5_sum(struct slice bytes, uint8_t ret[MD5_BYTES])
{
    (void)pthread_once(&once, fetch_all);
    return sum_at_once(md5, bytes, ret);
}

enum err sha1_sum(struct slice bytes, uint8_t ret[SHA1_BYTES])
{
    (void)pthread_once(&once, fetch_all);
    return sum_at_once(sha1, bytes, ret);
}

uint64_t checksum64(struct slice bytes)
{
    return XXH3_64bits(bytes.p, bytes.n);
}

uint32_t checksum32(struct slice bytes)
{
    return (uint32_t)checksum64(bytes);
}
