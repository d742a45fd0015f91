/* socket_file - a Unix socket gets its rights and its place, and is removed while it is ours. */
#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/base/random.h"

#include "milter/socket.h"

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

void unix_place_private(const char *path, char ret[SOCKET_PATH_MAX + 14])
{
    unsigned suffix = 0;
    random_bytes(&suffix, sizeof(suffix));
    snprintf(ret, SOCKET_PATH_MAX + 14, "%s.%08x.new", path, suffix);
}

static enum err find_owner(const char *name, uid_t *ret, struct errinfo *reterr)
{
    char buffer[4096];
    struct passwd pw;
    struct passwd *found = NULL;
    *ret = (uid_t)-1;
    if (!*name) {
        return ERR_OK;
    }
    if (getpwnam_r(name, &pw, buffer, sizeof(buffer), &found) != 0 || !found) {
        return errinfo_set(reterr, ERR_NOT_FOUND, name, 0,
                           "there is no such user; correct socket_owner");
    }
    *ret = pw.pw_uid;
    return ERR_OK;
}

static enum err find_group(const char *name, gid_t *ret, struct errinfo *reterr)
{
    struct group *found = NULL;
    struct group gr;
    size_t size = 65536; /* a group may have many members */
    *ret = (gid_t)-1;
    if (!*name) {
        return ERR_OK;
    }
    char *buffer = malloc(size);
    if (!buffer) {
        return errinfo_set(reterr, ERR_NOMEM, name, 0, "out of memory");
    }
    if (getgrnam_r(name, &gr, buffer, size, &found) == 0 && found) {
        *ret = gr.gr_gid;
    }
    free(buffer);
    return found ? ERR_OK
                 : errinfo_set(reterr, ERR_NOT_FOUND, name, 0,
                               "there is no such group; correct socket_group");
}

enum err unix_place_rights(const char *path, const struct unix_rights *rights,
                           struct errinfo *reterr)
{
    uid_t uid;
    gid_t gid;
    enum err e = find_owner(rights->owner, &uid, reterr);
    THEN(e, find_group(rights->group, &gid, reterr));
    if (e != ERR_OK) {
        return e;
    }
    if ((uid != (uid_t)-1 || gid != (gid_t)-1) && lchown(path, uid, gid) != 0) {
        int n = errno;
        return errinfo_set(reterr, err_of_errno(n), path, 0,
                           "cannot give the socket to %s:%s: %s; gillnetd's user must "
                           "be a member of that group",
                           rights->owner, rights->group, strerrordesc_np(n));
    }
    if (chmod(path, rights->mode) != 0) {
        int n = errno;
        return errinfo_set(reterr, err_of_errno(n), path, 0,
                           "cannot set the socket's mode: %s", strerrordesc_np(n));
    }
    return ERR_OK;
}

enum err unix_place_put(struct unix_place *u, const char *private, const char *path,
                        const struct unix_rights *rights, struct errinfo *reterr)
{
    struct stat st;
    *u = (struct unix_place){.is_placed = false};
    enum err e = unix_place_rights(private, rights, reterr);
    if (e == ERR_OK && (lstat(private, &st) != 0 || rename(private, path) != 0)) {
        int n = errno;
        e = errinfo_set(reterr, err_of_errno(n), path, 0,
                        "cannot put the socket in its place: %s", strerrordesc_np(n));
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
