/* test_longurl - the kept part of a URL, whole and padded, at once and byte by byte. */
#include "core/message/url/longurl.h"
#include "core/message/url/url.h"

#include "tests/unit/text/text_test.h"

enum { ARENA_MAX = 1 << 20 };

static const struct {
    const char *in;
    const char *want;
} rows[] = {
    {"http://a.de/b?c=d#e", "http://a.de/b?c=d#e"},
    {" \t http://a.de/b", "http://a.de/b"},
    {"h\tt\ntp:/\r/a.de", "http://a.de"},
    {"http:////\\a.de\\b", "http://a.de/b"},
    {"https:a.de", "https:a.de"},
    {"http://u:p@v@a.de:80/b", "http://@a.de:80/b"},
    {"http://u?@a.de", "http://u?@a.de"},
    {"//u@a.de/b", "//@a.de/b"},
    {"/b/./c", "/b/c"},
    {"u@a.de/b", "@a.de/b"},
    {"www.a.de:80/b/../c", "www.a.de:80/c"},
    {"http://a.de/b/c/../.././d//e/", "http://a.de/d/e/"},
    {"http://a.de/%2e%2E/b/%252e%252e/c", "http://a.de/c"},
    {"http://a.de/..", "http://a.de/.."},
    {"http://a.de/%2525257e", "http://a.de/~"},
    {"http://a.de/%3f%23%20%5c", "http://a.de/%3f%23%20%5c"},
    {"http://a.de?utm_id=1&b=2&utm_x=3&c=4&utm_id=5", "http://a.de?b=2&c=4"},
    {"http://a.de/?utm_id=1#f", "http://a.de/#f"},
    {"http://a\xc2\xad%e2%80%8b.de\xef\xb8\x8f/", "http://a.de/"},
    {"http://\xc3\xa9%C3%A9.de/", "http://\xc3\xa9%C3%A9.de/"},
    {"mailto:a@b.de", "mailto:a@b.de"},
    {"javascript://a//b", "javascript://a//b"},
    {"", ""},
};

static void test_add__anything__what_leads_there_kept(void **state)
{
    size_t i = 0;

    (void)state;
    for (i = 0; i < 2 * COUNT_OF(rows); i++) {
        struct slice in = slice_str(rows[i / 2].in);
        struct longurl u;

        longurl_begin(&u);
        while (in.n > 0) {
            size_t n = i % 2 == 0 ? in.n : 1;

            longurl_add(&u, slice_head(in, n));
            in = slice_from(in, n);
        }
        longurl_end(&u);
        check_text(rows[i / 2].in, longurl_text(&u), slice_str(rows[i / 2].want));
        assert_false(u.is_cut);
    }
}

/* before, the unit as often as makes 100,000 bytes, after: the URL is that in want. */
static const struct {
    const char *before;
    const char *unit;
    const char *after;
    const char *want;
} padded[] = {
    {"", " ", "http://a.de/b", "a.de/b"},
    {"ht", "\t", "tp://a.de/b", "a.de/b"},
    {"http:", "/", "a.de/b", "a.de/b"},
    {"http:", "\\", "a.de/b", "a.de/b"},
    {"http://", "u", "@a.de/b", "a.de/b"},
    {"http://", "u@", "a.de/b", "a.de/b"},
    {"http://u:", "%40", "@a.de/b", "a.de/b"},
    {"http://a", "\xc2\xad", ".de/b", "a.de/b"},
    {"http://a", "%E2%80%8B", ".de/b", "a.de/b"},
    {"http://a.de", "/.", "/b", "a.de/b"},
    {"http://a.de", "/", "b", "a.de/b"},
    {"http://a.de", "/%2e", "/b", "a.de/b"},
    {"http://a.de", "/c/..", "/b", "a.de/b"},
    {"http://a.de/", "c", "/../b", "a.de/b"},
    {"http://a.de/%", "25", "62", "a.de/b"},
    {"http://a.de/b?utm_id=", "q", "", "a.de/b"},
    {"http://a.de/b?", "&", "", "a.de/b"},
    {"http://a.de/b#", "f", "", "a.de/b"},
    {"http://a.de/b", " ", "", "a.de/b"},
};

static struct slice join(struct arena *arena, const char *before, const char *unit,
                         size_t times, const char *after)
{
    struct slice many = repeat(unit, times);
    size_t n = strlen(before);
    char *p = arena_bytes(arena, n + many.n + strlen(after));

    assert_non_null(p);
    put_at(p, 0, slice_str(before));
    put_at(p, n, many);
    put_at(p, n + many.n, slice_str(after));
    n += many.n + strlen(after);
    repeat_free(many);
    return slice_of(p, n);
}

static void test_parse__padded_url__is_the_same_page(void **state)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(padded); i++) {
        struct slice text = join(*state, padded[i].before, padded[i].unit,
                                 100000 / strlen(padded[i].unit), padded[i].after);
        struct url url = {0};

        assert_int_equal(url_parse(*state, text, &url), ERR_OK);
        check_text(padded[i].before, url.canonical, slice_str(padded[i].want));
        arena_reset(*state);
    }
}

/* "/c" n times, then as many ".." but one. */
static void test_add__path_that_comes_back__nothing_cut_off_it(void **state)
{
    size_t n = 0;

    for (n = 10; n <= 100000; n *= 10) {
        struct slice down = repeat("/c", n);
        struct slice up = repeat("/..", n);
        struct longurl u;

        longurl_begin(&u);
        longurl_add(&u, SLICE_LIT("http://a.de"));
        longurl_add(&u, down);
        longurl_add(&u, up);
        longurl_add(&u, SLICE_LIT("/b"));
        check_text("path", longurl_text(&u), SLICE_LIT("http://a.de/b"));
        repeat_free(down);
        repeat_free(up);
    }
    (void)state;
}

static void test_add__each_piece_round_its_bound__cut_above(void **state)
{
    static const struct {
        const char *before;
        const char *unit;
        size_t max;
    } bounds[] = {
        {"http://", "a", LONGURL_AUTHORITY_MAX},
        {"http://a/", "b", LONGURL_PATH_MAX - 1},
        {"x:", "y", LONGURL_MAX - 2},
    };
    size_t i = 0;

    for (i = 0; i < 3 * COUNT_OF(bounds); i++) {
        size_t n = bounds[i / 3].max - 1 + i % 3;
        struct slice text =
            join(*state, bounds[i / 3].before, bounds[i / 3].unit, n, "");
        struct longurl u;

        longurl_begin(&u);
        longurl_add(&u, text);
        longurl_end(&u);
        assert_int_equal(u.is_cut, i % 3 == 2);
        assert_int_equal(longurl_text(&u).n, text.n - (i % 3 == 2 ? 1 : 0));
        arena_reset(*state);
    }
}

static void test_add__anything_endless__within_bounds(void **state)
{
    static const char *const begins[] = {"",           "http://",   "http://a/",
                                         "http://a/?", "http://a#", "x:"};
    static const char *const units[] = {"a",   "/",        "a/", "&", "a=b&",      "%",
                                        "%25", "@",        "?",  "#", "utm_id=1&", ".",
                                        "../", "\xc2\xad", " ",  ":"};
    size_t i = 0;

    for (i = 0; i < COUNT_OF(begins) * COUNT_OF(units); i++) {
        struct slice text = join(*state, begins[i / COUNT_OF(units)],
                                 units[i % COUNT_OF(units)], 20000, "");
        struct longurl u;

        longurl_begin(&u);
        longurl_add(&u, text);
        longurl_end(&u);
        assert_true(longurl_text(&u).n <= LONGURL_MAX);
        arena_reset(*state);
    }
}

/* A text that is shortened where a buffer ends, and goes on, reads as the whole. */
static void test_shorten__cut_anywhere__reads_as_the_whole(void **state)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(padded); i++) {
        size_t cut = 0;

        for (cut = 1; cut < 20; cut++) {
            struct slice text = join(*state, padded[i].before, padded[i].unit,
                                     12000 / strlen(padded[i].unit), padded[i].after);
            char *p = (char *)(uintptr_t)text.p;
            size_t at = text.n * cut / 20;
            size_t n = longurl_shorten(p, at);
            struct url url = {0};

            memmove(p + n, p + at, text.n - at);
            n += text.n - at;
            assert_int_equal(url_parse(*state, slice_of(p, n), &url), ERR_OK);
            if (n > URL_BYTES_MAX) {
                check_text(padded[i].before, url.canonical, slice_str(padded[i].want));
            }
            assert_true(slice_eq(url.host.text, SLICE_LIT("a.de")));
            arena_reset(*state);
        }
    }
}

static void test_at_end__text__where_its_last_url_begins(void **state)
{
    static const struct {
        const char *text;
        size_t want;
    } table[] = {{"x http://a.de/b", 2},
                 {"x (http://a", 3},
                 {"x http://a ", 11},
                 {"x www.a.de", 2},
                 {"<b>http://a", 3},
                 {"a=\"http://a", 3},
                 {"x word", 6},
                 {"", 0},
                 {"http", 4}};
    size_t i = 0;

    (void)state;
    for (i = 0; i < COUNT_OF(table); i++) {
        assert_int_equal(longurl_at_end(slice_str(table[i].text)), table[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_add__anything__what_leads_there_kept),
        ARENA_TEST(test_parse__padded_url__is_the_same_page),
        ARENA_TEST(test_add__path_that_comes_back__nothing_cut_off_it),
        ARENA_TEST(test_add__each_piece_round_its_bound__cut_above),
        ARENA_TEST(test_add__anything_endless__within_bounds),
        ARENA_TEST(test_shorten__cut_anywhere__reads_as_the_whole),
        ARENA_TEST(test_at_end__text__where_its_last_url_begins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
