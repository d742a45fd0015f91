/*
 * message_log - the records of a message: log line, counters, ham log, journal, history page.
 *
 * logline.h prints the line. Threads: any.   Allocates: ham_record a scratch arena, for the sample
 * of messages that the ham log keeps.
 */
#ifndef MILTER_MESSAGE_LOG_H
#define MILTER_MESSAGE_LOG_H

#include "core/list/rating_input.h"
#include "core/message/feature/feature.h"
#include "core/telemetry/ham_log.h"
#include "core/verdict/journal/journal.h"
#include "core/verdict/journal/journal_gather.h"
#include "core/verdict/verdict.h"

#include "milter/reply.h"
#include "milter/session.h"

/* One message that got its final answer. v NULL: it was not examined, for this reason. */
void message_log_write(const struct session *s, const struct verdict *v,
                       const char *reason, const struct outcome *o, uint64_t us);
/* The counters of a look-up. */
void message_log_add_hits(const struct list_hits *hits);

/* ---- the ham log (core/telemetry/ham_log.h) ---- */

/* Before the first message: the ham log and the key of its digests, both borrowed; NULL: none. */
void ham_record_use(struct ham_log *j, const struct hashkey *key);
/* An examined message: its names, addresses, URLs and files in the form of list keys, and whether
 * nothing in its verdict scores. */
void ham_record_message(const struct featureset *features, const struct verdict *v);

/* ---- the journal (core/verdict/journal/journal.h) ---- */

/* Before the first message: the journal and the key of its digests, both borrowed; NULL: none. */
void journal_record_use(struct journal *j, const struct hashkey *key);
/* Another configuration is in force. */
void journal_record_configure(const struct config *config);
/* A message that was read, while the lists of its case are pinned. */
void journal_record_evidence(struct message *m, const struct journal_case *c);
/* Any message before its answer: from here on its record survives the end of the process. v NULL:
 * it has no verdict, for this reason. */
void journal_record_message(const struct session *s, const struct verdict *v,
                            const char *reason, const struct outcome *o, uint64_t us);

/* ---- the page of history (core/telemetry/history.h) ---- */

enum { HISTORY_RECORD_URL_HITS = 64 }; /* hits of a message that rate its URLs */

/* An examined message, before its reply: the ratings of its URLs, the time that each rating took,
 * and the keys with the highest counts. lists are those that were looked up. */
void history_record_evidence(const struct message *m, const struct featureset *features,
                             const struct listset *lists, const struct list_hits *hits,
                             const struct message_counts *counts,
                             const struct verdict *v);
/* A message that got its final answer. v NULL: it was not examined. us: from its end to the
 * answer. */
void history_record_message(const struct message *m, const struct verdict *v,
                            const struct outcome *o, uint64_t bytes, uint64_t us);

#endif
