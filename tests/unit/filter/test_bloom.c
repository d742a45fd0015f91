/*
 * test_bloom - no false negative ever, the error the formula says, no escape from the lines.
 */

#include "tests/unit/filter/keys.h"

static void test_bloom__keys_added__every_one_is_found(void **state)
{
    (void)state;
    static const struct {
        uint64_t nlines;
        unsigned k;
        uint64_t keys;
    } rows[] = {{1, 1, 1},        {1, 9, 40},    {1, 16, 500},
                {3, 4, 100},      {7, 7, 100},   {64, 8, 999},
                {1000, 9, 32000}, {1000, 14, 9}, {777, 15, 5000}};
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        struct bloom b =
            bloom_make(BLOOM_ONE_LINE, rows[r].nlines, rows[r].k, &key_one);
        struct digest *all = calloc(rows[r].keys, sizeof(*all));
        uint8_t *hit = malloc(rows[r].keys);
        assert_non_null(all);
        assert_non_null(hit);
        for (uint64_t i = 0; i < rows[r].keys; i++) {
            all[i] = digest_number(r, i);
            bloom_add(&b, &all[i]);
            assert_true(bloom_test(&b, &all[i]));
        }
        bloom_test_batch(&b, all, rows[r].keys, hit);
        for (uint64_t i = 0; i < rows[r].keys; i++) {
            assert_int_equal(hit[i], 1);
        }
        free(hit);
        free(all);
        free(b.words);
    }
}

static void test_bloom_test_batch__mixed_keys__same_as_single(void **state)
{
    (void)state;
    struct bloom b = bloom_make(BLOOM_ONE_LINE, 50, 5, &key_one);
    struct digest d[3 * BLOOM_BATCH + 5];
    enum { COUNT = sizeof(d) / sizeof(d[0]) };
    uint8_t hit[COUNT + 1];
    for (uint64_t i = 0; i < COUNT; i++) {
        d[i] = digest_number(5, i);
        if (i % 3 == 0) {
            bloom_add(&b, &d[i]);
        }
    }
    for (size_t n = 0; n <= COUNT; n++) {
        memset(hit, 7, sizeof(hit));
        bloom_test_batch(&b, d, n, hit);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(hit[i], bloom_test(&b, &d[i]) ? 1 : 0);
        }
        assert_int_equal(hit[n], 7);
    }
    free(b.words);
}

static void test_bloom_error__measured_on_a_fixed_seed__within_5_percent(void **state)
{
    (void)state;
    /* enough hits in every row that 5 % is more than 4 standard deviations */
    static const struct {
        double bits;
        unsigned k;
        uint64_t probes;
    } rows[] = {
        {8, 5, 400000}, {10, 7, 1000000}, {14.4, 9, 6000000}, {16, 9, 10000000}};
    enum { KEYS = 200000 };
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        uint64_t nlines = bloom_lines_for(KEYS, rows[r].bits);
        struct bloom b = bloom_make(BLOOM_ONE_LINE, nlines, rows[r].k, &key_one);
        for (uint64_t i = 0; i < KEYS; i++) {
            struct digest d = digest_number(1, i);
            bloom_add(&b, &d);
        }
        uint64_t hits = 0;
        for (uint64_t i = 0; i < rows[r].probes; i++) {
            struct digest d = digest_number(2, i);
            hits += bloom_test(&b, &d);
        }
        double measured = (double)hits / (double)rows[r].probes;
        double expected = bloom_error(BLOOM_ONE_LINE, nlines, rows[r].k, KEYS);
        print_message("bits %.1f k %u: measured %.5f %%, formula %.5f %%\n",
                      rows[r].bits, rows[r].k, 100 * measured, 100 * expected);
        assert_true(measured < 1.05 * expected);
        assert_true(measured > 0.95 * expected);
        free(b.words);
    }
}

static void test_bloom_error__default_sizing__below_a_tenth_of_a_percent(void **state)
{
    (void)state;
    for (uint64_t n = 1000; n < 3000000000; n *= 10) {
        assert_true(bloom_error(BLOOM_ONE_LINE, bloom_lines_for(n, 16), 9, n) < 0.001);
    }
}

static void test_bloom_error__extremes__between_0_and_1(void **state)
{
    (void)state;
    assert_true(bloom_error(BLOOM_ONE_LINE, 1, 9, 0) <= 0);
    assert_true(bloom_error(BLOOM_ONE_LINE, 1, 9, 1000000) >= 1);
    assert_true(bloom_error(BLOOM_ONE_LINE, 1, 1, 599) <= 1);
    assert_true(bloom_error(BLOOM_ONE_LINE, 1000000000, 16, 1) >= 0);
}

static void test_bloom_key__another_key__other_bits(void **state)
{
    (void)state;
    struct bloom a = bloom_make(BLOOM_ONE_LINE, 1000, 9, &key_one);
    struct bloom b = bloom_make(BLOOM_ONE_LINE, 1000, 9, &key_two);
    unsigned same = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        struct digest d = digest_number(3, i);
        bloom_add(&a, &d);
    }
    memcpy(b.words, a.words, (size_t)1000 * BLOOM_LINE_BYTES);
    for (uint64_t i = 0; i < 1000; i++) {
        struct digest d = digest_number(3, i);
        same += bloom_test(&b, &d);
    }
    assert_true(same < 5);
    free(a.words);
    free(b.words);
}

static void test_bloom_lines_for__edges__at_least_one(void **state)
{
    (void)state;
    assert_int_equal(bloom_lines_for(0, 16), 1);
    assert_int_equal(bloom_lines_for(32, 16), 1);
    assert_int_equal(bloom_lines_for(33, 16), 2);
    assert_int_equal(bloom_lines_for(1000000, 16), 31250);
}

static void test_bloom_fill__known_bits__counted(void **state)
{
    (void)state;
    struct bloom b = bloom_make(BLOOM_ONE_LINE, 10, 1, &key_one);
    assert_true(bloom_fill(&b, 100) <= 0);
    for (size_t i = 0; i < 10; i++) {
        b.words[i * 8] = 0xffffffffffffffff;
    }
    assert_true(bloom_fill(&b, 100) == 64.0 / 512);
    assert_true(bloom_fill(&b, 3) == 64.0 / 512);
    assert_true(bloom_fill(&b, 0) <= 0);
    free(b.words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bloom__keys_added__every_one_is_found),
        cmocka_unit_test(test_bloom_test_batch__mixed_keys__same_as_single),
        cmocka_unit_test(test_bloom_error__measured_on_a_fixed_seed__within_5_percent),
        cmocka_unit_test(test_bloom_error__default_sizing__below_a_tenth_of_a_percent),
        cmocka_unit_test(test_bloom_error__extremes__between_0_and_1),
        cmocka_unit_test(test_bloom_key__another_key__other_bits),
        cmocka_unit_test(test_bloom_lines_for__edges__at_least_one),
        cmocka_unit_test(test_bloom_fill__known_bits__counted),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
