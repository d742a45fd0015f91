/*
 * code_aztec - where Aztec codes may stand, by the rings in their middle.
 *
 * ZXing 1.4 reads an Aztec code in the middle of a picture, turned by a few degrees at most. So the
 * rings are sought here, and the code is cut out and turned upright.
 * Threads: one object, one thread.   Allocates: the planes.   Depends: code_plane.
 */
#ifndef CORE_READER_PICTURE_CODE_AZTEC_H
#define CORE_READER_PICTURE_CODE_AZTEC_H

#include "core/reader/picture/code_plane.h"

enum { AZTEC_RINGS_MOST = 8 }; /* places of a plane that are tried */

struct aztec_ring {
    double turn;   /* of the code, in radians */
    double module; /* pixels */
    uint32_t x;
    uint32_t y;
    uint32_t run;  /* pixels of seven modules, along the row */
    bool is_light; /* the middle is light: the code is inverted */
};

/* Finds rings in a plane of black and white. Returns how many. */
size_t aztec_find(const struct plane *p, struct aztec_ring ret[AZTEC_RINGS_MOST]);
/* Cuts the code around the ring out of a plane, upright. */
bool aztec_cut(struct plane *ret, const struct plane *from,
               const struct aztec_ring *ring);

#endif
