/*
 * print_json - the JSON habit of the subcommands: one object a line.
 *
 * Threads: one.   Owns: nothing.
 */
#ifndef CORE_CLI_PRINT_JSON_H
#define CORE_CLI_PRINT_JSON_H

#include <jansson.h>

#include "core/message/feature/feature_json.h"

/* Takes object, prints it compactly and a line break to standard output. False (and a message)
 * without memory, which a NULL object also means. */
bool json_line(json_t *object);
bool json_line_to(FILE *to, json_t *object);

#endif
