/*
 * mail - RFC 5322 and MIME as a push parser: bytes in as they arrive, events out.
 *
 * Two ways in: a milter gives header fields and body chunks (mail_header, mail_end_of_headers,
 * mail_body); a file gives raw bytes (mail_raw), line ends LF, CRLF or CR, with or without an mbox
 * "From " line. Both end with mail_end and give the same events for the same message. The stack is
 * explicit. A limit sets its flag and bounds the cost, but all text is given: over a limit
 * attachments are skipped up to the next boundary, and text continues up to a share of its own
 * (limits.decoded_bytes). The memory of a part is free again when it ends. A boundary over
 * MAIL_BOUNDARY_MAX is flagged and still used, a very long one by its beginning. The parts of
 * multiparts and messages nested deeper than limits.depth belong to the deepest container. A
 * multipart or message that cannot be taken apart (no boundary, encoded) is a leaf of its type. A
 * line that is no field ends a header and begins the body. Bodies of text parts come decoded from
 * their transfer encoding, in their own charset.
 *
 * Where readers differ, the events are the union: first the parts as most readers see them, then
 * other readings (is_extra) of ambiguous places. Such places are a second boundary, Content-Type or
 * Content-Transfer-Encoding with another value, boundary lines with more behind them, multiparts
 * without their boundary, encoded messages and multiparts, message/partial, and broken base64. Text
 * before the first and after the last boundary is a leaf too. At most MAIL_READINGS_MAX readings a
 * message.
 * Files in reading order: mail (header fields, events), mail_lines (lines and boundaries), entity
 * (the stack of parts), params (Content-Type), readings (ambiguous places).
 * To add a reading: a function in readings.c that pushes it, and messages in
 * tests/unit/mail/ambiguous.def.
 * Threads: one at a time.   Allocates: from the arena.   Depends: base, text.
 * Source: RFC 5322, 2045-2047, 2231; limits: ADR 0046.
 */
#ifndef CORE_MESSAGE_MAIL_MAIL_H
#define CORE_MESSAGE_MAIL_MAIL_H

#include "core/base/arena.h"
#include "core/base/slice.h"

struct mail_limits {
    uint64_t
        message_bytes; /* of attachments, as they stand; over: their rest is skipped */
    uint64_t decoded_bytes; /* of text, and as many of attachments */
    unsigned headers;       /* of the message; each part has the same bound */
    uint64_t header_bytes;
    uint64_t header_field;
    unsigned parts; /* over: text is given, attachments are skipped */
    unsigned depth; /* over: multiparts and messages take the place of their part */
    bool keeps_messages; /* embedded messages are leaves: their data is the message */
};
enum {
    MAIL_BOUNDARY_MAX = 70,
    MAIL_LINE_KEPT = 998,
    MAIL_READINGS_MAX = 8,        /* of one message, beside the first */
    MAIL_READING_BYTES = 1 << 20, /* kept for all of them together */
};

/* Limits met, as bits; the caller maps them to its own flags. */
enum mail_limit_bit {
    MAIL_LIMIT_MESSAGE_BYTES = 1 << 0,
    MAIL_LIMIT_DECODED_BYTES = 1 << 1,
    MAIL_LIMIT_HEADERS = 1 << 2,
    MAIL_LIMIT_HEADER_BYTES = 1 << 3,
    MAIL_LIMIT_HEADER_FIELD = 1 << 4,
    MAIL_LIMIT_PARTS = 1 << 5,
    MAIL_LIMIT_DEPTH = 1 << 6,
    MAIL_LIMIT_BOUNDARY = 1 << 7,
    MAIL_LIMIT_MEMORY = 1 << 8,
    MAIL_LIMIT_READINGS = 1 << 9
};

/* One MIME part, known from its headers. */
struct mail_part {
    /* 0 is the message itself, then in order of appearance; text outside the parts of a multipart
     * has the number of that. */
    unsigned number;
    unsigned depth;           /* 0 for the message */
    struct slice type;        /* lower case "text/html"; default by RFC 2046 */
    struct slice charset;     /* as given; empty when none */
    struct slice disposition; /* lower case; empty when none */
    struct slice transfer;    /* Content-Transfer-Encoding as given; empty when none */
    /* From Content-Disposition or Content-Type name, RFC 2231 and 2047 decoded, UTF-8; empty when
     * none. */
    struct slice filename;
    struct slice other_name; /* name of Content-Type when both are there and differ */
    bool has_type;           /* type was declared, not a default */
    bool is_extra;           /* not among the parts as most readers see them */
    bool is_stray;           /* text outside the parts of a multipart; extra, too */
    bool is_container; /* multipart or message/rfc822: has parts, no data of its own */
    bool is_over;      /* one of more than limits.parts */
    bool is_cut;       /* in part_end: bytes of it were left out, for a limit */
};

struct mail_events {
    /* A header field of the message (part NULL), or of a part or embedded message whose number and
     * depth are known so far. value is unfolded: each line break followed by white space became
     * one space; leading white space is removed. */
    void (*header)(void *context, const struct mail_part *part, struct slice name,
                   struct slice value);
    void (*part_begin)(void *context, const struct mail_part *part);
    /* Decoded bytes of a leaf part, in pieces. */
    void (*part_data)(void *context, const struct mail_part *part, struct slice bytes);
    void (*part_end)(void *context, const struct mail_part *part);
    /* Whether the leaf that is open is read as text, as far as is known: text has a share of its
     * own. NULL: its type says so. */
    bool (*is_text)(void *context, const struct mail_part *part);
    /* The body octets of the message as they are, line ends CRLF (for the exact digest); also
     * past limits. */
    void (*body)(void *context, struct slice bytes);
};

struct mail;
/* events and context must outlive the parser; NULL when the arena is full. */
struct mail *mail_new(struct arena *arena, const struct mail_limits *limits,
                      const struct mail_events *events, void *context);

/* A field as the milter gives it: name without colon, value perhaps folded with LF or CRLF. */
void mail_header(struct mail *m, struct slice name, struct slice value);
void mail_end_of_headers(struct mail *m);
void mail_body(struct mail *m, struct slice chunk);

/* A raw message in chunks cut anywhere; instead of the three above. */
void mail_raw(struct mail *m, struct slice chunk);

/* From now on only the body event comes; later fields are skipped too. May be called from within an
 * event. */
void mail_skip_rest(struct mail *m);

/* The end of the message: closes every open part. */
void mail_end(struct mail *m);

unsigned mail_limits_met(const struct mail *m);

#endif
