/* doctor_api - what the HTTP API needs can be read by the hub's user: tokens, certificate and key. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/statedir_try.h"
#include "core/cli/doctor.h"

enum { ADVICE_MAX = FILE_PATH_MAX + 64 };

static void note(void *context, const struct trial_finding *finding)
{
    const char **why = context;

    (void)finding;
    *why = "the hub's user cannot read it";
}

/* Why the hub cannot read the file; NULL: it can. */
static const char *unreadable(const char *path, const struct trial_user *hub)
{
    const struct trial_row row = {.path = path};
    struct errinfo info = {.code = ERR_OK};
    const char *why = NULL;

    if (access(path, F_OK) != 0 && errno == ENOENT) {
        return "there is no such file";
    }
    if (trial_run(hub, &row, 1, note, &why, &info) != ERR_OK && why == NULL) {
        why = "it cannot be tried as the hub's user";
    }
    return why;
}

/* The reason of a file that the hub does not take though it can read it. */
static const char *unsafe(const char *path, const struct trial_user *hub)
{
    struct stat st;

    if (stat(path, &st) != 0) {
        return NULL;
    }
    if ((st.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
        return "others may read or change it";
    }
    return st.st_uid != 0 && st.st_uid != hub->uid ? "its owner is neither root nor "
                                                     "the hub's user"
                                                   : NULL;
}

static void check(struct doctor *d, const struct trial_user *hub, const char *key,
                  const char *path, bool is_tokens)
{
    char advice[ADVICE_MAX];
    const char *why = NULL;

    if (*path == '\0' || (is_tokens && access(path, F_OK) != 0 && errno == ENOENT)) {
        return;
    }
    why = unreadable(path, hub);
    why = why == NULL && is_tokens ? unsafe(path, hub) : why;
    if (why == NULL) {
        doctor_say(d, DOCTOR_OK, "api", "", "%s %s: %s can read it", key, path,
                   hub->name);
        return;
    }
    (void)snprintf(advice, sizeof advice,
                   is_tokens
                       ? "chown root:_gillnet-keys %s; chmod 0640 %s"
                       : "chgrp _gillnet-keys %s; chmod g+r %s; the folders above "
                         "it need the right x",
                   path, path);
    doctor_say(d, DOCTOR_FAIL, "api", advice, "%s %s: %s", key, path, why);
}

void doctor_api(struct doctor *d)
{
    const struct config *c = d->cli->config;
    struct trial_user hub;

    if (c->api.listen.n == 0 || !statedir_user(c->state_dir, STATEDIR_HUB, 0, &hub) ||
        hub.uid == 0 || (geteuid() != 0 && geteuid() != hub.uid)) {
        return; /* nobody is asked, everything runs as one user, or whose rights they are is not known to this one */
    }
    check(d, &hub, "api.tokens_file", c->api.tokens_file, true);
    check(d, &hub, "api.certificate", c->api.certificate, false);
    check(d, &hub, "api.key", c->api.key, false);
}
