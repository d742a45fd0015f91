/*
 * test_cost - the article's prices, reckoned by hand, and the cheapest point of a grid.
 */
#include <math.h>

#include "core/lab/cost.h"

#include "tests/unit/unit.h"

static struct cost_question question(void)
{
    struct cost_question q = {
        .layout = LAYOUT_CLASSIC, .queries_per_day = 1e6, .max_error = 0.01};
    struct cost_grid grid;
    cost_defaults(&q.prices, &grid);
    return q;
}

static void assert_close(double got, double want)
{
    if (!(fabs(got - want) <= 1e-3 * fabs(want))) {
        fail_msg("%.12g for %.12g", got, want);
    }
}

static void test_cost_at__articles_prices__as_by_hand(void **state)
{
    (void)state;
    struct cost_question q = question();
    struct cost c;
    q.prices.instances = 2;
    assert_int_equal(cost_at(&q, 1.2e9, 0.001, &c, NULL), ERR_OK);
    assert_close(c.memory, 2.15664 * 0.50);
    assert_close(c.machines, 300);
    assert_close(c.queries, 30e6 * 0.001 * 0.0001);
    assert_close(c.false_positives, 30e6 * 0.001 * 0.01);
    assert_close(c.total, 1.07832 + 300 + 3 + 300);
    assert_close(c.per_million, c.total / 30);
    q.prices.unconfirmed = 0; /* an exact store puts all right */
    assert_int_equal(cost_at(&q, 1.2e9, 0.001, &c, NULL), ERR_OK);
    assert_true(c.false_positives <= 0);
    q.prices.instance_gb = 0.5; /* 2.16 GB need five */
    assert_int_equal(cost_at(&q, 1.2e9, 0.001, &c, NULL), ERR_OK);
    assert_true(c.instances == 5);
    q.prices.instance_gb = 64;
    assert_int_equal(cost_at(&q, 1.2e9, 0.001, &c, NULL), ERR_OK);
    assert_true(c.instances == 2);
}

static void test_cost_search__articles_grid__the_cheapest_within_the_error(void **state)
{
    (void)state;
    struct cost_question q = question();
    struct cost_grid grid;
    struct cost all[COST_GRID_MAX * COST_GRID_MAX];
    struct cost_prices unused;
    size_t best = 99;
    cost_defaults(&unused, &grid);
    grid.nitems = 3;
    grid.items[0] = 1.5e9;
    grid.items[1] = 1e9;
    grid.items[2] = 1.2e9;
    assert_int_equal(cost_search(&q, &grid, all, &best), ERR_OK);
    assert_int_equal(best, 5); /* the fewest items, and errors cost more than memory */
    for (size_t i = 0; i < 15; i++) {
        assert_true(all[i].total >= all[best].total);
    }
    /* errors that cost nothing: memory decides, within what is allowed */
    q.prices.false_positive = 0;
    q.prices.false_positive_query = 0;
    q.max_error = 0.003;
    assert_int_equal(cost_search(&q, &grid, all, &best), ERR_OK);
    assert_int_equal(best, 7);
    assert_true(all[9].total < all[best].total && !all[9].is_allowed);
    q.max_error = 1e-6;
    best = 99;
    assert_int_equal(cost_search(&q, &grid, all, &best), ERR_NOT_FOUND);
    assert_int_equal(best, 99);
    assert_true(all[0].total > 0);
}

static void test_cost_search__points_that_cannot_be_had__never_chosen(void **state)
{
    (void)state;
    struct cost_question q = question();
    struct cost_grid grid = {.errors = {1e-30, 0.01, (double)NAN, 2},
                             .nerrors = 4,
                             .items = {0, 1e6, (double)NAN, 1e19},
                             .nitems = 4};
    struct cost all[COST_GRID_MAX * COST_GRID_MAX];
    size_t best = 0;
    assert_int_equal(cost_search(&q, &grid, all, &best), ERR_OK);
    assert_int_equal(best, 5);
    for (size_t i = 0; i < 16; i++) {
        assert_true(i == 5 || (isinf(all[i].total) && !all[i].is_allowed));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost_at__articles_prices__as_by_hand),
        cmocka_unit_test(
            test_cost_search__articles_grid__the_cheapest_within_the_error),
        cmocka_unit_test(test_cost_search__points_that_cannot_be_had__never_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
