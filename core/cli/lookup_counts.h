/*
 * lookup_counts - how often values were counted: the exact 144 + 14 buckets, first and last seen,
 * distinct recipients, networks and senders; for `gillnet lookup`.
 * Threads: one.
 */
#ifndef CORE_CLI_LOOKUP_COUNTS_H
#define CORE_CLI_LOOKUP_COUNTS_H

#include "core/cli/cli.h"

/* Prints what was counted of each value; nothing where nothing was ever counted. Values that cannot be read
 * are said where only counts know them, else the lists' look-up has said it. Returns 0 or an exit status. */
int lookup_counts(struct cli *cli, char **values);

#endif
