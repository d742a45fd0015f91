/*
 * cursor - reads little-endian records from hostile bytes, with a sticky error.
 *
 * Every read is bounds-checked; after the first failure each further read gives 0 or an empty
 * slice, so a record is read straight through and checked once (cursor_ok).
 * Threads: one at a time.   Allocates: nothing; slices point into the input.
 * Source: the idea is Knot DNS's wire context.
 */
#ifndef CORE_BASE_CURSOR_H
#define CORE_BASE_CURSOR_H

#include "core/base/slice.h"

struct cursor {
    struct slice rest;
    bool failed;
};

struct cursor cursor_of(struct slice bytes);
uint8_t cursor_u8(struct cursor *c);
uint16_t cursor_u16(struct cursor *c);
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
struct slice cursor_bytes(struct cursor *c, size_t n);
/* Copies the next n bytes to dst, which stays as it is where they are not there. */
void cursor_copy(struct cursor *c, void *dst, size_t n);
/* Every read until now was within bounds. */
bool cursor_ok(const struct cursor *c);
/* No read failed and nothing is left. */
bool cursor_done(const struct cursor *c);

#endif
