/*
 * control_client - blocking client for the control socket of gillnetd, with a deadline.
 *
 * Depends: base.   Threads: any; the caller waits: not for the hub's loop.   Owns: nothing.
 */
#ifndef CORE_TELEMETRY_CONTROL_CLIENT_H
#define CORE_TELEMETRY_CONTROL_CLIENT_H

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/slice.h"
#include "core/telemetry/scan_request.h"

/* Sends line (a line break is put behind it) and body, appends the whole answer, whose first line
 * begins with "ok", to retanswer. "error WHY" is ERR_SYNTAX with WHY as the text, "error busy"
 * ERR_LOCKED, "error out of memory" ERR_NOMEM. ERR_NOT_FOUND: gillnetd does not run. ERR_TIMEOUT:
 * deadline_mono_us has passed. ERR_LIMIT: the answer does not fit retanswer. */
enum err control_client_ask(const char *path, struct slice line, struct slice body,
                            uint64_t deadline_mono_us, struct buf *retanswer,
                            struct errinfo *reterr);

/* Has gillnetd look at its lists now, because one was changed. It looks four times a second anyway,
 * so a failure is not told. */
void control_client_look(const char *path);

/* Has message judged with the envelope of line (its bytes are set here): appends one line, the
 * object of `gillnet check --json`. Errors as above. */
enum err control_client_scan(const char *path, struct scan_request *line,
                             struct slice message, uint64_t deadline_mono_us,
                             struct buf *retjson, struct errinfo *reterr);

#endif
