/*
 * test_socket - spellings of sockets, and Unix sockets put in place and removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/base.h"

#include "milter/socket.h"

#include "tests/unit/unit.h"

static void test_parse__every_spelling__both_mta_spellings(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *postfix;
        const char *sendmail;
    } rows[] = {
        {"unix:/run/g.sock", "unix:/run/g.sock", "local:/run/g.sock"},
        {"local:/run/g.sock", "unix:/run/g.sock", "local:/run/g.sock"},
        {"/run/g.sock", "unix:/run/g.sock", "local:/run/g.sock"},
        {"UNIX:/run/g@1:2.sock", "unix:/run/g@1:2.sock", "local:/run/g@1:2.sock"},
        {"inet:8895@127.0.0.1", "inet:127.0.0.1:8895", "inet:8895@127.0.0.1"},
        {"inet:127.0.0.1:8895", "inet:127.0.0.1:8895", "inet:8895@127.0.0.1"},
        {"inet:localhost:1", "inet:localhost:1", "inet:1@localhost"},
        {"inet:65535@mx-1.example", "inet:mx-1.example:65535",
         "inet:65535@mx-1.example"},
        {"inet:[::1]:8895", "inet:[::1]:8895", "inet6:8895@[::1]"},
        {"inet6:8895@::1", "inet:[::1]:8895", "inet6:8895@[::1]"},
        {"inet6:8895@[::1]", "inet:[::1]:8895", "inet6:8895@[::1]"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct milter_socket s;
        char text[SOCKET_TEXT_MAX];
        assert_int_equal(socket_parse(rows[i].text, &s, NULL), ERR_OK);
        assert_string_equal(socket_postfix(&s, text), rows[i].postfix);
        assert_string_equal(socket_sendmail(&s, text), rows[i].sendmail);
        /* what is printed is understood again */
        struct milter_socket again;
        assert_int_equal(socket_parse(text, &again, NULL), ERR_OK);
        assert_string_equal(socket_sendmail(&again, text), rows[i].sendmail);
    }
}

static void test_parse__bad_spellings__refused_with_a_reason(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *reason; /* part of it */
    } rows[] = {
        {"", "no socket that"},
        {"run/g.sock", "no socket that"},
        {"unix:", "begin with /"},
        {"unix:g.sock", "begin with /"},
        {"unix:/run/", "name a file"},
        {"inet:8895", "every address"},
        {"inet:8895@", "every address"},
        {"inet::8895", "every address"},
        {"inet:0@127.0.0.1", "1 to 65535"},
        {"inet:65536@127.0.0.1", "1 to 65535"},
        {"inet:milter@127.0.0.1", "1 to 65535"},
        {"inet:127.0.0.1", "1 to 65535"},
        {"inet:-1@127.0.0.1", "1 to 65535"},
        {"inet:::1:8895", "brackets"},
        {"inet:8895@a b", "no address or host name"},
        {"inet6:8895@127.0.0.1", "IPv6"},
        {"tcp:127.0.0.1:1", "no socket that"},
        {"fd:3", "no socket that"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct milter_socket s;
        struct errinfo why;
        assert_int_not_equal(socket_parse(rows[i].text, &s, &why), ERR_OK);
        if (!strstr(why.text, rows[i].reason)) {
            fail_msg("\"%s\": %s", rows[i].text, why.text);
        }
    }
}

static void test_parse__path_lengths_around_the_limit__named_error(void **state)
{
    (void)state;
    for (size_t n = SOCKET_PATH_MAX - 1; n <= SOCKET_PATH_MAX + 1; n++) {
        char text[SOCKET_PATH_MAX + 16] = "unix:";
        struct milter_socket s;
        memset(text + 5, 'p', n);
        text[5] = '/';
        text[5 + n] = '\0';
        assert_int_equal(socket_parse(text, &s, NULL),
                         n <= SOCKET_PATH_MAX ? ERR_OK : ERR_LIMIT);
    }
    struct sockaddr_un un;
    char private[SOCKET_PRIVATE_BYTES];
    char path[SOCKET_PATH_MAX + 1];
    memset(path, 'p', SOCKET_PATH_MAX);
    path[SOCKET_PATH_MAX] = '\0';
    unix_place_private(path, private);
    assert_true(strlen(private) < sizeof(un.sun_path));
}

/* ---- Unix sockets in their place ---- */

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/test_socket.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static int bind_at(const char *path)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

static void put_in(char path[128], const char *name)
{
    snprintf(path, 128, "%s/%s", folder, name);
}

static const struct unix_rights rights = {.owner = "", .group = "", .mode = 0660};

static void test_check__nothing_stale_and_alive__only_alive_is_refused(void **state)
{
    (void)state;
    char path[128];
    struct errinfo why;
    put_in(path, "s");
    assert_int_equal(unix_place_check(path, &why), ERR_OK);
    int fd = bind_at(path);
    assert_int_equal(unix_place_check(path, &why), ERR_EXISTS);
    assert_non_null(strstr(why.text, "another instance"));
    close(fd);
    assert_int_equal(unix_place_check(path, &why), ERR_OK);
    unlink(path);
}

static void test_check__a_file_lies_there__refused_and_left_alone(void **state)
{
    (void)state;
    char path[128];
    struct errinfo why;
    put_in(path, "file");
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    close(fd);
    assert_int_equal(unix_place_check(path, &why), ERR_EXISTS);
    assert_int_equal(unlink(path), 0);
    put_in(path, "none/s");
    assert_int_equal(unix_place_check(path, &why), ERR_OK); /* bind will say it */
}

static void test_put__stale_socket_there__replaced_with_rights(void **state)
{
    (void)state;
    char path[128];
    char private[SOCKET_PRIVATE_BYTES];
    struct unix_place place;
    struct stat st;
    put_in(path, "s");
    close(bind_at(path));
    unix_place_private(path, private);
    int fd = bind_at(private);
    assert_int_equal(unix_place_put(&place, private, path, &rights, NULL), ERR_OK);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0660);
    assert_int_not_equal(stat(private, &st), 0);
    unix_place_remove(&place);
    assert_int_not_equal(stat(path, &st), 0);
    unix_place_remove(&place); /* again: nothing */
    close(fd);
}

static void test_remove__newer_socket_there__kept(void **state)
{
    (void)state;
    char path[128];
    char private[SOCKET_PRIVATE_BYTES];
    struct unix_place older;
    struct unix_place newer;
    struct stat st;
    put_in(path, "s");
    unix_place_private(path, private);
    int old_fd = bind_at(private);
    assert_int_equal(unix_place_put(&older, private, path, &rights, NULL), ERR_OK);
    unix_place_private(path, private);
    int new_fd = bind_at(private);
    assert_int_equal(unix_place_put(&newer, private, path, &rights, NULL), ERR_OK);
    unix_place_remove(&older);
    assert_int_equal(stat(path, &st), 0);
    unix_place_remove(&newer);
    assert_int_not_equal(stat(path, &st), 0);
    close(old_fd);
    close(new_fd);
}

static void test_put__unknown_owner_or_group__nothing_left(void **state)
{
    (void)state;
    static const struct unix_rights bad[] = {
        {.owner = "no such user", .group = "", .mode = 0660},
        {.owner = "", .group = "no such group", .mode = 0660},
    };
    for (size_t i = 0; i < 2; i++) {
        char path[128];
        char private[SOCKET_PRIVATE_BYTES];
        struct unix_place place;
        struct errinfo why;
        put_in(path, "s");
        unix_place_private(path, private);
        int fd = bind_at(private);
        assert_int_equal(unix_place_put(&place, private, path, &bad[i], &why),
                         ERR_NOT_FOUND);
        close(fd);
    }
}

static void test_listen__socket_taken__says_another_instance(void **state)
{
    (void)state;
    struct config config = {.socket_mode = 0660};
    struct milter_socket s;
    struct milter_listener l;
    struct errinfo why;
    char path[128];
    char text[160];
    put_in(path, "s");
    snprintf(text, sizeof(text), "unix:%s", path);
    int fd = bind_at(path);
    assert_int_equal(socket_parse(text, &s, NULL), ERR_OK);
    assert_int_equal(milter_listen(&l, &s, &config, &why), ERR_EXISTS);
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse__every_spelling__both_mta_spellings),
        cmocka_unit_test(test_parse__bad_spellings__refused_with_a_reason),
        cmocka_unit_test(test_parse__path_lengths_around_the_limit__named_error),
        cmocka_unit_test(test_check__nothing_stale_and_alive__only_alive_is_refused),
        cmocka_unit_test(test_check__a_file_lies_there__refused_and_left_alone),
        cmocka_unit_test(test_put__stale_socket_there__replaced_with_rights),
        cmocka_unit_test(test_remove__newer_socket_there__kept),
        cmocka_unit_test(test_put__unknown_owner_or_group__nothing_left),
        cmocka_unit_test(test_listen__socket_taken__says_another_instance),
    };
    assert_int_equal(base_init(), ERR_OK);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
