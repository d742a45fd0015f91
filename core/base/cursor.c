/* cursor - bounds-checked little-endian reads. */
#include "core/base/cursor.h"

struct cursor cursor_of(struct slice bytes)
{
    return (struct cursor){.rest = bytes, .failed = false};
}

struct slice cursor_bytes(struct cursor *c, size_t n)
{
    if (c->failed || n > c->rest.n) {
        c->failed = true;
        return SLICE_NONE;
    }
    struct slice taken = slice_head(c->rest, n);
    c->rest = slice_from(c->rest, n);
    return taken;
}

void cursor_copy(struct cursor *c, void *dst, size_t n)
{
    struct slice s = cursor_bytes(c, n);
    if (s.n == n && n > 0) {
        memcpy(dst, s.p, n);
    }
}

static uint64_t take_le(struct cursor *c, size_t n)
{
    struct slice s = cursor_bytes(c, n);
    uint64_t v = 0;
    for (size_t i = 0; i < s.n; i++) {
        v |= (uint64_t)(unsigned char)s.p[i] << (8 * i);
    }
    return v;
}

uint8_t cursor_u8(struct cursor *c)
{
    return (uint8_t)take_le(c, 1);
}

uint16_t cursor_u16(struct cursor *c)
{
    return (uint16_t)take_le(c, 2);
}

uint32_t cursor_u32(struct cursor *c)
{
    return (uint32_t)take_le(c, 4);
}

uint64_t cursor_u64(struct cursor *c)
{
    return take_le(c, 8);
}

bool cursor_ok(const struct cursor *c)
{
    return !c->failed;
}

bool cursor_done(const struct cursor *c)
{
    return !c->failed && c->rest.n == 0;
}
