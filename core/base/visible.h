/*
 * visible - invisible characters, and those that turn text around, shown as codes.
 *
 * A name with U+202E reads as another one; a zero width space makes two names look equal. Such
 * characters are shown as "<U+202E>".
 * Depends: utf8.h.   Threads: pure.   Allocates: nothing.   Source: Unicode 16,
 * Default_Ignorable_Code_Point and the categories Cc, Cf, Zl, Zp.
 */
#ifndef CORE_BASE_VISIBLE_H
#define CORE_BASE_VISIBLE_H

#include "core/base/slice.h"

enum { VISIBLE_CODE_MAX = 12 };

/* Controls, marks of direction, joiners and spaces without width, variation selectors, tags,
 * fillers, line separators. */
bool visible_is(uint32_t character);

/* Bytes of the character at p, at least 1; n is at least 1. code gets "" for a visible character,
 * else the text to show instead: "<U+202E>", or "\xNN" for a byte that is not UTF-8. */
size_t visible_next(const char *p, size_t n, char code[VISIBLE_CODE_MAX]);

/* Writes s with codes and a NUL to dst; "..." at the end when it does not fit in size (at least 4).
 * Bytes without the NUL. */
size_t visible_print(char *dst, size_t size, struct slice s);

#endif
