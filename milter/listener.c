/* listener - libmilter opens the socket; we find its descriptor and finish it. */
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "milter/libmilter.h"
#include "milter/socket.h"

enum { PROBE_MS = 500, BACKLOG = 1024, DESCRIPTORS_MAX = 65536 };

static bool connects(const struct addrinfo *a)
{
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return false;
    }
    bool is_up = connect(fd, a->ai_addr, a->ai_addrlen) == 0;
    if (!is_up && errno == EINPROGRESS) {
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        int error = 0;
        socklen_t n = sizeof(error);
        is_up = poll(&p, 1, PROBE_MS) == 1 &&
                getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0 && error == 0;
    }
    close(fd);
    return is_up;
}

static enum err check_inet(const struct milter_socket *s, const char *text,
                           struct errinfo *reterr)
{
    char port[8];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    snprintf(port, sizeof(port), "%u", s->port);
    int e = getaddrinfo(s->host, port, &hints, &found);
    if (e != 0) {
        return errinfo_set(reterr, ERR_NOT_FOUND, text, 0,
                           "the host cannot be found: %s", gai_strerror(e));
    }
    bool is_taken = false;
    for (const struct addrinfo *a = found; a && !is_taken; a = a->ai_next) {
        is_taken = connects(a);
    }
    freeaddrinfo(found);
    return is_taken ? errinfo_set(reterr, ERR_EXISTS, text, 0,
                                  "another instance or program is running and answers "
                                  "here; stop it, or choose another socket")
                    : ERR_OK;
}

/* fd listens in the family, and at path where that is not NULL. */
static bool is_listener(int fd, bool is_unix, const char *path)
{
    int listens = 0;
    socklen_t n = sizeof(listens);
    struct sockaddr_storage addr = {.ss_family = AF_UNSPEC};
    socklen_t addr_n = sizeof(addr);
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &n) != 0 || !listens ||
        getsockname(fd, (struct sockaddr *)&addr, &addr_n) != 0) {
        return false;
    }
    if (!is_unix) {
        return addr.ss_family == AF_INET || addr.ss_family == AF_INET6;
    }
    struct sockaddr_un un;
    memcpy(&un, &addr, sizeof(un));
    return addr.ss_family == AF_UNIX && strcmp(un.sun_path, path) == 0;
}

/* libmilter does not tell its descriptor: it is looked for among ours. */
static int find_listener(bool is_unix, const char *path)
{
    for (int fd = 3; fd < DESCRIPTORS_MAX; fd++) {
        if (is_listener(fd, is_unix, path)) {
            return fd;
        }
    }
    return -1;
}

static enum err open_socket(char *connection, const char *text, struct errinfo *reterr)
{
    errno = 0;
    smfi_setbacklog(BACKLOG);
    if (smfi_setconn(connection) == MI_SUCCESS &&
        smfi_opensocket(false) == MI_SUCCESS) {
        return ERR_OK;
    }
    int e = errno;
    return errinfo_set(reterr, e ? err_of_errno(e) : ERR_IO, text, 0,
                       "libmilter cannot listen here%s%s; %s", e ? ": " : "",
                       e ? strerrordesc_np(e) : "",
                       e == EAFNOSUPPORT
                           ? "gillnetd's unit has no network: the drop-in "
                             "gillnetd-inet.conf gives it one, see gillnetd(8)"
                           : "see the mail log for its reason, and check the folder's "
                             "rights or the port");
}

/* Has libmilter open a socket under a private name; l->fd is its descriptor. */
static enum err open_private(struct milter_listener *l, const char *private,
                             const char *text, struct errinfo *reterr)
{
    char connection[SOCKET_PRIVATE_BYTES + 8];
    snprintf(connection, sizeof(connection), "local:%s", private);
    mode_t before = umask(0177); /* nobody else until the rights are as configured */
    enum err e = open_socket(connection, text, reterr);
    umask(before);
    if (e == ERR_OK) {
        l->fd = find_listener(true, private);
    }
    return e;
}

/* The socket that the gillnetd before this one left takes the place of libmilter's own. */
static enum err put_kept(struct milter_listener *l, int kept, const char *private,
                         const struct unix_rights *rights, struct errinfo *reterr)
{
    bool is_put = l->fd >= 0 && dup3(kept, l->fd, O_CLOEXEC) == l->fd &&
                  listen(l->fd, BACKLOG) == 0;
    close(kept);
    unlink(private);
    if (!is_put) {
        return errinfo_set(reterr, ERR_IO, l->place.path, 0,
                           "the socket kept by systemd cannot be used; stop gillnetd "
                           "and start it again");
    }
    l->is_kept = true;
    return unix_place_rights(l->place.path, rights, reterr);
}

static enum err listen_unix(struct milter_listener *l, const struct config *config,
                            const char *text, struct errinfo *reterr)
{
    char private[SOCKET_PRIVATE_BYTES];
    const char *path = l->socket.path;
    struct unix_rights rights = {.owner = config->socket_owner,
                                 .group = config->socket_group,
                                 .mode = (mode_t)config->socket_mode};
    int kept = handover_take(path, &l->place);
    enum err e = kept < 0 ? unix_place_check(path, reterr) : ERR_OK;
    if (e != ERR_OK) {
        return e;
    }
    unix_place_private(path, private);
    e = open_private(l, private, text, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (kept >= 0) {
        return put_kept(l, kept, private, &rights, reterr);
    }
    e = unix_place_put(&l->place, private, path, &rights, reterr);
    l->is_kept = e == ERR_OK && l->fd >= 0 && handover_keep(l->fd, &l->place);
    return e;
}

static enum err listen_inet(struct milter_listener *l, const char *text,
                            struct errinfo *reterr)
{
    char connection[SOCKET_TEXT_MAX];
    enum err e = check_inet(&l->socket, text, reterr);
    if (e != ERR_OK) {
        return e;
    }
    socket_sendmail(&l->socket, connection);
    e = open_socket(connection, text, reterr);
    if (e != ERR_OK) {
        return e;
    }
    l->fd = find_listener(false, NULL);
    int one = 1;
    if (l->fd < 0 ||
        setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) != 0) {
        return errinfo_set(
            reterr, ERR_UNSUPPORTED, text, 0,
            "TCP_NODELAY cannot be set on libmilter's socket, and without "
            "it every message would wait 40 ms; use a Unix socket");
    }
    return ERR_OK;
}

enum err milter_listen(struct milter_listener *l, const struct milter_socket *s,
                       const struct config *config, struct errinfo *reterr)
{
    char text[SOCKET_TEXT_MAX];
    *l = (struct milter_listener){.socket = *s, .fd = -1};
    socket_postfix(s, text);
    enum err e = s->is_unix ? listen_unix(l, config, text, reterr)
                            : listen_inet(l, text, reterr);
    if (e == ERR_OK && l->fd >= 0) {
        /* a client that is gone again must not hold up accept() */
        int flags = fcntl(l->fd, F_GETFL);
        fcntl(l->fd, F_SETFL, (flags < 0 ? 0 : flags) | O_NONBLOCK);
    }
    return e;
}

/* One end of a socket pair with a byte to read takes the descriptor of the listening socket: accept
 * fails on it, and waits (see signals.h). A connection to ourselves ends the poll that still holds
 * the old socket. */
static void replace_socket(int fd, const struct sockaddr *addr, socklen_t n)
{
    int pair[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return;
    }
    int wake = socket(addr->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool is_readable = write(pair[1], "x", 1) == 1;
    if (wake >= 0 && is_readable && dup3(pair[0], fd, O_CLOEXEC) == fd) {
        /* it is under way, or refused because libmilter stopped polling */
        (void)connect(wake, addr, n);
    }
    if (wake >= 0) {
        close(wake);
    }
    close(pair[0]); /* pair[1] stays: closed, it would look like an error */
}

/* A TCP socket that is shut down makes libmilter give up at once, before messages in flight have
 * ended. */
static void replace_inet(int fd)
{
    struct sockaddr_storage addr = {.ss_family = AF_UNSPEC};
    socklen_t n = sizeof(addr);
    if (getsockname(fd, (struct sockaddr *)&addr, &n) == 0) {
        replace_socket(fd, (struct sockaddr *)&addr, n);
    }
}

/* A socket that systemd keeps must not be shut down: the next gillnetd accepts what waits in its
 * queue. */
static void replace_kept(const struct milter_listener *l)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    snprintf(un.sun_path, sizeof(un.sun_path), "%s", l->place.path);
    replace_socket(l->fd, (struct sockaddr *)&un, sizeof(un));
}

void milter_listener_shut(struct milter_listener *l)
{
    if (l->fd < 0) {
        return;
    }
    if (l->is_kept) {
        replace_kept(l);
    } else if (l->socket.is_unix) {
        shutdown(l->fd, SHUT_RDWR);
    } else {
        replace_inet(l->fd);
    }
    l->fd = -1;
}

void milter_listener_remove(struct milter_listener *l)
{
    if (!l->is_kept) {
        unix_place_remove(&l->place);
    }
}
