/* test_drawn - codes that text and HTML draw, each against the same modules. */
#include "core/base/buf.h"
#include "core/message/html/drawn.h"

#include "tests/unit/unit.h"

enum {
    MEMORY = 1 << 20,
    SIDE = 25,
    IN_MAX = 1 << 20,
    PICTURE = (SIDE + 2 * DRAWN_MARGIN) * DRAWN_SCALE
};

/* "https://a.example/x", as qrencode -t ASCII writes it, one character a module. */
static const char code[SIDE][SIDE + 1] = {
    "####### #  ## # # #######", "#     # ### ### # #     #",
    "# ### #   #### #  # ### #", "# ### #   #  ##   # ### #",
    "# ### # ####      # ### #", "#     # #  #      #     #",
    "####### # # # # # #######", "        # ###   #        ",
    "###  ## ###  ## #####  ##", " #  #  ####  # ## #  # ##",
    "  # ####   #   ##   ### #", "######   #   #    #  #   ",
    "#     #### ### #  ##    #", "  # ##      #  ## ##   ##",
    "## #  #     ####  #  ## #", "  #    #   ## # ## ###   ",
    "## # #### #  ## #####  # ", "        #    ## #   #   #",
    "#######  # #    # # #   #", "#     # # #  # ##   #  ##",
    "# ### #  ##### ######  ##", "# ### #  #  #  # #  # ## ",
    "# ### # ##  #####  ### ##", "#     # ## ## # # ###    ",
    "####### ###  ## ###  #  #",
};

/* The same, as qrencode -t UTF8 writes it: light on dark, with a margin. */
static const char utf8[] = "█████████████████████████████████\n"
                           "█████████████████████████████████\n"
                           "████ ▄▄▄▄▄ █ ▀▀▄ ▀ █ █ ▄▄▄▄▄ ████\n"
                           "████ █   █ ███ ▄▄ ▀▄██ █   █ ████\n"
                           "████ █▄▄▄█ █ ▄▄ ██████ █▄▄▄█ ████\n"
                           "████▄▄▄▄▄▄▄█ █ ▀ █▄█ █▄▄▄▄▄▄▄████\n"
                           "████▄ ▄█▀▄▄▀   ██ ▄▀ ▄ ▄▄▀█  ████\n"
                           "████▀▀ ▀  ▄▄█▀█▄█▀█▄▄█▀█▄ ▄█▄████\n"
                           "████▄█▀█▀▀▄▄▄▄█▄ ▄█ ▀█  ███▀ ████\n"
                           "████▄▄▀▄██▄▀███▀ ▄ ▄▀▀▄▀▀ ▄█▄████\n"
                           "████▄▄█▄█▄▄▄ █▄██  █ ▄▄▄ ██▄▀████\n"
                           "████ ▄▄▄▄▄ █▀▄▀▄█▀█▀ █▄█ ██▀ ████\n"
                           "████ █   █ ██ ▄▄ ▄█ ▄ ▄▄ █▀ ▄████\n"
                           "████ █▄▄▄█ █  █▀ ▄ ▄ █▀  ▄█▄▄████\n"
                           "████▄▄▄▄▄▄▄█▄▄▄██▄▄█▄▄▄██▄██▄████\n"
                           "█████████████████████████████████\n"
                           "█████████████████████████████████\n";

struct seen {
    size_t npictures;
    bool is_code; /* the last one shows the modules of code */
};

static bool is_code(struct slice pgm)
{
    char head[32];
    const int n = snprintf(head, sizeof head, "P5\n%d %d\n255\n", PICTURE, PICTURE);

    if (!slice_has_prefix(pgm, slice_of(head, (size_t)n)) ||
        pgm.n != (size_t)n + (size_t)PICTURE * PICTURE) {
        return false;
    }
    pgm = slice_from(pgm, (size_t)n);
    for (int i = 0; i < PICTURE * PICTURE; i++) {
        const int y = i / PICTURE / DRAWN_SCALE - DRAWN_MARGIN;
        const int x = i % PICTURE / DRAWN_SCALE - DRAWN_MARGIN;
        const bool is_dark =
            x >= 0 && y >= 0 && x < SIDE && y < SIDE && code[y][x] == '#';

        if (((unsigned char)pgm.p[i] == 0) != is_dark) {
            return false;
        }
    }
    return true;
}

static void on_picture(void *context, struct slice pgm)
{
    struct seen *seen = context;

    seen->npictures++;
    seen->is_code = is_code(pgm);
}

/* Feeds text, or HTML, in pieces of step bytes. */
static struct seen draw_text(struct slice in, size_t step)
{
    struct arena *arena = arena_new(MEMORY);
    struct seen seen = {.npictures = 0};
    struct drawn *d = drawn_new(arena, on_picture, &seen);

    assert_non_null(d);
    for (; in.n > 0; in = slice_from(in, step)) {
        drawn_text(d, slice_head(in, step));
    }
    drawn_end(d);
    arena_free(&arena);
    return seen;
}

static void on_token(void *context, const struct html_token *token)
{
    drawn_token(context, token);
}

static struct seen draw_html(struct slice in, size_t step)
{
    struct arena *arena = arena_new(MEMORY);
    struct seen seen = {.npictures = 0};
    struct drawn *d = drawn_new(arena, on_picture, &seen);
    struct html *h = html_new(arena, on_token, d);

    assert_non_null(d);
    assert_non_null(h);
    for (; in.n > 0; in = slice_from(in, step)) {
        html_feed(h, slice_head(in, step));
    }
    html_end(h);
    drawn_end(d);
    arena_free(&arena);
    return seen;
}

static void assert_code(struct seen (*draw)(struct slice, size_t), const struct buf *in)
{
    static const size_t steps[] = {IN_MAX, 1, 7, 64};

    assert_false(buf_failed(in));
    for (size_t i = 0; i < LENGTH(steps); i++) {
        const struct seen seen = draw(buf_slice(in), steps[i]);

        assert_int_equal(seen.npictures, 1);
        assert_true(seen.is_code);
    }
}

static bool is_dark(int x, int y)
{
    return x >= 0 && y >= 0 && x < SIDE && y < SIDE && code[y][x] == '#';
}

/* Words for a dark module, a light module and the end of a row. */
struct form {
    const char *begin;
    const char *row;
    const char *dark;
    const char *light;
    const char *row_end;
    const char *end;
    int margin;
};

static void write_form(struct buf *b, const struct form *f)
{
    buf_clear(b);
    buf_add_str(b, f->begin);
    for (int y = -f->margin; y < SIDE + f->margin; y++) {
        buf_add_str(b, f->row);
        for (int x = -f->margin; x < SIDE + f->margin; x++) {
            buf_add_str(b, is_dark(x, y) ? f->dark : f->light);
        }
        buf_add_str(b, f->row_end);
    }
    buf_add_str(b, f->end);
}

static void test_text__of_qrencode__is_a_picture(void **state)
{
    (void)state;
    struct buf b;

    buf_init(&b, IN_MAX);
    buf_add_str(&b, utf8);
    assert_code(draw_text, &b);
    buf_fini(&b);
}

static void test_text__of_one_or_two_characters_a_module__is_a_picture(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {"Scan me\n", "", "##", "  ", "\n", "\nBye\n", 0},
        {"", "", "##", "  ", "\r\n", "", 4},
        {"", "", "  ", "##", "\n", "", 4}, /* inverted: ASCIIi */
        {"", "", "#", " ", "\n", "", 0},
        {"", "", "@@", "  ", "\n", "", 1},
        {"", "", "11", "00", "\n", "", 2},
        {"", "", "X", ".", "\n\n", "", 0}, /* wide line spacing */
        {"", "", "\u2588\u2588", "  ", "\n", "", 0},
        {"", "", "\u2588\u2588", "\u00a0\u00a0", "\n", "", 3},
        {"", "", "\u2588\u2588", "\u2591\u2591", "\n", "", 3},
        {"", "", "  ", "\u2588\u2588", "\n", "Scan me", 2},
        {"", "", "\u2b1b", "\u2b1c", "\n", "", 0},
        {"hello\n", "   ", "\u2593\u2593", "  ", "\n", "", 0},
    };
    struct buf b;

    buf_init(&b, IN_MAX);
    for (size_t i = 0; i < LENGTH(forms); i++) {
        write_form(&b, &forms[i]);
        assert_code(draw_text, &b);
    }
    buf_fini(&b);
}

/* Two modules across and two down in one character, odd sides and all. */
static void test_text__of_quarters__is_a_picture(void **state)
{
    (void)state;
    static const char *const quarters[16] = {
        " ",      "\u2598", "\u259d", "\u2580", "\u2596", "\u258c", "\u259e", "\u259b",
        "\u2597", "\u259a", "\u2590", "\u259c", "\u2584", "\u2599", "\u259f", "\u2588"};
    struct buf b;

    buf_init(&b, IN_MAX);
    for (int y = 0; y < SIDE; y += 2) {
        for (int x = 0; x < SIDE; x += 2) {
            buf_add_str(&b,
                        quarters[is_dark(x, y) + 2 * is_dark(x + 1, y) +
                                 4 * is_dark(x, y + 1) + 8 * is_dark(x + 1, y + 1)]);
        }
        buf_add_str(&b, "\n");
    }
    assert_code(draw_text, &b);
    buf_fini(&b);
}

static void test_html__of_boxes__is_a_picture(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {"<p>Scan<table>", "<tr>", "<td bgcolor=#000000></td>", "<td bgcolor='#FFF'>",
         "</tr>", "</table><p>me", 0},
        {"<table bgcolor=white>", "<tr height=4>",
         "<td style='background: black;width:4px'>",
         "<td style='width:4px'>&nbsp;</td>", "", "</table>text", 4},
        {"<table style='background-color:#000'>", "<tr>", "<td>",
         "<td bgcolor=white></td>", "", "</table>", 0},
        {"<table>", "<tr bgcolor=black>", "<td></td>",
         "<td style='background-color: rgb(250, 240, 255)'></td>", "</tr>", "</table>",
         2},
        {"<table>", "<tr>", "<td bgcolor=white></td>", "<td bgcolor=navy></td>",
         "</tr>", "</table>", 4}, /* inverted */
        {"<table>", "<tr>",
         "<td><div style='width:5px;height:5px;background:#123'></div></td>",
         "<td><div style='width:5px;height:5px'></div></td>", "</tr>", "</table>", 0},
        {"", "<div style='height:5px'>",
         "<div style='display:inline-block;width:5px;height:5px;background:#000'></div>",
         "<div style='display:inline-block;width:5px;height:5px;background:#fff'></div>",
         "</div>", "", 0},
        {"", "", "<span style='background:#000'>&nbsp;&nbsp;</span>",
         "<span style='background:#fff'>&nbsp;&nbsp;</span>", "<br>", "", 0},
        {"<div>", "<div>", "<i style='background:#000;width:3px'></i>",
         "<i style='width:3px'></i>", "</div>\n", "</div>", 0},
        {"<table><tr><td>", "<table><tr>", "<td width=3 height=3 bgcolor=000000>",
         "<td width=3 bgcolor=ffffff>", "</table>", "</table>", 1},
    };
    struct buf b;

    buf_init(&b, IN_MAX);
    for (size_t i = 0; i < LENGTH(forms); i++) {
        write_form(&b, &forms[i]);
        assert_code(draw_html, &b);
    }
    buf_fini(&b);
}

/* A box's attributes are read up to DRAWN_STYLE_MAX bytes, with a sign behind each. */
static void test_html__of_boxes_with_long_attributes__up_to_the_limit(void **state)
{
    enum { MOST = 400 - 1 };
    struct buf b;

    (void)state;
    buf_init(&b, IN_MAX);
    for (unsigned more = 0; more < 2; more++) {
        char dark[512];
        int n = snprintf(dark, sizeof(dark), "<td style='background:#000;x:");
        size_t begin = (size_t)n - sizeof("background:#000;x:") + 1;
        memset(dark + n, 'y', begin + MOST + more - (size_t)n);
        (void)snprintf(dark + begin + MOST + more, 8, "'></td>");
        const struct form form = {
            "<table>", "<tr>", dark, "<td bgcolor=white></td>", "</tr>", "</table>", 0};
        write_form(&b, &form);
        assert_int_equal(draw_html(buf_slice(&b), IN_MAX).npictures, 1 - more);
    }
    buf_fini(&b);
}

/* Neighbours of one colour in one box, as wide as they are together. */
static void write_joined(struct buf *b, const char *box)
{
    buf_clear(b);
    for (int y = 0; y < SIDE; y++) {
        buf_add_str(b, "<table><tr>");
        for (int x = 0, n = 0; x < SIDE; x += n) {
            for (n = 0; x + n < SIDE && is_dark(x + n, y) == is_dark(x, y);) {
                n++;
            }
            buf_printf(b, "<td %s=%d bgcolor=%s></td>", box, n,
                       is_dark(x, y) ? "black" : "white");
        }
        buf_add_str(b, "</tr></table>");
    }
}

static void test_html__of_joined_boxes__is_a_picture(void **state)
{
    (void)state;
    struct buf b;

    buf_init(&b, IN_MAX);
    write_joined(&b, "colspan");
    assert_code(draw_html, &b);
    write_joined(&b, "width");
    assert_code(draw_html, &b);
    buf_fini(&b);
}

static void test_html__two_codes__are_two_pictures(void **state)
{
    (void)state;
    static const struct form form = {"<table>",
                                     "<tr>",
                                     "<td bgcolor=black>",
                                     "<td bgcolor=white>",
                                     "</tr>",
                                     "</table><p>and</p>",
                                     0};
    struct buf one;
    struct buf b;

    buf_init(&one, IN_MAX);
    buf_init(&b, 32 * IN_MAX);
    write_form(&one, &form);
    for (int i = 0; i < DRAWN_PICTURES_MAX + 1; i++) {
        buf_add(&b, buf_slice(&one));
        assert_int_equal(draw_html(buf_slice(&b), IN_MAX).npictures,
                         i < DRAWN_PICTURES_MAX ? i + 1 : DRAWN_PICTURES_MAX);
    }
    buf_fini(&one);
    buf_fini(&b);
}

/* side modules of a chess board. */
static size_t chess(int side, struct seen (*draw)(struct slice, size_t),
                    const char *dark, const char *light, const char *end)
{
    struct buf b;

    buf_init(&b, 16 * IN_MAX);
    for (int y = 0; y < side; y++) {
        for (int x = 0; x < side; x++) {
            buf_add_str(&b, (x + y) % 2 == 0 ? dark : light);
        }
        buf_add_str(&b, end);
    }
    assert_false(buf_failed(&b));
    const size_t n = draw(buf_slice(&b), IN_MAX).npictures;
    buf_fini(&b);
    return n;
}

static void test_sides__at_their_limits__are_kept(void **state)
{
    (void)state;
    static const struct {
        int side;
        size_t npictures;
    } rows[] = {{DRAWN_SIDE_MIN - 1, 0},
                {DRAWN_SIDE_MIN, 1},
                {DRAWN_SIDE_MAX - 1, 1},
                {DRAWN_SIDE_MAX + 3, 0},
                {3 * DRAWN_SIDE_MAX, 0}};

    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_int_equal(chess(rows[i].side, draw_text, "##", "  ", "|\n"), 0);
        if (rows[i].side <= DRAWN_SIDE_MAX / 2) {
            assert_int_equal(chess(rows[i].side, draw_text, "##", "  ", "\n"),
                             rows[i].npictures);
        }
        assert_int_equal(chess(rows[i].side, draw_html, "<td bgcolor=black>",
                               "<td bgcolor=white>", "<tr>"),
                         rows[i].npictures);
    }
}

static void test_layout__is_no_picture(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "<table><tr><td bgcolor=black>a<td bgcolor=white>b<tr><td>c</table>",
        "<table><tr><td width=5 bgcolor=black><td width=9><td width=5 bgcolor=black></table>",
        "<div style='background:#000'><div style='background:url(x)'></div></div>",
        "<td><td><td></table></table></tr></div></span><br><br>",
    };
    static const char *const texts[] = {
        "############################\n# hello                    #\n############\n",
        "----------------------------\n****************************\n\n\n",
        "\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\n",
        "\xe2\x96",
        "\xe2\x96\n\xe2\n\xc2\n\xf0\x9f\n",
        "# # # # # # # # # # # # # #\n"};

    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_int_equal(draw_html(slice_str(rows[i]), 1).npictures, 0);
    }
    for (size_t i = 0; i < LENGTH(texts); i++) {
        assert_int_equal(draw_text(slice_str(texts[i]), 1).npictures, 0);
    }
}

static void test_memory__that_is_refused__loses_the_picture_only(void **state)
{
    (void)state;
    struct arena *arena = arena_new(DRAWN_BYTES / 2);
    struct seen seen = {.npictures = 0};
    struct drawn *d = drawn_new(arena, on_picture, &seen);

    assert_non_null(d);
    drawn_text(d, slice_str(utf8));
    drawn_end(d);
    assert_int_equal(seen.npictures, 0);
    arena_free(&arena);
}

/* Bytes of codes that are cut, doubled and changed: whatever comes, at most a picture comes out. */
static void test_hostile__bytes__are_survived(void **state)
{
    (void)state;
    static const struct form form = {"<table>",
                                     "<tr height=3>",
                                     "<td width=3 style='background:#000'>",
                                     "<td colspan=1 bgcolor=white>&nbsp;",
                                     "</tr>",
                                     "</table>",
                                     1};
    uint32_t random = 1;
    struct buf b;
    struct buf in;

    buf_init(&in, IN_MAX);
    buf_init(&b, 2 * IN_MAX);
    write_form(&in, &form);
    for (int i = 0; i < 2000; i++) {
        const struct slice whole = i % 2 == 0 ? buf_slice(&in) : slice_str(utf8);

        random = random * 1664525 + 1013904223;
        const size_t cut = (random >> 8) % whole.n;
        buf_clear(&b);
        buf_add(&b, slice_head(whole, cut));
        buf_add_char(&b, (char)(random >> 16));
        buf_add(&b, slice_from(whole, cut / 2));
        b.p[(random >> 4) % b.n] = "<>#9 =\xe2\n"[random >> 29];
        assert_true((i % 2 == 0 ? draw_html : draw_text)(buf_slice(&b), 64).npictures <=
                    3);
    }
    buf_fini(&in);
    buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text__of_qrencode__is_a_picture),
        cmocka_unit_test(test_text__of_one_or_two_characters_a_module__is_a_picture),
        cmocka_unit_test(test_text__of_quarters__is_a_picture),
        cmocka_unit_test(test_html__of_boxes__is_a_picture),
        cmocka_unit_test(test_html__of_boxes_with_long_attributes__up_to_the_limit),
        cmocka_unit_test(test_html__of_joined_boxes__is_a_picture),
        cmocka_unit_test(test_html__two_codes__are_two_pictures),
        cmocka_unit_test(test_sides__at_their_limits__are_kept),
        cmocka_unit_test(test_layout__is_no_picture),
        cmocka_unit_test(test_memory__that_is_refused__loses_the_picture_only),
        cmocka_unit_test(test_hostile__bytes__are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
