/*
 * message_row - one judged message as `gillnet messages` and GET /v1/messages show it.
 *
 * A row borrows its texts from a record of the journal, or from any other place that keeps them.
 * The journal has a digest of the Message-ID and no name of the client, so a row has neither text.
 * Threads: pure.   Allocates: message_row_json alone.   ADR 0084.
 */
#ifndef CORE_VERDICT_JOURNAL_MESSAGE_ROW_H
#define CORE_VERDICT_JOURNAL_MESSAGE_ROW_H

#include <jansson.h>
#include <netinet/in.h>

#include "core/config/config.h"
#include "core/verdict/journal/record.h"

struct message_row {
    uint64_t time_us;
    uint64_t case_id;
    uint64_t message_id; /* keyed digest (journal.h); 0: none */
    struct slice queue_id;
    struct slice from;        /* envelope sender; empty: <>, or not kept */
    struct slice header_from; /* address of From */
    struct slice subject;     /* empty without journal.subjects */
    const struct slice *to;   /* nto recipients */
    size_t nto;
    uint32_t nrcpt; /* all recipients, also those without a text */
    bool has_addr;
    uint8_t addr[16]; /* of the client; IPv4 as ::ffff:a.b.c.d */
    bool is_outgoing;
    struct slice unjudged; /* why there is no score; empty: there is one */
    enum action action;    /* that was taken */
    double score;
    uint64_t size; /* bytes of the message */
    const struct record_symbol *symbol;
    size_t nsymbols;
};

/* The row of a record, which must outlive it. */
void message_row_of(const struct record *r, struct message_row *ret);

/* The client's address as text, "" without one. Returns ret. */
const char *message_row_client(const struct message_row *row,
                               char ret[INET6_ADDRSTRLEN]);

/* The symbol with the rank-th largest share of a score, from 0 on. NULL: fewer symbols score. */
const struct record_symbol *message_row_symbol(const struct record_symbol *v, size_t n,
                                               size_t rank);

/* {time, case, id, from, header_from, to, recipients, client {address}, subject, size, action,
 * score, outgoing, reason, symbols [{name, score}]}. score is null for a message that was not
 * judged, and reason says why. Empty header_from, subject and reason are left out. The caller owns
 * the value; NULL without memory. */
json_t *message_row_json(const struct message_row *row);

#endif
