/* bmp - BMP without compression, and by runs; and PGM, as gillnet itself draws it. */

#include "core/base/cursor.h"
#include "core/reader/picture/rows.h"

enum {
    BMP_HEAD = 14,
    BMP_CORE = 12, /* the header of OS/2 */
    BMP_INFO = 40,
    BMP_RUNS8 = 1,
    BMP_RUNS4 = 2,
    BMP_MASKS = 3,
    BMP_MASKS_OPACITY = 6,
    BMP_COLOURS = 256,
    PGM_SAMPLE_MOST = 65535
};

struct bmp {
    uint32_t width;
    uint32_t height;
    bool is_top_first;
    unsigned bits;
    unsigned compression;
    uint32_t mask[4]; /* red, green, blue, opacity */
    uint8_t colour[BMP_COLOURS][4];
    struct slice pixels;
};

/* Colours of the table, as many as stand before the pixels. */
static void read_colours(struct bmp *b, struct slice table, size_t each)
{
    for (size_t i = 0; i < BMP_COLOURS; i++) {
        const struct slice s = slice_head(slice_from(table, i * each), each);
        for (size_t k = 0; k < 3; k++) {
            b->colour[i][k] = s.n == each ? (uint8_t)s.p[2 - k] : 0;
        }
        b->colour[i][3] = 255;
    }
}

static void read_masks(struct bmp *b, struct cursor *c, uint32_t nhead)
{
    const bool has_masks =
        b->compression == BMP_MASKS || b->compression == BMP_MASKS_OPACITY;
    const bool has_opacity = nhead >= BMP_INFO + 16 || b->compression != BMP_MASKS;

    if (has_masks) {
        for (int i = 0; i < (has_opacity ? 4 : 3); i++) {
            b->mask[i] = cursor_u32(c);
        }
    } else if (b->bits == 16) {
        b->mask[0] = 0x7c00;
        b->mask[1] = 0x3e0;
        b->mask[2] = 0x1f;
    } else {
        b->mask[0] = 0xff0000;
        b->mask[1] = 0xff00;
        b->mask[2] = 0xff;
    }
}

/* False: no picture that this reader knows. */
static bool read_bmp_head(struct bmp *b, struct slice bytes)
{
    struct cursor c = cursor_of(slice_from(bytes, 10));
    const uint32_t at = cursor_u32(&c);
    const uint32_t nhead = cursor_u32(&c);
    const bool is_core = nhead == BMP_CORE;
    const uint32_t width = is_core ? cursor_u16(&c) : cursor_u32(&c);
    const uint32_t height = is_core ? cursor_u16(&c) : cursor_u32(&c);

    (void)cursor_u16(&c);
    b->bits = cursor_u16(&c);
    b->compression = is_core ? 0 : cursor_u32(&c);
    b->is_top_first = height > INT32_MAX;
    b->width = width;
    b->height = b->is_top_first ? 0U - height : height;
    (void)cursor_bytes(&c, is_core ? 0 : BMP_INFO - 20);
    if (!cursor_ok(&c) || width == 0 || width > INT32_MAX || height == 0 ||
        b->height > INT32_MAX || (nhead < BMP_INFO && !is_core)) {
        return false;
    }
    read_masks(b, &c, nhead);
    read_colours(b,
                 slice_from(slice_head(bytes, at > BMP_HEAD ? at : bytes.n),
                            (size_t)BMP_HEAD + nhead),
                 is_core ? 3 : 4);
    b->pixels = slice_from(bytes, at);
    const bool is_run = (b->compression == BMP_RUNS8 && b->bits == 8) ||
                        (b->compression == BMP_RUNS4 && b->bits == 4);
    const bool is_plain = b->compression == 0 || b->compression == BMP_MASKS ||
                          b->compression == BMP_MASKS_OPACITY;
    return (is_plain && (b->bits == 1 || b->bits == 4 || b->bits == 8 ||
                         b->bits == 16 || b->bits == 24 || b->bits == 32)) ||
           is_run;
}

/* The bits of a mask, as 0 to 255. */
static uint8_t masked(uint32_t v, uint32_t mask)
{
    if (mask == 0) {
        return 0;
    }
    v &= mask;
    while ((mask & 1) == 0) {
        v >>= 1;
        mask >>= 1;
    }
    return (uint8_t)((uint64_t)v * 255 / mask);
}

static void put_masked(const struct bmp *b, uint32_t v, uint8_t *to)
{
    for (int i = 0; i < 3; i++) {
        to[i] = masked(v, b->mask[i]);
    }
    to[3] = b->mask[3] != 0 ? masked(v, b->mask[3]) : 255;
}

/* One row of pixels that are not compressed. */
static void convert_row(const struct bmp *b, const uint8_t *p, uint8_t *to)
{
    const unsigned per = b->bits < 8 ? 8 / b->bits : 1;
    uint32_t v;

    for (uint32_t x = 0; x < b->width; x++, to += 4) {
        switch (b->bits) {
        case 16:
            v = p[2 * (size_t)x] | (uint32_t)p[2 * (size_t)x + 1] << 8;
            put_masked(b, v, to);
            break;
        case 24:
            to[0] = p[3 * (size_t)x + 2];
            to[1] = p[3 * (size_t)x + 1];
            to[2] = p[3 * (size_t)x];
            to[3] = 255;
            break;
        case 32:
            memcpy(&v, p + 4 * (size_t)x, 4);
            put_masked(b, le32toh(v), to);
            break;
        default: /* an index of 1, 4 or 8 bits */
            v = (uint32_t)p[x / per] >> ((per - 1 - x % per) * b->bits);
            memcpy(to, b->colour[v & ((1U << b->bits) - 1)], 4);
        }
    }
}

static void turn_over(struct raster *r)
{
    const size_t stride = (size_t)r->width * 4;
    uint8_t *top = r->p;
    uint8_t *bottom = r->p + stride * r->height;

    while (top < bottom) {
        bottom -= stride;
        for (size_t i = 0; i < stride && top < bottom; i++) {
            const uint8_t swap = top[i];
            top[i] = bottom[i];
            bottom[i] = swap;
        }
        top += stride;
    }
}

static void read_bmp_rows(struct decode *d, const struct bmp *b, struct rows *rows)
{
    const uint64_t stride = ((uint64_t)b->width * b->bits + 31) / 32 * 4;
    struct slice rest = b->pixels;

    while (rest.n >= stride) {
        convert_row(b, (const uint8_t *)rest.p, rows->pixel);
        rest = slice_from(rest, (size_t)stride);
        if (!rows_take(rows, d)) {
            break;
        }
    }
}

/* The state of reading runs: a row is filled, then taken. */
struct runs {
    const struct bmp *b;
    struct rows *rows;
    struct decode *d;
    uint32_t x;
};

static void put_index(struct runs *s, unsigned index)
{
    if (s->x < s->b->width) {
        memcpy(s->rows->pixel + (size_t)s->x * 4, s->b->colour[index & 0xff], 4);
        s->x++;
    }
}

/* False: the last row is full. */
static bool end_row(struct runs *s)
{
    const bool is_more = rows_take(s->rows, s->d);

    s->x = 0;
    memset(s->rows->pixel, 0xff, (size_t)s->b->width * 4);
    return is_more;
}

/* n pixels that stand one by one. */
static void put_literal(struct runs *s, struct cursor *c, unsigned n)
{
    const bool is_half = s->b->bits == 4;
    const struct slice bytes =
        cursor_bytes(c, is_half ? ((size_t)n + 3) / 4 * 2 : ((size_t)n + 1) / 2 * 2);

    for (unsigned i = 0; i < n && bytes.n > 0; i++) {
        const unsigned v = (unsigned char)bytes.p[is_half ? i / 2 : i];
        put_index(s, is_half ? (i % 2 == 0 ? v >> 4 : v & 15) : v);
    }
}

/* False: the bitmap ends. */
static bool take_escape(struct runs *s, struct cursor *c, unsigned v)
{
    bool is_more = true;

    if (v == 0) {
        return end_row(s);
    }
    if (v == 1) {
        (void)end_row(s);
        return false;
    }
    if (v > 2) {
        put_literal(s, c, v);
        return true;
    }
    const uint32_t right = cursor_u8(c);
    for (unsigned down = cursor_u8(c); down > 0 && is_more; down--) {
        const uint32_t x = s->x;
        is_more = end_row(s);
        s->x = x;
    }
    s->x = right < s->b->width - s->x ? s->x + right : s->b->width;
    return is_more;
}

static void read_runs(struct decode *d, const struct bmp *b, struct rows *rows)
{
    struct cursor c = cursor_of(b->pixels);
    struct runs s = {b, rows, d, 0};
    bool is_more = true;

    memset(rows->pixel, 0xff, (size_t)b->width * 4);
    while (is_more) {
        const unsigned n = cursor_u8(&c);
        const unsigned v = cursor_u8(&c);
        if (!cursor_ok(&c)) {
            break;
        }
        for (unsigned i = 0; i < n; i++) {
            put_index(&s, b->bits == 8 ? v : i % 2 == 0 ? v >> 4 : v & 15);
        }
        if (n == 0) {
            is_more = take_escape(&s, &c, v);
        }
    }
}

void bmp_decode(struct decode *d, struct slice bytes)
{
    struct bmp b = {0};
    struct rows rows = {0};

    if (!read_bmp_head(&b, bytes) || !rows_init(&rows, b.width, b.height, d)) {
        d->is_damaged = true;
    } else {
        if (b.compression == BMP_RUNS8 || b.compression == BMP_RUNS4) {
            read_runs(d, &b, &rows);
        } else {
            read_bmp_rows(d, &b, &rows);
        }
        if (!b.is_top_first) {
            turn_over(&rows.raster);
        }
        rows_give(&rows, d);
    }
    rows_fini(&rows);
}

/* The next number of the head, after white space and comments. */
static uint32_t take_pgm_number(struct slice *s)
{
    uint32_t n = 0;

    while (s->n > 0 && (*s->p < '0' || *s->p > '9')) {
        if (*s->p == '#') {
            (void)slice_cut(s, '\n');
        } else {
            *s = slice_from(*s, 1);
        }
    }
    while (s->n > 0 && *s->p >= '0' && *s->p <= '9') {
        n = n < UINT32_MAX / 10 - 1 ? n * 10 + (uint32_t)(*s->p - '0')
                                    : UINT32_MAX / 10;
        *s = slice_from(*s, 1);
    }
    return n;
}

void pgm_decode(struct decode *d, struct slice bytes)
{
    struct slice rest = slice_from(bytes, 2);
    struct rows rows = {0};
    const uint32_t width = take_pgm_number(&rest);
    const uint32_t height = take_pgm_number(&rest);
    const uint32_t most = take_pgm_number(&rest);
    const size_t each = most > 255 ? 2 : 1;

    rest = slice_from(rest, 1);
    if (most == 0 || most > PGM_SAMPLE_MOST || rest.n < width ||
        !rows_init(&rows, width, height, d)) {
        d->is_damaged = true;
    }
    while (rows.pixel != NULL && rest.n / each >= width) {
        for (size_t x = 0; x < width; x++) {
            uint32_t v = (unsigned char)rest.p[x * each];
            v = each == 2 ? v << 8 | (unsigned char)rest.p[x * each + 1] : v;
            memset(rows.pixel + x * 4, (int)(v < most ? v * 255 / most : 255), 3);
            rows.pixel[x * 4 + 3] = 255;
        }
        rest = slice_from(rest, width * each);
        if (!rows_take(&rows, d)) {
            break;
        }
    }
    rows_give(&rows, d);
    rows_fini(&rows);
}
