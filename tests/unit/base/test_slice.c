/*
 * test_slice - comparing, searching and cutting, with NULs and empty runs.
 */
#include "core/base/slice.h"

#include "tests/unit/unit.h"

#define S(x) SLICE_LIT(x)

static void test_eq__pairs__agree(void **state)
{
    (void)state;
    static const struct {
        struct slice a, b;
        bool eq, nocase;
    } rows[] = {
        {{"", 0}, {NULL, 0}, true, true},
        {{"a", 1}, {"a", 1}, true, true},
        {{"a", 1}, {"A", 1}, false, true},
        {{"a", 1}, {"ab", 2}, false, false},
        {{"[", 1}, {"{", 1}, false, false},
        {{"a\0b", 3}, {"a\0c", 3}, false, false},
        {{"@", 1}, {"`", 1}, false, false},
        {{"a\0B", 3}, {"a\0b", 3}, false, true},
        {{"\xc4", 1}, {"\xe4", 1}, false, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(slice_eq(rows[i].a, rows[i].b), rows[i].eq);
        assert_int_equal(slice_eq_nocase(rows[i].a, rows[i].b), rows[i].nocase);
    }
}

static void test_affixes__shorter_equal_longer__are_told(void **state)
{
    (void)state;
    assert_true(slice_has_prefix(S("abc"), S("ab")));
    assert_true(slice_has_prefix(S("abc"), SLICE_NONE));
    assert_false(slice_has_prefix(S("abc"), S("AB")));
    assert_false(slice_has_prefix(S("ab"), S("abc")));
    assert_true(slice_has_prefix_nocase(S("abc"), S("AB")));
    assert_true(slice_has_suffix_nocase(S("abc"), S("BC")));
    assert_true(slice_has_suffix_nocase(S("abc"), S("abc")));
    assert_false(slice_has_suffix_nocase(S("bc"), S("abc")));
    assert_true(slice_has_suffix_nocase(SLICE_NONE, SLICE_NONE));
}

static void test_cmp__order__is_bytes_then_length(void **state)
{
    (void)state;
    assert_true(slice_cmp(S("a"), S("b")) < 0);
    assert_true(slice_cmp(S("a"), S("a\0")) < 0);
    assert_true(slice_cmp(S("\xff"), S("a")) > 0);
    assert_true(slice_cmp(SLICE_NONE, S("a")) < 0);
    assert_int_equal(slice_cmp(SLICE_NONE, S("")), 0);
}

static void test_parts__past_the_end__are_empty(void **state)
{
    (void)state;
    assert_true(slice_eq(slice_from(S("abc"), 1), S("bc")));
    assert_int_equal(slice_from(S("abc"), 3).n, 0);
    assert_int_equal(slice_from(S("abc"), 4).n, 0);
    assert_int_equal(slice_from(SLICE_NONE, 1).n, 0);
    assert_true(slice_eq(slice_head(S("abc"), 2), S("ab")));
    assert_true(slice_eq(slice_head(S("abc"), 4), S("abc")));
    assert_int_equal(slice_str(NULL).n, 0);
    assert_int_equal(slice_str("xy").n, 2);
}

static void test_trim__white_space__goes_at_both_ends(void **state)
{
    (void)state;
    assert_true(slice_eq(slice_trim(S(" \t\r\n\v\f a b \f")), S("a b")));
    assert_int_equal(slice_trim(S(" \t ")).n, 0);
    assert_int_equal(slice_trim(SLICE_NONE).n, 0);
    assert_true(slice_eq(slice_trim(S("\0 ")), S("\0")));
}

static void test_find__first_or_length__is_given(void **state)
{
    (void)state;
    assert_int_equal(slice_find(S("abcb"), 'b'), 1);
    assert_int_equal(slice_find(S("abc"), 'x'), 3);
    assert_int_equal(slice_find(SLICE_NONE, 'x'), 0);
    assert_int_equal(slice_find_slice(S("a\0bc\0bd"), S("\0bd")), 4);
    assert_int_equal(slice_find_slice(S("abc"), S("abcd")), 3);
    assert_int_equal(slice_find_slice(S("abc"), SLICE_NONE), 0);
    assert_int_equal(slice_find_slice(SLICE_NONE, S("a")), 0);
}

static void test_cut__loop__gives_each_part(void **state)
{
    (void)state;
    static const char *const want[] = {"a", "", "b", ""};
    struct slice rest = S("a,,b,");
    unsigned n = 0;
    while (rest.p) {
        struct slice part = slice_cut(&rest, ',');
        assert_true(n < 4);
        assert_true(slice_eq(part, slice_str(want[n])));
        n++;
    }
    assert_int_equal(n, 4);
    struct slice whole = S("abc");
    assert_true(slice_eq(slice_cut(&whole, ','), S("abc")));
    assert_null(whole.p);
}

static void test_hex_digit__each_byte__has_its_value_or_none(void **state)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    (void)state;

    for (int c = 0; c < 256; c++) {
        const char *found = c == 0 ? NULL : strchr(digits, c);
        const int at = found == NULL ? -1 : (int)(found - digits);

        assert_int_equal(hex_digit_value((char)c), at < 16 ? at : at - 6);
    }
}

static void test_to_u64__texts__are_numbers_or_refused(void **state)
{
    static const struct {
        struct slice s;
        unsigned base;
        uint64_t most, want;
        bool ok;
    } rows[] = {
        {{"0", 1}, 10, UINT64_MAX, 0, true},
        {{"0", 1}, 10, 0, 0, true},
        {{"1", 1}, 10, 0, 7, false},
        {{"007", 3}, 10, 7, 7, true},
        {{"65535", 5}, 10, 65535, 65535, true},
        {{"65536", 5}, 10, 65535, 7, false},
        {{"18446744073709551615", 20}, 10, UINT64_MAX, UINT64_MAX, true},
        {{"18446744073709551616", 20}, 10, UINT64_MAX, 7, false},
        {{"fF", 2}, 16, UINT64_MAX, 255, true},
        {{"f", 1}, 16, 14, 7, false},
        {{"10000000000000000", 17}, 16, UINT64_MAX, 7, false},
        {{"a", 1}, 10, UINT64_MAX, 7, false},
        {{"2", 1}, 2, UINT64_MAX, 7, false},
        {{"", 0}, 10, UINT64_MAX, 7, false},
        {{NULL, 0}, 10, UINT64_MAX, 7, false},
        {{"+1", 2}, 10, UINT64_MAX, 7, false},
        {{" 1", 2}, 10, UINT64_MAX, 7, false},
        {{"1\0", 2}, 10, UINT64_MAX, 7, false},
    };
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t v = 7;

        assert_int_equal(slice_to_u64(rows[i].s, rows[i].base, rows[i].most, &v),
                         rows[i].ok);
        assert_int_equal(v, rows[i].want);
    }
}

static void test_name_index__with_a_hole__is_exact(void **state)
{
    static const char *const names[] = {"one", NULL, "two"};
    (void)state;

    assert_int_equal(name_index(S("one"), names, 3), 0);
    assert_int_equal(name_index(S("two"), names, 3), 2);
    assert_int_equal(name_index(S("two"), names, 2), -1);
    assert_int_equal(name_index(S("on"), names, 3), -1);
    assert_int_equal(name_index(S("One"), names, 3), -1);
    assert_int_equal(name_index(SLICE_NONE, names, 3), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eq__pairs__agree),
        cmocka_unit_test(test_affixes__shorter_equal_longer__are_told),
        cmocka_unit_test(test_cmp__order__is_bytes_then_length),
        cmocka_unit_test(test_parts__past_the_end__are_empty),
        cmocka_unit_test(test_trim__white_space__goes_at_both_ends),
        cmocka_unit_test(test_find__first_or_length__is_given),
        cmocka_unit_test(test_cut__loop__gives_each_part),
        cmocka_unit_test(test_hex_digit__each_byte__has_its_value_or_none),
        cmocka_unit_test(test_to_u64__texts__are_numbers_or_refused),
        cmocka_unit_test(test_name_index__with_a_hole__is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
