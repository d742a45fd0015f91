/*
 * enriched - the visible text of text/enriched and text/richtext.
 *
 * Commands in <> are removed, "<<" and <lt> become "<", <nl> becomes a line end. Text in <param> is
 * invisible; it is moved behind the word around it. The input comes in chunks cut anywhere. Linear,
 * constant state. Threads: one at a time.   Source: RFC 1896, RFC 1341 7.1.3.
 */
#ifndef CORE_MESSAGE_TEXT_ENRICHED_H
#define CORE_MESSAGE_TEXT_ENRICHED_H

#include "core/base/slice.h"

enum {
    ENRICHED_COMMAND_MAX = 62, /* "</" and 60 bytes; longer commands are text */
    ENRICHED_PARAM_MAX = 1024, /* bytes that are kept */
    ENRICHED_HELD_MAX = ENRICHED_COMMAND_MAX + ENRICHED_PARAM_MAX + 2
};

struct enriched {
    char command[ENRICHED_COMMAND_MAX]; /* from its '<' on */
    size_t ncommand;
    char param[ENRICHED_PARAM_MAX];
    size_t nparam;
    bool in_param;
};

void enriched_init(struct enriched *e);
/* dst must hold in.n + ENRICHED_HELD_MAX bytes; returns bytes written. */
size_t enriched_feed(struct enriched *e, struct slice in, char *dst);
/* Writes the held bytes at the end to dst, at most ENRICHED_HELD_MAX; returns bytes written. */
size_t enriched_end(struct enriched *e, char *dst);

#endif
