/*
 * test_ubiquity - what becomes common, and what gives way when there is no room.
 */
#include "core/extract/ubiquity.h"

#include "tests/unit/unit.h"

static void test_learn__different_senders__makes_common(void **state)
{
    struct ubiquity *u = ubiquity_new(1000);
    (void)state;
    for (uint64_t sender = 1; sender < UBIQUITY_SENDERS; sender++) {
        assert_false(ubiquity_learn(u, 77, sender));
        assert_false(
            ubiquity_learn(u, 77, sender)); /* one sender alone makes nothing */
        assert_false(ubiquity_has(u, 77));
    }
    assert_true(ubiquity_learn(u, 77, UBIQUITY_SENDERS));
    assert_true(ubiquity_has(u, 77));
    assert_true(ubiquity_learn(u, 77, 1));
    assert_false(ubiquity_has(u, 78));
    ubiquity_free(&u);
    assert_null(u);
    ubiquity_free(&u);
}

static void test_learn__zero__is_nothing(void **state)
{
    struct ubiquity *u = ubiquity_new(1);
    (void)state;
    for (uint64_t sender = 1; sender <= 2 * UBIQUITY_SENDERS; sender++) {
        assert_false(ubiquity_learn(u, 0, sender));
    }
    assert_false(ubiquity_has(u, 0));
    ubiquity_free(&u);
}

/* One bucket: whatever comes, what is common stays. */
static void test_learn__without_room__rare_ones_give_way(void **state)
{
    struct ubiquity *u = ubiquity_new(1);
    (void)state;
    for (uint64_t sender = 1; sender <= UBIQUITY_SENDERS; sender++) {
        (void)ubiquity_learn(u, 5, sender);
    }
    for (uint64_t shingle = 100; shingle < 10000; shingle++) {
        (void)ubiquity_learn(u, shingle, shingle);
    }
    assert_true(ubiquity_has(u, 5));
    for (uint64_t shingle = 10; shingle < 10 + UBIQUITY_WAYS; shingle++) {
        for (uint64_t sender = 1; sender <= UBIQUITY_SENDERS; sender++) {
            (void)ubiquity_learn(u, shingle, sender);
        }
    }
    assert_true(ubiquity_has(u, 10) && ubiquity_has(u, 11));
    ubiquity_free(&u);
}

static void test_new__too_many__is_none(void **state)
{
    (void)state;
    assert_null(ubiquity_new((size_t)UBIQUITY_SHINGLES_MAX + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learn__different_senders__makes_common),
        cmocka_unit_test(test_learn__zero__is_nothing),
        cmocka_unit_test(test_learn__without_room__rare_ones_give_way),
        cmocka_unit_test(test_new__too_many__is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
