/*
 * test_bloom_layouts - promises of every layout: no false negative, its formula's error,
 * positions that never change, the union of two filters.
 */
#include <math.h>

#include "tests/unit/filter/keys.h"

static const enum bloom_layout layouts[] = {BLOOM_ONE_LINE, BLOOM_TWO_LINES,
                                            BLOOM_CLASSIC, BLOOM_PARTITIONED};
enum { LAYOUTS = sizeof(layouts) / sizeof(layouts[0]) };

/* k or, where the layout does not take it, 6. */
static unsigned k_for(enum bloom_layout layout, uint64_t k)
{
    return bloom_check(layout, 1, k) == ERR_OK ? (unsigned)k : 6;
}

static void assert_none_lost(enum bloom_layout layout, uint64_t seed)
{
    enum { KEYS = 300 };
    struct digest d[KEYS];
    uint8_t hit[KEYS];
    uint64_t nlines = 1 + split_mix(seed) % 40;
    unsigned k = k_for(layout, 1 + split_mix(seed + 7) % BLOOM_K_MAX);
    struct bloom b = bloom_make(layout, nlines, k, &key_one);
    for (uint64_t i = 0; i < KEYS; i++) {
        d[i] = digest_number(seed, i);
        bloom_add(&b, &d[i]);
    }
    bloom_test_batch(&b, d, KEYS, hit);
    for (uint64_t i = 0; i < KEYS; i++) {
        if (!hit[i] || !bloom_test(&b, &d[i])) {
            fail_msg("layout %d k %u lines %d: key %d of seed %d is lost", (int)layout,
                     k, (int)nlines, (int)i, (int)seed);
        }
    }
    free(b.words);
}

static void test_bloom_add__any_layout_k_and_size__every_key_is_found(void **state)
{
    (void)state;
    enum { SEEDS = 100 };
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (size_t l = 0; l < LAYOUTS; l++) {
            assert_none_lost(layouts[l], seed);
        }
    }
}

/* One by one, as a batch, and by three owners of ranges, given batches of any length. */
static void test_bloom_add_range__all_ranges__same_bits_as_one_by_one(void **state)
{
    (void)state;
    enum { LINES = 100, KEYS = 1500 };
    static struct digest d[KEYS];
    for (size_t l = 0; l < LAYOUTS; l++) {
        for (unsigned k = 1; k <= BLOOM_K_MAX; k++) {
            if (bloom_check(layouts[l], LINES, k) != ERR_OK) {
                continue;
            }
            struct bloom one = bloom_make(layouts[l], LINES, k, &key_one);
            struct bloom batch = bloom_make(layouts[l], LINES, k, &key_one);
            struct bloom parts = bloom_make(layouts[l], LINES, k, &key_one);
            for (uint64_t i = 0; i < KEYS; i++) {
                d[i] = digest_number(9, i);
                bloom_add(&one, &d[i]);
            }
            for (size_t done = 0, n = 0; done < KEYS; done += n++) {
                n = n < KEYS - done ? n : KEYS - done;
                bloom_add_batch(&batch, d + done, n);
            }
            bloom_add_range(&parts, d, KEYS, 0, 1);
            bloom_add_range(&parts, d, KEYS, 1, 63);
            assert_memory_not_equal(one.words, parts.words, bloom_bytes(&one));
            bloom_add_range(&parts, d, KEYS, 63, LINES);
            assert_memory_equal(one.words, batch.words, bloom_bytes(&one));
            assert_memory_equal(one.words, parts.words, bloom_bytes(&one));
            free(one.words);
            free(batch.words);
            free(parts.words);
        }
    }
}

static void test_bloom_add_range__one_range__nothing_outside_it(void **state)
{
    (void)state;
    enum { LINES = 20, FIRST = 5, END = 11 };
    for (size_t l = 0; l < LAYOUTS; l++) {
        struct bloom b = bloom_make(layouts[l], LINES, 8, &key_one);
        for (uint64_t i = 0; i < 2000; i++) {
            struct digest d = digest_number(4, i);
            bloom_add_range(&b, &d, 1, FIRST, END);
        }
        for (size_t w = 0; w < (size_t)LINES * 8; w++) {
            bool is_inside = w / 8 >= FIRST && w / 8 < END;
            assert_int_equal(b.words[w] != 0, is_inside);
        }
        free(b.words);
    }
}

static void test_bloom_positions__fixed_keys__never_change(void **state)
{
    (void)state;
    /* of one line: the sum that the first version of this filter gave */
    static const uint64_t sums[LAYOUTS] = {0x7a45c511259e1188, 0x5822ae8d18affe01,
                                           0x6650e2cce80f0221, 0x3815a34b5bd44488};
    enum { LINES = 777 };
    for (size_t l = 0; l < LAYOUTS; l++) {
        unsigned k =
            layouts[l] == BLOOM_TWO_LINES ? BLOOM_TWO_LINES_K_MAX : BLOOM_K_MAX;
        struct bloom b = bloom_make(layouts[l], LINES, k, &key_one);
        bloom_fill_keys(&b, 0, 3000);
        uint64_t sum = 0;
        for (size_t i = 0; i < (size_t)LINES * 8; i++) {
            sum = split_mix(sum ^ b.words[i]);
        }
        assert_true(sum == sums[l]);
        free(b.words);
    }
}

/* Within 5 %, or 4 standard deviations where the hits are too few for that. */
static void assert_error(const struct bloom *b, uint64_t keys, uint64_t asked)
{
    double expected = bloom_error(b->layout, b->nlines, b->k, keys);
    double measured = bloom_share(b, 2, asked);
    double room = fmax(0.05, 4 / sqrt(expected * (double)asked));
    print_message("%s k %u, %.1f bits: measured %.6f %%, formula %.6f %% (%+.2f %%)\n",
                  bloom_layout_name(b->layout), b->k,
                  (double)b->nlines * BLOOM_LINE_BITS / (double)keys, 100 * measured,
                  100 * expected, 100 * (measured / expected - 1));
    assert_true(fabs(measured / expected - 1) < room);
}

static void test_bloom_error__measured_with_a_million_keys__within_5_percent(
    void **state)
{
    (void)state;
    static const struct {
        enum bloom_layout layout;
        unsigned k;
        double bits;
        uint64_t asked;
    } rows[] = {
        {BLOOM_ONE_LINE, 5, 8, 400000},       {BLOOM_ONE_LINE, 9, 16, 10000000},
        {BLOOM_TWO_LINES, 6, 8, 400000},      {BLOOM_TWO_LINES, 14, 10, 400000},
        {BLOOM_TWO_LINES, 10, 15, 10000000},  {BLOOM_TWO_LINES, 2, 20, 2000000},
        {BLOOM_CLASSIC, 5, 8, 400000},        {BLOOM_CLASSIC, 10, 14.4, 8000000},
        {BLOOM_PARTITIONED, 5, 8, 400000},    {BLOOM_PARTITIONED, 10, 14.4, 8000000},
        {BLOOM_PARTITIONED, 16, 12, 4000000},
    };
    enum { KEYS = 1000000 };
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        struct bloom b = bloom_make(rows[r].layout, bloom_lines_for(KEYS, rows[r].bits),
                                    rows[r].k, &key_one);
        bloom_fill_keys(&b, 1, KEYS);
        assert_error(&b, KEYS, rows[r].asked);
        free(b.words);
    }
}

/* Table 1 of Yan and Cho: m/n and k, and the value of equation (1), to the printed digits. */
static void test_bloom_error__classic_of_table_1__equation_1(void **state)
{
    (void)state;
    static const struct {
        double bits;
        double printed;
        unsigned k;
    } rows[] = {{16, 2.394e-3, 4},
                {10, 8.455e-3, 8},
                {16, 5.745e-4, 8},
                {40, 1.166e-6, 8},
                {40, 1.948e-8, 16}};
    enum { KEYS = 1024000, ASKED = 10000000 };
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        uint64_t nlines = bloom_lines_for(KEYS, rows[r].bits);
        double error = bloom_error(BLOOM_CLASSIC, nlines, rows[r].k, KEYS);
        assert_true(fabs(error / rows[r].printed - 1) < 5e-4);
        struct bloom b = bloom_make(BLOOM_CLASSIC, nlines, rows[r].k, &key_two);
        bloom_fill_keys(&b, 1, KEYS);
        assert_error(&b, KEYS, ASKED);
        free(b.words);
    }
}

/* K random bits of a key, each on its own: what theory assumes. */
static bool independent(uint64_t *words, uint64_t bits, uint64_t *x, bool is_add)
{
    enum { K = 8 };
    uint64_t all = 1;
    for (unsigned j = 0; j < K; j++) {
        uint64_t at = split_mix((*x)++) % bits;
        all &= words[at / 64] >> at % 64;
        words[at / 64] |= is_add ? (uint64_t)1 << at % 64 : 0;
    }
    return (all & 1) != 0;
}

/* The steps of one key are not independent; the cost of that, highest in small filters. */
static void test_bloom_classic__beside_independent_hashing__at_most_5_percent_more(
    void **state)
{
    (void)state;
    static const struct {
        uint64_t nlines;
        uint64_t filters;
    } rows[] = {{1, 20000}, {2, 10000}, {16, 1500}, {400, 60}};
    enum { K = 8, BITS = 8, ASKED = 200 };
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        uint64_t bits = rows[r].nlines * BLOOM_LINE_BITS;
        uint64_t keys = bits / BITS;
        uint64_t ours = 0;
        uint64_t theirs = 0;
        uint64_t x = 0;
        for (uint64_t f = 0; f < rows[r].filters; f++) {
            struct bloom b = bloom_make(BLOOM_CLASSIC, rows[r].nlines, K, &key_one);
            struct bloom other = bloom_make(BLOOM_CLASSIC, rows[r].nlines, K, &key_one);
            bloom_fill_keys(&b, 100 + f, keys);
            for (uint64_t i = 0; i < keys; i++) {
                (void)independent(other.words, bits, &x, true);
            }
            for (uint64_t i = 0; i < ASKED * rows[r].nlines; i++) {
                struct digest d = digest_number(100 + f, keys + i);
                ours += bloom_test(&b, &d) ? 1 : 0;
                theirs += independent(other.words, bits, &x, false) ? 1 : 0;
            }
            free(b.words);
            free(other.words);
        }
        print_message("%d lines: %.5f of independent hashing (%d and %d hits)\n",
                      (int)rows[r].nlines, (double)ours / (double)theirs, (int)ours,
                      (int)theirs);
        assert_true((double)ours <= 1.05 * (double)theirs);
    }
}

static void test_bloom_partitioned__one_key__one_bit_in_each_part(void **state)
{
    (void)state;
    for (unsigned k = 1; k <= BLOOM_K_MAX; k++) {
        struct bloom b = bloom_make(BLOOM_PARTITIONED, 3, k, &key_one);
        uint64_t part = (uint64_t)3 * BLOOM_LINE_BITS / k;
        for (uint64_t i = 0; i < 50; i++) {
            unsigned seen[BLOOM_K_MAX + 1] = {0};
            struct digest d = digest_number(3, i);
            memset(b.words, 0, bloom_bytes(&b));
            bloom_add(&b, &d);
            for (uint64_t at = 0; at < (uint64_t)3 * BLOOM_LINE_BITS; at++) {
                seen[at / part] += (b.words[at / 64] >> at % 64 & 1) != 0 ? 1 : 0;
            }
            for (unsigned j = 0; j < k; j++) {
                assert_int_equal(seen[j], 1);
            }
        }
        free(b.words);
    }
}

/* Every bit of each part can be reached, none of the rest that k does not divide is. */
static void test_bloom_partitioned__many_keys__cover_all_parts(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 3, 100};
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        for (unsigned k = 1; k <= BLOOM_K_MAX; k++) {
            struct bloom b = bloom_make(BLOOM_PARTITIONED, sizes[s], k, &key_one);
            uint64_t bits = sizes[s] * BLOOM_LINE_BITS;
            uint64_t used = bits / k * k;
            bloom_fill_keys(&b, 3, bits / k * 25);
            for (uint64_t at = 0; at < bits; at++) {
                assert_int_equal(b.words[at / 64] >> at % 64 & 1, at < used);
            }
            free(b.words);
        }
    }
}

static void test_bloom_or__two_filters__answers_as_either_and_holds_both(void **state)
{
    (void)state;
    enum { KEYS = 400 };
    for (size_t l = 0; l < LAYOUTS; l++) {
        struct bloom a = bloom_make(layouts[l], 15, 8, &key_one);
        struct bloom b = bloom_make(layouts[l], 15, 8, &key_one);
        struct bloom both = bloom_make(layouts[l], 15, 8, &key_one);
        bloom_fill_keys(&a, 20, KEYS);
        bloom_fill_keys(&b, 21, KEYS);
        bloom_fill_keys(&both, 20, KEYS);
        bloom_fill_keys(&both, 21, KEYS);
        struct bloom merged = bloom_make(layouts[l], 15, 8, &key_one);
        assert_int_equal(bloom_or(&merged, &a), ERR_OK);
        assert_int_equal(bloom_or(&merged, &b), ERR_OK);
        assert_memory_equal(merged.words, both.words, bloom_bytes(&merged));
        for (uint64_t stream = 20; stream < 22; stream++) {
            assert_true(bloom_share(&merged, stream, KEYS) >= 1);
        }
        for (uint64_t i = 0; i < 5000; i++) { /* whoever is in a or b is in the union */
            struct digest d = digest_number(22, i);
            if (bloom_test(&a, &d) || bloom_test(&b, &d)) {
                assert_true(bloom_test(&merged, &d));
            }
        }
        free(a.words);
        free(b.words);
        free(both.words);
        free(merged.words);
    }
}

static void test_bloom_or__unlike_filters__refused_and_untouched(void **state)
{
    (void)state;
    struct bloom dst = bloom_make(BLOOM_ONE_LINE, 4, 8, &key_one);
    struct bloom src = bloom_make(BLOOM_ONE_LINE, 4, 8, &key_one);
    memset(src.words, 0xff, bloom_bytes(&src));
    struct bloom other = src;
    other.layout = BLOOM_TWO_LINES;
    assert_int_equal(bloom_or(&dst, &other), ERR_UNSUPPORTED);
    other = src;
    other.k = 9;
    assert_int_equal(bloom_or(&dst, &other), ERR_RANGE);
    other = src;
    other.nlines = 3;
    assert_int_equal(bloom_or(&dst, &other), ERR_RANGE);
    other = src;
    bloom_key(&other, &key_two);
    assert_int_equal(bloom_or(&dst, &other), ERR_KEY);
    assert_true(bloom_fill(&dst, UINT64_MAX) <= 0);
    assert_int_equal(bloom_or(&dst, &src), ERR_OK);
    assert_true(bloom_fill(&dst, UINT64_MAX) >= 1);
    free(dst.words);
    free(src.words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bloom_add__any_layout_k_and_size__every_key_is_found),
        cmocka_unit_test(test_bloom_add_range__all_ranges__same_bits_as_one_by_one),
        cmocka_unit_test(test_bloom_add_range__one_range__nothing_outside_it),
        cmocka_unit_test(test_bloom_positions__fixed_keys__never_change),
        cmocka_unit_test(
            test_bloom_error__measured_with_a_million_keys__within_5_percent),
        cmocka_unit_test(test_bloom_error__classic_of_table_1__equation_1),
        cmocka_unit_test(
            test_bloom_classic__beside_independent_hashing__at_most_5_percent_more),
        cmocka_unit_test(test_bloom_partitioned__one_key__one_bit_in_each_part),
        cmocka_unit_test(test_bloom_partitioned__many_keys__cover_all_parts),
        cmocka_unit_test(test_bloom_or__two_filters__answers_as_either_and_holds_both),
        cmocka_unit_test(test_bloom_or__unlike_filters__refused_and_untouched),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
