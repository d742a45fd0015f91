/*
 * parser - the inside of core/mail, shared by its files only.
 *
 *   mail.c    the public functions; line ends to CRLF; header fields
 *   lines.c   lines: where fields, bodies and boundaries begin
 *   entity.c  the stack of open entities; decoded data of the leaf on top
 *
 * Bytes are first brought to CRLF line ends in `out`, which is always handed on in the same
 * pieces however the message was cut; a CR and its LF are never apart.
 */
#ifndef CORE_MAIL_PARSER_H
#define CORE_MAIL_PARSER_H

#include "core/mail/mail.h"
#include "core/text/transfer.h"

enum {
    MAIL_OUT_BYTES = 8192,    /* CRLF text handed on at once */
    MAIL_DECODE_STEP = 4096,  /* transfer decoding works in steps of this size */
    MAIL_FIELD_START = 2048,  /* first size of the field buffer */
    MAIL_NAME_MAX = 998,      /* a field name longer than a line is none */
    MAIL_BOUNDARY_TAKEN = 900 /* over MAIL_BOUNDARY_MAX: flagged, used all the same */
};

/* Bytes in the arena that grow up to max; what does not fit is dropped and marked. */
struct grown {
    char *p;
    size_t n;
    size_t size;
    size_t max;
    bool cut; /* met max */
};

enum entity_state {
    ENTITY_HEADERS,  /* its header fields are being read */
    ENTITY_LEAF,     /* its data */
    ENTITY_BETWEEN,  /* multipart: preamble, or parts over the limit: nothing to see */
    ENTITY_EPILOGUE, /* multipart: after the closing boundary */
    ENTITY_MESSAGE   /* message/rfc822: its only child is above it on the stack */
};

struct entity {
    struct mail_part part;
    enum entity_state state;
    bool is_digest;        /* children are message/rfc822 by default */
    struct slice boundary; /* multipart: without the leading "--" */
    unsigned nheaders;
    uint64_t header_bytes;
};

enum line_mode {
    LINE_START, /* held bytes do not tell yet what the line is */
    LINE_FIELD, /* the rest of the line belongs to the field */
    LINE_DATA   /* the rest of the line is body */
};

/* Fields of the entity whose headers are read, first occurrence each. */
enum content_field {
    CONTENT_TYPE,
    CONTENT_TRANSFER,
    CONTENT_DISPOSITION,
    CONTENT_FIELDS
};

struct mail {
    struct arena *arena;
    struct mail_limits limits;
    const struct mail_events *events;
    void *context;
    unsigned limits_met;
    bool is_raw;
    bool in_body; /* the message's own header is complete */
    bool ended;
    bool skips_rest;
    uint64_t body_bytes;    /* CRLF, up to the limit */
    uint64_t decoded_bytes; /* of all leaves */

    /* line ends */
    char *out;
    size_t nout;
    bool last_was_cr;

    /* lines */
    enum line_mode line;
    char hold[MAIL_LINE_KEPT + 2];
    size_t nhold;
    bool held_crlf; /* before a line that may be a boundary: belongs to that */
    unsigned open_multiparts;

    /* the field being collected: name, then value */
    struct grown field;
    size_t name_bytes;
    bool has_field;
    struct grown content[CONTENT_FIELDS];
    bool has_content[CONTENT_FIELDS];

    /* entities, [0] is the message; depth of the top is nstack - 1 */
    struct entity *stack;
    unsigned nstack;
    unsigned nparts;
    struct transfer transfer;
    char *decoded; /* transfer_bound(MAIL_DECODE_STEP) bytes */
};

/* mail.c */
void grown_add(struct mail *m, struct grown *g, struct slice bytes);
void field_start(struct mail *m, struct slice name);
void field_add(struct mail *m, struct slice bytes); /* of the same line */
void field_continue(struct mail *m,
                    struct slice bytes); /* the next line; begins with a blank */
void field_end(struct mail *m); /* hands the collected field on, if there is one */

/* lines.c: bytes are CRLF text; returns what is left when the message's own header ended. */
struct slice lines_feed(struct mail *m, struct slice bytes);
/* The end of the text: a line without its end is a line. */
void lines_end(struct mail *m);

/* entity.c */
struct entity *entity_top(struct mail *m);
bool entity_open_root(struct mail *m);
/* The headers of the top are complete: tells what it is and begins it. */
void entity_end_headers(struct mail *m);
void entity_data(struct mail *m, struct slice bytes);
/* A boundary line of stack[level]. */
void entity_boundary(struct mail *m, unsigned level, bool closing);
void entity_close_all(struct mail *m);

#endif
