/*
 * list_commands - the subcommands of `gillnet list`; private to this room.
 *
 * Each gets argv with argv[0] its own name and returns an exit status. Threads: one.
 */
#ifndef CORE_CLI_LIST_COMMANDS_H
#define CORE_CLI_LIST_COMMANDS_H

#include "core/cli/cli.h"
#include "core/list/list.h"

int list_cmd_import(struct cli *cli, int argc, char **argv);
int list_cmd_add(struct cli *cli, int argc, char **argv);
int list_cmd_revoke(struct cli *cli, int argc, char **argv);
int list_cmd_export(struct cli *cli, int argc, char **argv);
int list_cmd_stat(struct cli *cli, int argc, char **argv);
int list_cmd_rebuild(struct cli *cli, int argc, char **argv);
int list_cmd_rekey(struct cli *cli, int argc, char **argv);
int list_cmd_merge(struct cli *cli, int argc, char **argv);
int list_cmd_verify(struct cli *cli, int argc, char **argv);
int list_cmd_age(struct cli *cli, int argc, char **argv);

int list_cmd_delete(struct cli *cli, int argc, char **argv);
int list_cmd_rename(struct cli *cli, int argc, char **argv);
/* The lists there are, one a line. */
int list_cmd_overview(struct cli *cli);

/* Who waits for the lock of lists is told so. */
struct list_lock_wait;
void list_cmd_wait(struct list_lock_wait *ret);

/* Drops the periods of a list that nobody met for as long as its configuration says, and says so.
 * Returns 0 or an exit status after a message. */
int list_cmd_drop_periods(struct cli *cli, struct list_writer *w, const char *name);

/* The usage of `gillnet list` with this reason. */
int list_cmd_usage(const char *why);

/* Opens the list for writing (making the state folder, keys and the list where create is set).
 * Returns 0 or an exit status after a message. */
int list_cmd_open_writer(struct cli *cli, const char *name, bool create,
                         struct list_writer **ret);

/* A name that may be a list's; else a message and its exit status. */
int list_cmd_check_name(const char *name);

/* A feature type by name, FEATURE_NONE for NULL; else a message and its exit status. */
int list_cmd_type(const char *name, uint16_t *ret);

#endif
