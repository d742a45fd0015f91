/* period: a clock that only goes forward, and only believes what holds. */
#include "core/count/bucket_clock.h"
#include "core/count/runset.h"

#include "tests/unit/unit.h"

#define S      ((uint64_t)1000000)
#define BUCKET ((uint64_t)COUNT_BUCKET_S * S)
#define START  (UINT64_C(2831519) * BUCKET)
#define BOOT   (UINT64_C(5000) * S)

/* Looks every 10 s while both clocks run; counts the buckets that began. */
static unsigned run_for(struct bucket_clock *p, uint64_t *wall, uint64_t *boot,
                        uint64_t us)
{
    unsigned begun = 0;
    for (uint64_t t = 0; t < us; t += 10 * S) {
        *wall += 10 * S;
        *boot += 10 * S;
        begun += bucket_clock_look(p, *wall, *boot);
    }
    return begun;
}

static void test_look__time_goes_on__buckets_follow(void **state)
{
    (void)state;
    struct bucket_clock p;
    uint64_t wall = START;
    uint64_t boot = BOOT;
    bucket_clock_init(&p, 0, false, wall, boot);
    assert_int_equal(p.bucket, START / BUCKET);
    assert_int_equal(run_for(&p, &wall, &boot, 6 * BUCKET), 6);
    assert_int_equal(p.bucket, START / BUCKET + 6);
    assert_false(p.is_suspended);
}

/* As after a sleep of the machine. */
static void test_look__both_clocks_went_on_unseen__believed_at_once(void **state)
{
    (void)state;
    struct bucket_clock p;
    const uint64_t slept = 100 * BUCKET;
    bucket_clock_init(&p, 0, false, START, BOOT);
    assert_true(bucket_clock_look(&p, START + slept, BOOT + slept));
    assert_int_equal(p.bucket, (START + slept) / BUCKET);
    assert_false(p.is_suspended);
}

static void test_look__back_an_hour__bucket_stays_until_reached(void **state)
{
    (void)state;
    struct bucket_clock p;
    uint64_t wall = START;
    uint64_t boot = BOOT;
    bucket_clock_init(&p, 0, false, wall, boot);
    wall -= 3600 * S;
    assert_int_equal(run_for(&p, &wall, &boot, 1800 * S), 0);
    assert_true(p.is_suspended);
    assert_int_equal(run_for(&p, &wall, &boot, 1800 * S), 0);
    assert_int_equal(p.bucket, START / BUCKET);
    assert_false(p.is_suspended);
    assert_int_equal(run_for(&p, &wall, &boot, BUCKET), 1);
}

static void test_look__forward_three_days__believed_when_it_held(void **state)
{
    (void)state;
    struct bucket_clock p;
    uint64_t wall = START;
    uint64_t boot = BOOT;
    bucket_clock_init(&p, 0, false, wall, boot);
    wall += UINT64_C(3) * 86400 * S;
    assert_int_equal(run_for(&p, &wall, &boot, PERIOD_PROOF_US - 20 * S), 0);
    assert_true(p.is_suspended);
    assert_int_equal(p.bucket, START / BUCKET);
    assert_int_equal(run_for(&p, &wall, &boot, 40 * S), 1);
    assert_int_equal(p.bucket, wall / BUCKET);
    assert_false(p.is_suspended);
}

static void test_look__forward_for_a_while__nothing_happened(void **state)
{
    (void)state;
    struct bucket_clock p;
    uint64_t wall = START;
    uint64_t boot = BOOT;
    bucket_clock_init(&p, 0, false, wall, boot);
    wall += UINT64_C(3) * 86400 * S;
    assert_int_equal(run_for(&p, &wall, &boot, 300 * S), 0);
    wall -= UINT64_C(3) * 86400 * S;
    assert_int_equal(run_for(&p, &wall, &boot, BUCKET), 1);
    assert_false(p.is_suspended);
    assert_int_equal(p.bucket, START / BUCKET + 1);
}

static void test_look__forward_another_way_each_time__never_believed(void **state)
{
    (void)state;
    struct bucket_clock p;
    uint64_t wall = START;
    uint64_t boot = BOOT;
    bucket_clock_init(&p, 0, false, wall, boot);
    for (unsigned i = 0; i < 100; i++) {
        wall += UINT64_C(86400) * S;
        assert_int_equal(run_for(&p, &wall, &boot, 300 * S), 0);
    }
    assert_true(p.is_suspended);
    assert_int_equal(p.bucket, START / BUCKET);
}

static void test_init__1970__newest_bucket_goes_on(void **state)
{
    (void)state;
    struct bucket_clock p;
    uint64_t wall = 100 * S;
    uint64_t boot = 100 * S;
    bucket_clock_init(&p, START / BUCKET, false, wall, boot);
    assert_int_equal(run_for(&p, &wall, &boot, 1800 * S), 0);
    assert_int_equal(p.bucket, START / BUCKET);
    wall = START + BUCKET; /* the time server answers */
    assert_true(bucket_clock_look(&p, wall, boot));
    assert_int_equal(p.bucket, START / BUCKET + 1);
    assert_false(p.is_suspended);
}

static void test_init__long_after_the_newest__on_trial(void **state)
{
    (void)state;
    struct bucket_clock p;
    uint64_t wall = START + UINT64_C(86400) * S;
    uint64_t boot = BOOT;
    bucket_clock_init(&p, START / BUCKET, false, wall, boot);
    assert_true(p.is_suspended);
    assert_int_equal(p.bucket, START / BUCKET);
    assert_int_equal(run_for(&p, &wall, &boot, PERIOD_PROOF_US + 20 * S), 1);
    assert_int_equal(p.bucket, wall / BUCKET);
}

static void test_init__brief__follows_the_wall_clock(void **state)
{
    (void)state;
    struct bucket_clock p;
    bucket_clock_init(&p, START / BUCKET, true, START + UINT64_C(86400) * S, BOOT);
    assert_int_equal(p.bucket, START / BUCKET + COUNT_DAY_BUCKETS);
    assert_false(p.is_suspended);
}

static void test_init__counts_of_the_future__nothing_expires(void **state)
{
    (void)state;
    struct bucket_clock p;
    uint64_t wall = START;
    uint64_t boot = BOOT;
    bucket_clock_init(&p, START / BUCKET + 1000, false, wall, boot);
    assert_true(p.is_suspended && bucket_clock_is_ahead(&p));
    assert_int_equal(run_for(&p, &wall, &boot, 900 * BUCKET), 0);
    assert_true(p.is_suspended);
    assert_int_equal(run_for(&p, &wall, &boot, 101 * BUCKET), 1);
    assert_false(p.is_suspended);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_look__time_goes_on__buckets_follow),
        cmocka_unit_test(test_look__both_clocks_went_on_unseen__believed_at_once),
        cmocka_unit_test(test_look__back_an_hour__bucket_stays_until_reached),
        cmocka_unit_test(test_look__forward_three_days__believed_when_it_held),
        cmocka_unit_test(test_look__forward_for_a_while__nothing_happened),
        cmocka_unit_test(test_look__forward_another_way_each_time__never_believed),
        cmocka_unit_test(test_init__1970__newest_bucket_goes_on),
        cmocka_unit_test(test_init__long_after_the_newest__on_trial),
        cmocka_unit_test(test_init__brief__follows_the_wall_clock),
        cmocka_unit_test(test_init__counts_of_the_future__nothing_expires),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
