/* user - look-ups in the tables of users and groups. */
#include "core/base/user.h"

#include <grp.h>
#include <pwd.h>

#include "core/base/std.h"

enum { RECORD_MAX = 65536 }; /* a group may have many members */

bool user_find(const char *name, uid_t *retuid, gid_t *retgid)
{
    char record[RECORD_MAX];
    struct passwd p;
    struct passwd *found = NULL;

    if (getpwnam_r(name, &p, record, sizeof(record), &found) != 0 || found == NULL) {
        return false;
    }
    *retuid = p.pw_uid;
    *retgid = p.pw_gid;
    return true;
}

bool group_find(const char *name, gid_t *ret)
{
    char record[RECORD_MAX];
    struct group g;
    struct group *found = NULL;

    if (getgrnam_r(name, &g, record, sizeof(record), &found) != 0 || found == NULL) {
        return false;
    }
    *ret = g.gr_gid;
    return true;
}

static const char *name_or_number(const char *name, unsigned long number,
                                  char dst[USER_NAME_BYTES])
{
    if (name != NULL) {
        (void)snprintf(dst, USER_NAME_BYTES, "%s", name);
    } else {
        (void)snprintf(dst, USER_NAME_BYTES, "%lu", number);
    }
    return dst;
}

const char *user_name(uid_t uid, char dst[USER_NAME_BYTES])
{
    char record[RECORD_MAX];
    struct passwd p;
    struct passwd *found = NULL;

    (void)getpwuid_r(uid, &p, record, sizeof(record), &found);
    return name_or_number(found != NULL ? p.pw_name : NULL, uid, dst);
}

const char *group_name(gid_t gid, char dst[USER_NAME_BYTES])
{
    char record[RECORD_MAX];
    struct group g;
    struct group *found = NULL;

    (void)getgrgid_r(gid, &g, record, sizeof(record), &found);
    return name_or_number(found != NULL ? g.gr_name : NULL, gid, dst);
}
