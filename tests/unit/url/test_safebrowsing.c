/* test_safebrowsing - the canonical form and the expressions of the published rules. */
#include "core/message/url/safebrowsing.h"

#include "tests/unit/text/text_test.h"

static const struct {
    struct slice in;
    struct slice canonical; /* empty: refused */
} forms[] = {
    {LIT("http://host/%25%32%35"), LIT("http://host/%25")},
    {LIT("http://host/asdf%25%32%35asd"), LIT("http://host/asdf%25asd")},
    {LIT("http://%31%36%38%2e%31/a"), LIT("http://168.0.0.1/a")},
    {LIT("www.evil.example"), LIT("http://www.evil.example/")},
    {LIT("evil.example:8080/x"), LIT("http://evil.example/x")},
    {LIT("HTTP://u:p@EVIL.example:1234/a/../b#f#g"), LIT("HTTP://evil.example/b")},
    {LIT("http://evil.example/q?r?s%20"), LIT("http://evil.example/q?r?s%20")},
    {LIT("http://evil.example/q?"), LIT("http://evil.example/q?")},
    {LIT("http://..evil..example../"), LIT("http://evil.example/")},
    {LIT("http%3A%2F%2Fevil.example:80/"), LIT("http://evil.example/")},
    {LIT("http://evil.example/a\tb\r\nc"), LIT("http://evil.example/abc")},
    {LIT("http:// evil.example/"), LIT("http://%20evil.example/")},
    {LIT("http://\x01\x80.example/"), LIT("http://%01%80.example/")},
    {LIT("http://b\xc3\xbc"
         "cher.example/"),
     LIT("http://xn--bcher-kva.example/")},
    {LIT("http://evil.example\\a"), LIT("http://evil.example\\a/")},
    {LIT("http://[::192.9.5.5]:8/ipng"), LIT("http://[::192.9.5.5]/ipng")},
    {LIT("http://0x7f.1/"), LIT("http://127.0.0.1/")},
    {LIT("http://1.2.3.4.5/"), LIT("http://1.2.3.4.5/")},
    {LIT(""), LIT("")},
    {LIT(":"), LIT("")},
    {LIT("/blah"), LIT("")},
    {LIT("http:///blah"), LIT("")},
    {LIT("http://[::1/"), LIT("")},
    {LIT("http://.../"), LIT("")},
    {LIT("mailto:a@b.example"), LIT("")},
};

static void test_parse__table__canonical_form(void **state)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(forms); i++) {
        struct safebrowsing url = {.canonical = SLICE_NONE};
        enum err err = safebrowsing_parse(*state, forms[i].in, &url);

        check_text(forms[i].in.p, url.canonical, forms[i].canonical);
        assert_int_equal(err, forms[i].canonical.n > 0 ? ERR_OK : ERR_SYNTAX);
    }
}

static const struct {
    const char *in;
    const char *want; /* one a line */
} lists[] = {
    {"http://a.b.c/1/2.html?param=1/2",
     "a.b.c/1/2.html?param=1/2\na.b.c/1/2.html\na.b.c/1/\na.b.c/\n"
     "b.c/1/2.html?param=1/2\nb.c/1/2.html\nb.c/1/\nb.c/\n"},
    {"http://a.b.c.d.e.f.g.h.i/", "a.b.c.d.e.f.g.h.i/\nc.d.e.f.g.h.i/\nd.e.f.g.h.i/\n"
                                  "e.f.g.h.i/\nf.g.h.i/\ng.h.i/\nh.i/\n"},
    {"http://192.0.2.1/a/", "192.0.2.1/a/\n192.0.2.1/\n"},
    {"http://[2001:db8::1]/a/b",
     "[2001:db8::1]/a/b\n[2001:db8::1]/a/\n[2001:db8::1]/\n"},
    {"http://h/?x", "h/?x\nh/\n"},
    {"http://h/?", "h/\n"},
    {"http://b.c/1/2/3/4/5/6.html",
     "b.c/1/2/3/4/5/6.html\nb.c/1/2/3/\nb.c/1/2/\nb.c/1/\nb.c/\n"},
};

static void test_expressions__table__all_in_order(void **state)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(lists); i++) {
        struct slice got[SAFEBROWSING_EXPRESSIONS_MAX];
        struct safebrowsing url = {0};
        char text[1024] = "";
        size_t n = 0;
        size_t at = 0;
        size_t k = 0;

        assert_int_equal(safebrowsing_parse(*state, slice_str(lists[i].in), &url),
                         ERR_OK);
        n = safebrowsing_expressions(*state, &url, got);
        for (k = 0; k < n; k++) {
            put_at(text, at, got[k]);
            at += got[k].n;
            text[at++] = '\n';
        }
        check_text(lists[i].in, slice_of(text, at), slice_str(lists[i].want));
    }
}

/* Seven hosts and six paths are 42: those of the rules alone are 30. */
static void test_expressions__more_than_30__longest_suffixes_go(void **state)
{
    struct slice got[SAFEBROWSING_EXPRESSIONS_MAX];
    struct safebrowsing url = {0};
    size_t n = 0;

    assert_int_equal(
        safebrowsing_parse(*state, SLICE_LIT("a.b.c.d.e.f.g.h.i/1/2/3/4/5?q"), &url),
        ERR_OK);
    n = safebrowsing_expressions(*state, &url, got);
    assert_int_equal(n, 30);
    check_text("the host itself", got[0], SLICE_LIT("a.b.c.d.e.f.g.h.i/1/2/3/4/5?q"));
    check_text("then five labels", got[6], SLICE_LIT("e.f.g.h.i/1/2/3/4/5?q"));
    check_text("the shortest", got[29], SLICE_LIT("h.i/"));
}

static void test_expressions__hostile_filler__bounded(void **state)
{
    static const char *const units[] = {".", "a.", "/", "/..", "%25", "?",
                                        "%", "@",  "[", "]",   ":",   "\xff"};
    size_t i = 0;

    for (i = 0; i < COUNT_OF(units); i++) {
        struct slice got[SAFEBROWSING_EXPRESSIONS_MAX];
        struct slice filler = repeat(units[i], 8100 / strlen(units[i]));
        char *text = arena_bytes(*state, filler.n + 9);
        struct safebrowsing url = {0};

        put_at(text, 0, SLICE_LIT("http://h/"));
        put_at(text, 9, filler);
        assert_int_equal(safebrowsing_parse(*state, slice_of(text, filler.n + 9), &url),
                         ERR_OK);
        assert_true(url.canonical.n <= 3 * (filler.n + 9));
        assert_true(safebrowsing_expressions(*state, &url, got) > 0);
        if (safebrowsing_parse(*state, slice_of(text + 9, filler.n), &url) == ERR_OK) {
            assert_true(safebrowsing_expressions(*state, &url, got) > 0);
        }
        repeat_free(filler);
    }
}

static void test_parse__arena_full__no_memory(void **state)
{
    size_t cap = 0;
    size_t refused = 0;

    (void)state;
    for (cap = 0; cap < 512; cap += 4) {
        struct slice got[SAFEBROWSING_EXPRESSIONS_MAX];
        struct arena *small = arena_new(cap);
        struct safebrowsing url = {0};
        enum err err = safebrowsing_parse(small, SLICE_LIT("http://a.b/\tc?d"), &url);
        size_t n = err == ERR_OK ? safebrowsing_expressions(small, &url, got) : 0;

        assert_true(err == ERR_OK || err == ERR_NOMEM);
        assert_true(n == 0 || n == 3);
        refused += n == 0 ? 1 : 0;
        arena_free(&small);
    }
    assert_true(refused > 0 && refused < 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_parse__table__canonical_form),
        ARENA_TEST(test_expressions__table__all_in_order),
        ARENA_TEST(test_expressions__more_than_30__longest_suffixes_go),
        ARENA_TEST(test_expressions__hostile_filler__bounded),
        ARENA_TEST(test_parse__arena_full__no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
