/*
 * lines - a file or pipe cut into lines with a fixed buffer.
 */
#include "core/feed/lines.h"

#include "core/feed/feed.h"

/* Room for a whole beginning, and for a longest line with its end behind half a buffer. */
enum { FEED_LINES_BUFFER = 2 * FEED_SNIFF_BYTES };

enum err feed_lines_init(struct feed_lines *l, int fd)
{
    *l = (struct feed_lines){.fd = fd};
    l->p = malloc(FEED_LINES_BUFFER);
    return l->p == NULL ? ERR_NOMEM : ERR_OK;
}

void feed_lines_fini(struct feed_lines *l)
{
    free(l->p);
    l->p = NULL;
}

/* Reads once behind what is there. */
static enum feed_lines_result feed_lines_fill(struct feed_lines *l)
{
    if (l->begin > 0) {
        memmove(l->p, l->p + l->begin, l->end - l->begin);
        l->end -= l->begin;
        l->begin = 0;
    }
    for (;;) {
        ssize_t n = read(l->fd, l->p + l->end, FEED_LINES_BUFFER - l->end);
        if (n > 0) {
            l->end += (size_t)n;
            l->bytes += (uint64_t)n;
            return FEED_LINES_LINE;
        }
        if (n == 0) {
            l->at_end = true;
            return FEED_LINES_END;
        }
        if (errno != EINTR) {
            l->errnum = errno;
            return FEED_LINES_ERROR;
        }
    }
}

enum feed_lines_result feed_lines_peek(struct feed_lines *l, struct slice *ret)
{
    while (!l->at_end && l->end < FEED_SNIFF_BYTES) {
        if (feed_lines_fill(l) == FEED_LINES_ERROR) {
            return FEED_LINES_ERROR;
        }
    }
    *ret = slice_head(slice_of(l->p, l->end), FEED_SNIFF_BYTES);
    return FEED_LINES_LINE;
}

void feed_lines_skip(struct feed_lines *l, size_t n)
{
    l->begin += n;
}

/* The beginning of a line whose end is not in the buffer: keeps a cut of it, drops the rest. */
static enum feed_lines_result skip_long(struct feed_lines *l, struct slice *ret)
{
    memcpy(l->cut, l->p + l->begin, FEED_LINES_CUT);
    *ret = slice_of(l->cut, FEED_LINES_CUT);
    for (;;) {
        const char *nl = memchr(l->p + l->begin, '\n', l->end - l->begin);
        if (nl != NULL) {
            l->begin = (size_t)(nl - l->p) + 1;
            return FEED_LINES_LONG;
        }
        l->begin = l->end;
        if (l->at_end) {
            return FEED_LINES_LONG;
        }
        if (feed_lines_fill(l) == FEED_LINES_ERROR) {
            return FEED_LINES_ERROR;
        }
    }
}

static enum feed_lines_result give_line(struct feed_lines *l, const char *end,
                                        size_t next, struct slice *ret)
{
    const char *p = l->p + l->begin;
    size_t n = (size_t)(end - p);

    if (n > 0 && p[n - 1] == '\r') {
        n--;
    }
    l->begin = next;
    if (n > FEED_LINE_MAX) {
        *ret = slice_of(p, FEED_LINES_CUT);
        return FEED_LINES_LONG;
    }
    *ret = slice_of(p, n);
    return FEED_LINES_LINE;
}

enum feed_lines_result feed_lines_next(struct feed_lines *l, struct slice *ret)
{
    size_t seen = 0; /* bytes after begin known to hold no LF */

    for (;;) {
        size_t n = l->end - l->begin;
        const char *nl =
            n > seen ? memchr(l->p + l->begin + seen, '\n', n - seen) : NULL;
        if (nl != NULL) {
            return give_line(l, nl, (size_t)(nl - l->p) + 1, ret);
        }
        if (l->at_end) {
            return n == 0 ? FEED_LINES_END : give_line(l, l->p + l->end, l->end, ret);
        }
        if (n > FEED_LINE_MAX + 1) { /* one more for the CR */
            return skip_long(l, ret);
        }
        seen = n;
        if (feed_lines_fill(l) == FEED_LINES_ERROR) {
            return FEED_LINES_ERROR;
        }
    }
}

enum feed_lines_result feed_lines_chunk(struct feed_lines *l, struct slice *ret)
{
    if (l->begin == l->end && !l->at_end && feed_lines_fill(l) == FEED_LINES_ERROR) {
        return FEED_LINES_ERROR;
    }
    *ret = slice_of(l->p + l->begin, l->end - l->begin);
    l->begin = l->end;
    return ret->n == 0 ? FEED_LINES_END : FEED_LINES_LINE;
}
