/*
 * lines - a file or pipe cut into lines with a fixed buffer.
 *
 * A line ends at LF or CR LF, or at the end of the file. A line longer than FEED_LINE_MAX is
 * told once, with its beginning, and skipped. Threads: one at a time.   Owns: its buffer.
 */
#ifndef CORE_FEED_LINES_H
#define CORE_FEED_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/base/slice.h"

enum { LINES_CUT = 80 }; /* what is shown of a line that is too long */

enum lines_result { LINES_LINE, LINES_LONG, LINES_END, LINES_ERROR };

struct lines {
    int fd;
    bool at_end;
    char *p;
    size_t begin;
    size_t end;
    uint64_t bytes; /* read so far */
    int errnum;     /* of the read that failed */
    char cut[LINES_CUT];
};

enum err lines_init(struct lines *l, int fd);
void lines_fini(struct lines *l);
/* Reads ahead up to FEED_SNIFF_BYTES and gives what there is; before the first lines_next. */
enum lines_result lines_peek(struct lines *l, struct slice *ret);
/* Drops n bytes of what lines_peek gave. */
void lines_skip(struct lines *l, size_t n);
/* The next line without its end; valid until the next call. */
enum lines_result lines_next(struct lines *l, struct slice *ret);

#endif
