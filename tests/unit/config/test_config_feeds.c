/* test_feeds - groups of `feeds`: required keys, and keys that must agree. */
#include "tests/unit/config/confdir.h"

#define URL "url = \"https://feeds.example/x\"; "

static void test_feeds__when_whole__then_read_with_its_defaults(void **state)
{
    struct config *c = confdir_load(confdir_put(
        "gillnet.conf", "feeds = ( { name = \"phish\"; " URL "interval = \"1h\"; },"
                        " { name = \"bad\"; " URL "into = \"theirs\"; headers = "
                        "[ \"Accept: text/csv\" ]; download_bytes = \"1M\"; } );"));

    (void)state;
    assert_int_equal(c->nfeeds, 2);
    assert_string_equal(c->feeds[0].name, "phish");
    assert_string_equal(c->feeds[0].list, "phish");
    assert_int_equal(c->feeds[0].interval_s, 3600);
    assert_int_equal(c->feeds[0].bytes, 64 << 20);
    assert_int_equal(c->feeds[0].keep_s, 86400);
    assert_true(c->feeds[0].enabled);
    assert_false(c->feeds[0].may_be_private);
    assert_string_equal(c->feeds[1].list, "theirs");
    assert_string_equal(c->feeds[1].headers.v[0], "Accept: text/csv");
    assert_int_equal(c->feeds[1].bytes, 1 << 20);
    config_release(&c);
}

static void test_feeds__when_something_is_wrong__then_refused(void **state)
{
    static const struct {
        const char *text;
        const char *why;
    } rows[] = {
        {"{ name = \"a\"; }", "say where the feed is"},
        {"{ name = \"a\"; url = \"ftp://feeds.example/x\"; }", "write an address"},
        {"{ name = \"a\"; url = \"https://feeds.example/a b\"; }", "write an address"},
        {"{ name = \"a\"; url = \"https://feeds.example:99999/\"; }",
         "write an address"},
        {"{ name = \"a\"; url = \"https://feeds.example:8o/\"; }", "write an address"},
        {"{ name = \"a\"; url = \"https://feeds.example:0\"; }", "write an address"},
        {"{ name = \"a\"; url = \"http://[::1/\"; }", "write an address"},
        {"{ name = \"a\"; url = \"http://[::1]x/\"; }", "write an address"},
        {"{ name = \"a\"; url = \"http://:80/\"; }", "write an address"},
        {"{ name = \"a\"; url = \"http://user@/\"; }", "write an address"},
        {"{ name = \"a\"; " URL "column = \"0\"; }", "count from 1"},
        {"{ name = \"a\"; " URL "}, { name = \"b\"; " URL "into = \"a\"; }",
         "another feed has this list"},
        {"{ name = \"a\"; " URL "password_file = \"/etc/key\"; }", "needs the user"},
        {"{ name = \"a\"; " URL "ca_file = \"key\"; }", "absolute path"},
        {"{ name = \"a\"; " URL "grow = 0.5; }", "1.0 or more"},
        {"{ name = \"a\"; " URL "into = \"-a\"; }", "begins with a letter"},
        {"{ name = \"a\"; " URL "into = \"old\"; }", "remove `period`"},
        {"{ name = \"a\"; " URL "intervall = \"1h\"; }", "feeds.interval"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[512];
        int n = snprintf(text, sizeof(text),
                         "lists = ( { name = \"old\"; period = \"1d\"; } ); "
                         "feeds = ( %s );",
                         rows[i].text);

        assert_true(n > 0 && (size_t)n < sizeof(text));
        confdir_refused(text, rows[i].why);
    }
}

static void test_api__when_set__then_read(void **state)
{
    struct config *c = confdir_load(confdir_put(
        "gillnet.conf", "api = { listen = [ \"[::1]:8896\", \"unix:/run/x/api.sock\" ];"
                        " local_role = \"admin\"; };"
                        "alerts = { latency = \"20ms\"; };"));

    (void)state;
    assert_int_equal(c->api.listen.n, 2);
    assert_string_equal(c->api.listen.v[1], "unix:/run/x/api.sock");
    assert_int_equal(c->api.local_role, API_ADMIN);
    assert_int_equal(c->alerts.latency_us, 20000);
    config_release(&c);
    confdir_refused("api = { listen = [ \"8896\" ]; };", "HOST:PORT");
    confdir_refused("api = { local_role = \"root\"; };", "admin");
    confdir_refused("api = { proxies = [ \"unix:nobody\" ]; };", "any login");
    confdir_refused("api = { proxies = [ \"unix:65534\" ]; };", "any login");
    confdir_refused("api = { proxies = [ \"unix:\" ]; };", "behind unix:");
    confdir_refused("api = { proxies = [ \"::1/128\" ]; };", "an address or");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_feeds__when_whole__then_read_with_its_defaults, confdir_setup,
            confdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_feeds__when_something_is_wrong__then_refused, confdir_setup,
            confdir_teardown),
        cmocka_unit_test_setup_teardown(test_api__when_set__then_read, confdir_setup,
                                        confdir_teardown),
    };
    return cmocka_run_group_tests_name("feeds", tests, NULL, NULL);
}
