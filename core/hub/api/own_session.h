/*
 * own_session - who may see the own page of a user for a while, in memory.
 *
 * A one-time link of a digest opens a session, whose token is a cookie. Only the SHA-256 of the
 * token is kept. A new session takes the place of the one that ends first, if there are
 * OWN_SESSIONS. A hub that starts has none.
 * Depends: base.   Threads: any.   Owns: the table.   ADR 0091.
 */
#ifndef CORE_HUB_API_OWN_SESSION_H
#define CORE_HUB_API_OWN_SESSION_H

#include "core/base/slice.h"

enum {
    OWN_SESSIONS = 1000,
    OWN_SESSION_S = 3600,
    OWN_CHANGES = 100, /* of one session */
    OWN_TOKEN_SIZE = 65,
    OWN_RECIPIENT_SIZE = 321
};

struct own_sessions;
struct own_sessions *own_sessions_new(void);     /* NULL: no memory */
void own_sessions_free(struct own_sessions **s); /* accepts NULL */

/* Opens a session. False: the address is too long, or there is no hash. */
bool own_session_open(struct own_sessions *s, const char *recipient, uint64_t now_us,
                      char rettoken[OWN_TOKEN_SIZE]);
/* The recipient of a token of any form. False: it has no session. */
bool own_session_find(struct own_sessions *s, struct slice token, uint64_t now_us,
                      char retrecipient[OWN_RECIPIENT_SIZE]);
/* Counts a change. False: the session had OWN_CHANGES, or is none. */
bool own_session_take_change(struct own_sessions *s, struct slice token);
void own_session_close(struct own_sessions *s, struct slice token);

/* The secret of the forms of a session. It tells nothing of the token. False: no hash. */
bool own_session_key(struct slice token, char ret[OWN_TOKEN_SIZE]);

#endif
