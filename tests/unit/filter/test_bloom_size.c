/*
 * test_bloom_size - the fewest lines for an error, and which shapes are refused.
 */
#include <math.h>

#include "tests/unit/filter/keys.h"

static void assert_fewest(unsigned layout, uint64_t keys, double error)
{
    uint64_t lines = 0;
    unsigned k = 0;
    enum err got = bloom_size(layout, keys, error, &lines, &k);
    if (got == ERR_RANGE) {
        /* a few keys are not spread evenly over whole lines */
        assert_true(keys <= 2 && layout <= BLOOM_TWO_LINES);
        return;
    }
    assert_int_equal(got, ERR_OK);
    assert_int_equal(bloom_check(layout, lines, k), ERR_OK);
    assert_true(bloom_error(layout, lines, k, keys) <= error);
    assert_true(lines == 1 || bloom_error(layout, lines - 1, k, keys) > error);
}

static void test_bloom_size__an_error_to_reach__reached_by_the_fewest_lines(
    void **state)
{
    (void)state;
    static const uint64_t counts[] = {1, 2, 100, 12345, 1000000, 1200000000};
    static const double errors[] = {0.5, 0.1, 0.01, 0.001, 0.0001};
    for (unsigned l = BLOOM_ONE_LINE; l <= BLOOM_PARTITIONED; l++) {
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
            for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
                assert_fewest(l, counts[c], errors[e]);
            }
        }
    }
}

static void test_bloom_size__a_tenth_of_a_percent__bits_within_the_figures(void **state)
{
    (void)state;
    static const struct {
        enum bloom_layout layout;
        unsigned k; /* 0: any */
        uint64_t keys;
        double error;
        double bits_min;
        double bits_max; /* a key */
    } rows[] = {
        {BLOOM_ONE_LINE, 0, 1200000000, 0.001, 14.4, 16},
        {BLOOM_TWO_LINES, 0, 1200000000, 0.001, 14.4, 15},
        /* the optimum, 17,253,105,079 and 95,850,584 bits, needs k = 9.966 and 6.644: k is
         * rounded, not cut */
        {BLOOM_CLASSIC, 10, 1200000000, 0.001, 17253105079 / 1.2e9, 17254e6 / 1.2e9},
        {BLOOM_CLASSIC, 7, 10000000, 0.01, 9.5850584, 9.61},
        {BLOOM_PARTITIONED, 10, 1200000000, 0.001, 17253105079 / 1.2e9,
         17254e6 / 1.2e9},
    };
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        uint64_t lines = 0;
        unsigned k = 0;
        assert_int_equal(
            bloom_size(rows[r].layout, rows[r].keys, rows[r].error, &lines, &k),
            ERR_OK);
        double bits = (double)lines * BLOOM_LINE_BITS / (double)rows[r].keys;
        print_message("%s: %.4f bits, k %u\n", bloom_layout_name(rows[r].layout), bits,
                      k);
        assert_true(bits >= rows[r].bits_min && bits <= rows[r].bits_max);
        assert_true(rows[r].k == 0 || k == rows[r].k);
    }
}

static void test_bloom_size__impossible__refused_and_nothing_written(void **state)
{
    (void)state;
    static const struct {
        unsigned layout;
        enum err expected;
        uint64_t keys;
        double error;
    } rows[] = {
        {0, ERR_UNSUPPORTED, 1000, 0.01},
        {5, ERR_UNSUPPORTED, 1000, 0.01},
        {UINT32_MAX, ERR_UNSUPPORTED, 1000, 0.01},
        {BLOOM_ONE_LINE, ERR_RANGE, 0, 0.01},
        {BLOOM_ONE_LINE, ERR_RANGE, 1000, 0},
        {BLOOM_ONE_LINE, ERR_RANGE, 1000, 1},
        {BLOOM_ONE_LINE, ERR_RANGE, 1000, -0.1},
        {BLOOM_ONE_LINE, ERR_RANGE, 1000, 2},
        {BLOOM_CLASSIC, ERR_RANGE, 1000, (double)NAN},
        {BLOOM_CLASSIC, ERR_RANGE, 1000, (double)INFINITY},
        {BLOOM_ONE_LINE, ERR_RANGE, 1000000, 1e-15},
        {BLOOM_CLASSIC, ERR_RANGE, 1000000, 1e-40},
        {BLOOM_CLASSIC, ERR_RANGE, UINT64_MAX, 0.01},
        {BLOOM_PARTITIONED, ERR_RANGE, (uint64_t)1 << 63, 0.001},
    };
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        uint64_t lines = 77;
        unsigned k = 77;
        assert_int_equal(
            bloom_size(rows[r].layout, rows[r].keys, rows[r].error, &lines, &k),
            rows[r].expected);
        assert_int_equal(lines, 77);
        assert_int_equal(k, 77);
    }
}

static void test_bloom_check__edges__as_the_limits_say(void **state)
{
    (void)state;
    static const struct {
        unsigned layout;
        enum err expected;
        uint64_t nlines;
        uint64_t k;
    } rows[] = {
        {BLOOM_ONE_LINE, ERR_OK, 1, 1},
        {BLOOM_ONE_LINE, ERR_OK, BLOOM_LINES_MAX, BLOOM_K_MAX},
        {BLOOM_ONE_LINE, ERR_RANGE, 0, 1},
        {BLOOM_ONE_LINE, ERR_RANGE, BLOOM_LINES_MAX + 1, 1},
        {BLOOM_ONE_LINE, ERR_RANGE, UINT64_MAX, 1},
        {BLOOM_ONE_LINE, ERR_RANGE, 1, 0},
        {BLOOM_ONE_LINE, ERR_RANGE, 1, BLOOM_K_MAX + 1},
        {BLOOM_ONE_LINE, ERR_RANGE, 1, UINT64_MAX},
        {BLOOM_TWO_LINES, ERR_OK, 1, 2},
        {BLOOM_TWO_LINES, ERR_OK, 1, BLOOM_TWO_LINES_K_MAX},
        {BLOOM_TWO_LINES, ERR_RANGE, 1, 3},
        {BLOOM_TWO_LINES, ERR_RANGE, 1, 0},
        {BLOOM_TWO_LINES, ERR_RANGE, 1, BLOOM_TWO_LINES_K_MAX + 2},
        {BLOOM_CLASSIC, ERR_OK, 1, BLOOM_K_MAX},
        {BLOOM_CLASSIC, ERR_RANGE, 1, BLOOM_K_MAX + 1},
        {BLOOM_PARTITIONED, ERR_OK, 1, BLOOM_K_MAX},
        {BLOOM_PARTITIONED, ERR_RANGE, 1, BLOOM_K_MAX + 1},
        {0, ERR_UNSUPPORTED, 1, 1},
        {5, ERR_UNSUPPORTED, 1, 1},
        {UINT32_MAX, ERR_UNSUPPORTED, 1, 1},
    };
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        assert_int_equal(bloom_check(rows[r].layout, rows[r].nlines, rows[r].k),
                         rows[r].expected);
    }
}

static void test_bloom_fill__sampled__near_the_exact_share(void **state)
{
    (void)state;
    for (unsigned l = BLOOM_ONE_LINE; l <= BLOOM_PARTITIONED; l++) {
        struct bloom b = bloom_make(l, 20000, 8, &key_one);
        bloom_fill_keys(&b, 1, 600000);
        double exact = bloom_fill(&b, UINT64_MAX);
        uint64_t set = 0;
        for (size_t i = 0; i < (size_t)20000 * 8; i++) {
            set += (uint64_t)__builtin_popcountll(b.words[i]);
        }
        assert_true(fabs(exact - (double)set / (20000.0 * BLOOM_LINE_BITS)) < 1e-12);
        double sampled = bloom_fill(&b, 10000);
        assert_true(fabs(sampled / exact - 1) < 0.01);
        free(b.words);
    }
}

static void test_bloom_items_step__any_number__room_and_not_much_more(void **state)
{
    uint64_t before = 0;
    (void)state;
    assert_int_equal(bloom_items_step(0), BLOOM_STEP_LEAST);
    assert_int_equal(bloom_items_step(BLOOM_STEP_LEAST), BLOOM_STEP_LEAST);
    assert_int_equal(bloom_items_step(1000000), 1048576);
    assert_int_equal(bloom_items_step(1048576), bloom_items_step(900000));
    assert_int_equal(bloom_items_step(UINT64_MAX), UINT64_MAX);
    for (uint64_t n = BLOOM_STEP_LEAST; n < UINT64_MAX / 2; n += n / 7) {
        uint64_t step = bloom_items_step(n);
        assert_true(step >= n && step >= before);
        assert_true((double)step <= 1.4151 * (double)n);
        assert_int_equal(bloom_items_step(step), step);
        before = step;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_bloom_size__an_error_to_reach__reached_by_the_fewest_lines),
        cmocka_unit_test(
            test_bloom_size__a_tenth_of_a_percent__bits_within_the_figures),
        cmocka_unit_test(test_bloom_size__impossible__refused_and_nothing_written),
        cmocka_unit_test(test_bloom_check__edges__as_the_limits_say),
        cmocka_unit_test(test_bloom_items_step__any_number__room_and_not_much_more),
        cmocka_unit_test(test_bloom_fill__sampled__near_the_exact_share),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
