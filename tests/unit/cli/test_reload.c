/* test_reload - `gillnet reload` against a control socket that the test serves. */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sysexits.h>

#include "tests/unit/cli/clirun.h"

/* A server for one request. */
struct server {
    int fd;
    const char *answer;
    char request[64];
    pthread_t thread;
};

static void *serve(void *arg)
{
    struct server *s = arg;
    int fd = accept(s->fd, NULL, NULL);
    ssize_t n = recv(fd, s->request, sizeof(s->request) - 1, 0);
    const char *p = s->answer;

    s->request[n > 0 ? n : 0] = '\0';
    for (; *p != '\0'; p++) {
        if (send(fd, p, 1, MSG_NOSIGNAL) != 1) { /* a byte at a time */
            break;
        }
    }
    close(fd);
    return NULL;
}

static void server_start(struct server *s, const char *path, const char *answer)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};

    s->answer = answer;
    s->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(s->fd >= 0);
    snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
    unlink(path);
    assert_int_equal(bind(s->fd, (const struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(s->fd, 1), 0);
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void server_end(struct server *s)
{
    pthread_join(s->thread, NULL);
    close(s->fd);
}

static void test_reload__when_answered__then_printed_and_its_status(void **state)
{
    static const struct {
        const char *answer;
        int status;
        const char *out;
        const char *err;
    } rows[] = {
        {"ok\n", 0, "ok\n", ""},
        {"ok generation 3\nneeds a restart: socket\n", 0,
         "ok generation 3\nneeds a restart: socket\n", ""},
        {"error 1 finding\n/etc/x:3: no\n", EX_CONFIG, "",
         "error 1 finding\n/etc/x:3: no\n"},
        {"okay\n", EX_CONFIG, "", "okay\n"},
        {"", EX_DATAERR, "", NULL},
        {"ok without an end", EX_DATAERR, "", NULL},
    };
    const char *conf = clirun_put("a.conf", "control_socket = \"%s/ctl\";", 0600);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct server s;

        server_start(&s, clirun_path("ctl"), rows[i].answer);
        assert_int_equal(CLIRUN("reload", "-c", conf), rows[i].status);
        server_end(&s);
        assert_string_equal(s.request, "reload\n");
        assert_string_equal(clirun_out, rows[i].out);
        if (rows[i].err != NULL) {
            assert_string_equal(clirun_err, rows[i].err);
        } else {
            assert_has(clirun_err, "no answer came");
        }
    }
}

static void test_reload__when_json__then_one_object(void **state)
{
    const char *conf = clirun_put("a.conf", "control_socket = \"%s/ctl\";", 0600);
    struct server s;

    (void)state;
    server_start(&s, clirun_path("ctl"), "error bad\nline \xff one\nline two\n");
    assert_int_equal(CLIRUN("reload", "--json", "-c", conf), EX_CONFIG);
    server_end(&s);
    assert_string_equal(clirun_out,
                        "{\"ok\":false,\"result\":\"error bad\",\"details\":["
                        "\"line \xef\xbf\xbd one\",\"line two\"]}\n");
}

static void test_reload__when_nobody_listens__then_says_where(void **state)
{
    const char *conf = clirun_put("a.conf", "state_dir = \"%s\";", 0600);

    (void)state;
    assert_int_equal(CLIRUN("reload", "-c", conf), EX_NOINPUT);
    assert_has(clirun_err, "/gillnetd.ctl: nobody listens there");
}

static void test_reload__when_the_path_is_long__then_reached_through_its_folder(
    void **state)
{
    char folder[512];
    char path[600];
    char text[700];
    char here[512];
    struct server s;
    const char *conf = NULL;

    (void)state;
    memset(text, 'd', 120);
    text[120] = '\0';
    snprintf(folder, sizeof(folder), "%s/%.120s", clirun_dir, text);
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(text, sizeof(text), "state_dir = \"%.500s\";", folder);
    conf = clirun_put("a.conf", text, 0600);
    assert_non_null(getcwd(here, sizeof(here)));
    assert_int_equal(chdir(folder), 0);
    server_start(&s, "gillnetd.ctl", "ok\n");
    assert_int_equal(chdir(here), 0);
    assert_int_equal(CLIRUN("reload", "-c", conf), 0);
    server_end(&s);
    snprintf(path, sizeof(path), "%s/gillnetd.ctl", folder);
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, clirun_setup, clirun_teardown)
        TEST(test_reload__when_answered__then_printed_and_its_status),
        TEST(test_reload__when_json__then_one_object),
        TEST(test_reload__when_nobody_listens__then_says_where),
        TEST(test_reload__when_the_path_is_long__then_reached_through_its_folder),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
