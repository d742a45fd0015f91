/*
 * nearest - distance between a misspelt name and a name that exists: commands, options, keys.
 *
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_BASE_NEAREST_H
#define CORE_BASE_NEAREST_H

#include "core/base/slice.h"

enum { NEAREST_NAME_MAX = 40 };

/* Number of bytes to insert, remove or replace, and of neighbours to swap, that makes one name
 * the other. Letter case does not count, and '-', '_', '.' and space are one character.
 * NEAREST_NAME_MAX when a name is longer than that. */
size_t nearest_edits(struct slice a, struct slice b);

/* Most edits that leave a name of this length a misspelling of another: about a third. */
size_t nearest_most(size_t length);

/* The nearest of n names, or NULL when no name is near. */
const char *nearest_name(struct slice name, const char *const *names, size_t n);

/* After getopt's message about a written option: prints the nearest one of longs, if one is
 * near. */
struct option;
void nearest_option_print(const char *program, const char *written,
                          const struct option *longs);

#endif
