/*
 * message_filter - a quick look at a packed row: whether a query can match it at all.
 *
 * Most rows lack the rarest byte of a word that is sought, or the word around it, and memchr(3)
 * sees that without reading the row. After MESSAGE_FILTER_TRIES of these bytes the row passes, so
 * the time is linear. The caller asks message_query_matches about a row that passes. A row that
 * does not pass never matches.
 * Threads: pure.   Allocates: nothing.   ADR 0085.
 */
#ifndef CORE_VERDICT_JOURNAL_MESSAGE_FILTER_H
#define CORE_VERDICT_JOURNAL_MESSAGE_FILTER_H

#include "core/verdict/journal/message_query.h"

enum { MESSAGE_FILTER_TRIES = 16 };

struct message_filter {
    bool needs_ids; /* the row must be given its ids */
    size_t n;
    struct message_sought {
        struct slice word;           /* of the query */
        size_t at;                   /* of its rarest byte */
        bool is_of_texts;            /* a text has it, or */
        bool is_of_ids;              /* the case id or the client's address, or */
        bool has_symbol;             /* the row has a symbol that the query seeks */
    } term[MESSAGE_QUERY_TERMS_MAX]; /* each must hold */
};

/* Borrows the query's text. */
void message_filter_of(const struct message_query *q, struct message_filter *ret);
/* Whether a term that is not negated seeks a symbol of this name. */
bool message_filter_seeks(const struct message_query *q, struct slice name);
/* Whether a row may match. texts has all texts of the row, with any bytes between them; ids has its
 * case id and the address of its client, if needs_ids. */
bool message_filter_passes(const struct message_filter *f, struct slice texts,
                           struct slice ids, bool has_symbol);

#endif
