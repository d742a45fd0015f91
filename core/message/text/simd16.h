/*
 * simd16 - sixteen bytes of text looked at together, to pass over what does not matter.
 *
 * Vectors as GCC and clang have them on every machine (SSE2, NEON, plain words elsewhere).
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_MESSAGE_TEXT_SIMD16_H
#define CORE_MESSAGE_TEXT_SIMD16_H

#include "core/base/std.h"

enum { BLOCK_BYTES = 16 };
#define BLOCK_VECTOR __attribute__((vector_size(BLOCK_BYTES)))

/* Whether a comparison of vectors was true anywhere; sums: its result, 16 bytes. */
static inline bool block_is_any(const void *sums)
{
    uint64_t halves[2];

    memcpy(halves, sums, sizeof(halves));
    return (halves[0] | halves[1]) != 0;
}

#endif
