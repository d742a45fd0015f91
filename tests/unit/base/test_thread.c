/*
 * test_thread - a started thread gets no signals, and its starter gets them as before; waits and
 * tickers end in time.
 */
#include <signal.h>
#include <stdatomic.h>

#include "core/base/ticker.h"

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

static void test_wait__nobody_calls__then_it_ends(void **state)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    const struct timespec now = thread_deadline(0);
    const struct timespec later = thread_deadline(1999);

    (void)state;
    assert_in_range(later.tv_nsec, 0, 999999999);
    assert_true((later.tv_sec - now.tv_sec) * 1000 +
                    (later.tv_nsec - now.tv_nsec) / 1000000 >=
                1999);
    (void)pthread_mutex_lock(&mutex);
    while (thread_wait(&condition, &mutex, &now)) {
    }
    (void)pthread_mutex_unlock(&mutex);
}

struct bell {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    bool rang;
};

static void *ring_bell(void *context)
{
    struct bell *b = context;

    (void)pthread_mutex_lock(&b->mutex);
    b->rang = true;
    (void)pthread_cond_signal(&b->condition);
    (void)pthread_mutex_unlock(&b->mutex);
    return NULL;
}

static void test_wait__somebody_calls__then_before_its_end(void **state)
{
    struct bell b = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    const struct timespec until =
        thread_deadline(3600 * 1000); /* longer than a test may take */
    pthread_t thread;

    (void)state;
    (void)pthread_mutex_lock(&b.mutex);
    assert_int_equal(thread_start(&thread, ring_bell, &b), 0);
    while (!b.rang) {
        assert_true(thread_wait(&b.condition, &b.mutex, &until));
    }
    (void)pthread_mutex_unlock(&b.mutex);
    (void)pthread_join(thread, NULL);
}

struct calls {
    _Atomic unsigned n;
};

static void count_call(void *context)
{
    struct calls *calls = context;

    atomic_fetch_add(&calls->n, 1);
}

static void await_calls(struct calls *calls, unsigned n)
{
    while (atomic_load(&calls->n) < n) {
        usleep(1000);
    }
}

static void test_ticker__called_amid_a_long_rest__then_again_at_once(void **state)
{
    struct ticker t = {.fn = NULL};
    struct calls calls = {0};

    (void)state;
    ticker_stop(&t); /* that never began */
    assert_true(ticker_start(&t, count_call, &calls, 3600 * 1000));
    await_calls(&calls, 1);
    ticker_call(&t);
    await_calls(&calls, 2);
    assert_false(ticker_stops(&t));
    ticker_stop(&t);
    assert_int_equal(atomic_load(&calls.n), 2);
}

static void test_ticker__short_rest__then_on_and_on(void **state)
{
    struct ticker t = {.fn = NULL};
    struct calls calls = {0};

    (void)state;
    assert_true(ticker_start(&t, count_call, &calls, 1));
    await_calls(&calls, 5);
    ticker_stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ticker__called_amid_a_long_rest__then_again_at_once),
        cmocka_unit_test(test_ticker__short_rest__then_on_and_on),
        cmocka_unit_test(test_wait__nobody_calls__then_it_ends),
        cmocka_unit_test(test_wait__somebody_calls__then_before_its_end),
        cmocka_unit_test(test_start__mask__is_full_there_and_unchanged_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
