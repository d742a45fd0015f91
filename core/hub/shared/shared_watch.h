/*
 * shared_watch - the servers of the store: whether they answer, and what they say of themselves.
 *
 * A server from which nothing came for SHARED_PING_S is asked PING. Every SHARED_LOOK_S, and when a
 * server answers again, it is asked INFO and two settings, and a master besides what the user
 * may do (shared_trial.def).
 * Depends: base, redis.   Threads: that of the event loop.   Owns: what it knows.
 */
#ifndef CORE_HUB_SHARED_SHARED_WATCH_H
#define CORE_HUB_SHARED_SHARED_WATCH_H

#include "core/hub/shared/shared_status.h"

enum {
    SHARED_PING_S = 5, /* also: how long a master may be silent and still count as up */
    SHARED_LOOK_S = 60
};

struct shared_watch;
/* redis is borrowed. prefix: of the store's keys. NULL: no memory. */
struct shared_watch *shared_watch_new(struct redis *redis, const char *prefix);
/* Only after redis_free, which answers the open calls. Accepts NULL. */
void shared_watch_free(struct shared_watch **w);
/* Each second. is_full: the counts met a master that takes no writes. A change of the state is
 * logged. */
void shared_watch_tick(struct shared_watch *w, bool is_full);
/* Each server at its next answer, at once: for `gillnet doctor`. */
void shared_watch_look(struct shared_watch *w);
void shared_watch_status(const struct shared_watch *w, struct shared_watch_status *ret);

#endif
