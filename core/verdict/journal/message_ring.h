/*
 * message_ring - the newest messages of the journal in bounded memory, packed, for searches.
 *
 * A row has what message_row shows, and nothing else. Rows lie one after the other in a ring of
 * bytes: when it or the number of rows is full, the oldest rows go. The memory is what
 * message_ring_new reserves: MESSAGE_RING_ROW bytes a row, and the names of symbols. If the rows
 * are longer in the mean, the ring has fewer of them.
 * Threads: one object, one thread; reading alone changes nothing.   Owns: its memory, which is
 * overwritten before it is freed.   ADR 0085.
 */
#ifndef CORE_VERDICT_JOURNAL_MESSAGE_RING_H
#define CORE_VERDICT_JOURNAL_MESSAGE_RING_H

#include "core/verdict/journal/message_filter.h"

enum {
    MESSAGE_RING_ROW = 300,         /* bytes of a row, in the mean */
    MESSAGE_RING_ROWS_MAX = 100000, /* journal.messages */
    MESSAGE_RING_NAMES = 8192, /* of symbols; a symbol with another name is left out */
    MESSAGE_RING_NAMES_BYTES = 262144
};

struct message_ring;

/* A row read out of the ring; it borrows texts of the ring until the ring changes. */
struct message_view {
    struct message_row row;
    uint64_t number; /* of the record */
    uint64_t file;   /* that the record is in, as it was added */
    struct slice to[RECORD_RCPTS];
    struct record_symbol symbol[RECORD_SYMBOLS];
};

/* rows: 0 to MESSAGE_RING_ROWS_MAX. NULL: no memory. */
struct message_ring *message_ring_new(size_t rows);
/* Accepts NULL. */
void message_ring_free(struct message_ring **r);

/* Adds a message. Its number is above that of each row; another one is not added. file: rises. */
void message_ring_add(struct message_ring *r, const struct record *record,
                      uint64_t file);
/* Drops all rows of files before this one. */
void message_ring_drop_before(struct message_ring *r, uint64_t file);
/* Drops all rows, and overwrites what they had. */
void message_ring_clear(struct message_ring *r);

/* ---- reading ---- */

/* Rows stand at 0 (the oldest) to count - 1. */
size_t message_ring_count(const struct message_ring *r);
void message_ring_read(const struct message_ring *r, size_t at,
                       struct message_view *ret);
uint64_t message_ring_number(const struct message_ring *r, size_t at);
/* A query over the rows of a ring, until the ring changes. */
struct message_ring_query {
    const struct message_query *query;
    struct message_filter filter;
    bool has_names;
    bool seeks[MESSAGE_RING_NAMES]; /* by number of a name */
};
void message_ring_prepare(const struct message_ring *r, const struct message_query *q,
                          struct message_ring_query *ret);
/* Whether a row matches; *ret is the row then. */
bool message_ring_matches(const struct message_ring *r, size_t at,
                          const struct message_ring_query *q, struct message_view *ret);
/* How many rows have a number below this one. */
size_t message_ring_below(const struct message_ring *r, uint64_t number);
/* Number of the newest row; 0: there is none. */
uint64_t message_ring_newest(const struct message_ring *r);
/* File of the oldest row; UINT64_MAX: there is none. */
uint64_t message_ring_first_file(const struct message_ring *r);
/* Bytes that are reserved. */
size_t message_ring_bytes(const struct message_ring *r);

#endif
