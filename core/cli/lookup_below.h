/*
 * lookup_below - listed entries below the domains of a look-up, for `gillnet lookup`.
 * Threads: one.
 */
#ifndef CORE_CLI_LOOKUP_BELOW_H
#define CORE_CLI_LOOKUP_BELOW_H

#include "core/cli/open_lists.h"

enum { BELOW_SHOWN = 10 }; /* entries printed of each value; the rest is counted */

/* For each value that is a domain or host, prints the pages, hosts and addresses below it that the
 * local lists hold. They do not make the value itself listed. Returns 0 or an exit status. */
int lookup_below(struct cli *cli, const struct state_lists *lists, char **values);

#endif
