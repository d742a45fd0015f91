/*
 * decode - the formats of pictures: one function each, from bytes to rasters.
 *
 * A picture with more pixels than the limit is read at a reduced size. What was decoded before a
 * damage is given out. No decoder writes, opens or starts anything.
 *
 * Files in reading order: decode, rows (averages the rows of a large picture), png, jpeg, webp,
 * gif, heif, bmp (and pgm).
 * Threads: one object, one thread.   Allocates: rasters.   Depends: base, wire.
 */
#ifndef CORE_READER_PICTURE_DECODE_H
#define CORE_READER_PICTURE_DECODE_H

#include "core/reader/picture/raster.h"

enum {
    DECODE_SOURCE_FACTOR =
        16, /* a picture of more than limit times this is not read to its end */
    DECODE_FRAMES = 8 /* of an animation; and its last one */
};

/* Takes one picture or one composed frame of an animation; borrowed. False: no more frames. */
typedef bool decode_frame_fn(void *context, const struct raster *r);

struct decode {
    uint64_t pixels; /* limit, above 0 */
    decode_frame_fn *frame;
    void *context;
    bool is_shrunk;  /* result: at reduced size, or not to its end */
    bool is_damaged; /* result */
};

/* Reads bytes by their first ones. False: none of the formats. */
bool decode_picture(struct decode *d, struct slice bytes);

typedef void decode_fn(struct decode *d, struct slice bytes);
decode_fn png_decode;
decode_fn jpeg_decode;
decode_fn webp_decode;
decode_fn gif_decode;
decode_fn heif_decode;
decode_fn bmp_decode;
decode_fn pgm_decode;

#endif
