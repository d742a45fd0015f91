/*
 * shared_watch - state of the store's servers: whether they answer, and their own reports.
 *
 * It sends PING to a server from which nothing came for SHARED_PING_S. Every SHARED_LOOK_S, and
 * when a server answers again, it sends INFO and reads two settings. On a master it also tries the
 * rights of the user (shared_trial.def).
 * Depends: base, redis.   Threads: that of the event loop.   Owns: the state.
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
/* Call it only after redis_free, which answers the open calls. Accepts NULL. */
void shared_watch_free(struct shared_watch **w);
/* Call it each second. is_full: a master refused writes of counts. Logs changes of the state. */
void shared_watch_tick(struct shared_watch *w, bool is_full);
/* Reads the state of all servers at once, instead of after SHARED_LOOK_S: for `gillnet doctor`. */
void shared_watch_look(struct shared_watch *w);
void shared_watch_status(const struct shared_watch *w, struct shared_watch_status *ret);

#endif
