/*
 * api_spool - what clients reported, kept for what learns from it: STATE/reports/spool.
 *
 * One JSON object a line, appended and synced before the client hears 202: {"time", "who", "from", "kind": "spam"|"ham",
 * "values": [...]}, of a message also "message_sha256" and "message_bytes", and values are those that lists held when it
 * was reported as ham: never bytes of a message.
 * STATE/reports/done says how far reports of ham were acted on, so that none is lost when the hub ends meanwhile. At
 * SPOOL_BYTES_MAX the file becomes spool.1 in the place of the former one.
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
/* All that is there was acted on. */
enum err api_spool_done(const char *state_dir, struct errinfo *reterr);
/* Every report that was perhaps not acted on, in their order. */
typedef void api_spool_fn(void *context, const json_t *line);
enum err api_spool_each_open(const char *state_dir, api_spool_fn *on_line,
                             void *context, struct errinfo *reterr);

#endif
