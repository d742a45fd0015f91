/*
 * list_watcher - the lists as the hub sees them: one snapshot that a thread keeps new, for the API and for numbers.
 *
 * Looked at four times a second, as gillnetd does; what changed on disk is in the next view.
 * Depends: base, config, list.   Threads: acquire and release from any.   Owns: a listhold and its thread.
 */
#ifndef CORE_HUB_STATUS_LIST_WATCHER_H
#define CORE_HUB_STATUS_LIST_WATCHER_H

#include "core/config/config.h"
#include "core/list/listset.h"
#include "core/list/lookup_stats.h"
#include "core/list/query.h"

struct list_watcher;
enum err list_watcher_new(const struct config *config, struct list_watcher **ret,
                          struct errinfo *reterr);
void list_watcher_free(struct list_watcher **l);
/* Another configuration is in force: it holds from the next look on. */
void list_watcher_renew(struct list_watcher *l, const struct config *config);

/* Everything in it lasts until the release. */
struct lists_held; /* private */
struct list_watcher_view {
    struct lists_held *held;
    const struct listset *set;
    const struct hits_view *hits; /* what gillnetd counted; NULL: nothing yet */
    const struct config *config;
    struct query_lists ask; /* all of the set */
};
/* Never NULL. */
const struct list_watcher_view *list_watcher_acquire(struct list_watcher *l);
void list_watcher_release(struct list_watcher *l, const struct list_watcher_view **v);

/* Why the lists cannot answer for all there is: the text is "" when they can. */
void list_watcher_trouble(struct list_watcher *l, char ret[ERRINFO_TEXT_MAX]);

#endif
