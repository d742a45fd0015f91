/*
 * unix_place - a Unix socket that a rename puts in its place, and that only its maker removes.
 *
 * The socket is bound under a private name beside its place, gets its rights there, and is then
 * renamed: a client that finds it finds it with its rights. A socket that a newer instance has put
 * in the same place is never removed.
 * Threads: one.   Owns: nothing; descriptors are the caller's.
 */
#ifndef CORE_BASE_UNIX_PLACE_H
#define CORE_BASE_UNIX_PLACE_H

#include <sys/types.h>

#include "core/base/err.h"

enum {
    SOCKET_PATH_MAX = 94, /* leaves room for the private suffix in sun_path */
    SOCKET_PRIVATE_BYTES = SOCKET_PATH_MAX + 14
};

/* A socket in its place, and which one was put there. */
struct unix_place {
    char path[SOCKET_PATH_MAX + 1];
    dev_t device;
    ino_t inode;
    bool is_placed;
};
struct unix_rights {
    const char *owner; /* "": leave */
    const char *group; /* "": leave */
    mode_t mode;
};

/* ERR_OK: no server answers at path (a stale socket may lie there). ERR_EXISTS: a server answers,
 * or there is a file that is no socket. */
enum err unix_place_check(const char *path, struct errinfo *reterr);
/* A fresh private name beside path. */
void unix_place_private(const char *path, char ret[SOCKET_PRIVATE_BYTES]);
/* Gives the socket at path its owner, group and mode. */
enum err unix_place_rights(const char *path, const struct unix_rights *rights,
                           struct errinfo *reterr);
/* Gives the socket at private its rights and renames it to path; on failure private is removed. */
enum err unix_place_put(struct unix_place *u, const char *private, const char *path,
                        const struct unix_rights *rights, struct errinfo *reterr);
/* Removes the socket while it is the one that was put there. */
void unix_place_remove(struct unix_place *u);

/* Does all of this for a control socket, which the group may use. *retfd listens and does not
 * block. Errors name key, the key of the configuration. */
enum err unix_place_listen(struct unix_place *u, const char *path, const char *key,
                           int backlog, int *retfd, struct errinfo *reterr);

#endif
