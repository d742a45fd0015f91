/*
 * humanize - numbers as people read them: 1,200,000,000; 2.16 GB; 0.1 %; 25 ns; a row of bars.
 *
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_CLI_HUMANIZE_H
#define CORE_CLI_HUMANIZE_H

#include "core/base/std.h"

enum { HUMANIZE_MAX = 40 };

/* All return dst. */
/* Thousands apart: "17,253,105,079". */
const char *humanize_count(uint64_t n, char dst[HUMANIZE_MAX]);
/* Powers of 1000, three digits: "2.16 GB". */
const char *humanize_bytes(double bytes, char dst[HUMANIZE_MAX]);
/* A share as "0.0995 %", or "1.2e-07" if percents would be zeros. */
const char *humanize_share(double share, char dst[HUMANIZE_MAX]);
/* "25 ns", "3.4 ms", "49 s", "5.2 h". */
const char *humanize_seconds(double seconds, char dst[HUMANIZE_MAX]);

/* Reads the number of an option: digits, a point, an exponent, and k, M, G or T for powers of 1000
 * behind it; also "nan" and "inf", for the caller to refuse. False: something else. */
bool humanize_read(const char *text, double *ret);

/* Whether the locale says that text is UTF-8. */
bool sparkline_is_utf8(void);
/* Prints n bars, the last number first: v[0] is now and stands on the right. A number of max fills
 * its bar; any number above 0 has at least the lowest bar. Blocks, or ASCII. */
void sparkline_print(FILE *to, const uint64_t *v, size_t n, uint64_t max, bool is_utf8);

#endif
