/*
 * stat - the parts of `gillnet stat`: the summary in front, the last day.
 *
 * Threads: one.
 */
#ifndef CORE_CLI_STAT_H
#define CORE_CLI_STAT_H

#include "core/cli/count_numbers.h"
#include "core/cli/open_lists.h"
#include "core/cli/services.h"

/* The state that stat prints; borrowed. */
struct stat_found {
    const struct daemon_view *daemon; /* NULL: its page cannot be read */
    const struct count_numbers *counts;
    const struct state_lists *lists;
    json_t *alerts; /* rows of the alerts that fire in the hub; NULL: no hub answers */
    json_t *feeds;  /* rows of feed_rows; NULL: the configuration has no feeds */
};
/* Prints about ten lines: state, mail of the day, lists, feeds, counts, peers, then each fault with
 * what to do. */
void stat_summary_print(struct cli *cli, const struct stat_found *f);

/* Prints mail, actions, symbols and times of the last day, or why they cannot be read; nothing
 * before gillnetd ran. False: standard output failed. */
bool stat_day_show(const struct cli *cli);

#endif
