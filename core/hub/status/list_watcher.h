/*
 * list_watcher - a snapshot of all lists that a thread keeps current, for the API and for metrics.
 *
 * The thread looks for changes on disk four times a second, as gillnetd does, and every two seconds
 * whether gillnetd is in emergency mode.
 * Depends: base, config, list.   Threads: acquire and release from any.   Owns: a list_manager and
 * its thread.
 */
#ifndef CORE_HUB_STATUS_LIST_WATCHER_H
#define CORE_HUB_STATUS_LIST_WATCHER_H

#include "core/config/config.h"
#include "core/hub/status/link_patterns.h"
#include "core/list/listset.h"
#include "core/list/lookup_stats.h"
#include "core/list/query.h"

struct list_watcher;
enum err list_watcher_new(const struct config *config, struct list_watcher **ret,
                          struct errinfo *reterr);
void list_watcher_free(struct list_watcher **l);
/* Sets another configuration, used from the next look on. */
void list_watcher_renew(struct list_watcher *l, const struct config *config);

/* All pointers are valid until the release. */
struct lists_held; /* private */
struct list_watcher_view {
    struct lists_held *held;
    const struct listset *set;
    const struct hits_view *hits; /* numbers from gillnetd; NULL: none yet */
    const struct config *config;
    struct query_lists ask;               /* all of the set */
    const struct link_patterns *patterns; /* of emergency mode; NULL: it is off */
};
/* Never NULL. */
const struct list_watcher_view *list_watcher_acquire(struct list_watcher *l);
void list_watcher_release(struct list_watcher *l, const struct list_watcher_view **v);

/* Why some lists cannot be used; "" if all can. */
void list_watcher_trouble(struct list_watcher *l, char ret[ERRINFO_TEXT_MAX]);

#endif
