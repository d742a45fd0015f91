/*
 * lines - a file or pipe cut into lines with a fixed buffer.
 *
 * A line ends at LF or CR LF, or at the end of the file. A line longer than FEED_LINE_MAX is
 * given once as too long, with its beginning, and skipped.
 * Threads: one at a time.   Owns: its buffer.
 */
#ifndef CORE_FEED_LINES_H
#define CORE_FEED_LINES_H

#include "core/base/err.h"
#include "core/base/slice.h"

enum { FEED_LINES_CUT = 80 }; /* what is shown of a line that is too long */

enum feed_lines_result {
    FEED_LINES_LINE,
    FEED_LINES_LONG,
    FEED_LINES_END,
    FEED_LINES_ERROR
};

struct feed_lines {
    int fd;
    bool at_end;
    char *p;
    size_t begin;
    size_t end;
    uint64_t bytes; /* read so far */
    int errnum;     /* of the read that failed */
    char cut[FEED_LINES_CUT];
};

enum err feed_lines_init(struct feed_lines *l, int fd);
void feed_lines_fini(struct feed_lines *l);
/* Reads ahead up to FEED_SNIFF_BYTES and gives what there is; before the first feed_lines_next. */
enum feed_lines_result feed_lines_peek(struct feed_lines *l, struct slice *ret);
/* Drops n bytes that feed_lines_peek gave. */
void feed_lines_skip(struct feed_lines *l, size_t n);
/* The next line without its end; valid until the next call. */
enum feed_lines_result feed_lines_next(struct feed_lines *l, struct slice *ret);
/* The bytes in the buffer, which is filled first when empty; valid until the next call. */
enum feed_lines_result feed_lines_chunk(struct feed_lines *l, struct slice *ret);

#endif
