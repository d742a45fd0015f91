#include "core/reader/picture/code_aztec.h"

#include <math.h>

enum {
    RUNS = 7,           /* of one module each, through the middle */
    TURNS = 30,         /* of a quarter */
    SQUARES_LEAST = 70, /* of the 80 modules around the middle */
    TRIES_MOST = 500,   /* places of a plane whose squares are counted */
    MODULES_HALF = 77,  /* the largest symbol has 151 modules */
    MODULE_PIXELS = 8   /* in what is cut out */
};

/* The last runs of a line. */
struct runs {
    uint32_t n[RUNS];
    uint32_t sum;
};

/* Takes the next run. */
static void shift_run(struct runs *r, uint32_t n)
{
    r->sum = r->sum - r->n[0] + n;
    memmove(r->n, r->n + 1, sizeof(r->n) - sizeof(r->n[0]));
    r->n[RUNS - 1] = n;
}

/* All runs are of much the same length: each differs by half of the mean at most. */
static bool are_even(const struct runs *r)
{
    for (unsigned i = 0; i < RUNS; i++) {
        const uint32_t n = r->n[i] * 2 * RUNS;
        if (r->n[i] == 0 || n + 1 < r->sum || n > 3 * r->sum + 2 * RUNS) {
            return false;
        }
    }
    return true;
}

/* Counts the pixels of one colour from p on, at most `most`. */
static uint32_t run_from(const uint8_t *p, ptrdiff_t step, uint32_t most)
{
    uint32_t n = 1;

    while (n < most && p[(ptrdiff_t)n * step] == *p) {
        n++;
    }
    return n;
}

/* The runs above and below the middle are even, and of a length alike. Moves y to the middle. */
static bool is_ring_down(const struct plane *p, struct aztec_ring *ring)
{
    const ptrdiff_t down = (ptrdiff_t)p->width;
    const uint8_t *middle = p->p + (size_t)ring->y * p->width + ring->x;
    uint32_t top = ring->y;
    uint32_t bottom = top;
    struct runs r = {.sum = 0};

    for (unsigned i = 0; i <= RUNS / 2; i++) {
        const uint8_t *up_from = middle - (ptrdiff_t)(ring->y - top) * down;
        const uint8_t *down_from = middle + (ptrdiff_t)(bottom - ring->y) * down;
        /* a longer run is no ring: the columns of stripes are not read again and again */
        const uint32_t most = ring->run / 2;
        const uint32_t room_above = top + 1 < most ? top + 1 : most;
        const uint32_t room_below =
            p->height - bottom < most ? p->height - bottom : most;
        const uint32_t above = run_from(up_from, -down, room_above);
        const uint32_t below = run_from(down_from, down, room_below);
        if (above >= room_above || below >= room_below) {
            return false;
        }
        top -= above;
        bottom += below;
        r.n[RUNS / 2 - i] = i == 0 ? above + below - 1 : above;
        r.n[RUNS / 2 + i] = i == 0 ? above + below - 1 : below;
    }
    for (unsigned i = 0; i < RUNS; i++) {
        r.sum += r.n[i];
    }
    ring->y = (top + bottom) / 2;
    return are_even(&r) && r.sum < 2 * ring->run && ring->run < 2 * r.sum;
}

static bool has_shade(const struct plane *p, long x, long y, bool is_light)
{
    return x >= 0 && y >= 0 && x < (long)p->width && y < (long)p->height &&
           (p->p[(size_t)y * p->width + (size_t)x] != 0) == is_light;
}

/* Counts the modules of a square around the middle that have the colour. radius: in modules. */
static unsigned modules_alike(const struct plane *p, const struct aztec_ring *ring,
                              int radius, bool is_light)
{
    const double across = cos(ring->turn) * ring->module;
    const double down = sin(ring->turn) * ring->module;
    unsigned n = 0;

    for (int i = -radius; i < radius; i++) {
        /* one module of each side; a corner belongs to one side */
        const int side[4][2] = {{i, -radius}, {radius, i}, {-i, radius}, {-radius, -i}};
        for (size_t k = 0; k < LENGTH(side); k++) {
            const double x = ring->x + side[k][0] * across - side[k][1] * down;
            const double y = ring->y + side[k][0] * down + side[k][1] * across;
            n += has_shade(p, lround(x), lround(y), is_light);
        }
    }
    return n;
}

static void set_turn(struct aztec_ring *ring, double i)
{
    ring->turn = i * M_PI_2 / TURNS;
    ring->module = ring->run * fmax(cos(ring->turn), sin(ring->turn)) / RUNS;
}

/* Finds the turn in which the four squares around the middle are whole: the middle one of those
 * that are equally good. False: in none. */
static bool find_turn(const struct plane *p, struct aztec_ring *ring)
{
    unsigned most = 0;
    int first = 0;
    int nequal = 0;

    for (int i = 0; i < TURNS; i++) {
        struct aztec_ring r = *ring;
        unsigned n = 0;
        set_turn(&r, i);
        for (int radius = 1; radius <= 4; radius++) {
            n += modules_alike(p, &r, radius, (radius % 2 != 0) != ring->is_light);
        }
        if (n > most) {
            most = n;
            first = i;
            nequal = 0;
        }
        nequal += n == most && i == first + nequal;
    }
    set_turn(ring, first + (nequal - 1) / 2.0);
    return most >= SQUARES_LEAST;
}

/* It is no place that was found in another row. */
static bool is_new_ring(const struct aztec_ring *rings, size_t n,
                        const struct aztec_ring *ring)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t across =
            rings[i].x > ring->x ? rings[i].x - ring->x : ring->x - rings[i].x;
        const uint32_t down =
            rings[i].y > ring->y ? rings[i].y - ring->y : ring->y - rings[i].y;
        if (across + down < ring->run / 4 + 2) {
            return false;
        }
    }
    return true;
}

size_t aztec_find(const struct plane *p, struct aztec_ring ret[AZTEC_RINGS_MOST])
{
    size_t n = 0;
    unsigned ntries = 0;

    for (uint32_t y = PLANE_BORDER; y < p->height - PLANE_BORDER; y++) {
        const uint8_t *row = p->p + (size_t)y * p->width;
        struct runs r = {.sum = 0};
        for (uint32_t x = 0; x < p->width && n < AZTEC_RINGS_MOST;) {
            const uint32_t run = run_from(row + x, 1, p->width - x);
            shift_run(&r, run);
            x += run;
            if (!are_even(&r)) {
                continue;
            }
            struct aztec_ring ring = {.x = x - r.sum / 2, .y = y, .run = r.sum};
            ring.is_light = row[ring.x] != 0;
            if (!is_ring_down(p, &ring) || !is_new_ring(ret, n, &ring)) {
                continue;
            }
            if (ntries++ == TRIES_MOST) {
                return n;
            }
            if (find_turn(p, &ring)) {
                ret[n++] = ring;
            }
        }
    }
    return n;
}

/* The value between four pixels; the colour behind the code outside. */
static uint8_t sample(const struct plane *p, double x, double y, uint8_t outside)
{
    if (!(x >= 0 && y >= 0 && x < p->width - 1.0 && y < p->height - 1.0)) {
        return outside;
    }
    const size_t u = (size_t)x;
    const size_t v = (size_t)y;
    const uint8_t *at = p->p + v * p->width + u;
    const double right = x - (double)u;
    const double down = y - (double)v;
    const double top = at[0] + right * (at[1] - at[0]);
    const double bottom = at[p->width] + right * (at[p->width + 1] - at[p->width]);
    return (uint8_t)(top + down * (bottom - top));
}

bool aztec_cut(struct plane *ret, const struct plane *from,
               const struct aztec_ring *ring)
{
    const int half = MODULES_HALF * MODULE_PIXELS;
    const double across = cos(ring->turn) * ring->module / MODULE_PIXELS;
    const double down = sin(ring->turn) * ring->module / MODULE_PIXELS;

    if (!plane_init(ret, 2 * MODULES_HALF * MODULE_PIXELS,
                    2 * MODULES_HALF * MODULE_PIXELS)) {
        return false;
    }
    for (int y = -half; y < half; y++) {
        uint8_t *to =
            ret->p + (size_t)(y + half + PLANE_BORDER) * ret->width + PLANE_BORDER;
        for (int x = -half; x < half; x++) {
            *to++ = sample(from, ring->x + x * across - y * down,
                           ring->y + x * down + y * across, ring->is_light ? 0 : 255);
        }
    }
    if (ring->is_light) {
        plane_invert(ret);
    }
    return true;
}
