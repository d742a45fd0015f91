/*
 * configured - a list opened for writing in its configured form.
 *
 * A list in another form (with another url_match, or older than the normal form of URLs) is first
 * rewritten (core/list/rekey.h). The rewrite takes as long as an import of all entries of the list,
 * and writes one log line. So does a list whose log says the same things again and again
 * (list_shorten_log).
 * Depends: base, config, list.   Threads: the writer's.
 */
#ifndef CORE_LIST_CONFIGURED_H
#define CORE_LIST_CONFIGURED_H

#include "core/config/config.h"
#include "core/list/lock.h"
#include "core/list/rekey.h"

struct list_opening {
    const struct config *config;
    const struct keyring *keys;
    bool create;
    struct list_lock_wait wait; /* wait.stop also ends a rewrite */
    list_progress_fn *progress; /* may be NULL */
    void *context;
};
/* True if the list has this url_match and the normal form of URLs. */
bool list_reader_is_formed(const struct list_reader *r, enum url_match match);
/* True if the list on disk is in the form that is configured for the name. Also true if the list is
 * damaged or cannot be read: it stays in use as it is until somebody rebuilds it. */
bool list_is_formed(const struct config *config, struct slice name);
/* As list_writer_open_waiting, with text, filters and form as configured for the name. The caller
 * sets the ageing. */
enum err list_writer_open_configured(const struct list_opening *o, struct slice name,
                                     struct list_writer **ret, struct errinfo *reterr);

#endif
