/*
 * code_region - parts of a picture that stand alone, in which a code may be.
 *
 * ZXing 1.4 reads one Data Matrix of a picture, and only in its middle. So parts with a quiet zone
 * around them are cut out and read one by one.
 * Threads: pure.   Allocates: a byte for each block, freed at return.   Depends: code_plane.
 */
#ifndef CORE_READER_PICTURE_CODE_REGION_H
#define CORE_READER_PICTURE_CODE_REGION_H

#include "core/reader/picture/code_plane.h"

enum { REGIONS_MOST = 24 };

struct region {
    uint32_t left;
    uint32_t top;
    uint32_t width;
    uint32_t height;
};

/* Finds the largest parts of a plane of black and white, with a margin. Returns how many. */
size_t region_find(const struct plane *p, struct region ret[REGIONS_MOST]);

#endif
