/*
 * connection - the steps of a connection that come before and after its messages.
 *
 * A callback takes the session with connection_take, works, and leaves with connection_leave.
 * Threads: as callbacks.h.
 */
#ifndef MILTER_CONNECTION_H
#define MILTER_CONNECTION_H

#include "milter/libmilter.h"
#include "milter/session.h"

/* The session of ctx, entered; made if ctx has none. NULL without memory: the callback returns
 * connection_unexamined, and the mail passes. */
struct session *connection_take(SMFICTX *ctx);
sfsistat connection_unexamined(unsigned long noreply_bit);
/* Enters a session that is there. Waits for ever when the daemon ends. */
void connection_enter(struct session *s);
/* Returns answer. */
sfsistat connection_leave(struct session *s, sfsistat answer);
/* The value of a macro of the MTA; NULL: it sent none. */
const char *connection_symbol(SMFICTX *ctx, const char *name);

/* libmilter's callbacks. */
sfsistat connection_on_negotiate(SMFICTX *ctx, unsigned long f0, unsigned long f1,
                                 unsigned long f2, unsigned long f3, unsigned long *pf0,
                                 unsigned long *pf1, unsigned long *pf2,
                                 unsigned long *pf3);
sfsistat connection_on_connect(SMFICTX *ctx, char *name, _SOCK_ADDR *addr);
sfsistat connection_on_helo(SMFICTX *ctx, char *helo);
sfsistat connection_on_close(SMFICTX *ctx);

#endif
