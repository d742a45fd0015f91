/* contribution - the amounts that a bucket added to the cells. */
#include "core/count/contribution.h"

#include "core/base/array.h"
#include "core/base/checksum.h"
#include "core/base/le.h"

enum {
    ALL_ONES = 1 << 15,
    SUM_BYTES = 4,
    VARINT_BITS = 7,
    VARINT_MORE = 1 << VARINT_BITS,
    VARINT_SHIFT_MAX = 63
};

/* One line's part, kept until the lines are in order. */
struct part {
    uint64_t line;
    uint64_t value[CELLS_OF_LINE];
};

static void add_varint(struct buf *b, uint64_t v)
{
    for (; v >= VARINT_MORE; v >>= VARINT_BITS) {
        buf_add_u8(b, (uint8_t)(v | VARINT_MORE));
    }
    buf_add_u8(b, (uint8_t)v);
}

void contribution_add_line(struct buf *ret, uint64_t line,
                           const uint64_t value[CELLS_OF_LINE], uint64_t *last)
{
    unsigned mask = 0;
    bool is_ones = true;

    for (unsigned i = 0; i < CELLS_OF_LINE; i++) {
        mask |= value[i] ? 1U << i : 0;
        is_ones = is_ones && value[i] <= 1;
    }
    if (mask == 0) { /* saturated: no share is known */
        return;
    }
    int64_t way = (int64_t)(line - *last);
    add_varint(ret, (uint64_t)way << 1 ^ (way < 0 ? UINT64_MAX : 0));
    *last = line;
    buf_add_u16(ret, (uint16_t)(mask | (is_ones ? ALL_ONES : 0)));
    for (unsigned i = 0; !is_ones && i < CELLS_OF_LINE; i++) {
        if (value[i]) {
            add_varint(ret, value[i]);
        }
    }
}

bool contribution_end(struct buf *ret, size_t from)
{
    if (ret->n > from) {
        struct slice bytes = {ret->p + from, ret->n - from};
        buf_add_u32(ret, checksum32(bytes));
    }
    return !buf_failed(ret);
}

bool contribution_make(struct cells *c, struct buf *ret)
{
    size_t room = c->figures->ntouched;
    size_t n = 0;
    size_t from = ret->n;
    uint64_t last = 0;
    /* without it the lines go as they come: longer, not wrong */
    struct part *parts = room ? calloc(room, sizeof(*parts)) : NULL;
    struct part one;

    while (cells_next(c, &one.line, one.value)) {
        if (parts) {
            parts[n++] = one;
        } else {
            contribution_add_line(ret, one.line, one.value, &last);
        }
    }
    if (parts) {
        qsort(parts, n, sizeof(*parts), array_u64_cmp);
    }
    for (size_t i = 0; i < n; i++) {
        contribution_add_line(ret, parts[i].line, parts[i].value, &last);
    }
    free(parts);
    return contribution_end(ret, from);
}

/* Reads within the bytes whose sum is right, so what it meets is what add_varint wrote. */
static uint64_t get_varint(struct slice *s)
{
    uint64_t v = 0;

    for (unsigned shift = 0; s->n > 0 && shift <= VARINT_SHIFT_MAX;
         shift += VARINT_BITS) {
        uint8_t byte = (uint8_t)*s->p;
        s->p++;
        s->n--;
        v |= (uint64_t)(byte & (VARINT_MORE - 1)) << shift;
        if (byte < VARINT_MORE) {
            break;
        }
    }
    return v;
}

static bool is_share_whole(struct slice *bytes)
{
    if (bytes->n < SUM_BYTES) {
        return false;
    }
    bytes->n -= SUM_BYTES;
    return checksum32(*bytes) == le_get(bytes->p + bytes->n, SUM_BYTES);
}

bool contribution_each(struct slice bytes, contribution_fn *fn, void *context)
{
    uint64_t line = 0;

    if (!is_share_whole(&bytes)) {
        return false;
    }
    while (bytes.n > 0) {
        uint64_t zigzag = get_varint(&bytes);
        line += zigzag >> 1 ^ -(zigzag & 1);
        unsigned mask = bytes.n >= 2 ? (unsigned)le_get(bytes.p, 2) : 0;
        bytes = slice_from(bytes, 2);
        for (unsigned i = 0; i < CELLS_OF_LINE; i++) {
            if (mask & 1U << i) {
                fn(context, line, i, mask & ALL_ONES ? 1 : get_varint(&bytes));
            }
        }
    }
    return true;
}
