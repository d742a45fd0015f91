/*
 * text - untrusted bytes and times as people may see them on a terminal.
 *
 * Threads: one.   Allocates: nothing.
 */
#ifndef CORE_CLI_TEXT_H
#define CORE_CLI_TEXT_H

#include "core/base/slice.h"

enum { TEXT_TIME_MAX = 24, TEXT_LINE_MAX = 16384 };

/* Prints at most max bytes of s, "..." when cut: printable ASCII as it is, characters that nobody sees as <U+202E>
 * (visible.h), everything else and the backslash as \xNN. */
void text_print(FILE *to, struct slice s, size_t max);
/* Prints words that are for people, of any language and with line ends, with codes for characters that nobody sees. */
void text_show(FILE *to, const char *words);

/* Reads the next line without its end into line. *retn > TEXT_LINE_MAX: the line is longer, only
 * its beginning is there. False: no more lines (or ferror). */
bool text_read_line(FILE *from, char line[TEXT_LINE_MAX], size_t *retn);

/* "2026-01-31T12:00:00Z", "never" for 0; returns dst. */
const char *text_time(uint64_t seconds, char dst[TEXT_TIME_MAX]);

#endif
