/*
 * socket - the socket on which the MTA reaches us: its spellings, and how it is opened.
 *
 * Understood: "unix:PATH", "local:PATH", "/PATH", "inet:PORT@HOST" and "inet6:PORT@HOST"
 * (libmilter's and Sendmail's), "inet:HOST:PORT" and "inet:[V6]:PORT" (Postfix's). A port without
 * a host is refused: libmilter would listen on every address.
 * A Unix socket is bound by libmilter under a private name and then renamed into place: at its end
 * libmilter, when it is not root, unlinks whatever lies under the name it bound, even the socket of
 * a newer instance. At the end the name is removed only if no newer instance has taken the place.
 * Threads: one.   Source: libmilter's listener; ADR 0012.
 */
#ifndef MILTER_SOCKET_H
#define MILTER_SOCKET_H

#include <sys/types.h>

#include "core/base/unix_place.h"
#include "core/config/config.h"

enum { SOCKET_HOST_MAX = 255, SOCKET_TEXT_MAX = 320 };

struct milter_socket {
    bool is_unix;
    bool is_v6;                     /* host is an IPv6 address */
    char path[SOCKET_PATH_MAX + 1]; /* is_unix */
    char host[SOCKET_HOST_MAX + 1]; /* else: address or name, without brackets */
    unsigned port;
};

enum err socket_parse(const char *text, struct milter_socket *ret,
                      struct errinfo *reterr);
/* "unix:/run/x.sock", "inet:127.0.0.1:8895", "inet:[::1]:8895"; returns ret. */
const char *socket_postfix(const struct milter_socket *s, char ret[SOCKET_TEXT_MAX]);
/* "local:/run/x.sock", "inet:8895@127.0.0.1", "inet6:8895@::1"; returns ret. */
const char *socket_sendmail(const struct milter_socket *s, char ret[SOCKET_TEXT_MAX]);

/* The listening socket of libmilter. */
struct milter_listener {
    struct milter_socket socket;
    struct unix_place place;
    int fd;       /* libmilter's own; -1: not found */
    bool is_kept; /* systemd keeps the socket for the next gillnetd */
};
/* smfi_setconn and smfi_opensocket with all that is said above; TCP_NODELAY on inet, from where
 * accepted sockets inherit it. smfi_register must have been called. */
enum err milter_listen(struct milter_listener *l, const struct milter_socket *s,
                       const struct config *config, struct errinfo *reterr);
/* No new connections from now on; those that are open stay. With is_kept new ones wait for the next
 * gillnetd. */
void milter_listener_shut(struct milter_listener *l);
/* Not with is_kept: the file must lie there for the next gillnetd. */
void milter_listener_remove(struct milter_listener *l);

/* ---- a Unix socket outlives gillnetd while systemd restarts it: handover.c, ADR 0051 ---- */

/*
 * systemd keeps a copy of the listening socket (FileDescriptorStoreMax of the unit, which also sets
 * FDSTORE) and gives it to the next gillnetd. Until then the MTA's connections wait in the queue of
 * the socket. The name of the kept socket holds device and inode of its file, so a socket is taken
 * only while its file still lies at the configured path.
 */
/* Gives a copy of fd, which listens at place, to systemd. False: systemd keeps none. */
bool handover_keep(int fd, const struct unix_place *place);
/* Returns the kept descriptor that listens at path and fills *ret; -1: systemd kept none for this
 * path. Kept sockets of other paths are closed and dropped by systemd. Before the first thread. */
int handover_take(const char *path, struct unix_place *ret);

#endif
