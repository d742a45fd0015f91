/*
 * secret_file - a file with a secret, which everybody else must not be able to read.
 *
 * Depends: file.h, OpenSSL.   Threads: any.   Allocates: the bytes of the buf.
 */
#ifndef CORE_BASE_SECRET_FILE_H
#define CORE_BASE_SECRET_FILE_H

#include "core/base/buf.h"
#include "core/base/err.h"

enum { SECRET_FILE_MAX = 64 * 1024 /* bytes */ };

/* Appends the whole file to ret, whose cap bounds it. ERR_DENIED: everybody may read or change it.
 * ERR_SYNTAX: it has a NUL. */
enum err secret_read(const char *path, struct buf *ret, struct errinfo *reterr);
/* The first line without white space at its ends, and a NUL. ERR_SYNTAX: it is empty, or does not
 * fit in size. */
enum err secret_read_line(const char *path, char *ret, size_t size,
                          struct errinfo *reterr);
/* Overwrites the bytes and frees them. */
void secret_forget(struct buf *b);

#endif
