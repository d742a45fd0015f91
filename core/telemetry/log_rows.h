/*
 * log_rows - the newest warnings and errors of a process as lines of JSON, for its control socket.
 *
 * {"time_s", "level": "warn" or "error", "times", "text"}, the newest first.
 * Threads: any.
 */
#ifndef CORE_TELEMETRY_LOG_ROWS_H
#define CORE_TELEMETRY_LOG_ROWS_H

#include "core/base/buf.h"

enum { LOG_ROWS_BYTES_MAX = 120 * 1024 }; /* older lines are left out */

/* Appends "ok", a line break and the rows. */
void log_rows_print(struct buf *ret);

#endif
