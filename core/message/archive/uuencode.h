/*
 * uuencode - files between "begin 644 NAME" and "end" in running text.
 *
 * Fed in chunks cut anywhere; tells each file as it passes. A file begins only when a line that
 * can be data follows its begin line, and ends at the first that cannot. Blanks that were cut from
 * a line count as inflated. Linear, constant state.
 * Threads: one at a time.   Allocates: nothing.   Source: POSIX uuencode.
 */
#ifndef CORE_MESSAGE_ARCHIVE_UUENCODE_H
#define CORE_MESSAGE_ARCHIVE_UUENCODE_H

#include "core/message/archive/archive.h"

enum { UUENCODE_LINE_MAX = 1100, UUENCODE_NAME_MAX = 255 };

enum uuencode_state { UUENCODE_OUTSIDE, UUENCODE_BEGUN, UUENCODE_INSIDE };

struct uuencode {
    struct archive_budget *budget;
    const struct archive_events *events;
    void *context;
    enum uuencode_state state;
    bool wanted; /* begin gave true */
    bool skips;  /* the rest of this line is of no interest */
    char line[UUENCODE_LINE_MAX];
    size_t nline;
    char name[UUENCODE_NAME_MAX];
    size_t nname;
};

void uuencode_init(struct uuencode *u, struct archive_budget *budget,
                   const struct archive_events *events, void *context);
void uuencode_feed(struct uuencode *u, struct slice text);
/* The end of the text: of a last line and of a file without an end. */
void uuencode_end(struct uuencode *u);

#endif
