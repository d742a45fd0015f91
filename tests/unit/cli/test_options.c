/*
 * test_options - options in every place and spelling; other arguments stay in order.
 */
#include <stdio.h>
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/cli.h"
#include "core/cli/print.h"

#include "tests/unit/unit.h"

static const struct cli_command command = {"try", "try VALUE", "tries", NULL};

static void test_options__any_place_and_spelling__then_taken_out(void **state)
{
    const char *size = NULL;
    bool is_quick = false;
    const struct cli_option table[] = {{"--size", &size, NULL, NULL},
                                       {"--quick", NULL, &is_quick, NULL}};
    char a0[] = "try";
    char a1[] = "--size=1";
    char a2[] = "one";
    char a3[] = "--size";
    char a4[] = "2";
    char a5[] = "-";
    char a6[] = "--quick";
    char a7[] = "--";
    char a8[] = "--size";
    char *argv[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, NULL};
    int argc = 9;
    (void)state;
    assert_int_equal(cli_options(&command, table, 2, &argc, argv), 0);
    assert_string_equal(size, "2");
    assert_true(is_quick);
    assert_int_equal(argc, 4);
    assert_string_equal(argv[1], "one");
    assert_string_equal(argv[2], "-");
    assert_string_equal(argv[3], "--size");
    assert_null(argv[4]);
}

static void test_options__there_twice__then_all_values_in_order(void **state)
{
    struct cli_values to = {.n = 0};
    const struct cli_option table[] = {{"--to", NULL, NULL, &to}};
    char a0[] = "try";
    char a1[] = "--to=1";
    char a2[] = "--to";
    char a3[] = "2";
    char a4[] = "--to";
    char *argv[] = {a0, a1, a2, a3, NULL, NULL};
    int argc = 4;
    (void)state;
    assert_int_equal(cli_options(&command, table, 1, &argc, argv), 0);
    assert_int_equal(argc, 1);
    assert_int_equal(to.n, 2);
    assert_string_equal(to.v[0], "1");
    assert_string_equal(to.v[1], "2");
    argv[1] = a4;
    argv[2] = NULL;
    argc = 2;
    assert_int_equal(cli_options(&command, table, 1, &argc, argv), EX_USAGE);
    to.n = CLI_VALUES_MAX;
    argv[1] = a1;
    argc = 2;
    assert_int_equal(cli_options(&command, table, 1, &argc, argv), EX_USAGE);
    assert_int_equal(to.n, CLI_VALUES_MAX);
}

static void test_options__wrong__then_usage(void **state)
{
    static const char *const wrong[] = {"--nope", "--siz", "--size", "--quick=1", "-x"};
    const char *size = NULL;
    bool is_quick = false;
    const struct cli_option table[] = {{"--size", &size, NULL, NULL},
                                       {"--quick", NULL, &is_quick, NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char a0[] = "try";
        char a1[32];
        char *argv[] = {a0, a1, NULL};
        int argc = 2;
        (void)snprintf(a1, sizeof(a1), "%s", wrong[i]);
        assert_int_equal(cli_options(&command, table, 2, &argc, argv), EX_USAGE);
    }
}

static void test_expiry__text__then_seconds_from_now(void **state)
{
    uint32_t at = 7;
    (void)state;
    clock_set_for_test(1000000 * UINT64_C(1000000), 0);
    assert_true(cli_expiry(NULL, &at));
    assert_int_equal(at, 0);
    assert_true(cli_expiry("7d", &at));
    assert_int_equal(at, 1000000 + 7 * 86400);
    assert_true(cli_expiry("1s", &at));
    assert_false(cli_expiry("999ms", &at));
    assert_false(cli_expiry("soon", &at));
    assert_false(cli_expiry("", &at));
    assert_false(cli_expiry("9999999w", &at));
    clock_unset_for_test();
}

static void test_text_time__seconds__then_utc(void **state)
{
    char dst[TEXT_TIME_MAX];
    (void)state;
    assert_string_equal(text_time(0, dst), "never");
    assert_string_equal(text_time(1767225599, dst), "2025-12-31T23:59:59Z");
    assert_string_equal(text_time(UINT32_MAX, dst), "2106-02-07T06:28:15Z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options__any_place_and_spelling__then_taken_out),
        cmocka_unit_test(test_options__there_twice__then_all_values_in_order),
        cmocka_unit_test(test_options__wrong__then_usage),
        cmocka_unit_test(test_expiry__text__then_seconds_from_now),
        cmocka_unit_test(test_text_time__seconds__then_utc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
