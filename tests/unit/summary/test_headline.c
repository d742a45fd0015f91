/* test_headline - the sentence, its states, numbers and ages. */
#include "core/base/version.h"
#include "core/summary/headline.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

static const uint64_t now = 1800000000;

static const char *sentence(const struct headline *h)
{
    static char text[512];
    struct buf b;

    buf_init(&b, sizeof(text) - 1);
    headline_print(h, now, &b);
    assert_false(buf_failed(&b));
    (void)snprintf(text, sizeof(text), "%.*s", SLICE_ARGS(buf_slice(&b)));
    buf_fini(&b);
    return text;
}

static struct headline well(void)
{
    return (struct headline){.at_s = now,
                             .has_run = true,
                             .is_running = true,
                             .today = {[HISTORY_MESSAGES] = 7000,
                                       [HISTORY_REJECT] = 2470,
                                       [HISTORY_DISCARD] = 1,
                                       [HISTORY_HEADER] = 400},
                             .has_feeds = true,
                             .feed_good_s = now - 14 * 60 - 59};
}

static void test_print__well__as_the_administrator_reads_it(void **state)
{
    struct headline h = well();

    (void)state;
    assert_string_equal(sentence(&h), "Well. 7,000 messages today, 2,471 refused, 400 "
                                      "marked. Oldest feed: 14 min.");
    h.has_feeds = false;
    h.today[HISTORY_QUARANTINE] = 1234567;
    h.today[HISTORY_DEFER] = 12;
    h.today[HISTORY_MESSAGES] = 1;
    assert_string_equal(sentence(&h),
                        "Well. 1 message today, 2,471 refused, 400 marked, "
                        "1,234,567 held, 12 deferred.");
}

static void test_print__other_states__first(void **state)
{
    struct headline h = well();

    (void)state;
    h.needs = 1;
    assert_memory_equal(sentence(&h), "1 thing needs you. 7,000", 24);
    h.needs = 2;
    assert_memory_equal(sentence(&h), "2 things need you. ", 19);
    h.is_running = false;
    assert_memory_equal(sentence(&h), "gillnetd does not run. ", 23);
    h.has_run = false;
    assert_memory_equal(sentence(&h), "gillnetd has not run yet. ", 26);
}

static void test_print__ages__in_a_unit_that_fits(void **state)
{
    static const struct {
        uint64_t age_s;
        const char *text;
    } rows[] = {{0, "0 s."},        {119, "119 s."},        {120, "2 min."},
                {7199, "119 min."}, {7200, "2 h."},         {172799, "47 h."},
                {172800, "2 d."},   {86400 * 400, "400 d."}};
    struct headline h = well();

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        h.feed_good_s = now - rows[i].age_s;
        const char *text = sentence(&h);
        assert_string_equal(text + strlen(text) - strlen(rows[i].text), rows[i].text);
    }
    h.feed_good_s = now + 50; /* a clock that went back */
    assert_non_null(strstr(sentence(&h), "Oldest feed: 0 s."));
    h.feed_good_s = 0;
    assert_non_null(strstr(sentence(&h), "Oldest feed: never."));
}

static void test_add__rows__count_what_holds(void **state)
{
    struct headline h = well();
    json_t *alerts = json_loads("[{\"name\":\"A\",\"firing\":true},{\"name\":\"B\","
                                "\"firing\":false},{\"firing\":true},7]",
                                0, NULL);
    json_t *feeds = json_loads("[{\"enabled\":false,\"good_s\":1},{\"enabled\":true,"
                               "\"good_s\":500},{\"enabled\":true,\"good_s\":400}]",
                               0, NULL);

    (void)state;
    h.has_feeds = false;
    h.feed_good_s = 0;
    headline_add_alerts(&h, alerts);
    headline_add_feeds(&h, feeds);
    headline_add_feeds(&h, NULL);
    assert_int_equal(h.needs, 1);
    assert_int_equal(h.nalerts, 1);
    assert_string_equal(h.alert[0], "A");
    assert_true(h.has_feeds);
    assert_int_equal(h.feed_good_s, 400);
    json_decref(alerts);
    json_decref(feeds);
}

static void test_read__without_pages__new_and_empty(void **state)
{
    struct tempdir *t = *state;
    struct headline h;

    headline_read(t->path, now, &h);
    assert_int_equal(headline_state(&h), HEADLINE_NEW);
    assert_int_equal(h.today[HISTORY_MESSAGES], 0);
    assert_string_equal(h.version, GILLNET_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print__well__as_the_administrator_reads_it),
        cmocka_unit_test(test_print__other_states__first),
        cmocka_unit_test(test_print__ages__in_a_unit_that_fits),
        cmocka_unit_test(test_add__rows__count_what_holds),
        cmocka_unit_test_setup_teardown(test_read__without_pages__new_and_empty,
                                        tempdir_setup, tempdir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
