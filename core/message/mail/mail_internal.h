/*
 * mail_internal - the inside of core/message/mail, shared by its files only.
 *
 *   mail.c    the public functions; line ends to CRLF; header fields
 *   mail_lines.c  lines: where fields, bodies and boundaries begin
 *   entity.c  the stack of open entities; decoded data of the leaf on top
 *   readings.c  what is ambiguous is kept while it passes, and read again at the end
 *
 * Bytes are first brought to CRLF line ends in `out`, which is always handed on in the same
 * pieces however the message was cut; a CR and its LF are never apart.
 */
#ifndef CORE_MESSAGE_MAIL_MAIL_INTERNAL_H
#define CORE_MESSAGE_MAIL_MAIL_INTERNAL_H

#include "core/message/mail/mail.h"
#include "core/message/text/transfer.h"

enum {
    MAIL_OUT_BYTES = 8192,     /* CRLF text handed on at once */
    MAIL_DECODE_STEP = 4096,   /* transfer decoding works in steps of this size */
    MAIL_FIELD_START = 2048,   /* first size of the field buffer */
    MAIL_NAME_MAX = 998,       /* a field name longer than a line is none */
    MAIL_BOUNDARY_TAKEN = 900, /* of a longer one the beginning is used */
    MAIL_STRINGS_START = 256,  /* first size of a part's buffer */
    MAIL_FLAT_SLOTS = 1024 /* boundaries of multiparts nested too deep; a power of 2 */
};

/* Bytes in the arena that grow up to max; the rest is dropped and marked. */
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
    ENTITY_PREAMBLE, /* multipart: before its first boundary */
    ENTITY_BETWEEN,  /* multipart: its part is above it on the stack */
    ENTITY_EPILOGUE, /* multipart: after the closing boundary */
    ENTITY_MESSAGE   /* message/rfc822: its only child is above it on the stack */
};

struct entity {
    struct mail_part part;
    enum entity_state state;
    bool is_digest;        /* children are message/rfc822 by default */
    bool is_message;       /* an embedded message that takes the place of its part */
    struct slice boundary; /* multipart: without the leading "--" */
    bool by_prefix;        /* a boundary line may go on behind the boundary */
    bool has_raw;          /* is read undecoded, too */
    bool has_stray;        /* text outside its parts is being given as a leaf */
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

enum reading_state {
    READING_FREE,
    READING_OPEN,  /* takes the bytes of stack[level] while that is open */
    READING_READY, /* to be read again */
    READING_DONE
};

enum reading_kind {
    READING_FIELDS, /* the same bytes under other content fields or another boundary */
    READING_PREFIX, /* the same multipart, boundary lines may go on */
    READING_GUESSED, /* a multipart by the boundary that its first line with dashes shows */
    READING_DECODED, /* a multipart that is encoded as a whole */
    READING_MESSAGE  /* decoded data that is a message */
};

struct reading {
    enum reading_state state;
    enum reading_kind kind;
    unsigned level;
    struct slice content[CONTENT_FIELDS];
    struct slice boundary; /* empty: that of the Content-Type */
    struct grown text;
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
    uint64_t text_bytes;       /* decoded, of all leaves that are text */
    uint64_t attachment_bytes; /* decoded, of the others */
    uint64_t attachment_raw;   /* the same before decoding */

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
    struct grown content[CONTENT_FIELDS];
    bool has_content[CONTENT_FIELDS];
    bool has_field;                      /* one is being collected */
    struct grown second[CONTENT_FIELDS]; /* a second field that says another thing */

    /* entities, [0] is the message; depth of the top is nstack - 1 */
    struct entity *stack;
    struct grown *strings; /* of each level: the buffer of its entity */
    uint64_t *
        flat; /* hashes of the boundaries of multiparts that take the place of their part */
    unsigned nflat;
    unsigned nstack;
    unsigned nparts;
    bool strings_grew;
    struct transfer transfer;
    char *decoded;          /* transfer_bound(MAIL_DECODE_STEP) bytes */
    struct mail_part stray; /* of the multipart on top that has_stray */

    /* other readings */
    struct reading readings[MAIL_READINGS_MAX];
    unsigned nopen_readings;
    uint64_t reading_bytes; /* kept, of all */
    bool rereads;           /* the message has ended; a reading is read */
    struct slice forced_boundary;
};

/* mail.c */
void grown_add(struct mail *m, struct grown *g, struct slice bytes);
void field_start(struct mail *m, struct slice name);
void field_add(struct mail *m, struct slice bytes); /* of the same line */
void field_continue(struct mail *m,
                    struct slice bytes); /* the next line; begins with a blank */
void field_end(struct mail *m); /* hands the collected field on, if there is one */

/* Line ends to CRLF, in steps, to the lines. */
void mail_stream(struct mail *m, struct slice chunk);
/* Passes on the bytes that mail_stream holds back. */
void mail_flush(struct mail *m);

/* lines.c: bytes are CRLF text; returns what is left when the message's own header ended. */
struct slice lines_feed(struct mail *m, struct slice bytes);
/* The end of the text: a line without its end is a line. */
void lines_end(struct mail *m);

/* entity.c */
struct entity *entity_top(struct mail *m);
/* A new entity on the stack, its headers to come. */
void entity_push(struct mail *m);
bool entity_open_root(struct mail *m);
/* The headers of the top are complete: tells what it is and begins it. */
void entity_end_headers(struct mail *m);
void entity_data(struct mail *m, struct slice bytes);
/* A boundary line of stack[level]. */
void entity_boundary(struct mail *m, unsigned level, bool closing);
void entity_close_all(struct mail *m);
/* line, without its dashes and its end, is a boundary of a multipart that is nested too deep. */
bool entity_is_flat_boundary(const struct mail *m, struct slice line, bool *retclosing);

/* readings.c: cheap while nopen_readings is 0 */
/* Notes other readings of the content fields of the top. */
void readings_of_headers(struct mail *m);
/* Text on top whose base64 holds what is none, in bytes: some readers show it as it is. */
void readings_of_junk(struct mail *m, struct slice bytes);
/* A line that begins with the boundary of stack[level] and goes on. */
void readings_of_line(struct mail *m, unsigned level);
/* A line with dashes before the boundary of the multipart on top. */
void readings_of_dashes(struct mail *m);
/* Bytes as they are, CRLF, before anything is done with them. */
void readings_raw(struct mail *m, struct slice bytes);
/* Decoded data of the leaf on top. */
void readings_data(struct mail *m, struct slice bytes);
/* The entity on top ends. */
void readings_close(struct mail *m);
/* After the end of the message. */
void readings_run(struct mail *m);

#endif
