/*
 * patched - a sound file with changes, for formats that are larger than an input or full of sums.
 *
 * Input: a byte with the number of changes, then for each an offset (3 bytes, little-endian, modulo
 * the length), a number of bytes and these bytes; what is left is not used. The first byte's highest bit
 * cuts the file: the next two bytes say how many bytes are missing at its end.
 */
#ifndef TESTS_FUZZ_PATCHED_H
#define TESTS_FUZZ_PATCHED_H

#include <string.h>

#include "tests/fuzz/fuzz.h"

enum { PATCH_CUT = 0x80 };

static inline struct slice patched_take(struct slice *input, size_t n)
{
    struct slice part = slice_head(*input, n);
    *input = slice_from(*input, part.n);
    return part;
}

static inline size_t patched_number(struct slice *input, size_t nbytes)
{
    struct slice part = patched_take(input, nbytes);
    size_t v = 0;
    for (size_t i = 0; i < part.n; i++) {
        v |= (size_t)(uint8_t)part.p[i] << (8 * i);
    }
    return v;
}

/* Changes the n bytes; returns how many are left of them, and takes what it used off the input. */
static inline size_t patched_apply(uint8_t *bytes, size_t n, struct slice *input)
{
    size_t head = patched_number(input, 1);

    if ((head & PATCH_CUT) != 0) {
        size_t missing = patched_number(input, 2);
        n -= missing < n ? missing : n;
    }
    for (size_t i = head & (PATCH_CUT - 1); i > 0 && n > 0 && input->n > 0; i--) {
        size_t at = patched_number(input, 3) % n;
        struct slice part = patched_take(input, patched_number(input, 1));
        if (part.n > n - at) {
            part.n = n - at;
        }
        if (part.n > 0) {
            memcpy(bytes + at, part.p, part.n);
        }
    }
    return n;
}

#endif
