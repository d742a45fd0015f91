/*
 * logline - the log line of a message: as text, or as a JSON object.
 *
 * Text: "QUEUEID: action=reject score=12.0 required=10.0
 * symbols=LIST_PHISH(12.0)[url=evil.example/x] client=mx.example[192.0.2.1] helo=mx.example
 * from=<a@b> nrcpt=1 to=<c@d> mid=<x@y> size=1234 limits=- config=0 us=340", and where they apply
 * case, reason, wanted, fault, stripped, forged. Keys and their order are stable; gillnetd(8)
 * explains each (LOG). Values have no space; a byte that is no printable ASCII, a space, a quote or
 * a backslash is \xNN, in symbols also a bracket and a comma, in addresses a comma. A value that
 * was cut ends in "...". JSON: the same keys, ASCII only; bytes that are no UTF-8 are U+FFFD.
 * Threads: pure.   Allocates: the result; NULL without memory. It has at most LOG_LINE_MAX bytes.
 */
#ifndef MILTER_LOGLINE_H
#define MILTER_LOGLINE_H

#include "core/base/slice.h"
#include "core/verdict/verdict.h"

enum {
    LOGLINE_RCPTS = 3,    /* recipients that are named */
    LOGLINE_DETAIL = 120, /* bytes of a symbol's detail, escaped */
    LOGLINE_ADDRESS = 160,
    LOGLINE_SYMBOLS = 1600 /* bytes of all symbols; the rest is counted: ",+3" */
};

/* All that a line says. */
struct logline {
    const char *queue_id;
    const struct verdict *verdict; /* NULL: not examined */
    const char *reason;            /* why not; NULL: it was, or had no trouble */
    const char *case_id;           /* empty: none was given out */
    enum action done;
    enum action wanted;
    double required;
    const char *client_address; /* "unknown" */
    struct slice client_name;   /* empty: unknown, or not verified */
    struct slice helo;
    bool has_addresses; /* the next three are to be shown */
    struct slice from;
    const struct slice *rcpt; /* of LOGLINE_RCPTS; the first nrcpt of them are set */
    unsigned nrcpt;
    struct slice message_id;
    uint64_t size;
    uint64_t generation; /* of the configuration */
    uint64_t us;         /* at end of message */
    size_t nstripped;
    bool left_forged;
};

char *logline_text(const struct logline *l);
char *logline_json(const struct logline *l);

#endif
