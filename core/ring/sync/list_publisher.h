/*
 * list_publisher - publishes the lists that the configuration shares: their changes become objects.
 *
 * The mirror of the published lists is in STATE/peers/lists of this server's own origin, so nothing
 * else has to be stored. A list's log names the changes. The whole list is compared at the start,
 * each hour, and where the log cannot name them (a period was dropped, the list was rewritten).
 * Digests, types and expiries are published, never texts. A later expiry is published when the
 * published one comes near.
 * Depends: base, config, list, sync.   Threads: that of sync.   ADR 0035.
 */
#ifndef CORE_RING_SYNC_LIST_PUBLISHER_H
#define CORE_RING_SYNC_LIST_PUBLISHER_H

#include "core/base/err.h"
#include "core/base/keyring.h"
#include "core/config/config.h"
#include "core/ring/sync/sync.h"

enum {
    LIST_PUBLISHER_STEPS_MAX = 500000, /* published for one list in one tick */
    LIST_PUBLISHER_COMPARE_S = 3600,   /* between comparisons of a whole list */
    LIST_PUBLISHER_FILTER_S = 60,      /* between filters of one list */
    LIST_PUBLISHER_RENEW_S = 6 * 3600, /* before its end an expiry is published again */
    LIST_PUBLISHER_LISTS_MAX = 16      /* local lists that can be shared */
};

struct list_publisher;
/* s and keys are borrowed and outlive it. self: the origin of this server. */
enum err list_publisher_new(struct sync *s, const char *state_dir,
                            const struct keyring *keys, const struct object_id *self,
                            struct list_publisher **ret, struct errinfo *reterr);
void list_publisher_free(struct list_publisher **x); /* accepts NULL */

/* Publishes changes. Call it each second, after the peers were asked for this server's streams
 * (sync_knows_itself). Lists that fail do not stop others; the next call repeats. */
enum err list_publisher_tick(struct list_publisher *x, const struct config *config,
                             struct errinfo *reterr);
/* All that the lists hold now is published. */
bool list_publisher_is_settled(const struct list_publisher *x);

#endif
