/* eval_plot - curve of rates and histograms of scores as an SVG picture. */
#include <math.h>

#include "core/cli/eval_report.h"

enum { PICTURE_MAX = 1 << 20, SIDE = 300, LEFT = 50, TOP = 40, BESIDE = 420, BAR = 7 };

static const char head[] =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\" height=\"400\" "
    "font-family=\"sans-serif\" font-size=\"12\">\n"
    "<rect width=\"800\" height=\"400\" fill=\"white\"/>\n";

/* Share of spam marked over the share of ham marked, for each threshold. */
static void draw_curve(struct buf *b, const struct samples *s)
{
    size_t n[2] = {0, 0};
    size_t at[2] = {0, 0};
    for (size_t i = 0; i < s->n; i++) {
        n[s->v[i].is_spam]++;
    }
    buf_printf(b, "<text x=\"%d\" y=\"24\">spam marked, over ham marked</text>\n",
               LEFT);
    buf_printf(b,
               "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
               "stroke=\"grey\"/>\n<polyline fill=\"none\" stroke=\"black\" points=\"",
               LEFT, TOP, SIDE, SIDE);
    for (size_t i = 0; i < s->n; i++) {
        at[s->v[i].is_spam]++;
        if (i + 1 < s->n && s->v[i + 1].score == s->v[i].score) {
            continue;
        }
        buf_printf(b, "%.1f,%.1f ", LEFT + SIDE * (double)at[0] / fmax(1, (double)n[0]),
                   TOP + SIDE * (1 - (double)at[1] / fmax(1, (double)n[1])));
    }
    buf_add_str(b, "\"/>\n");
}

static unsigned bin_of(double score)
{
    double bin = floor(2 * (score + 5));
    return bin < 0 ? 0 : bin >= EVAL_BINS ? EVAL_BINS - 1 : (unsigned)bin;
}

/* One class: ham upwards in grey, spam in black before it. */
static void draw_bars(struct buf *b, const struct samples *s, bool is_spam)
{
    size_t count[EVAL_BINS] = {0};
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->v[i].is_spam == is_spam) {
            count[bin_of(s->v[i].score)]++;
            n++;
        }
    }
    for (unsigned i = 0; i < EVAL_BINS && n > 0; i++) {
        double height = SIDE * sqrt((double)count[i] / (double)n);
        buf_printf(b,
                   "<rect x=\"%d\" y=\"%.1f\" width=\"3\" height=\"%.1f\" "
                   "fill=\"%s\"/>\n",
                   BESIDE + BAR * (int)i + (is_spam ? 3 : 0), TOP + SIDE - height,
                   height, is_spam ? "black" : "silver");
    }
}

static void draw_scale(struct buf *b)
{
    buf_printf(b,
               "<text x=\"%d\" y=\"24\">scores: ham grey, spam black (roots of shares)"
               "</text>\n",
               BESIDE);
    for (int score = -5; score <= 15; score += 5) {
        buf_printf(b, "<text x=\"%d\" y=\"%d\">%d</text>\n",
                   BESIDE + 2 * BAR * (score + 5), TOP + SIDE + 16, score);
    }
}

enum err eval_plot(const struct samples *s, const char *path, struct errinfo *reterr)
{
    struct buf b;
    buf_init(&b, PICTURE_MAX);
    buf_add_str(&b, head);
    draw_curve(&b, s);
    draw_bars(&b, s, false);
    draw_bars(&b, s, true);
    draw_scale(&b);
    buf_add_str(&b, "</svg>\n");
    enum err e = buf_failed(&b) ? errinfo_nomem(reterr, path)
                                : file_write_atomic(path, buf_slice(&b), 0644, reterr);
    buf_fini(&b);
    return e;
}
