/* gif - GIF by giflib: the frames, composed as a viewer shows them. */

#include <gif_lib.h>

#include "core/reader/picture/rows.h"

enum { GIF_LINE_MOST = 65535, GIF_CLEAR_BEFORE_NEXT = 2 };

struct gif {
    struct decode *d;
    struct slice rest;
    GifFileType *file;
    struct raster canvas;
    uint32_t scale;
    GraphicsControlBlock control; /* of the next frame */
    uint64_t done;                /* pixels */
    unsigned nframes;
    bool is_given; /* the canvas is as it was given out */
    GifPixelType line[GIF_LINE_MOST];
};

static int on_gif_read(GifFileType *file, GifByteType *to, int n)
{
    struct gif *g = file->UserData;
    const struct slice head = slice_head(g->rest, n > 0 ? (size_t)n : 0);

    if (head.n > 0) {
        memcpy(to, head.p, head.n);
    }
    g->rest = slice_from(g->rest, head.n);
    return (int)head.n;
}

/* Draws a line of the frame. A canvas at reduced size takes one point of each cell. */
static void draw_line(struct gif *g, const ColorMapObject *map, uint32_t y)
{
    const GifImageDesc *frame = &g->file->Image;

    y += (uint32_t)frame->Top;
    if (y % g->scale != 0 || y / g->scale >= g->canvas.height) {
        return;
    }
    uint8_t *row = g->canvas.p + (size_t)(y / g->scale) * g->canvas.width * 4;
    for (uint32_t i = 0; i < (uint32_t)frame->Width; i++) {
        const uint32_t x = i + (uint32_t)frame->Left;
        if (x % g->scale != 0 || x / g->scale >= g->canvas.width ||
            g->line[i] == g->control.TransparentColor ||
            g->line[i] >= map->ColorCount) {
            continue;
        }
        const GifColorType *colour = &map->Colors[g->line[i]];
        uint8_t *p = row + (size_t)(x / g->scale) * 4;
        p[0] = colour->Red;
        p[1] = colour->Green;
        p[2] = colour->Blue;
        p[3] = 255;
    }
}

/* False: it ends here. */
static bool draw_frame(struct gif *g)
{
    static const uint32_t first[] = {0, 4, 2, 1};
    static const uint32_t step[] = {8, 8, 4, 2};
    const GifImageDesc *frame = &g->file->Image;
    const ColorMapObject *map =
        frame->ColorMap != NULL ? frame->ColorMap : g->file->SColorMap;
    const uint32_t height = (uint32_t)frame->Height;

    if (map == NULL || frame->Width <= 0 || frame->Width > GIF_LINE_MOST ||
        frame->Height <= 0 || frame->Left < 0 || frame->Top < 0) {
        return false;
    }
    for (unsigned pass = 0; pass < (frame->Interlace ? LENGTH(step) : 1); pass++) {
        const uint32_t by = frame->Interlace ? step[pass] : 1;
        for (uint32_t y = frame->Interlace ? first[pass] : 0; y < height; y += by) {
            if (DGifGetLine(g->file, g->line, frame->Width) != GIF_OK) {
                return false;
            }
            g->is_given = false;
            draw_line(g, map, y);
        }
    }
    g->done += (uint64_t)frame->Width * height;
    return true;
}

/* The frame is no longer shown when the next one comes. */
static void clear_frame(struct gif *g)
{
    const GifImageDesc *frame = &g->file->Image;

    memset(g->line, 0, (size_t)frame->Width);
    for (uint32_t y = 0; y < (uint32_t)frame->Height; y++) {
        const uint32_t line = (y + (uint32_t)frame->Top) / g->scale;
        const uint32_t left = (uint32_t)frame->Left / g->scale;
        const uint32_t right =
            ((uint32_t)frame->Left + (uint32_t)frame->Width) / g->scale;
        for (uint32_t x = left;
             x < right && x < g->canvas.width && line < g->canvas.height; x++) {
            memset(g->canvas.p + ((size_t)line * g->canvas.width + x) * 4, 0, 4);
        }
    }
}

static bool give_canvas(struct gif *g)
{
    g->is_given = true;
    return g->d->frame(g->d->context, &g->canvas);
}

/* False: no frame follows, or none that is wanted. */
static bool read_frame(struct gif *g)
{
    bool is_more = true;

    if (DGifGetImageDesc(g->file) != GIF_OK) {
        g->d->is_damaged = true;
        return false;
    }
    if (!draw_frame(g)) {
        g->d->is_damaged = true;
        return false;
    }
    if (g->nframes++ < DECODE_FRAMES) {
        is_more = give_canvas(g);
    }
    if (g->done / DECODE_SOURCE_FACTOR > g->d->pixels) {
        g->d->is_shrunk = true;
        return false;
    }
    if (g->control.DisposalMode == GIF_CLEAR_BEFORE_NEXT && g->is_given) {
        clear_frame(g);
    }
    g->control = (GraphicsControlBlock){.TransparentColor = NO_TRANSPARENT_COLOR};
    return is_more;
}

/* False: damaged. */
static bool read_extension(struct gif *g)
{
    GifByteType *block;
    int kind;

    if (DGifGetExtension(g->file, &kind, &block) != GIF_OK) {
        return false;
    }
    if (kind == GRAPHICS_EXT_FUNC_CODE && block != NULL) {
        (void)DGifExtensionToGCB(block[0], block + 1, &g->control);
    }
    while (block != NULL) {
        if (DGifGetExtensionNext(g->file, &block) != GIF_OK) {
            return false;
        }
    }
    return true;
}

static void read_gif_records(struct gif *g)
{
    GifRecordType type = UNDEFINED_RECORD_TYPE;

    while (type != TERMINATE_RECORD_TYPE) {
        if (DGifGetRecordType(g->file, &type) != GIF_OK) {
            g->d->is_damaged = true;
            break;
        }
        if (type == IMAGE_DESC_RECORD_TYPE && !read_frame(g)) {
            break;
        }
        if (type == EXTENSION_RECORD_TYPE && !read_extension(g)) {
            g->d->is_damaged = true;
            break;
        }
    }
    if (!g->is_given) { /* the last frame, or what came of a damaged one */
        (void)give_canvas(g);
    }
}

void gif_decode(struct decode *d, struct slice bytes)
{
    int error;
    struct gif *g = calloc(1, sizeof(*g));

    if (g == NULL) {
        return;
    }
    g->d = d;
    g->rest = bytes;
    g->is_given = true;
    g->control.TransparentColor = NO_TRANSPARENT_COLOR;
    g->file = DGifOpen(g, on_gif_read, &error);
    if (g->file != NULL && g->file->SWidth > 0 && g->file->SHeight > 0) {
        const uint32_t width = (uint32_t)g->file->SWidth;
        const uint32_t height = (uint32_t)g->file->SHeight;
        g->scale = rows_scale(width, height, d->pixels);
        d->is_shrunk = g->scale > 1;
        if (raster_init(&g->canvas, (width - 1) / g->scale + 1,
                        (height - 1) / g->scale + 1, d->pixels)) {
            memset(g->canvas.p, 0, (size_t)g->canvas.width * g->canvas.height * 4);
            read_gif_records(g);
        }
    } else {
        d->is_damaged = true;
    }
    raster_fini(&g->canvas);
    (void)DGifCloseFile(g->file, &error);
    free(g);
}
