/*
 * test_layout - every layout keeps the wish or says why not; times are ordered as measured.
 */
#include <math.h>

#include "core/lab/cuckoo.h"
#include "core/lab/layout.h"
#include "core/lab/plan.h"

#include "tests/unit/unit.h"

static void test_layout_plan__error_wished__reached_with_few_bits(void **state)
{
    (void)state;
    static const double errors[] = {0.3, 0.05, 0.01, 0.001, 0.0001, 0.00002};
    static const uint64_t items[] = {1, 100, 1000000, 1200000000, PLAN_ITEMS_MAX};
    for (unsigned l = LAYOUT_FIRST; l < LAYOUT_END; l++) {
        for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
            for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
                struct layout_wish wish = {.items = items[i], .error = errors[e]};
                struct layout_size size;
                struct errinfo why = {0};
                if (layout_plan((enum layout)l, &wish, &size, &why) != ERR_OK) {
                    assert_true(errors[e] < 1e-4);
                    assert_true(why.text[0] != '\0');
                    continue;
                }
                assert_true(size.error <= errors[e]);
                assert_int_equal(size.layout, l);
                assert_int_equal(size.bits, size.bytes * 8);
                assert_true(size.deletes == (l == LAYOUT_CUCKOO));
                if (items[i] >= 1000000 && l != LAYOUT_CUCKOO) {
                    double least = plan_bits((double)items[i], errors[e]);
                    assert_true((double)size.bits < 1.6 * least);
                    assert_true((double)size.bits > 0.99 * least);
                }
            }
        }
    }
}

static void test_layout_plan__published_sizing__same_as_the_equation(void **state)
{
    (void)state;
    struct layout_wish wish = {.items = 1200000000, .error = 0.001};
    struct layout_size size;
    assert_int_equal(layout_plan(LAYOUT_CLASSIC, &wish, &size, NULL), ERR_OK);
    assert_int_equal(size.k, 10);
    assert_true(fabs((double)size.bits - 17253105079.0) < 1e-4 * 17253105079.0);
    /* the figures that were promised for the lines */
    assert_int_equal(layout_plan(LAYOUT_ONE_LINE, &wish, &size, NULL), ERR_OK);
    assert_true(size.bits_per_key <= 16.0);
    assert_int_equal(layout_plan(LAYOUT_TWO_LINES, &wish, &size, NULL), ERR_OK);
    assert_true(size.bits_per_key <= 15.0);
}

static void test_layout_plan__bits_or_probes_given__kept(void **state)
{
    (void)state;
    struct layout_wish wish = {.items = 1000000, .bits_per_key = 16};
    struct layout_size size;
    for (unsigned l = LAYOUT_FIRST; l < LAYOUT_CUCKOO; l++) {
        wish.k = 0;
        assert_int_equal(layout_plan((enum layout)l, &wish, &size, NULL), ERR_OK);
        assert_true(fabs(size.bits_per_key - 16) < 0.01);
        double best = size.error;
        wish.k = 6;
        assert_int_equal(layout_plan((enum layout)l, &wish, &size, NULL), ERR_OK);
        assert_int_equal(size.k, 6);
        assert_true(size.error > best);
        struct layout_wish by_error = {.items = 1000000, .error = 0.01, .k = 4};
        assert_int_equal(layout_plan((enum layout)l, &by_error, &size, NULL), ERR_OK);
        assert_int_equal(size.k, 4);
        assert_true(size.error <= 0.01 && size.error > 0.0099);
    }
    wish = (struct layout_wish){.items = 1000000, .bits_per_key = 32};
    assert_int_equal(layout_plan(LAYOUT_CUCKOO, &wish, &size, NULL), ERR_OK);
    assert_true(fabs(size.bits_per_key - 32) < 0.01);
    wish.error = 0.001; /* both: the bits decide */
    assert_int_equal(layout_plan(LAYOUT_CLASSIC, &wish, &size, NULL), ERR_OK);
    assert_true(fabs(size.bits_per_key - 32) < 0.01);
}

static void test_layout_plan__impossible__refused_with_a_reason(void **state)
{
    (void)state;
    static const struct {
        enum layout layout;
        struct layout_wish wish;
    } rows[] = {
        {LAYOUT_ONE_LINE, {.items = 0, .error = 0.1}},
        {LAYOUT_ONE_LINE, {.items = PLAN_ITEMS_MAX + 1, .error = 0.1}},
        {LAYOUT_ONE_LINE, {.items = 10}},
        {LAYOUT_ONE_LINE, {.items = 10, .error = 1}},
        {LAYOUT_ONE_LINE, {.items = 10, .error = -1}},
        {LAYOUT_ONE_LINE, {.items = 10, .error = (double)NAN}},
        {LAYOUT_ONE_LINE, {.items = 10, .bits_per_key = (double)NAN}},
        {LAYOUT_ONE_LINE, {.items = 10, .error = 0.1, .bits_per_key = (double)NAN}},
        {LAYOUT_ONE_LINE, {.items = 10, .bits_per_key = -1}},
        {LAYOUT_ONE_LINE, {.items = 10, .bits_per_key = 0.4}},
        {LAYOUT_ONE_LINE, {.items = 10, .bits_per_key = 129}},
        {LAYOUT_ONE_LINE, {.items = 1000000, .error = 1e-30}},
        {LAYOUT_ONE_LINE, {.items = 10, .error = 0.1, .k = BLOOM_K_MAX + 1}},
        {LAYOUT_ONE_LINE, {.items = 1000000, .error = 1e-9, .k = 1}},
        {LAYOUT_TWO_LINES, {.items = 10, .error = 0.1, .k = 3}},
        {LAYOUT_CUCKOO, {.items = 1000000, .error = 1e-7}},
        {LAYOUT_CUCKOO, {.items = 1000000, .bits_per_key = 16}},
        {LAYOUT_CUCKOO, {.items = 1000000, .error = 0.1, .k = 2}},
        {(enum layout)0, {.items = 10, .error = 0.1}},
        {(enum layout)6, {.items = 10, .error = 0.1}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct layout_size size = {.k = 77};
        struct errinfo why = {0};
        if (layout_plan(rows[i].layout, &rows[i].wish, &size, &why) != ERR_RANGE) {
            fail_msg("row %zu was accepted", i);
        }
        assert_true(why.text[0] != '\0');
        assert_int_equal(size.k, 77);
    }
}

static void test_layout_time__any_size__between_the_figures(void **state)
{
    (void)state;
    for (unsigned l = LAYOUT_FIRST; l < LAYOUT_END; l++) {
        struct layout_time former = {0};
        for (unsigned bits = 6; bits < 44; bits++) {
            struct layout_size size = {
                .layout = (enum layout)l, .bytes = UINT64_C(1) << bits, .k = 10};
            struct layout_time t;
            layout_time(&size, &t);
            assert_true(t.miss_ns > 0.5 && t.miss_ns < 500);
            assert_true(t.hit_ns > 0.5 && t.hit_ns < 1000);
            assert_true(t.add_ns > 0.5 && t.add_ns < 1000);
            assert_true(t.hit_ns >= former.hit_ns); /* larger memory is not faster */
            former = t;
        }
    }
    /* a hit of ten probes in ten lines costs more than one in one line */
    struct layout_size line = {.layout = LAYOUT_ONE_LINE, .bytes = 1 << 30, .k = 9};
    struct layout_size classic = {.layout = LAYOUT_CLASSIC, .bytes = 1 << 30, .k = 10};
    struct layout_time a;
    struct layout_time b;
    layout_time(&line, &a);
    layout_time(&classic, &b);
    assert_true(b.hit_ns > 3 * a.hit_ns);
    classic.k = 5;
    layout_time(&classic, &a);
    assert_true(fabs(a.hit_ns * 2 - b.hit_ns) < 1e-9);
}

static void test_layout_name__every_layout__round_trip(void **state)
{
    (void)state;
    enum layout l = LAYOUT_ONE_LINE;
    for (unsigned i = LAYOUT_FIRST; i < LAYOUT_END; i++) {
        assert_true(layout_of_name(layout_name(i), &l));
        assert_int_equal(l, i);
    }
    assert_false(layout_of_name("bloom", &l));
    assert_false(layout_of_name("", &l));
    assert_null(layout_name(0));
    assert_null(layout_name(LAYOUT_END));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout_plan__error_wished__reached_with_few_bits),
        cmocka_unit_test(test_layout_plan__published_sizing__same_as_the_equation),
        cmocka_unit_test(test_layout_plan__bits_or_probes_given__kept),
        cmocka_unit_test(test_layout_plan__impossible__refused_with_a_reason),
        cmocka_unit_test(test_layout_time__any_size__between_the_figures),
        cmocka_unit_test(test_layout_name__every_layout__round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
