/*
 * test_bloom_load - fill and error from sampled lines, beside the exact count and the formula.
 */
#include <math.h>

#include "core/filter/bloom.h"

#include "tests/unit/unit.h"

enum { LINES = 32768, SAMPLE = 4096, PROBES = 2000000 };

static const struct hashkey key = {.id = 7, .bytes = "sampled filter!"};

static struct digest digest_number(uint64_t n)
{
    struct digest d;
    digest_make(&key, 1, slice_of((const char *)&n, sizeof(n)), &d);
    return d;
}

/* A filter of this layout with n keys. */
static struct bloom filled(enum bloom_layout layout, unsigned k, uint64_t n)
{
    struct bloom b = {.nlines = LINES, .layout = layout, .k = k};
    b.words = aligned_alloc(BLOOM_LINE_BYTES, (size_t)LINES * BLOOM_LINE_BYTES);
    assert_non_null(b.words);
    memset(b.words, 0, (size_t)LINES * BLOOM_LINE_BYTES);
    bloom_key(&b, &key);
    for (uint64_t i = 0; i < n; i++) {
        struct digest d = digest_number(i);
        bloom_add(&b, &d);
    }
    return b;
}

static double measured(const struct bloom *b, uint64_t from)
{
    uint64_t hits = 0;
    for (uint64_t i = from; i < from + PROBES; i++) {
        struct digest d = digest_number(i);
        hits += bloom_test(b, &d);
    }
    return (double)hits / PROBES;
}

static const struct {
    enum bloom_layout layout;
    unsigned k;
    double bits; /* a key */
} shapes[] = {
    {BLOOM_ONE_LINE, 9, 16},   {BLOOM_ONE_LINE, 9, 8},        {BLOOM_TWO_LINES, 10, 15},
    {BLOOM_CLASSIC, 10, 14.4}, {BLOOM_PARTITIONED, 10, 14.4}, {BLOOM_CLASSIC, 3, 4},
};

static void test_fill__for_each_layout__then_within_a_percent_of_the_count(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        uint64_t n = (uint64_t)(LINES * 512.0 / shapes[i].bits);
        struct bloom b = filled(shapes[i].layout, shapes[i].k, n);
        double exact = bloom_fill(&b, LINES);
        double sampled = bloom_fill(&b, SAMPLE);
        if (fabs(sampled - exact) > 0.01 * exact) {
            fail_msg("%s: fill %.5f, sampled %.5f", bloom_layout_name(b.layout), exact,
                     sampled);
        }
        free(b.words);
    }
}

/* load^k, not (1 - e^(-k load))^k of the literature's sample code: trap T7. */
static void test_error_of_bits__for_each_layout__then_that_of_formula_and_probes(
    void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        uint64_t n = (uint64_t)(LINES * 512.0 / shapes[i].bits);
        struct bloom b = filled(shapes[i].layout, shapes[i].k, n);
        double formula = bloom_error(b.layout, b.nlines, b.k, n);
        double bits = bloom_error_of_bits(&b, LINES);
        double sampled = bloom_error_of_bits(&b, SAMPLE);
        double probes = measured(&b, n);
        double chance = 4 * sqrt(formula / PROBES); /* four standard deviations */
        if (fabs(bits - formula) > 0.05 * formula ||
            fabs(sampled - bits) > 0.15 * bits ||
            fabs(probes - bits) > chance + 0.02 * bits) {
            fail_msg("%s k=%u: formula %.6f, bits %.6f, sampled %.6f, probes %.6f",
                     bloom_layout_name(b.layout), b.k, formula, bits, sampled, probes);
        }
        free(b.words);
    }
}

static void test_error_of_bits__when_empty_or_full__then_0_or_1(void **state)
{
    static const enum bloom_layout layouts[] = {BLOOM_ONE_LINE, BLOOM_TWO_LINES,
                                                BLOOM_CLASSIC, BLOOM_PARTITIONED};
    (void)state;
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        struct bloom b = filled(layouts[i], 10, 0);
        assert_float_equal(bloom_error_of_bits(&b, SAMPLE), 0.0, 1e-12);
        memset(b.words, 0xff, (size_t)LINES * BLOOM_LINE_BYTES);
        assert_float_equal(bloom_error_of_bits(&b, SAMPLE), 1.0, 1e-12);
        b.nlines = 0;
        assert_float_equal(bloom_error_of_bits(&b, SAMPLE), 0.0, 1e-12);
        free(b.words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_fill__for_each_layout__then_within_a_percent_of_the_count),
        cmocka_unit_test(
            test_error_of_bits__for_each_layout__then_that_of_formula_and_probes),
        cmocka_unit_test(test_error_of_bits__when_empty_or_full__then_0_or_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
