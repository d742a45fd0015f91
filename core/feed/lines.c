/*
 * lines - a file or pipe cut into lines with a fixed buffer.
 */
#include "core/feed/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/feed/feed.h"

/* Room for a whole beginning, and for a longest line with its end behind half a buffer. */
enum { LINES_BUFFER = 2 * FEED_SNIFF_BYTES };

enum err lines_init(struct lines *l, int fd)
{
    *l = (struct lines){.fd = fd};
    l->p = malloc(LINES_BUFFER);
    return l->p == NULL ? ERR_NOMEM : ERR_OK;
}

void lines_fini(struct lines *l)
{
    free(l->p);
    l->p = NULL;
}

/* Reads once behind what is there. */
static enum lines_result lines_fill(struct lines *l)
{
    if (l->begin > 0) {
        memmove(l->p, l->p + l->begin, l->end - l->begin);
        l->end -= l->begin;
        l->begin = 0;
    }
    for (;;) {
        ssize_t n = read(l->fd, l->p + l->end, LINES_BUFFER - l->end);
        if (n > 0) {
            l->end += (size_t)n;
            l->bytes += (uint64_t)n;
            return LINES_LINE;
        }
        if (n == 0) {
            l->at_end = true;
            return LINES_END;
        }
        if (errno != EINTR) {
            l->errnum = errno;
            return LINES_ERROR;
        }
    }
}

enum lines_result lines_peek(struct lines *l, struct slice *ret)
{
    while (!l->at_end && l->end < FEED_SNIFF_BYTES) {
        if (lines_fill(l) == LINES_ERROR) {
            return LINES_ERROR;
        }
    }
    *ret = slice_head(slice_of(l->p, l->end), FEED_SNIFF_BYTES);
    return LINES_LINE;
}

void lines_skip(struct lines *l, size_t n)
{
    l->begin += n;
}

/* The beginning of a line whose end is not in the buffer: keeps a cut of it, drops the rest. */
static enum lines_result skip_long(struct lines *l, struct slice *ret)
{
    memcpy(l->cut, l->p + l->begin, LINES_CUT);
    *ret = slice_of(l->cut, LINES_CUT);
    for (;;) {
        const char *nl = memchr(l->p + l->begin, '\n', l->end - l->begin);
        if (nl != NULL) {
            l->begin = (size_t)(nl - l->p) + 1;
            return LINES_LONG;
        }
        l->begin = l->end;
        if (l->at_end) {
            return LINES_LONG;
        }
        if (lines_fill(l) == LINES_ERROR) {
            return LINES_ERROR;
        }
    }
}

static enum lines_result give(struct lines *l, const char *end, size_t next,
                              struct slice *ret)
{
    const char *p = l->p + l->begin;
    size_t n = (size_t)(end - p);

    if (n > 0 && p[n - 1] == '\r') {
        n--;
    }
    l->begin = next;
    if (n > FEED_LINE_MAX) {
        *ret = slice_of(p, LINES_CUT);
        return LINES_LONG;
    }
    *ret = slice_of(p, n);
    return LINES_LINE;
}

enum lines_result lines_next(struct lines *l, struct slice *ret)
{
    size_t seen = 0; /* bytes after begin known to hold no LF */

    for (;;) {
        size_t n = l->end - l->begin;
        const char *nl =
            n > seen ? memchr(l->p + l->begin + seen, '\n', n - seen) : NULL;
        if (nl != NULL) {
            return give(l, nl, (size_t)(nl - l->p) + 1, ret);
        }
        if (l->at_end) {
            return n == 0 ? LINES_END : give(l, l->p + l->end, l->end, ret);
        }
        if (n > FEED_LINE_MAX + 1) { /* one more for the CR */
            return skip_long(l, ret);
        }
        seen = n;
        if (lines_fill(l) == LINES_ERROR) {
            return LINES_ERROR;
        }
    }
}
