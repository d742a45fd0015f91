/*
 * test_beneath - folders by relative path: made with their owner, never through a link.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/backup/beneath.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { USER = 8, GROUP = 9, NAME = 300 };

static int folder_of(const struct tempdir *t)
{
    int fd = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

static void test_make__new_and_old_folders__then_only_the_new_ones_are_given(
    void **state)
{
    struct tempdir *t = *state;
    const bool is_root = geteuid() == 0;
    const struct beneath_owner owner = {.uid = is_root ? USER : (uid_t)-1,
                                        .gid = is_root ? GROUP : (gid_t)-1,
                                        .mode = 0750};
    struct stat st;
    int at = folder_of(t);

    assert_int_equal(mkdir(tempdir_file(t, "old"), 0700), 0);
    int fd = beneath_make(at, "old/a/b", &owner);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    (void)close(fd);
    assert_int_equal(st.st_mode & 07777, 0750);
    assert_int_equal(st.st_uid, is_root ? USER : geteuid());
    assert_int_equal(stat(tempdir_file(t, "old"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(st.st_uid, geteuid());
    fd = beneath_make(at, "own", NULL);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    (void)close(fd);
    assert_int_equal(st.st_mode & 07777, 0700);
    fd = beneath_open(at, "old/a/b");
    assert_true(fd >= 0);
    (void)close(fd);
    (void)close(at);
}

static void test_open__no_folder_on_the_way__then_refused(void **state)
{
    struct tempdir *t = *state;
    char longest[NAME] = "";
    int at = folder_of(t);

    assert_int_equal(mkdir(tempdir_file(t, "real"), 0700), 0);
    assert_int_equal(symlink("real", tempdir_file(t, "link")), 0);
    assert_int_equal(beneath_open(at, "none"), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(beneath_open(at, "link"), -1);
    assert_int_equal(errno, ENOTDIR);
    assert_int_equal(beneath_make(at, "link/a", NULL), -1);
    assert_int_equal(access(tempdir_file(t, "real/a"), F_OK), -1);
    memset(longest, 'x', sizeof(longest) - 1);
    assert_int_equal(beneath_make(at, longest, NULL), -1);
    assert_int_equal(errno, ENAMETOOLONG);
    (void)close(at);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_make__new_and_old_folders__then_only_the_new_ones_are_given),
        TEST(test_open__no_folder_on_the_way__then_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
