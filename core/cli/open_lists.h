/*
 * open_lists - the lists on disk, opened for a subcommand that only reads.
 * Threads: one.
 */
#ifndef CORE_CLI_OPEN_LISTS_H
#define CORE_CLI_OPEN_LISTS_H

#include "core/cli/cli.h"
#include "core/list/list.h"
#include "core/list/lookup_stats.h"
#include "core/list/rating.h"
#include "core/store/origins.h"

/* Loads configuration and keys. A state folder without lists needs no keys: that is no error,
 * *rethaskeys is false then. Returns 0 or an exit status. */
int state_read_keys(struct cli *cli, bool *rethaskeys);

/* Readers of some or all lists. */
struct state_lists {
    struct list_reader **v;
    size_t n;
    size_t nown; /* the first of them are ours, the others those of peers */
    char (*origin)[ORIGIN_NAME_MAX + 1]; /* of each; empty: ours */
    struct arena *arena;                 /* the names */
    unsigned derived; /* bits of feature_derived that some list is asked for */
    size_t nlists;    /* that there are, opened or not */
    const struct config *config;
    struct hits_view *hits; /* what gillnetd counted; NULL: nothing yet */
    int status;             /* of what could not be opened, 0: all is well */
};
/* names: of argv style, empty for all. A list that cannot be opened is reported and left out. */
int state_open_lists(struct cli *cli, char **names, struct state_lists *ret);
/* Adds the lists of peers that are active in the ring. One that cannot be opened is reported and left
 * out. */
int state_open_peers(struct cli *cli, struct state_lists *io);
void state_close_lists(struct state_lists *s);

/* What gillnetd counted in this state folder, or NULL. */
struct hits_view *state_hits(const struct config *config);

/* The words of rating.def with their mapping: for `lookup --help`. */
void state_print_standings(FILE *to);

#endif
