#include "core/hub/exchange/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "core/base/file.h"
#include "core/hub/http/http_server.h"

static bool key_of(X509 *certificate, uint8_t ret[OBJECT_KEY_BYTES])
{
    EVP_PKEY *key = X509_get0_pubkey(certificate);
    size_t n = OBJECT_KEY_BYTES;

    return key != NULL && EVP_PKEY_id(key) == EVP_PKEY_ED25519 &&
           EVP_PKEY_get_raw_public_key(key, ret, &n) == 1 && n == OBJECT_KEY_BYTES;
}

/* NULL: it has the form of ours. use: what it must be for. */
static const char *form_fault(X509 *certificate, uint32_t use,
                              uint8_t retkey[OBJECT_KEY_BYTES])
{
    if (!key_of(certificate, retkey)) {
        return "its key is not Ed25519";
    }
    if (X509_cmp_current_time(X509_get0_notBefore(certificate)) >= 0) {
        return "its certificate is not valid yet; are both clocks right?";
    }
    if (X509_cmp_current_time(X509_get0_notAfter(certificate)) <= 0) {
        return "its certificate has expired; `gillnet peer rotate` there makes a new "
               "one";
    }
    if ((X509_get_extension_flags(certificate) & EXFLAG_XKUSAGE) == 0 ||
        (X509_get_extended_key_usage(certificate) & use) == 0) {
        return "its certificate is not for this use";
    }
    if (X509_NAME_cmp(X509_get_subject_name(certificate),
                      X509_get_issuer_name(certificate)) != 0 ||
        X509_verify(certificate, X509_get0_pubkey(certificate)) != 1) {
        return "its certificate is not signed by its own key";
    }
    return NULL;
}

static const char *pin_fault(const struct tls_pins *pins,
                             const uint8_t key[OBJECT_KEY_BYTES])
{
    const char *why = NULL;
    const struct manifest_member *m = NULL;

    if (pins->key != NULL) {
        return memcmp(pins->key, key, OBJECT_KEY_BYTES) == 0
                   ? NULL
                   : "it is not the server that the invitation names";
    }
    if (pins->node == NULL) {
        return "nobody is known";
    }
    m = node_member_of_key(pins->node, key, &why);
    if (m == NULL) {
        return why;
    }
    if (pins->origin != NULL &&
        memcmp(pins->origin->b, m->origin.b, OBJECT_ID_BYTES) != 0) {
        return "another member answers at this address";
    }
    return NULL;
}

bool tls_is_join(const SSL *ssl)
{
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

    return name != NULL && strcmp(name, TLS_JOIN_NAME) == 0;
}

/* Takes the place of OpenSSL's walk of a chain. */
static int check(X509_STORE_CTX *store, void *context)
{
    struct tls_pins *pins = context;
    X509 *certificate = X509_STORE_CTX_get0_cert(store);
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    uint8_t key[OBJECT_KEY_BYTES];
    bool is_server = ssl != NULL && SSL_is_server(ssl);
    const char *why = NULL;

    if (certificate == NULL) {
        why = "it showed no certificate";
    } else if (sk_X509_num(X509_STORE_CTX_get0_untrusted(store)) != 1) {
        why = "it showed several certificates; a peer has one";
    } else {
        why = form_fault(certificate, is_server ? XKU_SSL_CLIENT : XKU_SSL_SERVER, key);
    }

    if (why == NULL && is_server && tls_is_join(ssl)) {
        why = pins->node != NULL && pins->may_join != NULL && pins->may_join(pins->node)
                  ? NULL
                  : "no invitation is open";
    } else if (why == NULL) {
        why = pin_fault(pins, key);
    }
    if (why != NULL) {
        (void)snprintf(pins->why, sizeof(pins->why), "%s", why);
        X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
        return 0;
    }
    X509_STORE_CTX_set_error(store, X509_V_OK);
    return 1;
}

static enum err failed(const char *where, struct errinfo *reterr, const char *what)
{
    char text[160] = "";
    unsigned long code = ERR_peek_last_error();

    ERR_error_string_n(code, text, sizeof(text));
    ERR_clear_error();
    return errinfo_set(reterr, ERR_UNSUPPORTED, where, 0, "%s: %s", what, text);
}

static enum err use_files(SSL_CTX *ctx, const char *dir, struct errinfo *reterr)
{
    char certificate[FILE_PATH_MAX];
    char key[FILE_PATH_MAX];

    if (file_path(certificate, "%s/cert.pem", dir) != ERR_OK ||
        file_path(key, "%s/signing.key", dir) != ERR_OK) {
        return errinfo_set(reterr, ERR_LIMIT, dir, 0, "the path is too long");
    }
    if (SSL_CTX_use_certificate_file(ctx, certificate, SSL_FILETYPE_PEM) != 1) {
        return failed(certificate, reterr,
                      "the certificate cannot be used; `gillnet peer rotate` makes a "
                      "new one");
    }
    if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(ctx) != 1) {
        return failed(key, reterr,
                      "the signing key does not fit the certificate; `gillnet peer "
                      "rotate` makes new ones");
    }
    return ERR_OK;
}

enum err tls_client_set(SSL_CTX *ctx, const char *dir, struct tls_pins *pins,
                        struct errinfo *reterr)
{
    char only[] = "ed25519"; /* the macros below cast const away */

    if (SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set1_sigalgs_list(ctx, only) != 1 ||
        SSL_CTX_set1_client_sigalgs_list(ctx, only) != 1 ||
        SSL_CTX_set_num_tickets(ctx, 0) != 1 ||
        SSL_CTX_set_max_early_data(ctx, 0) != 1) {
        return failed("TLS", reterr, "OpenSSL refuses TLS 1.3 with Ed25519");
    }
    (void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    (void)SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION |
                                       SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_cert_verify_callback(ctx, check, pins);
    return dir != NULL ? use_files(ctx, dir, reterr) : ERR_OK;
}

enum err tls_server_new(const char *dir, struct tls_pins *pins, SSL_CTX **ret,
                        struct errinfo *reterr)
{
    SSL_CTX *ctx = http_tls_new(TLS1_3_VERSION);
    enum err e;

    if (ctx == NULL) {
        return failed("TLS", reterr, "no memory for TLS");
    }
    e = tls_client_set(ctx, dir, pins, reterr);
    if (e != ERR_OK) {
        SSL_CTX_free(ctx);
        return e;
    }
    *ret = ctx;
    return ERR_OK;
}

bool tls_peer_key(const SSL *ssl, uint8_t ret[OBJECT_KEY_BYTES])
{
    X509 *certificate = SSL_get0_peer_certificate(ssl);

    return certificate != NULL && key_of(certificate, ret);
}

/* "%XX" of text; false: it is no such text, or too long. */
static bool unescape(struct slice text, char dst[TLS_CERT_TEXT_MAX], size_t *retn)
{
    size_t n = 0;

    for (size_t i = 0; i < text.n; n++) {
        uint8_t byte = (uint8_t)text.p[i];
        size_t used = 1;

        if (n == TLS_CERT_TEXT_MAX) {
            return false;
        }
        if (byte == '%') {
            if (text.n - i < 3 || !hex_parse(slice_of(text.p + i + 1, 2), &byte, 1)) {
                return false;
            }
            used = 3;
        }
        dst[n] = (char)byte;
        i += used;
    }
    *retn = n;
    return true;
}

bool tls_key_of_text(struct slice escaped, uint8_t ret[OBJECT_KEY_BYTES])
{
    char pem[TLS_CERT_TEXT_MAX];
    char password[] = ""; /* OpenSSL must not ask for one at a terminal */
    size_t n = 0;
    BIO *bio =
        unescape(escaped, pem, &n) && n > 0 ? BIO_new_mem_buf(pem, (int)n) : NULL;
    X509 *certificate =
        bio != NULL ? PEM_read_bio_X509(bio, NULL, NULL, password) : NULL;
    bool is_good = certificate != NULL && BIO_eof(bio) &&
                   form_fault(certificate, XKU_SSL_CLIENT, ret) == NULL;

    X509_free(certificate);
    BIO_free(bio);
    ERR_clear_error();
    return is_good;
}
