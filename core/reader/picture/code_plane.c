#include "core/reader/picture/code_plane.h"

enum {
    FRAME_DIFFERENCE = 24, /* of the pixels of a frame, after JPEG */
    FRAME_LIGHT = 160      /* a frame that is as light as this hides no code */
};

/* The pixels around one, whose mean is its threshold. */
struct area {
    uint32_t width; /* of the plane, without the borders */
    uint32_t around;
    uint32_t nrows;
    unsigned least;
};

static size_t at(const struct plane *p, uint32_t x, uint32_t y)
{
    return (size_t)y * p->width + x;
}

/* Makes the border light. */
static void draw_border(struct plane *p)
{
    for (uint32_t y = 0; y < p->height; y++) {
        if (y < PLANE_BORDER || y >= p->height - PLANE_BORDER) {
            memset(p->p + at(p, 0, y), 0xff, p->width);
        } else {
            memset(p->p + at(p, 0, y), 0xff, PLANE_BORDER);
            memset(p->p + at(p, p->width - PLANE_BORDER, y), 0xff, PLANE_BORDER);
        }
    }
}

bool plane_init(struct plane *ret, uint32_t width, uint32_t height)
{
    ret->width = width + 2 * PLANE_BORDER;
    ret->height = height + 2 * PLANE_BORDER;
    ret->p = malloc((size_t)ret->width * ret->height);
    if (ret->p != NULL) {
        draw_border(ret);
    }
    return ret->p != NULL;
}

void plane_fini(struct plane *p)
{
    free(p->p);
    p->p = NULL;
}

static uint8_t within(int v)
{
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

static uint8_t grey_of(const uint8_t *p, enum plane_kind kind)
{
    const int opacity = p[3];
    const int light = (306 * p[0] + 601 * p[1] + 117 * p[2]) >> 10;

    switch (kind) {
    case PLANE_LIGHT:
        break;
    case PLANE_BLACK:
        return (uint8_t)(light * opacity / 255);
    case PLANE_RED_GREEN:
        return within(128 + (p[0] - p[1]) * opacity / 255);
    case PLANE_BLUE_YELLOW:
        return within(128 + (p[2] - (p[0] + p[1]) / 2) * opacity / 255);
    }
    return (uint8_t)(255 - (255 - light) * opacity / 255);
}

/* Both pixels look alike, or nothing is seen of them. */
static bool are_alike(const uint8_t *a, const uint8_t *b)
{
    for (int i = 0; i < 4; i++) {
        if (abs(a[i] - b[i]) > FRAME_DIFFERENCE) {
            return a[3] == 0 && b[3] == 0;
        }
    }
    return true;
}

/* All pixels from p on look like the first one of the picture. */
static bool is_frame(const struct raster *r, uint32_t x, uint32_t y, size_t step,
                     uint32_t n)
{
    const uint8_t *p = r->p + ((size_t)y * r->width + x) * 4;

    for (; n > 0; n--, p += step * 4) {
        if (!are_alike(p, r->p)) {
            return false;
        }
    }
    return true;
}

bool plane_trim(struct crop *ret, const struct raster *r)
{
    struct crop c = {0, 0, r->width, r->height};

    if (grey_of(r->p, PLANE_LIGHT) >= FRAME_LIGHT) {
        return false;
    }
    while (c.height > 0 && is_frame(r, 0, c.top, 1, r->width)) {
        c.top++;
        c.height--;
    }
    while (c.height > 0 && is_frame(r, 0, c.top + c.height - 1, 1, r->width)) {
        c.height--;
    }
    while (c.width > 0 && is_frame(r, c.left, c.top, r->width, c.height)) {
        c.left++;
        c.width--;
    }
    while (c.width > 0 &&
           is_frame(r, c.left + c.width - 1, c.top, r->width, c.height)) {
        c.width--;
    }
    *ret = c;
    return c.width > 0 && c.height > 0 && (c.width < r->width || c.height < r->height);
}

bool plane_of_raster(struct plane *ret, const struct raster *r, const struct crop *crop,
                     enum plane_kind kind)
{
    if (!plane_init(ret, crop->width, crop->height)) {
        return false;
    }
    for (uint32_t y = 0; y < crop->height; y++) {
        const uint8_t *from =
            r->p + ((size_t)(crop->top + y) * r->width + crop->left) * 4;
        uint8_t *to = ret->p + at(ret, PLANE_BORDER, y + PLANE_BORDER);
        for (uint32_t x = 0; x < crop->width; x++, from += 4) {
            to[x] = grey_of(from, kind);
        }
    }
    return true;
}

/* The mean of by x by pixels. */
static uint8_t mean_of(const uint8_t *p, size_t stride, uint32_t by)
{
    unsigned sum = 0;

    for (uint32_t v = 0; v < by; v++, p += stride) {
        for (uint32_t u = 0; u < by; u++) {
            sum += p[u];
        }
    }
    return (uint8_t)(sum / (by * by));
}

bool plane_shrink(struct plane *ret, const struct plane *from, uint32_t by)
{
    const uint32_t width = (from->width - 2 * PLANE_BORDER) / by;
    const uint32_t height = (from->height - 2 * PLANE_BORDER) / by;

    if (!plane_init(ret, width, height)) {
        return false;
    }
    for (uint32_t y = 0; y < height; y++) {
        const uint8_t *p = from->p + at(from, PLANE_BORDER, y * by + PLANE_BORDER);
        uint8_t *to = ret->p + at(ret, PLANE_BORDER, y + PLANE_BORDER);
        for (uint32_t x = 0; x < width; x++, p += by) {
            to[x] = mean_of(p, from->width, by);
        }
    }
    return true;
}

bool plane_grow(struct plane *ret, const struct plane *from, uint32_t by)
{
    const uint32_t width = (from->width - 2 * PLANE_BORDER) * by;
    const uint32_t height = (from->height - 2 * PLANE_BORDER) * by;

    if (!plane_init(ret, width, height)) {
        return false;
    }
    for (uint32_t y = 0; y < height; y++) {
        const uint32_t v = (2 * y + 1 + (2 * PLANE_BORDER - 1) * by) / 2;
        uint8_t *to = ret->p + at(ret, PLANE_BORDER, y + PLANE_BORDER);
        for (uint32_t x = 0; x < width; x++) {
            const uint32_t u = (2 * x + 1 + (2 * PLANE_BORDER - 1) * by) / 2;
            const uint8_t *p = from->p + at(from, u / by, v / by);
            const uint32_t right = u % by;
            const uint32_t down = v % by;
            const uint32_t top = p[0] * (by - right) + p[1] * right;
            const uint32_t bottom =
                p[from->width] * (by - right) + p[from->width + 1] * right;
            to[x] = (uint8_t)((top * (by - down) + bottom * down) / (by * by));
        }
    }
    return true;
}

/* Writes one row. column: sums of nrows pixels around the row, for each of its width pixels. */
static void threshold_row(uint8_t *to, const uint8_t *row, const uint32_t *column,
                          const struct area *a)
{
    uint64_t sum = 0;
    uint32_t ncolumns = 0;

    for (uint32_t x = 0; x < a->width + a->around; x++) {
        sum += x < a->width ? column[x] : 0;
        sum -= x > 2 * a->around ? column[x - 2 * a->around - 1] : 0;
        ncolumns = ncolumns + (x < a->width) - (x > 2 * a->around);
        if (x >= a->around) {
            const uint64_t n = (uint64_t)ncolumns * a->nrows;
            to[x - a->around] = (row[x - a->around] + a->least) * n < sum ? 0 : 255;
        }
    }
}

bool plane_threshold(struct plane *ret, const struct plane *from, uint32_t around,
                     unsigned least)
{
    struct area a = {from->width - 2 * PLANE_BORDER, around, 0, least};
    const uint32_t height = from->height - 2 * PLANE_BORDER;
    uint32_t *column = calloc(a.width, sizeof(*column));

    if (column == NULL || !plane_init(ret, a.width, height)) {
        free(column);
        return false;
    }
    const uint8_t *start = from->p + at(from, PLANE_BORDER, PLANE_BORDER);
    for (uint32_t y = 0; y < height + around; y++) {
        for (uint32_t x = 0; y < height && x < a.width; x++) {
            column[x] += start[(size_t)y * from->width + x];
        }
        for (uint32_t x = 0; y > 2 * around && x < a.width; x++) {
            column[x] -= start[(size_t)(y - 2 * around - 1) * from->width + x];
        }
        a.nrows = a.nrows + (y < height) - (y > 2 * around);
        if (y >= around) {
            threshold_row(ret->p + at(ret, PLANE_BORDER, y - around + PLANE_BORDER),
                          start + (size_t)(y - around) * from->width, column, &a);
        }
    }
    free(column);
    return true;
}

bool plane_blur(struct plane *ret, const struct plane *from)
{
    const uint32_t width = from->width - 2 * PLANE_BORDER;
    const uint32_t height = from->height - 2 * PLANE_BORDER;

    if (!plane_init(ret, width, height)) {
        return false;
    }
    for (uint32_t y = PLANE_BORDER; y < height + PLANE_BORDER; y++) {
        const uint8_t *row = from->p + at(from, 0, y);
        uint8_t *to = ret->p + at(ret, 0, y);
        for (uint32_t x = PLANE_BORDER; x < width + PLANE_BORDER; x++) {
            const uint8_t *above = row + x - from->width;
            const uint8_t *below = row + x + from->width;
            const int corners = above[-1] + above[1] + below[-1] + below[1];
            const int sides = above[0] + below[0] + row[x - 1] + row[x + 1];
            to[x] = (uint8_t)((corners + 2 * sides + 4 * row[x] + 8) / 16);
        }
    }
    return true;
}

void plane_invert(struct plane *p)
{
    const size_t n = (size_t)p->width * p->height;

    for (size_t i = 0; i < n; i++) {
        p->p[i] = (uint8_t)(255 - p->p[i]);
    }
    draw_border(p);
}
