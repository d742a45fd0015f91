/*
 * sparkline - a row of numbers as a row of little bars.
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_CLI_SPARKLINE_H
#define CORE_CLI_SPARKLINE_H

#include "core/base/std.h"

/* Whether standard output's readers are told (by the locale) that text is UTF-8. */
bool sparkline_is_utf8(void);

/* n bars, the last number first: v[0] is now and stands on the right. Of max the bar is full; any
 * number above 0 has at least the lowest. In blocks, or in ASCII. */
void sparkline_print(FILE *to, const uint64_t *v, size_t n, uint64_t max, bool is_utf8);

#endif
