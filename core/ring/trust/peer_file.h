/*
 * peer_file - files in STATE/peers: owned by the owner of the folder, secrets readable by nobody
 * else.
 *
 * The hub does not run as root. Files that root creates there are given to the folder's owner, so
 * that the hub can use them.
 * Depends: base, OpenSSL.   Threads: any.   Owns: nothing.   ADR 0031.
 */
#ifndef CORE_RING_TRUST_PEER_FILE_H
#define CORE_RING_TRUST_PEER_FILE_H

#include "core/base/cursor.h"
#include "core/base/file.h"

enum { PEER_FILE_DIR_MODE = 0750, PEER_FILE_SECRET_MODE = 0600, PEER_FILE_MODE = 0640 };

/* Creates dir if it is missing, for the owner of its parent folder. */
enum err peer_file_make_dir(const char *dir, struct errinfo *reterr);
/* Replaces dir/name, atomically and durably, for the owner of dir. */
enum err peer_file_write(const char *dir, const char *name, struct slice bytes,
                         mode_t mode, struct errinfo *reterr);
/* Appends dir/name to ret, whose cap bounds it. */
enum err peer_file_read(const char *dir, const char *name, struct buf *ret,
                        struct errinfo *reterr);
/* The same; ERR_DENIED when others may read or change it. Free ret with peer_file_forget. */
enum err peer_file_read_secret(const char *dir, const char *name, struct buf *ret,
                               struct errinfo *reterr);
enum err peer_file_read_secret_at(const char *path, struct buf *ret,
                                  struct errinfo *reterr);
void peer_file_forget(struct buf *secret);

bool peer_file_is_there(const char *dir, const char *name);
/* Durably; `to` is replaced. */
enum err peer_file_rename(const char *dir, const char *from, const char *to,
                          struct errinfo *reterr);
/* Takes the lock dir/name, creating it. waits: up to two seconds before ERR_LOCKED. */
enum err peer_file_lock(const char *dir, const char *name, bool waits,
                        struct filelock *ret, struct errinfo *reterr);

/* ---- files that end with the hash of all bytes before ---- */

/* Appends the hash to b, which begins with a mark, and replaces dir/name by it. */
enum err peer_file_write_hashed(const char *dir, const char *name, struct buf *b,
                                struct errinfo *reterr);
/* Reads dir/name into the empty b; ret reads the bytes between mark and hash. ERR_CORRUPT: another
 * mark, or a byte has changed. */
enum err peer_file_read_hashed(const char *dir, const char *name, struct slice mark,
                               struct buf *b, struct cursor *ret,
                               struct errinfo *reterr);

#endif
