/*
 * held - one held message as a row of JSON, and its header fields.
 *
 * The values are those of the message, so they are hostile bytes: a row has them as UTF-8, cut, and
 * not decoded. "gillnet" is true if the reason of the hold or the header says that gillnet held the
 * message. gillnetd removes such fields from mail that it examines, but other mail may forge them.
 * Depends: base, text, feature.   Threads: pure.   Allocates: values from an arena, JSON rows.
 */
#ifndef CORE_QUARANTINE_HELD_H
#define CORE_QUARANTINE_HELD_H

#include <jansson.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/quarantine/quarantine.h"

enum {
    HELD_RECIPIENTS_MAX = 100, /* named in a row; the number is of all */
    HELD_VALUE_MAX = 1000      /* bytes of a value in a row */
};

struct held {
    struct slice id;
    uint64_t time_s; /* of its arrival */
    uint64_t bytes;
    struct slice sender;
    size_t nrcpt; /* all */
    struct slice rcpt[HELD_RECIPIENTS_MAX];
    struct slice reason; /* that the MTA keeps; empty: none */
    bool has_header;     /* the header was read */
    struct slice from;   /* values of header fields */
    struct slice subject;
    struct slice status; /* X-Gillnet-Status, as the next */
    struct slice symbols;
};

/* One recipient more. */
void held_add_recipient(struct held *h, struct slice address);
/* Takes the values of the fields in header, whose lines end in LF. The first field of a name
 * counts. */
void held_read_header(struct held *h, struct slice header, struct arena *arena);
/* {id, time_s, bytes, sender, recipients, nrcpt, from, subject, reason, symbols, case, score,
 * gillnet}. NULL: no memory. */
json_t *held_json(const struct held *h);

/* ---- rows that came as JSON ---- */

/* "" if the member is no text. */
const char *held_text(const json_t *row, const char *member);
/* 0 if the member is no positive number. */
uint64_t held_number(const json_t *row, const char *member);
/* Appends a header value of a stranger for people: decoded, cut, with codes for invisible
 * characters. */
void held_add_decoded(struct buf *b, const char *value);
bool held_is_gillnets(const json_t *row);
/* Whether the address is a recipient; ASCII case does not count. */
bool held_has_recipient(const json_t *row, const char *address);
/* The lines of an answer behind its first one as an array. Lines that are no object are left out.
 * NULL: no memory. */
json_t *held_rows(struct slice answer);
/* The row of that id, borrowed; NULL: there is none. */
json_t *held_find(const json_t *rows, const char *id);

#endif
