/*
 * test_trial - a call in a child process as another user.
 */
#include "core/base/trial.h"

#include "tests/unit/unit.h"

static int check_uid(const void *uid)
{
    return geteuid() == *(const uid_t *)uid && getuid() == geteuid() ? 0 : EPERM;
}

static int fail_here(const void *context)
{
    (void)context;
    return ENOTTY;
}

static void test_call__as_a_user__has_its_ids_and_gives_its_result(void **state)
{
    const uid_t own = geteuid();
    const uid_t other = own == 0 ? 65534 : own;
    struct trial_user user;
    (void)state;

    assert_true(trial_user_of(other, &user));
    assert_int_equal(trial_call(&user, check_uid, &other), 0);
    assert_int_equal(trial_call(&user, fail_here, NULL), ENOTTY);
    assert_int_equal(geteuid(), own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call__as_a_user__has_its_ids_and_gives_its_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
