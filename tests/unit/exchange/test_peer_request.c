/*
 * test_peer_request - requests are read as meant or not at all; addresses.
 */

#include "core/hub/exchange/peer_request.h"
#include "core/hub/http/http_syntax.h"

#include "tests/unit/unit.h"

static unsigned parse(const char *text, struct http_request *rethttp,
                      struct peer_request *ret)
{
    struct slice all = slice_str(text);
    size_t n = http_head_length(all);

    return n == 0 ? 1 : peer_request_parse(slice_head(all, n), rethttp, ret);
}

#define END " HTTP/1.1\r\nHost: x\r\n\r\n"
#define GET "GET "
#define ID  "000102030405060708090a0b0c0d0e0f"

static void test_parse__when_a_peer_asks__then_understood(void **state)
{
    static const struct {
        const char *text;
        enum peer_route route;
        uint64_t from;
        uint64_t to;
        bool keeps_alive;
    } rows[] = {
        {GET "/v1/heads?after=0" END, ROUTE_HEADS, 0, 0, true},
        {GET "/v1/heads?after=18446744073709551615" END, ROUTE_HEADS, UINT64_MAX, 0,
         true},
        {GET "/v1/chain/" ID "/3-17" END, ROUTE_CHAIN, 3, 17, true},
        {GET "/v1/chain/" ID "/3-3" END, ROUTE_CHAIN, 3, 3, true},
        {GET "/v1/snap/" ID "/4" END, ROUTE_SNAP, 4, 0, true},
        {GET "/v1/manifest" END, ROUTE_MANIFEST, 0, 0, true},
        {GET "/v1/ringkey/4294967295" END, ROUTE_RING_KEY, UINT32_MAX, 0, true},
        {GET "/v1/member" END, ROUTE_MEMBER, 0, 0, true},
        {GET "/v1/manifest HTTP/1.0\r\n\r\n", ROUTE_MANIFEST, 0, 0, false},
        {GET "/v1/manifest HTTP/1.1\r\nHost: x\r\nConnection: Close\r\n\r\n",
         ROUTE_MANIFEST, 0, 0, false},
        {"POST /v1/join HTTP/1.1\r\nhOST: x\r\nContent-Length: 9\r\n\r\n", ROUTE_JOIN,
         0, 0, true},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct http_request http;
        struct peer_request r;

        assert_int_equal(parse(rows[i].text, &http, &r), 0);
        assert_int_equal(r.route, rows[i].route);
        assert_true(r.from == rows[i].from && r.to == rows[i].to);
        assert_int_equal(http.keeps_alive, rows[i].keeps_alive);
        assert_int_equal(http.length, r.route == ROUTE_JOIN ? 9 : 0);
        if (r.route == ROUTE_CHAIN || r.route == ROUTE_SNAP) {
            assert_int_equal(r.stream.b[15], 15);
        }
    }
}

static void test_parse__when_it_could_mean_two_things__then_refused(void **state)
{
    static const struct {
        const char *text;
        unsigned status;
    } rows[] = {
        {GET "/" END, 404},
        {GET "/v1/heads" END, 404},
        {GET "/v1/heads?after=" END, 400},
        {GET "/v1/heads?after=-1" END, 400},
        {GET "/v1/heads?after=01" END, 400},
        {GET "/v1/heads?after=18446744073709551616" END, 400},
        {GET "/v1/heads?after=0&x" END, 400},
        {GET "/v1/manifest/../x" END, 404},
        {GET "/v1/chain/" ID "/0-1" END, 400},
        {GET "/v1/chain/" ID "/2-1" END, 400},
        {GET "/v1/chain/" ID "/2" END, 400},
        {GET "/v1/chain/" ID END, 404},
        {GET "/v1/chain/" ID "0/1-2" END, 404},
        {GET "/v1/chain/zz/1-2" END, 404},
        {GET "/v1/snap/" ID "/0" END, 400},
        {GET "/v1/snap/" ID "/../../etc" END, 400},
        {GET "/v1/ringkey/4294967296" END, 400},
        {"PUT /v1/manifest" END, 405},
        {"get /v1/manifest" END, 405},
        {"POST /v1/manifest" END, 404},
        {"POST /v1/join" END, 411},
        {GET "/v1/join" END, 404},
        {GET "/v1/manifest HTTP/2.0\r\n\r\n", 505},
        {GET "/v1/manifest HTTP/1.7\r\nHost: a\r\n\r\n", 505},
        {GET "/v1/manifest\r\n\r\n", 400},
        {GET " /v1/manifest" END, 400},
        {"\r\n\r\n", 400},
        {GET "/v1/manifest HTTP/1.1\r\n\r\n", 400},
        {GET "/v1/manifest HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
        {GET "/v1/manifest HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n", 400},
        {GET "/v1/members" END, 404},
        {GET "/v1/member HTTP/1.1\r\nHost: a\r\nGillnet-Client-Cert: a\r\n"
             "gillnet-client-cert: b\r\n\r\n",
         400},
        {GET "/v1/manifest HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400},
        {GET "/v1/manifest HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400},
        {GET "/v1/manifest HTTP/1.1\r\nHost: a\r\nX: \001\r\n\r\n", 400},
        {GET "/v1/manifest HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n", 400},
        {"POST /v1/join HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: "
         "1\r\n\r\n",
         400},
        {"POST /v1/join HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: "
         "10\r\n\r\n",
         400},
        {"POST /v1/join HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", 400},
        {"POST /v1/join HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n", 413},
        {"POST /v1/join HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
         501},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct http_request http;
        struct peer_request r;
        unsigned status = parse(rows[i].text, &http, &r);

        if (status != rows[i].status) {
            fail_msg("%s: %u, not %u", rows[i].text, status, rows[i].status);
        }
    }
}

static void test_parse__when_at_its_limits__then_up_to_them(void **state)
{
    struct buf b;
    struct http_request http;
    struct peer_request r;

    (void)state;
    buf_init(&b, 1 << 20);
    for (unsigned fields = HTTP_FIELDS_MAX - 1; fields <= HTTP_FIELDS_MAX + 1;
         fields++) {
        buf_clear(&b);
        buf_add_str(&b, "GET /v1/manifest HTTP/1.1\r\nHost: x\r\n");
        for (unsigned i = 1; i < fields; i++) {
            buf_add_str(&b, "A: b\r\n");
        }
        buf_add_str(&b, "\r\n");
        assert_int_equal(parse(b.p, &http, &r), fields <= HTTP_FIELDS_MAX ? 0 : 431);
    }
    for (size_t size = HTTP_HEAD_MAX - 1; size <= HTTP_HEAD_MAX + 1; size++) {
        buf_clear(&b);
        buf_add_str(&b, "GET /v1/manifest HTTP/1.1\r\nHost: x\r\nA: ");
        while (b.n < size - 4) {
            buf_add_char(&b, 'a');
        }
        buf_add_str(&b, "\r\n\r\n");
        assert_int_equal(parse(b.p, &http, &r), size <= HTTP_HEAD_MAX ? 0 : 431);
    }
    buf_fini(&b);
}

static void test_parse__when_cut_anywhere__then_nothing_is_read_beyond(void **state)
{
    static const char text[] =
        "POST /v1/join HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n";
    struct http_request http;
    struct peer_request r;

    (void)state;
    for (size_t n = 0; n < sizeof(text) - 1; n++) {
        char *copy = malloc(n + 1); /* the sanitizer sees one byte too many */

        memcpy(copy, text, n);
        assert_int_equal(http_head_length(slice_of(copy, n)), 0);
        (void)peer_request_parse(slice_of(copy, n), &http, &r);
        free(copy);
    }
}

static void test_address__when_split__then_host_and_port(void **state)
{
    static const struct {
        const char *text;
        const char *host; /* NULL: refused */
        unsigned port;
    } rows[] = {
        {"a.example:8894", "a.example", 8894},
        {"192.0.2.1:1", "192.0.2.1", 1},
        {"[2001:db8::1]:65535", "2001:db8::1", 65535},
        {"a:0", NULL, 0},
        {"a:65536", NULL, 0},
        {"a:", NULL, 0},
        {":1", NULL, 0},
        {"a", NULL, 0},
        {"", NULL, 0},
        {"[::1]", NULL, 0},
        {"[::1:1", NULL, 0},
        {"::1:1", NULL, 0},
        {"a@b:1", NULL, 0},
        {"a/b:1", NULL, 0},
        {"a b:1", NULL, 0},
        {"a:1:2", NULL, 0},
        {"a:1 ", NULL, 0},
        {"[a.example]:1", NULL, 0},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char host[HTTP_ADDRESS_MAX];
        unsigned port = 0;
        bool ok = http_address_split(slice_str(rows[i].text), host, &port);

        if (ok != (rows[i].host != NULL)) {
            fail_msg("%s", rows[i].text);
        }
        if (ok) {
            assert_string_equal(host, rows[i].host);
            assert_int_equal(port, rows[i].port);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse__when_a_peer_asks__then_understood),
        cmocka_unit_test(test_parse__when_it_could_mean_two_things__then_refused),
        cmocka_unit_test(test_parse__when_at_its_limits__then_up_to_them),
        cmocka_unit_test(test_parse__when_cut_anywhere__then_nothing_is_read_beyond),
        cmocka_unit_test(test_address__when_split__then_host_and_port),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
