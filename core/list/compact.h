/*
 * compact - folds the recent entries and small levels into a new level while additions go on.
 *
 * At its start the tail goes on in a new segment, and every addition from then on is written into
 * two recent tables: that of the generation which serves, and that of the one to come. So the
 * former is dropped only when a level holds all that was in it and is not in the latter.
 * The thread builds; the writer's own thread publishes, in compact_settle.
 * Depends: base, merge, publish, writer.   Threads: the functions are the writer's thread's.
 * Source: levels as in a log-structured merge tree (O'Neil et al. 1996); ADR 0020.
 */
#ifndef CORE_LIST_COMPACT_H
#define CORE_LIST_COMPACT_H

#include "core/list/merge.h"
#include "core/list/writer.h"

/* Starts one; that one runs already is no failure. */
enum err compact_start(struct list_writer *w, struct errinfo *reterr);
/* What a merge is given: the recent entries, so many more that come, and the levels that are small
 * beside them (all of the period where w->wants_all). */
enum err compact_prepare(const struct list_writer *w, uint64_t incoming,
                         struct merge *m, struct errinfo *reterr);
/* Publishes what a compaction made, waiting for it when wait is set. A failure leaves everything
 * as it was and is kept in w->compact_why as well. */
enum err compact_settle(struct list_writer *w, bool wait, struct errinfo *reterr);

#endif
