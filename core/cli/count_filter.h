/*
 * count_filter - this server's counts as a counting filter in a file, for other sites, and several such files added up.
 *
 * Only where there is no ring: its streams are exact, and what came by them would be counted again. ADR 0036.
 * Threads: one.
 */
#ifndef CORE_CLI_COUNT_FILTER_H
#define CORE_CLI_COUNT_FILTER_H

#include <stdint.h>

#include "core/cli/cli.h"

/* As given; NULL: what is usual. */
struct count_filter_options {
    const char *file;
    const char *cells;
    const char *k;
    const char *cell_bits;
};

/* The counts of [first_s, end_s), in whole buckets, from the runs in dir. Returns an exit status. */
int count_filter_export(struct cli *cli, const char *dir, uint64_t first_s,
                        uint64_t end_s, const struct count_filter_options *o);

#endif
