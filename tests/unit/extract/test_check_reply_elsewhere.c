/* test_check_reply_elsewhere - Reply-To with and without the domain of From. */
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
        featureset_has(extract_finish(x), FEATURE_trait, SLICE_LIT("reply_elsewhere"));
    arena_free(&arena);
    return has;
}

static void test_reply_elsewhere__another_domain__found(void **state)
{
    (void)state;
    assert_true(has_trait("From: a@bank.example.com\nReply-To: b@evil.org\n\nx\n"));
    assert_true(has_trait("From: a@one.com\nReply-To: a@one.com, b@evil.org\n\nx\n"));
}

static void test_reply_elsewhere__same_domain_or_none__not_found(void **state)
{
    (void)state;
    assert_false(has_trait("From: a@mail.one.com\nReply-To: b@help.one.com\n\nx\n"));
    assert_false(has_trait("From: a@one.com\n\nx\n"));
    assert_false(has_trait("Reply-To: b@evil.org\n\nx\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reply_elsewhere__another_domain__found),
        cmocka_unit_test(test_reply_elsewhere__same_domain_or_none__not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
