/*
 * test_http_stream - an answer without an end: its pieces arrive, and a client that does not read
 * them loses its connection.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/hub/http/http_server.h"

#include "tests/unit/unit.h"

enum { TURNS = 100000, PIECE = 4096, READ = 1 << 16 };

struct fixture {
    struct event_base *base;
    struct http_server *server;
    _Atomic uint64_t memory;
    struct http_conn *stream; /* NULL: none, or it ended */
    int client;
};

static unsigned on_head(struct http_conn *c, struct slice head,
                        struct http_request *ret, uint64_t *retmost,
                        const char **retwhy)
{
    static const struct http_rules rules = {.unknown_method = 501,
                                            .transfer_coding = 411};

    (void)c;
    *retmost = 0;
    return http_request_parse(head, &rules, ret, retwhy);
}

static void on_answer(struct http_conn *c, const struct http_request *request,
                      struct slice body)
{
    struct fixture *f = c->context;

    (void)request;
    (void)body;
    f->stream = c;
    http_conn_stream(c,
                     &(struct http_answer){.status = 200, .type = "text/event-stream"});
}

static void on_closed(struct http_conn *c)
{
    struct fixture *f = c->context;

    f->stream = f->stream == c ? NULL : f->stream;
}

static void on_refuse(struct http_conn *c, const struct http_request *request,
                      unsigned status, const char *why, unsigned retry_s)
{
    (void)c;
    (void)request;
    (void)retry_s;
    fail_msg("refused: %u %s", status, why);
}

static const struct http_hooks hooks = {
    .head = on_head, .refuse = on_refuse, .answer = on_answer, .closed = on_closed};

static void turn(const struct fixture *f)
{
    assert_int_not_equal(event_base_loop(f->base, EVLOOP_NONBLOCK), -1);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t n = sizeof(to);
    const char ask[] = "GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n";

    f->base = event_base_new();
    assert_int_equal(
        http_server_new(&(struct http_server_options){.base = f->base,
                                                      .hooks = &hooks,
                                                      .context = f,
                                                      .clients = "clients",
                                                      .most = 4,
                                                      .most_strangers = 4,
                                                      .body_s = 10,
                                                      .memory = &f->memory},
                        &f->server),
        ERR_OK);
    int fd = http_listen((const struct sockaddr *)&to, sizeof(to), 0);
    assert_true(fd >= 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&to, &n), 0);
    assert_int_equal(http_server_listen(f->server, fd), ERR_OK);
    f->client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(f->client, (const struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(write(f->client, ask, strlen(ask)), strlen(ask));
    for (unsigned i = 0; i < TURNS && f->stream == NULL; i++) {
        turn(f);
    }
    assert_non_null(f->stream);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    http_server_free(&f->server);
    event_base_free(f->base);
    (void)close(f->client);
    assert_int_equal(atomic_load(&f->memory), 0);
    free(f);
    return 0;
}

/* What the client has got, until it is n bytes. */
static void read_bytes(const struct fixture *f, char *got, size_t n)
{
    size_t have = 0;

    while (have < n) {
        ssize_t part = read(f->client, got + have, n - have);
        assert_true(part > 0);
        have += (size_t)part;
        turn(f);
    }
}

static void test_stream__then_head_and_pieces_arrive_and_no_length(void **state)
{
    static const char want[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                               "Connection: close\r\n\r\ndata: 1\n\ndata: 2\n\n";
    const struct fixture *f = *state;
    char got[sizeof(want)] = "";

    assert_true(http_conn_stream_add(f->stream, SLICE_LIT("data: 1\n\n")));
    turn(f);
    assert_true(http_conn_stream_add(f->stream, SLICE_LIT("data: 2\n\n")));
    read_bytes(f, got, strlen(want));
    assert_string_equal(got, want);
    http_server_tick(f->server);
    assert_non_null(f->stream);
    assert_int_equal(f->server->pending, 0);
}

static void test_stream__when_the_client_does_not_read__then_it_ends(void **state)
{
    static const char piece[PIECE] = {0};
    struct http_server_numbers n = {0};
    const struct fixture *f = *state;
    unsigned sent = 0;

    while (sent < TURNS && http_conn_stream_add(f->stream, slice_of(piece, PIECE))) {
        turn(f);
        assert_true(f->stream->out.n <= HTTP_STREAM_BYTES);
        sent++;
    }
    assert_true(sent < TURNS);
    assert_null(f->stream);
    http_server_numbers(f->server, &n);
    assert_int_equal(n.timeouts, 1);
    assert_int_equal(n.open, 0);
    assert_int_equal(f->server->pending, 0);
}

static void test_stream__when_what_waits_is_late__then_it_ends(void **state)
{
    static const char piece[PIECE] = {0};
    const struct fixture *f = *state;

    while (f->stream->out.n == 0) { /* until the kernel takes no more */
        assert_true(http_conn_stream_add(f->stream, slice_of(piece, PIECE)));
    }
    const uint64_t deadline = f->stream->deadline_us;
    assert_true(deadline != UINT64_MAX);
    assert_true(http_conn_stream_add(f->stream, SLICE_LIT("x")));
    assert_true(f->stream->deadline_us == deadline); /* new pieces give no new time */
    f->stream->deadline_us = 1;
    http_server_tick(f->server);
    assert_null(f->stream);
}

static void test_stream__when_the_client_goes__then_it_ends(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(write(f->client, "GET / HTTP/1.1\r\n\r\n", 18), 18); /* dropped */
    turn(f);
    assert_non_null(f->stream);
    (void)close(f->client);
    f->client = -1;
    for (unsigned i = 0; i < TURNS && f->stream != NULL; i++) {
        turn(f);
    }
    assert_null(f->stream);
}

#define STREAM_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    base_init();
    const struct CMUnitTest tests[] = {
        STREAM_TEST(test_stream__then_head_and_pieces_arrive_and_no_length),
        STREAM_TEST(test_stream__when_the_client_does_not_read__then_it_ends),
        STREAM_TEST(test_stream__when_what_waits_is_late__then_it_ends),
        STREAM_TEST(test_stream__when_the_client_goes__then_it_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
