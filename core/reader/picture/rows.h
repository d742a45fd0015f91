/*
 * rows - the rows of a picture as they are decoded, averaged to a raster within the limit.
 *
 * Threads: one object, one thread.   Allocates: the raster, sums of one row.
 */
#ifndef CORE_READER_PICTURE_ROWS_H
#define CORE_READER_PICTURE_ROWS_H

#include "core/reader/picture/decode.h"

enum { ROWS_SIDE_MOST = 1 << 17 }; /* pixels of a side; JPEG and GIF end at 65535 */

struct rows {
    struct raster raster; /* white where no row came */
    uint32_t scale;       /* pixels of the source in one of the raster, per side */
    uint32_t width;       /* of the source */
    uint32_t height;
    uint32_t y;    /* next row of the source */
    uint64_t *sum; /* of a row of the raster: red, green, blue times opacity, opacity */
    uint8_t *pixel; /* a row of the source, for the decoder to write */
};

/* The least scale by which a picture is within the limit. */
uint32_t rows_scale(uint64_t width, uint64_t height, uint64_t pixels);
/* Notes in d when the picture is shrunk. False: no memory, no pixel, or a side is too long. */
bool rows_init(struct rows *r, uint32_t width, uint32_t height, struct decode *d);
void rows_fini(struct rows *r);
/* Takes r->pixel as the next row. False: no more rows are wanted. */
bool rows_take(struct rows *r, struct decode *d);
/* Gives out the raster, if a row came. */
void rows_give(const struct rows *r, struct decode *d);

#endif
