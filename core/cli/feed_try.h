/*
 * feed_try - a state folder of its own, in which a feed can be tried without touching the true one.
 *
 * Keys, what gillnetd counted and all other lists are seen there as they are; what is applied goes with the folder.
 * Threads: one.   Owns: the folder, until feed_try_end.
 */
#ifndef CORE_CLI_FEED_TRY_H
#define CORE_CLI_FEED_TRY_H

#include "core/base/file.h"
#include "core/cli/cli.h"

struct feed_try {
    char dir[FILE_PATH_MAX]; /* "": there is none */
    char url[FILE_PATH_MAX];
    struct config config; /* a copy with another state_dir */
    struct config_feed feed;
    struct cli cli;
};

/* feed: whose settings count, NULL: the defaults. file: its body. Returns 0 or an exit status after a message. */
int feed_try_begin(struct cli *cli, const struct config_feed *feed, const char *file,
                   struct feed_try *ret);
void feed_try_end(struct feed_try *t);

#endif
