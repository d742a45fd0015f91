/*
 * count_source - where a subcommand gets its counts: from gillnetd, from the disk, or counting itself.
 *
 * gillnetd is asked over its control socket. Where it does not run, who only reads looks at the runs
 * and the running table on disk, and who counts takes the counts' lock.
 * Threads: one.   Owns: what it opened.
 */
#ifndef CORE_CLI_COUNT_SOURCE_H
#define CORE_CLI_COUNT_SOURCE_H

#include "core/cli/cli.h"
#include "core/count/count.h"

enum counts_source {
    COUNTS_NONE, /* nothing was counted yet, or counting is off: the port is of no use */
    COUNTS_GILLNETD, /* estimates; exact on demand */
    COUNTS_OWN,      /* likewise, counted by this process */
    COUNTS_DISK      /* exact, only to be read */
};

struct count_publisher {
    enum counts_source source;
    struct count_port port;
    struct cli *cli;
    struct count *own;
    struct count_view *view;
    double noise[COUNT_WINDOWS]; /* of gillnetd, as it was at the opening */
    struct errinfo failed; /* the first request that failed; code ERR_OK: none. Values
                                  * read since are 0. */
};

/* Returns 0 or an exit status after a message. is_counting: it must be possible to count, otherwise
 * COUNTS_NONE is a result like others. The digest keys are in cli then. */
int counts_open(struct cli *cli, bool is_counting, struct count_publisher *ret);
/* NULL when there are none. */
const struct count_port *counts_port(const struct count_publisher *c);
/* Values are exact, not estimates. */
bool counts_are_exact(const struct count_publisher *c);
/* Reports a failure of a request, if there was one: an exit status, or 0. */
int counts_close(struct count_publisher *c);

#endif
