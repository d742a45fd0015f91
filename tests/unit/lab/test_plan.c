/*
 * test_plan - the figures of Yan & Cho (ACSAC 2006) and of the sizing rule, as published.
 */
#include <math.h>
#include <stdio.h>

#include "core/lab/plan.h"

#include "tests/unit/unit.h"

static void assert_close(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want))) {
        fail_msg("%.12g for %.12g", got, want);
    }
}

static void test_plan_error__table_1__four_digits(void **state)
{
    (void)state;
    static const struct {
        uint64_t bits_per_key;
        unsigned k;
        double compression;
        double error;
    } rows[] = {{16, 4, 10, 2.394e-3},
                {10, 8, 16, 8.455e-3},
                {16, 8, 10, 5.745e-4},
                {40, 8, 4, 1.166e-6},
                {40, 16, 4, 1.948e-8}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double m = (double)rows[i].bits_per_key * 1e6;
        double error = plan_error_approx(m, rows[i].k, 1e6);
        char got[32];
        char want[32];
        (void)snprintf(got, sizeof(got), "%.3e", error);
        (void)snprintf(want, sizeof(want), "%.3e", rows[i].error);
        assert_string_equal(got, want);
        assert_close(plan_error((uint64_t)m, rows[i].k, 1000000), error, 1e-4);
        assert_close(plan_compression(m, 1e6, 160), rows[i].compression, 1e-12);
    }
}

static void test_plan_bits__published_sizes__to_the_bit(void **state)
{
    (void)state;
    double m = plan_bits(1.2e9, 0.001);
    assert_true(m == 17253105079.0);
    assert_int_equal(plan_k(m, 1.2e9), 10); /* 9.966: rounded, not cut */
    assert_close(plan_best_k(m, 1.2e9), 9.966, 1e-4);
    m = plan_bits(1e7, 0.01);
    assert_true(m == 95850584.0);
    assert_int_equal(plan_k(m, 1e7), 7); /* 6.64 */
    assert_close(plan_best_k(m, 1e7), 6.64, 1e-3);
    assert_true(plan_bits(1, 0.999) >= 1);
    assert_int_equal(plan_k(1, 1e9), 1);
    assert_int_equal(plan_k(1e12, 1), PLAN_K_MAX);
}

static void test_plan_least_error__4_to_40_bits__0_6185_to_the_power(void **state)
{
    (void)state;
    for (int bits = 4; bits <= 40; bits++) {
        double least = plan_least_error(bits * 1e6, 1e6);
        double k = plan_best_k(bits * 1e6, 1e6);
        assert_close(pow(least, 1.0 / bits), 0.6185, 1e-4);
        assert_close(least, pow(0.5, k), 1e-9);
        assert_close(plan_error_approx(bits * 1e6, k, 1e6), least, 1e-9);
        /* any other k is worse, and sizing for it gives the same bits */
        assert_true(plan_error_approx(bits * 1e6, k * 1.1, 1e6) > least);
        assert_true(plan_error_approx(bits * 1e6, k * 0.9, 1e6) > least);
        assert_true(fabs(plan_bits(1e6, least) - bits * 1e6) <= 1);
    }
}

static void test_plan_error__extremes__between_0_and_1(void **state)
{
    (void)state;
    assert_true(plan_error(1, 1, 1) >= 1);
    assert_true(plan_error(1, 1, 0) <= 0);
    assert_true(plan_error(100, 4, 0) <= 0);
    assert_close(plan_error(100, 4, PLAN_ITEMS_MAX), 1, 1e-12);
    assert_close(plan_error(PLAN_BITS_MAX, 1, 1), 1 / (double)PLAN_BITS_MAX, 1e-9);
    /* one key, m = 2, k = 1: half of the others meet its bit */
    assert_close(plan_error(2, 1, 1), 0.5, 1e-12);
    assert_close(plan_error_of_load(0.5, 10), 1.0 / 1024, 1e-12);
    assert_close(plan_error_of_load(0.25, 1), 0.25, 1e-12);
}

static struct plan_counting counting(uint64_t n, uint64_t m, unsigned k, uint64_t t)
{
    struct plan_counting c = {.items = n, .cells = m, .k = k, .threshold = t};
    return c;
}

static void test_plan_dcc__published_values__match(void **state)
{
    (void)state;
    static const struct {
        uint64_t cells;
        double error;
        double relative;
    } rows[] = {
        {1000000, 1.08e-32, 0.005}, {500000, 4.1e-15, 0.015}, {250000, 1.24e-3, 0.005}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct plan_counting c = counting(1000000, rows[i].cells, 4, 20);
        assert_close(exp(plan_log_dcc_error(&c)), rows[i].error, rows[i].relative);
    }
}

/* The binomial distribution by brute force in long double. */
static void test_plan_log_cell__small_numbers__binomial(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 40; n += 3) {
        for (uint64_t m = 1; m <= 30; m += 7) {
            struct plan_counting c = counting(n, m, 2, 1);
            double sum = 0;
            double above = 0;
            for (uint64_t j = 0; j <= 2 * n; j++) {
                double want = 1;
                for (uint64_t i = 0; i < j; i++) {
                    want *= (double)(2 * n - i) / (double)(i + 1) / (double)m;
                }
                want *= pow(1 - 1 / (double)m, (double)(2 * n - j));
                assert_true(fabs(exp(plan_log_cell(&c, j)) - want) < 1e-12);
                sum += want;
            }
            assert_close(sum, 1, 1e-9);
            for (uint64_t t = 2 * n; t > 0; t--) {
                c.threshold = t;
                above += exp(plan_log_cell(&c, t));
                assert_close(exp(plan_log_cell_reaches(&c)), above, 1e-9);
            }
            assert_true(isinf(plan_log_cell(&c, 2 * n + 1)));
        }
    }
}

static void test_plan_dcc__far_from_the_mean__finite_and_ordered(void **state)
{
    (void)state;
    struct plan_counting c = counting(PLAN_ITEMS_MAX, 1, 4, 20);
    assert_true(plan_log_dcc_error(&c) >= 0);
    c = counting(PLAN_ITEMS_MAX, 1000, 64, PLAN_THRESHOLD_MAX);
    assert_close(exp(plan_log_dcc_error(&c)), 1, 1e-9);
    c = counting(1000, PLAN_BITS_MAX, 64, 60000);
    assert_true(plan_log_dcc_error(&c) < -1e6);
    assert_true(isfinite(plan_log_dcc_error(&c)));
    c = counting(10, 100, 1, 11); /* more than there are insertions */
    assert_true(isinf(plan_log_dcc_error(&c)));
    double former = 0;
    for (uint64_t t = 1; t < 200; t++) {
        c = counting(1000000, 100000, 4, t);
        double now = plan_log_dcc_error(&c);
        assert_true(now <= former);
        former = now;
    }
}

static void test_plan_check__impossible__refused_with_a_reason(void **state)
{
    (void)state;
    static const double bad_items[] = {0,        -1,        0.5,   (double)NAN,
                                       HUGE_VAL, -HUGE_VAL, 9.3e18};
    static const double bad_errors[] = {0, 1, -0.1, 2, (double)NAN, HUGE_VAL};
    struct errinfo why = {0};
    for (size_t i = 0; i < sizeof(bad_items) / sizeof(bad_items[0]); i++) {
        why.text[0] = '\0';
        assert_int_equal(plan_check_items(bad_items[i], &why), ERR_RANGE);
        assert_true(why.text[0] != '\0');
    }
    for (size_t i = 0; i < sizeof(bad_errors) / sizeof(bad_errors[0]); i++) {
        assert_int_equal(plan_check_error(bad_errors[i], &why), ERR_RANGE);
    }
    assert_int_equal(plan_check_items(1, NULL), ERR_OK);
    assert_int_equal(plan_check_items(1e12, NULL), ERR_OK);
    assert_int_equal(plan_check_error(0.5, NULL), ERR_OK);
    struct plan_counting ok = counting(1, 1, 1, 1);
    assert_int_equal(plan_check_counting(&ok, NULL), ERR_OK);
    struct plan_counting bad[] = {counting(0, 1, 1, 1),
                                  counting(1, 0, 1, 1),
                                  counting(1, 1, 0, 1),
                                  counting(1, 1, 1, 0),
                                  counting(PLAN_ITEMS_MAX + 1, 1, 1, 1),
                                  counting(1, PLAN_BITS_MAX + 1, 1, 1),
                                  counting(1, 1, PLAN_K_MAX + 1, 1),
                                  counting(1, 1, 1, PLAN_THRESHOLD_MAX + 1)};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(plan_check_counting(&bad[i], &why), ERR_RANGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_error__table_1__four_digits),
        cmocka_unit_test(test_plan_bits__published_sizes__to_the_bit),
        cmocka_unit_test(test_plan_least_error__4_to_40_bits__0_6185_to_the_power),
        cmocka_unit_test(test_plan_error__extremes__between_0_and_1),
        cmocka_unit_test(test_plan_dcc__published_values__match),
        cmocka_unit_test(test_plan_log_cell__small_numbers__binomial),
        cmocka_unit_test(test_plan_dcc__far_from_the_mean__finite_and_ordered),
        cmocka_unit_test(test_plan_check__impossible__refused_with_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
