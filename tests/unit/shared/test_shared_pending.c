/* test_shared_pending - when increments are due, how much of them, and what is left. */
#include "core/hub/shared/shared_pending.h"

#include "tests/unit/unit.h"

enum { KEYS = 3000 };
#define BUCKET UINT64_C(1700000400)
#define SECOND UINT64_C(1000000)
#define CELL   (UINT64_C(1) << 57)

static int begin(void **state)
{
    struct shared_pending *p = shared_pending_new();
    uint64_t lost = 1;

    assert_non_null(p);
    assert_true(shared_pending_open(p, BUCKET, &lost));
    assert_int_equal(lost, 0);
    *state = p;
    return 0;
}

static int end(void **state)
{
    struct shared_pending *p = *state;

    shared_pending_free(&p);
    return 0;
}

static void report(struct shared_pending *p, uint64_t key, uint64_t total,
                   uint64_t at_us)
{
    const struct run_record total_of = {key, total};
    const struct shared_report r = {BUCKET, &total_of, 1, false};

    assert_true(shared_pending_report(p, &r, at_us));
}

static size_t due(struct shared_pending *p, uint64_t at_us, struct shared_due *ret)
{
    return shared_pending_due(p, at_us, false, ret) ? ret->n : 0;
}

static void test_due__after_five_seconds__with_all_keys_of_the_cell(void **state)
{
    struct shared_pending *p = *state;
    struct shared_due d;

    report(p, CELL + 2, 1, SECOND);
    report(p, CELL + 1, 2, 4 * SECOND);
    report(p, 2 * CELL + 1, 1, 4 * SECOND);
    assert_int_equal(due(p, 6 * SECOND - 1, &d), 0);
    assert_int_equal(shared_pending_since(p), SECOND);
    assert_int_equal(due(p, 6 * SECOND, &d), 2);
    assert_int_equal(d.start_s, BUCKET);
    assert_true(d.v[0].key == CELL + 1 && d.v[0].count == 2 && d.v[1].key == CELL + 2);
    assert_int_equal(due(p, 6 * SECOND, &d), 2); /* not logged: again */
    shared_pending_logged(p);
    assert_int_equal(due(p, 6 * SECOND, &d), 0);
    report(p, CELL + 1, 5, 7 * SECOND);
    assert_int_equal(due(p, 9 * SECOND, &d), 1); /* the other cell */
    shared_pending_logged(p);
    assert_int_equal(due(p, 12 * SECOND, &d), 1);
    assert_int_equal(d.v[0].count, 3); /* what is new */
}

static void test_due__totals_that_rules_may_ask_for__at_once(void **state)
{
    struct shared_pending *p = *state;
    struct shared_due d;

    report(p, CELL + 1, SHARED_URGENT_TOTAL - 1, SECOND);
    assert_int_equal(due(p, SECOND, &d), 0);
    report(p, CELL + 1, SHARED_URGENT_TOTAL, SECOND);
    assert_int_equal(due(p, SECOND, &d), 1);
    shared_pending_logged(p);
    shared_pending_learn(p, BUCKET, CELL + 1, 1600); /* others counted it too */
    report(p, CELL + 1, SHARED_URGENT_TOTAL + 50, 2 * SECOND);
    assert_int_equal(due(p, 2 * SECOND, &d), 0); /* 50 of 1,650 change little */
    report(p, CELL + 1, SHARED_URGENT_TOTAL + 110, 2 * SECOND);
    assert_int_equal(due(p, 2 * SECOND, &d), 1);
    assert_int_equal(d.v[0].count, 110);
}

static void test_due__large_amounts_and_many_keys__in_several_records(void **state)
{
    struct shared_pending *p = *state;
    struct shared_due d;
    uint64_t sum = 0;
    uint64_t n = 0;
    unsigned nrecords = 0;

    for (uint64_t i = 1; i <= KEYS; i++) {
        report(p, CELL + i, 1, SECOND);
    }
    report(p, CELL + 7, 200001, SECOND);
    while (due(p, SECOND, &d) > 0) {
        assert_true(d.n <= SHARED_BATCH_PAIRS);
        for (size_t i = 0; i < d.n; i++) {
            assert_true(d.v[i].count <= SHARED_AMOUNT_MAX);
            sum += d.v[i].count;
        }
        n += d.n;
        nrecords++;
        shared_pending_logged(p);
        assert_true(nrecords < 10);
        if (due(p, SECOND, &d) == 0) { /* the last keys are few, and wait */
            break;
        }
    }
    while (due(p, 6 * SECOND, &d) > 0) {
        for (size_t i = 0; i < d.n; i++) {
            sum += d.v[i].count;
        }
        n += d.n;
        shared_pending_logged(p);
    }
    assert_int_equal(sum, KEYS - 1 + 200001);
    assert_int_equal(n, KEYS + 3);
    uint64_t own = 0;
    assert_true(shared_pending_own(p, BUCKET, CELL + 7, &own));
    assert_int_equal(own, 200001);
}

static void test_restore__what_the_log_has__is_not_due(void **state)
{
    struct shared_pending *p = *state;
    const struct run_record logged[] = {{CELL + 1, 3}, {CELL + 2, 4}};
    struct shared_due d;

    assert_true(shared_pending_restore(p, BUCKET, logged, 2));
    assert_true(shared_pending_restore(p, BUCKET, logged, 1));
    report(p, CELL + 1, 6, SECOND);
    report(p, CELL + 2, 5, SECOND);
    assert_int_equal(due(p, 6 * SECOND, &d), 1);
    assert_true(d.v[0].key == CELL + 2 && d.v[0].count == 1);
}

static void test_open__one_too_many__the_oldest_goes_and_is_counted(void **state)
{
    struct shared_pending *p = *state;
    uint64_t lost = 0;

    report(p, CELL + 1, 1, SECOND);
    report(p, CELL + 2, 1, SECOND);
    for (uint64_t i = 1; i <= SHARED_BUCKETS_MAX; i++) {
        assert_true(shared_pending_open(p, BUCKET + 600 * i, &lost));
        assert_int_equal(lost, i == SHARED_BUCKETS_MAX ? 2 : 0);
    }
    assert_false(shared_pending_has(p, BUCKET));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_due__after_five_seconds__with_all_keys_of_the_cell, begin, end),
        cmocka_unit_test_setup_teardown(
            test_due__totals_that_rules_may_ask_for__at_once, begin, end),
        cmocka_unit_test_setup_teardown(
            test_due__large_amounts_and_many_keys__in_several_records, begin, end),
        cmocka_unit_test_setup_teardown(test_restore__what_the_log_has__is_not_due,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            test_open__one_too_many__the_oldest_goes_and_is_counted, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
