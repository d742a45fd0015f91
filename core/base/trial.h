/*
 * trial - tries which files another user may open: in a child process with the ids and groups of
 * that user.
 *
 * Depends: base.   Threads: none may run beside it: it forks.   Allocates: nothing.
 */
#ifndef CORE_BASE_TRIAL_H
#define CORE_BASE_TRIAL_H

#include <sys/types.h>

#include "core/base/buf.h"
#include "core/base/err.h"

enum { TRIAL_GROUPS_MAX = 256, TRIAL_NAME_MAX = 64 };

struct trial_user {
    char name[TRIAL_NAME_MAX];
    uid_t uid;
    gid_t gid;
    gid_t groups[TRIAL_GROUPS_MAX];
    int ngroups;
};

/* A user with all groups that the tables name, as the service manager sets them. False: no such
 * user. */
bool trial_user_named(const char *name, struct trial_user *ret);
bool trial_user_of(uid_t uid, struct trial_user *ret);
/* Those of a running process. */
bool trial_user_of_process(uint64_t pid, struct trial_user *ret);

/* Calls fn, which returns 0 or an errno value, in a child process as that user; other callers than
 * root call it as themselves. Returns the result of fn, or why it could not be called. */
typedef int trial_call_fn(const void *context);
int trial_call(const struct trial_user *user, trial_call_fn *fn, const void *context);

/* One thing to be tried. */
struct trial_row {
    const char *path;
    bool is_tree;   /* and all that is in it */
    bool may_write; /* else: may read */
};
struct trial_finding {
    const char *path; /* that cannot be opened */
    bool is_write;
    const char *why; /* text of errno */
    const char *row; /* path of its row */
};
typedef void trial_fn(void *context, const struct trial_finding *finding);

/* Tries each row as user and reports the first file in it that is denied; missing files are no
 * finding. Only root can become another user; other callers try as themselves. ERR_IO: no process
 * could be made. */
enum err trial_run(const struct trial_user *user, const struct trial_row *rows,
                   size_t n, trial_fn *fn, void *context, struct errinfo *reterr);

#endif
