/*
 * watcher - one thread that keeps lists and configuration up to date.
 *
 * Four times a second, and when it is asked, it takes over lists that changed on disk and frees
 * those that are no longer in use. Signals and the control socket request a reload: a thread of
 * idle priority loads the new configuration apart and compiles its rules, and this one publishes it
 * whole. Where that takes longer than 10 s, because the processor is busy, the thread goes on with
 * nice 10, and the log and a fault say so until the rules are ready. A configuration with errors
 * changes nothing; every error is logged and returned to the client. A stop waits half a second for
 * a load, at most.
 * The thread also detects a new digest key (ring_key.h), and updates the sign of life and the
 * memory of gillnetd on the statistics page.
 * Threads: watch_start makes one, and each reload one; the rest from any thread.
 */
#ifndef MILTER_WATCHER_H
#define MILTER_WATCHER_H

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/list/health.h"
#include "core/list/listset.h"
#include "core/verdict/user/user_table.h"

/* config_file and lists are borrowed until watch_stop. lists_failed: the first refresh of the lists
 * failed, and this is logged. */
enum err watch_start(const char *config_file, struct list_manager *lists,
                     bool lists_failed);
/* Has the lists in use watched over as well; borrowed until watch_stop. Before watch_start. */
void watch_set_list_health(struct list_health *guard);
/* Has the settings of users followed; borrowed until watch_stop. Before watch_start. */
void watch_set_users(struct users *users);
/* How long a load may keep idle priority. Before watch_start. */
void watch_set_patience(unsigned ms);
/* Time between looks that nobody asks for; a quarter of a second by default. Before
 * watch_start. */
void watch_set_pace(unsigned ms);
/* Keeps the compiled rules for the next start (ruleset_keep), and logs what became of it. */
void watch_keep_rules(const struct config *config);
void watch_stop(void);

/* A look at the lists as soon as may be. */
void watch_ask_look(void);
/* A reload as soon as may be; many requests together become one. */
void watch_ask_reload(void);
/* Reloads and waits for the end: ERR_OK and a line about it, or the reason for a failure, in
 * ret. */
enum err watch_reload(struct buf *ret);

#endif
