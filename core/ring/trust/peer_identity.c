/* identity - the files of a server's keys. A signing key and its certificate are in one file, so
 * that a crash cannot separate them; cert.pem is a copy for other programs. */
#include "core/ring/trust/peer_identity.h"

#include <openssl/crypto.h>

#include "core/base/file.h"
#include "core/base/random.h"
#include "core/base/uninitialized.h"
#include "core/ring/trust/peer_file.h"
#include "core/ring/trust/trust_internal.h"

static const char identity_name[] = "identity.key";
static const char signing_name[] = "signing.key";
static const char next_name[] = "signing.next";
static const char cert_name[] = "cert.pem";

enum { MS = 1000 };

/* The key, and behind it its certificate for origin (NULL: none), into one file. */
static enum err write_key(const char *dir, const char *name,
                          const uint8_t secret[OBJECT_KEY_BYTES],
                          const struct object_id *origin, uint64_t not_before_ms,
                          struct errinfo *reterr)
{
    struct buf pem;

    buf_init(&pem, IDENTITY_PEM_MAX);
    enum err e = identity_pem_print(secret, &pem);
    if (e == ERR_OK && origin != NULL) {
        e = identity_cert_print(secret, origin, not_before_ms, &pem);
    }
    e = e == ERR_OK
            ? peer_file_write(dir, name, buf_slice(&pem), PEER_FILE_SECRET_MODE, reterr)
            : errinfo_set(reterr, ERR_NOMEM, dir, 0,
                          "OpenSSL cannot make an Ed25519 key or its certificate");
    peer_file_forget(&pem);
    return e;
}

/* Makes cert.pem the certificate of signing.key; after a crash it may be another. */
static enum err mend_cert(const char *dir, struct slice cert, struct errinfo *reterr)
{
    struct buf there;

    buf_init(&there, IDENTITY_PEM_MAX);
    bool is_same = peer_file_is_there(dir, cert_name) &&
                   peer_file_read(dir, cert_name, &there, NULL) == ERR_OK &&
                   slice_eq(buf_slice(&there), cert);
    buf_fini(&there);
    return is_same
               ? ERR_OK
               : peer_file_write(dir, cert_name, cert, PEER_FILE_SECRET_MODE, reterr);
}

/* A signing key with its binding; retcert may be NULL. */
static enum err read_signing(const char *dir, const char *name,
                             const uint8_t identity_secret[OBJECT_KEY_BYTES],
                             uint8_t retsecret[OBJECT_KEY_BYTES],
                             struct key_binding *ret, struct buf *retcert)
{
    struct buf pem;
    struct key_binding b = {.not_before_ms = 0};

    buf_init(&pem, IDENTITY_PEM_MAX);
    enum err e = peer_file_read_secret(dir, name, &pem, NULL);
    THEN(e, identity_pem_parse(buf_slice(&pem), retsecret));
    if (e == ERR_OK) {
        identity_public_of(retsecret, b.key);
        e = identity_cert_parse(buf_slice(&pem), b.key, &b.not_before_ms, retcert);
    }
    THEN(e, identity_bind(identity_secret, &b));
    if (e == ERR_OK) {
        *ret = b;
    }
    peer_file_forget(&pem);
    return e;
}

/* Tells the administrator why a key file cannot be used. */
static enum err explain(const char *dir, const char *name, enum err e,
                        struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];

    if (path_make(path, reterr, "%s/%s", dir, name) != ERR_OK) {
        return ERR_LIMIT;
    }
    if (e == ERR_SYNTAX || e == ERR_LIMIT) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "this is no Ed25519 key with its certificate (PEM, not "
                           "encrypted); restore the file from a copy");
    }
    if (e == ERR_NOMEM) {
        return errinfo_nomem(reterr, path);
    }
    struct buf pem;
    buf_init(&pem, IDENTITY_PEM_MAX);
    enum err again =
        peer_file_read_secret(dir, name, &pem, reterr); /* says which right */
    peer_file_forget(&pem);
    return again != ERR_OK
               ? again
               : errinfo_set(reterr, e, path, 0, "cannot use the key: %s", err_text(e));
}

static enum err read_identity(const char *dir, uint8_t ret[OBJECT_KEY_BYTES],
                              struct errinfo *reterr)
{
    struct buf pem;

    if (!peer_file_is_there(dir, identity_name)) {
        struct stat st;
        if (stat(dir, &st) == 0 && access(dir, X_OK) != 0) {
            return errinfo_set(reterr, ERR_DENIED, dir, 0,
                               "no right to read the keys there; run as root or as "
                               "the folder's user");
        }
        return errinfo_set(reterr, ERR_NOT_FOUND, dir, 0,
                           "this server has no identity yet; make one with "
                           "`gillnet peer init`");
    }
    buf_init(&pem, IDENTITY_PEM_MAX);
    enum err e = peer_file_read_secret(dir, identity_name, &pem, NULL);
    THEN(e, identity_pem_parse(buf_slice(&pem), ret));
    peer_file_forget(&pem);
    return e == ERR_OK ? e : explain(dir, identity_name, e, reterr);
}

enum err identity_load(const char *dir, struct identity *ret, struct errinfo *reterr)
{
    struct identity i = {.signing = {.not_before_ms = 0}};
    struct buf cert;
    enum err e = read_identity(dir, i.secret, reterr);

    if (e != ERR_OK) {
        return e;
    }
    buf_init(&cert, IDENTITY_PEM_MAX);
    identity_public_of(i.secret, i.public_key);
    identity_origin(i.public_key, &i.origin);
    e = read_signing(dir, signing_name, i.secret, i.signing_secret, &i.signing, &cert);
    if (e != ERR_OK) {
        e = explain(dir, signing_name, e, reterr);
    } else {
        e = mend_cert(dir, buf_slice(&cert), reterr);
    }
    if (e == ERR_OK) {
        *ret = i;
    }
    buf_fini(&cert);
    identity_wipe(&i);
    return e;
}

enum err identity_create(const char *dir, struct identity *ret, struct errinfo *reterr)
{
    uint8_t secret[OBJECT_KEY_BYTES];
    uint8_t public_key[OBJECT_KEY_BYTES];
    uint8_t signing[OBJECT_KEY_BYTES];
    struct object_id origin;
    enum err e = peer_file_make_dir(dir, reterr);

    if (e == ERR_OK && peer_file_is_there(dir, identity_name)) {
        e = errinfo_set(reterr, ERR_EXISTS, dir, 0,
                        "this server has an identity already (identity.key)");
    }
    if (e != ERR_OK) {
        return e;
    }
    random_bytes(secret, sizeof(secret));
    random_bytes(signing, sizeof(signing));
    identity_public_of(secret, public_key);
    identity_origin(public_key, &origin);
    /* The identity is written last: without it a next try starts again. The key is good from the
     * beginning of time, because the clock of a new machine may be wrong. */
    e = write_key(dir, signing_name, signing, &origin, 0, reterr);
    THEN(e, write_key(dir, identity_name, secret, NULL, 0, reterr));
    OPENSSL_cleanse(secret, sizeof(secret));
    OPENSSL_cleanse(signing, sizeof(signing));
    return e == ERR_OK ? identity_load(dir, ret, reterr) : e;
}

enum err identity_prepare(const char *dir, const struct identity *i,
                          uint64_t not_before_ms, struct key_binding *ret,
                          struct errinfo *reterr)
{
    uint8_t secret[OBJECT_KEY_BYTES];
    struct key_binding b = {.not_before_ms = not_before_ms / MS * MS};

    random_bytes(secret, sizeof(secret));
    identity_public_of(secret, b.key);
    enum err e = write_key(dir, next_name, secret, &i->origin, b.not_before_ms, reterr);
    if (e == ERR_OK && identity_bind(i->secret, &b) != ERR_OK) {
        e = errinfo_nomem(reterr, dir);
    }
    if (e == ERR_OK) {
        *ret = b;
    }
    OPENSSL_cleanse(secret, sizeof(secret));
    return e;
}

enum err identity_prepared(const char *dir, const struct identity *i,
                           struct key_binding *ret, struct errinfo *reterr)
{
    uint8_t secret[OBJECT_KEY_BYTES];

    if (!peer_file_is_there(dir, next_name)) {
        return errinfo_set(reterr, ERR_NOT_FOUND, dir, 0,
                           "no signing key waits there; `gillnet peer rotate` makes "
                           "one");
    }
    enum err e = read_signing(dir, next_name, i->secret, secret, ret, NULL);
    OPENSSL_cleanse(secret, sizeof(secret));
    return e == ERR_OK ? e : explain(dir, next_name, e, reterr);
}

enum err identity_rotate(const char *dir, struct identity *io, struct errinfo *reterr)
{
    struct identity i = {.signing = {.not_before_ms = 0}};
    struct key_binding b UNINITIALIZED;
    enum err e = peer_file_is_there(dir, next_name)
                     ? identity_prepared(dir, io, &b, reterr)
                     : identity_prepare(dir, io, 0, &b, reterr);

    if (e != ERR_OK) {
        return e;
    }
    e = peer_file_rename(dir, next_name, signing_name, reterr);
    THEN(e, identity_load(dir, &i, reterr));
    if (e == ERR_OK) {
        *io = i;
    }
    identity_wipe(&i);
    return e;
}
