/*
 * socket_name - the socket of a milter, in the spellings of libmilter, Postfix and Sendmail.
 *
 * unix:/PATH, local:/PATH, /PATH, inet:PORT@HOST, inet:HOST:PORT, and inet6: with the same forms.
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_CLI_SOCKET_NAME_H
#define CORE_CLI_SOCKET_NAME_H

#include "core/base/slice.h"
#include "core/config/wiring.h"

enum { SOCKET_NAME_PATH = 512, SOCKET_NAME_HOST = 256, SOCKET_NAME_PORT = 32 };

struct socket_name {
    bool is_unix;
    char path[SOCKET_NAME_PATH]; /* unix; may be relative in an MTA's configuration */
    char host[SOCKET_NAME_HOST]; /* inet; "" : every address */
    char port[SOCKET_NAME_PORT];
};

/* False: text has another form. */
bool socket_name_read(struct slice text, struct socket_name *ret);

/* Whether a client of the socket `theirs` reaches a server on `ours`. folder: in front of a
 * relative path of theirs. */
bool socket_name_meets(const struct socket_name *ours, const struct socket_name *theirs,
                       const char *folder);

/* The same for wiring.h; it points into s. */
struct wiring socket_name_wiring(const struct socket_name *s);

#endif
