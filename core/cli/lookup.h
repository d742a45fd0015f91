/*
 * lookup - the parts of `gillnet lookup` beside the look-up in lists (cmd_lookup.c).
 *
 * Threads: one.
 */
#ifndef CORE_CLI_LOOKUP_H
#define CORE_CLI_LOOKUP_H

#include "core/cli/open_lists.h"

/* ---- below a name (lookup_below.c) ---- */

enum { BELOW_SHOWN = 10 }; /* entries printed of each value; the rest is counted */

/* For each value that is a domain or host, prints the pages, hosts and addresses below it that the
 * local lists hold. They do not make the value itself listed. Returns 0 or an exit status. */
int lookup_below(struct cli *cli, const struct state_lists *lists, char **values);

/* ---- counts (lookup_counts.c) ---- */

/* Prints the counts of each value: the exact 144 + 14 buckets, first and last seen, distinct
 * recipients, networks and senders; nothing before the first count. Reports values that cannot be
 * read if only counts know them; the look-up in lists has reported the others. Returns 0 or an exit
 * status. */
int lookup_counts(struct cli *cli, char **values);

#endif
