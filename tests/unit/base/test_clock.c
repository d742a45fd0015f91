/*
 * test_clock - the set time stands still, moves on demand, and goes away.
 */
#include <pthread.h>
#include <signal.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/random.h"

#include "tests/unit/unit.h"

static void test_set__both_clocks__stand_still_and_advance(void **state)
{
    (void)state;
    clock_set_for_test(1000, 50);
    assert_true(clock_wall_us() == 1000 && clock_wall_us() == 1000);
    assert_true(clock_mono_us() == 50);
    clock_advance_us(7);
    assert_true(clock_wall_us() == 1007);
    assert_true(clock_mono_us() == 57);
    clock_unset_for_test();
    assert_true(clock_wall_us() > UINT64_C(1700000000) * 1000000);
}

static void test_real__mono_and_cpu__never_go_back(void **state)
{
    (void)state;
    uint64_t mono = clock_mono_us();
    uint64_t cpu = clock_cpu_us();
    for (int i = 0; i < 10000; i++) {
        uint64_t mono_now = clock_mono_us();
        uint64_t cpu_now = clock_cpu_us();
        assert_true(mono_now >= mono && cpu_now >= cpu);
        mono = mono_now;
        cpu = cpu_now;
    }
}

static void test_take_turn__asked_again__only_after_the_time(void **state)
{
    struct clock_pace p = {0};
    (void)state;
    clock_set_for_test(0, 0);
    assert_true(clock_take_turn(&p, 100));
    assert_false(clock_take_turn(&p, 100));
    clock_advance_us(99);
    assert_false(clock_take_turn(&p, 100));
    clock_advance_us(1);
    assert_true(clock_take_turn(&p, 100));
    assert_false(clock_take_turn(&p, 100));
    clock_unset_for_test();
}

static void *ask_for_turns(void *context)
{
    struct clock_pace *p = context;
    uintptr_t turns = 0;
    for (int i = 0; i < 100; i++) {
        turns += clock_take_turn(&p[i], UINT64_MAX / 2);
    }
    return (
        void *)turns; /* NOLINT(performance-no-int-to-ptr): a count for pthread_join */
}

static void test_take_turn__many_threads__one_gets_it(void **state)
{
    static struct clock_pace p[100];
    pthread_t threads[4];
    uintptr_t turns = 0;
    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, ask_for_turns, p), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *part;
        assert_int_equal(pthread_join(threads[i], &part), 0);
        turns += (uintptr_t)part;
    }
    assert_int_equal(turns, 100);
}

static void test_random__two_draws__differ(void **state)
{
    (void)state;
    unsigned char a[32] = {0};
    unsigned char b[32] = {0};
    random_bytes(a, sizeof(a));
    random_bytes(b, sizeof(b));
    assert_memory_not_equal(a, b, sizeof(a));
    random_bytes(a, 0);
}

static void test_base_init__sigpipe__is_ignored(void **state)
{
    (void)state;
    assert_int_equal(base_init(), ERR_OK);
    assert_int_equal(base_init(), ERR_OK); /* twice does no harm */
    struct sigaction now;
    assert_int_equal(sigaction(SIGPIPE, NULL, &now), 0);
    assert_true(now.sa_handler == SIG_IGN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set__both_clocks__stand_still_and_advance),
        cmocka_unit_test(test_real__mono_and_cpu__never_go_back),
        cmocka_unit_test(test_take_turn__asked_again__only_after_the_time),
        cmocka_unit_test(test_take_turn__many_threads__one_gets_it),
        cmocka_unit_test(test_random__two_draws__differ),
        cmocka_unit_test(test_base_init__sigpipe__is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
