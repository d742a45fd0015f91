/* test_stat - `gillnet stat` of a state folder with a list and a statistics page. */
#include <jansson.h>

#include "core/base/clock.h"
#include "core/telemetry/stats.h"

#include "tests/unit/cli/liststate.h"

static void make_page(void)
{
    struct errinfo why = {0};

    mkdir(clirun_path("state/counts"), 0700);
    assert_int_equal(stats_open(clirun_path("state/" STATE_STATS_FILE), &why), ERR_OK);
    stats_set(STAT_pid, (uint64_t)getpid());
    stats_set(STAT_start_time, 86400);
    stats_add(STAT_messages, 42);
    stats_fault("list:x", "its index is damaged");
    stats_close();
}

static void test_stat__when_nothing_is_there__then_says_so(void **state)
{
    const char *conf = clirun_put("a.conf", "state_dir = \"%s/state\";", 0600);

    (void)state;
    assert_int_equal(CLIRUN("stat", "-c", conf), 0);
    assert_has(clirun_out, "gillnetd has not run yet");
    assert_has(clirun_out, "lists: none yet; make one");
    assert_int_equal(CLIRUN("stat", "--json", "-c", conf), 0);
    assert_has(clirun_out, "{\"type\":\"gillnetd\",\"running\":false");
    assert_has(clirun_out, "\"type\":\"now\"");
    assert_int_equal(CLIRUN("stat", "--history", "decade", "-c", conf), 64);
    assert_int_equal(CLIRUN("stat", "--server", "x", "-c", conf), 66);
    assert_int_equal(CLIRUN("stat", "--server", "all", "-c", conf), 0);
    assert_has(clirun_out, "this (this server): new, 0 needs; 0 messages today");
    assert_int_equal(CLIRUN("stat", "--history", "week", "-c", conf), 0);
}

static void test_stat__when_there_is_a_page_and_a_list__then_shown(void **state)
{
    const char *conf = clirun_put("a.conf", "state_dir = \"%s/state\";", 0600);

    (void)state;
    liststate_make(clirun_path("state"), "phish");
    make_page();
    assert_int_equal(CLIRUN("stat", "-c", conf), 0);
    /* the process that the page names is this test, which is not gillnetd */
    assert_has(clirun_out, "gillnetd does not run. 0 messages today, 0 refused, 0 "
                           "marked.\nthe last start of gillnetd was 1970-01-02");
    assert_has(clirun_out, "fault: list:x: its index is damaged\n");
    assert_has(clirun_out, "lists: 1 with 1 entries");
    assert_null(strstr(clirun_out, "messages that reached"));
    assert_int_equal(CLIRUN("stat", "--all", "-c", conf), 0);
    assert_has(clirun_out, "messages                       42  messages that reached");
    assert_has(clirun_out, "list phish: 1 entries, 0 revoked, 1 recent, generation ");
    assert_string_equal(clirun_err, "");
}

static void test_stat__when_json__then_each_line_parses(void **state)
{
    const char *conf = clirun_put("a.conf", "state_dir = \"%s/state\";", 0600);
    unsigned numbers = 0;
    unsigned lists = 0;
    unsigned faults = 0;

    (void)state;
    liststate_make(clirun_path("state"), "phish");
    make_page();
    assert_int_equal(CLIRUN("stat", "--json", "-c", conf), 0);
    for (char *line = clirun_out; *line != '\0';) {
        char *end = strchr(line, '\n');
        json_t *o = NULL;
        const char *type = NULL;

        assert_non_null(end);
        o = json_loadb(line, (size_t)(end - line), 0, NULL);
        assert_non_null(o);
        type = json_string_value(json_object_get(o, "type"));
        numbers += strcmp(type, "number") == 0;
        faults += strcmp(type, "fault") == 0;
        if (strcmp(type, "list") == 0) {
            lists++;
            assert_int_equal(json_integer_value(json_object_get(o, "entries")), 1);
        }
        json_decref(o);
        line = end + 1;
    }
    assert_int_equal(numbers, STAT_COUNT);
    assert_int_equal(lists, 1);
    assert_int_equal(faults, 1);
}

static void test_stat__when_a_list_is_old__then_marked(void **state)
{
    const char *conf = clirun_put(
        "a.conf", "state_dir = \"%s/state\"; list_defaults = { max_age = \"1d\"; };",
        0600);

    (void)state;
    liststate_make(clirun_path("state"), "phish");
    assert_int_equal(CLIRUN("stat", "-c", conf), 0);
    assert_null(strstr(clirun_out, "older than"));
    clock_set_for_test(clock_wall_us() + UINT64_C(172800000000), 1);
    assert_int_equal(CLIRUN("stat", "--all", "-c", conf), 0);
    clock_unset_for_test();
    assert_has(clirun_out, "fault: list phish: older than its max_age;");
    assert_has(clirun_out, "(older than its max_age)");
}

static void test_stat__when_a_list_is_broken__then_its_fault_and_the_others(
    void **state)
{
    const char *conf = clirun_put("a.conf", "state_dir = \"%s/state\";", 0600);

    (void)state;
    liststate_make(clirun_path("state"), "phish");
    clirun_put("state/lists/phish/CURRENT", "nonsense", 0600);
    assert_int_equal(CLIRUN("stat", "--all", "-c", conf), 0);
    assert_has(clirun_out, "fault: list phish: CURRENT is damaged");
    assert_has(clirun_out, "; fault: CURRENT is damaged");
}

/* As for a user who may not look into the folder. */
static void test_stat__when_lists_cannot_be_seen__then_it_does_not_say_none(
    void **state)
{
    const char *conf = clirun_put("a.conf", "state_dir = \"%s/state\";", 0600);

    (void)state;
    liststate_make(clirun_path("state"), "phish");
    assert_int_equal(rename(clirun_path("state/lists"), clirun_path("state/was")), 0);
    clirun_put("state/lists", "in the way", 0600);
    assert_int_not_equal(CLIRUN("stat", "-c", conf), 0);
    assert_has(clirun_out, "lists: not known, none can be opened\n");
    assert_has(clirun_out, "fault: some lists cannot be opened");
    assert_null(strstr(clirun_out, "none yet"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, clirun_setup, clirun_teardown)
        TEST(test_stat__when_nothing_is_there__then_says_so),
        TEST(test_stat__when_there_is_a_page_and_a_list__then_shown),
        TEST(test_stat__when_json__then_each_line_parses),
        TEST(test_stat__when_a_list_is_old__then_marked),
        TEST(test_stat__when_a_list_is_broken__then_its_fault_and_the_others),
        TEST(test_stat__when_lists_cannot_be_seen__then_it_does_not_say_none),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
