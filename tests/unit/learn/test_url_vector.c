/*
 * test_url_vector - the terms of a URL: what tells two apart, which URLs of a message have any, and
 * bounds.
 */
#include "core/base/base.h"
#include "core/learn/url_vector.h"

#include "tests/unit/unit.h"

enum { ARENA = 1 << 20, LONG = 70000 };

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new(ARENA);
    return arena != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static struct vector of(const char *url)
{
    struct vector v = {.n = 0};
    assert_true(url_vector(arena, slice_str(url), &v));
    return v;
}

/* Terms of a that b has, too. */
static size_t common(const struct vector *a, const struct vector *b)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++) {
        for (size_t j = 0; j < b->n; j++) {
            n += a->term[i] == b->term[j];
        }
    }
    return n;
}

static void test_url_vector__equal_or_not__shares_all_terms_or_few(void **state)
{
    (void)state;
    struct vector a = of("secure-login.example/pay/index.php?id=77");
    struct vector same = of("secure-login.example/pay/index.php?id=77");
    struct vector other = of("zebra.test/garden");
    assert_int_equal(common(&a, &same), a.n);
    assert_int_equal(a.n, same.n);
    assert_true(common(&a, &other) < a.n / 4);
    assert_int_equal(a.group, of("www.secure-login.example/").group);
    assert_int_not_equal(a.group, other.group);
}

static void test_url_vector__one_property_more__is_a_term_more(void **state)
{
    static const char *const pairs[][2] = {
        {"a.example/x", "a.example:8443/x"},
        {"a.example/x", "b.a.example/x"},
        {"a.example/x", "a.example/x?u=http:%2f%2fb.example"},
        {"a.example/x", "a.example/x@y"},
        {"a.example/x", "a.example/~x"},
        {"a.example/x", "a.example//x"},
        {"a.example/x", "a.example/x.exe"},
        {"a.example/x", "a.example/x/0123456789abcdef0123"},
        {"a.example/x", "a.example/x/3"},
        {"a.example/x", "192.0.2.1/x"},
        {"a.example/x", "[2001:db8::1]/x"},
        {"a.example/x", "xn--bcher-kva.example/x"}};
    (void)state;
    for (size_t i = 0; i < LENGTH(pairs); i++) {
        struct vector a = of(pairs[i][0]);
        struct vector b = of(pairs[i][1]);
        if (common(&b, &a) == b.n) {
            fail_msg("%s has no term that %s has not", pairs[i][1], pairs[i][0]);
        }
    }
}

static void test_url_vector__host_alone__has_no_term_of_paths(void **state)
{
    (void)state;
    struct vector bare = of("secure-login.example");
    struct vector page = of("secure-login.example/pay?id=77");
    assert_int_equal(bare.count[VECTOR_SIGN], 0);
    assert_int_equal(common(&bare, &page), bare.n);
    assert_int_equal(page.count[VECTOR_LINK], bare.n);
    assert_true(page.count[VECTOR_SIGN] > 0);
}

static void test_url_vector__any_bytes_of_any_length__stay_in_bounds(void **state)
{
    static char text[LONG + 1];
    static const char starts[] = "./?&=-a0%:@[]\x80\x01~";
    (void)state;
    for (size_t k = 0; k + 1 < sizeof(starts); k++) {
        for (size_t n = 0; n <= LONG; n = 2 * n + 1) {
            struct vector v;
            struct buf bytes;
            for (size_t i = 0; i < n; i++) {
                text[i] = i % 3 == 0 ? starts[k] : (char)('a' + (i * 7 + i / 26) % 26);
            }
            assert_true(url_vector(arena, slice_of(text, n), &v));
            assert_true(v.n <= URL_VECTOR_TERMS);
            const struct vector m = {.term = v.term, .nurls = 1, .url = &v};
            buf_init(&bytes, VECTOR_BYTES);
            assert_true(vector_encode(&m, &bytes));
            assert_true(bytes.n <= URL_VECTOR_BYTES + 32);
            buf_fini(&bytes);
            arena_reset(arena);
        }
    }
}

static void test_url_vector__no_room__is_said(void **state)
{
    struct vector v;
    (void)state;
    while (arena_alloc(arena, 64) != NULL) {
    }
    assert_false(url_vector(arena, SLICE_LIT("a.example/x"), &v));
}

static void test_url_vectors__of_a_message__one_of_each_unknown_domain(void **state)
{
    static const char *const urls[] = {"www.google.com/search?q=1", /* a major domain */
                                       "a.example/1",
                                       "www.a.example/2",
                                       "b.example",
                                       "c.example/x",
                                       "d.example/x",
                                       "e.example/x"};
    struct featureset *set = featureset_new(arena, 20);
    struct vector v[VECTOR_URLS];
    (void)state;
    assert_true(featureset_add(set, FEATURE_url_domain, SLICE_LIT("z.example")));
    for (size_t i = 0; i < LENGTH(urls); i++) {
        assert_true(featureset_add(set, FEATURE_url, slice_str(urls[i])));
    }
    assert_int_equal(url_vectors(arena, set, v), VECTOR_URLS);
    static const size_t want[VECTOR_URLS] = {1, 3, 4, 5};
    for (size_t i = 0; i < VECTOR_URLS; i++) {
        assert_true(slice_eq(v[i].text, slice_str(urls[want[i]])));
    }
}

static void test_vector__with_urls__as_bytes_and_back(void **state)
{
    struct vector url[VECTOR_URLS] = {of("a.example/x?y=1"), of("b.example"),
                                      of("192.0.2.7/z"),
                                      of("d.example/0123456789abcdef01")};
    const uint32_t term[] = {1, (uint32_t)VECTOR_SIGN << VECTOR_HASH_BITS | 9};
    const struct vector v = {.group = 77,
                             .n = 2,
                             .term = term,
                             .nurls = VECTOR_URLS,
                             .url = url,
                             .count = {[0] = 1, [VECTOR_SIGN] = 1}};
    struct vector got;
    struct buf bytes;
    (void)state;
    buf_init(&bytes, VECTOR_BYTES);
    assert_true(vector_encode(&v, &bytes));
    assert_int_equal(vector_decode(arena, buf_slice(&bytes), &got), ERR_OK);
    assert_int_equal(got.nurls, VECTOR_URLS);
    assert_int_equal(got.n, 2);
    for (size_t i = 0; i < VECTOR_URLS; i++) {
        assert_int_equal(got.url[i].group, url[i].group);
        assert_int_equal(got.url[i].n, url[i].n);
        assert_int_equal(common(&got.url[i], &url[i]), url[i].n);
    }
    for (size_t n = 0; n < bytes.n; n++) { /* cut anywhere: fewer URLs, or an error */
        struct vector cut = {.nurls = 0};
        enum err e = vector_decode(arena, slice_head(buf_slice(&bytes), n), &cut);
        assert_true(e == ERR_SYNTAX || (e == ERR_OK && cut.nurls < VECTOR_URLS));
    }
    buf_add(&bytes, arena_copy(arena, slice_from(buf_slice(&bytes),
                                                 2))); /* more URLs than there may be */
    assert_int_equal(vector_decode(arena, buf_slice(&bytes), &got), ERR_SYNTAX);
    buf_fini(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        TEST(test_url_vector__equal_or_not__shares_all_terms_or_few),
        TEST(test_url_vector__one_property_more__is_a_term_more),
        TEST(test_url_vector__host_alone__has_no_term_of_paths),
        TEST(test_url_vector__any_bytes_of_any_length__stay_in_bounds),
        TEST(test_url_vector__no_room__is_said),
        TEST(test_url_vectors__of_a_message__one_of_each_unknown_domain),
        TEST(test_vector__with_urls__as_bytes_and_back),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
