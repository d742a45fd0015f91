/*
 * precheck - errors that libconfig does not report or cannot bear, found before it reads a file.
 *
 * libconfig 1.5 cuts integers that do not fit 32 bits silently, reads included files of any kind
 * and size, searches names in quadratic time and nests as deep as memory goes.
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_CONFIG_PRECHECK_H
#define CORE_CONFIG_PRECHECK_H

#include "core/base/err.h"
#include "core/base/slice.h"

enum {
    SCAN_DEPTH_MAX = 20,      /* groups, lists and arrays inside each other */
    SCAN_SETTINGS_MAX = 20000 /* "name =" in one file */
};

/* The finding on an integer. libconfig goes on with a wrong value, whose other errors are not
 * reported. */
#define SCAN_TOO_LARGE                                                                  \
    "the number is too large; write a number up to 2147483647, and sizes and times as " \
    "text with a unit, such as \"16M\" or \"2s\""

/* Called with each finding. */
typedef void scan_finding_fn(void *context, unsigned line, enum err code,
                             const char *text);

/* Reads text (not its meaning). Returns true when nothing was found and libconfig may read
 * it; numbers that are too large are found here and are no obstacle to reading on. */
bool scan_config(struct slice text, scan_finding_fn *on_finding, void *context);

#endif
