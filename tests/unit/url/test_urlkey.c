/* test_urlkey - which URLs are one to the looser keys, and which stay apart. */
#include "core/message/url/urlkey.h"

#include "tests/unit/text/text_test.h"

static const struct {
    struct slice url;
    struct slice clean;    /* empty: the canonical form itself */
    struct slice folded;   /* empty: clean itself */
    struct slice template; /* empty: the canonical form itself */
} rows[] = {
    {LIT("evil.com/"), LIT(""), LIT(""), LIT("")},
    {LIT("evil.com/login"), LIT(""), LIT(""), LIT("")},
    {LIT("evil.com/?"), LIT(""), LIT(""), LIT("")},
    /* tracking */
    {LIT("evil.com/x?utm_source=a"), LIT("evil.com/x"), LIT(""),
     LIT("evil.com/x?utm_source")},
    {LIT("evil.com/x?p=1&UTM_Anything=b&q=2"), LIT("evil.com/x?p=1&q=2"), LIT(""),
     LIT("evil.com/x?p&utm_anything&q")},
    {LIT("evil.com/x?fbclid&gclid=&mc_eid=1"), LIT("evil.com/x"), LIT(""),
     LIT("evil.com/x?fbclid&gclid&mc_eid")},
    {LIT("evil.com/x?fbclid=1&&a"), LIT("evil.com/x?a"), LIT(""),
     LIT("evil.com/x?fbclid&&a")},
    {LIT("evil.com/x?fbclids=1&ut_m=1&id=7"), LIT(""), LIT(""),
     LIT("evil.com/x?fbclids&ut_m&id")},
    {LIT("evil.com/x?a=utm_source=1"), LIT(""), LIT(""), LIT("evil.com/x?a")},
    /* case */
    {LIT("evil.com/Ab%C3%BC/C?D=E"), LIT(""), LIT("evil.com/ab%C3%BC/c?D=E"),
     LIT("evil.com/*/c?d")},
    {LIT("evil.com/%C3%BC"), LIT(""), LIT(""), LIT("evil.com/*")},
    {LIT("evil.com/A?utm_id=1"), LIT("evil.com/A"), LIT("evil.com/a"),
     LIT("evil.com/a?utm_id")},
    {LIT("evil.com/a?B=C"), LIT(""), LIT(""), LIT("evil.com/a?b")},
    /* templates */
    {LIT("evil.com/item/4711/index.html"), LIT(""), LIT(""),
     LIT("evil.com/item/0/index.html")},
    {LIT("evil.com/page2/v1.2"), LIT(""), LIT(""), LIT("evil.com/page0/v0.0")},
    {LIT("evil.com/u/5f3a9c12"), LIT(""), LIT(""), LIT("evil.com/u/*")},
    {LIT("evil.com/550e8400-e29b-41d4-a716-446655440000"), LIT(""), LIT(""),
     LIT("evil.com/*")},
    {LIT("evil.com/abcdefghijklmnopqrst"), LIT(""), LIT(""), LIT("evil.com/*")},
    {LIT("evil.com/abcdefghijklmnopqrs"), LIT(""), LIT(""), LIT("")},
    {LIT("a7.b1c2d3.evil.co.uk:8080/x"), LIT(""), LIT(""),
     LIT("a0.*.evil.co.uk:8080/x")},
    {LIT("e7vil.com/"), LIT(""), LIT(""), LIT("")}, /* whose domain it is stays */
    {LIT("192.0.2.7/1"), LIT(""), LIT(""), LIT("192.0.2.7/0")},
    {LIT("[2001:db8::1]/1"), LIT(""), LIT(""), LIT("[2001:db8::1]/0")},
    {LIT("evil.com/x?a=1&b"), LIT(""), LIT(""), LIT("evil.com/x?a&b")},
};

static struct slice registrable_of(const struct url *url)
{
    return url->host.kind == HOST_NAME ? host_registrable(url->host.text) : SLICE_NONE;
}

/* want empty: got must be base itself, the same bytes in the same place. */
static void check_key(struct slice url, struct slice got, struct slice want,
                      struct slice base)
{
    if (want.n == 0) {
        check_text(url.p, got, base);
        assert_ptr_equal(got.p, base.p);
    } else {
        check_text(url.p, got, want);
    }
}

static void test_keys__of_each_url__as_documented(void **state)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(rows); i++) {
        struct url url;
        struct slice clean;

        assert_int_equal(url_parse(*state, rows[i].url, &url), ERR_OK);
        clean = urlkey_clean(*state, url.canonical);
        check_key(rows[i].url, clean, rows[i].clean, url.canonical);
        check_key(rows[i].url, urlkey_folded(*state, clean), rows[i].folded, clean);
        check_key(rows[i].url, urlkey_template(*state, &url, registrable_of(&url)),
                  rows[i].template, url.canonical);
    }
}

/* A key that is read as a URL again, as list entries are, is its own key. */
static void test_keys__of_keys__are_the_same(void **state)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(rows); i++) {
        struct url url;
        struct url again;
        struct slice template;

        assert_int_equal(url_parse(*state, rows[i].url, &url), ERR_OK);
        template = urlkey_template(*state, &url, registrable_of(&url));
        assert_int_equal(url_parse(*state, template, &again), ERR_OK);
        check_text(rows[i].url.p,
                   urlkey_template(*state, &again, registrable_of(&again)), template);
    }
}

static void test_tracking__table__is_sorted_and_found(void **state)
{
    static const struct {
        struct slice name;
        bool is_prefix;
    } table[] = {
#define TRACKING(name)        {LIT(name), false},
#define TRACKING_PREFIX(name) {LIT(name), true},
#include "core/message/url/tracking.def"
#undef TRACKING
#undef TRACKING_PREFIX
    };
    size_t i = 0;

    (void)state;
    for (i = 0; i < COUNT_OF(table); i++) {
        char longer[64];
        int n = snprintf(longer, sizeof(longer), "%sx", table[i].name.p);

        assert_true(i == 0 || slice_cmp(table[i - 1].name, table[i].name) < 0);
        assert_true(urlkey_is_tracking(table[i].name));
        assert_int_equal(urlkey_is_tracking(slice_of(longer, (size_t)n)),
                         table[i].is_prefix);
    }
    assert_false(urlkey_is_tracking(SLICE_LIT("")));
    assert_false(urlkey_is_tracking(SLICE_LIT("id")));
    assert_true(urlkey_is_tracking(
        SLICE_LIT("utm_a_name_that_is_longer_than_any_row_of_the_table")));
}

static void test_keys__without_memory__are_none(void **state)
{
    struct arena *tiny = arena_new(1);
    struct url url;

    (void)arena_bytes(tiny, 1);
    assert_int_equal(url_parse(*state, SLICE_LIT("a.com/A1?utm_id=1"), &url), ERR_OK);
    assert_null(urlkey_clean(tiny, url.canonical).p);
    assert_null(urlkey_folded(tiny, url.canonical).p);
    assert_null(urlkey_template(tiny, &url, SLICE_NONE).p);
    arena_free(&tiny);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_keys__of_each_url__as_documented),
        ARENA_TEST(test_keys__of_keys__are_the_same),
        ARENA_TEST(test_keys__without_memory__are_none),
        cmocka_unit_test(test_tracking__table__is_sorted_and_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
