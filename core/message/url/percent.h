/*
 * percent - percent-encoding by the sets of the WHATWG URL standard.
 *
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_MESSAGE_URL_PERCENT_H
#define CORE_MESSAGE_URL_PERCENT_H

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

#endif
