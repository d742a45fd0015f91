/*
 * utf8 - length, decoding and encoding of one UTF-8 character.
 *
 * Depends: slice.   Threads: pure.   Allocates: nothing.   Source: RFC 3629 (no overlong forms,
 * no surrogates).
 */
#ifndef CORE_BASE_UTF8_H
#define CORE_BASE_UTF8_H

#include "core/base/slice.h"

enum { UTF8_MAX = 4, UTF8_CODE_MAX = 0x10ffff };

/* Bytes of the character that begins at p (NUL is a character); 0: no whole character. n is at
 * least 1. */
size_t utf8_length(const unsigned char *p, size_t n);
/* Stores the code point of that character too, if there is one. Returns utf8_length. */
size_t utf8_decode(const char *p, size_t n, uint32_t *retcode);
/* The first n bytes at most of text in UTF-8, without a part of a character at the end. */
struct slice utf8_head(struct slice text, size_t n);
/* Writes a code point of at most UTF8_CODE_MAX to dst, at most UTF8_MAX bytes. Returns the
 * length. */
size_t utf8_put(char *dst, uint32_t code);

#endif
