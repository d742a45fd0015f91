#include "core/base/secret_file.h"

#include <openssl/crypto.h>

#include "core/base/file.h"

enum { OTHERS = 0007 };

enum err secret_read(const char *path, struct buf *ret, struct errinfo *reterr)
{
    struct stat st;

    if (stat(path, &st) != 0) {
        return errinfo_errno(reterr, path, "cannot be read");
    }
    if ((st.st_mode & OTHERS) != 0) {
        return errinfo_set(reterr, ERR_DENIED, path, 0,
                           "everybody may read or change this secret (mode %04o): "
                           "chmod 640, and give it to the group of gillnet-hub",
                           (unsigned)st.st_mode & 07777);
    }
    enum err e = file_read(path, ret, reterr);
    if (e == ERR_OK && ret->n > 0 && memchr(ret->p, '\0', ret->n) != NULL) {
        e = errinfo_set(reterr, ERR_SYNTAX, path, 0, "it is no text");
    }
    return e;
}

enum err secret_read_line(const char *path, char *ret, size_t size,
                          struct errinfo *reterr)
{
    struct buf text;
    enum err e = ERR_OK;

    buf_init(&text, SECRET_FILE_MAX);
    e = secret_read(path, &text, reterr);
    if (e == ERR_OK) {
        struct slice all = buf_slice(&text);
        struct slice line = slice_trim(slice_cut(&all, '\n'));

        if (line.n == 0 || line.n >= size) {
            e = errinfo_set(reterr, ERR_SYNTAX, path, 0,
                            "the first line must be the password");
        } else {
            memcpy(ret, line.p, line.n);
            ret[line.n] = '\0';
        }
    }
    secret_forget(&text);
    return e;
}

void secret_forget(struct buf *b)
{
    if (b->p != NULL) {
        OPENSSL_cleanse(b->p, b->size);
    }
    buf_fini(b);
}
