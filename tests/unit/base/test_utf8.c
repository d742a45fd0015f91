/*
 * test_utf8 - characters whole and cut, overlong forms, surrogates, past the last.
 */
#include <stdbool.h>
#include <string.h>

#include "core/base/utf8.h"

#include "tests/unit/unit.h"

static void test_length__of_what_begins__is_that_of_the_character(void **state)
{
    (void)state;
    static const struct {
        const char *bytes; /* and a NUL behind it */
        size_t length;
    } rows[] = {
        {"a", 1},
        {"\0", 1},
        {"\x7f", 1},
        {"\x80", 0},
        {"\xc1\xbf", 0}, /* overlong */
        {"\xc2\x80z", 2},
        {"\xc2", 0},
        {"\xc2z", 0},
        {"\xe0\x9f\xbf", 0}, /* overlong */
        {"\xe0\xa0\x80", 3},
        {"\xed\x9f\xbf", 3},
        {"\xed\xa0\x80", 0}, /* a surrogate */
        {"\xef\xbf\xbf", 3},
        {"\xef\xbf", 0},
        {"\xef\xbfz", 0},
        {"\xf0\x8f\xbf\xbf", 0}, /* overlong */
        {"\xf0\x90\x80\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\xf4\x90\x80\x80", 0}, /* past U+10FFFF */
        {"\xf5\x80\x80\x80", 0},
        {"\xff", 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t n = strlen(rows[i].bytes);
        size_t length =
            utf8_length((const unsigned char *)rows[i].bytes, n > 0 ? n : 1);

        assert_int_equal(length, rows[i].length);
    }
}

static void test_put__each_code_point__is_decoded_again(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= UTF8_CODE_MAX; code++) {
        char bytes[UTF8_MAX];
        uint32_t got = 0;
        size_t n = utf8_put(bytes, code);
        bool is_surrogate = code >= 0xd800 && code <= 0xdfff;

        assert_int_equal(utf8_decode(bytes, n, &got), is_surrogate ? 0 : n);
        assert_int_equal(got, is_surrogate ? 0 : code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_length__of_what_begins__is_that_of_the_character),
        cmocka_unit_test(test_put__each_code_point__is_decoded_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
