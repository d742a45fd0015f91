/*
 * health - watches over the filters and indexes in use: canaries, alarms, target, scrub.
 *
 * Called four times a second by gillnetd's watcher, each time for a bounded slice of work:
 * - GUARD_CANARIES random digests, which nobody ever inserted, are tested against each list's
 *   filters. In a window of 15 minutes that is 230,400, of which a filter with an error of 0.1 %
 *   lets 230 through: measured within 13 % with a confidence of 95 %.
 * - once a minute, each list is judged: the alarms of core/list/error_alarm.h for canaries and for the
 *   false positives of traffic, and whether the estimated error is above the target. What is
 *   wrong becomes a fault "filter:NAME", one log line when it changes, and bits in the list's
 *   row of hits; mail is examined as before, for answers stay right.
 * - GUARD_SCRUB_BYTES of the files in use are verified against their checksums (8 MiB/s, so
 *   4 TiB in a week), a pass at most every GUARD_PASS_US. After a bad block the list is opened anew.
 * Depends: base, hits, listset.   Threads: the one that refreshes the lists.
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

/* Estimates from sampled bits scatter by a few percent: so much above the target is above. */
#define LIST_HEALTH_SLACK 1.25

struct list_health;
/* Both are borrowed; hits may be NULL: then traffic raises no alarm. NULL without memory. */
struct list_health *list_health_new(struct list_manager *lists,
                                    struct lookup_stats *hits);
/* Clears its faults. Accepts NULL. */
void list_health_free(struct list_health **g);
void list_health_look(struct list_health *g);

#endif
