#include "core/reader/picture/raster.h"

#include "core/reader/picture/ocr.h"

bool raster_init(struct raster *r, uint32_t width, uint32_t height, uint64_t pixels)
{
    *r = (struct raster){.width = width, .height = height};
    if (width == 0 || height == 0 || (uint64_t)width * height > pixels ||
        (uint64_t)width * height > SIZE_MAX / 4) {
        return false;
    }
    r->p = malloc((size_t)width * height * 4);
    if (r->p != NULL) {
        memset(r->p, 0xff, (size_t)width * height * 4);
    }
    return r->p != NULL;
}

void raster_fini(struct raster *r)
{
    free(r->p);
    *r = (struct raster){.p = NULL};
}

void raster_look(const struct raster *r, bool is_page, struct found *f)
{
    if (raster_codes(r, f) && !is_page && raster_keys(r, f)) {
        (void)ocr_text(r, f); /* the text of a page is known */
    }
}
