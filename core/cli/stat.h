/*
 * stat - the parts of `gillnet stat`: the summary in front, the last day, the servers.
 *
 * Threads: one.
 */
#ifndef CORE_CLI_STAT_H
#define CORE_CLI_STAT_H

#include "core/cli/count_numbers.h"
#include "core/cli/open_lists.h"
#include "core/cli/services.h"
#include "core/summary/headline.h"

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

/* The headline of this server: the numbers of GET /v1/now. */
void stat_headline(const struct cli *cli, const struct stat_found *f,
                   struct headline *ret);
/* Prints the servers of this owner, or with a period their messages. server: a name, "all", or NULL
 * for this one alone. Returns an exit status. */
int stat_servers_show(const struct cli *cli, const struct stat_found *f,
                      const char *server, const char *period);

/* Prints mail, actions, symbols and times of the last day, or why they cannot be read; nothing
 * before gillnetd ran. False: standard output failed. */
bool stat_day_show(const struct cli *cli);

#endif
