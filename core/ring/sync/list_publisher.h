/*
 * list_publisher - our own lists go to the peers: what the configuration shares is compared with what was published.
 *
 * The mirror of what was published stands in STATE/peers/lists of our own origin, so that nothing else
 * needs to be remembered. A list's log tells what changed; the whole list is compared at the begin, each hour, and
 * where the log cannot tell (a period was dropped, the list made anew). Digests, types and expiries go out, never texts;
 * an expiry that moves further away is told when the one that peers know comes near.
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
    LIST_PUBLISHER_RENEW_S = 6 * 3600, /* before its end an expiry is told anew */
    LIST_PUBLISHER_LISTS_MAX = 16      /* lists of ours that can be shared */
};

struct list_publisher;
/* s and keys are borrowed and outlive it. self: our origin. */
enum err list_publisher_new(struct sync *s, const char *state_dir,
                            const struct keyring *keys, const struct object_id *self,
                            struct list_publisher **ret, struct errinfo *reterr);
void list_publisher_free(struct list_publisher **x); /* accepts NULL */

/* To be called each second, once the peers were asked what they know of us. Publishes what changed. On failure the others
 * were done; the next call tries again. */
enum err list_publisher_tick(struct list_publisher *x, const struct config *config,
                             struct errinfo *reterr);
/* Nothing is left to be published of what there is now. */
bool list_publisher_is_settled(const struct list_publisher *x);

#endif
