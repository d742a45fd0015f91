/*
 * statedir_try - whether a service of gillnet can use the state folder, tried as its user.
 *
 * Depends: base.   Threads: none may run beside it (trial.h).   Owns: nothing.   ADR 0054.
 */
#ifndef CORE_BASE_STATEDIR_TRY_H
#define CORE_BASE_STATEDIR_TRY_H

#include "core/base/trial.h"

enum statedir_service { STATEDIR_GILLNETD, STATEDIR_HUB };

/* The user of a service: that of the process pid (0: it does not run), else of its unit, else the
 * owner of its folder. False: no user is known, or it is root, which may do anything. */
bool statedir_user(const char *dir, enum statedir_service service, uint64_t pid,
                   struct trial_user *ret);

/* what is a sentence that names the file, mend the command that repairs it. */
typedef void statedir_trouble_fn(void *context, const char *what, const char *mend);

struct statedir_use {
    const char *dir;
    const char *config_file; /* "": none */
    enum statedir_service service;
    struct trial_user user;
};

/* Tries all files that the service reads and writes, and its configuration. Reports each folder
 * once at most. ERR_DENIED: the caller is neither root nor that user. */
enum err statedir_try(const struct statedir_use *use, statedir_trouble_fn *fn,
                      void *context, struct errinfo *reterr);

#endif
