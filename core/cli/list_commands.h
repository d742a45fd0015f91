/*
 * list_commands - the subcommands of `gillnet list`, and their shared functions.
 *
 * Threads: one.
 */
#ifndef CORE_CLI_LIST_COMMANDS_H
#define CORE_CLI_LIST_COMMANDS_H

#include "core/cli/cli.h"
#include "core/filter/bloomfile_merge.h"
#include "core/list/list.h"

cli_run_fn list_cmd_import, list_cmd_add, list_cmd_revoke, list_cmd_export,
    list_cmd_stat, list_cmd_rebuild, list_cmd_rekey, list_cmd_merge, list_cmd_verify,
    list_cmd_age, list_cmd_delete, list_cmd_rename, list_cmd_show, list_cmd_worth;

/* Prints the lists, one a line. */
int list_cmd_overview(struct cli *cli);

/* How to wait for the lock of lists: with a message. */
struct list_lock_wait;
void list_cmd_wait(struct list_lock_wait *ret);

/* Drops the periods of a list without hits for as long as its configuration says, with a message.
 * Returns 0 or an exit status after a message. */
int list_cmd_drop_periods(struct cli *cli, struct list_writer *w, const char *name);

/* Opens the list for writing (makes the state folder, keys and the list if create is set).
 * Returns 0 or an exit status after a message. */
int list_cmd_open_writer(struct cli *cli, const char *name, bool create,
                         struct list_writer **ret);

/* 0, or an exit status after a message: name cannot be the name of a list. */
int list_cmd_check_name(const char *name);

/* A feature type by name, FEATURE_NONE for NULL. Returns 0 or an exit status after a message. */
int list_cmd_type(const char *name, uint16_t *ret);

/* Calls fn with the name of each list of the state folder. Returns the highest status of all, or
 * an exit status after a message. */
typedef int list_cmd_name_fn(void *context, struct slice name);
int list_cmd_each(struct cli *cli, list_cmd_name_fn *fn, void *context);

/* ---- entries as a filter file that other sites of the ring can merge (list_filter.c) ---- */

/* The values of options; NULL: not given. */
struct list_filter_options {
    const char *layout;
    const char *error;
    const char *items;
};
struct list_filter_plan {
    enum bloom_layout layout;
    double error;
    uint64_t items; /* 0: as many as there are */
    bool is_revoked;
};
/* Values without an option come from the configuration of the list. Returns 0 or an exit status
 * after a message. */
int list_filter_plan(const struct cli *cli, const char *list,
                     const struct list_filter_options *o, struct list_filter_plan *ret);
int list_filter_export(const struct cli *cli, const struct list_reader *r,
                       const struct list_filter_plan *plan, const char *file);
/* Prints one line about a filter at `where`. */
int list_filter_say(const struct cli *cli, const char *where,
                    const struct bloomfile_shape *s);

#endif
