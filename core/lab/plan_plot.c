/* plan_plot - the picture of `gillnet plan --plot`: one SVG file that needs nothing else. */
#include <math.h>

#include "core/base/buf.h"
#include "core/cli/humanize.h"
#include "core/lab/plan_command.h"
#include "core/lab/svg.h"

enum {
    WIDTH = 860,
    HEIGHT = 520,
    LEFT = 86,
    RIGHT = 24,
    TOP = 84,
    BOTTOM = 62,
    BITS_LEAST = 4,
    BITS_USUAL = 24,
    BITS_MOST = 130,
    STEPS_PER_BIT = 4
};

/* Curves are those of large filters: in small ones whole lines make steps. */
static const uint64_t curve_items = 100000000;

/* The visible part of the plane. */
struct view {
    double bits_most;
    double exponent_least; /* of the error, a negative power of ten */
};

static double x_of(const struct view *v, double bits)
{
    return LEFT +
           (bits - BITS_LEAST) / (v->bits_most - BITS_LEAST) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct view *v, double error)
{
    return TOP + log10(error) / v->exponent_least * (HEIGHT - TOP - BOTTOM);
}

static void add_axes(struct buf *b, const struct view *v)
{
    double bottom = HEIGHT - BOTTOM;
    int every = v->bits_most > 60 ? 16 : 4;
    char text[HUMANIZE_MAX];

    for (int bits = BITS_LEAST; bits <= (int)v->bits_most; bits += every) {
        svg_line(b, "grid", x_of(v, bits), TOP, x_of(v, bits), bottom);
        buf_printf(b,
                   "<text class=\"quiet\" x=\"%.1f\" y=\"%.1f\" "
                   "text-anchor=\"middle\">%d</text>\n",
                   x_of(v, bits), bottom + 20, bits);
    }
    for (int e = 0; e >= (int)v->exponent_least; e--) {
        double error = pow(10, e);
        svg_line(b, e == (int)v->exponent_least ? "axis" : "grid", LEFT, y_of(v, error),
                 WIDTH - RIGHT, y_of(v, error));
        (void)snprintf(text, sizeof(text), "%.*g %%", 3, 100 * error);
        buf_printf(b,
                   "<text class=\"quiet\" x=\"%d\" y=\"%.1f\" "
                   "text-anchor=\"end\">%s</text>\n",
                   LEFT - 10, y_of(v, error) + 4, text);
    }
    svg_line(b, "axis", LEFT, TOP, LEFT, bottom);
    buf_printf(b,
               "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">bits a key</text>\n"
               "<text transform=\"translate(20 %d) rotate(-90)\" "
               "text-anchor=\"middle\">false positives</text>\n",
               (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, (TOP + HEIGHT - BOTTOM) / 2);
}

/* A point of a curve; false where the curve has left the picture. */
static bool add_curve_point(struct buf *b, const struct view *v, enum layout layout,
                            const struct layout_wish *wish)
{
    struct layout_size size;

    if (layout_plan(layout, wish, &size, NULL) != ERR_OK) {
        return true; /* it begins with more bits */
    }
    if (size.error < pow(10, v->exponent_least)) {
        return false;
    }
    buf_printf(b, "%.1f %.1f ", x_of(v, size.bits_per_key), y_of(v, size.error));
    return true;
}

static void add_curve(struct buf *b, const struct view *v, enum layout layout)
{
    struct layout_wish wish = {.items = curve_items, .error = 0.5};
    int step = BITS_LEAST * STEPS_PER_BIT;

    buf_printf(b, "<path class=\"curve l%d\" d=\"M", (int)layout);
    if (layout == LAYOUT_CUCKOO) { /* its least size lies between the steps */
        (void)add_curve_point(b, v, layout, &wish);
    }
    for (bool goes_on = true; goes_on && step <= v->bits_most * STEPS_PER_BIT; step++) {
        wish.bits_per_key = (double)step / STEPS_PER_BIT;
        goes_on = add_curve_point(b, v, layout, &wish);
    }
    buf_add_str(b, "\"/>\n");
}

static void add_legend(struct buf *b)
{
    double x = LEFT;

    for (unsigned l = LAYOUT_FIRST; l < LAYOUT_END; l++) {
        buf_printf(b, "<path class=\"curve l%u\" d=\"M%.1f 56h26\"/>\n", l, x);
        buf_printf(b, "<text x=\"%.1f\" y=\"60\">", x + 33);
        svg_text(b, layout_name(l));
        buf_add_str(b, "</text>\n");
        x += 130;
    }
}

static void add_point(struct buf *b, const struct view *v,
                      const struct planning_row *row)
{
    const struct layout_size *s = &row->size;
    double x = x_of(v, s->bits_per_key);
    double y = y_of(v, s->error);
    bool is_right = x > (LEFT + WIDTH) * 0.6; /* no room for text behind it */
    char text[4 * HUMANIZE_MAX];
    char error[HUMANIZE_MAX];
    char bytes[HUMANIZE_MAX];

    svg_line(b, "guide", LEFT, y, x, y);
    svg_line(b, "guide", x, y, x, HEIGHT - BOTTOM);
    buf_printf(b, "<circle class=\"point\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"/>\n", x, y);
    (void)snprintf(text, sizeof(text), "%s: %.2f bits, %s, %s",
                   layout_name(row->layout), s->bits_per_key,
                   humanize_share(s->error, error),
                   humanize_bytes((double)s->bytes, bytes));
    buf_printf(b, "<text x=\"%.1f\" y=\"%.1f\" font-weight=\"600\" text-anchor=\"%s\">",
               x + (is_right ? 0 : 14), y - 14, is_right ? "middle" : "start");
    svg_text(b, text);
    buf_add_str(b, "</text>\n");
}

static struct view view_of(const struct planning_row *chosen)
{
    struct view v = {.bits_most = BITS_USUAL, .exponent_least = -5};

    if (chosen != NULL) {
        v.bits_most = fmax(v.bits_most, ceil(chosen->size.bits_per_key / 4 + 1) * 4);
        v.bits_most = fmin(v.bits_most, BITS_MOST + 2);
        v.exponent_least =
            fmin(v.exponent_least, floor(log10(fmax(chosen->size.error, 1e-30))));
    }
    return v;
}

enum err planning_plot(const struct planning *p, const char *path,
                       struct errinfo *reterr)
{
    const struct planning_row *chosen = planning_chosen(p);
    struct view v = view_of(chosen);
    struct buf b;
    char title[2 * HUMANIZE_MAX];
    char items[HUMANIZE_MAX];
    enum err e = ERR_OK;

    buf_init(&b, SVG_MAX);
    (void)snprintf(title, sizeof(title), "Error of a filter for %s items",
                   humanize_count(p->wish.items, items));
    svg_head(&b, title, WIDTH, HEIGHT, LEFT);
    add_legend(&b);
    add_axes(&b, &v);
    for (unsigned l = LAYOUT_FIRST; l < LAYOUT_END; l++) {
        add_curve(&b, &v, (enum layout)l);
    }
    if (chosen != NULL && chosen->size.bits_per_key >= BITS_LEAST &&
        chosen->size.bits_per_key <= v.bits_most) {
        add_point(&b, &v, chosen);
    }
    e = svg_write(&b, path, reterr);
    buf_fini(&b);
    return e;
}
