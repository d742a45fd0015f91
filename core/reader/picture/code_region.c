#include "core/reader/picture/code_region.h"

enum {
    BLOCK = 4,       /* pixels of a side */
    LEAST = 5,       /* blocks of the shorter side */
    ASPECT_MOST = 6, /* the longest Data Matrix is four times as wide as it is high */
    MARGIN = 8       /* pixels */
};

/* The blocks that hold black and white: 1, and 0 once they belong to a part. */
struct grid {
    uint8_t *is_mixed;
    uint32_t *stack; /* blocks whose neighbours are to be visited */
    uint32_t width;
    uint32_t height;
};

static uint8_t is_mixed(const struct plane *p, uint32_t x, uint32_t y)
{
    const uint8_t *at = p->p + (size_t)y * p->width + x;
    unsigned sum = 0;

    for (unsigned v = 0; v < BLOCK; v++, at += p->width) {
        for (unsigned u = 0; u < BLOCK; u++) {
            sum += at[u] != 0;
        }
    }
    return sum > 0 && sum < BLOCK * BLOCK;
}

static bool grid_init(struct grid *g, const struct plane *p)
{
    g->width = p->width / BLOCK;
    g->height = p->height / BLOCK;
    const size_t n = (size_t)g->width * g->height;
    g->is_mixed = calloc(n, 1);
    g->stack = malloc(n * sizeof(*g->stack));
    if (g->is_mixed == NULL || g->stack == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        g->is_mixed[i] = is_mixed(p, (uint32_t)(i % g->width) * BLOCK,
                                  (uint32_t)(i / g->width) * BLOCK);
    }
    return true;
}

static void grid_fini(struct grid *g)
{
    free(g->is_mixed);
    free(g->stack);
}

/* Pushes the blocks around one that are in the grid. Returns how many blocks the stack holds. Each
 * block is pushed once, so the stack has room for all. */
static size_t push_around(struct grid *g, uint32_t x, uint32_t y, size_t n)
{
    for (uint32_t v = y > 0 ? y - 1 : 0; v <= y + 1 && v < g->height; v++) {
        for (uint32_t u = x > 0 ? x - 1 : 0; u <= x + 1 && u < g->width; u++) {
            if (g->is_mixed[v * g->width + u] != 0) {
                g->is_mixed[v * g->width + u] = 0;
                g->stack[n++] = v * g->width + u;
            }
        }
    }
    return n;
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t greater(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Takes the part that holds the block out of the grid. Returns its box, in blocks. */
static struct region take_part(struct grid *g, uint32_t first)
{
    uint32_t left = g->width;
    uint32_t right = 0;
    uint32_t top = g->height;
    uint32_t bottom = 0;
    size_t n = 1;

    g->is_mixed[first] = 0;
    g->stack[0] = first;
    while (n > 0) {
        const uint32_t block = g->stack[--n];
        const uint32_t x = block % g->width;
        const uint32_t y = block / g->width;
        left = lesser(left, x);
        right = greater(right, x);
        top = lesser(top, y);
        bottom = greater(bottom, y);
        n = push_around(g, x, y, n);
    }
    return (struct region){left, top, right - left + 1, bottom - top + 1};
}

static bool may_hold_code(const struct region *r)
{
    const uint32_t shorter = r->width < r->height ? r->width : r->height;
    const uint32_t longer = r->width < r->height ? r->height : r->width;

    return shorter >= LEAST && longer <= shorter * ASPECT_MOST;
}

/* Keeps the largest ones, the largest first. */
static size_t insert(struct region *to, size_t n, struct region r)
{
    size_t i = n < REGIONS_MOST ? n : REGIONS_MOST - 1;

    if (n == REGIONS_MOST &&
        (uint64_t)to[i].width * to[i].height >= (uint64_t)r.width * r.height) {
        return n;
    }
    while (i > 0 && (uint64_t)to[i - 1].width * to[i - 1].height <
                        (uint64_t)r.width * r.height) {
        to[i] = to[i - 1];
        i--;
    }
    to[i] = r;
    return n < REGIONS_MOST ? n + 1 : n;
}

/* From blocks to pixels, with the margin. */
static struct region in_pixels(const struct plane *p, struct region r)
{
    const uint32_t right = (r.left + r.width) * BLOCK + MARGIN;
    const uint32_t bottom = (r.top + r.height) * BLOCK + MARGIN;

    r.left = r.left * BLOCK > MARGIN ? r.left * BLOCK - MARGIN : 0;
    r.top = r.top * BLOCK > MARGIN ? r.top * BLOCK - MARGIN : 0;
    r.width = (right < p->width ? right : p->width) - r.left;
    r.height = (bottom < p->height ? bottom : p->height) - r.top;
    return r;
}

size_t region_find(const struct plane *p, struct region ret[REGIONS_MOST])
{
    struct grid g;
    size_t n = 0;

    if (grid_init(&g, p)) {
        for (uint32_t i = 0; i < g.width * g.height; i++) {
            if (g.is_mixed[i] != 0) {
                const struct region part = take_part(&g, i);
                n = may_hold_code(&part) ? insert(ret, n, part) : n;
            }
        }
    }
    grid_fini(&g);
    for (size_t i = 0; i < n; i++) {
        ret[i] = in_pixels(p, ret[i]);
    }
    return n;
}
