/*
 * history_record - what the page of history (core/telemetry/history.h) is told of a message.
 *
 * Threads: any.   Allocates: nothing.
 */
#ifndef MILTER_HISTORY_RECORD_H
#define MILTER_HISTORY_RECORD_H

#include "core/list/rating_input.h"
#include "core/verdict/verdict.h"

#include "milter/reply.h"
#include "milter/session.h"

enum { HISTORY_RECORD_URL_HITS = 64 }; /* of a message, that URLs are held against */

/* An examined message, before its verdict is said: its URLs by what they are called, how long each took, and its
 * keys that are seen most often. lists: those that were asked. */
void history_record_evidence(const struct message *m, const struct featureset *features,
                             const struct listset *lists, const struct list_hits *hits,
                             const struct message_counts *counts,
                             const struct verdict *v);
/* A message that got its final answer. v NULL: it was not examined. us: from its end to the answer. */
void history_record_message(const struct message *m, const struct verdict *v,
                            const struct outcome *o, uint64_t bytes, uint64_t us);

#endif
