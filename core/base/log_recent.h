/*
 * log_recent - the newest warnings and errors of this process, for people who do not read its log.
 *
 * A line that is the same as the newest one raises its number instead of taking a place.
 * Threads: any.   Allocates: nothing.
 */
#ifndef CORE_BASE_LOG_RECENT_H
#define CORE_BASE_LOG_RECENT_H

#include "core/base/log.h"

enum { LOG_RECENT_LINES = 100, LOG_RECENT_TEXT_MAX = 400 };

struct log_recent {
    uint64_t time_us; /* of the last one, by the wall clock */
    uint64_t times;
    enum log_level level;
    char text[LOG_RECENT_TEXT_MAX + 1]; /* cut, with "..." at the end */
};

/* log.c calls it for each line of level warn or error. */
void log_recent_add(enum log_level level, const char *line);
/* Copies the lines, the newest first. Returns how many. */
size_t log_recent_get(struct log_recent ret[LOG_RECENT_LINES]);

#endif
