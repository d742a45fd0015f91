/*
 * base64 - values of the digits of base64.
 *
 * Depends: nothing.   Threads: pure.   Allocates: nothing.   Source: RFC 4648, sections 4 and 5.
 */
#ifndef CORE_BASE_BASE64_H
#define CORE_BASE_BASE64_H

#include "core/base/std.h"

enum { BASE64_NONE = 64, BASE64_PAD = 65 };

/* By byte: the value of a digit of the usual alphabet, BASE64_PAD for '=', else BASE64_NONE. */
extern const uint8_t base64_value[256];

/* The value of a digit of either alphabet, the other being that of URLs; else BASE64_NONE. */
static inline unsigned base64_digit(char c)
{
    unsigned value = base64_value[(unsigned char)c];
    if (value <= 63) {
        return value;
    }
    return c == '-' ? 62 : c == '_' ? 63 : BASE64_NONE;
}

#endif
