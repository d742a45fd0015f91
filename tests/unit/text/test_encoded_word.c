/* test_encoded_word - RFC 2047 as it should be and as it comes. */
#include "core/message/text/charset.h"
#include "core/message/text/encoded_word.h"

#include "tests/unit/text/text_test.h"

static const struct {
    struct slice in;
    struct slice want;
} rows[] = {
    {LIT(""), LIT("")},
    {LIT("plain = text ?= x"), LIT("plain = text ?= x")},
    {LIT("=?utf-8?q?caf=C3=A9?="), LIT("caf\xc3\xa9")},
    {LIT("=?UTF-8?Q?a_b?= c"), LIT("a b c")},
    {LIT("=?utf-8?B?Y2Fmw6k=?="), LIT("caf\xc3\xa9")},
    {LIT("=?iso-8859-1?q?caf=E9?="), LIT("caf\xc3\xa9")},
    {LIT("=?iso-8859-1*fr?q?caf=E9?="), LIT("caf\xc3\xa9")},
    {LIT("=?koi8-r*ru?q?=D2?="), LIT("\xd1\x80")},
    {LIT("=?gb2312?B?1tDOxA==?="), LIT("\xe4\xb8\xad\xe6\x96\x87")},
    /* adjacent words are joined, also in the middle of a character */
    {LIT("=?utf-8?q?a?= =?utf-8?q?b?="), LIT("ab")},
    {LIT("=?utf-8?q?a?=\r\n\t=?utf-8?b?Yg==?="), LIT("ab")},
    {LIT("=?utf-8?q?=E4=B8?= =?UTF-8?Q?=AD?="), LIT("\xe4\xb8\xad")},
    {LIT("=?utf-8?b?5Lg=?= =?utf-8?b?rQ==?="), LIT("\xe4\xb8\xad")},
    {LIT("=?utf-8?q?a?==?utf-8?q?b?="), LIT("ab")},
    {LIT("=?utf-8?q?a?= x =?utf-8?q?b?="), LIT("a x b")},
    /* lenient */
    {LIT("=?utf-8?q?=41=?="), LIT("A=")},
    {LIT("=?utf-8?q?a b?="), LIT("a b")},
    {LIT("=?utf-8?q?a?b?="), LIT("a?b")},
    {LIT("=?utf-8?q?=zz?="), LIT("=zz")},
    {LIT("x=?utf-8?q?a?=y"), LIT("xay")},
    {LIT("=?none?q?=E9?="), LIT("\xc3\xa9")},
    {LIT("=?utf-8?q?\?="), LIT("")},
    /* no words */
    {LIT("=?utf-8?q?abc"), LIT("=?utf-8?q?abc")},
    {LIT("=?utf-8?x?abc?="), LIT("=?utf-8?x?abc?=")},
    {LIT("=??q?abc?="), LIT("=??q?abc?=")},
    {LIT("=?utf-8?"), LIT("=?utf-8?")},
    {LIT("=?"), LIT("=?")},
    {LIT("=?=?utf-8?q?a?="), LIT("=?a")},
    /* raw 8 bit */
    {LIT("caf\xe9"), LIT("caf\xc3\xa9")},
    {LIT("caf\xc3\xa9"), LIT("caf\xc3\xa9")},
    {LIT("\xe9=?utf-8?q?a?=\xe9"), LIT("\xc3\xa9"
                                       "a\xc3\xa9")},
};

static void test_decode__table__expected_text(void **state)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(rows); i++) {
        char what[32];

        (void)snprintf(what, sizeof(what), "row %zu", i);
        check_text(what, encoded_word_decode(*state, rows[i].in), rows[i].want);
    }
}

static void test_decode__nothing_encoded__input_itself(void **state)
{
    struct slice in = SLICE_LIT("Subject of a mail");
    size_t used = arena_used(*state);

    assert_ptr_equal(encoded_word_decode(*state, in).p, in.p);
    assert_int_equal(arena_used(*state), used);
}

static void test_decode__megabytes_of_openings__all_kept(void **state)
{
    static const char *const units[] = {"=?",
                                        "=?utf-8?q?",
                                        "=?utf-8?q?=",
                                        "=?a?b?",
                                        "=",
                                        "=?utf-8?q?a?= ",
                                        "=?gb18030?q?=FF?= =?big5?q?=FF?="};
    size_t i = 0;

    for (i = 0; i < COUNT_OF(units); i++) {
        struct slice in = repeat(units[i], (1 << 20) / strlen(units[i]));
        struct slice got = encoded_word_decode(*state, in);

        assert_non_null(got.p);
        assert_true(charset_is_utf8(got));
        repeat_free(in);
        arena_reset(*state);
    }
}

static void test_decode__arena_full__no_text(void **state)
{
    size_t cap = 0;
    size_t refused = 0;

    (void)state;
    for (cap = 0; cap < 2000; cap += 8) {
        struct arena *small = arena_new(cap);
        struct slice got =
            encoded_word_decode(small, SLICE_LIT("=?big5?b?pKQ=?= x =?koi8-r?q?=D2?="));

        if (got.p == NULL) {
            assert_true(arena_is_full(small));
            refused++;
        } else {
            check_text("whole", got, SLICE_LIT("\xe4\xb8\xad x \xd1\x80"));
        }
        arena_free(&small);
    }
    assert_true(refused > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_decode__table__expected_text),
        ARENA_TEST(test_decode__nothing_encoded__input_itself),
        ARENA_TEST(test_decode__megabytes_of_openings__all_kept),
        ARENA_TEST(test_decode__arena_full__no_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
