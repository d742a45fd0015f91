/* test_url - URLs as browsers read them, and their canonical form. */
#include "core/message/url/longurl.h"
#include "core/message/url/url.h"

#include "tests/unit/text/text_test.h"

static const struct {
    struct slice in;
    enum err err;
    const char *scheme;
    struct slice canonical;
} rows[] = {
    {LIT("http://EVIL.example:80/a/../b?x#y"), ERR_OK, "http", LIT("evil.example/b?x")},
    {LIT("http://evil.example"), ERR_OK, "http", LIT("evil.example/")},
    {LIT("https://evil.example:443/"), ERR_OK, "https", LIT("evil.example/")},
    {LIT("https://evil.example:80/"), ERR_OK, "https", LIT("evil.example:80/")},
    {LIT("ftp://evil.example:21/x"), ERR_OK, "ftp", LIT("evil.example/x")},
    {LIT("http://evil.example:/x"), ERR_OK, "http", LIT("evil.example/x")},
    {LIT("http://evil.example:08080/x"), ERR_OK, "http", LIT("evil.example:8080/x")},
    /* without a scheme */
    {LIT("evil.example/x"), ERR_OK, "http", LIT("evil.example/x")},
    {LIT("www.evil.example"), ERR_OK, "http", LIT("www.evil.example/")},
    {LIT("evil.example:8080/x"), ERR_OK, "http", LIT("evil.example:8080/x")},
    {LIT("evil.example:8080"), ERR_OK, "http", LIT("evil.example:8080/")},
    {LIT("//evil.example/x"), ERR_OK, "http", LIT("evil.example/x")},
    /* leniency of browsers */
    {LIT("  http://evil.example/x\t\n"), ERR_OK, "http", LIT("evil.example/x")},
    {LIT("ht\ntp://ev\til.exa\r\nmple/x"), ERR_OK, "http", LIT("evil.example/x")},
    {LIT("HTTP:\\\\evil.example\\a\\..\\b"), ERR_OK, "http", LIT("evil.example/b")},
    {LIT("http:evil.example/x"), ERR_OK, "http", LIT("evil.example/x")},
    {LIT("http:/evil.example/x"), ERR_OK, "http", LIT("evil.example/x")},
    {LIT("http://///evil.example/x"), ERR_OK, "http", LIT("evil.example/x")},
    {LIT("http://good.example@evil.example/x"), ERR_OK, "http", LIT("evil.example/x")},
    {LIT("http://a:b@c@evil.example/@x"), ERR_OK, "http", LIT("evil.example/@x")},
    {LIT("http://evil.example\\@good.example"), ERR_OK, "http",
     LIT("evil.example/@good.example")},
    {LIT("http://evil.example?x@y"), ERR_OK, "http", LIT("evil.example/?x@y")},
    {LIT("http://evil.example#x@y"), ERR_OK, "http", LIT("evil.example/")},
    {LIT("http://%65vil.example/"), ERR_OK, "http", LIT("evil.example/")},
    {LIT("http://b\xc3\xbc"
         "cher.example/"),
     ERR_OK, "http", LIT("xn--bcher-kva.example/")},
    {LIT("http://0x7f.1/"), ERR_OK, "http", LIT("127.0.0.1/")},
    {LIT("http://[2001:DB8::1]:81/"), ERR_OK, "http", LIT("[2001:db8::1]:81/")},
    /* what browsers refuse and mail programs open */
    {LIT("http://089.104.0160.0x11"), ERR_OK, "http", LIT("89.104.112.17/")},
    {LIT("http://[www.evil.example]/"), ERR_OK, "http", LIT("www.evil.example/")},
    /* paths */
    {LIT("http://h/a//b///c"), ERR_OK, "http", LIT("h/a/b/c")},
    {LIT("http://h/./a/./b/."), ERR_OK, "http", LIT("h/a/b/")},
    {LIT("http://h/a/b/.."), ERR_OK, "http", LIT("h/a/")},
    {LIT("http://h/../../a"), ERR_OK, "http", LIT("h/a")},
    {LIT("http://h/.."), ERR_OK, "http", LIT("h/")},
    {LIT("http://h/a/...b/.c"), ERR_OK, "http", LIT("h/a/...b/.c")},
    {LIT("http://h/a/%2e%2E/b"), ERR_OK, "http", LIT("h/b")},
    {LIT("http://h/a%2Fb"), ERR_OK, "http", LIT("h/a/b")},
    {LIT("http://h/%41%62"), ERR_OK, "http", LIT("h/Ab")},
    {LIT("http://h/%2541"), ERR_OK, "http", LIT("h/A")},
    {LIT("http://h/%25%32%35%25%34%31"), ERR_OK, "http", LIT("h/%25A")},
    {LIT("http://h/%%34%31"), ERR_OK, "http", LIT("h/A")},
    {LIT("http://h/%2%34%31"), ERR_OK, "http", LIT("h/$1")},
    {LIT("http://h/a%zz%"), ERR_OK, "http", LIT("h/a%25zz%25")},
    {LIT("http://h/a b\x7f\xc3\xa9%23%00"), ERR_OK, "http",
     LIT("h/a%20b%7F%C3%A9%23%00")},
    {LIT("http://h/a\0b"), ERR_OK, "http", LIT("h/a%00b")},
    {LIT("http://h/A?B=%41&c d"), ERR_OK, "http", LIT("h/A?B=%41&c d")},
    {LIT("http://h/?"), ERR_OK, "http", LIT("h/?")},
    {LIT("http://h?a/../b"), ERR_OK, "http", LIT("h/?a/../b")},
    /* none */
    {LIT("/x"), ERR_SYNTAX, NULL, LIT("")},
    {LIT("\\x"), ERR_SYNTAX, NULL, LIT("")},
    {LIT(""), ERR_SYNTAX, NULL, LIT("")},
    {LIT("http://"), ERR_SYNTAX, NULL, LIT("")},
    {LIT("http:///"), ERR_SYNTAX, NULL, LIT("")},
    {LIT("http://a@/"), ERR_SYNTAX, NULL, LIT("")},
    {LIT("http://:80/"), ERR_SYNTAX, NULL, LIT("")},
    {LIT("http://h:65536/"), ERR_SYNTAX, NULL, LIT("")},
    {LIT("http://h:80x/"), ERR_SYNTAX, NULL, LIT("")},
    {LIT("http://h:1:2/"), ERR_SYNTAX, NULL, LIT("")},
    {LIT("http://a b/"), ERR_SYNTAX, NULL, LIT("")},
    {LIT("http://[::1/"), ERR_SYNTAX, NULL, LIT("")},
    {LIT("http://1.2.3.4.5/"), ERR_SYNTAX, NULL, LIT("")},
    {LIT("mailto:a@b.example"), ERR_UNSUPPORTED, NULL, LIT("")},
    {LIT("javascript:alert(1)"), ERR_UNSUPPORTED, NULL, LIT("")},
    {LIT("gopher://h/"), ERR_UNSUPPORTED, NULL, LIT("")},
};

static void test_parse__table__canonical_form(void **state)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(rows); i++) {
        struct url url = {0};
        enum err err = url_parse(*state, rows[i].in, &url);

        if (err != rows[i].err) {
            fail_msg("%s: error %d", rows[i].in.p, err);
        }
        if (err == ERR_OK) {
            check_text(rows[i].in.p, url.canonical, rows[i].canonical);
            check_text(rows[i].in.p, url.scheme, slice_str(rows[i].scheme));
        }
    }
}

static void test_parse__canonical_form__is_its_own(void **state)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(rows); i++) {
        struct url url = {0};
        struct url again = {0};

        if (rows[i].err != ERR_OK) {
            continue;
        }
        assert_int_equal(url_parse(*state, rows[i].in, &url), ERR_OK);
        if (url.port == 80) {
            continue; /* the default of the scheme that was dropped */
        }
        assert_int_equal(url_parse(*state, url.canonical, &again), ERR_OK);
        check_text(rows[i].in.p, again.canonical, url.canonical);
    }
}

static void test_parse__pieces__point_into_canonical(void **state)
{
    struct url url = {0};

    assert_int_equal(
        url_parse(*state, SLICE_LIT("https://u:p@H.example:8443/a/./b?q=1#f"), &url),
        ERR_OK);
    check_text("host", url.host.text, SLICE_LIT("h.example"));
    check_text("path", url.path, SLICE_LIT("/a/b"));
    check_text("query", url.query, SLICE_LIT("q=1"));
    assert_int_equal(url.port, 8443);
    assert_ptr_equal(url.query.p + url.query.n, url.canonical.p + url.canonical.n);
    assert_int_equal(url_parse(*state, SLICE_LIT("h/a"), &url), ERR_OK);
    assert_null(url.query.p);
    assert_int_equal(url.port, 0);
    assert_int_equal(url_parse(*state, SLICE_LIT("h/a?"), &url), ERR_OK);
    assert_non_null(url.query.p);
    assert_int_equal(url.query.n, 0);
}

static void test_parse__length_round_limit__path_cut_above(void **state)
{
    const size_t before = 1; /* bytes before the path */
    size_t n = 0;

    for (n = URL_BYTES_MAX - 1; n <= URL_BYTES_MAX + 1; n++) {
        struct slice filler = repeat("a", n);
        char *text = arena_bytes(*state, n);
        struct url url = {0};

        assert_non_null(text);
        memcpy(text, filler.p, n);
        put_at(text, 0, SLICE_LIT("h/"));
        assert_int_equal(url_parse(*state, slice_of(text, n), &url), ERR_OK);
        assert_true(slice_eq(url.host.text, SLICE_LIT("h")));
        assert_int_equal(url.path.n,
                         n <= URL_BYTES_MAX ? n - before : LONGURL_PATH_MAX);
        repeat_free(filler);
    }
}

static void test_parse__hostile_filler__bounded(void **state)
{
    static const char *const units[] = {"%25",     "%",    "/..", "/.",  "//",
                                        "%2e%2e/", "\xff", "@",   ":",   "?",
                                        "#",       "\\",   "\t",  "%2F", "a."};
    size_t i = 0;

    for (i = 0; i < COUNT_OF(units); i++) {
        struct slice filler = repeat(units[i], 8100 / strlen(units[i]));
        char *text = arena_bytes(*state, filler.n + 9);
        struct url url = {0};

        put_at(text, 0, SLICE_LIT("http://h/"));
        memcpy(text + 9, filler.p, filler.n);
        assert_int_equal(url_parse(*state, slice_of(text, filler.n + 9), &url), ERR_OK);
        assert_true(url.canonical.n <= 3 * (filler.n + 9));
        (void)url_parse(*state, slice_of(text + 7, filler.n + 2), &url);
        (void)url_parse(*state, filler, &url);
        repeat_free(filler);
    }
}

static void test_parse__arena_full__no_memory(void **state)
{
    size_t cap = 0;
    size_t refused = 0;

    (void)state;
    for (cap = 0; cap < 512; cap += 4) {
        struct arena *small = arena_new(cap);
        struct url url = {0};
        enum err err =
            url_parse(small, SLICE_LIT("http://%65vil.example/\ta/../b"), &url);

        assert_true(err == ERR_OK || err == ERR_NOMEM);
        refused += err == ERR_NOMEM ? 1 : 0;
        arena_free(&small);
    }
    assert_true(refused > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_parse__table__canonical_form),
        ARENA_TEST(test_parse__canonical_form__is_its_own),
        ARENA_TEST(test_parse__pieces__point_into_canonical),
        ARENA_TEST(test_parse__length_round_limit__path_cut_above),
        ARENA_TEST(test_parse__hostile_filler__bounded),
        ARENA_TEST(test_parse__arena_full__no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
