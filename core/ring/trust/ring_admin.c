/* ring_admin - the key of an administrator: in STATE/peers, or in a file of its own. */
#include <openssl/crypto.h>

#include "core/base/file.h"
#include "core/base/random.h"
#include "core/ring/trust/peer_file.h"
#include "core/ring/trust/ring.h"
#include "core/ring/trust/trust_internal.h"

static const char admin_name[] = "admin.key";

static enum err make_key(const char *dir, const char *path, struct errinfo *reterr)
{
    uint8_t secret[OBJECT_KEY_BYTES];
    struct buf pem;

    random_bytes(secret, sizeof(secret));
    buf_init(&pem, IDENTITY_PEM_MAX);
    enum err e = identity_pem_print(secret, &pem);
    if (e != ERR_OK) {
        e = errinfo_set(reterr, e, dir, 0, "OpenSSL cannot make an Ed25519 key");
    } else if (path != NULL) { /* it stays with the user who made it */
        e = file_write_atomic(path, buf_slice(&pem), PEER_FILE_SECRET_MODE, reterr);
    } else {
        e = peer_file_write(dir, admin_name, buf_slice(&pem), PEER_FILE_SECRET_MODE,
                            reterr);
    }
    peer_file_forget(&pem);
    OPENSSL_cleanse(secret, sizeof(secret));
    return e;
}

static enum err not_here(const char *dir, const char *path, struct errinfo *reterr)
{
    return path != NULL
               ? errinfo_set(reterr, ERR_NOT_FOUND, path, 0,
                             "there is no such file; gillnet peer admin-key "
                             "--admin-key FILE makes a key there")
               : errinfo_set(reterr, ERR_NOT_FOUND, dir, 0,
                             "there is no administrator's key (admin.key) here; if it "
                             "is kept elsewhere name it with --admin-key FILE, or make "
                             "one with `gillnet peer admin-key`");
}

enum err ring_admin_key(const char *dir, const char *path, bool create,
                        uint8_t retsecret[OBJECT_KEY_BYTES],
                        uint8_t retpublic[OBJECT_KEY_BYTES], struct errinfo *reterr)
{
    char own[FILE_PATH_MAX];
    struct stat st;
    struct buf pem;
    enum err e = ERR_OK;

    if (path == NULL && path_make(own, reterr, "%s/%s", dir, admin_name) != ERR_OK) {
        return ERR_LIMIT;
    }
    const char *file = path != NULL ? path : own;
    if (lstat(file, &st) != 0) {
        e = create ? make_key(dir, path, reterr) : not_here(dir, path, reterr);
    }
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&pem, IDENTITY_PEM_MAX);
    e = peer_file_read_secret_at(file, &pem, reterr);
    if (e == ERR_OK && identity_pem_parse(buf_slice(&pem), retsecret) != ERR_OK) {
        e = errinfo_set(reterr, ERR_CORRUPT, file, 0,
                        "this is no Ed25519 key (PEM, not encrypted); restore it from "
                        "a copy");
    }
    if (e == ERR_OK) {
        identity_public_of(retsecret, retpublic);
    }
    peer_file_forget(&pem);
    return e;
}
