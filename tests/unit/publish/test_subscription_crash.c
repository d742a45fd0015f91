/* test_subscription_crash - a publisher or a subscriber ends at any of its changes to the disk; the next one goes on. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/publish/follower.h"
#include "tests/unit/unit.h"

enum { FINISHED = 7, FAILED = 8, OPERATIONS_MAX = 2000 };

/* The process ends before its so manyth operation; 0: never. */
static unsigned ends_at;
static unsigned operations;

static void count_operation(void)
{
    if (ends_at != 0 && ++operations == ends_at) {
        _exit(0);
    }
}

/* In the place of the C library's, in this program. */
int rename(const char *from, const char *to)
{
    count_operation();
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path)
{
    count_operation();
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int fsync(int fd)
{
    count_operation();
    return (int)syscall(SYS_fsync, fd);
}

int mkdir(const char *path, mode_t mode)
{
    count_operation();
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

static enum err round_of(struct follower *f, struct errinfo *reterr)
{
    const char *place = f->place;
    return follower_round(f, &place, 1, reterr);
}

static enum err publish(struct follower *f, struct errinfo *reterr)
{
    return follower_publish(f, false, reterr);
}

/* Does it in a process that ends at operation n. True: it came to its end before. */
static bool crash_at(struct follower *f, unsigned n,
                     enum err (*what)(struct follower *f, struct errinfo *reterr))
{
    struct errinfo why;
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        ends_at = n;
        _exit(what(f, &why) == ERR_OK ? FINISHED : FAILED);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_not_equal(WEXITSTATUS(status), FAILED);
    return WEXITSTATUS(status) == FINISHED;
}

static void begin(struct follower *f, bool is_first)
{
    struct errinfo why;
    follower_init(f, 21);
    follower_change(f, 100);
    if (!is_first) {
        assert_int_equal(publish(f, &why), ERR_OK);
        assert_int_equal(round_of(f, &why), ERR_OK);
        f->now_ms += 1000;
        follower_change(f, 40);
    }
    follower_close(f);
}

static void crash_publisher(bool is_first)
{
    bool is_over = false;
    for (unsigned n = 1; !is_over; n++) {
        struct follower f;
        struct errinfo why;
        assert_true(n < OPERATIONS_MAX);
        begin(&f, is_first);
        is_over = crash_at(&f, n, publish);
        if (!is_first) { /* whatever the place has, it can be followed */
            assert_int_equal(round_of(&f, &why), ERR_OK);
        }
        f.now_ms += 1000;
        assert_int_equal(publish(&f, &why), ERR_OK);
        assert_int_equal(round_of(&f, &why), ERR_OK);
        follower_assert_same(&f);
        follower_fini(&f);
        if (is_over) {
            print_message("%u operations\n", n - 1);
        }
    }
}

static void crash_subscriber(bool is_first)
{
    bool is_over = false;
    for (unsigned n = 1; !is_over; n++) {
        struct follower f;
        struct errinfo why;
        assert_true(n < OPERATIONS_MAX);
        begin(&f, is_first);
        assert_int_equal(publish(&f, &why), ERR_OK);
        is_over = crash_at(&f, n, round_of);
        assert_int_equal(round_of(&f, &why), ERR_OK);
        follower_assert_same(&f);
        follower_fini(&f);
        if (is_over) {
            print_message("%u operations\n", n - 1);
        }
    }
}

static void test_publish__when_killed_at_any_operation__then_the_next_goes_on(
    void **state)
{
    (void)state;
    crash_publisher(true);
    crash_publisher(false);
}

static void test_follow__when_killed_at_any_operation__then_the_next_goes_on(
    void **state)
{
    (void)state;
    crash_subscriber(true);
    crash_subscriber(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_publish__when_killed_at_any_operation__then_the_next_goes_on),
        cmocka_unit_test(
            test_follow__when_killed_at_any_operation__then_the_next_goes_on),
    };
    return cmocka_run_group_tests_name("subscription_crash", tests, NULL, NULL);
}
