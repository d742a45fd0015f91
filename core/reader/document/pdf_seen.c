#include <math.h>

#include "core/reader/document/pdf_parts.h"

enum {
    CHANNELS = 3,
    SAME_MAX = 24,     /* steps of 255 that no eye tells apart on a page */
    ODD_PER_CENT = 2,  /* pixels of a box that neighbours may have painted */
    EDGE_PER_CENT = 15 /* of a box's height: ink of the lines above and below */
};

struct box {
    uint32_t left;
    uint32_t right; /* behind the last one */
    uint32_t top;
    uint32_t bottom;
};

static uint32_t clamp(double x, uint32_t most)
{
    return x <= 0 || isnan(x) ? 0 : x >= most ? most : (uint32_t)x;
}

static struct box box_of(const struct pdf_seen *s, const PopplerRectangle *r)
{
    const double top = r->y1 < r->y2 ? r->y1 : r->y2;
    const double bottom = r->y1 < r->y2 ? r->y2 : r->y1;
    const double edge = (bottom - top) * EDGE_PER_CENT / 100;

    return (struct box){.left = clamp(floor(r->x1 * s->scale), s->drawn->width),
                        .right = clamp(ceil(r->x2 * s->scale), s->drawn->width),
                        .top = clamp((top + edge) * s->scale, s->drawn->height),
                        .bottom =
                            clamp(ceil((bottom - edge) * s->scale), s->drawn->height)};
}

static bool is_near(const uint8_t *a, const uint8_t *b)
{
    for (size_t i = 0; i < CHANNELS; i++) {
        if (abs(a[i] - b[i]) > SAME_MAX) {
            return false;
        }
    }
    return true;
}

/* Whether nearly all pixels of the box have that colour. */
static bool is_of_colour(const struct raster *r, const struct box *b,
                         const uint8_t *colour)
{
    const uint64_t all = (uint64_t)(b->right - b->left) * (b->bottom - b->top);
    uint64_t odd = 0;

    for (uint32_t y = b->top; y < b->bottom; y++) {
        const uint8_t *row = r->p + ((size_t)y * r->width + b->left) * 4;
        for (uint32_t x = b->left; x < b->right; x++, row += 4) {
            odd += is_near(row, colour) ? 0 : 1;
        }
        if (odd * 100 > all * ODD_PER_CENT) {
            return false;
        }
    }
    return true;
}

bool pdf_is_seen(struct pdf_seen *s, const PopplerRectangle *box,
                 const PopplerColor *ink)
{
    const struct box b = box_of(s, box);
    const uint8_t colour[CHANNELS] = {(uint8_t)(ink->red >> 8),
                                      (uint8_t)(ink->green >> 8),
                                      (uint8_t)(ink->blue >> 8)};

    if (b.left >= b.right || b.top >= b.bottom) {
        return false; /* outside of the page */
    }
    const uint64_t n = 2 * (uint64_t)(b.right - b.left) * (b.bottom - b.top);
    if (n > s->left) {
        return true;
    }
    s->left -= n;
    const uint8_t *corner =
        s->drawn->p + ((size_t)b.top * s->drawn->width + b.left) * 4;
    return !is_of_colour(s->drawn, &b, colour) &&
           !(s->may_be_unpainted && is_of_colour(s->drawn, &b, corner));
}
