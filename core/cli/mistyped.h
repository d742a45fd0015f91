/*
 * mistyped - a word or an option that nearly is one of the command's synopsis.
 *
 * Threads: one.   Allocates: nothing.
 */
#ifndef CORE_CLI_MISTYPED_H
#define CORE_CLI_MISTYPED_H

#include "core/cli/cli.h"

/* EX_USAGE after a message that names the nearest; 0 where all is known, or near to nothing: then
 * the command itself says what it takes. */
int mistyped_check(const struct cli_command *command, int argc, char **argv);

#endif
