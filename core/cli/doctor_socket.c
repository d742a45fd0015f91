/* doctor_socket - do we, and the users that MTAs run as, reach the socket of gillnetd? */
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "core/cli/daemon.h"
#include "core/cli/doctor.h"

enum { NAME_BUFFER = 16384, GROUP_NAME_MAX = 64, GROUPS_MAX = 256, CONNECT_WAIT_S = 5 };

/* ---- Unix ---- */

/* Connects as pw in a child, which alone gives up its rights. Gives 0 or the errno. */
static int connect_as(const struct passwd *pw, const char *path)
{
    pid_t pid = fork();
    int status = 0;
    int fd = -1;

    if (pid < 0) {
        return errno;
    }
    if (pid == 0) {
        struct errinfo why = {0};

        if (initgroups(pw->pw_name, pw->pw_gid) != 0 ||
            setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) != 0 ||
            setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid) != 0) {
            _exit(EPERM);
        }
        if (control_connect(path, &fd, &why) != ERR_OK) {
            _exit(why.code == ERR_DENIED ? EACCES : ECONNREFUSED);
        }
        _exit(0);
    }
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

struct identity {
    uid_t uid;
    gid_t groups[GROUPS_MAX];
    int ngroups;
};

/* Whether the mode gives the right (S_IWOTH or S_IXOTH) to that user. */
static bool may(const struct identity *id, const struct stat *st, mode_t right)
{
    if (st->st_uid == id->uid) {
        return (st->st_mode & right << 6) != 0;
    }
    for (int i = 0; i < id->ngroups; i++) {
        if (id->groups[i] == st->st_gid) {
            return (st->st_mode & right << 3) != 0;
        }
    }
    return (st->st_mode & right) != 0;
}

/* What connect would say, from the modes alone: 0 or EACCES. Access lists are not seen. */
static int compute_as(const struct passwd *pw, const char *path)
{
    struct identity id = {.uid = pw->pw_uid, .ngroups = GROUPS_MAX};
    char part[SOCKET_NAME_PATH];
    struct stat st;

    if (getgrouplist(pw->pw_name, pw->pw_gid, id.groups, &id.ngroups) < 0) {
        id.ngroups = GROUPS_MAX; /* it holds the first ones */
    }
    for (size_t i = 1; path[i] != '\0'; i++) {
        if (path[i] == '/') {
            (void)snprintf(part, sizeof(part), "%.*s", (int)i, path);
            if (stat(part, &st) != 0 || !may(&id, &st, S_IXOTH)) {
                return EACCES;
            }
        }
    }
    return stat(path, &st) == 0 && may(&id, &st, S_IWOTH) ? 0 : EACCES;
}

/* Name of the group of path, or its number. */
static const char *group_name(const char *path, char dst[GROUP_NAME_MAX])
{
    struct group gr;
    struct group *found = NULL;
    struct stat st = {0};
    char buffer[NAME_BUFFER];

    if (stat(path, &st) == 0 &&
        getgrgid_r(st.st_gid, &gr, buffer, sizeof(buffer), &found) == 0 &&
        found != NULL) {
        (void)snprintf(dst, GROUP_NAME_MAX, "%s", gr.gr_name);
    } else {
        (void)snprintf(dst, GROUP_NAME_MAX, "%lu", (unsigned long)st.st_gid);
    }
    return dst;
}

static void check_user(struct doctor *d, const char *user)
{
    struct passwd pw;
    struct passwd *found = NULL;
    char buffer[NAME_BUFFER];
    char what[64];
    char advice[256];
    char group[GROUP_NAME_MAX];
    int errnum = 0;

    if (getpwnam_r(user, &pw, buffer, sizeof(buffer), &found) != 0 || found == NULL) {
        if (d->mta_user != NULL) {
            doctor_say(d, DOCTOR_FAIL, "socket", "name the user that the MTA runs as",
                       "there is no user %s", user);
        }
        return; /* that MTA is not installed */
    }
    errnum = geteuid() == 0 ? connect_as(&pw, d->socket.path)
                            : compute_as(&pw, d->socket.path);
    (void)snprintf(what, sizeof(what), "socket as %s", user);
    if (errnum == 0) {
        doctor_say(d, DOCTOR_OK, what, "", "the MTA's user may connect");
        return;
    }
    (void)snprintf(
        advice, sizeof(advice),
        "%sadduser %s %s and restart the MTA; socket_mode must be \"0660\", and "
        "that group must be let into the folders above",
        strcmp(user, "postfix") == 0 ? "gillnet setup postfix, or by hand: " : "", user,
        group_name(d->socket.path, group));
    doctor_say(d, DOCTOR_FAIL, what, advice, "%s may not connect to %s", user,
               d->socket.path);
}

static void check_unix(struct doctor *d)
{
    const char *path = d->socket.path;
    struct errinfo why = {0};
    struct stat st;
    char user[DOCTOR_USER_MAX];
    int fd = -1;

    if (lstat(path, &st) != 0) {
        char text[128] = "";

        if (errno == EACCES && geteuid() != 0) {
            doctor_say(d, DOCTOR_WARN, "socket",
                       "run as root to see whether it answers",
                       "this user may not look at %s", path);
            return;
        }
        doctor_say(d, DOCTOR_FAIL, "socket",
                   "start gillnetd; its folder must exist and be writable for it",
                   "%s: %s", path, strerror_r(errno, text, sizeof(text)));
        return;
    }
    if (!S_ISSOCK(st.st_mode)) {
        doctor_say(d, DOCTOR_FAIL, "socket", "remove it and restart gillnetd",
                   "%s is there and is not a socket", path);
        return;
    }
    if (control_connect(path, &fd, &why) == ERR_OK) {
        close(fd);
        doctor_say(d, DOCTOR_OK, "socket", "", "%s answers", path);
    } else if (why.code != ERR_DENIED) {
        doctor_say(d, DOCTOR_FAIL, "socket", "start gillnetd", "nobody listens on %s",
                   path);
        return;
    } else {
        doctor_say(d, DOCTOR_WARN, "socket", "run as root to see whether it answers",
                   "%s is there, and this user may not connect to it", path);
    }
    if (d->mta_user != NULL) {
        check_user(d, d->mta_user);
        return;
    }
    check_user(d, "postfix");
    if (doctor_sendmail_user(d, user) && strcmp(user, "root") != 0) {
        check_user(d, user);
    }
}

/* ---- inet ---- */

static int connect_inet(const struct addrinfo *a)
{
    struct timeval wait = {.tv_sec = CONNECT_WAIT_S};
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    int errnum = 0;

    if (fd < 0) {
        return errno;
    }
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    if (connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
        errnum = errno;
    }
    close(fd);
    return errnum;
}

static bool is_anywhere(const char *host)
{
    return *host == '\0' || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

static void check_inet(struct doctor *d)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const char *host = is_anywhere(d->socket.host) ? "localhost" : d->socket.host;
    char text[128] = "";
    int errnum = ECONNREFUSED;
    int failed = getaddrinfo(host, d->socket.port, &hints, &found);

    if (failed != 0) {
        doctor_say(d, DOCTOR_FAIL, "socket", "write an address and a port number",
                   "%s port %s: %s", host, d->socket.port, gai_strerror(failed));
        return;
    }
    for (const struct addrinfo *a = found; a != NULL && errnum != 0; a = a->ai_next) {
        errnum = connect_inet(a);
    }
    freeaddrinfo(found);
    if (errnum != 0) {
        doctor_say(d, DOCTOR_FAIL, "socket", "start gillnetd", "%s port %s: %s", host,
                   d->socket.port, strerror_r(errnum, text, sizeof(text)));
    } else {
        doctor_say(d, DOCTOR_OK, "socket", "", "%s port %s answers", host,
                   d->socket.port);
    }
    if (is_anywhere(d->socket.host)) {
        doctor_say(
            d, DOCTOR_WARN, "socket",
            "name an address: anybody who reaches the port can ask what is listed",
            "gillnetd listens on every address of this machine");
    }
}

void doctor_socket(struct doctor *d)
{
    if (d->socket.is_unix) {
        check_unix(d);
    } else {
        check_inet(d);
    }
}
