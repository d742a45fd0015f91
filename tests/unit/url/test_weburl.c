/* test_weburl - URLs and references as browsers write them out. */
#include "core/message/url/longurl.h"
#include "core/message/url/percent.h"
#include "core/message/url/url.h"
#include "core/message/url/weburl.h"

#include "tests/unit/text/text_test.h"

#define BASE "http://u:p@example.org:81/foo/bar?q#f"

static const struct {
    struct slice in;
    const char *base;
    enum err err;
    struct slice href;
} rows[] = {
    {LIT("http://EVIL.example:80/a/../b?x#y"), NULL, ERR_OK,
     LIT("http://evil.example/b?x#y")},
    {LIT(" https://evil.example\t\n"), NULL, ERR_OK, LIT("https://evil.example/")},
    {LIT("http:\\\\evil.example\\@good.example"), NULL, ERR_OK,
     LIT("http://evil.example/@good.example")},
    {LIT("http:evil.example"), NULL, ERR_OK, LIT("http://evil.example/")},
    {LIT("http://///evil.example"), NULL, ERR_OK, LIT("http://evil.example/")},
    {LIT("http://a:b:c@d@evil.example/"), NULL, ERR_OK,
     LIT("http://a:b%3Ac%40d@evil.example/")},
    {LIT("http://:@evil.example/"), NULL, ERR_OK, LIT("http://evil.example/")},
    {LIT("http://:p@evil.example/"), NULL, ERR_OK, LIT("http://:p@evil.example/")},
    {LIT("https://evil.example.:00443/"), NULL, ERR_OK, LIT("https://evil.example./")},
    {LIT("http://h:0/"), NULL, ERR_OK, LIT("http://h:0/")},
    {LIT("ftp://h:21/a"), NULL, ERR_OK, LIT("ftp://h/a")},
    {LIT("http://0x7f.1"), NULL, ERR_OK, LIT("http://127.0.0.1/")},
    {LIT("http://[::FFFF:1.2.3.4]"), NULL, ERR_OK, LIT("http://[::ffff:102:304]/")},
    {LIT("http://a..b/"), NULL, ERR_OK, LIT("http://a..b/")},
    {LIT("http://%65vil\xe3\x80\x82"
         "example"),
     NULL, ERR_OK, LIT("http://evil.example/")},
    {LIT("http://h/a b\"<>`{}^\x7f\xc3\xa9%zz%41"), NULL, ERR_OK,
     LIT("http://h/a%20b%22%3C%3E%60%7B%7D%5E%7F%C3%A9%zz%41")},
    {LIT("http://h/?'\"`<> ^"), NULL, ERR_OK, LIT("http://h/?%27%22`%3C%3E%20^")},
    {LIT("http://h/#'\"`<> ^#?"), NULL, ERR_OK, LIT("http://h/#'%22%60%3C%3E%20^#?")},
    {LIT("http://h/a/%2e%2E/./b/.%2e"), NULL, ERR_OK, LIT("http://h/")},
    {LIT("http://h/a//../b/..."), NULL, ERR_OK, LIT("http://h/a/b/...")},
    {LIT("http://h/.."), NULL, ERR_OK, LIT("http://h/")},
    {LIT("http://h/?"), NULL, ERR_OK, LIT("http://h/?")},
    {LIT("http://h/#"), NULL, ERR_OK, LIT("http://h/#")},
    /* references */
    {LIT("x"), BASE, ERR_OK, LIT("http://u:p@example.org:81/foo/x")},
    {LIT("../x"), BASE, ERR_OK, LIT("http://u:p@example.org:81/x")},
    {LIT("../../../x"), BASE, ERR_OK, LIT("http://u:p@example.org:81/x")},
    {LIT("/x"), BASE, ERR_OK, LIT("http://u:p@example.org:81/x")},
    {LIT("\\x"), BASE, ERR_OK, LIT("http://u:p@example.org:81/x")},
    {LIT("//evil.example"), BASE, ERR_OK, LIT("http://evil.example/")},
    {LIT("/\\evil.example"), BASE, ERR_OK, LIT("http://evil.example/")},
    {LIT("http:x"), BASE, ERR_OK, LIT("http://u:p@example.org:81/foo/x")},
    {LIT("https:x"), BASE, ERR_OK, LIT("https://x/")},
    {LIT("http:/x"), BASE, ERR_OK, LIT("http://u:p@example.org:81/x")},
    {LIT("http:/\\x"), BASE, ERR_OK, LIT("http://x/")},
    {LIT(""), BASE, ERR_OK, LIT("http://u:p@example.org:81/foo/bar?q")},
    {LIT("?x"), BASE, ERR_OK, LIT("http://u:p@example.org:81/foo/bar?x")},
    {LIT("#x"), BASE, ERR_OK, LIT("http://u:p@example.org:81/foo/bar?q#x")},
    {LIT("."), BASE, ERR_OK, LIT("http://u:p@example.org:81/foo/")},
    {LIT(".."), "http://h", ERR_OK, LIT("http://h/")},
    {LIT("mailto:a@b"), BASE, ERR_UNSUPPORTED, LIT("")},
    {LIT("//"), BASE, ERR_SYNTAX, LIT("")},
    /* none */
    {LIT("evil.example"), NULL, ERR_SYNTAX, LIT("")},
    {LIT("//evil.example"), NULL, ERR_SYNTAX, LIT("")},
    {LIT("evil.example:80/"), NULL, ERR_UNSUPPORTED, LIT("")},
    {LIT("http://"), NULL, ERR_SYNTAX, LIT("")},
    {LIT("http://u@/"), NULL, ERR_SYNTAX, LIT("")},
    {LIT("http://h:65536/"), NULL, ERR_SYNTAX, LIT("")},
    {LIT("http://h:x/"), NULL, ERR_SYNTAX, LIT("")},
    {LIT("http://a b/"), NULL, ERR_SYNTAX, LIT("")},
    {LIT("http://a%00b/"), NULL, ERR_SYNTAX, LIT("")},
    {LIT("http://1.2.3.08/"), NULL, ERR_SYNTAX, LIT("")},
    {LIT("http://[www.google.com]/"), NULL, ERR_SYNTAX, LIT("")},
    {LIT("http://[::1/"), NULL, ERR_SYNTAX, LIT("")},
};

static void test_parse__table__href(void **state)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(rows); i++) {
        struct weburl base = {0};
        struct weburl url = {0};
        enum err err = ERR_OK;

        if (rows[i].base != NULL) {
            assert_int_equal(weburl_parse(*state, slice_str(rows[i].base), NULL, &base),
                             ERR_OK);
        }
        err =
            weburl_parse(*state, rows[i].in, rows[i].base != NULL ? &base : NULL, &url);
        if (err != rows[i].err) {
            fail_msg("%s: error %d", rows[i].in.p, err);
        }
        if (err == ERR_OK) {
            struct weburl again = {0};

            check_text(rows[i].in.p, url.href, rows[i].href);
            assert_int_equal(weburl_parse(*state, url.href, NULL, &again), ERR_OK);
            check_text(rows[i].in.p, again.href, url.href);
        }
    }
}

static void test_parse__parts__point_into_href(void **state)
{
    struct weburl url = {0};

    assert_int_equal(
        weburl_parse(*state, SLICE_LIT("https://u:p@H.example:8443/a?q#f"), NULL, &url),
        ERR_OK);
    check_text("scheme", url.scheme, SLICE_LIT("https"));
    check_text("username", url.username, SLICE_LIT("u"));
    check_text("password", url.password, SLICE_LIT("p"));
    check_text("host", url.host.text, SLICE_LIT("h.example"));
    assert_true(url.has_port);
    assert_int_equal(url.port, 8443);
    check_text("path", url.path, SLICE_LIT("/a"));
    check_text("query", url.query, SLICE_LIT("q"));
    check_text("fragment", url.fragment, SLICE_LIT("f"));
    assert_ptr_equal(url.fragment.p + 1, url.href.p + url.href.n);
    assert_int_equal(weburl_parse(*state, SLICE_LIT("http://h:80"), NULL, &url),
                     ERR_OK);
    assert_false(url.has_port);
    assert_null(url.query.p);
    assert_null(url.fragment.p);
}

static void test_parse__hostile_filler__bounded(void **state)
{
    static const char *const units[] = {"%25", "%",  "/..", "/.",   "//",   "%2e%2e/",
                                        "@",   ":",  "?",   "#",    "\\",   "\t",
                                        "a.",  "\"", "[",   "..\\", "%2e/", "\xff"};
    struct weburl base = {0};
    size_t i = 0;

    assert_int_equal(weburl_parse(*state, SLICE_LIT("http://h/a/b/c"), NULL, &base),
                     ERR_OK);
    for (i = 0; i < COUNT_OF(units); i++) {
        struct slice filler = repeat(units[i], 8100 / strlen(units[i]));
        char *text = arena_bytes(*state, filler.n + 9);
        struct weburl url = {0};

        put_at(text, 0, SLICE_LIT("http://h/"));
        put_at(text, 9, filler);
        assert_int_equal(weburl_parse(*state, slice_of(text, filler.n + 9), NULL, &url),
                         ERR_OK);
        assert_true(url.href.n <= 3 * (filler.n + 9));
        (void)weburl_parse(*state, slice_of(text + 7, filler.n + 2), &base, &url);
        (void)weburl_parse(*state, filler, &base, &url);
        repeat_free(filler);
    }
}

static void test_parse__length_round_limit__path_cut_above(void **state)
{
    const size_t before = 8; /* bytes before the path */
    size_t n = 0;

    for (n = URL_BYTES_MAX - 1; n <= URL_BYTES_MAX + 1; n++) {
        struct slice filler = repeat("a", n);
        char *text = arena_bytes(*state, n);
        struct weburl url = {0};

        put_at(text, 0, filler);
        put_at(text, 0, SLICE_LIT("http://h/"));
        assert_int_equal(weburl_parse(*state, slice_of(text, n), NULL, &url), ERR_OK);
        assert_true(slice_eq(url.host.text, SLICE_LIT("h")));
        assert_int_equal(url.path.n,
                         n <= URL_BYTES_MAX ? n - before : LONGURL_PATH_MAX);
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
        struct weburl url = {0};
        enum err err =
            weburl_parse(small, SLICE_LIT("http://%65vil.example/\ta"), NULL, &url);

        assert_true(err == ERR_OK || err == ERR_NOMEM);
        refused += err == ERR_NOMEM ? 1 : 0;
        arena_free(&small);
    }
    assert_true(refused > 0 && refused < 128);
}

static void test_percent_encode__query__as_browsers(void **state)
{
    char dst[16];

    (void)state;
    check_text("utf-8",
               slice_of(dst, percent_encode(PERCENT_SPECIAL_QUERY,
                                            SLICE_LIT("\xc3\xa1|\\'"), dst)),
               SLICE_LIT("%C3%A1|\\%27"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_parse__table__href),
        ARENA_TEST(test_parse__parts__point_into_href),
        ARENA_TEST(test_parse__hostile_filler__bounded),
        ARENA_TEST(test_parse__length_round_limit__path_cut_above),
        ARENA_TEST(test_parse__arena_full__no_memory),
        cmocka_unit_test(test_percent_encode__query__as_browsers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
