/*
 * test_visible - characters that nobody sees, or that turn others, become codes; all others stay.
 */
#include <string.h>

#include "core/base/visible.h"

#include "tests/unit/unit.h"

static void test_is__of_each_kind__then_false(void **state)
{
    (void)state;
    static const uint32_t unseen[] = {
        0x00,    0x0a,    0x1b,    0x7f,    0x85,   0x9f,   0xad,    0x34f,
        0x61c,   0x115f,  0x180e,  0x200b,  0x200d, 0x200e, 0x200f,  0x2028,
        0x2029,  0x202a,  0x202e,  0x2060,  0x2066, 0x2069, 0x2800,  0x3164,
        0xfe00,  0xfe0f,  0xfeff,  0xffa0,  0xfff9, 0xffff, 0x13430, 0x1d173,
        0xe0001, 0xe0020, 0xe007f, 0xe0100, 0xe01ef};
    static const uint32_t seen[] = {' ',    'a',    '~',     0xa1,    0xe4,   0x416,
                                    0x5d0,  0x627,  0x2010,  0x202f,  0x2070, 0x4e2d,
                                    0xfffd, 0xac00, 0x1f600, 0x10ffff};

    for (size_t i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++) {
        assert_false(visible_is(unseen[i]));
    }
    for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
        assert_true(visible_is(seen[i]));
    }
}

static void test_print__mixed__then_codes_in_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *from;
        const char *to;
    } rows[] = {
        {"", ""},
        {"plain text", "plain text"},
        {"M\xc3\xbcller", "M\xc3\xbcller"},
        {"invoice\xe2\x80\xae"
         "fdp.exe",
         "invoice<U+202E>fdp.exe"},
        {"bank\xe2\x80\x8b.example", "bank<U+200B>.example"},
        {"a\xf3\xa0\x81\xa1", "a<U+E0061>"},
        {"a\nb\x1b[0m", "a<U+000A>b<U+001B>[0m"},
        {"\xff\xe2\x80", "\\xff\\xe2\\x80"},
        {"\xc2\x85", "<U+0085>"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char dst[100];
        size_t n = visible_print(dst, sizeof(dst), slice_str(rows[i].from));

        assert_string_equal(dst, rows[i].to);
        assert_int_equal(n, strlen(rows[i].to));
    }
}

/* Every size: never more, never half a code, and the dots show that something is missing. */
static void test_print__into_any_room__then_whole_characters_and_dots(void **state)
{
    (void)state;
    static const char text[] = "ab\xe2\x80\xae"
                               "c\xc3\xbc"
                               "d\xff";
    static const char whole[] = "ab<U+202E>c\xc3\xbc"
                                "d\\xff";

    for (size_t size = 4; size <= sizeof(whole) + 2; size++) {
        char dst[sizeof(whole) + 4];

        memset(dst, 'X', sizeof(dst));
        size_t n = visible_print(dst, size, slice_str(text));
        assert_true(n < size);
        assert_int_equal(strlen(dst), n);
        assert_int_equal(dst[size], 'X');
        if (size >= sizeof(whole)) {
            assert_string_equal(dst, whole);
        } else {
            assert_string_equal(dst + n - 3, "...");
            assert_memory_equal(dst, whole, n - 3);
            assert_true(n == 3 || whole[n - 4] != '<');
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is__of_each_kind__then_false),
        cmocka_unit_test(test_print__mixed__then_codes_in_their_place),
        cmocka_unit_test(test_print__into_any_room__then_whole_characters_and_dots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
