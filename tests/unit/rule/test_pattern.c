/* test_pattern - patterns: what they see, and what bounds them. */
#include "core/verdict/rule/pattern.h"

#include "tests/unit/rule/ruled.h"

static const char hostile[] = "{ feature = \"subject\"; pattern = \"^(a+)+(?!x)b\"; }";

static char repeated[20000];

static char *repeat(char c, size_t n)
{
    assert_true(n < sizeof(repeated));
    memset(repeated, c, n);
    repeated[n] = '\0';
    return repeated;
}

/* Such a pattern takes 2^n steps on n letters. Nobody knows then, so neither the rule holds nor one
 * that wants the contrary. */
static void test_pcre2__a_hostile_value__then_it_gives_up_and_no_rule_holds(void **state)
{
    char text[500];
    uint64_t begin_us = 0;

    (void)state;
    for (int negated = 0; negated < 2; negated++) {
        snprintf(text, sizeof(text), negated ? NONE("%s") : ALL("%s"), hostile);
        ruled_load(text);
        memcpy(repeat('a', 500) + 498, "cb", 2); /* a b that it can never reach */
        ruled_feature(FEATURE_subject, repeated);
        begin_us = clock_cpu_us();
        assert_false(ruled_holds());
        assert_true(clock_cpu_us() - begin_us < 200000);
        ruled_message();
        ruled_feature(FEATURE_subject, "aab");
        assert_int_equal(ruled_holds(), !negated);
        ruled_message();
        ruled_feature(FEATURE_subject, "cab");
        assert_int_equal(ruled_holds(), negated);
    }
}

/* A message of thousands of such values costs little more than one. */
static void test_pcre2__many_hostile_values__then_it_rests(void **state)
{
    char text[500];

    (void)state;
    snprintf(text, sizeof(text), ALL("%s"), hostile);
    ruled_load(text);
    for (size_t i = 0; i < 5000; i++) {
        char *value = repeat('a', 100);

        snprintf(value + 100, 100, "cb%zu", i);
        ruled_feature(FEATURE_subject, value);
    }
    uint64_t begin_us = clock_cpu_us();
    assert_false(ruled_holds());
    assert_true(clock_cpu_us() - begin_us < 1000000);
}

static void test_pattern__bytes_that_are_no_utf8__then_replaced(void **state)
{
    static const struct {
        const char *from;
        const char *to;
        bool is_clean;
    } rows[] = {
        {"", "", true},
        {"abcdefgh-abcdefgh", "abcdefgh-abcdefgh", true},
        {"a\xc3\xa4z", "a\xc3\xa4z", true},
        {"12345678\xff", "12345678\xef\xbf\xbd", false},
        {"\xc3", "\xef\xbf\xbd", false},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", false},
        {"\xf4\x90\x80\x80x", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx", false},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char clean[200];
        size_t n = pattern_clean(slice_str(rows[i].from), clean);

        assert_int_equal(n, strlen(rows[i].to));
        assert_memory_equal(clean, rows[i].to, n);
        assert_int_equal(pattern_is_clean(slice_str(rows[i].from)), rows[i].is_clean);
    }
}

static void test_pattern__a_long_value__then_its_begin_is_seen(void **state)
{
    (void)state;
    ruled_load(ALL("{ feature = \"subject\"; pattern = \"b$\"; }"));
    char *value = repeat('a', 16 * 1024);
    value[16 * 1024 - 1] = 'b';
    ruled_feature(FEATURE_subject, value);
    assert_true(ruled_holds());
    ruled_message();
    value = repeat('a', 16 * 1024 + 1);
    value[16 * 1024] = 'b';
    ruled_feature(FEATURE_subject, value);
    assert_false(ruled_holds());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_pcre2__a_hostile_value__then_it_gives_up_and_no_rule_holds),
        TEST(test_pcre2__many_hostile_values__then_it_rests),
        TEST(test_pattern__bytes_that_are_no_utf8__then_replaced),
        TEST(test_pattern__a_long_value__then_its_begin_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
