/*
 * lookup - values against the lists on disk and the counts, for `gillnet lookup`.
 *
 * Values are tested in batches (core/list/query.h).
 * Threads: one.
 */
#ifndef CORE_CLI_LOOKUP_H
#define CORE_CLI_LOOKUP_H

#include "core/cli/open_lists.h"
#include "core/list/query.h"

/* One value on one list. */
struct lookup_match {
    struct slice value; /* as given */
    const char *list;   /* NULL: on none */
    const char *origin; /* the peer that keeps the list; NULL: a local list */
    enum list_suppression silence;
    bool has_weight; /* false: a match makes nothing listed */
    enum list_answer answer;
    uint16_t class_type; /* of the key that matched */
    struct slice key;
    const struct list_provenance *from;
    const struct rating_result *standing; /* of the value, by all lists */
    bool is_last;                         /* of this value */
};

/* Called for every match of a value, once with list NULL if there is none. Values come in order.
 * False stops. */
typedef bool lookup_match_fn(void *context, const struct lookup_match *m);

struct lookup;
/* lists are borrowed. NULL: no memory. */
struct lookup *lookup_new(const struct state_lists *lists, lookup_match_fn *on_match,
                          void *context);
void lookup_free(struct lookup **l);
/* Adds a value (copied); tests the batch when it is full. ERR_TIMEOUT: on_match stopped. Other
 * errors: why the value cannot be read (reterr); the others are not touched. */
enum err lookup_add(struct lookup *l, struct slice value, struct errinfo *reterr);
/* Tests the rest. ERR_NOMEM: some values were not answered. */
enum err lookup_finish(struct lookup *l);

/* ---- below a name (lookup_below.c) ---- */

enum { BELOW_SHOWN = 10 }; /* entries printed of each value; the rest is counted */

/* For each value that is a domain or host, prints the pages, hosts and addresses below it that the
 * local lists hold. They do not make the value itself listed. Returns 0 or an exit status. */
int lookup_below(struct cli *cli, const struct state_lists *lists, char **values);

/* ---- counts (lookup_counts.c) ---- */

/* Prints the counts of each value: the exact 144 + 14 buckets, first and last seen, distinct
 * recipients, networks and senders; nothing before the first count. Reports values that cannot be
 * read if only counts know them; the look-up in lists has reported the others. Returns 0 or an exit
 * status. */
int lookup_counts(struct cli *cli, char **values);

#endif
