/*
 * leb128 - unsigned LEB128 numbers in their shortest form.
 *
 * Not for other rooms.   Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_RING_STREAM_LEB128_H
#define CORE_RING_STREAM_LEB128_H

#include "core/base/std.h"

enum { LEB128_MAX = 10 };

static inline size_t leb128_put(uint8_t p[LEB128_MAX], uint64_t v)
{
    size_t n = 0;
    while (v >= 0x80) {
        p[n++] = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    p[n++] = (uint8_t)v;
    return n;
}

/* Reads the number at *at of the n bytes and moves *at behind it. False: cut off, above 64 bits, or
 * not in its shortest form. */
static inline bool leb128_get(const uint8_t *p, size_t n, size_t *at, uint64_t *ret)
{
    uint64_t v = 0;
    size_t i = *at;
    for (unsigned shift = 0; i < n && shift < 64; shift += 7) {
        const uint8_t byte = p[i++];
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *at = i;
            *ret = v;
            return (byte != 0 || shift == 0) && (shift < 63 || byte == 1);
        }
    }
    return false;
}

#endif
