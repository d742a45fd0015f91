/*
 * test_thread - a started thread gets no signals, and its starter gets them as before.
 */
#include <signal.h>

#include "core/base/thread.h"

#include "tests/unit/unit.h"

static void *look_at_mask(void *context)
{
    (void)pthread_sigmask(SIG_SETMASK, NULL, context);
    return NULL;
}

static void test_start__mask__is_full_there_and_unchanged_here(void **state)
{
    sigset_t there;
    sigset_t here;
    pthread_t thread;
    (void)state;

    (void)sigemptyset(&there);
    assert_int_equal(thread_start(&thread, look_at_mask, &there), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(sigismember(&there, SIGTERM), 1);
    assert_int_equal(sigismember(&there, SIGUSR1), 1);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &here);
    assert_int_equal(sigismember(&here, SIGTERM), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start__mask__is_full_there_and_unchanged_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
