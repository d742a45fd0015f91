/* message_query_internal - a parsed query, for its parser and its matcher. */
#ifndef CORE_VERDICT_JOURNAL_MESSAGE_QUERY_INTERNAL_H
#define CORE_VERDICT_JOURNAL_MESSAGE_QUERY_INTERNAL_H

#include "core/verdict/journal/message_query.h"

enum query_field {
    QUERY_FROM,
    QUERY_TO,
    QUERY_SUBJECT,
    QUERY_CLIENT,
    QUERY_SYMBOL,
    QUERY_ACTION,
    QUERY_ID,
    QUERY_SCORE,
    QUERY_SINCE,
    QUERY_UNTIL,
    QUERY_FIELDS,
    QUERY_ANY = QUERY_FIELDS
};

enum query_comparison { QUERY_LEAST, QUERY_ABOVE, QUERY_BELOW, QUERY_MOST };

struct query_term {
    enum query_field field;
    bool is_negated;
    bool is_prefix;     /* of QUERY_SYMBOL */
    bool may_be_client; /* its bytes may be part of an address */
    struct slice text;  /* in the query's text */
    /* Bit i of a byte's mask: text has that byte, of either case, at i. */
    uint64_t mask[UINT8_MAX + 1];
    unsigned actions; /* bits of enum action */
    enum query_comparison comparison;
    double score;
    uint64_t time_us;
    uint64_t case_id;                 /* 0: text is none */
    uint64_t message_id[KEYRING_MAX]; /* 0: none */
};

struct message_query {
    size_t n;
    struct query_term term[MESSAGE_QUERY_TERMS_MAX];
    char text[MESSAGE_QUERY_TEXT_MAX];
};

/* Whether a term, without its negation, holds for a row. */
bool message_term_is_true(const struct query_term *t, const struct message_row *row);

#endif
