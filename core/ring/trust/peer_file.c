/* peer_file - files in STATE/peers and whose they are. */
#include "core/ring/trust/peer_file.h"

#include <openssl/crypto.h>

#include "core/base/file.h"
#include "core/base/uninitialized.h"

enum { OTHERS = 0077 };

static enum err path_of(const char *dir, const char *name, char ret[FILE_PATH_MAX],
                        struct errinfo *reterr)
{
    if (file_path(ret, "%s/%s", dir, name) != ERR_OK) {
        return errinfo_set(reterr, ERR_LIMIT, dir, 0, "the path is too long");
    }
    return ERR_OK;
}

enum err peer_file_make_dir(const char *dir, struct errinfo *reterr)
{
    char parent[FILE_PATH_MAX];
    struct stat st;

    if (stat(dir, &st) == 0 && S_ISDIR(st.st_mode)) {
        return ERR_OK;
    }
    enum err e = file_make_dir(dir, PEER_FILE_DIR_MODE, reterr);
    if (e != ERR_OK || geteuid() != 0) {
        return e;
    }
    e = path_of(dir, "..", parent, reterr);
    if (e == ERR_OK && stat(parent, &st) == 0 && st.st_uid != 0 &&
        lchown(dir, st.st_uid, st.st_gid) != 0) {
        e = errinfo_errno(reterr, dir, "cannot give the folder to its user");
    }
    return e;
}

enum err peer_file_write(const char *dir, const char *name, struct slice bytes,
                         mode_t mode, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct file_out out UNINITIALIZED;
    struct stat st;
    enum err e = path_of(dir, name, path, reterr);

    THEN(e, file_out_open(&out, path, mode, reterr));
    if (e != ERR_OK) {
        return e;
    }
    if (geteuid() == 0 && stat(dir, &st) == 0 && st.st_uid != 0 &&
        fchown(out.fd, st.st_uid, st.st_gid) != 0) {
        e = errinfo_errno(reterr, path, "cannot give the file to the folder's user");
        file_out_abort(&out);
        return e;
    }
    file_out_add(&out, bytes);
    return file_out_commit(&out, reterr);
}

enum err peer_file_read(const char *dir, const char *name, struct buf *ret,
                        struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = path_of(dir, name, path, reterr);

    return e == ERR_OK ? file_read(path, ret, reterr) : e;
}

enum err peer_file_read_secret(const char *dir, const char *name, struct buf *ret,
                               struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = path_of(dir, name, path, reterr);

    return e == ERR_OK ? place_read_secret_file(path, ret, reterr) : e;
}

enum err place_read_secret_file(const char *path, struct buf *ret,
                                struct errinfo *reterr)
{
    struct stat st;

    if (lstat(path, &st) != 0) {
        return errinfo_errno(reterr, path, "cannot examine the key file");
    }
    if ((st.st_mode & OTHERS) != 0) {
        return errinfo_set(reterr, ERR_DENIED, path, 0,
                           "the rights %03o let others read or change this secret key; "
                           "set them with: chmod 600",
                           (unsigned)st.st_mode & 0777u);
    }
    return file_read(path, ret, reterr);
}

void peer_file_forget(struct buf *secret)
{
    if (secret->p != NULL) {
        OPENSSL_cleanse(secret->p, secret->size);
    }
    buf_fini(secret);
}
