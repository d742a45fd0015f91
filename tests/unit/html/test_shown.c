/* test_shown - text, URLs and links of HTML as a reader has them, fed whole and cut at every
 * place. */
#include "core/message/html/shown.h"
#include "core/message/url/longurl.h"

#include "tests/unit/text/text_test.h"

/* Reports, one a line; text with its place and the reason why it is hidden. */
struct record {
    char text[3 * SHOWN_RUN_MAX];
    size_t n;
    size_t longest;
    size_t nlink;  /* bytes of links ... */
    size_t nother; /* ... and of values that are only text */
};

static void add(struct record *r, struct slice s)
{
    s = slice_head(s, sizeof(r->text) - r->n);
    if (s.n > 0) {
        put_at(r->text, r->n, s);
        r->n += s.n;
    }
}

static void on_text(void *context, const struct shown_text *t)
{
    static const char *const places[] = {"body",  "title",   "script",
                                         "style", "comment", "fallback"};
    struct record *r = context;

    r->longest = t->text.n > r->longest ? t->text.n : r->longest;
    add(r, slice_str(places[t->where]));
    add(r, (t->flags & SHOWN_NONE) != 0 ? SLICE_LIT("-none") : SLICE_NONE);
    add(r, (t->flags & SHOWN_INVISIBLE) != 0 ? SLICE_LIT("-invisible") : SLICE_NONE);
    add(r, (t->flags & SHOWN_TINY) != 0 ? SLICE_LIT("-tiny") : SLICE_NONE);
    add(r, (t->flags & SHOWN_OUTLOOK) != 0 ? SLICE_LIT("-outlook") : SLICE_NONE);
    add(r, SLICE_LIT(" "));
    add(r, t->text);
    add(r, SLICE_LIT("\n"));
}

static void on_value(void *context, enum shown_value_kind kind, struct slice value)
{
    static const char *const kinds[] = {"link", "form",  "load", "refresh",
                                        "base", "other", NULL};
    struct record *r = context;

    r->nlink += kind == SHOWN_VALUE_LINK ? value.n : 0;
    r->nother += kind == SHOWN_VALUE_TEXT ? value.n : 0;
    if (kinds[kind] != NULL) {
        add(r, SLICE_LIT("@"));
        add(r, slice_str(kinds[kind]));
        add(r, SLICE_LIT(" "));
        add(r, value);
        add(r, SLICE_LIT("\n"));
    }
}

static void on_link(void *context, const struct shown_link *link)
{
    struct record *r = context;

    add(r, SLICE_LIT("["));
    add(r, link->text);
    add(r, link->has_image ? SLICE_LIT(" (image)") : SLICE_NONE);
    add(r, link->is_cut ? SLICE_LIT(" (cut)") : SLICE_NONE);
    add(r, SLICE_LIT("] "));
    add(r, link->target);
    add(r, SLICE_LIT("\n"));
}

static const struct shown_events events = {
    .text = on_text, .value = on_value, .link = on_link};

static void on_token(void *context, const struct html_token *token)
{
    shown_take(context, token);
}

/* True: no limit was met. */
static bool read_html(struct arena *arena, struct slice in, size_t first, size_t step,
                      struct record *r)
{
    struct shown *s = shown_new(arena, &events, r);
    struct html *h = html_new(arena, on_token, s);

    assert_non_null(s);
    assert_non_null(h);
    html_feed(h, slice_head(in, first));
    for (in = slice_from(in, first); in.n > 0; in = slice_from(in, step)) {
        html_feed(h, slice_head(in, step));
    }
    html_end(h);
    shown_end(s);
    return !shown_met_limit(s);
}

#define HIDE(style) "<div style='" style "'>x</div>"

static const struct {
    struct slice in;
    const char *want;
} rows[] = {
    /* runs */
    {LIT("a<b>b</b>c<p>d<br>e"), "body abc\nbody d\nbody e\n"},
    {LIT("http://e<span style='display:none'>x</span>vil.example<p>"),
     "body http://evil.example\nbody-none x\n"},
    {LIT("<title>t&amp;</title><script>s</script><style>c</style><!--o--><xmp>x</xmp>"),
     "title t&\nscript s\nstyle c\ncomment o\nbody x\n"},
    {LIT("<iframe>a</iframe><noembed>b</noembed><noframes>c</noframes>"),
     "fallback a\nfallback b\nfallback c\n"},
    {LIT("<textarea>a<b></textarea><noscript>c</noscript>a\0b"),
     "body a<b>\nbody c\nbody ab\n"},
    /* what hides */
    {LIT(HIDE("display:none") HIDE("DISPLAY : NONE ;")
             HIDE("color:red;display:none!important")),
     "body-none x\nbody-none x\nbody-none x\n"},
    {LIT(HIDE("dis\\70 lay:/**/n\\6fne") HIDE("opacity:0") HIDE("opacity:0.0")),
     "body-none x\nbody-none x\nbody-none x\n"},
    {LIT(HIDE("visibility:hidden") HIDE("visibility:collapse")),
     "body-invisible x\nbody-invisible x\n"},
    {LIT(HIDE("font-size:0") HIDE("font-size:0px") HIDE("font-size:1px")
             HIDE("font-size:.5pt") HIDE("font:0/0 a") HIDE("font: bold 1px x")),
     "body-tiny x\nbody-tiny x\nbody-tiny x\nbody-tiny x\nbody-tiny x\nbody-tiny x\n"},
    {LIT(HIDE("max-height:0;overflow:hidden")
             HIDE("overflow:hidden;width:0px;height:9px")),
     "body-none x\nbody-none x\n"},
    {LIT("<div hidden>x</div><template>y</template><p hidden style='color:red'>z</p>"),
     "body-none x\nbody-none y\nbody-none z\n"},
    /* what does not */
    {LIT(HIDE("display:block") HIDE("display:none;display:block") HIDE("opacity:0.1")),
     "body x\nbody x\nbody x\n"},
    {LIT(HIDE("display:block!important;display:none") HIDE("display:none!imp")),
     "body x\nbody x\n"},
    {LIT(HIDE("x:\"a;display:none\"") HIDE("background:url(a;display:none)")
             HIDE("/*;display:none*/") HIDE("x\\3b display:none")),
     "body x\n@load a;display:none\nbody x\nbody x\nbody x\n"},
    {LIT(HIDE("x:([);display:none") HIDE("x:url(\")\");display:none")
             HIDE("x:{;display:none}") HIDE("x:(((((((((;display:none)))))))))")
                 HIDE("x:((((((((()))))))))/*)*/;display:none")
                     HIDE("x:a\\(;display:none") HIDE("x:\"a/*\";display:none")),
     "body x\n@load )\nbody-none x\nbody x\nbody x\nbody x\nbody-none x\nbody-none x\n"},
    {LIT(HIDE("font-size:10px") HIDE("font-size:1.5px") HIDE("font-size:1em")
             HIDE("font:bold 12px/1 x") HIDE("font:900 9px x") HIDE("font-size:100%")),
     "body x\nbody x\nbody x\nbody x\nbody x\nbody x\n"},
    {LIT(HIDE("max-height:0") HIDE("overflow:hidden") HIDE("max-display:none")),
     "body x\nbody x\nbody x\n"},
    {LIT("<div hidden style='display:block'>x</div><b style='' style='display:none'>y"),
     "body x\nbody y\n"},
    /* how far */
    {LIT("<div style='font-size:0'>a<p style='font-size:9px'>b</p>c</div>d"),
     "body-tiny a\nbody b\nbody-tiny c\nbody d\n"},
    {LIT("<div style='visibility:hidden'>a<p style='visibility:visible'>b</p>c</div>d"),
     "body-invisible a\nbody b\nbody-invisible c\nbody d\n"},
    {LIT("<div style='display:none'>a<p style='display:block'>b</p><div>c</div>d</div>e"),
     "body-none a\nbody-none b\nbody-none c\nbody-none d\nbody e\n"},
    {LIT("<div><p style='display:none'>a<div>b</div></div>"), "body-none a\nbody b\n"},
    {LIT("<div><p style='display:none'>a</div>b"), "body-none a\nbody b\n"},
    {LIT("<ul><li hidden>a<li>b</ul><dl><dt hidden>c<dd>d</dl>"),
     "body-none a\nbody b\nbody-none c\nbody d\n"},
    {LIT("<ul><li hidden>a<ul><li>b</ul>c</ul>d"),
     "body-none a\nbody-none b\nbody-none c\nbody d\n"},
    {LIT("<table><tr><td hidden>a<td>b<tr hidden><td>c<tr><td>d</table>"),
     "body-none a\nbody b\nbody-none c\nbody d\n"},
    {LIT("<table><tr hidden><td>a<div></td></tr><tr><td>b</table>c"),
     "body-none a\nbody b\nbody c\n"},
    {LIT("<table><tr><td hidden><table><tr><td>a</table></p></div>b</table>c"),
     "body-none a\nbody-none b\nbody c\n"},
    {LIT("<td hidden>a</td><br hidden>b<img style='display:none'>c"),
     "body a\nbody b\nbody c\n"},
    {LIT("<div hidden/>a</div>b"), "body-none a\nbody b\n"},
    {LIT("<div hidden>a</span>b</body>c"), "body-none ab\nbody-none c\n"},
    {LIT("<table hidden>a</table>b<div hidden"), "body-none a\nbody b\n"},
    /* URLs */
    {LIT("<a href=1><area href=2><link href=3><base href=4><svg xlink:href=5>"),
     "@link 1\n@link 2\n@load 3\n@base 4\n@link 5\n[] 1\n"},
    {LIT("<form action=1><button formaction=2><img src=3 lowsrc=4><td background=5>"),
     "@form 1\n@form 2\n@load 3\n@load 4\n@load 5\n"},
    {LIT("<video poster=1 src=2><blockquote cite=3><object data=4 xmlns='http://x'>"),
     "@load 1\n@load 2\n@other 3\n@load 4\n"},
    {LIT("<img srcset=' a.png 1x, b.png 2x,c,d 3w , e'><img srcset='a,b, c'>"),
     "@load a.png\n@load b.png\n@load c,d\n@load e\n@load a,b\n@load c\n"},
    {LIT("<meta http-equiv=refresh content='0; URL=\"1\"'><meta content='0;url = 2'>"
         "<meta content='3'>"),
     "@refresh 1\n@refresh 2\n"},
    {LIT("<p style='background:url(1) url( \"2\" ) URL('>x"),
     "@load 1\n@load 2\nbody x\n"},
    {LIT("<p style='background:url(http\\3a //a\\2e com/\\x) url(\\'>x"),
     "@load http://a.com/x\n@load \\\nbody x\n"},
    {LIT("<style>a{b:url('1')}@import url(2)</style>"),
     "style a{b:url('1')}@import url(2)\n@load 1\n@load 2\n"},
    /* links */
    {LIT("<a href=' http://e.example '>http://<b>b</b>.example</a>"),
     "@link  http://e.example \nbody http://b.example\n[http://b.example] "
     "http://e.example\n"},
    {LIT("<a href=1 href=2><span hidden>x</span>y<img src=z></a>w"),
     "@link 1\n@link 2\nbody y\nbody-none x\n@load z\n[y (image)] 1\nbody w\n"},
    {LIT("<a href=1>a<a name=b>b<a href=2>c"),
     "@link 1\nbody a\n[a] 1\nbody b\n@link 2\nbody c\n[c] 2\n"},
    {LIT("<a href=1>a<table><tr><td>b</table>c</a>d<a href=2"),
     "@link 1\nbody a\nbody b\nbody c\n[abc] 1\nbody d\n@link 2\n"},
    /* conditional comments */
    {LIT("a<!--[if mso]><a href=1>b</a><!x><![endif]-->c"),
     "@link 1\nbody-outlook b\n[b] 1\ncomment-outlook x\n"
     "comment-outlook [endif]\nbody ac\n"},
    {LIT("<a href=1>a<!--[if mso]><a href=2>b<div hidden>c</div></div><title><![endif]-->"
         "d</a>e"),
     "@link 1\n@link 2\nbody-outlook b\nbody-none-outlook c\n"
     "title-outlook <![endif]\n[b] 2\nbody ad\n[ad] 1\nbody e\n"},
    {LIT("<div hidden><!--[if mso]></div><td>a<![endif]-->b</div>c"),
     "body-none-outlook a\ncomment-none-outlook [endif]\nbody-none b\nbody c\n"},
    {LIT("<![if !mso]>a<![endif]><!--[if !mso]><!-->b<!--<![endif]-->c<!-- [IF x-->"),
     "comment [if !mso]\ncomment [endif]\ncomment <![endif]\ncomment  [IF x\nbody abc\n"},
    {LIT("http://e<!--[if mso]><p>x<p>y<![endif]-->vil.example<!--x-->/z"),
     "body-outlook x\nbody-outlook y\ncomment-outlook [endif]\ncomment x\n"
     "body http://evil.example/z\n"},
};

static void test_take__cut_anywhere__same(void **state)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(rows); i++) {
        size_t first = 0;

        for (first = 0; first < rows[i].in.n; first++) {
            struct record r = {.n = 0};

            assert_true(read_html(*state, rows[i].in, first,
                                  first == 0 ? 1 : rows[i].in.n, &r));
            check_text(rows[i].in.p, slice_of(r.text, r.n), slice_str(rows[i].want));
            arena_reset(*state);
        }
    }
}

static void test_take__depth_round_limit__limit_told(void **state)
{
    size_t depth = 0;

    for (depth = SHOWN_DEPTH_MAX - 1; depth <= SHOWN_DEPTH_MAX + 1; depth++) {
        struct slice begin = repeat("<i>", depth - 1);
        struct slice end = repeat("</i>", depth - 1);
        struct record r = {.n = 0};
        struct shown *s = shown_new(*state, &events, &r);
        struct html *h = html_new(*state, on_token, s);
        bool is_over = depth > SHOWN_DEPTH_MAX;

        html_feed(h, begin);
        html_feed(h, SLICE_LIT("<div hidden>a</div>b"));
        html_feed(h, end);
        html_feed(h, SLICE_LIT("<p hidden>c</p>"));
        html_end(h);
        shown_end(s);
        assert_true(shown_met_limit(s) == is_over);
        check_text("depth", slice_of(r.text, r.n),
                   is_over ? SLICE_LIT("body a\nbody b\nbody-none c\n")
                           : SLICE_LIT("body-none a\nbody b\nbody-none c\n"));
        repeat_free(begin);
        repeat_free(end);
        arena_reset(*state);
    }
}

static void test_take__run_round_limit__cut_at_white_space(void **state)
{
    size_t n = 0;

    for (n = SHOWN_RUN_MAX - 1; n <= SHOWN_RUN_MAX + 1; n++) {
        struct slice word = repeat("w", 10);
        struct slice in = repeat("x", n - 10);
        struct record r = {.n = 0};
        struct shown *s = shown_new(*state, &events, &r);
        struct html *h = html_new(*state, on_token, s);
        size_t told = n + 6;

        html_feed(h, slice_from(in, 1));
        html_feed(h, SLICE_LIT(" "));
        html_feed(h, word);
        html_end(h);
        shown_end(s);
        /* "body " and the line end once more when it was cut */
        assert_int_equal(r.n, n >= SHOWN_RUN_MAX ? told + 6 : told);
        assert_int_equal(r.longest, n >= SHOWN_RUN_MAX ? n - 10 : n);
        repeat_free(word);
        repeat_free(in);
        arena_reset(*state);
    }
}

static void test_take__long_characters__none_is_cut(void **state)
{
    size_t lead = 0;

    for (lead = 0; lead < 4; lead++) {
        struct slice in = repeat("\xf0\x9f\x98\x80", SHOWN_RUN_MAX / 4 + 1);
        struct record r = {.n = 0};
        struct shown *s = shown_new(*state, &events, &r);
        struct html *h = html_new(*state, on_token, s);

        html_feed(h, slice_head(SLICE_LIT("xxx"), lead));
        html_feed(h, in);
        html_end(h);
        shown_end(s);
        assert_int_equal(r.longest % 4, lead);
        assert_true(r.longest >= SHOWN_RUN_MAX - 4);
        repeat_free(in);
        arena_reset(*state);
    }
}

/* One below, at and above what is kept of a link. */
static void test_take__link_round_limit__cut_told(void **state)
{
    static const size_t most[] = {SHOWN_LINK_TARGET_MAX, SHOWN_LINK_TEXT_MAX};
    size_t i = 0;

    for (i = 0; i < 6; i++) {
        size_t max = most[i / 3];
        struct slice in = repeat("u", max - 1 + i % 3);
        struct record r = {.n = 0};
        struct shown *s = shown_new(*state, &events, &r);
        struct html *h = html_new(*state, on_token, s);

        html_feed(h, SLICE_LIT("<a href='"));
        html_feed(h, i < 3 ? in : SLICE_LIT("x"));
        html_feed(h, SLICE_LIT("'>"));
        html_feed(h, i < 3 ? SLICE_NONE : in);
        html_feed(h, SLICE_LIT("</a>"));
        html_end(h);
        shown_end(s);
        assert_true((slice_find_slice(slice_of(r.text, r.n), SLICE_LIT(" (cut)")) <
                     r.n) == (i % 3 == 2));
        repeat_free(in);
        arena_reset(*state);
    }
}

/* Reports of a value with 100,000 bytes of padding. */
static const struct {
    const char *before;
    const char *unit;
    const char *after;
    const char *want;
} padded[] = {
    {"<a href='", " ", "http://a.de/b'>", "@link http://a.de/b\n[] http://a.de/b\n"},
    {"<a href='", "\t", "//a.de/b'>", "@link //a.de/b\n[] //a.de/b\n"},
    {"<a href='ht", "&#9;", "tp://a.de/b'>", "@link http://a.de/b\n[] http://a.de/b\n"},
    {"<a href='http://", "u", "@a.de/b'>", "@link http://@a.de/b\n[] http://@a.de/b\n"},
    {"<a href='http:", "/", "a.de/b'>", "@link http://a.de/b\n[] http://a.de/b\n"},
    {"<a href='http://a.de", "/.", "/b'>", "@link http://a.de/b\n[] http://a.de/b\n"},
    {"<a href='http://a.de/b?utm_id=", "q", "'>",
     "@link http://a.de/b\n[] http://a.de/b\n"},
    {"<a href='", " ", "b/c'>", "@link b/c\n[] b/c\n"},
    {"<base href='", "\n", "http://a.de/'>", "@base http://a.de/\n"},
    {"<form action='", " ", "/b'>", "@form /b\n"},
    {"<img src='", "\n", "http://a.de/b'>", "@load http://a.de/b\n"},
    {"<img srcset='", " ", "http://a.de/b 1x'>", "@load http://a.de/b\n"},
    {"<a ping='", " ", "//a.de/b //c.de'>", "@other //a.de/b\n@other //c.de\n"},
    {"<meta content='0;", " ", "url=//a.de'>", "@refresh //a.de\n"},
    {"<meta content='0;url", " ", "=//a.de'>", "@refresh //a.de\n"},
    {"<meta content='", "0", ";URL = //a.de'>", "@refresh //a.de\n"},
    {"<meta content='0;url=", " ", "//a.de'>", "@refresh //a.de\n"},
    {"<b title='", "x", "'>", ""},
};

static void test_take__padded_value__read_to_its_end(void **state)
{
    size_t i = 0;

    for (i = 0; i < 2 * COUNT_OF(padded); i++) {
        const char *unit = padded[i / 2].unit;
        struct slice in = repeat(unit, 100000 / strlen(unit));
        struct record r = {.n = 0};
        struct shown *s = shown_new(*state, &events, &r);
        struct html *h = html_new(*state, on_token, s);

        html_feed(h, slice_str(padded[i / 2].before));
        html_feed(h, slice_head(in, i % 2 == 0 ? in.n : 7));
        html_feed(h, slice_from(in, i % 2 == 0 ? in.n : 7));
        html_feed(h, slice_str(padded[i / 2].after));
        html_end(h);
        shown_end(s);
        check_text(padded[i / 2].before, slice_of(r.text, r.n),
                   slice_str(padded[i / 2].want));
        assert_false(shown_met_value(s));
        repeat_free(in);
        arena_reset(*state);
    }
}

static void test_take__long_path__value_limit_told(void **state)
{
    struct slice in = repeat("p", 100000);
    struct record r = {.n = 0};
    struct shown *s = shown_new(*state, &events, &r);
    struct html *h = html_new(*state, on_token, s);

    html_feed(h, SLICE_LIT("<a href='http://a.de/"));
    html_feed(h, in);
    html_feed(h, SLICE_LIT("'>"));
    html_end(h);
    shown_end(s);
    assert_true(shown_met_value(s));
    assert_true(
        slice_has_prefix(slice_of(r.text, r.n), SLICE_LIT("@link http://a.de/p")));
    repeat_free(in);
}

/* Its text has no padding to drop: all of it is told, in pieces. */
static void test_take__long_link_of_another_scheme__told_whole(void **state)
{
    static const char *const schemes[] = {"javascript:", "data:text/html,", "cid:"};
    enum { LENGTH_OF_IT = 100000 };
    struct slice in = repeat("p", LENGTH_OF_IT);

    for (size_t i = 0; i < LENGTH(schemes); i++) {
        struct record r = {.n = 0};
        struct shown *s = shown_new(*state, &events, &r);
        struct html *h = html_new(*state, on_token, s);

        html_feed(h, SLICE_LIT("<a href='"));
        html_feed(h, slice_str(schemes[i]));
        html_feed(h, in);
        html_feed(h, SLICE_LIT("'>"));
        html_end(h);
        shown_end(s);
        assert_int_equal(r.nlink + r.nother, strlen(schemes[i]) + LENGTH_OF_IT);
        assert_true(r.nother > 0);
        arena_reset(*state);
    }
    repeat_free(in);
}

/* A URL that fills runs is reported once, short, and not in halves. */
static void test_take__long_url_in_text__told_short(void **state)
{
    struct slice in = repeat("u", 5 * SHOWN_RUN_MAX);
    struct record r = {.n = 0};
    struct shown *s = shown_new(*state, &events, &r);
    struct html *h = html_new(*state, on_token, s);
    struct slice told;

    html_feed(h, SLICE_LIT("see http://"));
    html_feed(h, in);
    html_feed(h, SLICE_LIT("@a.de/b now"));
    html_end(h);
    shown_end(s);
    told = slice_of(r.text, r.n);
    assert_true(slice_has_prefix(told, SLICE_LIT("body see \nbody http://uuu")));
    assert_true(slice_has_suffix_nocase(told, SLICE_LIT("uuu@a.de/b now\n")));
    assert_true(told.n < SHOWN_RUN_MAX + 40);
    repeat_free(in);
}

static void test_take__long_conditional_comment__read_whole(void **state)
{
    struct slice in = repeat("<br>", HTML_VALUE_MAX / 4);
    struct record r = {.n = 0};
    struct shown *s = shown_new(*state, &events, &r);
    struct html *h = html_new(*state, on_token, s);

    html_feed(h, SLICE_LIT("<!--[if mso]>"));
    html_feed(h, in);
    html_feed(h, SLICE_LIT("<a href=1>--><a href=2>"));
    html_end(h);
    shown_end(s);
    check_text("comment", slice_of(r.text, r.n),
               SLICE_LIT("@link 1\n[] 1\n@link 2\n[] 2\n"));
    repeat_free(in);
}

static void test_take__no_memory_for_a_comment__told_as_one(void **state)
{
    struct arena *small = arena_new(SHOWN_BYTES);
    struct record r = {.n = 0};
    struct shown *s = shown_new(small, &events, &r);
    struct html *h = html_new(*state, on_token, s);

    assert_non_null(s); /* which keeps the promise of SHOWN_BYTES */
    html_feed(h, SLICE_LIT("<!--[if mso]><a href=1>-->"));
    html_end(h);
    shown_end(s);
    assert_true(shown_met_limit(s));
    check_text("comment", slice_of(r.text, r.n), SLICE_LIT("comment <a href=1>\n"));
    arena_free(&small);
}

static void test_take__much_of_anything__bounded(void **state)
{
    static const char *const units[] = {"<div>",
                                        "</div>",
                                        "<td>",
                                        "<table>",
                                        "<p>",
                                        "<li>",
                                        "<a href=x>",
                                        "<!--[if x]>-->",
                                        "<!--[if x]><b>",
                                        "<i hidden>x",
                                        "<b style='a:(",
                                        "x ",
                                        "\x80",
                                        "\xf0",
                                        "<style>url(",
                                        "<img srcset=', ,a'>",
                                        "<x style='\\6/*'>"};
    size_t i = 0;

    for (i = 0; i < COUNT_OF(units); i++) {
        struct slice in = repeat(units[i], (1 << 18) / strlen(units[i]));
        struct record r = {.n = 0};

        (void)read_html(*state, in, 0, in.n, &r);
        assert_true(r.longest <= SHOWN_RUN_MAX);
        assert_true(arena_used(*state) <
                    SHOWN_BYTES + 4 * (size_t)HTML_VALUE_MAX + LONGURL_MAX + 4096);
        repeat_free(in);
        arena_reset(*state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_take__cut_anywhere__same),
        ARENA_TEST(test_take__depth_round_limit__limit_told),
        ARENA_TEST(test_take__run_round_limit__cut_at_white_space),
        ARENA_TEST(test_take__long_characters__none_is_cut),
        ARENA_TEST(test_take__link_round_limit__cut_told),
        ARENA_TEST(test_take__padded_value__read_to_its_end),
        ARENA_TEST(test_take__long_path__value_limit_told),
        ARENA_TEST(test_take__long_link_of_another_scheme__told_whole),
        ARENA_TEST(test_take__long_url_in_text__told_short),
        ARENA_TEST(test_take__long_conditional_comment__read_whole),
        ARENA_TEST(test_take__no_memory_for_a_comment__told_as_one),
        ARENA_TEST(test_take__much_of_anything__bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
