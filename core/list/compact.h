/*
 * compact - folds the recent entries and small levels into a new level while additions go on.
 *
 * At its start the tail goes on in a new segment, and every addition from then on is written into
 * two memtables: that of the generation which serves, and that of the one to come. So the
 * former is dropped only when a level holds all that was in it and is not in the latter.
 * The thread builds; the writer's own thread commits, in compact_settle.
 * Depends: base, merge, commit, writer.   Threads: the functions are the writer's thread's.
 * Source: levels as in a log-structured merge tree (O'Neil et al. 1996); ADR 0020.
 */
#ifndef CORE_LIST_COMPACT_H
#define CORE_LIST_COMPACT_H

#include "core/list/merge.h"
#include "core/list/writer.h"

/* Starts a compaction, unless one runs already. */
enum err compact_start(struct list_writer *w, struct errinfo *reterr);
/* Prepares a merge of the recent entries, `incoming` more entries, and the levels that are small
 * compared to them (with w->wants_all every level of the period). */
enum err compact_prepare(const struct list_writer *w, uint64_t incoming,
                         struct merge *m, struct errinfo *reterr);
/* Commits the result of a compaction, after waiting for it if wait is set. A failure changes
 * nothing and is also kept in w->compact_why. */
enum err compact_settle(struct list_writer *w, bool wait, struct errinfo *reterr);

#endif
