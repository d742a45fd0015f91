/* drawn - a grid of rows: its module, its picture. */
#include "core/message/html/drawn.h"

#include "core/base/buf.h"
#include "core/message/html/drawn_internal.h"

_Static_assert(sizeof(struct drawn_grid) <= DRAWN_BYTES, "as the header says");

enum { SIDE_PIXELS = (DRAWN_SIDE_MAX + 2 * DRAWN_MARGIN) * DRAWN_SCALE, HEAD_MAX = 32 };

/* The grid in modules. */
struct modules {
    uint8_t dark[DRAWN_SIDE_MAX][DRAWN_SIDE_MAX];
    size_t width;
    size_t height;
    /* without the margin */
    size_t left;
    size_t top;
    size_t right;
    size_t bottom;
};

/* Where the dark part of the grid begins and ends, and what divides all borders in it. */
struct measure {
    uint32_t first;
    uint32_t last;
    uint32_t step;
};

struct drawn *drawn_new(struct arena *arena, drawn_fn *on_picture, void *context)
{
    struct drawn *d = arena_alloc(arena, sizeof(*d));
    char *line = arena_bytes(arena, DRAWN_LINE_MAX);

    if (d == NULL || line == NULL) {
        return NULL;
    }
    d->line = line;
    d->arena = arena;
    d->on_picture = on_picture;
    d->context = context;
    return d;
}

static uint32_t divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        const uint32_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

void drawn_row_add(struct drawn_row *row, struct drawn_run run)
{
    struct drawn_run *last = row->n > 0 ? &row->run[row->n - 1] : NULL;

    if (last != NULL && last->is_dark == run.is_dark &&
        last->units + run.units <= DRAWN_WIDTH_MAX &&
        last->pixels + run.pixels <= DRAWN_WIDTH_MAX) {
        last->units = (uint16_t)(last->units + run.units);
        last->pixels = run.pixels == 0 || last->pixels == 0
                           ? 0
                           : (uint16_t)(last->pixels + run.pixels);
    } else if (row->n < DRAWN_ROW_RUNS_MAX) {
        row->run[row->n++] = run;
    } else {
        row->is_over = true;
    }
}

static bool begin_grid(struct drawn *d)
{
    if (d->grid == NULL && !d->is_failed) {
        d->grid = arena_alloc(d->arena, sizeof(*d->grid));
        d->is_failed = d->grid == NULL;
    }
    return d->grid != NULL;
}

void drawn_add_row(struct drawn *d, enum drawn_kind kind, const struct drawn_row *row,
                   unsigned height)
{
    if (d->kind != DRAWN_NOTHING && d->kind != kind) {
        drawn_finish(d);
    }
    if (d->npictures == DRAWN_PICTURES_MAX || !begin_grid(d)) {
        return;
    }
    struct drawn_grid *g = d->grid;
    if (row->is_over || g->nrows == DRAWN_ROWS_MAX ||
        g->nruns + row->n > DRAWN_RUNS_MAX) {
        drawn_finish(d);
        return;
    }
    d->kind = kind;
    memcpy(g->run + g->nruns, row->run, row->n * sizeof(row->run[0]));
    g->nruns += row->n;
    g->row[g->nrows].n = (uint16_t)row->n;
    g->row[g->nrows].height = (uint16_t)(height < UINT16_MAX ? height : UINT16_MAX);
    g->nrows++;
}

/* Whether every run has pixels, and all rows are of one width in them. */
static bool has_pixels(const struct drawn_grid *g)
{
    const struct drawn_run *run = g->run;
    uint32_t width = 0;

    for (size_t y = 0; y < g->nrows; y++) {
        uint32_t n = 0;

        for (size_t i = 0; i < g->row[y].n; i++, run++) {
            if (run->pixels == 0) {
                return false;
            }
            n += run->pixels;
        }
        if (n != width && y > 0) {
            return false;
        }
        width = n;
    }
    return true;
}

static bool has_heights(const struct drawn_grid *g)
{
    for (size_t y = 0; y < g->nrows; y++) {
        if (g->row[y].height == 0) {
            return false;
        }
    }
    return true;
}

static void add_border(struct measure *m, uint32_t at, bool *has_border)
{
    if (!*has_border) {
        m->first = at;
        m->last = at;
        *has_border = true;
        return;
    }
    m->step = divisor(at > m->first ? at - m->first : m->first - at, m->step);
    m->first = at < m->first ? at : m->first;
    m->last = at > m->last ? at : m->last;
}

static uint32_t width_of(const struct drawn_run *run, bool in_pixels)
{
    return in_pixels ? run->pixels : run->units;
}

/* Across: all ends of dark runs. Down: all rows in which something begins or ends. */
static struct measure measure_across(const struct drawn_grid *g, bool in_pixels)
{
    struct measure m = {.step = 0};
    const struct drawn_run *run = g->run;
    bool has_border = false;

    for (size_t y = 0; y < g->nrows; y++) {
        uint32_t at = 0;

        for (size_t i = 0; i < g->row[y].n; i++, run++) {
            const uint32_t end = at + width_of(run, in_pixels);

            if (run->is_dark) {
                add_border(&m, at, &has_border);
                add_border(&m, end, &has_border);
            }
            at = end;
        }
    }
    return m;
}

static bool is_light_row_of(const struct drawn_run *run, size_t n)
{
    return n == 0 || (n == 1 && !run->is_dark);
}

static bool is_same_row(const struct drawn_run *a, size_t na, const struct drawn_run *b,
                        size_t nb)
{
    for (size_t i = 0; i < na && na == nb; i++) {
        if (a[i].units != b[i].units || a[i].pixels != b[i].pixels ||
            a[i].is_dark != b[i].is_dark) {
            return false;
        }
    }
    return na == nb || (is_light_row_of(a, na) && is_light_row_of(b, nb));
}

static uint32_t height_of(const struct drawn_grid *g, size_t y, bool by_height)
{
    return by_height ? g->row[y].height : 1;
}

static struct measure measure_down(const struct drawn_grid *g, bool by_height)
{
    struct measure m = {.step = 0};
    const struct drawn_run *run = g->run;
    const struct drawn_run *above = NULL;
    size_t nabove = 0;
    uint32_t at = 0;
    bool has_border = false;

    for (size_t y = 0; y < g->nrows; y++) {
        if (!is_same_row(above, nabove, run, g->row[y].n)) {
            add_border(&m, at, &has_border);
        }
        above = run;
        nabove = g->row[y].n;
        run += nabove;
        at += height_of(g, y, by_height);
    }
    if (!is_light_row_of(above, nabove)) {
        add_border(&m, at, &has_border);
    }
    return m;
}

static bool is_side(const struct measure *m)
{
    return m->step > 0 && (m->last - m->first) / m->step >= DRAWN_SIDE_MIN &&
           (m->last - m->first) / m->step <= DRAWN_SIDE_MAX;
}

static void darken(struct modules *to, size_t y, uint32_t from, uint32_t end)
{
    for (size_t x = from; x < end && x < DRAWN_SIDE_MAX; x++) {
        to->dark[y][x] = 1;
    }
}

/* The modules of the grid; false: it is none of two colours and of a code's size. */
static bool to_modules(const struct drawn_grid *g, struct modules *to)
{
    const bool in_pixels = has_pixels(g);
    const bool by_height = has_heights(g);
    const struct measure across = measure_across(g, in_pixels);
    const struct measure down = measure_down(g, by_height);
    const struct drawn_run *run = g->run;
    uint32_t top = 0;

    if (!is_side(&across) || !is_side(&down)) {
        return false;
    }
    memset(to, 0, sizeof *to);
    to->width = (across.last - across.first) / across.step;
    to->height = (down.last - down.first) / down.step;
    for (size_t y = 0; y < g->nrows; y++) {
        const uint32_t bottom = top + height_of(g, y, by_height);
        uint32_t at = 0;

        for (size_t i = 0; i < g->row[y].n; i++, run++) {
            const uint32_t end = at + width_of(run, in_pixels);

            for (uint32_t row = top; run->is_dark && row < bottom; row += down.step) {
                darken(to, (row - down.first) / down.step,
                       (at - across.first) / across.step,
                       (end - across.first) / across.step);
            }
            at = end;
        }
        top = bottom;
    }
    to->right = to->width;
    to->bottom = to->height;
    return true;
}

/* Light on dark: both sides are dark, as a margin is, or most corners are light. Codes have marks
 * in their corners. */
static bool is_inverted(const struct modules *m)
{
    const size_t right = m->width - 1;
    const size_t bottom = m->height - 1;
    size_t ndark = 0;

    for (size_t y = 0; y < m->height; y++) {
        ndark += (size_t)m->dark[y][0] + m->dark[y][right];
    }
    return ndark == 2 * m->height || m->dark[0][0] + m->dark[0][right] +
                                             m->dark[bottom][0] +
                                             m->dark[bottom][right] <
                                         2;
}

/* Makes the modules dark on light. */
static void invert(struct modules *m)
{
    for (size_t y = 0; y < m->height; y++) {
        for (size_t x = 0; x < m->width; x++) {
            m->dark[y][x] ^= 1;
        }
    }
}

static bool is_light_column(const struct modules *m, size_t x)
{
    for (size_t y = m->top; y < m->bottom; y++) {
        if (m->dark[y][x] != 0) {
            return false;
        }
    }
    return true;
}

static bool is_light_row(const struct modules *m, size_t y)
{
    return memchr(m->dark[y], 1, m->right) == NULL;
}

/* Leaves out the margin; the picture gets its own. */
static void drop_margin(struct modules *m)
{
    while (m->top < m->bottom && is_light_row(m, m->top)) {
        m->top++;
    }
    while (m->top < m->bottom && is_light_row(m, m->bottom - 1)) {
        m->bottom--;
    }
    while (m->left < m->right && is_light_column(m, m->left)) {
        m->left++;
    }
    while (m->left < m->right && is_light_column(m, m->right - 1)) {
        m->right--;
    }
}

static bool is_dark_at(const struct modules *m, size_t x, size_t y)
{
    x += m->left;
    y += m->top;
    return x >= DRAWN_MARGIN && y >= DRAWN_MARGIN && x - DRAWN_MARGIN < m->right &&
           y - DRAWN_MARGIN < m->bottom && x - DRAWN_MARGIN >= m->left &&
           y - DRAWN_MARGIN >= m->top &&
           m->dark[y - DRAWN_MARGIN][x - DRAWN_MARGIN] != 0;
}

static void tell_picture(struct drawn *d, const struct modules *m)
{
    const size_t width = m->right - m->left + (size_t)2 * DRAWN_MARGIN;
    const size_t height = m->bottom - m->top + (size_t)2 * DRAWN_MARGIN;
    struct buf pgm;

    buf_init(&pgm, SIDE_PIXELS * SIDE_PIXELS + HEAD_MAX);
    buf_printf(&pgm, "P5\n%zu %zu\n255\n", width * DRAWN_SCALE, height * DRAWN_SCALE);
    for (size_t y = 0; y < height * DRAWN_SCALE; y++) {
        for (size_t x = 0; x < width; x++) {
            char *pixels = buf_extend(&pgm, DRAWN_SCALE);

            if (pixels != NULL) {
                memset(pixels, is_dark_at(m, x, y / DRAWN_SCALE) ? 0 : 255,
                       DRAWN_SCALE);
            }
        }
    }
    if (!buf_failed(&pgm)) {
        d->npictures++;
        d->on_picture(d->context, buf_slice(&pgm));
    }
    buf_fini(&pgm);
}

static void draw(struct drawn *d)
{
    struct modules m;

    if (!to_modules(d->grid, &m)) {
        return;
    }
    if (is_inverted(&m)) {
        invert(&m);
        drop_margin(&m);
    }
    if (m.right - m.left >= DRAWN_SIDE_MIN && m.bottom - m.top >= DRAWN_SIDE_MIN) {
        tell_picture(d, &m);
    }
}

void drawn_finish(struct drawn *d)
{
    if (d->kind != DRAWN_NOTHING) {
        draw(d);
    }
    if (d->grid != NULL) {
        d->grid->nrows = 0;
        d->grid->nruns = 0;
    }
    d->kind = DRAWN_NOTHING;
    d->ink = '\0';
    d->nblank_lines = 0;
}

void drawn_end(struct drawn *d)
{
    drawn_line_end(d);
    drawn_finish(d);
    d->npictures = 0;
    d->boxes.n = 0;
    d->box.kind = BOX_NONE;
}
