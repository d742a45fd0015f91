/*
 * mistake - the syntax errors of a file that libconfig refused: line, key, right form.
 *
 * libconfig says "syntax error" and a line, often the next one. This reads the text by the same
 * grammar, knows the open brackets and the key, and goes on behind a mistake where it can. It
 * judges only what libconfig refused, so it can never refuse a good file.
 * Threads: pure.   Allocates: a table of keys, for those that stand twice; freed.
 */
#ifndef CORE_CONFIG_MISTAKE_H
#define CORE_CONFIG_MISTAKE_H

#include "core/config/precheck.h"

enum { MISTAKES_MAX = 20 }; /* reported of one file */

/* Calls on_finding for every mistake; returns their number. Time is linear in the text, and
 * n log n in its settings, of which scan_config lets SCAN_SETTINGS_MAX pass. */
size_t mistake_find(struct slice text, scan_finding_fn *on_finding, void *context);

#endif
