/*
 * scan_message - a message as bytes, with the envelope somebody says, judged as the mail of a session is.
 *
 * Threads: any, while the service runs.
 */
#ifndef MILTER_SCAN_MESSAGE_H
#define MILTER_SCAN_MESSAGE_H

#include "core/base/err.h"
#include "core/base/slice.h"
#include "core/telemetry/scan_request.h"

/* The object of `gillnet check --json` as compact JSON, to be freed; NULL: why not is in reterr. Counts only
 * when the line asks for it, teaches nothing. */
char *scan_message(const struct scan_request *line, struct slice bytes,
                   struct errinfo *reterr);

#endif
