/*
 * code_search - where codes are sought in a picture, and in several pictures together.
 *
 * Files in reading order: code_search, code_plane (grey pictures), code_zxing (the library),
 * code_region and code_aztec (codes that the library does not find), code_together.
 * Threads: pure.   Allocates: planes, freed at return.   Depends: base, wire.
 */
#ifndef CORE_READER_PICTURE_CODE_SEARCH_H
#define CORE_READER_PICTURE_CODE_SEARCH_H

#include "core/reader/picture/code_zxing.h"
#include "core/reader/picture/raster.h"

enum {
    CODE_PARTS_MOST = 4,    /* pictures that may be parts of one code */
    CODE_PICTURES_MOST = 16 /* pictures among which they are sought */
};

/* Hands each code of the picture to on_code, once. False: on_code wants no more. */
bool code_search(const struct raster *r, code_found_fn *on_code, void *context);
/* Codes that are cut over pictures of two colours, which stand one behind the other among those of
 * n pictures, and are whole in none of them. Pictures that fit together come first: the time may
 * not last for all. */
void code_together(const struct raster *r, size_t n, struct found *f);
/* A code_found_fn: writes the code to a struct found. */
bool code_report(void *found, enum code_kind kind, const char *payload,
                 size_t npayload);

#endif
