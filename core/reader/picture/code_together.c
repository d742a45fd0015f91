/* code_together - codes that are cut over several pictures. */

#include "core/base/buf.h"
#include "core/base/cursor.h"
#include "core/reader/picture/code_search.h"

enum {
    LIGHT_LEAST = 200,     /* of a quiet border */
    SCALE_MOST = 3,        /* times that a part is larger than the first one */
    COLOURS = 1 << 12,     /* of 4 bits for each of red, green and blue */
    APART_LEAST = 3,       /* of 16: how different the two colours of a code are */
    ALIKE_PART = 8,        /* of a side: sides that touch differ by no more */
    LIST_BYTES = 64 * 1024 /* of codes */
};

/* A part of a picture. */
struct part {
    const struct raster *r;
    uint32_t left;
    uint32_t top;
    uint32_t width;
    uint32_t height;
};

/* How parts are joined. */
struct layout {
    size_t across;
    size_t down;
};

/* The codes of the joined parts, or of one part: kind, bytes of the payload, payload. */
struct list {
    struct buf codes;
};

static bool is_light(const uint8_t *p)
{
    return p[3] == 0 ||
           (p[0] >= LIGHT_LEAST && p[1] >= LIGHT_LEAST && p[2] >= LIGHT_LEAST);
}

static bool is_light_line(const struct part *p, uint32_t x, uint32_t y, bool is_column)
{
    const size_t step = is_column ? (size_t)p->r->width * 4 : 4;
    const uint8_t *at = p->r->p + ((size_t)y * p->r->width + x) * 4;

    for (uint32_t n = is_column ? p->height : p->width; n > 0; n--, at += step) {
        if (!is_light(at)) {
            return false;
        }
    }
    return true;
}

/* Leaves out the light border on all sides. Returns whether there was one. */
static bool trim(struct part *p)
{
    const struct part whole = *p;

    while (p->width > 1 && is_light_line(p, p->left, p->top, true)) {
        p->left++;
        p->width--;
    }
    while (p->width > 1 && is_light_line(p, p->left + p->width - 1, p->top, true)) {
        p->width--;
    }
    while (p->height > 1 && is_light_line(p, p->left, p->top, false)) {
        p->top++;
        p->height--;
    }
    while (p->height > 1 && is_light_line(p, p->left, p->top + p->height - 1, false)) {
        p->height--;
    }
    return p->width != whole.width || p->height != whole.height;
}

/* Draws the part into a box of another size. */
static void draw(const struct raster *to, const struct part *p, const struct part *box)
{
    for (uint32_t y = 0; y < box->height; y++) {
        const uint32_t v = p->top + (uint32_t)((uint64_t)y * p->height / box->height);
        uint8_t *at = to->p + ((size_t)(box->top + y) * to->width + box->left) * 4;
        for (uint32_t x = 0; x < box->width; x++, at += 4) {
            const uint32_t u =
                p->left + (uint32_t)((uint64_t)x * p->width / box->width);
            memcpy(at, p->r->p + ((size_t)v * p->r->width + u) * 4, 4);
        }
    }
}

/* The side b of a part when its other side a becomes `wanted`. 0: they are too different. */
static uint32_t scaled(uint32_t b, uint32_t a, uint32_t wanted)
{
    const uint64_t n = a > 0 ? ((uint64_t)b * wanted + a / 2) / a : 0;

    if (a > SCALE_MOST * (uint64_t)wanted || wanted > SCALE_MOST * (uint64_t)a) {
        return 0;
    }
    return n <= UINT16_MAX ? (uint32_t)n : 0;
}

/* Places the parts: a row of one height, a column of one width, or two rows of two. Returns false
 * when the parts do not fit together. */
static bool place(const struct part *part, struct layout l, struct part *box,
                  struct part *all)
{
    *all = (struct part){.width = 0};
    for (size_t i = 0; i < l.across * l.down; i++) {
        const bool is_row = l.down == 1;
        box[i] = part[i];
        if (l.across == 2 && l.down == 2) {
            /* sides that touch are alike: rows share a height, columns a width */
            box[i].width = part[i % 2].width;
            box[i].height = part[i / 2 * 2].height;
            box[i].left = i % 2 == 1 ? box[0].width : 0;
            box[i].top = i / 2 == 1 ? box[0].height : 0;
        } else if (is_row) {
            box[i].height = part[0].height;
            box[i].width = scaled(part[i].width, part[i].height, part[0].height);
            box[i].left = all->width;
            box[i].top = 0;
        } else {
            box[i].width = part[0].width;
            box[i].height = scaled(part[i].height, part[i].width, part[0].width);
            box[i].left = 0;
            box[i].top = all->height;
        }
        if (box[i].width == 0 || box[i].height == 0) {
            return false;
        }
        const uint32_t right = box[i].left + box[i].width;
        const uint32_t bottom = box[i].top + box[i].height;
        all->width = right > all->width ? right : all->width;
        all->height = bottom > all->height ? bottom : all->height;
    }
    return true;
}

/* A colour with 4 bits for each of red, green and blue. */
static unsigned coarse(const uint8_t *p)
{
    return ((unsigned)p[0] >> 4) << 8 | ((unsigned)p[1] >> 4) << 4 |
           (unsigned)p[2] >> 4;
}

/* The square of the distance of two of them. */
static unsigned distance2(unsigned a, unsigned b)
{
    unsigned sum = 0;

    for (unsigned shift = 0; shift < 12; shift += 4) {
        const int d = (int)(a >> shift & 0xf) - (int)(b >> shift & 0xf);
        sum += (unsigned)(d * d);
    }
    return sum;
}

/* The most frequent colour that is far enough from another one. */
static unsigned most_frequent(const uint32_t count[COLOURS], unsigned from,
                              unsigned least2)
{
    unsigned best = from;
    uint32_t most = 0;

    for (unsigned i = 0; i < COLOURS; i++) {
        if (count[i] > most && distance2(i, from) >= least2) {
            best = i;
            most = count[i];
        }
    }
    return best;
}

/* Codes have two colours, and photographs many: parts of a code are told by that, so that ordinary
 * pictures take no time. */
static bool has_two_colours(const struct raster *r)
{
    const size_t n = (size_t)r->width * r->height;
    uint32_t count[COLOURS] = {0};
    size_t near[2] = {0, 0};

    for (size_t i = 0; i < n; i++) {
        count[coarse(r->p + i * 4)]++;
    }
    const unsigned a = most_frequent(count, 0, 0);
    const unsigned b = most_frequent(count, a, APART_LEAST * APART_LEAST);
    for (unsigned i = 0; i < COLOURS; i++) {
        const unsigned to_a = distance2(i, a);
        const unsigned to_b = distance2(i, b);
        if (9 * (to_a < to_b ? to_a : to_b) <= distance2(a, b)) { /* within a third */
            near[to_a < to_b ? 0 : 1] += count[i];
        }
    }
    return a != b && near[0] + near[1] >= n / 4 * 3 && near[1] >= n / 16;
}

static bool on_listed(void *context, enum code_kind kind, const char *payload,
                      size_t npayload)
{
    struct list *list = context;

    buf_add_u8(&list->codes, (uint8_t)kind);
    buf_add_u32(&list->codes, (uint32_t)npayload);
    buf_add(&list->codes, slice_of(payload, npayload));
    return !buf_failed(&list->codes);
}

/* Takes the next code off a list. False: it was the last. */
static bool take_code(struct cursor *c, enum code_kind *kind, struct slice *payload)
{
    *kind = (enum code_kind)cursor_u8(c);
    *payload = cursor_bytes(c, cursor_u32(c));
    return cursor_ok(c);
}

static bool has_code(const struct list *list, struct slice payload)
{
    struct cursor c = cursor_of(buf_slice(&list->codes));
    enum code_kind kind;
    struct slice other;

    while (take_code(&c, &kind, &other)) {
        if (slice_eq(other, payload)) {
            return true;
        }
    }
    return false;
}

/* Writes those codes of the list that none of the n parts shows alone. */
static void report(const struct list *list, const struct raster *r, size_t n,
                   struct list *alone, struct found *f)
{
    struct cursor c = cursor_of(buf_slice(&list->codes));
    enum code_kind kind;
    struct slice payload;

    for (size_t i = 0; list->codes.n > 0 && i < n; i++) {
        (void)code_search(&r[i], on_listed, alone);
    }
    while (take_code(&c, &kind, &payload)) {
        if (!has_code(alone, payload)) {
            (void)code_report(f, kind, payload.p, payload.n);
            (void)on_listed(alone, kind, payload.p, payload.n); /* once is enough */
        }
    }
}

/* Seeks in the joined parts. */
static void search_joined(const struct part *part, struct layout l, struct list *list)
{
    struct part box[CODE_PARTS_MOST];
    struct part all;
    struct raster joined;

    if (!place(part, l, box, &all) ||
        !raster_init(&joined, all.width, all.height, UINT32_MAX)) {
        return;
    }
    for (size_t i = 0; i < l.across * l.down; i++) {
        draw(&joined, &part[i], &box[i]);
    }
    (void)code_search(&joined, on_listed, list);
    raster_fini(&joined);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static bool is_alike(uint32_t a, uint32_t b)
{
    return least(a, b) > 0 && (a > b ? a - b : b - a) <= least(a, b) / ALIKE_PART;
}

/* Whether sides that touch are about as long as each other. */
static bool fits(const struct part *part, struct layout l)
{
    for (size_t i = 0; i < l.across * l.down; i++) {
        if ((l.down == 1 && !is_alike(part[i].height, part[0].height)) ||
            (l.across == 1 && !is_alike(part[i].width, part[0].width)) ||
            (l.across == 2 && l.down == 2 &&
             (!is_alike(part[i].width, part[i % 2].width) ||
              !is_alike(part[i].height, part[i / 2 * 2].height)))) {
            return false;
        }
    }
    return true;
}

/* Joins the first parts in one way, with their light borders and without, if it is likely that
 * they are of one code, or if it is not. */
static void search_layout(const struct raster *r, struct layout l, bool is_likely,
                          struct list *list)
{
    const size_t n = l.across * l.down;
    struct part whole[CODE_PARTS_MOST];
    struct part inner[CODE_PARTS_MOST];
    bool has_border = false;

    for (size_t i = 0; i < n; i++) {
        whole[i] =
            (struct part){.r = &r[i], .width = r[i].width, .height = r[i].height};
        inner[i] = whole[i];
        has_border = trim(&inner[i]) || has_border;
    }
    if ((fits(whole, l) || fits(inner, l)) != is_likely) {
        return;
    }
    search_joined(whole, l, list);
    if (has_border) {
        search_joined(inner, l, list);
    }
}

/* In all ways. */
static void search_from(const struct raster *r, size_t n, bool is_likely,
                        struct list *alone, struct found *f)
{
    static const struct layout layout[] = {{2, 1}, {1, 2}, {3, 1}, {1, 3},
                                           {2, 2}, {4, 1}, {1, 4}};
    for (size_t i = 0; i < LENGTH(layout); i++) {
        const size_t nparts = layout[i].across * layout[i].down;
        struct list list;
        if (nparts > n || found_room(f) == 0) {
            break;
        }
        buf_init(&list.codes, LIST_BYTES);
        search_layout(r, layout[i], is_likely, &list);
        found_at(f, "%zu pictures together", nparts);
        report(&list, r, nparts, alone, f);
        buf_fini(&list.codes);
    }
}

void code_together(const struct raster *r, size_t n, struct found *f)
{
    struct raster part[CODE_PICTURES_MOST];
    struct list alone;
    size_t nparts = 0;

    for (size_t i = 0; i < n && nparts < CODE_PICTURES_MOST; i++) {
        if (has_two_colours(&r[i])) {
            part[nparts++] = r[i]; /* borrowed */
        }
    }
    buf_init(&alone.codes, LIST_BYTES);
    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i + 1 < nparts; i++) {
            search_from(part + i, nparts - i, pass == 0, &alone, f);
        }
    }
    buf_fini(&alone.codes);
}
