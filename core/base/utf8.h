/*
 * utf8 - where a UTF-8 character ends.
 *
 * Depends: nothing.   Threads: pure.   Allocates: nothing.   Source: RFC 3629 (no overlong forms,
 * no surrogates).
 */
#ifndef CORE_BASE_UTF8_H
#define CORE_BASE_UTF8_H

#include "core/base/std.h"

/* Bytes of the character that begins at p (NUL is a character); 0: no whole character. n is at
 * least 1. */
size_t utf8_length(const unsigned char *p, size_t n);

#endif
