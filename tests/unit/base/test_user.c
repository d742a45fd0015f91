/*
 * test_user - names and numbers of users and groups.
 */
#include "core/base/user.h"

#include "tests/unit/unit.h"

static void test_root__by_name_and_number__is_found(void **state)
{
    char name[USER_NAME_BYTES];
    uid_t uid = 7;
    gid_t gid = 7;
    (void)state;

    assert_true(user_find("root", &uid, &gid));
    assert_int_equal(uid, 0);
    assert_int_equal(gid, 0);
    gid = 7;
    assert_true(group_find("root", &gid));
    assert_int_equal(gid, 0);
    assert_string_equal(user_name(0, name), "root");
    assert_string_equal(group_name(0, name), "root");
}

static void test_unknown__by_name_and_number__is_told(void **state)
{
    char name[USER_NAME_BYTES];
    uid_t uid = 7;
    gid_t gid = 7;
    (void)state;

    assert_false(user_find("no-such-user", &uid, &gid));
    assert_false(group_find("no-such-group", &gid));
    assert_int_equal(uid, 7);
    assert_int_equal(gid, 7);
    assert_string_equal(user_name(3999999999, name), "3999999999");
    assert_string_equal(group_name(3999999999, name), "3999999999");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_root__by_name_and_number__is_found),
        cmocka_unit_test(test_unknown__by_name_and_number__is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
