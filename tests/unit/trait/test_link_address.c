/* test_link_address - addresses in links, in each spelling, and how far they are looked for. */
#include <stdio.h>

#include "core/message/trait/link_address.h"

#include "tests/unit/unit.h"

enum { LINK_MAX = 4096 };

static void test_find__each_spelling__is_the_address(void **state)
{
    static const struct {
        const char *link;
        const char *address; /* "": none */
        bool is_coded;
        bool is_in_fragment;
    } rows[] = {
        {"http://a.com/?e=V@Our.com", "v@our.com", false, false},
        {"a.com/v%40our.com/x", "v@our.com", false, false},
        {"http://a.com/x#e=v@our.com.", "v@our.com", false, true},
        {"http://a.com/x?q#dkBvdXIuY29t", "v@our.com", true, true},
        {"http://a.com/dkBvdXIuY29t/", "v@our.com", true, false},
        {"http://a.com/?x=76406F75722E636F6D", "v@our.com", true, false},
        {"http://v@our.com/", "", false, false},
        {"http://a.com/@name", "", false, false},
        {"http://a.com/name@", "", false, false},
        {"http://a.com/a@b", "", false, false},
        {"http://a.com/a@.com", "", false, false},
        {"http://a.com/a@b.c", "", false, false},
        {"http://a.com/dkBvdXI", "", false, false}, /* "v@our" */
        {"http://a.com/76406F75722E636F6", "", false, false},
        {"http://a.com/aGVsbG8gd29ybGQhIQ", "", false, false},
        {"", "", false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct link_address got = {.n = 0};
        bool found = link_address_find(slice_str(rows[i].link), &got);
        if (found != (rows[i].address[0] != '\0')) {
            fail_msg("%s", rows[i].link);
        }
        if (found) {
            assert_true(
                slice_eq(slice_of(got.text, got.n), slice_str(rows[i].address)));
            assert_int_equal(got.is_coded, rows[i].is_coded);
            assert_int_equal(got.is_in_fragment, rows[i].is_in_fragment);
        }
    }
}

static bool is_found_behind(unsigned ntokens)
{
    char link[LINK_MAX];
    struct link_address got;
    size_t n = (size_t)snprintf(link, sizeof(link), "http://a.com/");
    for (unsigned i = 0; i < ntokens; i++) {
        n += (size_t)snprintf(link + n, sizeof(link) - n, "abcdefgh/");
    }
    snprintf(link + n, sizeof(link) - n, "dkBvdXIuY29t");
    return link_address_find(slice_str(link), &got);
}

static void test_find__many_words__the_first_are_decoded(void **state)
{
    (void)state;
    assert_true(is_found_behind(LINK_TOKENS_MAX - 1));
    assert_false(is_found_behind(LINK_TOKENS_MAX));
}

static void test_find__long_address__stays_in_bounds(void **state)
{
    char link[LINK_MAX];
    (void)state;
    for (int n = 1; n < 300; n++) {
        struct link_address got = {.n = 0};
        snprintf(link, sizeof(link), "http://a.com/%0*d@%0*d.com", n, 1, n, 1);
        if (link_address_find(slice_str(link), &got)) {
            assert_in_range(got.n, LINK_ADDRESS_MIN, LINK_ADDRESS_MAX);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find__each_spelling__is_the_address),
        cmocka_unit_test(test_find__many_words__the_first_are_decoded),
        cmocka_unit_test(test_find__long_address__stays_in_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
