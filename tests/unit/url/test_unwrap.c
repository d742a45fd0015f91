/* test_unwrap - link wrappers of the shapes that mail has, and hostile ones. */
#include "core/base/word_table.h"
#include "core/message/url/unwrap.h"
#include "core/message/url/url.h"

#include "tests/unit/text/text_test.h"

enum { HOSTILE_BYTES = 64 * 1024 };

static const struct {
    const char *what;
    struct slice in;
    struct slice targets[6]; /* outer ones first */
} rows[] = {
    {"safe links",
     LIT("https://nam02.safelinks.protection.outlook.com/?url=https%3A%2F%2Fevil.example"
         "%2Fa%3Fb%3Dc&data=05%7C01%7Cx&reserved=0"),
     {LIT("https://evil.example/a?b=c")}},
    {"safe links with the reference left in",
     LIT("https://eur01.safelinks.protection.outlook.com/?data=1&url=http%3A%2F%2Fevil"
         ".example"),
     {LIT("http://evil.example")}},
    {"safe links of the government cloud, path",
     LIT("https://usg01.safelinks.protection.office365.us/ap/w-59584e83/?URL=https%3A%2F"
         "%2Fevil.example%2F"),
     {LIT("https://evil.example/")}},
    {"urldefense v1",
     LIT("https://urldefense.proofpoint.com/v1/url?u=http://evil.example/a%3Fb&k=oIvRg1"),
     {LIT("http://evil.example/a?b")}},
    {"urldefense v2",
     LIT("https://urldefense.proofpoint.com/v2/url?u=https-3A__www.evil.example_a-5Fb-3F"
         "c-3Dd&d=DwMFaQ&c=x"),
     {LIT("https://www.evil.example/a_b?c=d")}},
    {"urldefense v2, reference",
     LIT("https://urldefense.proofpoint.com/v2/url?u=http-3A__evil.example_-3Fa-3D1-26a"
         "mp-3Bb-3D2&d=1"),
     {LIT("http://evil.example/?a=1&b=2")}},
    {"urldefense v3",
     LIT("https://urldefense.com/v3/__https://evil.example/search?q=a*test&gs=ps__;Kw!!x"),
     {LIT("https://evil.example/search?q=a+test&gs=ps")}},
    {"urldefense v3, run of two",
     LIT("https://urldefense.com/v3/__https://evil.example/**Ab__;Iyo!!x$"),
     {LIT("https://evil.example/#*b")}},
    {"urldefense v3, slash lost on the way",
     LIT("https://urldefense.com/v3/__http:/evil.example/a__;!!x"),
     {LIT("http:/evil.example/a")}},
    {"urldefense v3, nothing hidden",
     LIT("https://urldefense.us/v3/__https://evil.example/a__"),
     {LIT("https://evil.example/a")}},
    {"urldefense v3, cut off",
     LIT("https://urldefense.com/v3/__https://evil.example/a*"),
     {LIT("https://evil.example/a")}},
    {"google",
     LIT("https://www.google.com/url?sa=t&q=https://evil.example/x&usg=AOv"),
     {LIT("https://evil.example/x"), LIT("https://evil.example/x&usg=AOv")}},
    {"google of a country, without a scheme",
     LIT("http://www.google.co.uk/url?q=evil.example.com%2Fx"),
     {LIT("evil.example.com/x")}},
    {"google amp",
     LIT("https://www.google.com/amp/s/evil.example/x?y"),
     {LIT("https://evil.example/x?y")}},
    {"google amp, plain",
     LIT("https://google.de/amp/evil.example/x"),
     {LIT("http://evil.example/x")}},
    {"amp cache",
     LIT("https://evil-example.cdn.ampproject.org/c/s/evil.example/x"),
     {LIT("https://evil.example/x")}},
    {"bing",
     LIT("https://www.bing.com/ck/a?!&&p=1&u=a1aHR0cHM6Ly9ldmlsLmV4YW1wbGUv&n=1"),
     {LIT("https://evil.example/")}},
    {"any redirector",
     LIT("https://t.example/c?id=1&Redirect=https%3A%2F%2Fevil.example"),
     {LIT("https://evil.example")}},
    {"backslashes",
     LIT("https://t.example/c?url=https:%5C%5Cevil.example"),
     {LIT("https:\\\\evil.example")}},
    {"no scheme, name of a redirector",
     LIT("http://t.example/r?u=evil.com/x"),
     {LIT("evil.com/x")}},
    {"no scheme, slashes",
     LIT("http://t.example/r?url=//evil.com/x"),
     {LIT("//evil.com/x")}},
    {"no scheme, other name", LIT("http://t.example/r?name=evil.com"), {LIT("")}},
    {"an address is no host", LIT("http://t.example/r?u=a@evil.com"), {LIT("")}},
    {"no name of the DNS", LIT("http://t.example/r?u=main.c"), {LIT("")}},
    {"escaped three times",
     LIT("http://t.example/r?x=https%25253A%25252F%25252Fevil.example"),
     {LIT("https://evil.example")}},
    {"escaped five times",
     LIT("http://t.example/r?x=https%252525253A%252525252F%252525252Fe"),
     {LIT("")}},
    {"blanks before it",
     LIT("http://t.example/r?x=%20%09http%3A%2F%2Fevil.example"),
     {LIT("http://evil.example")}},
    {"base64",
     LIT("http://t.example/r?x=aHR0cHM6Ly9ldmlsLmV4YW1wbGUv"),
     {LIT("https://evil.example/")}},
    {"base64, cut off", LIT("http://t.example/r?x=aHR0c"), {LIT("")}},
    {"no name",
     LIT("http://t.example/?https://evil.example/x"),
     {LIT("https://evil.example/x")}},
    {"no name, two readings",
     LIT("http://t.example/?http://evil.example/?a=b&c=d"),
     {LIT("http://evil.example/?a=b"), LIT("http://evil.example/?a=b&c=d")}},
    {"no name, base64",
     LIT("http://t.example/?aHR0cHM6Ly9ldmlsLmV4YW1wbGUv"),
     {LIT("https://evil.example/")}},
    {"fragment, base64",
     LIT("http://t.example/c#aHR0cHM6Ly9ldmlsLmV4YW1wbGUv"),
     {LIT("https://evil.example/")}},
    {"fragment, parameter",
     LIT("http://t.example/c?x=1#a=1&u=http%3A%2F%2Fevil.example%2F"),
     {LIT("http://evil.example/")}},
    {"fragment that is none", LIT("http://t.example/c#http"), {LIT("")}},
    {"google translate",
     LIT("https://ev--il-example-com.translate.goog/x?y=1&_x_tr_sl=en&_x_tr_tl=de"),
     {LIT("http://ev-il.example.com/x?y=1")}},
    {"google translate, of nothing", LIT("https://www.translate.goog/"), {LIT("")}},
    {"below a translated page", LIT("https://a.b-com.translate.goog/"), {LIT("")}},
    {"javascript is no target",
     LIT("http://t.example/r?url=javascript:alert(1)"),
     {LIT("")}},
    {"in the path",
     LIT("https://web.archive.org/web/2020/http://evil.example/x?y#z"),
     {LIT("http://evil.example/x?y#z")}},
    {"in the path, encoded",
     LIT("https://x.awstrack.me/L0/https:%2F%2Fevil.example%2Fx/1/0100"),
     {LIT("https://evil.example/x")}},
    {"in the path, colon encoded too",
     LIT("https://secure-web.cisco.com/1abc/https%3A%2F%2Fevil.example%2Fx"),
     {LIT("https://evil.example/x")}},
    {"in the path, within a word",
     LIT("https://t.example/xhttp://evil.example"),
     {LIT("")}},
    {"wrapper without a scheme",
     LIT("www.google.com/url?q=http://evil.example"),
     {LIT("http://evil.example")}},
    {"two wrappers",
     LIT("https://urldefense.proofpoint.com/v2/url?u=https-3A__eur01.safelinks.protection"
         ".outlook.com_-3Furl-3Dhttps-253A-252F-252Fevil.example-252F&d=1"),
     {LIT("https://eur01.safelinks.protection.outlook.com/?url=https%3A%2F%2Fevil.example"
          "%2F"),
      LIT("https://evil.example/")}},
    {"user info does not make a wrapper",
     LIT("https://www.google.com@t.example/amp/s/evil.example"),
     {LIT("")}},
    {"a name that only ends alike",
     LIT("https://notsafelinks.protection.outlook.com.t.example/?a=evil.com"),
     {LIT("")}},
    {"nothing after the prefix", LIT("https://www.google.com/amp/s/"), {LIT("")}},
    {"no value", LIT("https://www.google.com/url?q=&url"), {LIT("")}},
    {"escape cut off",
     LIT("https://t.example/?url=http%3A%2F%2Fevil.example%"),
     {LIT("")}},
    {"empty", LIT(""), {LIT("")}},
    {"no URL", LIT("http://"), {LIT("")}},
};

/* Where there are targets, the quick answer is never no. */
static void check_quick_answer(struct arena *arena, struct slice text, size_t n)
{
    struct url url;

    if (n > 0 && url_parse(arena, text, &url) == ERR_OK &&
        !unwrap_may_carry(text, url.host.text)) {
        fail_msg("%.*s: said to carry nothing", SLICE_ARGS(text));
    }
}

static void test_unwrap__nothing_in_it__quickly_told(void **state)
{
    static const struct slice none[] = {
        LIT("http://evil.example/"), LIT("https://evil.example/a/b.html?c=d&e=f#g"),
        LIT("evil.example/thermometer"), LIT("HTTP://evil.example/a%20b")};
    size_t i = 0;

    (void)state;
    for (i = 0; i < COUNT_OF(none); i++) {
        assert_false(unwrap_may_carry(none[i], SLICE_LIT("evil.example")));
    }
}

static void test_unwrap__table__targets(void **state)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(rows); i++) {
        struct unwrap_target targets[UNWRAP_TARGETS_MAX];
        bool is_cut = true;
        size_t n = unwrap_url(*state, rows[i].in, targets, &is_cut);
        size_t k = 0;

        assert_false(is_cut);
        for (k = 0; rows[i].targets[k].n > 0; k++) {
            check_text(rows[i].what, k < n ? targets[k].url : SLICE_NONE,
                       rows[i].targets[k]);
        }
        if (n != k) {
            fail_msg("%s: %zu targets, want %zu", rows[i].what, n, k);
        }
        check_quick_answer(*state, rows[i].in, n);
    }
}

/* "http://h/?u=" before text, escaped once more. */
static struct slice wrap(struct arena *arena, struct slice text)
{
    struct slice head = SLICE_LIT("http://h/?u=");
    char *p = arena_bytes(arena, head.n + 3 * text.n);
    size_t n = head.n;
    size_t i = 0;

    assert_non_null(p);
    put_at(p, 0, head);
    for (i = 0; i < text.n; i++) {
        if (text.p[i] == '%') {
            put_at(p, n, SLICE_LIT("%25"));
            n += 3;
        } else {
            p[n++] = text.p[i];
        }
    }
    return slice_of(p, n);
}

static void test_unwrap__depth_round_limit__limit_held(void **state)
{
    struct slice text = SLICE_LIT("http://evil.example/");
    unsigned depth = 0;

    for (depth = 0; depth <= UNWRAP_DEPTH_MAX + 1; depth++) {
        struct unwrap_target targets[UNWRAP_TARGETS_MAX];
        bool is_cut = false;
        size_t n = unwrap_url(*state, text, targets, &is_cut);
        size_t want = depth <= UNWRAP_DEPTH_MAX ? depth : UNWRAP_DEPTH_MAX;

        assert_int_equal(n, want);
        assert_int_equal(is_cut, depth > UNWRAP_DEPTH_MAX);
        if (n > 0) {
            assert_int_equal(targets[n - 1].depth, n);
            assert_int_equal(targets[n - 1].from, n - 1); /* the one before it */
        }
        text = wrap(*state, text);
    }
}

static void test_unwrap__many_targets__limit_held(void **state)
{
    size_t count = 0;

    for (count = UNWRAP_TARGETS_MAX - 1; count <= UNWRAP_TARGETS_MAX + 1; count++) {
        struct unwrap_target targets[UNWRAP_TARGETS_MAX];
        char text[1024] = "http://h/?";
        size_t n = strlen(text);
        bool is_cut = false;
        size_t i = 0;

        for (i = 0; i < count; i++) {
            n += (size_t)snprintf(text + n, sizeof(text) - n, "a=http%%3A//h%zu&", i);
        }
        n = unwrap_url(*state, slice_of(text, n), targets, &is_cut);
        assert_int_equal(n, count < UNWRAP_TARGETS_MAX ? count : UNWRAP_TARGETS_MAX);
        assert_int_equal(is_cut, count > UNWRAP_TARGETS_MAX);
    }
}

static void test_unwrap__itself_as_target__ends(void **state)
{
    struct unwrap_target targets[UNWRAP_TARGETS_MAX];
    bool is_cut = false;

    assert_int_equal(
        unwrap_url(*state, SLICE_LIT("http://h/?u=http://h/?u=http://h/?u=http://h/"),
                   targets, &is_cut),
        3);
    assert_false(is_cut);
}

static void test_unwrap__hostile_filler__bounded(void **state)
{
    static const char *const heads[] = {
        "http://h/?",
        "http://h/",
        "https://urldefense.com/v3/__https://h/",
        "https://urldefense.com/v3/__https://h/*__;",
        "https://urldefense.proofpoint.com/v2/url?u=http-3A__h_",
        "https://www.google.com/amp/s/",
        "https://www.bing.com/ck/a?u=a1",
    };
    static const char *const units[] = {"u=http://a&", "u=http:/%00&",
                                        "http://",     "%25",
                                        "**",          "**9",
                                        "__;",         "/http:/",
                                        "*",           "-",
                                        "&amp;",       "%",
                                        "&",           "=",
                                        "a1",          "h",
                                        "_",           "u=a.com&",
                                        "https%3A%2F", "\xff",
                                        "?",           "#",
                                        "s/",          "-26amp-3B"};
    const size_t sizes[] = {8000, HOSTILE_BYTES};
    size_t h = 0;
    size_t i = 0;
    size_t k = 0;

    for (h = 0; h < COUNT_OF(heads); h++) {
        for (i = 0; i < COUNT_OF(units); i++) {
            for (k = 0; k < COUNT_OF(sizes); k++) {
                struct unwrap_target targets[UNWRAP_TARGETS_MAX];
                struct slice filler = repeat(units[i], sizes[k] / strlen(units[i]));
                size_t n = strlen(heads[h]);
                char *text = malloc(n + filler.n);
                bool is_cut = false;
                size_t found = 0;

                assert_non_null(text);
                put_at(text, 0, slice_of(heads[h], n));
                put_at(text, n, filler);
                arena_reset(*state);
                found =
                    unwrap_url(*state, slice_of(text, n + filler.n), targets, &is_cut);
                assert_true(found <= UNWRAP_TARGETS_MAX);
                assert_true(arena_used(*state) <= (size_t)UNWRAP_ARENA_MAX);
                free(text);
                repeat_free(filler);
            }
        }
    }
}

static void test_unwrap__arena_full__cut(void **state)
{
    struct slice text =
        SLICE_LIT("http://h/?u=http%3A//a.example/&r=http%3A//b.example");
    size_t cap = 0;
    size_t cut = 0;

    (void)state;
    for (cap = 0; cap < 1024; cap += 8) {
        struct unwrap_target targets[UNWRAP_TARGETS_MAX];
        struct arena *small = arena_new(cap);
        bool is_cut = false;
        size_t n = unwrap_url(small, text, targets, &is_cut);

        assert_true(n <= 2 && (n == 2 || is_cut));
        cut += is_cut ? 1 : 0;
        arena_free(&small);
    }
    assert_true(cut > 0 && cut < 128);
}

static void test_shortener__table__known(void **state)
{
    static const struct slice table[] = {
#define SHORTENERS(row) LIT(row),
#include "core/message/url/shortener.def"
#undef SHORTENERS
    };
    struct slice last = SLICE_NONE;
    struct word word;

    (void)state;
    assert_true(unwrap_is_shortener(SLICE_LIT("bit.ly")));
    assert_true(unwrap_is_shortener(SLICE_LIT("0rz.tw")));
    assert_true(unwrap_is_shortener(SLICE_LIT("youtu.be")));
    assert_true(unwrap_is_shortener(SLICE_LIT("abc.app.link")));
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        for (struct slice row = table[i]; word_cut(&row, &word); last = word.key) {
            assert_true(slice_cmp(last, word.key) < 0);
            assert_true(unwrap_is_shortener(word.key));
        }
    }
    assert_false(unwrap_is_shortener(SLICE_LIT("ly")));
    assert_false(unwrap_is_shortener(SLICE_LIT("rabbit.ly")));
    assert_false(unwrap_is_shortener(SLICE_LIT("bit.ly.example")));
    assert_false(unwrap_is_shortener(SLICE_LIT("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_unwrap__table__targets),
        ARENA_TEST(test_unwrap__nothing_in_it__quickly_told),
        ARENA_TEST(test_unwrap__depth_round_limit__limit_held),
        ARENA_TEST(test_unwrap__many_targets__limit_held),
        ARENA_TEST(test_unwrap__itself_as_target__ends),
        ARENA_TEST(test_unwrap__hostile_filler__bounded),
        ARENA_TEST(test_unwrap__arena_full__cut),
        ARENA_TEST(test_shortener__table__known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
