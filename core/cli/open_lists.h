/*
 * open_lists - the lists on disk, opened for a command that only reads, and the numbers of their
 * filters.
 *
 * Threads: one.
 */
#ifndef CORE_CLI_OPEN_LISTS_H
#define CORE_CLI_OPEN_LISTS_H

#include <jansson.h>

#include "core/cli/cli.h"
#include "core/list/list.h"
#include "core/list/lookup_stats.h"
#include "core/list/rating.h"
#include "core/store/origins.h"

/* Loads configuration and keys. Without lists the state folder needs no keys, and *rethaskeys is
 * false. Returns 0 or an exit status. */
int state_read_keys(struct cli *cli, bool *rethaskeys);

/* Readers of some or all lists. */
struct state_lists {
    struct list_reader **v;
    size_t n;
    size_t nown; /* the first nown are local lists, the others those of peers */
    char (*origin)[ORIGIN_NAME_MAX + 1]; /* of each; empty: local */
    bool *is_same_owner;                 /* of each peer's: origin_row.is_same_owner */
    struct arena *arena;                 /* the names */
    unsigned derived; /* bits of feature_derived that some list is asked for */
    size_t nlists;    /* all lists, opened or not */
    const struct config *config;
    struct hits_view *hits; /* gillnetd's counters; NULL: none yet */
    int status;             /* of a list that could not be opened; 0: all are open */
};
/* names: of argv style, empty for all. A list that cannot be opened is reported and left out. */
int state_open_lists(struct cli *cli, char **names, struct state_lists *ret);
/* Adds the lists of peers that are active in the ring. One that cannot be opened is reported and
 * left out. */
int state_open_peers(struct cli *cli, struct state_lists *io);
void state_close_lists(struct state_lists *s);

/* gillnetd's counters of look-ups in this state folder; NULL: none. */
struct hits_view *state_hits(const struct config *config);

/* Prints the words of rating.def with their mapping, for `lookup --help`. */
void state_print_standings(FILE *to);

/* ---- numbers of a list's filters: sizes, errors estimated and seen, alarms (list_numbers.c)
 * ---- */

struct list_numbers {
    struct list_stat stat;
    struct list_filters filters;
    struct list_peer_filter peers;         /* of peers' entries; bits 0: none */
    struct list_peer_filter peers_revoked; /* of entries that peers revoked */
    double target;                         /* error that the filters are sized for */
    double error_now;                /* estimated: the worse of formula and bits */
    uint64_t memory_bytes;           /* at most: filters and confirmation cache */
    struct lookup_stats_counts hits; /* since gillnetd counts */
    bool has_hits;                   /* false: gillnetd has not counted yet */
    bool is_over;                    /* error_now is above the target */
};

/* hits: of state_hits, may be NULL. */
void list_numbers_get(const struct list_reader *r, const struct config *config,
                      const struct hits_view *hits, struct list_numbers *ret);
/* Takes object, adds the list's state (with updated, which it takes, too) and the numbers, returns
 * object; NULL: no memory. */
json_t *list_numbers_json(json_t *object, json_t *updated,
                          const struct list_numbers *n);
/* Prints lines for people, each behind lead. */
void list_numbers_print(FILE *to, const char *lead, const struct list_numbers *n);
/* A fault in a few words; NULL: there is none. */
const char *list_numbers_trouble(const struct list_numbers *n);
/* Whether max_age has passed since the list changed. */
bool list_is_old(const struct config *config, const struct list_reader *r);

#endif
