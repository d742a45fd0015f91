/*
 * lookup_file - how often values were counted by a counting filter on disk; for `gillnet lookup --counts`.
 * Threads: one.
 */
#ifndef CORE_CLI_LOOKUP_FILE_H
#define CORE_CLI_LOOKUP_FILE_H

#include "core/cli/cli.h"

/* Prints for each value, as each type of feature that it may be, at most how often it was counted by the servers and in
 * the times that the file names. Returns 0 or an exit status: CLI_HIT when one of them was. */
int lookup_file(struct cli *cli, const char *path, char **values);

#endif
