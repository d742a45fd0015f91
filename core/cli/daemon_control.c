#include "core/cli/daemon_control.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "core/base/file.h"

static enum err refuse(struct errinfo *reterr, int errnum, const char *path)
{
    char text[128] = "";

    if (errnum == ENOENT || errnum == ECONNREFUSED) {
        return errinfo_set(reterr, ERR_NOT_FOUND, path, 0,
                           "nobody listens there; is gillnetd running with this "
                           "configuration (state_dir, control_socket)?");
    }
    if (errnum == EACCES || errnum == EPERM) {
        return errinfo_set(reterr, ERR_DENIED, path, 0,
                           "no right to connect; run as root or as gillnetd's user");
    }
    return errinfo_set(reterr, err_of_errno(errnum), path, 0, "cannot connect: %s",
                       strerror_r(errnum, text, sizeof(text)));
}

/* The address of path; a long one as /proc/self/fd/FOLDER/NAME, *retdir then open. */
static enum err address_of(const char *path, struct sockaddr_un *ret, int *retdir,
                           struct errinfo *reterr)
{
    const char *slash = strrchr(path, '/');
    char dir[FILE_PATH_MAX];

    memset(ret, 0, sizeof(*ret));
    ret->sun_family = AF_UNIX;
    *retdir = -1;
    if (strlen(path) < sizeof(ret->sun_path)) {
        memcpy(ret->sun_path, path, strlen(path));
        return ERR_OK;
    }
    if (slash == NULL || strlen(slash) > 64 ||
        file_path(dir, "%.*s", (int)(slash - path), path) != ERR_OK) {
        return errinfo_set(reterr, ERR_LIMIT, path, 0,
                           "the path is too long; set control_socket to a shorter one");
    }
    *retdir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*retdir < 0) {
        return refuse(reterr, errno, path);
    }
    (void)snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d%s", *retdir,
                   slash);
    return ERR_OK;
}

enum err control_connect(const char *path, int *retfd, struct errinfo *reterr)
{
    struct sockaddr_un address;
    int dir = -1;
    int fd = -1;
    int errnum = 0;
    enum err e = address_of(path, &address, &dir, reterr);

    if (e != ERR_OK) {
        return e;
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 ||
        connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        errnum = errno;
    }
    if (dir >= 0) {
        close(dir);
    }
    if (errnum != 0) {
        if (fd >= 0) {
            close(fd);
        }
        return refuse(reterr, errnum, path);
    }
    *retfd = fd;
    return ERR_OK;
}

static enum err broken(struct errinfo *reterr, int errnum, const char *path)
{
    char text[128] = "";

    if (errnum == EAGAIN) {
        return errinfo_set(reterr, ERR_TIMEOUT, path, 0,
                           "no answer within %d s; see the log of gillnetd",
                           (int)CONTROL_WAIT_S);
    }
    return errinfo_set(reterr, err_of_errno(errnum), path, 0,
                       "gillnetd broke the connection off: %s; see its log",
                       strerror_r(errnum, text, sizeof(text)));
}

static enum err exchange(int fd, const char *path, struct slice line,
                         struct buf *retanswer, struct errinfo *reterr)
{
    struct timeval wait = {.tv_sec = CONTROL_WAIT_S};
    char chunk[4096];
    ssize_t n = 0;

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    while (line.n > 0) {
        n = send(fd, line.p, line.n, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) {
            return broken(reterr, errno, path);
        }
        line = slice_from(line, n > 0 ? (size_t)n : 0);
    }
    n = 0;
    while (!buf_failed(retanswer)) {
        n = recv(fd, chunk, sizeof(chunk), 0);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        buf_add(retanswer, slice_of(chunk, (size_t)n));
    }
    if (n < 0) {
        return broken(reterr, errno, path);
    }
    if (buf_failed(retanswer)) {
        return errinfo_set(
            reterr, ERR_LIMIT, path, 0,
            "the answer is too long; is it gillnetd that listens there?");
    }
    if (slice_find(buf_slice(retanswer), '\n') == retanswer->n) {
        return errinfo_set(reterr, ERR_SYNTAX, path, 0,
                           "no answer came; see the log of gillnetd");
    }
    return ERR_OK;
}

enum err control_ask(const char *path, const char *request, struct buf *retanswer,
                     struct errinfo *reterr)
{
    struct buf line;
    int fd = -1;
    enum err e = control_connect(path, &fd, reterr);

    if (e != ERR_OK) {
        return e;
    }
    buf_init(&line, CONTROL_ANSWER_MAX);
    buf_printf(&line, "%s\n", request);
    if (buf_failed(&line)) {
        e = errinfo_set(reterr, ERR_NOMEM, path, 0, "out of memory");
    } else {
        e = exchange(fd, path, buf_slice(&line), retanswer, reterr);
    }
    buf_fini(&line);
    close(fd);
    return e;
}
