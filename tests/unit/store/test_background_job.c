/* test_behind - jobs behind the owner's back: each is done once, in order, before it is waited for. */
#include <sys/resource.h>
#include <time.h>

#include "core/store/background_job.h"

#include "tests/unit/unit.h"

enum { JOBS = 200 };

struct list {
    unsigned done[JOBS];
    unsigned n;
    pthread_t by;
    struct timespec pause;
};

struct job {
    struct list *list;
    unsigned number;
};

static void note(void *context)
{
    struct job *j = context;
    (void)nanosleep(&j->list->pause, NULL);
    j->list->by = pthread_self();
    j->list->done[j->list->n++] = j->number;
}

static void test_jobs__one_after_the_other__done_in_order(void **state)
{
    (void)state;
    struct background_job b;
    struct list list = {.n = 0};
    struct job job[JOBS];
    background_job_init(&b);
    background_job_wait(&b); /* nothing to wait for */
    for (unsigned i = 0; i < JOBS; i++) {
        job[i] = (struct job){&list, i};
        background_job_start(&b, note, &job[i]);
        if (i % 3 == 0) {
            background_job_wait(&b);
            assert_int_equal(list.n, i + 1);
            assert_false(pthread_equal(list.by, pthread_self()));
        }
    }
    background_job_wait(&b);
    assert_int_equal(list.n, JOBS);
    for (unsigned i = 0; i < JOBS; i++) {
        assert_int_equal(list.done[i], i);
    }
    background_job_fini(&b);
}

static void test_fini__job_under_way__is_finished(void **state)
{
    (void)state;
    struct background_job b;
    struct list list = {.pause = {0, 20 * 1000 * 1000}};
    struct job job = {&list, 7};
    background_job_init(&b);
    background_job_start(&b, note, &job);
    background_job_fini(&b);
    assert_int_equal(list.n, 1);
    background_job_init(&b);
    background_job_fini(&b); /* no thread was made */
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static void test_start__no_thread_to_be_had__done_at_once(void **state)
{
    (void)state;
    struct rlimit old;
    struct background_job b;
    struct list list = {.n = 0};
    struct job job = {&list, 7};
    background_job_init(&b);
    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
    const struct rlimit none = {1024 * 1024, old.rlim_max}; /* no stack fits */
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    background_job_start(&b, note, &job);
    unsigned done = list.n;
    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
    assert_int_equal(done, 1);
    background_job_fini(&b);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(test_start__no_thread_to_be_had__done_at_once),
#endif
        cmocka_unit_test(test_jobs__one_after_the_other__done_in_order),
        cmocka_unit_test(test_fini__job_under_way__is_finished),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
