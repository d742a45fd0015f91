/* peer_file - files in STATE/peers and their owner. */
#include "core/ring/trust/peer_file.h"

#include <openssl/crypto.h>

#include "core/base/hash256.h"
#include "core/base/uninitialized.h"

enum { OTHERS = 0077, LOCK_TRIES = 200, LOCK_WAIT_NS = 10000000 };

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
    e = path_make(parent, reterr, "%s/..", dir);
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
    enum err e = path_make(path, reterr, "%s/%s", dir, name);

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
    enum err e = path_make(path, reterr, "%s/%s", dir, name);

    return e == ERR_OK ? file_read(path, ret, reterr) : e;
}

enum err peer_file_read_secret(const char *dir, const char *name, struct buf *ret,
                               struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = path_make(path, reterr, "%s/%s", dir, name);

    return e == ERR_OK ? peer_file_read_secret_at(path, ret, reterr) : e;
}

enum err peer_file_read_secret_at(const char *path, struct buf *ret,
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

bool peer_file_is_there(const char *dir, const char *name)
{
    char path[FILE_PATH_MAX];
    struct stat st;

    return path_make(path, NULL, "%s/%s", dir, name) == ERR_OK && lstat(path, &st) == 0;
}

enum err peer_file_rename(const char *dir, const char *from, const char *to,
                          struct errinfo *reterr)
{
    char source[FILE_PATH_MAX];
    char target[FILE_PATH_MAX];
    enum err e = path_make(source, reterr, "%s/%s", dir, from);

    THEN(e, path_make(target, reterr, "%s/%s", dir, to));
    if (e == ERR_OK && rename(source, target) != 0) {
        e = errinfo_errno(reterr, target, "cannot replace the file");
    }
    return e == ERR_OK ? file_sync_dir(dir, reterr) : e;
}

enum err peer_file_lock(const char *dir, const char *name, bool waits,
                        struct filelock *ret, struct errinfo *reterr)
{
    const struct timespec wait = {0, LOCK_WAIT_NS};
    char path[FILE_PATH_MAX];
    enum err e = path_make(path, reterr, "%s/%s", dir, name);

    if (e == ERR_OK && access(path, F_OK) != 0) { /* not by filelock_take: as root */
        e = peer_file_write(dir, name, SLICE_NONE, PEER_FILE_MODE, reterr);
    }
    THEN(e, filelock_take(ret, path, reterr));
    for (unsigned i = 1; waits && e == ERR_LOCKED && i < LOCK_TRIES; i++) {
        (void)nanosleep(&wait, NULL);
        e = filelock_take(ret, path, reterr);
    }
    return e;
}

/* ---- files that end with a hash ---- */

enum err peer_file_write_hashed(const char *dir, const char *name, struct buf *b,
                                struct errinfo *reterr)
{
    struct hash256 hash;

    hash256_of(buf_slice(b), &hash);
    buf_add(b, slice_of(hash.b, HASH256_BYTES));
    return buf_failed(b)
               ? errinfo_nomem(reterr, dir)
               : peer_file_write(dir, name, buf_slice(b), PEER_FILE_MODE, reterr);
}

enum err peer_file_read_hashed(const char *dir, const char *name, struct slice mark,
                               struct buf *b, struct cursor *ret,
                               struct errinfo *reterr)
{
    struct hash256 hash;
    enum err e = peer_file_read(dir, name, b, reterr);

    if (e != ERR_OK) {
        return e;
    }
    struct slice all = buf_slice(b);
    struct slice body =
        slice_head(all, all.n < HASH256_BYTES ? 0 : all.n - HASH256_BYTES);
    hash256_of(body, &hash);
    *ret = cursor_of(slice_from(body, mark.n));
    if (!slice_has_prefix(body, mark) ||
        !slice_eq(slice_from(all, body.n), slice_of(hash.b, HASH256_BYTES))) {
        return errinfo_set(reterr, ERR_CORRUPT, dir, 0, "%s is damaged", name);
    }
    return ERR_OK;
}
