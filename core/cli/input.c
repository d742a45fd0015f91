/* input - one buffer that lines are cut from; the rest of a line that is too long is skipped. */
#include "core/cli/input.h"

#include <poll.h>

void input_init(struct input *in, int fd)
{
    in->fd = fd;
    in->is_ended = false;
    in->has_failed = false;
    in->is_cut = false;
    in->at = 0;
    in->n = 0;
}

/* Reads more bytes behind the rest. */
static void fill_input(struct input *in)
{
    if (in->at > 0) {
        memmove(in->bytes, in->bytes + in->at, in->n - in->at);
        in->n -= in->at;
        in->at = 0;
    }
    ssize_t got = 0;
    do {
        got = read(in->fd, in->bytes + in->n, sizeof(in->bytes) - in->n);
    } while (got < 0 && errno == EINTR);
    in->has_failed = got < 0;
    in->is_ended = got <= 0;
    in->n += got > 0 ? (size_t)got : 0;
}

static const char *line_end(const struct input *in)
{
    return in->at < in->n ? memchr(in->bytes + in->at, '\n', in->n - in->at) : NULL;
}

/* The bytes before the end of the line, of which size are taken. */
static struct slice take_line_bytes(struct input *in, size_t length, size_t size)
{
    struct slice line = slice_of(in->bytes + in->at, length);
    in->at += size;
    return line;
}

bool input_line(struct input *in, struct slice *ret, bool *rettoolong)
{
    for (;;) {
        const char *end = line_end(in);
        size_t left = in->n - in->at;
        size_t length = end ? (size_t)(end - (in->bytes + in->at)) : left;
        bool is_rest = in->is_cut;
        if (!end && !in->is_ended && length <= INPUT_LINE_MAX) {
            fill_input(in);
            continue;
        }
        if (!end && left == 0) {
            return false;
        }
        bool is_too_long = length > INPUT_LINE_MAX;
        in->is_cut = !end && !in->is_ended;
        struct slice line = take_line_bytes(in, length, length + (end ? 1 : 0));
        if (!is_rest) {
            *ret = slice_head(line, INPUT_LINE_MAX);
            *rettoolong = is_too_long;
            return true;
        }
    }
}

bool input_waits(const struct input *in)
{
    struct pollfd p = {.fd = in->fd, .events = POLLIN};
    return !in->is_ended && !line_end(in) && poll(&p, 1, 0) == 0;
}
