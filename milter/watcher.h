/*
 * watcher - one thread that keeps lists and configuration up to date.
 *
 * Four times a second it takes over lists that changed on disk and frees those that nobody
 * uses any more. A reload is asked for by signal or control socket and done here: the new
 * configuration is loaded to the side and published whole; one with errors changes nothing,
 * and every error is logged and handed to who asked. It also sees when the ring has another key,
 * and puts on the statistics page that gillnetd is alive and how much memory it has.
 * Threads: watch_start makes one; the rest from any thread.
 */
#ifndef MILTER_WATCHER_H
#define MILTER_WATCHER_H

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/list/health.h"
#include "core/list/listset.h"

/* config_file and lists are borrowed until watch_stop. lists_failed: what the
 * first refresh of lists came to, already said. */
enum err watch_start(const char *config_file, struct list_manager *lists,
                     bool lists_failed);
/* Has the lists in use watched over as well; borrowed until watch_stop. Before watch_start. */
void watch_set_list_health(struct list_health *guard);
/* The digest key that is written with from now to the end: where keys/digest.key comes to name another one, that is said,
 * as a fault and by each reload. It is taken up at a start only: fingerprints and counts of one process must
 * be of one digest key. Before watch_start. */
void watch_set_ring(const char *state_dir, uint32_t id);
void watch_stop(void);

/* A reload as soon as may be; many requests together become one. */
void watch_ask_reload(void);
/* A reload, waited for: ERR_OK and a line about it, or why nothing changed, in ret. */
enum err watch_reload(struct buf *ret);

#endif
