/* buf - growing byte strings. */
#include "core/base/buf.h"

#include <stdarg.h>

enum { FIRST_SIZE = 64 };

void buf_init(struct buf *b, size_t max_bytes)
{
    *b = (struct buf){.max = max_bytes < SIZE_MAX / 4 ? max_bytes : SIZE_MAX / 4};
}

void buf_fini(struct buf *b)
{
    free(b->p);
    *b = (struct buf){.max = b->max};
}

void buf_clear(struct buf *b)
{
    b->n = 0;
    b->failed = false;
    if (b->p) {
        b->p[0] = '\0';
    }
}

/* Makes room for n more bytes and a NUL; false (and failed) when that may not be. */
static bool room_for(struct buf *b, size_t n)
{
    if (b->failed || n > b->max - b->n) {
        b->failed = true;
        return false;
    }
    size_t need = b->n + n + 1;
    if (need <= b->size) {
        return true;
    }
    size_t size = b->size ? b->size : FIRST_SIZE;
    while (size < need) {
        size *= 2; /* max is at most SIZE_MAX / 4 */
    }
    if (size > b->max + 1) {
        size = b->max + 1;
    }
    char *p = realloc(b->p, size);
    if (!p) {
        b->failed = true;
        return false;
    }
    b->p = p;
    b->size = size;
    return true;
}

void buf_add(struct buf *b, struct slice s)
{
    if (s.n == 0 || !room_for(b, s.n)) {
        return;
    }
    memcpy(b->p + b->n, s.p, s.n);
    b->n += s.n;
    b->p[b->n] = '\0';
}

void buf_add_str(struct buf *b, const char *cstr)
{
    buf_add(b, slice_str(cstr));
}

void buf_add_char(struct buf *b, char c)
{
    buf_add(b, (struct slice){&c, 1});
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) {
        b->failed = true;
    } else if (n > 0 && room_for(b, (size_t)n)) {
        (void)vsnprintf(b->p + b->n, (size_t)n + 1, format, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

char *buf_extend(struct buf *b, size_t n)
{
    if (!room_for(b, n)) {
        return NULL;
    }
    char *at = b->p + b->n;
    b->n += n;
    b->p[b->n] = '\0';
    return at;
}

static void add_le(struct buf *b, uint64_t v, size_t n)
{
    char bytes[sizeof(v)];
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (char)(unsigned char)(v >> (8 * i));
    }
    buf_add(b, (struct slice){bytes, n});
}

void buf_add_u8(struct buf *b, uint8_t v)
{
    add_le(b, v, 1);
}

void buf_add_u16(struct buf *b, uint16_t v)
{
    add_le(b, v, 2);
}

void buf_add_u32(struct buf *b, uint32_t v)
{
    add_le(b, v, 4);
}

void buf_add_u64(struct buf *b, uint64_t v)
{
    add_le(b, v, 8);
}

bool buf_failed(const struct buf *b)
{
    return b->failed;
}

struct slice buf_slice(const struct buf *b)
{
    return (struct slice){b->p, b->n};
}
