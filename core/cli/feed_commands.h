/*
 * feed_commands - the subcommands of `gillnet feed`; private to this room.
 *
 * Each gets argv with argv[0] its own name and returns an exit status. Where the hub runs it is asked, so that its state and
 * what is shown stay one; else the command works on STATE/feeds itself.
 * Threads: one.
 */
#ifndef CORE_CLI_FEED_COMMANDS_H
#define CORE_CLI_FEED_COMMANDS_H

#include <jansson.h>

#include "core/cli/cli.h"
#include "core/cli/progress.h"
#include "core/feed/update.h"

enum { FEED_CMD_LOCK_S = 60 };

int feed_cmd_list(struct cli *cli, int argc, char **argv);
int feed_cmd_test(struct cli *cli, int argc, char **argv);
int feed_cmd_update(struct cli *cli, int argc, char **argv);
int feed_cmd_diff(struct cli *cli, int argc, char **argv);
int feed_cmd_rollback(struct cli *cli, int argc, char **argv);
int feed_cmd_ham(struct cli *cli, int argc, char **argv);

/* The usage of `gillnet feed` with this reason. */
int feed_cmd_usage(const char *why);
/* The feed of this name; NULL after a message. The configuration is loaded. */
const struct config_feed *feed_cmd_find(struct cli *cli, const char *name);
/* Its stage, waiting for whoever works on it. Returns 0 or an exit status after a message. */
int feed_cmd_open(struct cli *cli, const struct config_feed *feed,
                  struct progress *progress, struct feed_update **ret);

/* Asks the hub: *ret is what follows its first line. 0, an exit status after a message, or -1: no hub runs. */
int feed_cmd_ask(const struct cli *cli, const char *request, json_t **ret);
/* Asks for a job and waits for its end; *ret is what came of it. Likewise. */
int feed_cmd_job(const struct cli *cli, const char *what, const char *name,
                 const char *rest, json_t **ret);

/* What came of an update, a test or a rollback, by its JSON, which it takes. */
int feed_cmd_print(const struct cli *cli, json_t *result);
/* One line of a test or diff. */
void feed_cmd_print_line(const json_t *line);
/* A file as the next body of a feed: checked, or applied. *result as feed_cmd_print wants it. */
json_t *feed_cmd_result(const char *name, enum err e, const struct errinfo *why,
                        const struct update_report *report, json_t *lines);

#endif
