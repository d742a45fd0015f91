/*
 * count_source - the counts of a command: from gillnetd, from the disk, or by counting in this
 * process.
 *
 * The command asks gillnetd over its control socket. If gillnetd does not run, a command that reads
 * opens the runs and the running table on disk, and a command that counts takes the counts' lock.
 * Threads: one.   Owns: its view or table.
 */
#ifndef CORE_CLI_COUNT_SOURCE_H
#define CORE_CLI_COUNT_SOURCE_H

#include "core/cli/cli.h"
#include "core/count/count.h"
#include "core/report/reports.h"

enum counts_source {
    COUNTS_NONE,     /* nothing was counted yet, or counting is off: no port */
    COUNTS_GILLNETD, /* estimates; exact on demand */
    COUNTS_OWN,      /* as COUNTS_GILLNETD, counted by this process */
    COUNTS_DISK      /* exact, only to be read */
};

struct count_publisher {
    enum counts_source source;
    struct count_port port;
    struct cli *cli;
    struct count *own;
    struct count_view *view;
    struct votes *votes;         /* of the log of reports; NULL: there are no keys */
    double noise[COUNT_WINDOWS]; /* of gillnetd, as it was at the opening */
    struct errinfo failed; /* the first request that failed; code ERR_OK: none. Values
                                  * read since are 0. */
};

/* Returns 0 or an exit status after a message. is_counting: without counts the command fails;
 * otherwise COUNTS_NONE is a valid result. The digest keys are in cli then. */
int counts_open(struct cli *cli, bool is_counting, struct count_publisher *ret);
/* NULL when there are none. */
const struct count_port *counts_port(const struct count_publisher *c);
/* Values are exact, not estimates. */
bool counts_are_exact(const struct count_publisher *c);
/* Reports a failure of a request, if there was one: an exit status, or 0. */
int counts_close(struct count_publisher *c);

#endif
