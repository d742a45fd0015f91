/*
 * explained - a judged message for people and programs: one sentence, the evidence with its
 * sources, and the changes that would give another verdict.
 *
 * `gillnet explain` and GET /v1/explain say the same sentence and give the same members.
 * Texts of mail are in the sentence as they are. A caller who prints it for a terminal codes them.
 * Files in reading order: explained_find (the record of an id), explained (the sentence),
 * explained_change, explained_json.
 * Depends: base, config, feature, list, report, verdict, journal.   Threads: one object, one
 * thread.   Allocates: JSON values.   ADR 0092.
 */
#ifndef CORE_EXPLAIN_EXPLAINED_H
#define CORE_EXPLAIN_EXPLAINED_H

#include <jansson.h>

#include "core/list/query.h"
#include "core/report/report_cases.h"
#include "core/verdict/journal/journal_read.h"

enum { EXPLAINED_SENTENCE_MAX = 16384 };

/* The lists of now, which say where an entry came from. Borrowed. */
struct explain_lists {
    const struct config *config;
    const struct query_lists *lists; /* NULL: they cannot be read */
    struct query *batch;
};

struct explained {
    const struct record *record;
    const struct journal_names *names;
    enum report_opinion reported;
    struct slice file; /* empty: from the journal */
};

/* "Rejected: 12.3 of 10.0; 12.0 from list phish (...), ..." */
void explained_sentence(const struct explain_lists *l, const struct record *r,
                        struct buf *ret);
/* Adds "listed since 2026-11-20T10:00:00Z, expires never, source feed phish". Adds nothing for a
 * hit that is not confirmed. */
void explained_add_entry(const struct explain_lists *l, const struct record_hit *h,
                         struct buf *ret);

/* The entry of a hit as its list has it now. */
struct explained_entry {
    struct list_provenance from;
    enum rating rating; /* of the value, by all lists */
};
/* False: the list no longer has it. */
bool explained_find_entry(const struct explain_lists *l, const struct record_hit *h,
                          struct explained_entry *ret);

/* "spam" or "ham"; NULL: nobody reported it. */
const char *explained_opinion(enum report_opinion o);
/* The client's address, "unknown" without one. Returns ret. */
enum { EXPLAINED_ADDRESS_MAX = 46 };
const char *explained_client(const struct record *r, char ret[EXPLAINED_ADDRESS_MAX]);

/* Whether the message was answered 451 as a first contact. */
bool explained_is_embargoed(const struct record *r);
/* Calls fn with "without LIST_PHISH (12.0): accept" for each change that gives another action. */
typedef void explained_change_fn(void *context, const char *what);
void explained_each_change(const struct config *config, const struct record *r,
                           explained_change_fn *fn, void *context);

/* {sentence, action, wanted, score, case, time, client, queue_id, from, header_from, subject, to,
 * bytes, reported, symbols, lists, senders, outgoing, reason, traits, identity, limits, counts,
 * changes}. lists has the entries that a person can revoke; senders has the addresses that a
 * person can allow, and whether the message proved them (null: nothing is known of proofs).
 * The caller owns it; NULL: no memory. */
json_t *explained_json(const struct explain_lists *l, const struct explained *e);

#endif
