/* identity_cert - Ed25519 keys and the certificate for TLS, by OpenSSL. */
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "core/base/hash256.h"
#include "core/base/random.h"
#include "core/ring/trust/peer_identity.h"
#include "core/ring/trust/trust_internal.h"

enum { SERIAL_BYTES = 16, CN_MAX = 64, VERSION_3 = 2, MS = 1000 };

/* Without it OpenSSL would ask for the password of an encrypted key at a terminal. */
/* NOLINTNEXTLINE(readability-non-const-parameter): OpenSSL's type */
static int no_password(char *dst, int size, int is_for_writing, void *arg)
{
    (void)dst;
    (void)size;
    (void)is_for_writing;
    (void)arg;
    return -1;
}

static enum err add_bio(BIO *bio, struct buf *ret)
{
    char *p = NULL;
    long n = BIO_get_mem_data(bio, &p);

    if (n <= 0) {
        return ERR_NOMEM;
    }
    buf_add(ret, slice_of(p, (size_t)n));
    return buf_failed(ret) ? ERR_NOMEM : ERR_OK;
}

enum err identity_pem_print(const uint8_t secret[OBJECT_KEY_BYTES], struct buf *ret)
{
    EVP_PKEY *key =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, OBJECT_KEY_BYTES);
    BIO *bio = BIO_new(BIO_s_secmem());
    enum err e = ERR_NOMEM;

    if (key != NULL && bio != NULL &&
        PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1) {
        e = add_bio(bio, ret);
    }
    BIO_free(bio);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return e;
}

enum err identity_pem_parse(struct slice pem, uint8_t ret[OBJECT_KEY_BYTES])
{
    size_t n = OBJECT_KEY_BYTES;
    BIO *bio = pem.n <= IDENTITY_PEM_MAX ? BIO_new_mem_buf(pem.p, (int)pem.n) : NULL;
    EVP_PKEY *key =
        bio != NULL ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;
    enum err e = ERR_SYNTAX;

    if (key != NULL && EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 &&
        EVP_PKEY_get_raw_private_key(key, ret, &n) == 1 && n == OBJECT_KEY_BYTES) {
        e = ERR_OK;
    }
    EVP_PKEY_free(key);
    BIO_free(bio);
    ERR_clear_error();
    return e;
}

static bool set_serial(X509 *cert)
{
    uint8_t bytes[SERIAL_BYTES];

    random_bytes(bytes, sizeof(bytes));
    bytes[0] = (uint8_t)((bytes[0] & 0x7f) | 0x40); /* positive, of full length */
    BIGNUM *number = BN_bin2bn(bytes, SERIAL_BYTES, NULL);
    bool ok = number != NULL &&
              BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert)) != NULL;
    BN_free(number);
    return ok;
}

static bool set_name(X509 *cert, const struct object_id *origin)
{
    struct object_id_hex hex = object_id_hex(origin);
    X509_NAME *name = X509_get_subject_name(cert);

    return X509_NAME_add_entry_by_txt(name, "O", MBSTRING_ASC,
                                      (const unsigned char *)"gillnet", -1, -1,
                                      0) == 1 &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                      (const unsigned char *)hex.digits, -1, -1,
                                      0) == 1 &&
           X509_set_issuer_name(cert, name) == 1;
}

static bool add_extension(X509 *cert, int nid, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    bool ok = extension != NULL && X509_add_ext(cert, extension, -1) == 1;

    X509_EXTENSION_free(extension);
    return ok;
}

static bool fill_cert(X509 *cert, EVP_PKEY *key, const struct object_id *origin,
                      uint64_t not_before_ms)
{
    return X509_set_version(cert, VERSION_3) == 1 && set_serial(cert) &&
           set_name(cert, origin) &&
           ASN1_TIME_set(X509_getm_notBefore(cert), (time_t)(not_before_ms / MS)) !=
               NULL &&
           ASN1_TIME_set_string_X509(X509_getm_notAfter(cert), "99991231235959Z") ==
               1 &&
           X509_set_pubkey(cert, key) == 1 &&
           add_extension(cert, NID_basic_constraints, "critical,CA:FALSE") &&
           add_extension(cert, NID_key_usage, "critical,digitalSignature") &&
           add_extension(cert, NID_ext_key_usage, "serverAuth,clientAuth") &&
           X509_sign(cert, key, NULL) > 0;
}

enum err identity_cert_print(const uint8_t secret[OBJECT_KEY_BYTES],
                             const struct object_id *origin, uint64_t not_before_ms,
                             struct buf *ret)
{
    EVP_PKEY *key =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, OBJECT_KEY_BYTES);
    X509 *cert = X509_new();
    BIO *bio = BIO_new(BIO_s_mem());
    enum err e = ERR_NOMEM;

    if (key != NULL && cert != NULL && bio != NULL &&
        fill_cert(cert, key, origin, not_before_ms) &&
        PEM_write_bio_X509(bio, cert) == 1) {
        e = add_bio(bio, ret);
    }
    BIO_free(bio);
    X509_free(cert);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return e;
}

static bool is_of_key(X509 *cert, const uint8_t key[OBJECT_KEY_BYTES])
{
    uint8_t found[OBJECT_KEY_BYTES];
    size_t n = sizeof(found);
    EVP_PKEY *own = X509_get0_pubkey(cert);

    return own != NULL && EVP_PKEY_get_id(own) == EVP_PKEY_ED25519 &&
           EVP_PKEY_get_raw_public_key(own, found, &n) == 1 && n == sizeof(found) &&
           memcmp(found, key, sizeof(found)) == 0;
}

enum err identity_cert_parse(struct slice pem, const uint8_t key[OBJECT_KEY_BYTES],
                             uint64_t *retnot_before_ms, struct buf *retcert)
{
    BIO *bio = pem.n <= IDENTITY_PEM_MAX ? BIO_new_mem_buf(pem.p, (int)pem.n) : NULL;
    X509 *cert = bio != NULL ? PEM_read_bio_X509(bio, NULL, no_password, NULL) : NULL;
    struct tm tm;
    enum err e = ERR_SYNTAX;

    if (cert != NULL && is_of_key(cert, key) &&
        ASN1_TIME_to_tm(X509_get0_notBefore(cert), &tm) == 1) {
        time_t at = timegm(&tm);
        *retnot_before_ms = at > 0 ? (uint64_t)at * MS : 0;
        e = ERR_OK;
    }
    if (e == ERR_OK && retcert != NULL) {
        BIO *out = BIO_new(BIO_s_mem());
        e = out != NULL && PEM_write_bio_X509(out, cert) == 1 ? add_bio(out, retcert)
                                                              : ERR_NOMEM;
        BIO_free(out);
    }
    X509_free(cert);
    BIO_free(bio);
    ERR_clear_error();
    return e;
}
