/*
 * le - little-endian numbers at a place in memory, for formats where buf and cursor are too slow.
 *
 * n is at most 8, and a constant: then each function is one load or store. The caller has checked
 * that p has n bytes.
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_BASE_LE_H
#define CORE_BASE_LE_H

#include <endian.h>

#include "core/base/std.h"

static inline void le_put(void *p, uint64_t v, size_t n)
{
    v = htole64(v);
    memcpy(p, &v, n);
}

static inline uint64_t le_get(const void *p, size_t n)
{
    uint64_t v = 0;
    memcpy(&v, p, n);
    return le64toh(v);
}

#endif
