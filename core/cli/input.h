/*
 * input - lines from a descriptor, and whether the next one has arrived.
 *
 * Threads: one.   Allocates: nothing.
 */
#ifndef CORE_CLI_INPUT_H
#define CORE_CLI_INPUT_H

#include "core/base/slice.h"

enum { INPUT_LINE_MAX = 16384, INPUT_BUFFER = 4 * INPUT_LINE_MAX };

struct input {
    int fd;
    bool is_ended;
    bool has_failed; /* reading failed, which is an end too */
    bool is_cut;     /* inside a line of which the beginning was given */
    size_t at;
    size_t n;
    char bytes[INPUT_BUFFER];
};

void input_init(struct input *in, int fd);
/* The next line without its end, valid until the next call. *rettoolong: it is longer than
 * INPUT_LINE_MAX, only its beginning is given. False: the input has ended. */
bool input_line(struct input *in, struct slice *ret, bool *rettoolong);
/* Whether the next line has not arrived yet: a caller that gathers lines should handle them now. */
bool input_waits(const struct input *in);

#endif
