/*
 * test_bloomfile_merge - the union answers for both; different or too full filters are refused.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/filter/bloomfile_merge.h"

#include "tests/unit/unit.h"

static const struct hashkey key_one = {.id = 1, .bytes = "0123456789abcde"};

enum { PLANNED = 20000, RING = 9, ASKED = 40000 };
static const double planned_error = 0.001;

static struct digest digest_number(uint64_t n)
{
    struct digest d;
    digest_make(&key_one, 100, slice_of((const char *)&n, sizeof(n)), &d);
    return d;
}

static void make(struct bloomfile *f, enum bloom_layout layout, uint64_t first,
                 uint64_t n)
{
    struct errinfo info;
    uint64_t nlines = 0;
    unsigned k = 0;
    assert_int_equal(bloom_size(layout, PLANNED, planned_error, &nlines, &k), ERR_OK);
    assert_int_equal(bloomfile_new(f, layout, nlines, k, &key_one, &info), ERR_OK);
    for (uint64_t i = first; i < first + n; i++) {
        struct digest d = digest_number(i);
        bloom_add(&f->bloom, &d);
    }
    f->facts.role = BLOOMFILE_SPAM;
    f->facts.digest_key = RING;
    f->facts.entries = n;
    f->facts.capacity = PLANNED;
}

/* Word for word what one maker with all entries would have built. So it says yes where one of the
 * two does; beyond that only what any filter of so many entries takes for one. */
static void check_union(enum bloom_layout layout, uint64_t shift)
{
    struct bloomfile a;
    struct bloomfile b;
    struct bloomfile both;
    struct bloomfile at_once;
    struct errinfo info;
    unsigned more = 0;
    make(&a, layout, 0, 9000);
    make(&b, layout, shift, 5000);
    make(&both, layout, 0, 9000);
    make(&at_once, layout, 0, shift + 5000 > 9000 ? shift + 5000 : 9000);
    assert_int_equal(bloomfile_merge(&both, &b, "b", &info), ERR_OK);
    assert_memory_equal(both.bloom.words, at_once.bloom.words, both.bloom.nlines * 64);
    for (uint64_t i = 0; i < ASKED; i++) { /* within, beside and foreign */
        struct digest d = digest_number(i);
        bool one_does = bloom_test(&a.bloom, &d) || bloom_test(&b.bloom, &d);
        bool both_do = bloom_test(&both.bloom, &d);
        assert_true(both_do || !one_does);
        more += both_do && !one_does;
    }
    assert_true(more <= ASKED * planned_error * 3);
    double truth = (double)at_once.facts.entries;
    assert_true((double)both.facts.entries > truth * 0.985 &&
                (double)both.facts.entries < truth * 1.015);
    bloomfile_close(&a);
    bloomfile_close(&b);
    bloomfile_close(&both);
    bloomfile_close(&at_once);
}

static void test_merge__any_two__is_the_filter_of_all_entries(void **state)
{
    (void)state;
    for (unsigned layout = BLOOM_ONE_LINE; layout <= BLOOM_PARTITIONED; layout++) {
        for (uint64_t shift = 0; shift <= 9000; shift += 3000) {
            check_union((enum bloom_layout)layout, shift);
        }
    }
}

static void test_merge__the_same_again_and_again__changes_nothing(void **state)
{
    (void)state;
    struct bloomfile a;
    struct bloomfile b;
    struct errinfo info;
    make(&a, BLOOM_ONE_LINE, 0, PLANNED);
    make(&b, BLOOM_ONE_LINE, 0, PLANNED);
    for (unsigned i = 0; i < 100; i++) {
        assert_int_equal(bloomfile_merge(&a, &b, "b", &info), ERR_OK);
    }
    assert_int_equal(a.facts.entries, PLANNED);
    assert_memory_equal(a.bloom.words, b.bloom.words, a.bloom.nlines * 64);
    bloomfile_close(&a);
    bloomfile_close(&b);
}

static void test_merge__more_than_planned__refused_and_unchanged(void **state)
{
    (void)state;
    struct bloomfile a;
    struct bloomfile b;
    struct bloomfile before;
    struct errinfo info = {.text = ""};
    make(&a, BLOOM_TWO_LINES, 0, 15000);
    make(&before, BLOOM_TWO_LINES, 0, 15000);
    make(&b, BLOOM_TWO_LINES, 15000, 15000);
    assert_int_equal(bloomfile_merge(&a, &b, "b.filter", &info), ERR_LIMIT);
    assert_non_null(strstr(info.text, "20000 were planned"));
    assert_non_null(strstr(info.text, "--items"));
    assert_int_equal(a.facts.entries, 15000);
    assert_memory_equal(a.bloom.words, before.bloom.words, a.bloom.nlines * 64);
    bloomfile_close(&a);
    bloomfile_close(&b);
    bloomfile_close(&before);
}

static void change(struct bloomfile_shape *s, unsigned field)
{
    switch (field) {
    case 0:
        s->facts.role = BLOOMFILE_REVOKED;
        break;
    case 1:
        s->layout = BLOOM_CLASSIC;
        break;
    case 2:
        s->nlines++;
        break;
    case 3:
        s->k--;
        break;
    case 4:
        s->hash = (enum bloomfile_hash)2;
        break;
    case 5:
        s->facts.capacity++;
        break;
    case 6:
        s->facts.period = 3;
        break;
    case 7:
        s->facts.digest_key = 0xabc;
        break;
    default:
        s->facts.position_key = 0xabc;
        break;
    }
}

static void test_alike__one_field_differs__refused_by_its_name_and_both_values(
    void **state)
{
    static const struct {
        const char *field;
        const char *value;
    } rows[] = {
        {"role", "revoked"},
        {"layout", "classic"},
        {"size m", "512"},
        {"probes k", "8"},
        {"hash", "is 2"},
        {"planned items", "20001"},
        {"period", "is 3"},
        {"digests' key", "00000abc"},
        {"positions' key", "00000abc"},
    };
    (void)state;
    struct bloomfile a;
    make(&a, BLOOM_ONE_LINE, 0, 10);
    struct bloomfile_shape there = bloomfile_shape_of(&a);
    there.nlines = 1;
    there.k = 9;
    struct bloomfile_shape its = there;
    its.facts.entries++;
    its.facts.generation++;
    its.facts.created_s++;
    its.facts.origin[3] = 1;
    assert_int_equal(bloomfile_alike(&there, "b", &its, NULL), ERR_OK);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct errinfo info = {.text = ""};
        its = there;
        change(&its, i);
        assert_int_equal(bloomfile_alike(&there, "b.filter", &its, &info),
                         i >= 7 ? ERR_KEY : ERR_RANGE);
        assert_string_equal(info.source, "b.filter");
        if (!strstr(info.text, rows[i].field) || !strstr(info.text, rows[i].value)) {
            fail_msg("row %u: %s", i, info.text);
        }
    }
    bloomfile_close(&a);
}

static void test_judge__honest_filters_of_every_layout_and_fill__pass(void **state)
{
    (void)state;
    for (unsigned layout = BLOOM_ONE_LINE; layout <= BLOOM_PARTITIONED; layout++) {
        static const uint64_t sizes[] = {0, 1, PLANNED / 2, PLANNED};
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            struct bloomfile f;
            struct errinfo info = {.text = ""};
            make(&f, (enum bloom_layout)layout, 0, sizes[i]);
            if (bloomfile_judge(&f, "f", "ask", &info) != ERR_OK) {
                fail_msg("layout %u, %zu: %s", layout, i, info.text);
            }
            bloomfile_close(&f);
        }
    }
}

static void test_judge__too_full_or_planned_too_loose__refused(void **state)
{
    (void)state;
    struct bloomfile f;
    struct errinfo info = {.text = ""};
    /* twice the entries it admits: error far over three times what they explain */
    make(&f, BLOOM_ONE_LINE, 0, PLANNED);
    f.facts.entries = PLANNED / 2;
    assert_int_equal(bloomfile_judge(&f, "f", "ask its maker", &info), ERR_CORRUPT);
    assert_non_null(strstr(info.text, "poisoned"));
    assert_non_null(strstr(info.text, "ask its maker"));
    f.facts.entries = PLANNED + 1;
    assert_int_equal(bloomfile_judge(&f, "f", "ask", &info), ERR_CORRUPT);
    assert_non_null(strstr(info.text, "were planned"));
    /* all ones that admit to be full */
    memset(f.bloom.words, 0xff, (size_t)f.bloom.nlines * 64);
    assert_true(bloomfile_estimate(&f) == UINT64_MAX);
    f.facts.entries = PLANNED;
    assert_int_equal(bloomfile_judge(&f, "f", "ask", &info), ERR_CORRUPT);
    f.facts.capacity = f.facts.entries = UINT64_C(1) << 62;
    assert_int_equal(bloomfile_judge(&f, "f", "ask", &info), ERR_CORRUPT);
    assert_non_null(strstr(info.text, "at most 10 %"));
    bloomfile_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge__any_two__is_the_filter_of_all_entries),
        cmocka_unit_test(test_merge__the_same_again_and_again__changes_nothing),
        cmocka_unit_test(test_merge__more_than_planned__refused_and_unchanged),
        cmocka_unit_test(
            test_alike__one_field_differs__refused_by_its_name_and_both_values),
        cmocka_unit_test(test_judge__honest_filters_of_every_layout_and_fill__pass),
        cmocka_unit_test(test_judge__too_full_or_planned_too_loose__refused),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
