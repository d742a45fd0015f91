/* experiment - Tables 3 and 5 of the paper in 20 rounds, the tables themselves, and verdicts. */
#include <math.h>

#include "core/lab/experiment.h"

#include "tests/unit/unit.h"

enum { ROUNDS = 20, SEED = 20061211 };

static struct experiment_tally tallies[ROUNDS][EXPERIMENT_COLUMNS_MAX];

static void run(struct experiment_scratch *s, const struct experiment *e)
{
    for (unsigned r = 0; r < ROUNDS; r++) {
        assert_int_equal(experiment_round(s, e, r, tallies[r]), ERR_OK);
    }
}

static void check_column(const struct experiment *e, size_t column,
                         enum counting_variant variant)
{
    struct experiment_mean mean;
    struct experiment_published there;
    struct experiment_verdict v;

    experiment_sum_up(&tallies[0][column], ROUNDS, EXPERIMENT_COLUMNS_MAX, &mean);
    assert_true(experiment_published(e->number, variant, e->m, e->k, &there));
    experiment_compare(&mean, ROUNDS, &there, &v);
    if (!v.fits) {
        fail_msg("experiment %u seed %d m %u k %u column %zu: %g beside %g, z %.2f",
                 e->number, SEED, e->m, e->k, column, mean.mean, there.mean, v.z);
    }
}

/* Every cell of the table of this experiment. */
static void check_table(unsigned number)
{
    struct experiment_scratch *s = NULL;
    struct experiment_column columns[EXPERIMENT_COLUMNS_MAX];
    uint32_t sizes[EXPERIMENT_SIZES_MAX];
    size_t nsizes = experiment_sizes(number, sizes);

    assert_int_equal(experiment_columns(number, columns), 2);
    assert_int_equal(nsizes, 3);
    assert_int_equal(experiment_new(&s), ERR_OK);
    for (size_t i = 0; i < nsizes * EXPERIMENT_K_COUNT; i++) {
        struct experiment e = {.number = number,
                               .m = sizes[i / EXPERIMENT_K_COUNT],
                               .k = experiment_ks[i % EXPERIMENT_K_COUNT],
                               .seed = SEED};
        run(s, &e);
        check_column(&e, 0, columns[0].variant);
        check_column(&e, 1, columns[1].variant);
    }
    experiment_free(&s);
}

static void test_round__of_experiment_1__gives_table_3(void **state)
{
    (void)state;
    check_table(1);
}

static void test_round__of_experiment_3__gives_table_5(void **state)
{
    (void)state;
    check_table(3);
}

static void test_round__in_any_order__refined_is_wrong_at_most_where_intuitive_is(
    void **state)
{
    struct experiment_scratch *s = NULL;
    (void)state;

    assert_int_equal(experiment_new(&s), ERR_OK);
    for (unsigned number = EXPERIMENT_FIRST; number <= EXPERIMENT_LAST; number++) {
        struct experiment_column columns[EXPERIMENT_COLUMNS_MAX];
        struct experiment e = {
            .number = number, .m = 80000, .k = 4, .seed = SEED, .looks_at_cells = true};
        struct experiment_tally t[EXPERIMENT_COLUMNS_MAX];
        size_t n = experiment_columns(number, columns);
        assert_int_equal(experiment_round(s, &e, 0, t), ERR_OK);
        assert_int_equal(columns[0].variant, COUNTING_INTUITIVE);
        for (size_t c = 1; c < n; c++) {
            assert_int_equal(columns[c].variant, COUNTING_REFINED);
            assert_true(t[c].wrong <= t[0].wrong);
            assert_true(t[c].rate <= t[0].rate);
            assert_true(t[c].distinct <= t[0].distinct);
            assert_true(t[c].max_cell <= t[0].max_cell);
            assert_true(t[c].high_cells < t[0].high_cells);
            assert_true(t[c].max_cell < 63);
            assert_true(t[0].max_cell > 63);
        }
        assert_true(t[0].wrong > 0);
    }
    experiment_free(&s);
}

/* Keys that were inserted, of the two measures of one tally. */
static double inserted(const struct experiment_tally *t)
{
    return t->wrong / t->distinct;
}

static void test_round__zeros__drawn_unless_the_fitted_ones_are_wanted(void **state)
{
    struct experiment_scratch *s = NULL;
    struct experiment e = {.number = 8, .m = 80000, .k = 4, .seed = SEED};
    struct experiment_tally t[EXPERIMENT_COLUMNS_MAX];
    double drawn[2] = {0};
    (void)state;

    assert_int_equal(experiment_fitted_zeros(1), 0);
    assert_int_equal(experiment_fitted_zeros(5), 537);
    assert_int_equal(experiment_fitted_zeros(EXPERIMENT_LAST + 1), 0);
    assert_int_equal(experiment_new(&s), ERR_OK);
    for (unsigned round = 0; round < 2; round++) {
        assert_int_equal(experiment_round(s, &e, round, t), ERR_OK);
        drawn[round] = inserted(&t[0]);
    }
    assert_true(fabs(drawn[0] - drawn[1]) > 0.5);
    e.has_fitted_zeros = true;
    for (unsigned round = 0; round < 2; round++) {
        assert_int_equal(experiment_round(s, &e, round, t), ERR_OK);
        assert_true(fabs(inserted(&t[0]) - (EXPERIMENT_KEYS - 257)) < 1e-3);
    }
    experiment_free(&s);
}

static void test_round__with_a_seed__is_repeatable_whatever_ran_before(void **state)
{
    struct experiment_scratch *s = NULL;
    struct experiment e = {.number = 6, .m = 80000, .k = 6, .seed = 3};
    struct experiment other = {.number = 8, .m = 640000, .k = 8, .seed = 4};
    struct experiment_tally a[EXPERIMENT_COLUMNS_MAX];
    struct experiment_tally b[EXPERIMENT_COLUMNS_MAX];
    struct experiment_tally c[EXPERIMENT_COLUMNS_MAX];
    (void)state;

    assert_int_equal(experiment_new(&s), ERR_OK);
    assert_int_equal(experiment_round(s, &e, 7, a), ERR_OK);
    assert_int_equal(experiment_round(s, &other, 1, c), ERR_OK);
    assert_int_equal(experiment_round(s, &e, 7, b), ERR_OK);
    for (size_t i = 0; i < EXPERIMENT_COLUMNS_MAX; i++) {
        assert_int_equal(a[i].wrong, b[i].wrong);
        assert_true(a[i].rate == b[i].rate);
    }
    assert_int_equal(experiment_round(s, &e, 8, b), ERR_OK);
    assert_true(a[0].rate != b[0].rate);
    experiment_free(&s);
    assert_null(s);
    experiment_free(&s);
}

static void test_round__of_what_is_no_experiment__is_refused(void **state)
{
    static const struct experiment wrong[] = {
        {.number = 0, .m = 1000, .k = 4}, {.number = 9, .m = 1000, .k = 4},
        {.number = 1, .m = 0, .k = 4},    {.number = 1, .m = 1 << 25, .k = 4},
        {.number = 1, .m = 1000, .k = 0}, {.number = 1, .m = 1000, .k = 9},
    };
    struct experiment_scratch *s = NULL;
    struct experiment_tally t[EXPERIMENT_COLUMNS_MAX];
    (void)state;

    assert_int_equal(experiment_new(&s), ERR_OK);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(experiment_round(s, &wrong[i], 0, t), ERR_RANGE);
    }
    experiment_free(&s);
}

static void test_published__each_table__is_found_where_it_stands(void **state)
{
    static const struct {
        unsigned number;
        enum counting_variant variant;
        uint32_t m;
        unsigned k;
        unsigned table;
        double mean;
    } rows[] = {
        {1, COUNTING_INTUITIVE, 80000, 4, 3, 0.0239},
        {2, COUNTING_INTUITIVE, 80000, 4, 3, 0.0239},
        {2, COUNTING_REFINED, 80000, 4, 4, 0.005612},
        {3, COUNTING_REFINED, 80000, 4, 5, 0.01875},
        {4, COUNTING_REFINED, 320000, 8, 6, 1.501e-07},
        {5, COUNTING_INTUITIVE, 80000, 6, 6, 0.01723},
        {5, COUNTING_REFINED, 80000, 8, 7, 0.00381},
        {6, COUNTING_REFINED, 80000, 4, 8, 0.01086},
        {7, COUNTING_REFINED, 80000, 4, 9, 0.01365},
        {8, COUNTING_INTUITIVE, 240000, 8, 10, 3.133e-05},
        {8, COUNTING_REFINED, 640000, 8, 10, 0},
    };
    struct experiment_published p;
    uint32_t sizes[EXPERIMENT_SIZES_MAX];
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_true(experiment_published(rows[i].number, rows[i].variant, rows[i].m,
                                         rows[i].k, &p));
        assert_int_equal(p.table, rows[i].table);
        assert_true(p.mean == rows[i].mean);
    }
    assert_false(experiment_published(1, COUNTING_REFINED, 240000, 4, &p));
    assert_false(experiment_published(1, COUNTING_REFINED, 80000, 5, &p));
    assert_int_equal(experiment_sizes(8, sizes), 5);
    assert_int_equal(sizes[4], 640000);
}

static struct experiment_verdict verdict_of(uint64_t wrong, size_t rounds,
                                            double published, double std,
                                            double *reterror)
{
    struct experiment_mean m = {.mean = (double)wrong / 1e4 / (double)rounds,
                                .wrong = wrong};
    struct experiment_published p = {.mean = published, .std = std};
    struct experiment_verdict v;

    m.std = sqrt((double)wrong / (double)rounds) / 1e4;
    m.std_error = m.std / sqrt((double)rounds);
    experiment_compare(&m, rounds, &p, &v);
    *reterror = m.std_error;
    return v;
}

static void test_compare__of_few_events__is_exact_and_never_certain(void **state)
{
    double error = 0;
    struct experiment_verdict v;
    (void)state;

    v = verdict_of(0, 200, 0, 0, &error); /* 0 beside 0 */
    assert_true(v.is_exact && v.fits && v.z == 0 && error > 0);
    v = verdict_of(0, 200, 3e-7, 5.469e-6, &error); /* 0 beside 3 of 1000 rounds */
    assert_true(v.is_exact && v.fits && error > 3e-7);
    v = verdict_of(3, 200, 0, 0, &error); /* (200/1200)^3 = 0.0046, twice: z 2.6 */
    assert_true(v.is_exact && v.fits);
    assert_true(fabs(v.z - 2.60) < 0.02);
    v = verdict_of(12, 200, 0, 0, &error); /* (1/6)^12 */
    assert_true(v.is_exact && !v.fits && v.z > 4);
    v = verdict_of(0, 200, 2e-5, 4.5e-5, &error); /* 0 beside 200: (5/6)^200 */
    assert_true(v.is_exact && !v.fits && v.z < -4);
}

static void test_compare__of_many_events__is_in_standard_errors(void **state)
{
    double error = 0;
    struct experiment_verdict v;
    (void)state;

    /* 239 a round, sd sqrt(239)/10^4: ours 200 rounds, theirs 1,000 of the same. */
    double sd = sqrt(239) / 1e4;
    double both = sd * sqrt(1 / 200.0 + 1 / 1000.0);
    v = verdict_of((uint64_t)239 * 200, 200, 0.0239 - 3.9 * both, sd, &error);
    assert_true(!v.is_exact && v.fits);
    assert_true(fabs(v.z - 3.9) < 0.01);
    assert_true(fabs(error - sd / sqrt(200)) < 1e-12);
    v = verdict_of((uint64_t)239 * 200, 200, 0.0239 + 4.1 * both, sd, &error);
    assert_true(!v.fits);
    assert_true(fabs(v.z + 4.1) < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round__of_experiment_1__gives_table_3),
        cmocka_unit_test(test_round__of_experiment_3__gives_table_5),
        cmocka_unit_test(
            test_round__in_any_order__refined_is_wrong_at_most_where_intuitive_is),
        cmocka_unit_test(test_round__zeros__drawn_unless_the_fitted_ones_are_wanted),
        cmocka_unit_test(test_round__with_a_seed__is_repeatable_whatever_ran_before),
        cmocka_unit_test(test_round__of_what_is_no_experiment__is_refused),
        cmocka_unit_test(test_published__each_table__is_found_where_it_stands),
        cmocka_unit_test(test_compare__of_few_events__is_exact_and_never_certain),
        cmocka_unit_test(test_compare__of_many_events__is_in_standard_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
