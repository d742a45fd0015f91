/* png - PNG by libpng, row by row. */

#include <png.h>
#include <setjmp.h>

#include "core/reader/picture/rows.h"

struct png {
    struct decode *d;
    struct slice rest;
    png_structp png;
    png_infop info;
    struct rows rows;
    jmp_buf fault;
};

static void on_error(png_structp png, png_const_charp text)
{
    struct png *p = png_get_error_ptr(png);

    (void)text;
    p->d->is_damaged = true;
    longjmp(p->fault, 1); /* libpng has no other way back */
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void on_png_read(png_structp png, png_bytep to, size_t n)
{
    struct png *p = png_get_io_ptr(png);

    if (n > p->rest.n) {
        png_error(png, "end of file");
    }
    memcpy(to, p->rest.p, n);
    p->rest = slice_from(p->rest, n);
}

/* Any kind of pixel becomes four bytes. */
static void set_transforms(struct png *p)
{
    png_set_expand(p->png);
    png_set_scale_16(p->png);
    png_set_gray_to_rgb(p->png);
    png_set_add_alpha(p->png, 0xff, PNG_FILLER_AFTER);
    png_set_crc_action(p->png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
}

static void read_png_rows(struct png *p)
{
    png_read_update_info(p->png, p->info);
    do {
        png_read_row(p->png, p->rows.pixel, NULL);
    } while (rows_take(&p->rows, p->d));
}

/* An interlaced picture within the limit: passes write into the whole raster. */
static void read_passes(struct png *p)
{
    const int npasses = png_set_interlace_handling(p->png);
    const size_t stride = (size_t)p->rows.width * 4;

    png_read_update_info(p->png, p->info);
    p->rows.y = p->rows.height; /* what later passes lack, the first ones have filled */
    for (int pass = 0; pass < npasses; pass++) {
        for (uint32_t y = 0; y < p->rows.height; y++) {
            png_read_row(p->png, NULL, p->rows.raster.p + y * stride);
        }
    }
}

/* An interlaced picture above the limit: its first passes are it in an eighth, a quarter or half of
 * its size, and enough. */
static void read_first_passes(struct png *p)
{
    static const struct {
        uint32_t left;
        uint32_t right; /* step */
        uint32_t top;
        uint32_t down; /* step */
    } passes[] = {{0, 8, 0, 8}, {4, 8, 0, 8}, {0, 4, 4, 8}, {2, 4, 0, 4}, {0, 2, 2, 4}};
    const struct raster *to = &p->rows.raster;
    const uint32_t scale = p->rows.scale;
    const size_t npasses = scale > 4 ? 1 : scale > 2 ? 3 : 5;

    png_read_update_info(p->png, p->info);
    p->rows.y = p->rows.height;
    for (size_t i = 0; i < npasses; i++) {
        const uint32_t left = passes[i].left;
        for (uint32_t y = passes[i].top; left < p->rows.width && y < p->rows.height;
             y += passes[i].down) {
            uint8_t *row = to->p + (size_t)(y / scale) * to->width * 4;
            const uint8_t *from = p->rows.pixel;
            png_read_row(p->png, p->rows.pixel, NULL);
            for (uint32_t x = left; x < p->rows.width;
                 x += passes[i].right, from += 4) {
                memcpy(row + (size_t)(x / scale) * 4, from, 4);
            }
        }
    }
}

static void read_picture(struct png *p)
{
    if (setjmp(p->fault) != 0) { /* NOLINT(cert-err52-cpp): as above */
        return;
    }
    png_set_read_fn(p->png, p, on_png_read);
    png_read_info(p->png, p->info);
    set_transforms(p);
    if (!rows_init(&p->rows, png_get_image_width(p->png, p->info),
                   png_get_image_height(p->png, p->info), p->d)) {
        p->d->is_damaged = true;
    } else if (png_get_interlace_type(p->png, p->info) == PNG_INTERLACE_NONE) {
        read_png_rows(p);
    } else if (p->rows.scale == 1) {
        read_passes(p);
    } else {
        read_first_passes(p);
    }
}

void png_decode(struct decode *d, struct slice bytes)
{
    struct png p = {.d = d, .rest = bytes};

    p.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &p, on_error, on_warning);
    p.info = p.png != NULL ? png_create_info_struct(p.png) : NULL;
    if (p.info != NULL) {
        read_picture(&p);
        rows_give(&p.rows, d);
    }
    png_destroy_read_struct(&p.png, &p.info, NULL);
    rows_fini(&p.rows);
}
