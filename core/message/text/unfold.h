/*
 * unfold - the text of iCalendar and vCard files: folded lines joined, escapes undone.
 *
 * A line break followed by a blank goes with that blank, "\n", "\," and "\;" become what they
 * mean, values in quoted-printable (vCard 2.1) are decoded. Fed in chunks cut anywhere. Linear,
 * constant state. Threads: one at a time.   Source: RFC 5545 3.1 and 3.3.11, RFC 6350, vCard 2.1.
 */
#ifndef CORE_MESSAGE_TEXT_UNFOLD_H
#define CORE_MESSAGE_TEXT_UNFOLD_H

#include "core/base/slice.h"

enum { UNFOLD_HELD_MAX = 4, UNFOLD_NAME_MAX = 128 };

struct unfold {
    char held[UNFOLD_HELD_MAX]; /* a line break or an escape not yet decided */
    size_t nheld;
    char name
        [UNFOLD_NAME_MAX]; /* of the property that the line begins with, and parameters */
    size_t nname;
    bool in_value;
    bool is_quoted_printable; /* the value */
};

void unfold_init(struct unfold *u);
/* dst must hold in.n + UNFOLD_HELD_MAX bytes; returns bytes written. */
size_t unfold_feed(struct unfold *u, struct slice in, char *dst);
/* Writes the bytes that are still held, at most UNFOLD_HELD_MAX. */
size_t unfold_end(struct unfold *u, char *dst);

#endif
