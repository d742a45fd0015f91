/*
 * test_text - text of strangers, as it is shown on a terminal.
 */
#include <stdlib.h>
#include <string.h>

#include "core/cli/print.h"

#include "tests/unit/unit.h"

static void assert_printed(const char *from, const char *printed, const char *shown)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);

    assert_non_null(to);
    text_print(to, slice_str(from), 100);
    (void)fputc('|', to);
    text_show(to, from);
    (void)fclose(to);
    char *bar = strchr(text, '|');
    *bar = '\0';
    assert_string_equal(text, printed);
    assert_string_equal(bar + 1, shown);
    free(text);
}

static void test_text__with_characters_that_nobody_sees__then_codes(void **state)
{
    (void)state;
    assert_printed("a b", "a b", "a b");
    assert_printed("in\xe2\x80\xae"
                   "exe",
                   "in<U+202E>exe", "in<U+202E>exe");
    assert_printed("\xc3\xbc\xe2\x80\x8b", "\\xc3\\xbc<U+200B>", "\xc3\xbc<U+200B>");
    assert_printed("a\nb\x1b", "a\\x0ab\\x1b", "a\nb<U+001B>");
    assert_printed("\xff\xe2", "\\xff\\xe2", "\\xff\\xe2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text__with_characters_that_nobody_sees__then_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
