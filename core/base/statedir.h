/*
 * statedir - the state folder: made the same by whoever comes first, refused where strangers may write, and whose its files are.
 *
 * Owners are those of systemd/gillnet.tmpfiles where its users exist (_gillnet, _gillnet-hub, the group _gillnet-keys); a folder
 * that somebody else owns keeps its owner, and so do all files in it. Only root can give files away: for others these
 * functions change no owner.
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

/* ERR_DENIED: strangers may write to dir, or to a folder of gillnet in it; the text says what to do. A folder that is not there
 * is none that they write to. */
enum err statedir_check(const char *dir, struct errinfo *reterr);
/* Makes the last component of dir where it is missing, given to its user; then statedir_check. */
enum err statedir_make(const char *dir, struct errinfo *reterr);

struct statedir_owner {
    uid_t uid; /* (uid_t)-1: nobody but the one who runs this is known */
    gid_t gid;
    mode_t mode; /* of folders */
};
/* Whose the file of this path below dir ("lists/phish/CURRENT", "" for dir itself) should be. */
void statedir_owner(const char *dir, const char *path, struct statedir_owner *ret);

/* As root, after anything that wrote there: what belongs to root in keys, lists, counts, peers, feeds and reports goes to
 * its owner, and folders and files get the rights by which the service reads them. Follows no link, and gives away no
 * file that has another name elsewhere. Not root, or no owner known: nothing. */
void statedir_settle(const char *dir);

#endif
