/*
 * journal_items - a report by id alone votes on what the journal has of the message.
 *
 * A record keeps 64 bits of the digest of each own item (core/report/report_items.h), at most
 * RECORD_ITEMS: near-duplicate keys, text, body, attachments, links. So a report without the
 * message votes as one with it. It cannot teach the model or revoke entries of lists.
 * Threads: any.   ADR 0064, 0071.
 */
#ifndef CORE_VERDICT_JOURNAL_JOURNAL_ITEMS_H
#define CORE_VERDICT_JOURNAL_JOURNAL_ITEMS_H

#include "core/report/report.h"
#include "core/verdict/journal/record.h"
#include "core/verdict/verdict.h"

/* Of a message that was counted. */
void journal_gather_items(const struct message_counts *counts, struct record *ret);

enum { JOURNAL_ITEMS_SEARCH = 262144 /* the newest records, for a queue id */ };
/* Finds the message of r->case_id, else of r->queue_id, and adds its items. */
void journal_add_items(const char *state_dir, const struct hashkey *key,
                       struct report *r);

#endif
