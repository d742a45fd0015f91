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

struct lists;
enum err lists_new(const struct config *config, struct lists **ret,
                   struct errinfo *reterr);
void lists_free(struct lists **l);
/* Another configuration is in force: it holds from the next look on. */
void lists_renew(struct lists *l, const struct config *config);

/* Everything in it lasts until the release. */
struct lists_held; /* private */
struct lists_view {
    struct lists_held *held;
    const struct listset *set;
    const struct hits_view *hits; /* what gillnetd counted; NULL: nothing yet */
    const struct config *config;
    struct ask_lists ask; /* all of the set */
};
/* Never NULL. */
const struct lists_view *lists_acquire(struct lists *l);
void lists_release(struct lists *l, const struct lists_view **v);

/* Why the lists cannot answer for all there is: the text is "" when they can. */
void lists_trouble(struct lists *l, char ret[ERRINFO_TEXT_MAX]);

#endif
