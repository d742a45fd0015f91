/*
 * api_reported - what people call spam and good, added to gillnetd's counts (core/count/judged.h).
 *
 * A report is in the spool by then; that gillnetd cannot count it (it is down, it counts nothing) is
 * logged and changes nothing else.
 * Depends: base, config, feature, count.   Threads: one for a call; it waits up to
 * API_COUNTS_WAIT_MS.   Allocates: from the arena.
 */
#ifndef CORE_HUB_API_API_REPORTED_H
#define CORE_HUB_API_API_REPORTED_H

#include <jansson.h>

#include "core/base/arena.h"
#include "core/config/config.h"

/* Each value, as every feature that it may stand for. */
void api_reported_values(const struct config *config, const struct slice *values,
                         size_t n, bool is_spam, struct arena *arena);
/* The rows {type, value} of a message that gillnetd examined. */
void api_reported_features(const struct config *config, const json_t *rows,
                           bool is_spam, struct arena *arena);

#endif
