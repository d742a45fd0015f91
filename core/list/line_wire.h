/*
 * line_wire - gillnetd's questions to the hub for filter lines, and the answers, as bytes.
 *
 * Over a Unix socket, little-endian. Each message has a head: its kind and the number of bytes
 * after the head. Each question gets one answer. A client stops waiting by closing the connection.
 *
 *   question  budget_us u32, n u16, n ids of filters, m u32, m times (filter u16, number u64)
 *   answer    n u16, n states u8, m u32, m times "has" u8, and each line that exists, sealed
 *
 * Parsers take hostile bytes: every length is compared with the number of bytes before any read.
 * Depends: base, filter.   Threads: pure.   Allocates: in the buf alone.   ADR 0082.
 */
#ifndef CORE_LIST_LINE_WIRE_H
#define CORE_LIST_LINE_WIRE_H

#include "core/base/buf.h"
#include "core/filter/line_seal.h"

/* In the state folder. */
#define LINE_SOCKET "peers/lines.ctl"

enum {
    LINE_WIRE_HEAD_BYTES = 8,
    LINE_WIRE_FILTERS = 256,
    LINE_WIRE_LINES = 32768,
    LINE_WIRE_QUESTION_MAX =
        10 + LINE_WIRE_FILTERS * BLOOMFILE_ID_BYTES + LINE_WIRE_LINES * 10,
    LINE_WIRE_ANSWER_MAX =
        6 + LINE_WIRE_FILTERS + LINE_WIRE_LINES * (1 + LINE_SEALED_BYTES)
};

enum line_wire_kind { LINE_WIRE_QUESTION = 0x514c4e47, LINE_WIRE_ANSWER = 0x414c4e47 };

/* State of a filter's lines. */
enum line_state {
    LINE_STATE_IN_STORE,  /* a line that is missing was lost there */
    LINE_STATE_BEING_PUT, /* the hub is putting them there */
    LINE_STATE_LATE,      /* a line that is missing did not come in time */
    LINE_STATE_NO_STORE,  /* the store does not answer, and was not asked */
    LINE_STATE_UNKNOWN,   /* the hub has no such filter (yet) */
    LINE_STATES
};
const char *line_state_name(enum line_state s); /* "in store", ... */

/* Line `number` of the question's filter at this place. */
struct line_ref {
    uint16_t filter;
    uint64_t number;
};

/* Reads a head. False: not a head of this kind, or more bytes than such a message may have. */
bool line_wire_head(const uint8_t head[LINE_WIRE_HEAD_BYTES], enum line_wire_kind kind,
                    size_t *retbytes);

/* Appends a whole question. ids: nfilters * BLOOMFILE_ID_BYTES. */
void line_question_print(uint32_t budget_us, struct slice ids,
                         const struct line_ref *refs, size_t nrefs, struct buf *ret);
/* Points into the bytes. */
struct line_question {
    uint32_t budget_us;
    unsigned nfilters;
    const uint8_t *ids;
    size_t nrefs;
    const uint8_t *refs;
};
/* Parses the bytes after the head. False: not a question; *ret must not be used. */
bool line_question_parse(struct slice bytes, struct line_question *ret);
/* i below nrefs; its filter is below nfilters. */
struct line_ref line_question_ref(const struct line_question *q, size_t i);

/* Appends a whole answer: the states of the filters, and the lines; NULL: no line. */
void line_answer_print(const uint8_t *states, unsigned nfilters,
                       const uint8_t *const *lines, size_t nlines, struct buf *ret);
struct line_answer {
    unsigned nfilters;
    const uint8_t *states; /* enum line_state */
    size_t nlines;
    const uint8_t *has;
    const uint8_t *sealed; /* of those that it has, one behind the other */
};
bool line_answer_parse(struct slice bytes, struct line_answer *ret);

#endif
