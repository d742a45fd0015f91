/* test_subscribe - groups of `subscribe`: required keys. */
#include "core/config/config.h"

#include "tests/unit/config/confdir.h"
#include "tests/unit/unit.h"

#define KEY_A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define KEY_B "1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define URL   "urls = [ \"https://a.example/x/\" ]; "

static void test_subscribe__when_whole__then_read_with_its_defaults(void **state)
{
    static const char text[] =
        "subscribe = ( { name = \"club\"; " URL "key = \"" KEY_A
        "\"; lists = [ \"phish\", \"malware=bad\" ]; interval = \"1h\"; } );";
    struct slice theirs;
    struct slice ours;
    (void)state;
    confdir_put_bytes("gillnet.conf", text, sizeof(text) - 1);
    struct config *c = confdir_load(confdir_file);
    assert_int_equal(c->nsubscriptions, 1);
    assert_string_equal(c->subscriptions[0].name, "club");
    assert_string_equal(c->subscriptions[0].urls.v[0], "https://a.example/x");
    assert_int_equal(c->subscriptions[0].interval_s, 3600);
    assert_int_equal(c->subscriptions[0].entries, 1000000);
    assert_true(c->subscriptions[0].change == 0.5);
    assert_true(
        config_subscription_map(c->subscriptions[0].lists.v[1], &theirs, &ours));
    assert_true(slice_eq(theirs, SLICE_LIT("malware")) &&
                slice_eq(ours, SLICE_LIT("bad")));
    config_release(&c);
}

static void test_subscribe__when_something_is_wrong__then_refused(void **state)
{
    static const struct {
        const char *text;
        const char *why;
    } rows[] = {
        {"{ name = \"a\"; key = \"" KEY_A "\"; lists = [\"x\"]; }", "urls"},
        {"{ name = \"a\"; urls = [\"ftp://a.example\"]; key = \"" KEY_A
         "\"; lists = [\"x\"]; }",
         "urls"},
        {"{ name = \"a\"; " URL "key = \"12\"; lists = [\"x\"]; }", "key"},
        {"{ name = \"a\"; " URL "lists = [\"x\"]; }", "key"},
        {"{ name = \"a\"; " URL "key = \"" KEY_A "\"; }", "lists"},
        {"{ name = \"a\"; " URL "key = \"" KEY_A "\"; lists = [\"../x\"]; }", "lists"},
        {"{ name = \"a\"; " URL "key = \"" KEY_A "\"; lists = [\"x=z\",\"y=z\"]; }",
         "same list"},
        {"{ name = \"a\"; " URL "key = \"" KEY_A "\"; lists = [\"x\"]; },"
         "{ name = \"b\"; " URL "key = \"" KEY_A "\"; lists = [\"y\"]; }",
         "same publisher"},
        {"{ name = \"a\"; " URL "key = \"" KEY_B "\"; lists = [\"x\"]; entries = 0; }",
         "entries"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[1024];
        int n = snprintf(text, sizeof(text), "subscribe = ( %s );", rows[i].text);

        assert_true(n > 0 && (size_t)n < sizeof(text));
        confdir_refused(text, rows[i].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_subscribe__when_whole__then_read_with_its_defaults, confdir_setup,
            confdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_subscribe__when_something_is_wrong__then_refused, confdir_setup,
            confdir_teardown),
    };
    return cmocka_run_group_tests_name("subscribe", tests, NULL, NULL);
}
