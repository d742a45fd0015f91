/* test_http_request - heads of requests: one reading, or none. */

#include "core/hub/http/http_request.h"

#include "tests/unit/unit.h"

static const struct http_rules rules = {.unknown_method = 501, .transfer_coding = 411};

static unsigned parse(const char *head, struct http_request *ret)
{
    const char *why = NULL;
    unsigned status = http_request_parse(slice_str(head), &rules, ret, &why);

    assert_true((status == 0) == (why == NULL));
    return status;
}

static void test_parse__when_whole__then_every_field_that_counts(void **state)
{
    struct http_request r;

    (void)state;
    assert_int_equal(
        parse("POST /v1/scan?from=a%40b&rcpt=c HTTP/1.1\r\nHost: localhost:8896\r\n"
              "content-TYPE:  message/rfc822 \r\nContent-Length: 12\r\n"
              "Authorization: Bearer x\r\nAccept: a/b\r\nVia: 1.1 p\r\n\r\n",
              &r),
        0);
    assert_int_equal(r.method, HTTP_POST);
    assert_true(slice_eq(r.path, SLICE_LIT("/v1/scan")));
    assert_true(slice_eq(r.query, SLICE_LIT("from=a%40b&rcpt=c")));
    assert_true(slice_eq(r.host, SLICE_LIT("localhost:8896")));
    assert_true(slice_eq(r.type, SLICE_LIT("message/rfc822")));
    assert_int_equal(r.length, 12);
    assert_true(r.is_passed_on);
    assert_true(r.keeps_alive);
}

static void test_parse__when_a_proxy_shows_itself__then_passed_on(void **state)
{
    static const char *const marks[] = {"Forwarded",
                                        "X-Forwarded-For",
                                        "X-Forwarded-Host",
                                        "X-Forwarded-Proto",
                                        "X-Forwarded-Port",
                                        "X-Forwarded-Server",
                                        "X-Forwarded-Prefix",
                                        "X-Forwarded",
                                        "Forwarded-For",
                                        "x-FORWARDED-by",
                                        "Via",
                                        "X-Real-IP",
                                        "X-Real-Port",
                                        "X-Client-IP",
                                        "True-Client-IP",
                                        "Client-IP",
                                        "X-Cluster-Client-IP",
                                        "CF-Connecting-IP",
                                        "CF-Ray",
                                        "Fastly-Client-IP",
                                        "X-ProxyUser-Ip",
                                        "X-Original-For",
                                        "X-Original-Host",
                                        "X-Original-URI",
                                        "X-Remote-Addr",
                                        "X-Remote-User",
                                        "Remote-Addr",
                                        "Proxy-Connection",
                                        "X-Proxy-Id",
                                        "X-Scheme",
                                        "X-Host",
                                        "X-Url-Scheme",
                                        "CDN-Loop",
                                        "X-Amzn-Trace-Id",
                                        "X-Amz-Cf-Id",
                                        "X-Envoy-External-Address",
                                        "X-Envoy-Peer-Metadata",
                                        "X-Varnish",
                                        "Front-End-Https",
                                        "X-SSL-Client-Verify",
                                        "SSL-Client-Cert",
                                        "Max-Forwards",
                                        "X-Azure-ClientIP",
                                        "X-Appengine-Remote-Addr"};
    static const char *const innocent[] = {/* of curl, Firefox, Chromium, Prometheus */
                                           "User-Agent",
                                           "Accept",
                                           "Accept-Language",
                                           "Accept-Encoding",
                                           "Cookie",
                                           "DNT",
                                           "Sec-GPC",
                                           "Sec-Fetch-Mode",
                                           "Sec-Fetch-Dest",
                                           "Sec-CH-UA",
                                           "Priority",
                                           "Sec-CH-UA-Platform",
                                           "Upgrade-Insecure-Requests",
                                           "Cache-Control",
                                           "Pragma",
                                           "X-Prometheus-Scrape-Timeout-Seconds",
                                           "If-None-Match",
                                           "Content-Type",
                                           "X-Requested-With",
                                           "Purpose",
                                           "TE",
                                           "Referer",
                                           "Device",
                                           "Service",
                                           "Strip"};
    struct http_request r;
    char head[256];

    (void)state;
    for (size_t i = 0; i < LENGTH(marks); i++) {
        (void)snprintf(head, sizeof(head),
                       "GET / HTTP/1.1\r\nHost: localhost\r\n%s: x\r\n\r\n", marks[i]);
        assert_int_equal(parse(head, &r), 0);
        if (!r.is_passed_on) {
            fail_msg("%s", marks[i]);
        }
    }
    for (size_t i = 0; i < LENGTH(innocent); i++) {
        (void)snprintf(head, sizeof(head),
                       "GET / HTTP/1.1\r\nHost: localhost\r\n%s: x\r\n\r\n",
                       innocent[i]);
        assert_int_equal(parse(head, &r), 0);
        if (r.is_passed_on) {
            fail_msg("%s", innocent[i]);
        }
    }
    assert_int_equal(parse("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n", &r), 0);
    assert_true(r.is_passed_on); /* nginx without a word of configuration */
}

static void test_parse__when_the_connection_ends_with_it__then_said(void **state)
{
    static const char *const heads[] = {
        "GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n"};
    struct http_request r;

    (void)state;
    for (size_t i = 0; i < LENGTH(heads); i++) {
        assert_int_equal(parse(heads[i], &r), 0);
        assert_false(r.keeps_alive);
    }
}

static void test_parse__when_it_could_be_read_in_two_ways__then_refused(void **state)
{
    static const struct {
        const char *fields;
        unsigned status;
    } rows[] = {
        {"Content-Length: 1\r\nContent-Length: 1\r\n", 400},
        {"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", 411},
        {"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", 411},
        {"Content-Length: 01\r\n", 400},
        {"Content-Length: +1\r\n", 400},
        {"Content-Length: 1, 1\r\n", 400},
        {"Content-Length : 1\r\n", 400},
        {" Content-Length: 1\r\n", 400},
        {"A: b\n", 400},
        {"A: b\rContent-Length: 1\r\n", 400},
        {"Host: b\r\nContent-Length: 1\r\n", 400},
        {"Expect: much\r\nContent-Length: 1\r\n", 417},
        {"Authorization: a\r\nAuthorization: b\r\nContent-Length: 1\r\n", 400},
        {"", 411},
    };
    char head[512];
    struct http_request r;

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        (void)snprintf(head, sizeof(head), "POST / HTTP/1.1\r\nHost: a\r\n%s\r\n",
                       rows[i].fields);
        assert_int_equal(parse(head, &r), rows[i].status);
    }
}

static void test_accepts__when_ranges_and_weights__then_as_the_rules_say(void **state)
{
    static const struct {
        const char *accept;
        bool is_accepted;
    } rows[] = {{"", true},
                {"*/*", true},
                {"application/*", true},
                {"text/html, Application/JSON;q=0.1", true},
                {"text/html", false},
                {"applicationx/*", false},
                {"application/json;q=0", false},
                {"application/json; q=0.000, text/*", false},
                {"application/json;q=0, */*;q=0.1", true}};

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_int_equal(
            http_accepts(slice_str(rows[i].accept), SLICE_LIT("application/json")),
            rows[i].is_accepted);
    }
}

static void test_query__when_escaped__then_undone_or_refused(void **state)
{
    struct slice rest = SLICE_LIT("from=a%40b+c&x=&y");
    struct slice name;
    char value[16];
    bool is_bad = false;

    (void)state;
    assert_true(http_query_next(&rest, &name, value, sizeof(value), &is_bad));
    assert_true(slice_eq(name, SLICE_LIT("from")));
    assert_string_equal(value, "a@b c");
    assert_true(http_query_next(&rest, &name, value, sizeof(value), &is_bad));
    assert_string_equal(value, "");
    assert_true(http_query_next(&rest, &name, value, sizeof(value), &is_bad));
    assert_false(http_query_next(&rest, &name, value, sizeof(value), &is_bad));
    assert_false(is_bad);
    static const char *const bad[] = {
        "a=%", "a=%4", "a=%zz", "a=%00", "a=%0a", "&a=b", "a=0123456789abcdef"};
    for (size_t i = 0; i < LENGTH(bad); i++) {
        rest = slice_str(bad[i]);
        assert_false(http_query_next(&rest, &name, value, sizeof(value), &is_bad));
        assert_true(is_bad);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse__when_whole__then_every_field_that_counts),
        cmocka_unit_test(test_parse__when_a_proxy_shows_itself__then_passed_on),
        cmocka_unit_test(test_parse__when_the_connection_ends_with_it__then_said),
        cmocka_unit_test(test_parse__when_it_could_be_read_in_two_ways__then_refused),
        cmocka_unit_test(test_accepts__when_ranges_and_weights__then_as_the_rules_say),
        cmocka_unit_test(test_query__when_escaped__then_undone_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
