/*
 * test_alarm - three times the design raises it, chance does not, twice the design clears it.
 */
#include "core/list/error_alarm.h"

#include "tests/unit/unit.h"

static void test_hits_alarm__for_counts__then_on_or_off(void **state)
{
    static const struct {
        double design;
        uint64_t tested;
        uint64_t events;
        bool was_on;
        bool is_on;
    } table[] = {
        /* too few events, at any share */
        {0.001, 0, 0, false, false},
        {0.001, 29, 29, false, false},
        {0.001, 30, 30, false, true},
        {1e-9, 1000, 29, false, false},
        /* the factor */
        {0.001, 1000000, 1000, false, false},
        {0.001, 1000000, 3000, false, false},
        {0.001, 1000000, 3001, false, true},
        {0.001, 9999, 30, false, true},
        {0.001, 10001, 30, false, false},
        /* hysteresis */
        {0.001, 1000000, 3000, true, true},
        {0.001, 1000000, 2001, true, true},
        {0.001, 1000000, 2000, true, false},
        {0.001, 1000, 3, true, true},
        {0.001, 1000, 2, true, false},
        {0.001, 0, 0, true, false},
        /* a saturated filter */
        {0.001, UINT64_MAX, UINT64_MAX, false, true},
        {0.001, UINT64_MAX, UINT64_MAX, true, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (error_alarm(table[i].was_on, table[i].design, table[i].tested,
                        table[i].events) != table[i].is_on) {
            fail_msg("row %zu", i);
        }
    }
}

/* Ten expected events a window, ten thousand windows: chance alone does not reach thirty. */
static void test_hits_alarm__when_filter_is_as_designed__then_never_on(void **state)
{
    uint64_t x = 88172645463325252U;
    (void)state;
    for (unsigned window = 0; window < 10000; window++) {
        uint64_t events = 0;
        for (unsigned i = 0; i < 1000; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            events += x % 100 == 0;
        }
        assert_false(error_alarm(false, 0.01, 1000, events));
    }
}

static void test_alarm_window__when_minutes_pass__then_only_the_last_count(void **state)
{
    struct error_window w = {.at = 0};
    uint64_t tested = 0;
    uint64_t events = 0;
    (void)state;
    for (unsigned minute = 0; minute < 3 * ERROR_ALARM_MINUTES; minute++) {
        error_window_turn(&w);
        error_window_add(&w, 60, 1);
        error_window_add(&w, 40, 1);
    }
    error_window_sums(&w, &tested, &events);
    assert_int_equal(tested, 100 * ERROR_ALARM_MINUTES);
    assert_int_equal(events, 2 * ERROR_ALARM_MINUTES);
    for (unsigned minute = 0; minute < ERROR_ALARM_MINUTES; minute++) {
        error_window_turn(&w);
    }
    error_window_sums(&w, &tested, &events);
    assert_int_equal(tested, 0);
    assert_int_equal(events, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hits_alarm__for_counts__then_on_or_off),
        cmocka_unit_test(test_hits_alarm__when_filter_is_as_designed__then_never_on),
        cmocka_unit_test(
            test_alarm_window__when_minutes_pass__then_only_the_last_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
