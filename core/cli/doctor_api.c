/* doctor_api - tokens, certificate and key of the HTTP API, and whether the hub's user can read
 * them. */
#include <grp.h>

#include "core/cli/doctor.h"

enum { ADVICE_MAX = FILE_PATH_MAX + 64 };

static const char hub_user[] = "_gillnet-hub";

/* The hub's user: the owner of STATE/peers with the group of that folder, as in its unit, otherwise
 * the user of that name. False: there is none, or it is root. */
static bool find_hub(const struct config *c, struct trial_user *ret)
{
    char path[FILE_PATH_MAX];
    struct stat st;
    bool is_known = false;

    if (path_make(path, NULL, "%s/peers", c->state_dir) == ERR_OK &&
        stat(path, &st) == 0) {
        is_known = trial_user_of(st.st_uid, ret);
        ret->gid = st.st_gid;
        ret->ngroups = TRIAL_GROUPS_MAX;
        if (getgrouplist(ret->name, ret->gid, ret->groups, &ret->ngroups) < 0) {
            ret->ngroups = TRIAL_GROUPS_MAX; /* it holds the first ones */
        }
    } else {
        is_known = trial_user_named(hub_user, ret);
    }
    return is_known && ret->uid != 0;
}

/* 0 or an errno. */
static int open_to_read(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int errnum = fd >= 0 ? 0 : errno;

    fd_close(&fd);
    return errnum;
}

/* The reason why the hub refuses a file that it can read; NULL: it does not. */
static const char *unsafe(const char *path, const struct trial_user *who)
{
    struct stat st;

    if (stat(path, &st) != 0) {
        return NULL;
    }
    if ((st.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
        return "others may read or change it";
    }
    return st.st_uid != 0 && st.st_uid != who->uid ? "its owner is neither root nor "
                                                     "the hub's user"
                                                   : NULL;
}

static void check_api_file(struct doctor *d, const struct trial_user *who,
                           const char *key, const char *path, bool is_tokens)
{
    char advice[ADVICE_MAX];
    const char *why = NULL;
    int error = 0;

    if (*path == '\0' || (is_tokens && access(path, F_OK) != 0 && errno == ENOENT)) {
        return;
    }
    if (geteuid() == 0) {
        error = doctor_call_as(who, open_to_read, path);
    } else if (geteuid() == who->uid) {
        error = access(path, R_OK) == 0 ? 0 : errno;
    } else {
        return; /* rights of another user are not known to this one */
    }
    why = error == 0 && is_tokens ? unsafe(path, who) : NULL;
    if (error == 0 && why == NULL) {
        doctor_say(d, DOCTOR_OK, "api", "", "%s %s: %s can read it", key, path,
                   who->name);
        return;
    }
    (void)snprintf(advice, sizeof(advice),
                   is_tokens
                       ? "chown root:_gillnet-keys %s; chmod 0640 %s"
                       : "chgrp _gillnet-keys %s; chmod g+r %s; the folders above "
                         "it need the right x",
                   path, path);
    doctor_say(d, DOCTOR_FAIL, "api", advice, "%s %s: %s", key, path,
               why != NULL       ? why
               : error == ENOENT ? "there is no such file"
                                 : "the hub's user cannot read it");
}

void doctor_api(struct doctor *d)
{
    const struct config *c = d->cli->config;
    struct trial_user who;

    if (c->api.listen.n == 0 || !find_hub(c, &who)) {
        return; /* there is no API, or everything runs as one user */
    }
    check_api_file(d, &who, "api.tokens_file", c->api.tokens_file, true);
    check_api_file(d, &who, "api.certificate", c->api.certificate, false);
    check_api_file(d, &who, "api.key", c->api.key, false);
}
