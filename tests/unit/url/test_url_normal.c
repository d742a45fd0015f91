/* test_url_normal - which spellings of a URL are one page, and which stay apart. */
#include <stdint.h>

#include "core/message/url/url_normal.h"

#include "tests/unit/text/text_test.h"

static struct slice normal_of(struct arena *arena, struct slice text)
{
    struct url url;

    if (url_parse(arena, text, &url) != ERR_OK) {
        fail_msg("%.*s is no URL", SLICE_ARGS(text));
    }
    struct slice normal = url_normal(arena, &url);

    assert_non_null(normal.p);
    return normal;
}

static void test_normal__each_spelling__is_written_so(void **state)
{
    static const struct {
        struct slice url;
        struct slice normal;
    } rows[] = {
        {LIT("http://evil.example"), LIT("evil.example")},
        {LIT("HTTPS://WWW.Evil.Example:443/"), LIT("evil.example")},
        {LIT("http://www.aa.example/Path/"), LIT("aa.example/Path")},
        {LIT("https://www.www.aa.example/"), LIT("aa.example")},
        {LIT("https://wwwaa.example/"), LIT("wwwaa.example")},
        {LIT("https://www2.aa.example/"), LIT("www2.aa.example")},
        /* the rest is a public suffix: the site of somebody */
        {LIT("http://www.github.io/"), LIT("www.github.io")},
        {LIT("http://www.co.uk/x"), LIT("www.co.uk/x")},
        {LIT("http://www.com/"), LIT("www.com")},
        {LIT("http://www.evil.github.io/"), LIT("evil.github.io")},
        {LIT("http://www.evil.co.uk/x"), LIT("evil.co.uk/x")},
        /* ports */
        {LIT("https://aa.example:80/x"), LIT("aa.example/x")},
        {LIT("http://aa.example:443/x"), LIT("aa.example/x")},
        {LIT("http://aa.example:8080/x/"), LIT("aa.example:8080/x")},
        {LIT("ftp://aa.example:21/x"), LIT("aa.example/x")},
        {LIT("http://aa.example:8080?q"), LIT("aa.example:8080?q")},
        {LIT("http://[2001:db8::1]:80/x"), LIT("[2001:db8::1]/x")},
        {LIT("http://[2001:db8::1]:81/"), LIT("[2001:db8::1]:81")},
        {LIT("http://0x7f.1/x/"), LIT("127.0.0.1/x")},
        /* path */
        {LIT("http://u:p@aa.example/a/./b/../c//d/#f"), LIT("aa.example/a/c/d")},
        {LIT("http://aa.example/%7Euser/%2541"), LIT("aa.example/~user/A")},
        {LIT("http://aa.example/a%3fb"), LIT("aa.example/a%3Fb")},
        {LIT("http://aa.example/a%3Futm_id=1"), LIT("aa.example/a%3Futm_id=1")},
        {LIT("http://aa.example/a%5Cb\\c"), LIT("aa.example/a%5Cb/c")},
        {LIT("http://aa.example/a%20b c"), LIT("aa.example/a%20b%20c")},
        /* query */
        {LIT("http://aa.example/?"), LIT("aa.example")},
        {LIT("http://aa.example/?x=1"), LIT("aa.example?x=1")},
        {LIT("http://aa.example/p/?x=1"), LIT("aa.example/p?x=1")},
        {LIT("http://aa.example/?utm_source=x"), LIT("aa.example")},
        {LIT("http://aa.example/p?utm%5Fsource=x&id=1&FBCLID=2"),
         LIT("aa.example/p?id=1")},
        {LIT("http://aa.example/p?&&id=1&&b&"), LIT("aa.example/p?id=1&b")},
        {LIT("http://aa.example/p?b=2&a=1"), LIT("aa.example/p?b=2&a=1")},
        {LIT("http://aa.example/p?a b"), LIT("aa.example/p?a%20b")},
        {LIT("http://aa.example/p?a+b"), LIT("aa.example/p?a%20b")},
        {LIT("http://aa.example/p?a%2bb%26c%3dd%3B"),
         LIT("aa.example/p?a%2Bb%26c%3Dd%3B")},
        {LIT("http://aa.example/p?x=%41%2f%c3%bc%"), LIT("aa.example/p?x=A/%C3%BC%25")},
        {LIT("http://aa.example/p?x=%%341"), LIT("aa.example/p?x=%2541")},
        {LIT("http://aa.example/p?x=\xc3\xbc"), LIT("aa.example/p?x=%C3%BC")},
        {LIT("http://aa.example/p?u=http://b.example/?c#f"),
         LIT("aa.example/p?u=http://b.example/?c")},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check_text(rows[i].url.p, normal_of(*state, rows[i].url), rows[i].normal);
        check_text(rows[i].url.p, normal_of(*state, rows[i].normal), rows[i].normal);
    }
}

static void test_normal__other_pages__stay_apart(void **state)
{
    static const struct slice rows[][2] = {
        {LIT("http://aa.example/Path"), LIT("http://aa.example/path")},
        {LIT("http://aa.example/a"), LIT("http://aa.example/a/b")},
        {LIT("http://aa.example/a?x=1&y=2"), LIT("http://aa.example/a?y=2&x=1")},
        {LIT("http://aa.example/a?x=1"), LIT("http://aa.example/a?x=2")},
        {LIT("http://aa.example/a?x"), LIT("http://aa.example/a?x=")},
        {LIT("http://aa.example/a?x=1%262"), LIT("http://aa.example/a?x=1&2")},
        {LIT("http://aa.example/a?x=a%2Bb"), LIT("http://aa.example/a?x=a+b")},
        {LIT("http://aa.example/a?x=1"), LIT("http://aa.example/a%3Fx=1")},
        {LIT("http://aa.example/a"), LIT("http://aa.example:8080/a")},
        {LIT("http://m.aa.example/a"), LIT("http://aa.example/a")},
        {LIT("http://www.github.io/"), LIT("http://github.io/")},
        {LIT("http://aa.example/a?utm=1"), LIT("http://aa.example/a")},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (slice_eq(normal_of(*state, rows[i][0]), normal_of(*state, rows[i][1]))) {
            fail_msg("%s and %s became one", rows[i][0].p, rows[i][1].p);
        }
    }
}

/* xorshift: the same URLs in each run. */
static unsigned next_random(uint64_t *seed, unsigned n)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (unsigned)(*seed >> 33) % n;
}

static void test_normal__of_any_text__is_its_own_normal_form(void **state)
{
    enum { TURNS = 200000, PIECES = 14, BYTES = 256 };
    static const char *const pieces[] = {
        "www.",     "WWW.",   "a",          "B",     "github.io", "evil.example",
        ".",        "..",     "/",          "//",    "\\",        "?",
        "&",        "&&",     "=",          "+",     "%",         "%2",
        "%20",      "%2F",    "%3f",        "%5c",   "%25",       "%26",
        "%3D",      "%2b",    "%23",        "%2541", "%00",       ";",
        ":",        ":80",    ":443",       ":8080", "@",         " ",
        "utm_id=1", "utm_id", "%75tm_id=2", "#",     "\xc3\xbc",  "%C3%BC",
        "[",        "]",      "\t",         "1",     "0x7f",      "~",
        "*",        "!",
    };
    uint64_t seed = 45;
    size_t nread = 0;

    for (unsigned turn = 0; turn < TURNS; turn++) {
        char text[BYTES];
        size_t n = (size_t)snprintf(text, sizeof(text), "%s",
                                    turn % 2 == 0 ? "http://" : "https://e.example");
        struct url url;
        unsigned npieces = 1 + next_random(&seed, PIECES);

        for (unsigned i = 0; i < npieces; i++) {
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s",
                                  pieces[next_random(&seed, COUNT_OF(pieces))]);
        }
        arena_reset(*state);
        if (url_parse(*state, slice_of(text, n), &url) != ERR_OK) {
            continue;
        }
        struct slice once = url_normal(*state, &url);

        nread++;
        if (url_parse(*state, once, &url) != ERR_OK) {
            fail_msg("%s: its normal form \"%.*s\" is no URL", text, SLICE_ARGS(once));
        }
        check_text(text, url_normal(*state, &url), once);
    }
    assert_true(nread > TURNS / 4);
}

static void test_normal__without_memory__is_none(void **state)
{
    struct arena *tiny = arena_new(1);
    struct url url;

    (void)arena_bytes(tiny, 1);
    assert_int_equal(url_parse(*state, SLICE_LIT("a.com/A1?utm_id=1"), &url), ERR_OK);
    assert_null(url_normal(tiny, &url).p);
    arena_free(&tiny);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_normal__each_spelling__is_written_so),
        ARENA_TEST(test_normal__other_pages__stay_apart),
        ARENA_TEST(test_normal__of_any_text__is_its_own_normal_form),
        ARENA_TEST(test_normal__without_memory__is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
