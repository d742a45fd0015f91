/*
 * statedir - the state folder: its rights, and the owners of its files.
 *
 * Every program makes it in the same way, and refuses it when strangers may write to it. Owners are
 * those of systemd/gillnet.tmpfiles if its users exist (_gillnet, _gillnet-hub, the group
 * _gillnet-keys). A folder that another user owns keeps its owner, and so do all files in it. Only
 * root can give files away; for other users these functions change no owner.
 * Depends: base.   Threads: any; the state folder is one.   Allocates: nothing.   ADR 0054.
 */
#ifndef CORE_BASE_STATEDIR_H
#define CORE_BASE_STATEDIR_H

#include <sys/types.h>

#include "core/base/err.h"

enum { STATEDIR_MODE = 02750, STATEDIR_KEYS_MODE = 02770 };

#define STATEDIR_USER       "_gillnet"
#define STATEDIR_HUB_USER   "_gillnet-hub"
#define STATEDIR_KEYS_GROUP "_gillnet-keys"

/* ERR_DENIED: strangers may write to dir, or to a folder of gillnet in it; the text says what to
 * do. A missing folder is fine. */
enum err statedir_check(const char *dir, struct errinfo *reterr);
/* Makes the last component of dir if it is missing and gives it to its user; then
 * statedir_check. */
enum err statedir_make(const char *dir, struct errinfo *reterr);

struct statedir_owner {
    uid_t uid; /* (uid_t)-1: no owner but the caller is known */
    gid_t gid;
    mode_t mode; /* of folders */
};
/* The right owner of the file of this path below dir ("lists/phish/CURRENT"; "" for dir itself). */
void statedir_owner(const char *dir, const char *path, struct statedir_owner *ret);

/* Root calls it after each command that wrote there: files of root in keys, lists, counts, peers,
 * feeds, reports, identity, users, model and tuning are given to their owner, with rights by which
 * the service can read them. Follows no link, and gives away no file that has a second name. Does
 * nothing for other users, or when no owner is known. */
void statedir_settle(const char *dir);

#endif
