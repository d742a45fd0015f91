/*
 * test_shortcut - the strings of a shortcut, of one byte a character and of two.
 */
#include "core/base/base.h"
#include "core/message/archive/shortcut.h"

#include "tests/unit/archive/build.h"
#include "tests/unit/unit.h"

static void on_string(void *context, struct slice text)
{
    struct buf *b = context;
    buf_add(b, text);
    buf_add_char(b, '|');
}

static void check(struct slice file, const char *strings)
{
    struct buf got;
    buf_init(&got, BUILD_CAP);
    shortcut_read(file, on_string, &got);
    if (!slice_eq(buf_slice(&got), slice_str(strings))) {
        fail_msg("%.*s instead of %s", (int)got.n, got.p, strings);
    }
    buf_fini(&got);
}

#define BYTES(s) slice_of(s, sizeof(s) - 1)

static void test_shortcut__runs_of_either_width__are_told(void **state)
{
    (void)state;
    check(BYTES("L\0\0\0\1\2mshta http://a\0\1short\0"), "mshta http://a|");
    check(BYTES("\1\2h\0t\0t\0p\0:\0/\0/\0a\0\1\2"), "http://a|");
    check(BYTES("\1h\0t\0t\0p\0:\0/\0/\0a\0\1\2"), "http://a|");
    check(BYTES("w\0i\0d\0e\0 \0\r\0\n\0x\0"), "wide \r\nx|");
    check(BYTES(""), "");
}

static void test_shortcut__longer_than_is_kept__is_cut_at_a_blank(void **state)
{
    (void)state;
    struct buf file;
    struct buf got;
    buf_init(&file, BUILD_CAP);
    buf_init(&got, BUILD_CAP);
    for (size_t i = 0; i < SHORTCUT_STRING_MAX - 5; i++) {
        buf_add_char(&file, ' ');
    }
    buf_add_str(&file, "http://evil.example/path");
    shortcut_read(buf_slice(&file), on_string, &got);
    assert_true(slice_has_suffix_nocase(buf_slice(&got),
                                        SLICE_LIT(" |http://evil.example/path|")));
    buf_fini(&got);
    buf_fini(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shortcut__runs_of_either_width__are_told),
        cmocka_unit_test(test_shortcut__longer_than_is_kept__is_cut_at_a_blank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
