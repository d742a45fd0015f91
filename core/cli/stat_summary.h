/*
 * stat_summary - what `gillnet stat` says first: well or not, and why.
 * Threads: one.
 */
#ifndef CORE_CLI_STAT_SUMMARY_H
#define CORE_CLI_STAT_SUMMARY_H

#include <jansson.h>

#include "core/cli/count_numbers.h"
#include "core/cli/daemon_process.h"
#include "core/cli/open_lists.h"

/* What was found; borrowed. */
struct stat_found {
    const struct daemon_view *daemon; /* NULL: its page cannot be read */
    const struct count_numbers *counts;
    const struct state_lists *lists;
    json_t *alerts; /* rows of stat_alerts; NULL: no hub answers */
    json_t *feeds;  /* rows of feed_rows; NULL: none are configured */
};
/* About ten lines: state, mail of the day, lists, feeds, counts, others, then each fault with what to do. */
void stat_summary_print(struct cli *cli, const struct stat_found *f);

#endif
