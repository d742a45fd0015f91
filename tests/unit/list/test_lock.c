/* A command that starts while the lists are being changed waits, prints that, and then runs. */
#include <pthread.h>

#include "core/list/lock.h"

#include "tests/unit/list/list_fixture.h"

struct other {
    struct fixture *f;
    struct list_writer *w;
    atomic_bool may_close;
};

static void *close_later(void *context)
{
    struct other *o = context;

    while (!atomic_load(&o->may_close)) {
        (void)usleep(1000);
    }
    list_writer_close(&o->w);
    return NULL;
}

/* The message of the waiting command lets the other continue. */
static void on_wait(void *context, const struct errinfo *who)
{
    struct other *o = context;

    assert_int_equal(who->code, ERR_LOCKED);
    assert_non_null(strstr(who->text, "process "));
    assert_false(atomic_load(&o->may_close));
    atomic_store(&o->may_close, true);
}

static void test_list_writer_open_waiting__held__says_so_and_has_its_turn(void **state)
{
    struct fixture *f = *state;
    struct other o = {.f = f, .w = open_writer(f)};
    const struct list_lock_wait wait = {.most_s = 60, .say = on_wait, .context = &o};
    struct list_writer *w = NULL;
    pthread_t thread;

    atomic_init(&o.may_close, false);
    assert_int_equal(pthread_create(&thread, NULL, close_later, &o), 0);
    MUST(f,
         list_writer_open_waiting(f->state, NAME, &f->keys, true, &wait, &w, &f->info));
    assert_true(atomic_load(&o.may_close));
    assert_int_equal(pthread_join(thread, NULL), 0);
    list_writer_close(&w);
}

static void test_list_writer_open_waiting__too_long_or_stopped__locked(void **state)
{
    struct fixture *f = *state;
    struct list_writer *other = open_writer(f);
    struct list_writer *w = NULL;
    atomic_bool stop;
    const struct list_lock_wait none = {.most_s = 0};
    const struct list_lock_wait stopped = {.most_s = 3600, .stop = &stop};

    atomic_init(&stop, true);
    assert_int_equal(
        list_writer_open_waiting(f->state, NAME, &f->keys, true, &none, &w, &f->info),
        ERR_LOCKED);
    assert_non_null(strstr(f->info.text, "process "));
    assert_int_equal(list_writer_open_waiting(f->state, NAME, &f->keys, true, &stopped,
                                              &w, &f->info),
                     ERR_LOCKED);
    assert_null(w);
    list_writer_close(&other);
    /* another trouble is not waited for */
    assert_int_equal(list_writer_open_waiting(f->state, SLICE_LIT("../x"), &f->keys,
                                              true, &stopped, &w, &f->info),
                     ERR_SYNTAX);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_list_writer_open_waiting__held__says_so_and_has_its_turn),
        TEST(test_list_writer_open_waiting__too_long_or_stopped__locked),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
