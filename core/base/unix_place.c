/* unix_place - bind, rights and rename of a Unix socket. */
#include "core/base/unix_place.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "core/base/file.h"
#include "core/base/random.h"
#include "core/base/user.h"

static bool unix_answers(const char *path)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return false;
    }
    /* EAGAIN: somebody listens, and the queue of waiting connections is full */
    bool answers =
        connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0 || errno == EAGAIN;
    close(fd);
    return answers;
}

enum err unix_place_check(const char *path, struct errinfo *reterr)
{
    struct stat st;
    if (lstat(path, &st) != 0) {
        if (errno == ENOENT) {
            return ERR_OK;
        }
        int e = errno;
        return errinfo_set(reterr, err_of_errno(e), path, 0,
                           "cannot look at the socket's place: %s; make its folder and "
                           "give gillnetd's user access to it",
                           strerrordesc_np(e));
    }
    if (!S_ISSOCK(st.st_mode)) {
        return errinfo_set(reterr, ERR_EXISTS, path, 0,
                           "something that is no socket lies here; remove it or choose "
                           "another path");
    }
    if (unix_answers(path)) {
        return errinfo_set(reterr, ERR_EXISTS, path, 0,
                           "another instance is running and answers here; stop it, or "
                           "choose another socket");
    }
    return ERR_OK;
}

void unix_place_private(const char *path, char ret[SOCKET_PRIVATE_BYTES])
{
    unsigned suffix = 0;
    random_bytes(&suffix, sizeof(suffix));
    (void)snprintf(ret, SOCKET_PRIVATE_BYTES, "%s.%08x.new", path, suffix);
}

enum err unix_place_rights(const char *path, const struct unix_rights *rights,
                           struct errinfo *reterr)
{
    uid_t uid = (uid_t)-1;
    gid_t gid = (gid_t)-1;
    gid_t own = 0; /* of the user: not used */
    if (*rights->owner && !user_find(rights->owner, &uid, &own)) {
        return errinfo_set(reterr, ERR_NOT_FOUND, rights->owner, 0,
                           "there is no such user; correct socket_owner");
    }
    if (*rights->group && !group_find(rights->group, &gid)) {
        return errinfo_set(reterr, ERR_NOT_FOUND, rights->group, 0,
                           "there is no such group; correct socket_group");
    }
    if ((uid != (uid_t)-1 || gid != (gid_t)-1) && lchown(path, uid, gid) != 0) {
        int n = errno;
        return errinfo_set(reterr, err_of_errno(n), path, 0,
                           "cannot give the socket to %s:%s: %s; gillnetd's user must "
                           "be a member of that group",
                           rights->owner, rights->group, strerrordesc_np(n));
    }
    return chmod(path, rights->mode) == 0
               ? ERR_OK
               : errinfo_errno(reterr, path, "cannot set the socket's mode");
}

enum err unix_place_put(struct unix_place *u, const char *private, const char *path,
                        const struct unix_rights *rights, struct errinfo *reterr)
{
    struct stat st;
    *u = (struct unix_place){.is_placed = false};
    enum err e = unix_place_rights(private, rights, reterr);
    if (e == ERR_OK && (lstat(private, &st) != 0 || rename(private, path) != 0)) {
        e = errinfo_errno(reterr, path, "cannot put the socket in its place");
    }
    if (e != ERR_OK) {
        unlink(private);
        return e;
    }
    snprintf(u->path, sizeof(u->path), "%s", path);
    u->device = st.st_dev;
    u->inode = st.st_ino;
    u->is_placed = true;
    return ERR_OK;
}

void unix_place_remove(struct unix_place *u)
{
    struct stat st;
    if (u->is_placed && lstat(u->path, &st) == 0 && st.st_dev == u->device &&
        st.st_ino == u->inode) {
        unlink(u->path);
    }
    u->is_placed = false;
}

static enum err cannot_make(const char *path, struct errinfo *reterr)
{
    int n = errno;
    return errinfo_set(reterr, err_of_errno(n), path, 0,
                       "cannot make the control socket: %s; check the folder's rights",
                       strerrordesc_np(n));
}

/* Binds and listens under a private name. */
static enum err listen_at(const char *private, const char *path, int backlog,
                          int *retfd, struct errinfo *reterr)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    (void)snprintf(un.sun_path, sizeof(un.sun_path), "%s", private);
    *retfd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t before = umask(0177);
    bool is_bound =
        *retfd >= 0 && bind(*retfd, (const struct sockaddr *)&un, sizeof(un)) == 0;
    umask(before);
    if (is_bound && listen(*retfd, backlog) == 0) {
        return ERR_OK;
    }
    enum err e = cannot_make(path, reterr);
    if (is_bound) {
        unlink(private);
    }
    return e;
}

enum err unix_place_listen(struct unix_place *u, const char *path, const char *key,
                           int backlog, int *retfd, struct errinfo *reterr)
{
    static const struct unix_rights rights = {.owner = "", .group = "", .mode = 0660};
    char private[SOCKET_PRIVATE_BYTES];
    *retfd = -1;
    if (strlen(path) > SOCKET_PATH_MAX) {
        return errinfo_set(
            reterr, ERR_LIMIT, path, 0,
            "the path of a socket may have at most %d bytes; set %s to a "
            "shorter one",
            SOCKET_PATH_MAX, key);
    }
    unix_place_private(path, private);
    enum err e = unix_place_check(path, reterr);
    THEN(e, listen_at(private, path, backlog, retfd, reterr));
    THEN(e, unix_place_put(u, private, path, &rights, reterr));
    if (e != ERR_OK) {
        fd_close(retfd);
    }
    return e;
}
