/* test_suffix - both queries, cached answers, invalid names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/message/url/suffix.h"

#include "tests/unit/unit.h"

struct row {
    const char *name;
    const char *registrable;
    const char *registered;
};

static void check(const struct row *row)
{
    struct slice name = slice_str(row->name);

    assert_int_equal(suffix_registrable(name), strlen(row->registrable));
    assert_int_equal(suffix_registered(name), strlen(row->registered));
}

static void test_suffix__asked_again__same_answers(void **state)
{
    static const struct row rows[] = {
        {"a.b.example.co.uk", "example.co.uk", "example.co.uk"},
        {"co.uk", "", ""},
        {"com", "", ""},
        {"user.github.io", "user.github.io", "github.io"},
        {"a.unknowntop", "a.unknowntop", ""},
        {"x.example.com", "example.com", "example.com"},
        {".com", "", ""},
    };
    (void)state;
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            check(&rows[i]);
        }
    }
}

/* "*.NAME" alone makes no suffix of NAME, though nobody may list it as one owner's. */
static void test_suffix__parent_of_a_wildcard__is_registrable(void **state)
{
    static const struct row rows[] = {
        {"kobe.jp", "kobe.jp", "kobe.jp"},
        {"a.kobe.jp", "", ""},
        {"b.a.kobe.jp", "b.a.kobe.jp", "b.a.kobe.jp"},
        {"city.kobe.jp", "city.kobe.jp", "city.kobe.jp"},
        {"compute.amazonaws.com", "amazonaws.com", "amazonaws.com"},
        {"ex.futurecms.at", "", "futurecms.at"}, /* both have a wildcard */
        {"futurecms.at", "futurecms.at", "futurecms.at"},
        {"ck", "", ""},
        {"a.ck", "", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check(&rows[i]);
    }
    assert_true(suffix_is_public(SLICE_LIT("kobe.jp")));
}

/* More names than are remembered: none gets another one's answer. */
static void test_suffix__many_names__each_its_own(void **state)
{
    char name[64];
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 20000; i++) {
            int n =
                snprintf(name, sizeof(name), "h.x%d.%s", i, i % 2 ? "co.uk" : "com");
            assert_int_equal(suffix_registrable(slice_of(name, (size_t)n)), n - 2);
        }
    }
}

static void test_suffix__no_name__none(void **state)
{
    char name[SUFFIX_NAME_MAX + 1];
    (void)state;
    memset(name, 'a', sizeof(name));
    name[sizeof(name) - 4] = '.';
    assert_int_equal(suffix_registrable(slice_of(name, sizeof(name))), 0);
    assert_int_equal(suffix_registrable(slice_from(slice_of(name, sizeof(name)), 1)),
                     SUFFIX_NAME_MAX);
    assert_int_equal(suffix_registrable(SLICE_LIT("a\0b.com")), 0);
    assert_int_equal(suffix_registered(SLICE_NONE), 0);
    assert_false(suffix_is_public(SLICE_NONE));
    assert_true(suffix_is_public(SLICE_LIT("co.uk")));
    assert_true(suffix_is_top(SLICE_LIT("com")));
    assert_false(suffix_is_top(SLICE_LIT("unknowntop")));
}

/* The last test: the list stays. */
static void test_suffix_load__file__its_rules_from_now_on(void **state)
{
    char path[] = "/tmp/gillnet-test-XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");
    (void)state;
    assert_non_null(f);
    assert_true(fputs("// ===BEGIN ICANN DOMAINS===\nunknowntop\nb.unknowntop\n"
                      "// ===END ICANN DOMAINS===\n",
                      f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(suffix_registrable(SLICE_LIT("x.a.b.unknowntop")), 12);
    assert_false(suffix_load("/nonexistent/list"));
    assert_int_equal(suffix_registrable(SLICE_LIT("x.a.b.unknowntop")), 12);
    assert_true(suffix_load(path));
    assert_int_equal(suffix_registrable(SLICE_LIT("x.a.b.unknowntop")), 14);
    assert_true(suffix_is_top(SLICE_LIT("unknowntop")));
    assert_false(suffix_is_top(SLICE_LIT("com")));
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suffix__asked_again__same_answers),
        cmocka_unit_test(test_suffix__parent_of_a_wildcard__is_registrable),
        cmocka_unit_test(test_suffix__many_names__each_its_own),
        cmocka_unit_test(test_suffix__no_name__none),
        cmocka_unit_test(test_suffix_load__file__its_rules_from_now_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
