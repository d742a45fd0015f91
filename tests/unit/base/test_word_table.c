/*
 * test_word_table - each word of a table is found, with its mark and text, and nothing else.
 */
#include "core/base/word_table.h"

#include "tests/unit/unit.h"

static const struct slice rows[] = {WORD_ROW("1.de a a.b! a1 ab"), WORD_ROW("b=B"),
                                    WORD_ROW("ba== bb!x c=")};

static void test_find__each_word__is_found_with_its_text(void **state)
{
    static const struct {
        const char *key;
        char mark;
        const char *text;
    } want[] = {
        {"1.de", '\0', ""}, {"a", '\0', ""},  {"a.b", '!', ""},
        {"a1", '\0', ""},   {"ab", '\0', ""}, {"b", '=', "B"},
        {"ba", '=', "="},   {"bb", '!', "x"}, {"c", '=', ""},
    };
    struct word word;
    (void)state;
    for (size_t i = 0; i < LENGTH(want); i++) {
        assert_true(word_find(rows, LENGTH(rows), slice_str(want[i].key), &word));
        assert_true(slice_eq(word.key, slice_str(want[i].key)));
        assert_int_equal(word.mark, want[i].mark);
        assert_true(slice_eq(word.text, slice_str(want[i].text)));
    }
}

static void test_find__other_words__are_not_found(void **state)
{
    static const char *const keys[] = {"",     "1",   "0",  "a.", "aa",
                                       "a.b!", "b=B", "bc", "c=", "d"};
    struct word word;
    (void)state;
    for (size_t i = 0; i < LENGTH(keys); i++) {
        assert_false(word_find(rows, LENGTH(rows), slice_str(keys[i]), &word));
    }
    assert_false(word_find(rows, 0, SLICE_LIT("a"), &word));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find__each_word__is_found_with_its_text),
        cmocka_unit_test(test_find__other_words__are_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
