/*
 * test_dir_walk - names of a folder; missing folders and failed loops.
 */
#include "core/base/dir_walk.h"
#include "core/base/file.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

static void test_walk__files_and_a_folder__are_named_without_dot_and_dotdot(
    void **state)
{
    struct tempdir *t = *state;
    unsigned n = 0;
    unsigned files = 0;
    unsigned hidden = 0;
    unsigned folders = 0;

    assert_int_equal(mkdir(tempdir_file(t, "sub"), 0700), 0);
    assert_int_equal(
        file_write_atomic(tempdir_file(t, "f"), SLICE_LIT("x"), 0600, NULL), ERR_OK);
    assert_int_equal(
        file_write_atomic(tempdir_file(t, ".hidden"), SLICE_LIT("x"), 0600, NULL),
        ERR_OK);
    struct dir_walk w = dir_walk_begin(t->path, DIR_NEEDED);
    while (dir_walk_next(&w)) {
        files += w.type == DT_REG && strcmp(w.name, "f") == 0;
        folders += w.type == DT_DIR && strcmp(w.name, "sub") == 0;
        hidden += strcmp(w.name, ".hidden") == 0;
        n++;
    }
    assert_false(dir_walk_next(&w));
    assert_int_equal(dir_walk_end(&w, ERR_OK, NULL), ERR_OK);
    assert_false(dir_walk_next(&w));
    assert_int_equal(n, 3);
    assert_int_equal(files, 1);
    assert_int_equal(hidden, 1);
    assert_int_equal(folders, 1);
}

static void test_walk__missing_folder__is_an_error_or_empty(void **state)
{
    struct tempdir *t = *state;
    struct errinfo why = {.text = ""};
    const char *path = tempdir_file(t, "none");

    struct dir_walk w = dir_walk_begin(path, DIR_OPTIONAL);
    assert_false(dir_walk_next(&w));
    assert_int_equal(dir_walk_end(&w, ERR_OK, &why), ERR_OK);
    w = dir_walk_begin(path, DIR_NEEDED);
    assert_false(dir_walk_next(&w));
    assert_int_equal(dir_walk_end(&w, ERR_OK, &why), ERR_NOT_FOUND);
    assert_string_equal(why.source, path);
    assert_string_equal(why.text, "cannot list the folder: No such file or directory");
    w = dir_walk_begin("/dev/null", DIR_OPTIONAL);
    assert_false(dir_walk_next(&w));
    assert_int_not_equal(dir_walk_end(&w, ERR_OK, &why), ERR_OK);
}

static void test_walk__open_folder__is_listed_and_closed(void **state)
{
    struct tempdir *t = *state;
    int fd = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_int_equal(mkdir(tempdir_file(t, "sub"), 0700), 0);
    struct dir_walk w = dir_walk_fd(fd, "name");
    assert_true(dir_walk_next(&w));
    assert_string_equal(w.name, "sub");
    assert_int_equal(dir_walk_end(&w, ERR_OK, NULL), ERR_OK);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    errno = ENOENT;
    w = dir_walk_fd(-1, "name");
    assert_false(dir_walk_next(&w));
    assert_int_equal(dir_walk_end(&w, ERR_OK, NULL), ERR_NOT_FOUND);
}

static void test_end__loop_failed__its_error_stays(void **state)
{
    struct tempdir *t = *state;
    struct errinfo why = {.text = "of the loop"};
    struct dir_walk w = dir_walk_begin(tempdir_file(t, "none"), DIR_NEEDED);

    assert_int_equal(dir_walk_end(&w, ERR_RANGE, &why), ERR_RANGE);
    assert_string_equal(why.text, "of the loop");
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_walk__files_and_a_folder__are_named_without_dot_and_dotdot),
        TEST(test_walk__missing_folder__is_an_error_or_empty),
        TEST(test_walk__open_folder__is_listed_and_closed),
        TEST(test_end__loop_failed__its_error_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
