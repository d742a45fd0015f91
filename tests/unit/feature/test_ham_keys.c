/* test_ham_keys - keys of good mail in the ham log. */
#include "core/base/base.h"
#include "core/message/feature/ham_keys.h"

#include "tests/unit/unit.h"

enum { ARENA = 1 << 20, FEATURES_MAX = 8 };

/* How many keys a message with this one feature leaves. */
static size_t keys_of(enum feature_type type, const char *text)
{
    static const struct hashkey key = {.id = 1, .bytes = "any sixteen byte"};
    struct arena *arena = arena_new(ARENA);
    struct featureset *fs = featureset_new(arena, FEATURES_MAX);
    struct ham_log_message m = {.n = 0};

    assert_true(featureset_add(fs, type, slice_str(text)));
    assert_int_equal(ham_keys_gather(fs, 0, &key, arena, &m), 1);
    arena_free(&arena);
    return m.n;
}

static void test_witness_gather__what_is_counted__remembered(void **state)
{
    (void)state;
    assert_int_not_equal(keys_of(FEATURE_url_host, "a.example"), 0);
    assert_int_not_equal(keys_of(FEATURE_url, "a.example/x"), 0);
}

static void test_witness_gather__looked_up_only__not_learnt_from(void **state)
{
    (void)state;
    assert_int_equal(keys_of(FEATURE_bare_host, "a.example"), 0);
    assert_int_equal(keys_of(FEATURE_field_url, "a.example/x"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_witness_gather__what_is_counted__remembered),
        cmocka_unit_test(test_witness_gather__looked_up_only__not_learnt_from),
    };

    return base_init() != ERR_OK ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
