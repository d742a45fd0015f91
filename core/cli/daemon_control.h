/*
 * daemon_control - one request to gillnetd over its control socket.
 *
 * The protocol: one line in, lines out, end of file. The first line of the answer is "ok ..." or
 * "error ...".
 * Threads: any.   Owns: nothing.
 */
#ifndef CORE_CLI_DAEMON_CONTROL_H
#define CORE_CLI_DAEMON_CONTROL_H

#include "core/base/buf.h"
#include "core/base/err.h"

enum { CONTROL_ANSWER_MAX = 1 << 20, CONTROL_WAIT_S = 60 };

/* Connects to the Unix socket at path; the descriptor is the caller's. Paths longer than a
 * socket address holds are reached through their folder. */
enum err control_connect(const char *path, int *retfd, struct errinfo *reterr);

/* Sends request and a line break, appends the whole answer to retanswer. An answer that takes
 * longer than CONTROL_WAIT_S or has no line is an error. */
enum err control_ask(const char *path, const char *request, struct buf *retanswer,
                     struct errinfo *reterr);

#endif
