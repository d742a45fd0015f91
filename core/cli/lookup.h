/*
 * lookup - values in bulk against the lists on disk, in batches (core/list/query.h); for `gillnet lookup`.
 *
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
    const char *origin; /* who keeps it; NULL: we do */
    enum list_suppression silence;
    bool has_weight; /* false: it may hint, and makes nothing listed */
    enum list_answer answer;
    uint16_t class_type; /* of the key that matched */
    struct slice key;
    const struct list_provenance *from;
    const struct rating_result *standing; /* of the value, by all lists */
    bool is_last;                         /* of this value */
};

/* Called for every match of a value, once with list NULL when there is none. Values come in
 * order. False stops. */
typedef bool lookup_match_fn(void *context, const struct lookup_match *m);

struct lookup;
/* lists are borrowed. NULL without memory. */
struct lookup *lookup_new(const struct state_lists *lists, lookup_match_fn *on_match,
                          void *context);
void lookup_free(struct lookup **l);
/* Adds a value (copied); asks when the batch is full. ERR_OK, ERR_TIMEOUT when on_match stopped,
 * or why the value cannot be read (reterr; the others are not touched). */
enum err lookup_add(struct lookup *l, struct slice value, struct errinfo *reterr);
/* Asks what is left. ERR_NOMEM: some values were not answered. */
enum err lookup_finish(struct lookup *l);

#endif
