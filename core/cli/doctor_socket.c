/* doctor_socket - whether this user and the users of MTAs reach the socket of gillnetd. */
#include "core/base/user.h"
#include "core/cli/doctor.h"
#include "core/cli/services.h"

enum { CONNECT_WAIT_S = 5 };

/* ---- Unix ---- */

/* 0 or an errno. */
static int connect_unix(const char *path)
{
    struct errinfo why = {0};
    int fd = -1;

    return control_connect(path, &fd, &why) == ERR_OK ? 0
           : why.code == ERR_DENIED                   ? EACCES
                                                      : ECONNREFUSED;
}

/* Whether the mode gives the right (S_IWOTH or S_IXOTH) to that user. */
static bool may(const struct trial_user *u, const struct stat *st, mode_t right)
{
    if (st->st_uid == u->uid) {
        return (st->st_mode & right << 6) != 0;
    }
    for (int i = 0; i < u->ngroups; i++) {
        if (u->groups[i] == st->st_gid) {
            return (st->st_mode & right << 3) != 0;
        }
    }
    return (st->st_mode & right) != 0;
}

/* The result of connect_unix, from the modes alone: 0 or EACCES. Access lists are not seen. */
static int compute_as(const struct trial_user *u, const char *path)
{
    char part[SOCKET_NAME_PATH];
    struct stat st;

    for (size_t i = 1; path[i] != '\0'; i++) {
        if (path[i] == '/') {
            (void)snprintf(part, sizeof(part), "%.*s", (int)i, path);
            if (stat(part, &st) != 0 || !may(u, &st, S_IXOTH)) {
                return EACCES;
            }
        }
    }
    return stat(path, &st) == 0 && may(u, &st, S_IWOTH) ? 0 : EACCES;
}

static void check_user(struct doctor *d, const char *user)
{
    const char *path = d->socket.path;
    struct trial_user u;
    struct stat st = {0};
    char what[64];
    char advice[256];
    char group[USER_NAME_BYTES];

    if (!trial_user_named(user, &u)) {
        if (d->mta_user != NULL) {
            doctor_say(d, DOCTOR_FAIL, "socket", "name the user that the MTA runs as",
                       "there is no user %s", user);
        }
        return; /* that MTA is not installed */
    }
    int errnum =
        geteuid() == 0 ? doctor_call_as(&u, connect_unix, path) : compute_as(&u, path);
    (void)snprintf(what, sizeof(what), "socket as %s", user);
    if (errnum == 0) {
        doctor_say(d, DOCTOR_OK, what, "", "the MTA's user may connect");
        return;
    }
    (void)stat(path, &st);
    (void)snprintf(
        advice, sizeof(advice),
        "%sadduser %s %s and restart the MTA; socket_mode must be \"0660\", and "
        "that group must be let into the folders above",
        strcmp(user, "postfix") == 0 ? "gillnet setup postfix, or by hand: " : "", user,
        group_name(st.st_gid, group));
    doctor_say(d, DOCTOR_FAIL, what, advice, "%s may not connect to %s", user, path);
}

static void check_unix(struct doctor *d)
{
    const char *path = d->socket.path;
    struct errinfo why = {0};
    struct stat st;
    char user[DOCTOR_USER_MAX];
    int fd = -1;

    if (lstat(path, &st) != 0) {
        if (errno == EACCES && geteuid() != 0) {
            doctor_say(d, DOCTOR_WARN, "socket",
                       "run as root to see whether it answers",
                       "this user may not look at %s", path);
            return;
        }
        doctor_say(d, DOCTOR_FAIL, "socket",
                   "start gillnetd; its folder must exist and be writable for it",
                   "%s: %s", path, strerrordesc_np(errno));
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

static bool is_anywhere(const char *host)
{
    return *host == '\0' || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

static void check_inet(struct doctor *d)
{
    const char *host = is_anywhere(d->socket.host) ? "localhost" : d->socket.host;
    struct errinfo why = {0};
    int fd = -1;
    enum err e = control_dial(host, d->socket.port, CONNECT_WAIT_S, &fd, &why);

    fd_close(&fd);
    if (e != ERR_OK) {
        doctor_say(d, DOCTOR_FAIL, "socket",
                   e == ERR_SYNTAX ? "write an address and a port number"
                                   : "start gillnetd",
                   "%s port %s: %s", host, d->socket.port, why.text);
        if (e == ERR_SYNTAX) {
            return;
        }
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
