/*
 * wiring - the lines that bind an MTA and gillnetd together. README, `gillnetd -t`, `gillnet
 * doctor` and `gillnet setup` all have them from here.
 *
 * Postfix's lines name the milter once, as a parameter of its own, and use that: it can stand in
 * any list of milters, also in master.cf, whose values have no room for blanks. A Unix socket below
 * Postfix's queue folder is named from there: so a service in a chroot and one outside both find
 * it.
 * Threads: pure.   Owns: nothing.
 */
#ifndef CORE_CONFIG_WIRING_H
#define CORE_CONFIG_WIRING_H

#include "core/base/buf.h"

#define WIRING_PARAMETER   "gillnet_milter"     /* of main.cf */
#define WIRING_USE         "$" WIRING_PARAMETER /* in a list of milters */
#define WIRING_QUEUE       "/var/spool/postfix" /* Postfix's queue folder, as a rule */
#define WIRING_BELOW_QUEUE "gillnet/gillnetd.sock" /* where the socket stands in it */
#define WIRING_SENDMAIL_MC "/etc/mail/sendmail.mc"
#define WIRING_SENDMAIL_TAG \
    " # gillnet setup" /* behind dnl of the line that setup wrote */

/* Where gillnetd listens. */
struct wiring {
    const char *path; /* of a Unix socket; NULL: inet */
    const char *host; /* an address or name, without brackets; "": 127.0.0.1 */
    const char *port;
};

/* Whether the Unix socket stands below the queue folder, so that a chrooted smtpd can reach it. */
bool wiring_is_below(const struct wiring *w, const char *queue);

/* "unix:gillnet/gillnetd.sock", "unix:/run/x.sock", "inet:127.0.0.1:8895", "inet:[::1]:8895". */
void wiring_postfix_socket(const struct wiring *w, const char *queue, struct buf *ret);
/* "local:/run/x.sock", "inet:8895@127.0.0.1", "inet6:8895@[::1]". */
void wiring_sendmail_socket(const struct wiring *w, struct buf *ret);

/* The value of WIRING_PARAMETER: "{ SOCKET, default_action=accept, content_timeout=30s }". */
void wiring_postfix_milter(const struct wiring *w, const char *queue, struct buf *ret);
/* The lines of main.cf, each after indent and with a line break. */
void wiring_postfix_lines(const struct wiring *w, const char *queue, const char *indent,
                          struct buf *ret);
/* INPUT_MAIL_FILTER(...)dnl, without a line break. */
void wiring_sendmail_line(const struct wiring *w, struct buf *ret);

/* `socket = "...";` of gillnet.conf for that socket, without a line break. */
void wiring_socket_line(const struct wiring *w, struct buf *ret);

#endif
