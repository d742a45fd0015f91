/*
 * user - users and groups of this system by name and by number.
 *
 * Threads: any.   Allocates: nothing.
 */
#ifndef CORE_BASE_USER_H
#define CORE_BASE_USER_H

#include <sys/types.h>

#include "core/base/std.h"

enum {
    USER_NAME_BYTES = 64, /* of a user or group, with the NUL */
    USER_OVERFLOW = 65534 /* each uid that is not in our user namespace; also nobody */
};

/* The numbers of a user and of its primary group. False: there is no such user. */
bool user_find(const char *name, uid_t *retuid, gid_t *retgid);
bool group_find(const char *name, gid_t *ret);

/* Writes the name, or the number when it has no name; returns dst. */
const char *user_name(uid_t uid, char dst[USER_NAME_BYTES]);
const char *group_name(gid_t gid, char dst[USER_NAME_BYTES]);

#endif
