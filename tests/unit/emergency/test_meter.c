/* test_meter - when emergency mode begins and ends: level, hysteresis, mean of seven days. */
#include "core/verdict/emergency/emergency_meter.h"

#include "tests/unit/unit.h"

enum { NOW = 1800000000, HOUR = 3600, DAY = 86400 };

struct world {
    struct emergency_meter m;
    struct config_emergency config;
    uint64_t now_s;
};

static int set_up(void **state)
{
    static struct world w;
    w = (struct world){.config = {.enabled = true}, .now_s = NOW};
    *state = &w;
    return 0;
}

/* A sample of that rate. */
static enum emergency_change add(struct world *w, uint64_t rate)
{
    w->now_s += EMERGENCY_SAMPLE_S;
    return emergency_meter_add(&w->m, &w->config,
                               &(struct emergency_sample){rate * EMERGENCY_SAMPLE_S,
                                                          EMERGENCY_SAMPLE_S,
                                                          w->now_s});
}

/* Samples of that rate, of ten minutes each so that days are quick. */
static void pass(struct world *w, uint64_t rate, unsigned seconds)
{
    for (unsigned s = 0; s < seconds; s += 600) {
        w->now_s += 600;
        (void)emergency_meter_add(
            &w->m, &w->config, &(struct emergency_sample){rate * 600, 600, w->now_s});
    }
}

static double mean(const struct world *w)
{
    return emergency_meter_mean(&w->m, w->now_s);
}

static void test_quiet_server__at_least_200(void **state)
{
    struct world *w = *state;

    assert_int_equal(add(w, 200), EMERGENCY_STAYS);
    assert_int_equal(add(w, 201), EMERGENCY_ENTERS);
    assert_int_equal(add(w, 100000), EMERGENCY_STAYS);
    assert_int_equal(add(w, 140), EMERGENCY_STAYS); /* 0.7 of 200 */
    assert_int_equal(add(w, 139), EMERGENCY_LEAVES);
    assert_int_equal(add(w, 139), EMERGENCY_STAYS);
}

static void test_busy_server__ten_times_the_mean_of_seven_days(void **state)
{
    struct world *w = *state;

    pass(w, 100, 7 * DAY);
    assert_true(mean(w) > 99 && mean(w) < 101);
    assert_int_equal(add(w, 990), EMERGENCY_STAYS);
    assert_int_equal(add(w, 1020), EMERGENCY_ENTERS);
    assert_int_equal(add(w, 720), EMERGENCY_STAYS);
    assert_int_equal(add(w, 690), EMERGENCY_LEAVES);
    pass(w, 10, 7 * DAY); /* the busy week is over */
    assert_true(mean(w) > 9.9 && mean(w) < 11);
}

static void test_level_configured__that_one(void **state)
{
    struct world *w = *state;

    w->config.enter = 5;
    pass(w, 4, DAY);
    assert_int_equal(add(w, 5), EMERGENCY_STAYS);
    assert_int_equal(add(w, 6), EMERGENCY_ENTERS);
    w->config.enter = 5000; /* the level of the beginning stays */
    assert_int_equal(add(w, 4), EMERGENCY_STAYS);
    assert_int_equal(add(w, 3), EMERGENCY_LEAVES);
}

/* Rates that go up and down around the level do not make it flap. */
static void test_rate__swings__enters_once(void **state)
{
    struct world *w = *state;
    unsigned changes = 0;

    for (unsigned i = 0; i < 1000; i++) {
        changes += add(w, i % 2 == 0 ? 210 : 150) != EMERGENCY_STAYS;
    }
    assert_int_equal(changes, 1);
}

static void test_attack__lasts__is_no_new_normal(void **state)
{
    struct world *w = *state;

    pass(w, 100, 7 * DAY);
    (void)add(w, 20000);
    assert_true(w->m.since_s != 0);
    pass(w, 20000, 3 * DAY);
    assert_true(w->m.since_s != 0);
    assert_true(mean(w) < 400); /* 4 days of 100, 3 of 700 */
    assert_int_equal(add(w, 600), EMERGENCY_LEAVES);
}

static void test_switched_off__leaves_and_never_enters(void **state)
{
    struct world *w = *state;

    assert_int_equal(add(w, 300), EMERGENCY_ENTERS);
    w->config.enabled = false;
    assert_int_equal(add(w, 300), EMERGENCY_LEAVES);
    assert_int_equal(add(w, 100000), EMERGENCY_STAYS);
}

static void test_clock__jumps__mean_stays_sound(void **state)
{
    struct world *w = *state;

    pass(w, 100, DAY);
    w->now_s += (uint64_t)400 * DAY;
    (void)add(w, 100);
    assert_true(mean(w) < 1); /* the old hours are gone */
    w->now_s -= (uint64_t)300 * DAY;
    (void)add(w, 100);
    pass(w, 100, DAY);
    assert_true(mean(w) > 90 && mean(w) < 110);
    w->now_s -= HOUR;
    (void)add(w, 100);
    assert_true(mean(w) > 90 && mean(w) < 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_quiet_server__at_least_200, set_up),
        cmocka_unit_test_setup(test_busy_server__ten_times_the_mean_of_seven_days,
                               set_up),
        cmocka_unit_test_setup(test_level_configured__that_one, set_up),
        cmocka_unit_test_setup(test_rate__swings__enters_once, set_up),
        cmocka_unit_test_setup(test_attack__lasts__is_no_new_normal, set_up),
        cmocka_unit_test_setup(test_switched_off__leaves_and_never_enters, set_up),
        cmocka_unit_test_setup(test_clock__jumps__mean_stays_sound, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
