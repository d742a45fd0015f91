/*
 * progress - a bar on a terminal, nothing elsewhere.
 *
 * Threads: one.   Allocates: nothing.
 */
#ifndef CORE_CLI_PROGRESS_H
#define CORE_CLI_PROGRESS_H

#include "core/base/std.h"

struct progress {
    bool is_shown; /* standard error is a terminal */
    bool is_dirty; /* something stands on the line */
    uint64_t last_us;
};

void progress_init(struct progress *p);
/* share 0..1, or below 0 when it is not known; drawn at most ten times a second. */
void progress_show(struct progress *p, const char *stage, double share);
/* Clears the line, so that a message can be written. */
void progress_clear(struct progress *p);

#endif
