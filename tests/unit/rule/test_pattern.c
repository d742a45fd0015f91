/* test_pattern - patterns: what they see, and what bounds them. */
#include "core/verdict/rule/pattern.h"
#include "core/verdict/rule/pattern_size.h"

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
static void test_pcre2__a_hostile_value__then_it_gives_up_and_no_rule_holds(
    void **state)
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
        {"\xf4\x90\x80\x80x", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx",
         false},
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

static void test_size__repeats__then_written_out(void **state)
{
    static const struct {
        const char *text;
        unsigned size;
    } rows[] = {
        {"", 0},
        {"foo", 0},
        {"^fo+(a|b)*$", 0},
        {"a.{0,100}bcdefgh", 400},
        {"a.{0,100}b{2}", 401},
        {"(a.{0,9}b){3}", 112},
        {"((a{1,900}b){1,900}c){1,900}", PATTERN_SIZE_BEYOND},
        {"[a-z]{3,}[^a]{2}[\\D]\\W", 3 + 8 + 4 + 4},
        {"[]{9}]{2}", 1},
        {"\\p{Greek}{0,4}x", 320},
        {"\\Q[(.{9}\\E.{0,10}", 40},
        {"(a(.{0,10}", 40},
        {"a{x}{,3}\\", 0},
        {"\\x{e4}{5}.{99999999999}", PATTERN_SIZE_BEYOND},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        unsigned size = pattern_size(slice_str(rows[i].text));

        if (size != rows[i].size) {
            fail_msg("%s: %u, not %u", rows[i].text, size, rows[i].size);
        }
    }
    assert_int_equal(pattern_size(slice_str(repeat('(', 100))), PATTERN_SIZE_BEYOND);
}

/* The worst that may pass compile in a second; a feature's larger pattern is PCRE2's. */
static void test_size__of_patterns_that_pass__then_soon_compiled(void **state)
{
    static const char *const rows[] = {
        "{ text = \"foo.{0,100}bar\"; }",
        "{ text = \"foo.{0,50}bar.{0,50}baz\"; }",
        "{ text = \"(.{1,3}[ab]){30}z\"; }",
        "{ text = \"foo\\\\pL{0,4}bar\"; }",
        "{ feature = \"subject\"; pattern = \"foo.{0,900}bar.{0,900}baz\"; }",
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char text[500];
        struct ruleset_stat stat;
        uint64_t begin_us = clock_cpu_us();

        snprintf(text, sizeof(text), ALL("%s"), rows[i]);
        ruled_load(text);
        assert_true(clock_cpu_us() - begin_us < 5000000);
        ruleset_stat(ruled.config->ruleset, &stat);
        assert_int_equal(stat.slow_patterns, i + 1 == LENGTH(rows));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_pcre2__a_hostile_value__then_it_gives_up_and_no_rule_holds),
        TEST(test_pcre2__many_hostile_values__then_it_rests),
        TEST(test_pattern__bytes_that_are_no_utf8__then_replaced),
        TEST(test_pattern__a_long_value__then_its_begin_is_seen),
        TEST(test_size__repeats__then_written_out),
        TEST(test_size__of_patterns_that_pass__then_soon_compiled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
