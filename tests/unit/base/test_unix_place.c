/*
 * test_unix_place - a control socket listens with its rights, and only its maker removes it.
 * The steps of unix_place have their tests in tests/unit/milter/test_socket.c.
 */
#include "core/base/file.h"
#include "core/base/unix_place.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

static void test_listen__free_place__is_taken_once(void **state)
{
    struct tempdir *t = *state;
    const char *path = tempdir_file(t, "ctl");
    struct unix_place place;
    struct unix_place other;
    struct errinfo why = {.text = ""};
    struct stat st;
    int fd = -1;
    int none = -1;

    assert_int_equal(unix_place_listen(&place, path, "key", 8, &fd, &why), ERR_OK);
    assert_true(fd >= 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0660);
    assert_int_equal(unix_place_listen(&other, path, "key", 8, &none, &why),
                     ERR_EXISTS);
    assert_int_equal(none, -1);
    unix_place_remove(&place);
    assert_int_equal(stat(path, &st), -1);
    fd_close(&fd);
}

static void test_listen__long_path__names_the_key(void **state)
{
    char path[SOCKET_PATH_MAX + 2];
    struct unix_place place;
    struct errinfo why = {.text = ""};
    int fd = 7;
    (void)state;

    memset(path, 'p', sizeof(path));
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(
        unix_place_listen(&place, path, "hub.control_socket", 8, &fd, &why), ERR_LIMIT);
    assert_non_null(strstr(why.text, "set hub.control_socket to a shorter one"));
    assert_int_equal(fd, -1);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_listen__free_place__is_taken_once),
        TEST(test_listen__long_path__names_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
