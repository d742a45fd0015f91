/* doctor_api - what the HTTP API needs can be read by the hub's user: tokens, certificate and key. */
#include <grp.h>
#include <pwd.h>
#include <sys/wait.h>

#include "core/base/file.h"
#include "core/cli/doctor.h"

enum { NAME_BUFFER = 16384, ADVICE_MAX = FILE_PATH_MAX + 64 };

static const char hub_user[] = "_gillnet-hub";

/* The hub's user: of that name, or whoever has what it writes. The group is that of its unit and its folder. */
struct who {
    uid_t uid;
    gid_t gid;
    char name[64];
};

static bool find_hub(const struct config *c, struct who *ret)
{
    char path[FILE_PATH_MAX];
    char buffer[NAME_BUFFER];
    struct passwd *pw = NULL;
    struct passwd found;
    struct stat st;

    *ret = (struct who){.uid = geteuid(), .gid = getegid()};
    if (file_path(path, "%s/peers", c->state_dir) == ERR_OK && stat(path, &st) == 0) {
        ret->uid = st.st_uid;
        ret->gid = st.st_gid;
        (void)getpwuid_r(st.st_uid, &found, buffer, sizeof(buffer), &pw);
    } else if (getpwnam_r(hub_user, &found, buffer, sizeof(buffer), &pw) == 0 && pw) {
        ret->uid = pw->pw_uid;
        ret->gid = pw->pw_gid;
    }
    (void)snprintf(ret->name, sizeof(ret->name), "%s", pw != NULL ? pw->pw_name : "");
    return pw != NULL && ret->uid != 0;
}

/* Opens the file as the hub does, in a child that alone gives up its rights: User=, Group= and the user's groups of its
 * unit. 0 or the errno. */
static int open_as(const struct who *who, const char *path)
{
    pid_t pid = fork();
    int status = 0;

    if (pid < 0) {
        return errno;
    }
    if (pid == 0) {
        if (initgroups(who->name, who->gid) != 0 ||
            setresgid(who->gid, who->gid, who->gid) != 0 ||
            setresuid(who->uid, who->uid, who->uid) != 0) {
            _exit(EPERM);
        }
        const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

        _exit(fd >= 0 ? 0 : errno); /* which closes it */
    }
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

/* The reason of a file that the hub does not take though it can read it. */
static const char *unsafe(const char *path, const struct who *who)
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

static void check(struct doctor *d, const struct who *who, const char *key,
                  const char *path, bool is_tokens)
{
    char advice[ADVICE_MAX];
    const char *why = NULL;
    int error = 0;

    if (*path == '\0' || (is_tokens && access(path, F_OK) != 0 && errno == ENOENT)) {
        return;
    }
    if (geteuid() == 0) {
        error = open_as(who, path);
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
    struct who who;

    if (c->api.listen.n == 0 || !find_hub(c, &who)) {
        return; /* nobody is asked, or everything runs as one user */
    }
    check(d, &who, "api.tokens_file", c->api.tokens_file, true);
    check(d, &who, "api.certificate", c->api.certificate, false);
    check(d, &who, "api.key", c->api.key, false);
}
