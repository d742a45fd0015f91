/*
 * peer_file - files in STATE/peers: made for the user who owns the folder, secrets for nobody else.
 *
 * What root makes there is given to the folder's owner, so that the hub, which is not root, can use it.
 * Depends: base, OpenSSL.   Threads: any.   Owns: nothing.   ADR 0031.
 */
#ifndef CORE_RING_TRUST_PEER_FILE_H
#define CORE_RING_TRUST_PEER_FILE_H

#include <sys/types.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/slice.h"

enum { PEER_FILE_DIR_MODE = 0750, PEER_FILE_SECRET_MODE = 0600, PEER_FILE_MODE = 0640 };

/* Makes dir where it is not there, for the owner of the folder that it lies in. */
enum err peer_file_make_dir(const char *dir, struct errinfo *reterr);
/* Replaces dir/name, atomically and durably, for the owner of dir. */
enum err peer_file_write(const char *dir, const char *name, struct slice bytes,
                         mode_t mode, struct errinfo *reterr);
/* Appends dir/name to ret, whose cap bounds it. */
enum err peer_file_read(const char *dir, const char *name, struct buf *ret,
                        struct errinfo *reterr);
/* Likewise; ERR_DENIED when others may read or change it. Free ret with place_forget. */
enum err peer_file_read_secret(const char *dir, const char *name, struct buf *ret,
                               struct errinfo *reterr);
enum err place_read_secret_file(const char *path, struct buf *ret,
                                struct errinfo *reterr);
void peer_file_forget(struct buf *secret);

#endif
