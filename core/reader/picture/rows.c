#include "core/reader/picture/rows.h"

uint32_t rows_scale(uint64_t width, uint64_t height, uint64_t pixels)
{
    uint32_t scale = 1;

    while ((width + scale - 1) / scale * ((height + scale - 1) / scale) > pixels &&
           scale < UINT16_MAX) {
        scale++;
    }
    return scale;
}

bool rows_init(struct rows *r, uint32_t width, uint32_t height, struct decode *d)
{
    *r = (struct rows){.width = width, .height = height};
    if (width == 0 || height == 0 || width > ROWS_SIDE_MOST ||
        height > ROWS_SIDE_MOST) {
        return false;
    }
    r->scale = rows_scale(width, height, d->pixels);
    d->is_shrunk = d->is_shrunk || r->scale > 1;
    if (!raster_init(&r->raster, (width - 1) / r->scale + 1,
                     (height - 1) / r->scale + 1, d->pixels)) {
        return false;
    }
    r->pixel = calloc(width, 4);
    r->sum = calloc(r->raster.width, 4 * sizeof(*r->sum));
    return r->pixel != NULL && r->sum != NULL;
}

void rows_fini(struct rows *r)
{
    raster_fini(&r->raster);
    free(r->sum);
    free(r->pixel);
    *r = (struct rows){.width = 0};
}

/* Adds the row to the sums. */
static void sum_row(struct rows *r)
{
    const uint8_t *p = r->pixel;
    uint32_t n = 0;
    uint64_t *sum = r->sum;

    for (uint32_t x = 0; x < r->width; x++, p += 4) {
        sum[0] += (uint64_t)p[0] * p[3];
        sum[1] += (uint64_t)p[1] * p[3];
        sum[2] += (uint64_t)p[2] * p[3];
        sum[3] += p[3];
        if (++n == r->scale) {
            n = 0;
            sum += 4;
        }
    }
}

/* Writes the means of nrows rows. */
static void write_means(struct rows *r, uint32_t nrows)
{
    const size_t width = r->raster.width;
    uint8_t *to = r->raster.p + (r->y / r->scale) * width * 4;

    for (size_t x = 0; x < width; x++, to += 4) {
        const uint64_t *sum = r->sum + x * 4;
        const uint64_t columns =
            x + 1 < width ? r->scale : r->width - (width - 1) * r->scale;
        const uint64_t n = columns * nrows;
        const uint64_t opacity = sum[3] > 0 ? sum[3] : 1;
        for (int i = 0; i < 3; i++) {
            to[i] = (uint8_t)(sum[i] / opacity);
        }
        to[3] = (uint8_t)(n > 0 ? sum[3] / n : 0);
    }
    memset(r->sum, 0, width * 4 * sizeof(*r->sum));
}

bool rows_take(struct rows *r, struct decode *d)
{
    if (r->y >= r->height || r->scale == 0) {
        return false;
    }
    if (r->scale == 1) {
        memcpy(r->raster.p + (size_t)r->y * r->width * 4, r->pixel,
               (size_t)r->width * 4);
    } else {
        sum_row(r);
        if (r->y % r->scale == r->scale - 1 || r->y == r->height - 1) {
            write_means(r, r->y % r->scale + 1);
        }
    }
    r->y++;
    if ((uint64_t)r->y * r->width / DECODE_SOURCE_FACTOR > d->pixels) {
        d->is_shrunk = true;
        return false;
    }
    return r->y < r->height;
}

void rows_give(const struct rows *r, struct decode *d)
{
    d->is_damaged = d->is_damaged || (r->y < r->height && !d->is_shrunk);
    if (r->y > 0) {
        (void)d->frame(d->context, &r->raster);
    }
}
