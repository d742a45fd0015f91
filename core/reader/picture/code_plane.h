/*
 * code_plane - one grey picture, in which codes are sought, and how it is made from colours.
 *
 * A plane has a border of PLANE_BORDER light pixels, because a code without a quiet zone is not
 * found.
 * Threads: one object, one thread.   Allocates: the pixels.   Depends: base.
 */
#ifndef CORE_READER_PICTURE_CODE_PLANE_H
#define CORE_READER_PICTURE_CODE_PLANE_H

#include "core/reader/picture/raster.h"

enum { PLANE_BORDER = 16 };

struct plane {
    uint8_t *p;
    uint32_t width; /* with the borders */
    uint32_t height;
};

enum plane_kind {
    PLANE_LIGHT,      /* lightness, where it shines through on white */
    PLANE_BLACK,      /* lightness, on black */
    PLANE_RED_GREEN,  /* what two colours of equal lightness differ in */
    PLANE_BLUE_YELLOW /* likewise */
};

/* A part of a picture. */
struct crop {
    uint32_t left;
    uint32_t top;
    uint32_t width;
    uint32_t height;
};

/* The picture without a frame of one dark colour, which hides a code that touches it. False: it has
 * none. */
bool plane_trim(struct crop *ret, const struct raster *r);

/* Functions that make a plane return false without memory; *ret has nothing to free then. */
bool plane_init(struct plane *ret, uint32_t width, uint32_t height);
void plane_fini(struct plane *p);
bool plane_of_raster(struct plane *ret, const struct raster *r, const struct crop *crop,
                     enum plane_kind kind);
/* Each pixel is the mean of by x by pixels. */
bool plane_shrink(struct plane *ret, const struct plane *from, uint32_t by);
/* Each pixel becomes by x by pixels, with even steps between them. */
bool plane_grow(struct plane *ret, const struct plane *from, uint32_t by);
/* Black and white by the mean of the pixels around: what is darker by `least` is black. */
bool plane_threshold(struct plane *ret, const struct plane *from, uint32_t around,
                     unsigned least);
/* Each pixel becomes a mean of the 3 by 3 around it, with weights 1, 2, 1 in both directions. */
bool plane_blur(struct plane *ret, const struct plane *from);
void plane_invert(struct plane *p);

#endif
