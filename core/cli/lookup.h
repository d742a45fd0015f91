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

/* A range of time for which counts are wanted too; to_s 0: none. */
struct lookup_range {
    uint64_t from_s;
    uint64_t to_s;
};
/* Reads --from and --to (NULL: not given): "6h" ago, 2026-11-21, 2026-11-21T14:30Z. Returns 0, or an
 * exit status after a message. */
int lookup_range_read(const char *from, const char *to, struct lookup_range *ret);

/* Prints the counts of each value: the exact 144 + 14 buckets, first and last seen, distinct
 * recipients, networks and senders, how messages with it were judged and called, and the numbers in
 * the range; nothing before the first count. Reports values that cannot be
 * read if only counts know them; the look-up in lists has reported the others. Returns 0 or an exit
 * status. */
int lookup_counts(struct cli *cli, const struct lookup_range *range, char **values);

#endif
