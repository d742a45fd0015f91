/* test_sparkline - numbers as bars. */
#include <stdio.h>

#include "core/cli/humanize.h"

#include "tests/unit/unit.h"

static void assert_bars(const uint64_t *v, size_t n, uint64_t max, bool is_utf8,
                        const char *want)
{
    char got[256] = "";
    FILE *f = fmemopen(got, sizeof(got), "w");
    assert_non_null(f);
    sparkline_print(f, v, n, max, is_utf8);
    assert_int_equal(fclose(f), 0);
    assert_string_equal(got, want);
}

static void test_bars__now_is_right__full_is_max(void **state)
{
    const uint64_t v[] = {8, 0, 1, UINT64_MAX, 4};

    (void)state;
    assert_bars(v, 5, 8, false, "+#_.#");
    assert_bars(v, 3, 8, true, "\u2581\u00b7\u2588");
    assert_bars(v, 5, UINT64_MAX, false, "_#_._");
    assert_bars(v, 2, 0, false, "..");
    assert_bars(v, 0, 8, false, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bars__now_is_right__full_is_max),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
