/* test_check_from_several - From with one domain and with two. */
#include "core/message/extract/extract.h"

#include "tests/unit/extract/limits.h"
#include "tests/unit/unit.h"

enum { ARENA = 64 << 20 };

static bool has_trait(const char *text)
{
    struct arena *arena = arena_new(ARENA);
    struct extract *x = extract_new(arena, &limits_default, NULL, 0);
    assert_non_null(x);
    extract_raw(x, slice_str(text));
    bool has =
        featureset_has(extract_finish(x), FEATURE_trait, SLICE_LIT("from_several"));
    arena_free(&arena);
    return has;
}

static void test_from_several__two_domains__found(void **state)
{
    (void)state;
    assert_true(has_trait("From: a@bank.com, b@evil.org\n\nx\n"));
    assert_true(has_trait("From: a@bank.com\nFrom: b@evil.org\n\nx\n"));
}

static void test_from_several__one_domain__not_found(void **state)
{
    (void)state;
    assert_false(has_trait("From: a@one.com, b@mail.one.com\n\nx\n"));
    assert_false(has_trait("\nFrom: a@one.com, b@two.com\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_several__two_domains__found),
        cmocka_unit_test(test_from_several__one_domain__not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
