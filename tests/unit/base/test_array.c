/*
 * test_array - growth keeps what is there and stops at its bound.
 */
#include "core/base/array.h"

#include "tests/unit/unit.h"

static void test_room__one_by_one__doubles_and_keeps(void **state)
{
    uint32_t *v = NULL;
    size_t room = 0;
    unsigned grown = 0;
    (void)state;

    for (uint32_t n = 0; n < 1000; n++) {
        const size_t before = room;

        assert_true(array_room(&v, &room, n + 1, 1000, sizeof(*v)));
        assert_true(room > n && room <= 1000);
        grown += room != before;
        v[n] = n;
    }
    assert_true(grown <= 8);
    for (uint32_t n = 0; n < 1000; n++) {
        assert_int_equal(v[n], n);
    }
    assert_false(array_room(&v, &room, 1001, 1000, sizeof(*v)));
    assert_int_equal(room, 1000);
    assert_int_equal(v[999], 999);
    free(v);
}

static void test_room__bounds_and_sizes__are_kept(void **state)
{
    char *v = NULL;
    size_t room = 0;
    (void)state;

    assert_true(array_room(&v, &room, 0, 10, 1));
    assert_null(v);
    assert_true(array_room(&v, &room, 3, 3, 1));
    assert_int_equal(room, 3);
    assert_true(array_room(&v, &room, 100, SIZE_MAX, 1));
    assert_int_equal(room, 100);
    assert_false(array_room(&v, &room, SIZE_MAX / 2, SIZE_MAX, 4)); /* overflows */
    assert_int_equal(room, 100);
    free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room__one_by_one__doubles_and_keeps),
        cmocka_unit_test(test_room__bounds_and_sizes__are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
