/* simulate_plot - the picture of `gillnet simulate paper --plot`: a panel for each experiment. */
#include <math.h>

#include "core/lab/simulate.h"
#include "core/lab/svg.h"

enum {
    COLUMNS = 2,
    WIDTH = 1000,
    PANEL_STEP = 500,
    PANEL_WIDTH = 484,
    PANEL_HEIGHT = 300,
    HEAD = 84,
    LEFT = 76,
    RIGHT = 14,
    TOP = 44,
    BOTTOM = 54,
    ERRORS_SHOWN = 4, /* standard errors to both sides */
    EXPONENT_LEAST = -7,
    EXPONENT_MOST = -1,
    TABLE_OF_EXPERIMENT = 2
};

struct panel {
    double x;
    double y;
    size_t npoints; /* sizes and numbers of probes */
};

static double x_of(const struct panel *p, double point)
{
    return p->x + LEFT +
           (point + 0.5) / (double)p->npoints * (PANEL_WIDTH - LEFT - RIGHT);
}

/* Values below the scale, zero too, are drawn on its lowest line. */
static double y_of(const struct panel *p, double rate)
{
    double exponent = rate > 0 ? log10(rate) : EXPONENT_LEAST;

    exponent = fmin(fmax(exponent, EXPONENT_LEAST), EXPONENT_MOST);
    return p->y + TOP +
           (EXPONENT_MOST - exponent) / (EXPONENT_MOST - EXPONENT_LEAST) *
               (PANEL_HEIGHT - TOP - BOTTOM);
}

static void add_axes(struct buf *b, const struct panel *p, unsigned number)
{
    double right = p->x + PANEL_WIDTH - RIGHT;

    buf_printf(
        b,
        "<text x=\"%.1f\" y=\"%.1f\" font-weight=\"600\">Experiment %u, Table %u</text>\n",
        p->x + LEFT, p->y + TOP - 14, number, number + TABLE_OF_EXPERIMENT);
    for (int e = EXPONENT_MOST; e >= EXPONENT_LEAST; e--) {
        double y = y_of(p, pow(10, e));
        svg_line(b, e == EXPONENT_LEAST ? "axis" : "grid", p->x + LEFT, y, right, y);
        buf_printf(b,
                   "<text class=\"quiet\" x=\"%.1f\" y=\"%.1f\" "
                   "text-anchor=\"end\">1e%d</text>\n",
                   p->x + LEFT - 8, y + 4, e);
    }
}

static void add_labels(struct buf *b, const struct panel *p, size_t point,
                       const struct experiment *e)
{
    double bottom = p->y + PANEL_HEIGHT - BOTTOM;

    buf_printf(b,
               "<text class=\"quiet\" x=\"%.1f\" y=\"%.1f\" "
               "text-anchor=\"middle\">%u</text>\n",
               x_of(p, (double)point), bottom + 18, e->k);
    if (point % EXPERIMENT_K_COUNT == EXPERIMENT_K_COUNT / 2) {
        buf_printf(b,
                   "<text class=\"quiet\" x=\"%.1f\" y=\"%.1f\" "
                   "text-anchor=\"middle\">m %uK</text>\n",
                   x_of(p, (double)point), bottom + 36, e->m / 1000);
    }
}

/* 1: intuitive, 2: refined as the paper has it, 3: refined in the other reading. */
static unsigned colour_of(const struct simulation_cell *c)
{
    struct experiment_column columns[EXPERIMENT_COLUMNS_MAX];
    size_t n = experiment_columns(c->experiment.number, columns);

    if (c->column.variant == COUNTING_INTUITIVE) {
        return 1;
    }
    return n > 1 && columns[1].reading == c->column.reading ? 2 : 3;
}

static void add_cell(struct buf *b, const struct panel *p, size_t point,
                     const struct simulation_cell *c)
{
    unsigned colour = colour_of(c);
    double x = x_of(p, (double)point) + ((double)colour - 2) * 6;
    double spread = ERRORS_SHOWN * c->mean.std_error;

    buf_printf(b, "<circle class=\"point\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n", x,
               y_of(p, c->published.mean));
    buf_printf(b, "<path class=\"curve l%u\" d=\"M%.1f %.1fV%.1fM%.1f %.1fh7\"><title>",
               colour, x, y_of(p, c->mean.mean - spread),
               y_of(p, c->mean.mean + spread), x - 3.5, y_of(p, c->mean.mean));
    buf_printf(b, "m %u, k %u, %s: %.3e; paper %.3e", c->experiment.m, c->experiment.k,
               experiment_reading_name(c->column.reading), c->mean.mean,
               c->published.mean);
    buf_add_str(b, "</title></path>\n");
}

static void add_legend(struct buf *b)
{
    static const char *const names[] = {
        "intuitive", "refined", "refined, keys in a row where the table says shuffled"};
    static const int at[] = {LEFT, LEFT + 130, LEFT + 250};

    for (unsigned i = 0; i < LENGTH(names); i++) {
        buf_printf(
            b, "<path class=\"curve l%u\" d=\"M%d 56h26\"/>\n<text x=\"%d\" y=\"60\">",
            i + 1, at[i], at[i] + 33);
        svg_text(b, names[i]);
        buf_add_str(b, "</text>\n");
    }
    buf_printf(
        b,
        "<circle class=\"point\" cx=\"%d\" cy=\"56\" r=\"3\"/>\n"
        "<text x=\"%d\" y=\"60\">the paper; bars are ours, %d standard errors to "
        "both sides</text>\n",
        LEFT + 640, LEFT + 650, ERRORS_SHOWN);
}

/* The cells of one experiment, which stand together; returns how many they are. */
static size_t add_panel(struct buf *b, const struct simulation_cell *cells, size_t n,
                        size_t index)
{
    uint32_t sizes[EXPERIMENT_SIZES_MAX];
    unsigned number = cells[0].experiment.number;
    size_t column = index % COLUMNS;
    size_t row = index / COLUMNS;
    struct panel p = {.x = (double)(column * PANEL_STEP),
                      .y = (double)(HEAD + row * PANEL_HEIGHT),
                      .npoints = experiment_sizes(number, sizes) * EXPERIMENT_K_COUNT};
    size_t point = 0;
    size_t i = 0;

    add_axes(b, &p, number);
    for (; i < n && cells[i].experiment.number == number; i++) {
        if (i > 0 && cells[i].column.variant == COUNTING_INTUITIVE) {
            point++; /* its columns follow it */
        }
        if (cells[i].column.variant == COUNTING_INTUITIVE) {
            add_labels(b, &p, point, &cells[i].experiment);
        }
        add_cell(b, &p, point, &cells[i]);
    }
    return i;
}

enum err simulation_plot(const struct simulation_cell *cells, size_t n, size_t rounds,
                         const char *path, struct errinfo *reterr)
{
    struct buf b;
    char title[80];
    size_t npanels = 0;
    enum err e = ERR_OK;

    for (size_t i = 0; i < n; i++) {
        npanels +=
            i == 0 || cells[i].experiment.number != cells[i - 1].experiment.number;
    }
    buf_init(&b, SVG_MAX);
    (void)snprintf(title, sizeof(title),
                   "Wrong counts of counting filters, %zu rounds beside the paper's %d",
                   rounds, EXPERIMENT_PUBLISHED_ROUNDS);
    svg_head(&b, title, WIDTH,
             HEAD + (int)((npanels + COLUMNS - 1) / COLUMNS) * PANEL_HEIGHT, LEFT);
    add_legend(&b);
    for (size_t at = 0, index = 0; at < n; index++) {
        at += add_panel(&b, &cells[at], n - at, index);
    }
    e = svg_write(&b, path, reterr);
    buf_fini(&b);
    return e;
}
