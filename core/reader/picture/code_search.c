/* code_search - where codes are sought in a picture, from cheap to costly. */

#include "core/reader/picture/code_search.h"

#include "core/reader/picture/code_aztec.h"
#include "core/reader/picture/code_plane.h"
#include "core/reader/picture/code_region.h"

enum {
    SEEN_MOST = 64, /* codes of a picture: one is given out once */
    KINDS = CODE_QR | CODE_DATA_MATRIX | CODE_AZTEC,
    SHRINK_MOST =
        4, /* the least size in which a picture is searched: a fourth of a side */
    PLANE_LEAST = 60,      /* pixels of a side that may hold a code */
    GROW_PIXELS = 1 << 18, /* a smaller picture is enlarged */
    ASPECT_MOST = 64,      /* the library is slow in a longer strip, and no code fits */
    LARGE_PIXELS = 1 << 19,
    THRESHOLD_AROUND = 24, /* pixels; a module is smaller, in one of the sizes */
    THRESHOLD_LEAST = 4,
    COLOUR_LEAST = 24 /* two colours of equal lightness differ by more */
};

struct search {
    code_found_fn *on_code;
    void *context;
    uint64_t seen[SEEN_MOST]; /* hashes of payloads */
    size_t nseen;
    bool is_over; /* enough is found */
};

static uint64_t payload_hash(enum code_kind kind, const char *payload, size_t n)
{
    uint64_t hash = 0xcbf29ce484222325 ^ (uint64_t)kind; /* FNV-1a */

    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ (unsigned char)payload[i]) * 0x100000001b3;
    }
    return hash;
}

/* Hands on each code once. */
static bool on_any_code(void *context, enum code_kind kind, const char *payload,
                        size_t npayload)
{
    struct search *s = context;
    const uint64_t hash = payload_hash(kind, payload, npayload);

    for (size_t i = 0; i < s->nseen; i++) {
        if (s->seen[i] == hash) {
            return true;
        }
    }
    if (s->nseen == SEEN_MOST) {
        s->is_over = true;
        return false;
    }
    s->seen[s->nseen++] = hash;
    s->is_over = !s->on_code(s->context, kind, payload, npayload);
    return !s->is_over;
}

static void read_view(struct search *s, const struct code_view *view, unsigned kinds,
                      enum code_effort effort)
{
    if (!s->is_over) {
        code_zxing_read(view, kinds, effort, on_any_code, s);
    }
}

/* Reads the plane as it is and inverted. Leaves it inverted. */
static void read_both(struct search *s, struct plane *p, unsigned kinds,
                      enum code_effort effort)
{
    const struct code_view view = {p->p, p->width, p->height, p->width};

    read_view(s, &view, kinds, effort);
    plane_invert(p);
    read_view(s, &view, kinds, effort);
}

/* Aztec codes that are turned or not in the middle. */
static void read_aztec(struct search *s, const struct plane *black,
                       const struct plane *p)
{
    struct aztec_ring ring[AZTEC_RINGS_MOST];
    const size_t n = aztec_find(black, ring);
    struct plane cut;

    for (size_t i = 0; i < n && !s->is_over; i++) {
        if (aztec_cut(&cut, p, &ring[i])) {
            const struct code_view view = {cut.p, cut.width, cut.height, cut.width};
            read_view(s, &view, CODE_AZTEC, CODE_LOCAL);
            plane_fini(&cut);
        }
    }
}

/* Data Matrix codes that are not in the middle. */
static void read_regions(struct search *s, struct plane *black)
{
    struct region region[REGIONS_MOST];
    const size_t n = region_find(black, region);

    for (unsigned turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < n; i++) {
            const struct code_view view = {
                black->p + (size_t)region[i].top * black->width + region[i].left,
                region[i].width, region[i].height, black->width};
            read_view(s, &view, CODE_DATA_MATRIX, CODE_FIXED);
        }
        plane_invert(black);
    }
}

/* With thresholds of our own, which a pale code in a picture of strong contrast needs. */
static void read_black(struct search *s, const struct plane *p)
{
    struct plane black;

    if (plane_threshold(&black, p, THRESHOLD_AROUND, THRESHOLD_LEAST)) {
        read_aztec(s, &black, p);
        read_regions(s, &black);
        read_both(s, &black, KINDS, CODE_FIXED);
        plane_fini(&black);
    }
}

/* Dots instead of squares grow together when they are blurred: by a little, or more with a
 * threshold of our own. */
static void read_blurred(struct search *s, const struct plane *p)
{
    struct plane once;
    struct plane twice;
    struct plane black;

    if (!plane_blur(&once, p)) {
        return;
    }
    if (plane_blur(&twice, &once)) {
        if (plane_threshold(&black, &twice, THRESHOLD_AROUND, THRESHOLD_LEAST)) {
            read_both(s, &black, CODE_QR, CODE_FIXED);
            plane_fini(&black);
        }
        plane_fini(&twice);
    }
    read_both(s, &once, CODE_QR, CODE_LOCAL);
    plane_fini(&once);
}

/* Seeks codes in a plane of one size, in all ways. */
static void read_size(struct search *s, struct plane *p)
{
    const struct code_view view = {p->p, p->width, p->height, p->width};

    read_black(s, p);
    read_blurred(s, p);
    read_view(s, &view, KINDS, CODE_LOCAL);
}

static void read_shrunk(struct search *s, const struct plane *p)
{
    struct plane small;

    for (uint32_t by = 2; by <= SHRINK_MOST; by++) {
        if (p->width / by < PLANE_LEAST || p->height / by < PLANE_LEAST ||
            !plane_shrink(&small, p, by)) {
            return;
        }
        read_size(s, &small);
        plane_fini(&small);
    }
}

static void read_grown(struct search *s, const struct plane *p)
{
    struct plane large;

    if (plane_grow(&large, p, 3)) {
        read_both(s, &large, KINDS, CODE_LOCAL);
        plane_fini(&large);
    }
}

/* Seeks codes in one plane of the picture. The full size of a large one is searched in the cheapest
 * way, because most of them are photographs. */
static void read_plane(struct search *s, const struct raster *r,
                       const struct crop *crop, enum plane_kind kind)
{
    const uint64_t n = (uint64_t)crop->width * crop->height;
    struct plane p;

    if (s->is_over || !plane_of_raster(&p, r, crop, kind)) {
        return;
    }
    read_shrunk(s, &p);
    if (n <= GROW_PIXELS) {
        read_grown(s, &p);
    }
    if (n <= LARGE_PIXELS) {
        read_size(s, &p);
    } else if (kind == PLANE_LIGHT || kind == PLANE_BLACK) {
        read_both(s, &p, KINDS, CODE_LOCAL);
    }
    plane_fini(&p);
}

static bool has_colour(const struct raster *r, enum plane_kind kind)
{
    const size_t n = (size_t)r->width * r->height;
    int least = 255;
    int most = -255;

    for (size_t i = 0; i < n; i++) {
        const uint8_t *p = r->p + i * 4;
        const int v = kind == PLANE_RED_GREEN ? p[0] - p[1] : p[2] - (p[0] + p[1]) / 2;
        least = v < least ? v : least;
        most = v > most ? v : most;
    }
    return most - least >= COLOUR_LEAST;
}

static bool is_opaque(const struct raster *r)
{
    const size_t n = (size_t)r->width * r->height;

    for (size_t i = 0; i < n; i++) {
        if (r->p[i * 4 + 3] != 255) {
            return false;
        }
    }
    return true;
}

bool code_search(const struct raster *r, code_found_fn *on_code, void *context)
{
    struct search s = {.on_code = on_code, .context = context};
    const struct crop whole = {0, 0, r->width, r->height};
    struct crop inner;

    if (r->width / ASPECT_MOST > r->height || r->height / ASPECT_MOST > r->width) {
        return true;
    }
    read_plane(&s, r, &whole, PLANE_LIGHT);
    if (plane_trim(&inner, r)) {
        read_plane(&s, r, &inner, PLANE_LIGHT);
    }
    if (!is_opaque(r)) {
        read_plane(&s, r, &whole, PLANE_BLACK);
    }
    for (enum plane_kind kind = PLANE_RED_GREEN; kind <= PLANE_BLUE_YELLOW; kind++) {
        if (has_colour(r, kind)) {
            read_plane(&s, r, &whole, kind);
        }
    }
    return !s.is_over;
}

bool code_report(void *found, enum code_kind kind, const char *payload, size_t npayload)
{
    static const enum record_symbology symbology[] = {
        [CODE_QR] = RECORD_QR,           [CODE_DATA_MATRIX] = RECORD_DATA_MATRIX,
        [CODE_AZTEC] = RECORD_AZTEC,     [CODE_PDF417] = RECORD_OTHER_CODE,
        [CODE_BARS] = RECORD_OTHER_CODE,
    };

    return found_code(found, symbology[kind], slice_of(payload, npayload)) &&
           found_flush(found); /* the library may end the process in the next search */
}

bool raster_codes(const struct raster *r, struct found *f)
{
    return code_search(r, code_report, f) && found_room(f) > 0;
}
