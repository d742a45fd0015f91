/*
 * show - a feed as JSON: its address without secrets, its state, and the result of an update.
 *
 * The hub and `gillnet feed` without a hub give the same rows and answers.
 * Depends: base, jansson.   Threads: any.   Owns: nothing.
 */
#ifndef CORE_FEED_SHOW_H
#define CORE_FEED_SHOW_H

#include <jansson.h>

#include "core/feed/update.h"

enum { FEED_SHOWN_MAX = 512 };

/* An address without secrets: no user, no values of a query, no key in the path. */
char *feed_shown(char dst[FEED_SHOWN_MAX], const char *url);

/* Adds "format", "entries", "good_s", "changed_s", "version", "versions", "added_total",
 * "pinned". */
void feed_state_json(json_t *to, const struct update_state *s);
/* Adds "entries", "added", "removed", "excluded", "lines_read", "bad_lines", "format", "reason" and
 * "text" of a refusal. */
void feed_report_json(json_t *to, const struct update_report *r);
/* {"change": "added|removed|excluded", "type", "text", "reason"}; text is null where it is no
 * UTF-8. */
json_t *feed_line_json(const struct update_line *line);

#endif
