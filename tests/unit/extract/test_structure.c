/*
 * test_structure - which HTML has the same structure.
 */
#include "core/base/base.h"
#include "core/message/extract/structure.h"

#include "tests/unit/unit.h"

enum { LONG = 5000 };

static void add(struct structure *s, const char *tags)
{
    struct slice rest = slice_str(tags);
    while (rest.p != NULL) {
        structure_tag(s, slice_cut(&rest, ' '));
    }
}

static bool sum_of(const char *head, const char *row, size_t nrows, const char *tail,
                   char rethex[SHA256_HEX + 1])
{
    struct structure s = {.n = 0};
    add(&s, head);
    for (size_t i = 0; i < nrows; i++) {
        add(&s, row);
    }
    add(&s, tail);
    return structure_end(&s, 1, rethex);
}

static void test_end__rows_that_repeat__count_once(void **state)
{
    static const char *const rows[] = {
        "tr", "tr td td", "tr td a img td p b a",
        "a b c d e f g h i j k l m n o p q r s t u v w x"};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char one[SHA256_HEX + 1];
        char many[SHA256_HEX + 1];
        assert_true(sum_of("html body table", rows[i], 1, "p hr", one));
        for (size_t n = 2; n < 60; n += 19) {
            assert_true(sum_of("html body table", rows[i], n, "p hr", many));
            assert_string_equal(one, many);
        }
        assert_true(sum_of("html body table", rows[i], LONG, "p div", many));
        assert_string_not_equal(one, many);
    }
}

static void test_end__another_order__is_another_structure(void **state)
{
    char a[SHA256_HEX + 1];
    char b[SHA256_HEX + 1];
    (void)state;
    assert_true(sum_of("html body", "p", 1, "table tr td", a));
    assert_true(sum_of("html body", "table", 1, "p tr td", b));
    assert_string_not_equal(a, b);
    assert_true(sum_of("html body", "p", 1, "table tr td", b));
    assert_string_equal(a, b);
}

/* Longer than the window, nothing repeated: the first and the last tag matter. */
static void test_end__more_tags_than_are_held__all_count(void **state)
{
    char sums[3][SHA256_HEX + 1];
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct structure s = {.n = 0};
        uint32_t x = 1;
        add(&s, k == 1 ? "body" : "html");
        for (size_t i = 0; i < LONG; i++) {
            char name[2];
            x = x * 1664525u + 1013904223u;
            name[0] = (char)('a' + (x >> 24) % 26);
            name[1] = (char)('a' + (x >> 16) % 26);
            structure_tag(&s, slice_of(name, 2));
        }
        add(&s, k == 2 ? "hr" : "br");
        assert_true(structure_end(&s, LONG / 2, sums[k]));
    }
    assert_string_not_equal(sums[0], sums[1]);
    assert_string_not_equal(sums[0], sums[2]);
}

static void test_end__few_tags__have_no_structure(void **state)
{
    struct structure s = {.n = 0};
    char hex[SHA256_HEX + 1];
    (void)state;
    add(&s, "html body p p p p p p p p p p");
    assert_int_equal(s.ntags, 3);
    assert_false(structure_end(&s, 4, hex));
    structure_fini(&s);
}

static int setup(void **state)
{
    (void)state;
    return base_init() == ERR_OK ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end__rows_that_repeat__count_once),
        cmocka_unit_test(test_end__another_order__is_another_structure),
        cmocka_unit_test(test_end__more_tags_than_are_held__all_count),
        cmocka_unit_test(test_end__few_tags__have_no_structure),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
