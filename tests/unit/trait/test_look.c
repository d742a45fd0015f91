/* test_look - words that look random, and letters that look like others. */
#include "core/message/trait/look.h"

#include "tests/unit/unit.h"

static void test_random__each_word__or_not(void **state)
{
    static const struct {
        const char *word;
        bool is_random;
    } rows[] = {
        {"a1b2c3d4", true},
        {"kbhnrtzxq", true},
        {"5f4dcc3b5aa7", true},
        {"0123456789abcdef", true},
        {"xkcvbnzqwr", true},
        {"a1b2c3", false},
        {"newsletter2026", false},
        {"covid19", false},
        {"web2mail4u", false},
        {"20260101123456", false},
        {"rechtsschutz", false},
        {"deadbeef", false},
        {"strengths", false},
        {"angstschweiss", false},
        {"catchphrase", false},
        {"dkbvd-xi", false},
        {"", false},
        {"mississippi", false},
        {"freshrpms", false},
        {"schlittschuh", false},
        {"facebook", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (look_is_random(slice_str(rows[i].word)) != rows[i].is_random) {
            fail_msg("%s", rows[i].word);
        }
    }
}

static void test_lookalike__each_label__or_not(void **state)
{
    static const struct {
        const char *label;
        bool is_lookalike;
    } rows[] = {
        {"\xd1\x80\xd0\xb0ypal", true},                     /* Cyrillic er, a */
        {"\xd0\xb0\xd1\x80\xd1\x80\xd3\x8f\xd0\xb5", true}, /* all of it Cyrillic */
        {"b\xc3\xbc"
         "cher",
         false}, /* an umlaut */
        {"\xd0\xbf\xd1\x80\xd0\xb8\xd0\xbc\xd0\xb5\xd1\x80",
         false}, /* a Russian word */
        {"paypal", false},
        {"\xe4\xb8\xad\xe6\x96\x87", false},
        {"pay\xff", false},
        {"", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (look_is_lookalike(slice_str(rows[i].label)) != rows[i].is_lookalike) {
            fail_msg("%s", rows[i].label);
        }
    }
}

static void test_lookalike_host__a_labels__are_decoded(void **state)
{
    (void)state;
    assert_true(look_is_lookalike_host(SLICE_LIT("www.xn--80ak6aa92e.com")));
    assert_false(look_is_lookalike_host(SLICE_LIT("xn--bcher-kva.com")));
    assert_false(look_is_lookalike_host(SLICE_LIT("xn--.com")));
    assert_false(look_is_lookalike_host(SLICE_LIT("example.com")));
}

static void test_owner__another_suffix__is_the_same(void **state)
{
    (void)state;
    assert_true(look_is_same_owner(SLICE_LIT("shop.co.uk"), SLICE_LIT("shop.com")));
    assert_false(look_is_same_owner(SLICE_LIT("shop.com"), SLICE_LIT("shops.com")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random__each_word__or_not),
        cmocka_unit_test(test_lookalike__each_label__or_not),
        cmocka_unit_test(test_lookalike_host__a_labels__are_decoded),
        cmocka_unit_test(test_owner__another_suffix__is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
