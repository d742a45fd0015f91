/*
 * percent - percent-encoding by the sets of the WHATWG URL standard.
 *
 * Threads: any.   Allocates: percent_encode_query, from the arena.
 */
#ifndef CORE_MESSAGE_URL_PERCENT_H
#define CORE_MESSAGE_URL_PERCENT_H

#include "core/base/arena.h"
#include "core/base/slice.h"

enum percent_set {
    PERCENT_FRAGMENT,
    PERCENT_SPECIAL_QUERY, /* the query set, and the apostrophe */
    PERCENT_PATH,
    PERCENT_USERINFO
};

/* Control characters and bytes from 0x7f on belong to every set. */
bool percent_has(enum percent_set set, char c);
/* dst holds 3 * text.n bytes; '%' itself stays. Returns the length. */
size_t percent_encode(enum percent_set set, struct slice text, char *dst);

/* How a browser writes the characters of a query in a page of this charset: text is UTF-8; a
 * character that the charset does not have becomes a reference ("%26%238224%3B"); a charset that is
 * not known counts as UTF-8. Cut at URL_BYTES_MAX. {NULL, 0} when the arena is full. */
struct slice percent_encode_query(struct arena *arena, struct slice text,
                                  struct slice charset);

#endif
