/*
 * api_spool - the file of reports by clients, STATE/reports/spool.
 *
 * One JSON object a line, appended and synced before the client gets 202: {"time", "who", "from",
 * "kind": "spam"|"ham", "values": [...]}, of a message also "message_sha256" and "message_bytes",
 * and values are those that lists held when it was reported as ham: never bytes of a message.
 * STATE/reports/done holds the offset up to which reports of ham were handled, so that a restart of
 * the hub loses no report. At SPOOL_BYTES_MAX the file becomes spool.1 in the place of the former
 * one.
 * Depends: base, jansson.   Threads: one.   Owns: nothing between calls.
 */
#ifndef CORE_HUB_API_API_SPOOL_H
#define CORE_HUB_API_API_SPOOL_H

#include <jansson.h>

#include "core/base/err.h"

enum { SPOOL_BYTES_MAX = 256 << 20, SPOOL_LINE_MAX = 64 << 20 };

/* Durable when it returns ERR_OK. line: as above; not taken. */
enum err api_spool_add(const char *state_dir, const json_t *line,
                       struct errinfo *reterr);
/* Marks all reports as handled. */
enum err api_spool_done(const char *state_dir, struct errinfo *reterr);
/* Calls on_line for each report that may not have been handled, in order. */
typedef void api_spool_fn(void *context, const json_t *line);
enum err api_spool_each_open(const char *state_dir, api_spool_fn *on_line,
                             void *context, struct errinfo *reterr);

#endif
