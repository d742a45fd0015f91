#include <cairo.h>
#include <math.h>

#include "core/reader/document/pdf_parts.h"

enum {
    POINTS_PER_INCH = 72,
    DOTS_PER_INCH = 150,   /* a module of a code of 2 cm is 2 pixels wide or more */
    SIDE_LEAST = 600,      /* pixels of the longer side of a tiny page */
    SCALE_MOST = 16,       /* pixels in a point */
    PIXELS_MOST = 8 << 20, /* of a page; a larger page has fewer in an inch */
    PICTURES_OF_PAGE = 3,  /* whose look is taken: the largest ones */
    FEW_CHARACTERS = 200,  /* of a page that is mostly a picture */
    PAGES_SCANNED = 500,   /* for pictures, to choose pages */
    PIXEL_BYTES = 4
};

/* Copies an image of cairo. False: no memory, or it is no picture of pixels. */
static bool copy_surface(cairo_surface_t *surface, uint64_t pixels, struct raster *ret)
{
    cairo_surface_flush(surface);
    const unsigned char *row = cairo_image_surface_get_data(surface);
    const int width = cairo_image_surface_get_width(surface);
    const int height = cairo_image_surface_get_height(surface);
    const cairo_format_t format = cairo_image_surface_get_format(surface);

    if (row == NULL || width <= 0 || height <= 0 ||
        (format != CAIRO_FORMAT_ARGB32 && format != CAIRO_FORMAT_RGB24) ||
        !raster_init(ret, (uint32_t)width, (uint32_t)height, pixels)) {
        return false;
    }
    uint8_t *to = ret->p;
    for (int y = 0; y < height; y++, row += cairo_image_surface_get_stride(surface)) {
        for (int x = 0; x < width; x++, to += PIXEL_BYTES) {
            uint32_t pixel;
            memcpy(&pixel, row + (size_t)x * PIXEL_BYTES, sizeof(pixel));
            to[0] = (uint8_t)(pixel >> 16);
            to[1] = (uint8_t)(pixel >> 8);
            to[2] = (uint8_t)pixel;
            to[3] = format == CAIRO_FORMAT_RGB24 ? UINT8_MAX : (uint8_t)(pixel >> 24);
        }
    }
    return true;
}

/* Pixels in a point. 0: the page has no size. */
static double scale_of(const struct pdf *p, double width, double height)
{
    const double most =
        (double)(p->job->limits.pixels < PIXELS_MOST ? p->job->limits.pixels
                                                     : PIXELS_MOST);
    const double side = width > height ? width : height;
    double scale = (double)DOTS_PER_INCH / POINTS_PER_INCH;

    if (!(width > 0 && height > 0 && isfinite(width) && isfinite(height))) {
        return 0;
    }
    if (side * scale < SIDE_LEAST) {
        scale = SIDE_LEAST / side < SCALE_MOST ? SIDE_LEAST / side : SCALE_MOST;
    }
    const double bound = sqrt(most / (width * height));
    return scale < bound ? scale : bound;
}

/* Draws a page on white paper. False: it cannot be drawn. */
static bool draw_page(struct pdf *p, PopplerPage *page, struct raster *ret)
{
    double width = 0;
    double height = 0;

    poppler_page_get_size(page, &width, &height);
    const double scale = scale_of(p, width, height);
    const double across = floor(width * scale);
    const double down = floor(height * scale);
    if (!(across >= 1 && down >= 1 && across < INT16_MAX && down < INT16_MAX)) {
        return false;
    }
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)across, (int)down);
    cairo_t *cairo = cairo_create(surface);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_paint(cairo);
    cairo_scale(cairo, scale, scale);
    poppler_page_render(page, cairo);
    cairo_destroy(cairo);
    const bool is_drawn = copy_surface(surface, p->job->limits.pixels, ret);
    cairo_surface_destroy(surface);
    return is_drawn;
}

/* --- pages --- */

/* Draws a page, gives out its text if that waited, and looks for codes. False: enough. */
static bool look_at_page(struct pdf *p, PopplerDocument *document, size_t number,
                         const struct pdf_page *known)
{
    struct raster drawn = {0};
    struct pdf_page again = {0};
    bool is_more = found_flush(p->found);
    PopplerPage *page =
        is_more ? poppler_document_get_page(document, (int)number) : NULL;

    if (page == NULL) {
        return is_more;
    }
    const bool is_drawn = draw_page(p, page, &drawn);
    if (known->is_later) {
        is_more = pdf_text(p, page, is_drawn ? &drawn : NULL, false, &again);
    }
    if (is_more && is_drawn) {
        found_at(p->found, "page %zu", number + 1);
        raster_look(&drawn, true, p->found);
        is_more = found_room(p->found) > 0;
    }
    if (is_drawn) {
        raster_fini(&drawn);
    }
    g_object_unref(page);
    return is_more;
}

/* How likely a page shows a code: a larger number comes first. */
static unsigned promise(const struct pdf_page *page, size_t number, size_t npages)
{
    return (page->has_pictures ? 4U : 0U) + (page->nchars < FEW_CHARACTERS ? 2U : 0U) +
           (number == 0 || number + 1 == npages ? 8U : 0U);
}

enum { PROMISES = 4 + 2 + 8 + 1 };

static bool has_pictures(PopplerDocument *document, size_t number)
{
    PopplerPage *page = poppler_document_get_page(document, (int)number);
    bool is_any = false;

    if (page != NULL) {
        GList *pictures = poppler_page_get_image_mapping(page);
        is_any = pictures != NULL;
        poppler_page_free_image_mapping(pictures);
        g_object_unref(page);
    }
    return is_any;
}

/* --- pictures in pages --- */

static double area_of(const PopplerImageMapping *m)
{
    return fabs((m->area.x2 - m->area.x1) * (m->area.y2 - m->area.y1));
}

static gint larger_first(gconstpointer a, gconstpointer b)
{
    const double x = area_of(a);
    const double y = area_of(b);

    return x < y ? 1 : x > y ? -1 : 0;
}

static void look_at_picture(struct pdf *p, PopplerPage *page, gint id)
{
    cairo_surface_t *surface = poppler_page_get_image(page, id);
    struct raster r = {0};

    if (surface != NULL) {
        if (copy_surface(surface, p->job->limits.pixels, &r)) {
            raster_look(&r, false, p->found);
            raster_fini(&r);
        }
        cairo_surface_destroy(surface);
    }
}

static void look_at_pictures(struct pdf *p, PopplerDocument *document, size_t number)
{
    PopplerPage *page = poppler_document_get_page(document, (int)number);
    unsigned n = 0;

    if (page == NULL) {
        return;
    }
    GList *pictures = g_list_sort(poppler_page_get_image_mapping(page), larger_first);
    found_at(p->found, "page %zu", number + 1);
    for (const GList *l = pictures; l != NULL && n < PICTURES_OF_PAGE;
         l = l->next, n++) {
        look_at_picture(p, page, ((const PopplerImageMapping *)l->data)->image_id);
    }
    poppler_page_free_image_mapping(pictures);
    g_object_unref(page);
}

/* Fills order with the pages to draw, the most promising ones first. Returns how many. */
static size_t choose_pages(const struct pdf *p, PopplerDocument *document,
                           struct pdf_page *page, size_t npages, size_t *order)
{
    const size_t most = p->job->limits.pages;
    size_t n = 0;

    if (npages > most) {
        for (size_t i = 0; i < npages && i < PAGES_SCANNED; i++) {
            page[i].has_pictures = has_pictures(document, i);
        }
    }
    for (unsigned level = PROMISES; level-- > 0;) {
        for (size_t i = 0; i < npages && n < most; i++) {
            if (!page[i].is_later && promise(&page[i], i, npages) == level) {
                order[n++] = i;
            }
        }
    }
    return n;
}

void pdf_draw(struct pdf *p, PopplerDocument *document, struct pdf_page *page,
              size_t npages)
{
    size_t *order = calloc(npages + 1, sizeof(*order));
    size_t nlater = 0;
    bool is_more = order != NULL;

    for (size_t i = 0; i < npages && is_more; i++) {
        if (page[i].is_later) {
            nlater++;
            is_more = look_at_page(p, document, i, &page[i]);
        }
    }
    const size_t n = is_more ? choose_pages(p, document, page, npages, order) : 0;
    if (is_more && n + nlater < npages) {
        is_more = found_fact(p->found, RECORD_PAGES);
    }
    for (size_t i = 0; i < n && is_more; i++) {
        is_more = look_at_page(p, document, order[i], &page[order[i]]);
    }
    for (size_t i = 0; i < npages && nlater > 0 && is_more; i++) {
        if (page[i].is_later) {
            look_at_pictures(p, document, i);
            is_more = found_room(p->found) > 0;
        }
    }
    for (size_t i = 0; i < n && is_more; i++) {
        look_at_pictures(p, document, order[i]);
        is_more = found_room(p->found) > 0;
    }
    free(order);
}
