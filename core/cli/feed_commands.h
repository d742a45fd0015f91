/*
 * feed_commands - the subcommands of `gillnet feed`, and the state of each feed.
 *
 * If the hub runs, it does the work, so that its state stays the only one; otherwise the command
 * works on STATE/feeds itself.
 * Threads: one.
 */
#ifndef CORE_CLI_FEED_COMMANDS_H
#define CORE_CLI_FEED_COMMANDS_H

#include "core/cli/cli.h"
#include "core/cli/print.h"
#include "core/feed/update.h"

enum { FEED_CMD_LOCK_S = 60 };

cli_run_fn feed_cmd_list, feed_cmd_test, feed_cmd_update, feed_cmd_diff,
    feed_cmd_rollback, feed_cmd_ham;

/* The feed of this name; NULL after a message. The configuration is loaded. */
const struct config_feed *feed_cmd_find(struct cli *cli, const char *name);
/* Opens the feed's stage; waits up to FEED_CMD_LOCK_S for another process that works on it.
 * Returns 0 or an exit status after a message. */
int feed_cmd_open(struct cli *cli, const struct config_feed *feed,
                  struct progress *progress, struct feed_update **ret);

/* Asks the hub; *ret: the rows after the first line. Returns 0, an exit status after a message, or
 * -1: no hub runs. */
int feed_cmd_ask(const struct cli *cli, const char *request, json_t **ret);
/* Asks for a job and waits for its end; *ret: its result. Returns as feed_cmd_ask. */
int feed_cmd_job(const struct cli *cli, const char *what, const char *name,
                 const char *rest, json_t **ret);

/* One piece of work on the stage of a feed. */
struct feed_work {
    struct feed_update *stage;
    const struct config_feed *feed;
    void *context;
    struct update_report report;
    json_t *lines; /* of the result; NULL: none */
};
typedef enum err feed_work_fn(struct feed_work *w, struct errinfo *reterr);
/* Opens the stage, does fn, closes the stage and prints the result. lines: taken. Returns an exit
 * status. */
int feed_cmd_here(struct cli *cli, const struct config_feed *feed, feed_work_fn *fn,
                  void *context, json_t *lines);

/* Prints the result of an update, a test or a rollback, which it takes; returns an exit status. */
int feed_cmd_print(const struct cli *cli, json_t *result);
/* Prints one line of a test or diff. */
void feed_cmd_print_line(const json_t *line);

/* ---- rows: the state of each feed, for `gillnet feed list`, stat and doctor ---- */

/* The hub's rows, or without a hub those of STATE/feeds. NULL after a message, with its exit status
 * in *retstatus. */
json_t *feed_rows(struct cli *cli, bool *retruns, int *retstatus);
const char *feed_row_name(const json_t *row);
/* "": none. A feed without a first fetch is in trouble, too. */
const char *feed_row_trouble(const json_t *row);

/* ---- trial: a state folder of its own, in which a feed is tried (feed_try.c) ---- */

/* Links lead to keys, counts and all other lists; results go with the folder. */
struct feed_try {
    char dir[FILE_PATH_MAX]; /* "": there is none */
    char url[FILE_PATH_MAX];
    struct config config; /* a copy with another state_dir */
    struct config_feed feed;
    struct cli cli;
};
/* feed: its settings count, NULL: the defaults. file: its body. Returns 0 or an exit status after a
 * message. */
int feed_try_begin(struct cli *cli, const struct config_feed *feed, const char *file,
                   struct feed_try *ret);
void feed_try_end(struct feed_try *t);

#endif
