/* look_keys - keys of what a picture looks like, in integers from the pixels to the key. */
#include <inttypes.h>
#include <stdio.h>

#include "core/reader/picture/raster.h"

enum {
    SIDE = 80,          /* cells of the small picture, across and down */
    MARGIN = SIDE / 10, /* what a crop takes off */
    SHADES = 4080,      /* of a cell: 0 to 255 in sixteenths */
    SIDE_MIN = 16,      /* pixels; a smaller picture is an icon or counts readers */
    ASPECT_MAX = 16,    /* a longer one is a rule or a spacer */

    ORDER_MAX = 7, /* of a coefficient: waves across plus waves down */
    WAVES = ORDER_MAX + 1,
    COEFFICIENTS = 35, /* of order 1 to ORDER_MAX; a bit of the key each */
    FLIPS_MAX = 2,     /* bits next to the border that are given both ways */
    VARIANTS_MAX = 1 << FLIPS_MAX,

    COS_BITS = 14,    /* fraction of a cosine */
    SCALE_BITS = 16,  /* taken off a sum of products */
    BORDER_SHARE = 8, /* of the mean coefficient: a bit is set beyond it */
    FLAT_MAX = 64,    /* mean coefficient of a picture that shows next to nothing */
    STANDING_MIN =
        20 /* coefficients beyond the border; stripes and plain shapes have fewer */
};

/* A window of the small picture. A picture that was cropped looks as one of them does. */
struct window {
    uint8_t left;
    uint8_t top;
    uint8_t right;
    uint8_t bottom;
    uint8_t nflips;
};

static const struct window windows[] = {
    {0, 0, SIDE, SIDE, 2},
    {MARGIN / 2, MARGIN / 2, SIDE - MARGIN / 2, SIDE - MARGIN / 2, 2},
    {MARGIN, 0, SIDE, SIDE, 0},
    {0, MARGIN, SIDE, SIDE, 0},
    {0, 0, SIDE - MARGIN, SIDE, 0},
    {0, 0, SIDE, SIDE - MARGIN, 0},
    {0, 0, SIDE - MARGIN, SIDE - MARGIN, 0},
    {MARGIN, 0, SIDE, SIDE - MARGIN, 0},
    {0, MARGIN, SIDE - MARGIN, SIDE, 0},
    {MARGIN, MARGIN, SIDE, SIDE, 0},
};

enum { KEYS_MAX = 2 * VARIANTS_MAX + (int)LENGTH(windows) - 2 };

struct keys {
    uint64_t key[KEYS_MAX];
    size_t n;
};

/* Coefficients of natural pictures fall with their order; weights make them alike. Each is
 * 64 * sqrt(sqrt(u * u + v * v)), times sqrt(1/2) where u or v is 0. */
static const uint8_t weights[WAVES][WAVES] = {
    {0, 45, 64, 78, 91, 101, 111, 120}, {45, 76, 96, 114, 130, 145, 158, 0},
    {64, 96, 108, 122, 135, 149, 0, 0}, {78, 114, 122, 132, 143, 0, 0, 0},
    {91, 130, 135, 143, 0, 0, 0, 0},    {101, 145, 149, 0, 0, 0, 0, 0},
    {111, 158, 0, 0, 0, 0, 0, 0},       {120, 0, 0, 0, 0, 0, 0, 0},
};

/* Brightness of a pixel on white paper, in 255 * 256 * 255 steps. */
static uint64_t brightness(const uint8_t *p)
{
    const uint32_t y = 77U * p[0] + 150U * p[1] + 29U * p[2];

    return (uint64_t)y * p[3] + UINT64_C(65280) * (255U - p[3]);
}

/* Adds n units of a value that begin at unit `at`; each sum takes `size` units. */
static void add_units(uint64_t sums[SIDE], uint64_t value, uint64_t at, uint64_t n,
                      uint64_t size)
{
    uint64_t cell = at / size;
    uint64_t room = (cell + 1) * size - at;

    while (n > 0) {
        const uint64_t here = n < room ? n : room;

        sums[cell++] += value * here;
        n -= here;
        room = size;
    }
}

/* Means over SIDE by SIDE cells. A side is width * SIDE units long: a pixel has SIDE of them and a
 * cell has width, so that no part of a pixel is rounded. */
static void shrink(const struct raster *r, int32_t small[SIDE][SIDE])
{
    static const uint64_t steps = UINT64_C(255) * 256;
    const uint64_t area = (uint64_t)r->width * r->height;
    uint64_t sums[SIDE][SIDE] = {{0}};

    for (uint32_t y = 0; y < r->height; y++) {
        const uint8_t *pixel = r->p + (size_t)y * r->width * 4;
        uint64_t row[SIDE] = {0};

        for (uint32_t x = 0; x < r->width; x++) {
            add_units(row, brightness(pixel + (size_t)x * 4), (uint64_t)x * SIDE, SIDE,
                      r->width);
        }
        for (uint64_t at = (uint64_t)y * SIDE, n = SIDE; n > 0;) {
            const uint64_t cell = at / r->height;
            const uint64_t room = (cell + 1) * r->height - at;
            const uint64_t here = n < room ? n : room;

            for (size_t i = 0; i < SIDE; i++) {
                sums[cell][i] += row[i] * here;
            }
            at += here;
            n -= here;
        }
    }
    for (size_t y = 0; y < SIDE; y++) {
        for (size_t x = 0; x < SIDE; x++) {
            small[y][x] = (int32_t)(sums[y][x] * (SHADES / 255) / (steps * area));
        }
    }
}

/* The cosine of pi * k / (2 * n), by its series: the same on every machine. */
static int32_t cosine(uint32_t k, uint32_t n)
{
    enum { BITS = 28, TERMS = 8 };
    static const int64_t pi = 843314857; /* in 1 << BITS */
    const uint32_t turn = k % (4 * n);
    const uint32_t half = turn <= 2 * n ? turn : 4 * n - turn;
    const bool is_negative = half > n;
    const uint32_t quarter = is_negative ? 2 * n - half : half;
    const int64_t angle = pi * quarter / (2 * (int64_t)n);
    const int64_t square = angle * angle / (1 << BITS);
    int64_t term = 1 << BITS;
    int64_t sum = term;

    for (int64_t i = 1; i <= TERMS; i++) {
        term = -(term * square / (1 << BITS)) / ((2 * i - 1) * (2 * i));
        sum += term;
    }
    sum = (sum + (1 << (BITS - COS_BITS - 1))) / (1 << (BITS - COS_BITS));
    return (int32_t)(is_negative ? -sum : sum);
}

struct waves {
    int32_t of[WAVES][SIDE];
};

static void make_waves(struct waves *w, uint32_t n)
{
    for (uint32_t u = 0; u < WAVES; u++) {
        for (uint32_t x = 0; x < n; x++) {
            w->of[u][x] = cosine((2 * x + 1) * u, n);
        }
    }
}

/* The cosine transform of a window, as far as it is used, weighted; in order of the key's bits. */
static void transform(int32_t small[SIDE][SIDE], const struct window *win,
                      const struct waves *across, const struct waves *down,
                      int64_t ret[COEFFICIENTS])
{
    int64_t rows[SIDE][WAVES];
    int64_t sum = 0;
    size_t n = 0;

    for (size_t y = win->top; y < win->bottom; y++) {
        for (size_t x = win->left; x < win->right; x++) {
            sum += small[y][x];
        }
    }
    const int64_t area = (int64_t)(win->right - win->left) * (win->bottom - win->top);
    const int64_t mean = sum / area;

    for (size_t y = win->top; y < win->bottom; y++) {
        for (size_t u = 0; u < WAVES; u++) {
            rows[y][u] = 0;
            for (size_t x = win->left; x < win->right; x++) {
                rows[y][u] += (small[y][x] - mean) * across->of[u][x - win->left];
            }
        }
    }
    for (size_t order = 1; order <= ORDER_MAX; order++) {
        for (size_t u = 0; u <= order; u++) {
            const size_t v = order - u;
            int64_t c = 0;

            for (size_t y = win->top; y < win->bottom; y++) {
                c += rows[y][u] * down->of[v][y - win->top];
            }
            ret[n++] = c / (1 << SCALE_BITS) * weights[v][u];
        }
    }
}

static int64_t magnitude(int64_t c)
{
    return c < 0 ? -c : c;
}

/* The mean coefficient in the unit of FLAT_MAX: grey levels, of a transform that keeps lengths. */
static int64_t in_grey(int64_t mean, const struct window *win)
{
    static const int64_t unit =
        (INT64_C(1) << (2 * COS_BITS - SCALE_BITS)) * 64 * (SHADES / 255);

    /* 2 / sqrt(width * height); windows are as good as square here */
    return mean * 4 / (win->right - win->left + win->bottom - win->top) / unit;
}

/* A bit is set where the coefficient is beyond the border. The border is not at zero: of pictures
 * that are symmetric many coefficients are nearly zero, and their signs are noise. False: there
 * is too little to see. */
static bool border_of(const int64_t c[COEFFICIENTS], const struct window *win,
                      int64_t *ret)
{
    int64_t sum = 0;
    size_t nstanding = 0;

    for (size_t i = 0; i < COEFFICIENTS; i++) {
        sum += magnitude(c[i]);
    }
    *ret = sum / ((int64_t)COEFFICIENTS * BORDER_SHARE);
    for (size_t i = 0; i < COEFFICIENTS; i++) {
        nstanding += magnitude(c[i]) > *ret;
    }
    return in_grey(sum / COEFFICIENTS, win) >= FLAT_MAX && nstanding >= STANDING_MIN;
}

/* The bit whose coefficient is nearest to the border, of those that are not yet in flips. */
static uint64_t nearest(const int64_t c[COEFFICIENTS], int64_t border, uint64_t flips)
{
    size_t best = COEFFICIENTS;

    for (size_t i = 0; i < COEFFICIENTS; i++) {
        if ((flips >> i & 1) == 0 &&
            (best == COEFFICIENTS ||
             magnitude(c[i] - border) < magnitude(c[best] - border))) {
            best = i;
        }
    }
    return UINT64_C(1) << best;
}

static void keep_key(struct keys *keys, uint64_t key)
{
    for (size_t i = 0; i < keys->n; i++) {
        if (keys->key[i] == key) {
            return;
        }
    }
    keys->key[keys->n++] = key;
}

static void add_window(struct keys *keys, const int64_t c[COEFFICIENTS], int64_t border,
                       unsigned nflips)
{
    uint64_t variants[VARIANTS_MAX] = {0};
    uint64_t flips = 0;

    for (size_t i = 0; i < COEFFICIENTS; i++) {
        variants[0] |= (uint64_t)(c[i] > border) << i;
    }
    for (unsigned f = 0; f < nflips; f++) {
        const uint64_t bit = nearest(c, border, flips);

        flips |= bit;
        for (size_t i = 0; i < (size_t)1 << f; i++) {
            variants[((size_t)1 << f) + i] = variants[i] ^ bit;
        }
    }
    for (size_t i = 0; i < (size_t)1 << nflips; i++) {
        keep_key(keys, variants[i]);
    }
}

static bool is_picture(const struct raster *r)
{
    return r->width >= SIDE_MIN && r->height >= SIDE_MIN &&
           r->width / ASPECT_MAX <= r->height && r->height / ASPECT_MAX <= r->width;
}

static void find_keys(const struct raster *r, struct keys *keys)
{
    int32_t small[SIDE][SIDE];
    struct waves whole;
    struct waves part;

    shrink(r, small);
    make_waves(&whole, SIDE);
    make_waves(&part, SIDE - MARGIN);
    for (size_t i = 0; i < LENGTH(windows); i++) {
        const struct window *win = &windows[i];
        int64_t c[COEFFICIENTS];
        int64_t border = 0;

        transform(small, win, win->right - win->left == SIDE ? &whole : &part,
                  win->bottom - win->top == SIDE ? &whole : &part, c);
        if (border_of(c, win, &border)) {
            add_window(keys, c, border, win->nflips);
        } else if (i == 0) {
            return; /* as a whole it shows nothing */
        } else {
            /* what it shows stands at its edge */
        }
    }
}

bool raster_keys(const struct raster *r, struct found *f)
{
    struct keys keys = {.n = 0};

    if (is_picture(r)) {
        find_keys(r, &keys);
    }
    for (size_t i = 0; i < keys.n; i++) {
        char text[RECORD_LOOK_MAX];
        const int n = snprintf(text, sizeof text, "1.d.%09" PRIx64, keys.key[i]);

        if (!found_look(f, slice_of(text, (size_t)n))) {
            return false;
        }
    }
    return true;
}
