/*
 * json - the few JSON habits of the subcommands: one object a line, any bytes as text.
 *
 * Threads: one.   Owns: nothing.
 */
#ifndef CORE_CLI_JSON_H
#define CORE_CLI_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/base/slice.h"

/* Takes object, prints it compactly and a line break to standard output. False (and a message)
 * without memory, which a NULL object also means. */
bool json_line(json_t *object);
bool json_line_to(FILE *to, json_t *object);

/* A string of bytes of any kind: those that are not UTF-8, and NUL, become U+FFFD. */
json_t *json_text(struct slice bytes);

#endif
