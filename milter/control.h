/*
 * control - a Unix socket on which `gillnet` and gillnet-hub ask gillnetd: reload, look, ping,
 * stat, counts, errors, scan, report, probe, escalated (domains of emergency mode).
 *
 * One request line, one answer: "ok ..." or "error ..." and more lines, then the connection is
 * closed. After the line of a scan or report comes a message (scan.h). Requests are bounded in
 * length and time, clients in number. Every user who may open the socket (mode 0660) may reload.
 * Threads: control_start makes one.
 */
#ifndef MILTER_CONTROL_H
#define MILTER_CONTROL_H

#include "core/base/err.h"
#include "core/base/keyring.h"
#include "core/count/count_protocol.h"

enum {
    CONTROL_LINE_MAX = COUNT_WIRE_REQUEST_MAX, /* bytes of a request */
    CONTROL_CLIENTS_MAX = 8,                   /* at once; more wait */
    CONTROL_TIMEOUT_MS = 5000
};

/* Listens; clients wait until control_start. ERR_EXISTS: another instance answers at
 * path. */
enum err control_open(const char *path, struct errinfo *reterr);
/* Sets the counts for count-* requests, and the keys of their digests; both are borrowed until
 * control_stop. Call it before control_start. Without it such requests are refused. */
void control_set_count(const struct count_port *port, const struct keyring *keys);
/* Answers, if a socket is open, from a thread of its own; the watch runs. False: no thread. */
bool control_start(void);
/* Fine in any state. */
void control_stop(void);

#endif
