/*
 * line_client - client for the hub's filter lines, with a deadline for each question.
 *
 * The question of a message takes one connection, which is kept for the next question. A connection
 * whose answer is late is closed, so a late answer never meets another question. After
 * LINE_FAILURES_MAX failures in a row, the client sends only one question in LINE_PAUSE_US.
 * Faults have the name "lines" (stats_fault) and end LINE_FAULT_US after the last failure.
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

/* Sends a whole question; *retanswer gets the bytes after the answer's head. ERR_NOT_FOUND: no hub
 * listens. ERR_TIMEOUT: no answer before the deadline. ERR_CORRUPT: not an answer. ERR_LOCKED: not
 * sent, after LINE_FAILURES_MAX failures. ERR_IO, ERR_NOMEM. */
enum err line_client_ask(struct line_client *c, struct slice question,
                         uint64_t deadline_mono_us, struct buf *retanswer);
/* The caller reports the result of its question. text: the fault, a string that lasts; NULL: every
 * line came. */
void line_client_note(struct line_client *c, const char *text);

#endif
