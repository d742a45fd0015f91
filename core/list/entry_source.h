/*
 * entry_source - who made an entry, and why: the text of an entry's source.
 *
 * A source is WHO, or "WHO: REASON". The log keeps it with each entry, so it lives as long as the
 * entry, and goes with it into exports and backups.
 * Threads: pure.   Allocates: nothing.   ADR 0089.
 */
#ifndef CORE_LIST_ENTRY_SOURCE_H
#define CORE_LIST_ENTRY_SOURCE_H

#include "core/list/list.h"

enum { LIST_REASON_MAX = 80 /* bytes */ };

/* One line of UTF-8, LIST_REASON_MAX bytes at most. ERR_SYNTAX: the reason is something else. */
enum err entry_reason_check(struct slice reason, struct errinfo *reterr);
/* reason: checked; empty: none. A long WHO is cut. */
void entry_source_make(const char *who, struct slice reason, char ret[LIST_SOURCE_MAX]);
/* Parts of a source; the reason is empty if there is none. */
void entry_source_split(struct slice source, struct slice *retwho,
                        struct slice *retreason);

#endif
