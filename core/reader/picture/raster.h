/*
 * raster - a decoded picture: rows of pixels, for codes and looks.
 *
 * Threads: one object, one thread.   Allocates: the pixels.   Depends: base.
 */
#ifndef CORE_READER_PICTURE_RASTER_H
#define CORE_READER_PICTURE_RASTER_H

#include "core/base/std.h"
#include "core/reader/wire/found.h"

/* Four bytes a pixel: red, green, blue, and opacity (255: nothing shines through), row by row
 * without gaps. */
struct raster {
    uint8_t *p;
    uint32_t width;
    uint32_t height;
};

/* Makes a white raster. False: no memory, no pixel, or more than pixels. */
bool raster_init(struct raster *r, uint32_t width, uint32_t height, uint64_t pixels);
void raster_fini(struct raster *r);

/* All that is looked for in a picture: codes and keys of its look (picture_read does this, and the
 * reader of a document with its pages and pictures). is_page: the look of a page is no key. */
void raster_look(const struct raster *r, bool is_page, struct found *f);

/* core/reader/picture/code_search: what codes the picture shows. */
bool raster_codes(const struct raster *r, struct found *f);
/* core/reader/picture/look_keys: keys that near replicas share. Each is "1.d." and 9 hexadecimal
 * digits;
 * there are at most 16, the most telling first. A picture has none when it is smaller than 16
 * pixels, longer than 16 times its width, almost flat, or no more than stripes and plain shapes.
 * The picture is averaged to 80 by 80 cells. A key has a bit for each of the 35 lowest
 * coefficients of the cosine transform of a window of them: the whole picture, or what a crop of a
 * tenth leaves. The two bits that are the least certain are given both ways for the whole picture
 * and for its middle. Integers only: every machine makes the same keys.
 * Source: Zauner, Implementation and Benchmarking of Perceptual Image Hash Functions (2010), DCT
 * hash; Lv et al., Multi-Probe LSH (VLDB 2007), for bits given both ways. Figures: ADR 0097. */
bool raster_keys(const struct raster *r, struct found *f);

#endif
