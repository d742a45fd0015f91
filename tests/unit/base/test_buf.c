/*
 * test_buf - growth to the cap, the sticky failure, and numbers read back by a cursor.
 */
#include "core/base/buf.h"
#include "core/base/cursor.h"

#include "tests/unit/unit.h"

static void test_add__around_the_cap__is_exact(void **state)
{
    (void)state;
    struct buf b;
    for (size_t n = 99; n <= 101; n++) {
        buf_init(&b, 100);
        for (size_t i = 0; i < n; i++) {
            buf_add_char(&b, 'x');
        }
        assert_int_equal(b.n, n > 100 ? 100 : n);
        assert_int_equal(buf_failed(&b), n > 100);
        assert_int_equal(b.p[b.n], '\0');
        buf_fini(&b);
    }
    buf_init(&b, 0);
    buf_add(&b, SLICE_NONE);
    assert_false(buf_failed(&b));
    buf_add_char(&b, 'x');
    assert_true(buf_failed(&b));
    buf_fini(&b);
}

static void test_failure__later_adds_that_would_fit__stay_out(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 4);
    buf_add_str(&b, "ab");
    buf_add_str(&b, "cde");
    buf_add_str(&b, "f");
    assert_true(buf_failed(&b));
    assert_true(slice_eq(buf_slice(&b), SLICE_LIT("ab")));
    buf_clear(&b);
    assert_false(buf_failed(&b));
    buf_add_str(&b, "wxyz");
    assert_false(buf_failed(&b));
    assert_string_equal(b.p, "wxyz");
    buf_fini(&b);
}

static void test_printf__around_the_cap__is_all_or_nothing(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 10);
    buf_printf(&b, "%s-%d", "abc", 42);
    assert_string_equal(b.p, "abc-42");
    buf_printf(&b, "%s", "");
    buf_printf(&b, "%d", 1234);
    assert_false(buf_failed(&b));
    assert_string_equal(b.p, "abc-421234");
    buf_printf(&b, "%c", 'x');
    assert_true(buf_failed(&b));
    assert_string_equal(b.p, "abc-421234");
    buf_fini(&b);
}

static void test_numbers__read_back__are_the_same(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1000);
    buf_add_u8(&b, 0xfe);
    buf_add_u16(&b, 0xfedc);
    buf_add_u32(&b, 0xfedcba98);
    buf_add_u64(&b, UINT64_C(0xfedcba9876543210));
    assert_memory_equal(
        b.p, "\xfe\xdc\xfe\x98\xba\xdc\xfe\x10\x32\x54\x76\x98\xba\xdc\xfe", 15);
    struct cursor c = cursor_of(buf_slice(&b));
    assert_int_equal(cursor_u8(&c), 0xfe);
    assert_int_equal(cursor_u16(&c), 0xfedc);
    assert_true(cursor_u32(&c) == 0xfedcba98);
    assert_false(cursor_done(&c));
    assert_true(cursor_u64(&c) == UINT64_C(0xfedcba9876543210));
    assert_true(cursor_done(&c));
    buf_fini(&b);
}

static void test_cursor__each_truncation__fails_and_stays_failed(void **state)
{
    (void)state;
    static const char bytes[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    for (size_t n = 0; n <= 10; n++) {
        struct cursor c = cursor_of(slice_of(bytes, n));
        (void)cursor_u32(&c);
        struct slice s = cursor_bytes(&c, 4);
        uint16_t last = cursor_u16(&c);
        assert_int_equal(cursor_ok(&c), n == 10);
        assert_int_equal(cursor_done(&c), n == 10);
        assert_int_equal(last, n == 10 ? 0x0a09 : 0);
        assert_int_equal(s.n, n >= 8 ? 4 : 0);
        if (n < 10) {
            assert_int_equal(cursor_u8(&c), 0); /* even if a byte is left */
        }
    }
    struct cursor c = cursor_of(slice_of(bytes, 10));
    assert_int_equal(cursor_bytes(&c, SIZE_MAX).n, 0);
    assert_false(cursor_ok(&c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add__around_the_cap__is_exact),
        cmocka_unit_test(test_failure__later_adds_that_would_fit__stay_out),
        cmocka_unit_test(test_printf__around_the_cap__is_all_or_nothing),
        cmocka_unit_test(test_numbers__read_back__are_the_same),
        cmocka_unit_test(test_cursor__each_truncation__fails_and_stays_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
