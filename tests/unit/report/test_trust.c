/*
 * test_trust - trust rises slowly with proof, falls fast and decays; agreement alone is not enough.
 */
#include <stdio.h>

#include "core/report/trust.h"

#include "tests/unit/unit.h"

#define DAY   ((uint64_t)86400)
#define START (20000 * DAY)

enum { ANN = 7, BOB = 9 };

static struct trust *table_of(size_t most)
{
    struct trust *t = NULL;
    assert_int_equal(trust_new(most, &t), ERR_OK);
    return t;
}

static void learn(struct trust *t, uint64_t who, uint64_t report, bool is_confirmed,
                  enum trust_evidence by, uint64_t now_s)
{
    const struct trust_outcome o = {
        .reporter = who, .report = report, .is_confirmed = is_confirmed, .by = by};
    trust_learn(t, &o, now_s);
}

/* One vote confirmed on each of n days; the time after them. */
static uint64_t prove(struct trust *t, uint64_t who, unsigned days, uint64_t from_s)
{
    for (unsigned i = 0; i < days; i++) {
        assert_true(trust_admit(t, who, from_s + i * DAY));
        learn(t, who, from_s + i, true, TRUST_BY_LIST, from_s + i * DAY);
    }
    return from_s + days * DAY;
}

static void test_trust_weight__of_a_stranger__is_that_of_a_newcomer(void **state)
{
    (void)state;
    struct trust *t = table_of(10);
    assert_float_equal(trust_weight(t, ANN, START), TRUST_NEW, 1e-9);
    learn(t, ANN, 1, true, TRUST_BY_ADMIN, START); /* who is not in the table */
    assert_int_equal(trust_count(t), 0);
    assert_true(trust_admit(t, ANN, START));
    assert_float_equal(trust_weight(t, ANN, START), TRUST_NEW, 1e-9);
    trust_free(&t);
    assert_null(t);
}

static void test_trust_learn__a_hundred_proofs_in_a_day__give_one_days_credit(
    void **state)
{
    (void)state;
    struct trust *t = table_of(10);
    assert_true(trust_admit(t, ANN, START));
    for (unsigned i = 1; i <= 100; i++) {
        learn(t, ANN, i, true, TRUST_BY_ADMIN, START);
    }
    struct trust_numbers n;
    assert_true(trust_look(t, ANN, START, &n));
    assert_float_equal(n.proved, TRUST_CREDIT_DAY, 1e-9);
    assert_true(n.weight < TRUST_ESTABLISHED);
    assert_int_equal(n.reports_today, 1);
    trust_free(&t);
}

static void test_trust_learn__proof_of_days__establishes_after_three(void **state)
{
    (void)state;
    static const struct {
        unsigned days;
        bool is_established;
    } rows[] = {{1, false}, {2, false}, {4, true}, {30, true}};

    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct trust *t = table_of(10);
        uint64_t now = prove(t, ANN, rows[i].days, START);
        assert_int_equal(trust_weight(t, ANN, now) >= TRUST_ESTABLISHED,
                         rows[i].is_established);
        assert_true(trust_weight(t, ANN, now) < 1);
        trust_free(&t);
    }
}

static void test_trust_learn__one_kind_that_liars_can_make__never_establishes(
    void **state)
{
    (void)state;
    struct trust *t = table_of(10);
    for (unsigned i = 0; i < 400; i++) {
        assert_true(trust_admit(t, ANN, START + i * DAY));
        learn(t, ANN, i + 1, true, TRUST_BY_MAJORITY, START + i * DAY);
        assert_true(trust_weight(t, ANN, START + i * DAY) < TRUST_ESTABLISHED);
    }
    uint64_t now =
        prove(t, ANN, 3, START + 400 * DAY); /* agreement and a little proof do */
    assert_true(trust_weight(t, ANN, now) >= TRUST_ESTABLISHED);
    trust_free(&t);
}

static void test_trust_learn__a_contradiction__costs_weeks(void **state)
{
    (void)state;
    static const struct {
        enum trust_evidence by;
        double most; /* of the weight that is left, as a share */
    } rows[] = {{TRUST_BY_MAJORITY, 0.8},
                {TRUST_BY_RELEASE, 0.5},
                {TRUST_BY_LIST, 0.5},
                {TRUST_BY_TRAP, 0.5},
                {TRUST_BY_ADMIN, 0.2}};

    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct trust *t = table_of(10);
        uint64_t now = prove(t, ANN, 30, START);
        double before = trust_weight(t, ANN, now);
        learn(t, ANN, 1, false, rows[i].by, now);
        double after = trust_weight(t, ANN, now);
        if (!(after <= before * rows[i].most)) {
            fail_msg("row %zu: %g of %g", i, after, before);
        }
        trust_free(&t);
    }
}

static void test_trust_learn__two_contradictions__are_less_than_a_newcomer(void **state)
{
    (void)state;
    struct trust *t = table_of(10);
    uint64_t now = prove(t, ANN, 60, START);
    learn(t, ANN, 1, false, TRUST_BY_ADMIN, now);
    assert_true(trust_weight(t, ANN, now) < TRUST_ESTABLISHED);
    learn(t, ANN, 2, false, TRUST_BY_ADMIN, now);
    assert_true(trust_weight(t, ANN, now) < TRUST_NEW);
    trust_free(&t);
}

static void test_trust_learn__the_same_report__counts_once(void **state)
{
    (void)state;
    struct trust *t = table_of(10);
    uint64_t now = prove(t, ANN, 30, START);
    learn(t, ANN, 5, false, TRUST_BY_TRAP, now);
    double once = trust_weight(t, ANN, now);
    for (unsigned item = 0; item < 20; item++) {
        learn(t, ANN, 5, false, TRUST_BY_TRAP, now);
    }
    assert_float_equal(trust_weight(t, ANN, now), once, 1e-12);
    learn(t, ANN, 6, false, TRUST_BY_TRAP, now);
    assert_true(trust_weight(t, ANN, now) < once);
    trust_free(&t);
}

static void test_trust_learn__the_opposite_of_an_outcome__takes_it_back(void **state)
{
    (void)state;
    struct trust *t = table_of(10);
    uint64_t now = prove(t, ANN, 30, START);
    struct trust_numbers before;
    struct trust_numbers after;
    assert_true(trust_look(t, ANN, now, &before));
    learn(t, ANN, 900, false, TRUST_BY_RELEASE, now);
    learn(t, ANN, 900, true, TRUST_BY_ADMIN, now);
    assert_true(trust_look(t, ANN, now, &after));
    assert_float_equal(after.proved, before.proved + 1, 1e-6);
    assert_float_equal(after.bad, before.bad, 1e-6);
    learn(t, ANN, 900, false, TRUST_BY_ADMIN, now);
    assert_true(trust_weight(t, ANN, now) < before.weight / 4);
    trust_free(&t);
}

static void test_trust_learn__stronger_evidence__replaces_weaker(void **state)
{
    (void)state;
    struct trust *t = table_of(10);
    struct trust_numbers n;
    assert_true(trust_admit(t, ANN, START));
    learn(t, ANN, 5, true, TRUST_BY_MAJORITY, START);
    learn(t, ANN, 5, true, TRUST_BY_TRAP, START);
    learn(t, ANN, 5, true, TRUST_BY_ADMIN, START);
    learn(t, ANN, 5, true, TRUST_BY_MAJORITY, START);
    assert_true(trust_look(t, ANN, START, &n));
    assert_float_equal(n.agreed, 0, 1e-6);
    assert_float_equal(n.trapped, 0, 1e-6);
    assert_float_equal(n.proved, 1, 1e-6);
    trust_free(&t);
}

static void test_trust_weight__after_a_year_of_silence__has_decayed(void **state)
{
    (void)state;
    struct trust *t = table_of(10);
    uint64_t now = prove(t, ANN, 30, START);
    double before = trust_weight(t, ANN, now);
    assert_true(trust_weight(t, ANN, now + 90 * DAY) < before);
    assert_float_equal(trust_weight(t, ANN, now + 720 * DAY), TRUST_NEW, 1e-9);
    assert_float_equal(trust_weight(t, ANN, START), trust_weight(t, ANN, START - DAY),
                       1e-12); /* the clock was set back */
    /* what was held against a reporter is forgotten, too */
    learn(t, ANN, 9, false, TRUST_BY_ADMIN, now);
    learn(t, ANN, 10, false, TRUST_BY_ADMIN, now);
    assert_true(trust_weight(t, ANN, now) < trust_weight(t, ANN, now + 720 * DAY));
    trust_free(&t);
}

static void test_trust_admit__above_the_days_reports__is_refused_until_tomorrow(
    void **state)
{
    (void)state;
    struct trust *t = table_of(10);
    for (unsigned i = 0; i < TRUST_REPORTS_DAY; i++) {
        assert_true(trust_admit(t, ANN, START));
    }
    assert_false(trust_admit(t, ANN, START + DAY - 1));
    assert_true(trust_admit(t, BOB, START));
    assert_true(trust_admit(t, ANN, START + DAY));
    trust_free(&t);
}

static void test_trust_admit__the_table_is_full__the_least_trusted_yields(void **state)
{
    (void)state;
    struct trust *t = table_of(3);
    uint64_t now = prove(t, ANN, 20, START);
    assert_true(trust_admit(t, BOB, now));
    assert_true(trust_admit(t, 1, now + 1));
    assert_true(trust_admit(t, 2, now + 2)); /* of two newcomers the older one goes */
    struct trust_numbers n;
    assert_int_equal(trust_count(t), 3);
    assert_false(trust_look(t, BOB, now, &n));
    for (uint64_t i = 100; i < 1000; i++) {
        assert_true(trust_admit(t, i, now + i));
    }
    assert_true(trust_look(t, ANN, now, &n));
    assert_int_equal(trust_count(t), 3);
    trust_free(&t);
}

static void test_trust_new__sizes_out_of_bounds__are_refused(void **state)
{
    (void)state;
    struct trust *t = NULL;
    assert_int_equal(trust_new(0, &t), ERR_RANGE);
    assert_int_equal(trust_new(TRUST_REPORTERS_MAX + 1, &t), ERR_RANGE);
    assert_null(t);
}

static void test_trust_reporter__of_two_keys_or_names__differs(void **state)
{
    (void)state;
    const struct hashkey a = {.bytes = {1}};
    const struct hashkey b = {.bytes = {2}};
    uint64_t ann = trust_reporter(&a, SLICE_LIT("ann"));
    assert_true(ann == trust_reporter(&a, SLICE_LIT("ann")));
    assert_true(ann != trust_reporter(&b, SLICE_LIT("ann")));
    assert_true(ann != trust_reporter(&a, SLICE_LIT("bob")));
}

static void test_trust_lesson__many_reports__teach_less_until_trust_is_earned(
    void **state)
{
    (void)state;
    struct trust *t = table_of(10);
    double sum = 0;
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t now = START + i / TRUST_REPORTS_DAY * DAY;
        assert_true(trust_admit(t, BOB, now));
        double lesson = trust_lesson(t, BOB, now);
        assert_true(i > 0 || lesson >= TRUST_NEW);
        sum += lesson;
    }
    assert_true(sum < 200 * TRUST_NEW);
    assert_float_equal(trust_weight(t, BOB, START + 5 * DAY), TRUST_NEW, 1e-9);
    /* forgotten after some years */
    assert_true(trust_lesson(t, BOB, START + 1500 * DAY) > 0.9 * TRUST_NEW);
    uint64_t now = prove(t, ANN, 12, START);
    assert_true(trust_weight(t, ANN, now) >= TRUST_ESTABLISHED);
    assert_float_equal(trust_lesson(t, ANN, now), trust_weight(t, ANN, now), 1e-9);
    assert_float_equal(trust_lesson(t, 77, now), TRUST_NEW, 1e-9);
    trust_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trust_weight__of_a_stranger__is_that_of_a_newcomer),
        cmocka_unit_test(
            test_trust_learn__a_hundred_proofs_in_a_day__give_one_days_credit),
        cmocka_unit_test(test_trust_learn__proof_of_days__establishes_after_three),
        cmocka_unit_test(
            test_trust_learn__one_kind_that_liars_can_make__never_establishes),
        cmocka_unit_test(test_trust_learn__a_contradiction__costs_weeks),
        cmocka_unit_test(
            test_trust_learn__two_contradictions__are_less_than_a_newcomer),
        cmocka_unit_test(test_trust_learn__the_same_report__counts_once),
        cmocka_unit_test(test_trust_learn__the_opposite_of_an_outcome__takes_it_back),
        cmocka_unit_test(test_trust_learn__stronger_evidence__replaces_weaker),
        cmocka_unit_test(test_trust_weight__after_a_year_of_silence__has_decayed),
        cmocka_unit_test(
            test_trust_admit__above_the_days_reports__is_refused_until_tomorrow),
        cmocka_unit_test(test_trust_admit__the_table_is_full__the_least_trusted_yields),
        cmocka_unit_test(test_trust_new__sizes_out_of_bounds__are_refused),
        cmocka_unit_test(test_trust_reporter__of_two_keys_or_names__differs),
        cmocka_unit_test(
            test_trust_lesson__many_reports__teach_less_until_trust_is_earned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
