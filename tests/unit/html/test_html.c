/* test_html - tokens of good and broken HTML, fed whole and cut at every place. */
#include "core/message/html/html.h"

#include "tests/unit/text/text_test.h"

enum { ARENA_MAX = 2 * HTML_VALUE_MAX };

/* Tokens written down; text that was cut into pieces is joined again. */
struct record {
    char text[4096];
    size_t n;
    bool open; /* the last token was text of this kind */
    enum html_token_kind kind;
    size_t count;
    size_t bytes;
    size_t nends;
};

static void add(struct record *r, struct slice s)
{
    s = slice_head(s, sizeof(r->text) - r->n);
    if (s.n > 0) {
        memcpy(r->text + r->n, s.p, s.n);
        r->n += s.n;
    }
}

static void on_token(void *context, const struct html_token *t)
{
    static const char *const marks[] = {"T:", "<", "@", "/", "!", "R:", "", "D:"};
    struct record *r = context;
    bool text = t->kind == HTML_TEXT || t->kind == HTML_RAW_TEXT;

    if (t->kind == HTML_TAG_END || t->kind == HTML_NUL) {
        r->nends += t->kind == HTML_TAG_END ? 1 : 0;
        return; /* what a reader of text and links leaves out */
    }
    r->count++;
    r->bytes += t->value.n;
    if (!(text && r->open && r->kind == t->kind)) {
        if (r->n > 0) {
            add(r, SLICE_LIT("\n"));
        }
        add(r, slice_str(marks[t->kind]));
        if (!text) {
            add(r, t->tag);
        } else {
            /* raw text has a tag as well */
        }
        if (t->kind == HTML_ATTRIBUTE) {
            add(r, SLICE_LIT("."));
            add(r, t->name);
            add(r, SLICE_LIT("="));
        }
    }
    add(r, t->value);
    r->open = text;
    r->kind = t->kind;
}

static const struct {
    struct slice in;
    const char *want;
} rows[] = {
    {LIT("text"), "T:text"},
    {LIT("<b>x</b>"), "<b\nT:x\n/b"},
    {LIT("<A HREF=\"http://x/?a=1&amp;b\">y</A >"),
     "<a\n@a.href=http://x/?a=1&b\nT:y\n/a"},
    {LIT("<a href='x' b=y c d=\"\">"), "<a\n@a.href=x\n@a.b=y\n@a.c=\n@a.d="},
    {LIT("<a/href=http://x/ >"), "<a\n@a.href=http://x/"},
    {LIT("<a\thref\n=\r\"x\"y=z/>"), "<a\n@a.href=x\n@a.y=z/"},
    {LIT("<a href=>x"), "<a\n@a.href=\nT:x"},
    {LIT("<a =b=c>"), "<a\n@a.=b=c"},
    {LIT("<a b='\"' c=\"'\" d=a\"b>"), "<a\n@a.b=\"\n@a.c='\n@a.d=a\"b"},
    {LIT("</a href=x>y"), "/a\nT:y"},
    {LIT("<img src=x/><br/>"), "<img\n@img.src=x/\n<br"},
    {LIT("a < b > c << <d"), "T:a < b > c << "},
    {LIT("<1><>< x"), "T:<1><>< x"},
    {LIT("<a\0b c\0=\"d\0e\">f\0g"), "<a\xef\xbf\xbd"
                                     "b\n@a\xef\xbf\xbd"
                                     "b.c\xef\xbf\xbd=d\xef\xbf\xbd"
                                     "e\nT:fg"},
    /* references */
    {LIT("&amp;&lt;&gt;&quot;&apos;&nbsp;"), "T:&<>\"'\xc2\xa0"},
    {LIT("&sol;&colon;&period;&comma;&commat;&num;&quest;&equals;&percnt;"),
     "T:/:.,@#?=%"},
    {LIT("&lpar;&rpar;&bsol;&lowbar;&Tab;&NewLine;x"), "T:()\\_\t\nx"},
    {LIT("&dash;&hyphen;&copy;&reg;"), "T:\xe2\x80\x90\xe2\x80\x90\xc2\xa9\xc2\xae"},
    {LIT("&#65;&#x42;&#X43;&#068;"), "T:ABCD"},
    {LIT("&#65&#x42x"), "T:ABx"},
    {LIT("&#128;&#150;&#x99;"), "T:\xe2\x82\xac\xe2\x80\x93\xe2\x84\xa2"},
    {LIT("&#0;&#xD800;&#x110000;&#99999999999999999999;"),
     "T:\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    {LIT("&#x1F600;"), "T:\xf0\x9f\x98\x80"},
    {LIT("&;&#;&#x;&#xg; & &x &none; &&amp;"), "T:&;&#;&#x;&#xg; & &x &none; &&"},
    {LIT("&ampx &notit; &copy2 &amp"), "T:&x \xc2\xacit; \xc2\xa9"
                                       "2 &"},
    {LIT("<a b='?x&copy=1&amp;y&lt&ampz'>"), "<a\n@a.b=?x&copy=1&y<&ampz"},
    {LIT("<a b=&#104;ttp&colon;//x&sol;>"), "<a\n@a.b=http://x/"},
    {LIT("<a b='&amp'>&#6"), "<a\n@a.b=&\nT:\x06"},
    {LIT("&abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz;"),
     "T:&abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz;"},
    /* comments and declarations */
    {LIT("<!--x-->y"), "!x\nT:y"},
    {LIT("<!--[if mso]><a href=\"x\"><![endif]-->"),
     "![if mso]><a href=\"x\"><![endif]"},
    {LIT("<!---->a<!-->b<!--->c"), "!\nT:a\n!\nT:b\n!\nT:c"},
    {LIT("<!--a-b--c--!d---->e"), "!a-b--c--!d--\nT:e"},
    {LIT("<!--a--!>b"), "!a\nT:b"},
    {LIT("<!-x-->y"), "!-x--\nT:y"},
    {LIT("<!DOCTYPE html><!doctype>x"), "D:\nD:\nT:x"},
    {LIT("<!--doctype-->"), "!doctype"},
    {LIT("<![if !mso]>x<![endif]>"), "![if !mso]\nT:x\n![endif]"},
    {LIT("<?xml x?></ y></>z<!>"), "!?xml x?\n! y\nT:z\n!"},
    /* raw text */
    {LIT("<script>a<b>&amp;</scrip></script>c"),
     "<script\nR:a<b>&amp;</scrip>\n/script\nT:c"},
    {LIT("<STYLE x=y>a</ style></StYlE z>b"),
     "<style\n@style.x=y\nR:a</ style>\n/style\nT:b"},
    {LIT("<title>a&amp;<b></title/><b>"), "<title\nR:a&<b>\n/title\n<b"},
    {LIT("<textarea><<</textarea</textarea>"), "<textarea\nR:<<</textarea\n/textarea"},
    {LIT("</script>x"), "/script\nT:x"},
    {LIT("<xmp><b>&lt;</xmp><iframe><b></iframe><noembed><b></noembed>x"),
     "<xmp\nR:<b>&lt;\n/xmp\n<iframe\nR:<b>\n/iframe\n<noembed\nR:<b>\n/noembed\nT:x"},
    {LIT("<noframes><b></noframes><noscript><b></noscript><plaintext></plaintext>&lt;"),
     "<noframes\nR:<b>\n/noframes\n<noscript\n<b\n/noscript\n<plaintext\n"
     "R:</plaintext>&lt;"},
    {LIT("<script><!--<script></script>a--></script>b"),
     "<script\nR:<!--<script></script>a-->\n/script\nT:b"},
    {LIT("<title/>\0</title>"), "<title\nR:\xef\xbf\xbd\n/title"},
    {LIT("<script>x</scriptx>y"), "<script\nR:x</scriptx>y"},
    /* cut off */
    {LIT("<a href=\"http://x/"), "<a\n@a.href=http://x/"},
    {LIT("<a href=http://x/"), "<a\n@a.href=http://x/"},
    {LIT("<a href='&am"), "<a\n@a.href=&am"},
    {LIT("<a href"), "<a\n@a.href="},
    {LIT("x<"), "T:x<"},
    {LIT("x</"), "T:x</"},
    {LIT("x<b"), "T:x"},
    {LIT("<!DOCTYPE"), "D:"},
    {LIT("<!--x"), "!x"},
    {LIT("<!--x--"), "!x"},
    {LIT("<!x"), "!x"},
    {LIT("<style>x</sty"), "<style\nR:x</sty"},
    {LIT("x&"), "T:x&"},
};

static void parse(struct arena *arena, struct slice in, size_t first, size_t step,
                  struct record *r)
{
    struct html *h = html_new(arena, on_token, r);
    size_t i = 0;

    assert_non_null(h);
    while (i < in.n) {
        struct slice piece =
            slice_head(slice_from(in, i), i == 0 && first > 0 ? first : step);

        html_feed(h, piece);
        i += piece.n;
    }
    html_end(h);
}

static void test_feed__cut_anywhere__same_tokens(void **state)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(rows); i++) {
        size_t first = 0;

        for (first = 0; first < rows[i].in.n; first++) {
            struct record r = {.n = 0};

            parse(*state, rows[i].in, first, first == 0 ? 1 : rows[i].in.n, &r);
            check_text(rows[i].in.p, slice_of(r.text, r.n), slice_str(rows[i].want));
            arena_reset(*state);
        }
    }
}

static void test_feed__text_without_references__not_copied(void **state)
{
    struct slice in = SLICE_LIT("some text");
    struct record r = {.n = 0};

    parse(*state, in, 0, in.n, &r);
    assert_int_equal(r.count, 1);
}

static void test_feed__attributes_round_limit__all_told(void **state)
{
    size_t count = 0;

    for (count = HTML_ATTRIBUTES_MAX - 1; count <= HTML_ATTRIBUTES_MAX + 1; count++) {
        struct record r = {.n = 0};
        struct html *h = html_new(*state, on_token, &r);
        size_t i = 0;

        html_feed(h, SLICE_LIT("<x"));
        for (i = 0; i < count; i++) {
            char name[16];
            int n = snprintf(name, sizeof(name), " a%zu=b", i);

            html_feed(h, slice_of(name, (size_t)n));
        }
        html_feed(h, SLICE_LIT("><y c=d>"));
        html_end(h);
        assert_int_equal(html_met_limit(h), count > HTML_ATTRIBUTES_MAX);
        assert_int_equal(r.count, 3 + count);
        arena_reset(*state);
    }
}

static void test_feed__one_name_often__no_limit(void **state)
{
    struct slice in = repeat(" a=b", 2 * HTML_ATTRIBUTES_MAX);
    struct record r = {.n = 0};
    struct html *h = html_new(*state, on_token, &r);

    html_feed(h, SLICE_LIT("<x"));
    html_feed(h, in);
    html_feed(h, SLICE_LIT(">"));
    html_end(h);
    assert_false(html_met_limit(h));
    assert_int_equal(r.count, 1 + 2 * HTML_ATTRIBUTES_MAX);
    repeat_free(in);
}

/* Counts the duplicates, by name, that were reported and that exist. */
struct duplicates {
    char names[HTML_ATTRIBUTES_MAX][8];
    size_t n;
    size_t told;
    size_t wrong;
};

static void on_duplicate(void *context, const struct html_token *t)
{
    struct duplicates *d = context;
    bool is_duplicate = false;
    size_t i = 0;

    if (t->kind != HTML_ATTRIBUTE) {
        return;
    }
    assert_true(t->name.n < sizeof(d->names[0]));
    for (i = 0; i < d->n; i++) {
        is_duplicate = is_duplicate || slice_eq(slice_str(d->names[i]), t->name);
    }
    put_at(d->names[d->n++], 0, t->name);
    d->told += t->is_duplicate ? 1 : 0;
    d->wrong += t->is_duplicate == is_duplicate ? 0 : 1;
}

static void test_feed__most_attributes__duplicates_told(void **state)
{
    size_t different = 0;

    for (different = 1; different <= HTML_ATTRIBUTES_MAX; different++) {
        struct duplicates d = {.n = 0};
        struct html *h = html_new(*state, on_duplicate, &d);
        size_t i = 0;

        html_feed(h, SLICE_LIT("<b n0 n1 n2><x"));
        d = (struct duplicates){.n = 0};
        for (i = 0; i < HTML_ATTRIBUTES_MAX; i++) {
            char name[16];
            int n = snprintf(name, sizeof(name), " %c%zu", i % 2 == 0 ? 'n' : 'N',
                             i % different);

            html_feed(h, slice_of(name, (size_t)n));
        }
        html_feed(h, SLICE_LIT(">"));
        assert_int_equal(d.n, HTML_ATTRIBUTES_MAX);
        assert_int_equal(d.told, HTML_ATTRIBUTES_MAX - different);
        assert_int_equal(d.wrong, 0);
        arena_reset(*state);
    }
}

static void test_feed__names_round_limit__cut_there(void **state)
{
    static const struct {
        const char *begin;
        const char *end;
        size_t max;
        size_t marks; /* what the record has besides the name */
    } rows_of[] = {
        {"<", ">", HTML_TAG_NAME_MAX, 1},
        {"</", ">", HTML_TAG_NAME_MAX, 1},
        {"<b ", ">", HTML_ATTRIBUTE_NAME_MAX, 7},
    };
    size_t i = 0;

    for (i = 0; i < 3 * COUNT_OF(rows_of); i++) {
        size_t max = rows_of[i / 3].max;
        size_t n = max - 1 + i % 3;
        struct slice name = repeat("n", n);
        struct record r = {.n = 0};
        struct html *h = html_new(*state, on_token, &r);

        html_feed(h, slice_str(rows_of[i / 3].begin));
        html_feed(h, name);
        html_feed(h, slice_str(rows_of[i / 3].end));
        n = (n > max ? max : n) + rows_of[i / 3].marks;
        assert_int_equal(r.n, n < sizeof(r.text) ? n : sizeof(r.text));
        repeat_free(name);
        arena_reset(*state);
    }
}

static void test_feed__tag_cut_off__has_no_end(void **state)
{
    static const struct {
        const char *in;
        size_t nends;
    } table[] = {
        {"<a>", 1},     {"<a", 0},       {"<a b=\"c>", 0},          {"</a >", 1},
        {"</a ", 0},    {"<a/></a>", 2}, {"<title></title></b", 2}, {"<a b", 0},
        {"<a b=c ", 0}, {"<a/", 0}};
    size_t i = 0;

    for (i = 0; i < COUNT_OF(table); i++) {
        struct record r = {.n = 0};

        parse(*state, slice_str(table[i].in), 0, 1, &r);
        assert_int_equal(r.nends, table[i].nends);
    }
}

static void test_feed__value_round_limit__comes_in_pieces(void **state)
{
    size_t n = 0;

    for (n = HTML_VALUE_MAX - 1; n <= HTML_VALUE_MAX + 1; n++) {
        struct slice in = repeat("v", n);
        struct record r = {.n = 0};
        struct html *h = html_new(*state, on_token, &r);

        html_feed(h, SLICE_LIT("<x y='"));
        html_feed(h, in);
        html_feed(h, SLICE_LIT("' z=w>"));
        html_end(h);
        assert_int_equal(r.bytes, 1 + n);
        assert_int_equal(r.count, n > HTML_VALUE_MAX ? 4 : 3);
        repeat_free(in);
    }
}

static void test_feed__value_of_references__comes_in_pieces(void **state)
{
    struct slice in = repeat("&#9;&Tab;", HTML_VALUE_MAX);
    struct record r = {.n = 0};
    struct html *h = html_new(*state, on_token, &r);

    html_feed(h, SLICE_LIT("<x y='"));
    html_feed(h, in);
    html_feed(h, SLICE_LIT("z'>"));
    html_end(h);
    assert_int_equal(r.bytes, 1 + 2 * HTML_VALUE_MAX);
    assert_int_equal(r.count, 1 + 3);
    repeat_free(in);
}

static void test_feed__long_comment__nothing_lost(void **state)
{
    size_t n = 0;

    for (n = HTML_VALUE_MAX - 1; n <= HTML_VALUE_MAX + 1; n++) {
        struct slice in = repeat("c", n);
        struct record r = {.n = 0};
        struct html *h = html_new(*state, on_token, &r);

        html_feed(h, SLICE_LIT("<!--"));
        html_feed(h, in);
        html_feed(h, SLICE_LIT("-->"));
        html_end(h);
        assert_int_equal(r.bytes, n);
        assert_int_equal(r.count, n > HTML_VALUE_MAX ? 2 : 1);
        repeat_free(in);
    }
}

static void test_feed__much_of_anything__bounded(void **state)
{
    static const char *const begins[] = {"",
                                         "<a b=\"",
                                         "<!--",
                                         "<a ",
                                         "<script>",
                                         "<title>",
                                         "<!doctype a public '",
                                         "<script><!--<script>"};
    static const char *const units[] = {
        "&",    "<",    "-",     "&#",       "</title",
        "a=b ", "<a",   "&am",   "</script", "\"",
        "<!--", "x\0",  "=",     "&#1",      "<a href=\"x\">t</a>",
        "</",   "&amp", "<a ",   "<!",       "<!doctype a public 'b' ",
        "\r",   "\r\n", "]]",    "<script>", "<!--<script>",
        "<a/",  "&not", "&nvap;"};
    size_t i = 0;

    for (i = 0; i < COUNT_OF(begins) * COUNT_OF(units); i++) {
        const char *unit = units[i % COUNT_OF(units)];
        struct slice in = repeat(unit, (1 << 18) / strlen(unit));
        struct record r = {.n = 0};
        struct html *h = html_new(*state, on_token, &r);

        html_feed(h, slice_str(begins[i / COUNT_OF(units)]));
        html_feed(h, in);
        html_end(h);
        assert_true(r.bytes <= 2 * in.n);
        assert_true(arena_used(*state) < ARENA_MAX);
        repeat_free(in);
        arena_reset(*state);
    }
}

static void test_new__arena_full__null(void **state)
{
    struct arena *small = arena_new(HTML_VALUE_MAX);

    (void)state;
    assert_null(html_new(small, on_token, NULL));
    arena_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_feed__cut_anywhere__same_tokens),
        ARENA_TEST(test_feed__text_without_references__not_copied),
        ARENA_TEST(test_feed__attributes_round_limit__all_told),
        ARENA_TEST(test_feed__one_name_often__no_limit),
        ARENA_TEST(test_feed__most_attributes__duplicates_told),
        ARENA_TEST(test_feed__names_round_limit__cut_there),
        ARENA_TEST(test_feed__tag_cut_off__has_no_end),
        ARENA_TEST(test_feed__value_round_limit__comes_in_pieces),
        ARENA_TEST(test_feed__value_of_references__comes_in_pieces),
        ARENA_TEST(test_feed__long_comment__nothing_lost),
        ARENA_TEST(test_feed__much_of_anything__bounded),
        ARENA_TEST(test_new__arena_full__null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
