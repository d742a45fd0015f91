/*
 * health - watches over the filters and indexes in use: canaries, alarms, target, scrub.
 *
 * Called four times a second by gillnetd's watcher, each time for a bounded slice of work:
 * - LIST_HEALTH_CANARIES random digests, which nobody ever inserted, are tested against each list's
 *   filters. In a window of 15 minutes that is 230,400, of which a filter with an error of 0.1 %
 *   lets 230 through, which measures the error within 13 % (confidence 95 %).
 * - once a minute each list is judged: the alarms (core/list/error_alarm.h) of canaries and of the
 *   false positives of traffic, and whether the estimated error is above the target. A problem
 *   becomes a fault "filter:NAME", one log line when it changes, and bits in the list's row of
 *   lookup_stats. Mail is checked as before, because the answers stay correct.
 * - LIST_HEALTH_SCRUB_BYTES of the files in use are verified against their checksums (8 MiB/s, so
 *   4 TiB in a week), a pass at most every LIST_HEALTH_PASS_US. After a bad block the list is
 *   opened again.
 * Depends: base, lookup_stats, listset.   Threads: the one that refreshes the lists.
 */
#ifndef CORE_LIST_HEALTH_H
#define CORE_LIST_HEALTH_H

#include "core/list/listset.h"
#include "core/list/lookup_stats.h"

enum {
    LIST_HEALTH_LOOKS_A_MINUTE = 240,
    LIST_HEALTH_CANARIES = 64,
    LIST_HEALTH_SCRUB_BYTES = 2 * 1024 * 1024,
    LIST_HEALTH_PASS_US = 600 * 1000 * 1000
};

/* Estimates from sampled bits scatter by a few percent. Only an error above
 * LIST_HEALTH_SLACK times the target counts. */
#define LIST_HEALTH_SLACK 1.25

struct list_health;
/* Both are borrowed; hits may be NULL: then traffic raises no alarm. NULL without memory. */
struct list_health *list_health_new(struct list_manager *lists,
                                    struct lookup_stats *hits);
/* Clears its faults. Accepts NULL. */
void list_health_free(struct list_health **g);
/* True: a file of a list was cut, and the next refresh opens that list again. */
bool list_health_look(struct list_health *g);

#endif
