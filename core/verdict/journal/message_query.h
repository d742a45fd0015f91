/*
 * message_query - the one search for judged messages, of `gillnet messages` and GET /v1/messages.
 *
 * A query is a row of terms with blanks between them; a message matches if every term does:
 *
 *   word  "two words"        part of any text: id, sender, recipient, subject, client, symbol
 *   from:  to:  subject:     part of sender or From, of a recipient, of the subject
 *   client:                  part of the client's address
 *   symbol:  action:         whole name, or PREFIX*
 *   id:                      whole case id, queue id or Message-ID
 *   score:                   >5 above, <5 below, 5 at least
 *   since:  until:           7d ago or later, before 12h ago
 *   -term                    not this term
 *
 * A value may be quoted. Case of ASCII letters is ignored, except in queue ids and Message-IDs. The
 * order of terms means nothing. A word before a colon that is letters alone must be one of these
 * fields, so that a mistyped field is an error. A comparison of scores is false for a message
 * without a score.
 * Time: linear in the bytes of the row, for each term.
 * Threads: a query that was parsed is read-only.   Owns: a copy of its text.   ADR 0084.
 */
#ifndef CORE_VERDICT_JOURNAL_MESSAGE_QUERY_H
#define CORE_VERDICT_JOURNAL_MESSAGE_QUERY_H

#include "core/base/err.h"
#include "core/base/keyring.h"
#include "core/verdict/journal/message_row.h"

enum {
    MESSAGE_QUERY_TEXT_MAX = 1024, /* bytes of a query */
    MESSAGE_QUERY_WORD_MAX = 64,   /* of a text that is sought as a part */
    MESSAGE_QUERY_TERMS_MAX = 32
};

struct message_query;

/* Reads a query. An empty query matches every message. now_us is the present of since: and until:.
 * ERR_SYNTAX, ERR_RANGE, ERR_LIMIT: reterr has the column, from 1 on, and what to write there. */
enum err message_query_parse(struct slice text, uint64_t now_us,
                             struct message_query **ret, struct errinfo *reterr);
/* Accepts NULL. */
void message_query_free(struct message_query **q);

/* Lets id: find Message-IDs, which the journal keeps as digests under these keys. */
void message_query_set_keys(struct message_query *q, const struct keyring *keys);

/* Bounds of the time of any message that can match, for readers that can skip others. 0: none. */
void message_query_period(const struct message_query *q, uint64_t *retsince_us,
                          uint64_t *retuntil_us);

bool message_query_matches(const struct message_query *q,
                           const struct message_row *row);

#endif
