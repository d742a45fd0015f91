/* doctor_api - whether the hub's user can read the tokens, the certificate and the key of the
 * API. */
#include "core/base/file.h"
#include "core/base/statedir.h"
#include "core/base/trial.h"
#include "core/cli/doctor.h"

enum { ADVICE_MAX = FILE_PATH_MAX + 64 };

/* The owner of the folder that the hub writes, with the group of the folder, as its unit has it;
 * without the folder the user of the package. */
static bool find_hub(const struct config *c, struct trial_user *ret)
{
    char path[FILE_PATH_MAX];
    struct stat st;

    if (file_path(path, "%s/peers", c->state_dir) != ERR_OK || stat(path, &st) != 0) {
        return trial_user_named(STATEDIR_HUB_USER, ret) && ret->uid != 0;
    }
    const bool is_known = trial_user_of(st.st_uid, ret) && ret->ngroups > 0;
    for (int i = 0; i < ret->ngroups; i++) {
        ret->groups[i] = ret->groups[i] == ret->gid ? st.st_gid : ret->groups[i];
    }
    ret->gid = st.st_gid;
    return is_known && ret->uid != 0;
}

static int open_file(const void *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) >= 0 ? 0
                                                              : errno; /* exit closes */
}

/* The reason why the hub refuses a file that it can read, or NULL. */
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

static void check_file(struct doctor *d, const struct trial_user *who, const char *key,
                       const char *path, bool is_tokens)
{
    char advice[ADVICE_MAX];
    const char *why = NULL;
    int error = 0;

    if (*path == '\0' || (is_tokens && access(path, F_OK) != 0 && errno == ENOENT)) {
        return;
    }
    if (geteuid() == 0) {
        error = trial_call(who, open_file, path);
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
        return; /* no API, or everything runs as one user */
    }
    check_file(d, &who, "api.tokens_file", c->api.tokens_file, true);
    check_file(d, &who, "api.certificate", c->api.certificate, false);
    check_file(d, &who, "api.key", c->api.key, false);
}
