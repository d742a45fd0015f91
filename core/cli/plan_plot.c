/* plan_plot - the picture of `gillnet plan --plot`: one SVG file that needs nothing else. */
#include <math.h>
#include <stdio.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/cli/figure.h"
#include "core/cli/planning.h"

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
    STEPS_PER_BIT = 4,
    PLOT_MAX = 256 * 1024,
    FILE_MODE = 0644
};

/* Curves are those of large filters: in small ones whole lines make steps. */
static const uint64_t curve_items = 100000000;

/* What of the plane is shown. */
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

static void add_text(struct buf *b, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            buf_add_str(b, "&amp;");
            break;
        case '<':
            buf_add_str(b, "&lt;");
            break;
        case '>':
            buf_add_str(b, "&gt;");
            break;
        case '"':
            buf_add_str(b, "&quot;");
            break;
        default:
            buf_add_char(b, *text);
            break;
        }
    }
}

static void add_head(struct buf *b, const char *title)
{
    buf_printf(b,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
               "width=\"%d\" height=\"%d\" role=\"img\" "
               "font-family=\"system-ui, sans-serif\" font-size=\"13\">\n<title>",
               WIDTH, HEIGHT, WIDTH, HEIGHT);
    add_text(b, title);
    buf_add_str(b, "</title>\n<style>\n"
                   ".paper{fill:#fff}.grid{stroke:#e3e6ea}.axis{stroke:#6b7280}\n"
                   "text{fill:#1f2933}.quiet{fill:#5a6572}\n"
                   ".curve{fill:none;stroke-width:2.2}\n"
                   ".l1{stroke:#0072b2}.l2{stroke:#00835f}.l3{stroke:#c2410c}"
                   ".l4{stroke:#b0507f;stroke-dasharray:7 5}.l5{stroke:#b07d00}\n"
                   ".point{fill:#fff;stroke:#1f2933;stroke-width:2.4}\n"
                   ".guide{stroke:#1f2933;stroke-dasharray:3 4;opacity:.55}\n"
                   "@media (prefers-color-scheme:dark){\n"
                   ".paper{fill:#14181d}.grid{stroke:#2a313a}.axis{stroke:#8a94a0}\n"
                   "text{fill:#e6e9ed}.quiet{fill:#a3adb8}\n"
                   ".l1{stroke:#56b4e9}.l2{stroke:#3ddc97}.l3{stroke:#ff8a5c}"
                   ".l4{stroke:#e79bc4}.l5{stroke:#f0c24b}\n"
                   ".point{fill:#14181d;stroke:#e6e9ed}.guide{stroke:#e6e9ed}\n}\n"
                   "</style>\n");
    buf_printf(b, "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", WIDTH,
               HEIGHT);
    buf_printf(b, "<text x=\"%d\" y=\"30\" font-size=\"18\" font-weight=\"600\">",
               LEFT);
    add_text(b, title);
    buf_add_str(b, "</text>\n");
}

static void add_line(struct buf *b, const char *class, double x1, double y1, double x2,
                     double y2)
{
    buf_printf(b,
               "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
               class, x1, y1, x2, y2);
}

static void add_axes(struct buf *b, const struct view *v)
{
    double bottom = HEIGHT - BOTTOM;
    int every = v->bits_most > 60 ? 16 : 4;
    char text[FIGURE_MAX];

    for (int bits = BITS_LEAST; bits <= (int)v->bits_most; bits += every) {
        add_line(b, "grid", x_of(v, bits), TOP, x_of(v, bits), bottom);
        buf_printf(b,
                   "<text class=\"quiet\" x=\"%.1f\" y=\"%.1f\" "
                   "text-anchor=\"middle\">%d</text>\n",
                   x_of(v, bits), bottom + 20, bits);
    }
    for (int e = 0; e >= (int)v->exponent_least; e--) {
        double error = pow(10, e);
        add_line(b, e == (int)v->exponent_least ? "axis" : "grid", LEFT, y_of(v, error),
                 WIDTH - RIGHT, y_of(v, error));
        (void)snprintf(text, sizeof(text), "%.*g %%", 3, 100 * error);
        buf_printf(b,
                   "<text class=\"quiet\" x=\"%d\" y=\"%.1f\" "
                   "text-anchor=\"end\">%s</text>\n",
                   LEFT - 10, y_of(v, error) + 4, text);
    }
    add_line(b, "axis", LEFT, TOP, LEFT, bottom);
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
        add_text(b, layout_name(l));
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
    char text[4 * FIGURE_MAX];
    char error[FIGURE_MAX];
    char bytes[FIGURE_MAX];

    add_line(b, "guide", LEFT, y, x, y);
    add_line(b, "guide", x, y, x, HEIGHT - BOTTOM);
    buf_printf(b, "<circle class=\"point\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"/>\n", x, y);
    (void)snprintf(text, sizeof(text), "%s: %.2f bits, %s, %s",
                   layout_name(row->layout), s->bits_per_key,
                   figure_share(s->error, error),
                   figure_bytes((double)s->bytes, bytes));
    buf_printf(b, "<text x=\"%.1f\" y=\"%.1f\" font-weight=\"600\" text-anchor=\"%s\">",
               x + (is_right ? 0 : 14), y - 14, is_right ? "middle" : "start");
    add_text(b, text);
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
    char title[2 * FIGURE_MAX];
    char items[FIGURE_MAX];
    enum err e = ERR_NOMEM;

    buf_init(&b, PLOT_MAX);
    (void)snprintf(title, sizeof(title), "Error of a filter for %s items",
                   figure_count(p->wish.items, items));
    add_head(&b, title);
    add_legend(&b);
    add_axes(&b, &v);
    for (unsigned l = LAYOUT_FIRST; l < LAYOUT_END; l++) {
        add_curve(&b, &v, (enum layout)l);
    }
    if (chosen != NULL && chosen->size.bits_per_key >= BITS_LEAST &&
        chosen->size.bits_per_key <= v.bits_most) {
        add_point(&b, &v, chosen);
    }
    buf_add_str(&b, "</svg>\n");
    e = buf_failed(&b) ? errinfo_set(reterr, ERR_NOMEM, path, 0, "out of memory")
                       : file_write_atomic(path, buf_slice(&b), FILE_MODE, reterr);
    buf_fini(&b);
    return e;
}
