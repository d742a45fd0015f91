/*
 * test_gillnetd - requests to a gillnetd that answers, refuses, is silent, breaks off or never
 * ends.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/telemetry/control_client.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { SECOND_US = 1000000, LONG_US = 60 * SECOND_US, ANSWER_MAX = 1 << 20 };

/* Behaviour of the server for one connection. */
struct play {
    size_t reads; /* bytes before it answers */
    const char *answer;
    bool waits; /* for the client to leave, after the answer */
    bool is_endless;
    int listen_fd;
    char got[4096];
    size_t ngot;
    pthread_t thread;
};

static void listen_at(struct play *p, const char *path)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    (void)snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
    p->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(p->listen_fd, (struct sockaddr *)&un, sizeof(un)), 0);
    assert_int_equal(listen(p->listen_fd, 1), 0);
}

static void *run(void *context)
{
    struct play *p = context;
    int fd = accept(p->listen_fd, NULL, NULL);
    char byte[512];
    size_t n = 0;
    while (n < p->reads) {
        size_t room = p->reads - n < sizeof(byte) ? p->reads - n : sizeof(byte);
        ssize_t got = recv(fd, byte, room, 0);
        if (got <= 0) {
            break;
        }
        for (ssize_t i = 0; i < got && p->ngot < sizeof(p->got) - 1; i++) {
            p->got[p->ngot++] = byte[i];
        }
        n += (size_t)got;
    }
    if (p->answer != NULL) {
        (void)send(fd, p->answer, strlen(p->answer), MSG_NOSIGNAL);
    }
    while (p->is_endless && send(fd, byte, sizeof(byte), MSG_NOSIGNAL) > 0) {
    }
    while (p->waits && recv(fd, byte, sizeof(byte), 0) > 0) {
    }
    close(fd);
    return NULL;
}

static enum err ask(struct tempdir *t, struct play *p, struct slice body,
                    uint64_t wait_us, struct buf *ret, struct errinfo *why)
{
    (void)unlink(tempdir_file(t, "ctl"));
    listen_at(p, t->file);
    assert_int_equal(pthread_create(&p->thread, NULL, run, p), 0);
    buf_init(ret, ANSWER_MAX);
    enum err e = control_client_ask(t->file, SLICE_LIT("ping"), body,
                                    clock_mono_us() + wait_us, ret, why);
    assert_int_equal(pthread_join(p->thread, NULL), 0);
    close(p->listen_fd);
    return e;
}

static void test_ask__an_answer__then_all_of_it(void **state)
{
    struct errinfo why;
    struct buf answer;
    struct play p = {.reads = 10, .answer = "ok 1\nmore\n"};
    assert_int_equal(ask(*state, &p, SLICE_LIT("hello"), LONG_US, &answer, &why),
                     ERR_OK);
    assert_string_equal(answer.p, "ok 1\nmore\n");
    assert_string_equal(p.got, "ping\nhello");
    buf_fini(&answer);
}

static void test_ask__refusals__then_their_reason(void **state)
{
    static const struct {
        const char *answer;
        enum err want;
        const char *text;
    } rows[] = {{"error no such thing\n", ERR_SYNTAX, "no such thing"},
                {"error busy; try again\n", ERR_LOCKED, "busy; try again"},
                {"HTTP/1.1 200 OK\r\n", ERR_IO, "no answer of gillnetd"},
                {"o", ERR_IO, "ended without an answer"},
                {NULL, ERR_IO, "ended without an answer"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct errinfo why;
        struct buf answer;
        struct play p = {.reads = 5, .answer = rows[i].answer};
        assert_int_equal(ask(*state, &p, SLICE_NONE, LONG_US, &answer, &why),
                         rows[i].want);
        assert_non_null(strstr(why.text, rows[i].text));
        buf_fini(&answer);
    }
}

static void test_ask__refused_before_all_is_sent__then_the_reason(void **state)
{
    struct errinfo why;
    struct buf answer;
    struct play p = {.reads = 5, .answer = "error too large\n"};
    size_t n = 8 << 20;
    char *body = calloc(1, n);
    assert_non_null(body);
    assert_int_equal(ask(*state, &p, slice_of(body, n), LONG_US, &answer, &why),
                     ERR_SYNTAX);
    assert_non_null(strstr(why.text, "too large"));
    free(body);
    buf_fini(&answer);
}

static void test_ask__silent_or_not_reading__then_late(void **state)
{
    struct errinfo why;
    struct buf answer;
    struct play silent = {.reads = 5, .waits = true};
    assert_int_equal(ask(*state, &silent, SLICE_NONE, SECOND_US / 20, &answer, &why),
                     ERR_TIMEOUT);
    buf_fini(&answer);
    struct play half = {.reads = 5, .answer = "ok\nhalf", .waits = true};
    assert_int_equal(ask(*state, &half, SLICE_NONE, SECOND_US / 20, &answer, &why),
                     ERR_TIMEOUT);
    buf_fini(&answer);
}

static void test_ask__endless__then_cut_off(void **state)
{
    struct errinfo why;
    struct buf answer;
    struct play p = {.reads = 5, .answer = "ok\n", .is_endless = true};
    assert_int_equal(ask(*state, &p, SLICE_NONE, LONG_US, &answer, &why), ERR_LIMIT);
    buf_fini(&answer);
}

static void test_ask__nobody_there__then_told(void **state)
{
    struct tempdir *t = *state;
    struct errinfo why;
    struct buf answer;
    buf_init(&answer, ANSWER_MAX);
    uint64_t end = clock_mono_us() + LONG_US;
    assert_int_equal(control_client_ask(tempdir_file(t, "none"), SLICE_LIT("ping"),
                                        SLICE_NONE, end, &answer, &why),
                     ERR_NOT_FOUND);
    char longer[200] = "";
    memset(longer, 'x', sizeof(longer) - 1);
    assert_int_equal(
        control_client_ask(longer, SLICE_LIT("ping"), SLICE_NONE, end, &answer, &why),
        ERR_LIMIT);
    struct play p = {.reads = 0};
    listen_at(&p, tempdir_file(t, "gone"));
    close(p.listen_fd); /* the socket stays, nobody listens */
    assert_int_equal(
        control_client_ask(t->file, SLICE_LIT("ping"), SLICE_NONE, end, &answer, &why),
        ERR_NOT_FOUND);
    assert_int_equal(answer.n, 0);
    buf_fini(&answer);
}

static void test_scan__line_and_message__then_the_object(void **state)
{
    struct tempdir *t = *state;
    struct errinfo why;
    struct buf json;
    struct scan_request line = {.helo = SLICE_LIT("a b")};
    static const char want[] = "scan 4 helo=a%20b\nmail";
    struct play p = {.reads = sizeof(want) - 1, .answer = "ok\n{\"score\":0}\n"};
    listen_at(&p, tempdir_file(t, "ctl"));
    assert_int_equal(pthread_create(&p.thread, NULL, run, &p), 0);
    buf_init(&json, ANSWER_MAX);
    assert_int_equal(control_client_scan(t->file, &line, SLICE_LIT("mail"),
                                         clock_mono_us() + LONG_US, &json, &why),
                     ERR_OK);
    assert_int_equal(pthread_join(p.thread, NULL), 0);
    close(p.listen_fd);
    assert_string_equal(p.got, want);
    assert_string_equal(json.p, "{\"score\":0}\n");
    buf_fini(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ask__an_answer__then_all_of_it,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_ask__refusals__then_their_reason,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_ask__refused_before_all_is_sent__then_the_reason, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_ask__silent_or_not_reading__then_late,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_ask__endless__then_cut_off, tempdir_setup,
                                        tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_ask__nobody_there__then_told,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_scan__line_and_message__then_the_object,
                                        tempdir_setup, tempdir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
