/*
 * state - the lists on disk, opened for a subcommand that only reads.
 * Threads: one.
 */
#ifndef CORE_CLI_STATE_H
#define CORE_CLI_STATE_H

#include "core/cli/cli.h"
#include "core/list/list.h"

/* Loads configuration and keys. A state folder without lists needs no keys: that is no error,
 * *rethaskeys is false then. Returns 0 or an exit status. */
int state_read_keys(struct cli *cli, bool *rethaskeys);

/* Readers of some or all lists. */
struct state_lists {
    struct list_reader **v;
    size_t n;
    struct arena *arena;  /* the names */
    bool has_expressions; /* some list is asked for entries of type url_expression */
    int status;           /* of what could not be opened, 0: all is well */
};
/* names: of argv style, empty for all. A list that cannot be opened is reported and left out. */
int state_open_lists(struct cli *cli, char **names, struct state_lists *ret);
void state_close_lists(struct state_lists *s);

#endif
