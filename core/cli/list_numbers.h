/*
 * list_numbers - how a list's filters do: sizes, errors estimated and seen, alarms.
 *
 * What `list stat`, `stat` and `doctor` say of a list beside its entries.
 * Threads: one.   Owns: nothing.
 */
#ifndef CORE_CLI_LIST_NUMBERS_H
#define CORE_CLI_LIST_NUMBERS_H

#include <jansson.h>

#include "core/config/config.h"
#include "core/list/list.h"
#include "core/list/lookup_stats.h"

struct list_numbers {
    struct list_filters filters;
    struct list_peer_filter peers;         /* of peers' entries; bits 0: none */
    struct list_peer_filter peers_revoked; /* of what they took back */
    double target;                         /* error that the filters are sized for */
    double error_now;                /* estimated: the worse of formula and bits */
    uint64_t memory_bytes;           /* at most: filters and confirmation cache */
    struct lookup_stats_counts hits; /* since gillnetd counts */
    bool has_hits;                   /* false: it does not yet */
    bool is_over;                    /* error_now is above the target */
};

/* hits: of state_hits, may be NULL. */
void list_numbers_get(const struct list_reader *r, const struct config *config,
                      const struct hits_view *hits, struct list_numbers *ret);
/* Takes object, adds the numbers, returns it; NULL without memory. */
json_t *list_numbers_json(json_t *object, const struct list_numbers *n);
/* Lines for people, each behind lead. */
void list_numbers_print(FILE *to, const char *lead, const struct list_numbers *n);
/* What is wrong in a few words, or NULL: nothing is. */
const char *list_numbers_trouble(const struct list_numbers *n);

#endif
