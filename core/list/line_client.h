/*
 * line_client - asks the hub for filter lines, and never waits longer than it may.
 *
 * One question of one message takes one connection, which is kept for the next question. A
 * connection whose answer did not come in time is closed, so no late answer meets another question.
 * After LINE_FAILURES_MAX failures in a row, the hub is asked only once in LINE_PAUSE_US.
 * Faults are told by the name "lines" (stats_fault) and end LINE_FAULT_US after the last failure.
 * Depends: base, telemetry.   Threads: any.   Owns: its connections.   ADR 0082.
 */
#ifndef CORE_LIST_LINE_CLIENT_H
#define CORE_LIST_LINE_CLIENT_H

#include "core/base/buf.h"
#include "core/base/err.h"

enum {
    LINE_FAILURES_MAX = 8,
    LINE_PAUSE_US = 1000 * 1000,
    LINE_FAULT_US = 10 * 1000 * 1000,
    LINE_IDLE_MAX = 32 /* connections that wait for a question */
};

struct line_client;
/* path: the hub's socket (line_wire.h). NULL: no memory. */
struct line_client *line_client_new(const char *path);
void line_client_free(struct line_client **c); /* accepts NULL */

/* Sends a whole question; *retanswer gets what stands behind the answer's head. ERR_NOT_FOUND: no
 * hub listens. ERR_TIMEOUT: no answer before the deadline. ERR_CORRUPT: it is none. ERR_LOCKED: not
 * asked, as it failed so often. ERR_IO, ERR_NOMEM. */
enum err line_client_ask(struct line_client *c, struct slice question,
                         uint64_t deadline_mono_us, struct buf *retanswer);
/* How a question ended in all, by who asked it: a text that lasts, or NULL: every line came. */
void line_client_note(struct line_client *c, const char *text);

#endif
