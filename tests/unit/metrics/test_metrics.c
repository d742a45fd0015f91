/*
 * test_metrics - the text of Prometheus: numbers, labels, ranges, and the metrics of lists, feeds
 * and peers.
 */
#include <math.h>
#include <stdio.h>

#include "core/base/clock.h"
#include "core/base/version.h"
#include "core/hub/metrics/metrics.h"
#include "core/hub/metrics/metrics_internal.h"

#include "tests/unit/fetch/feed_config.h"
#include "tests/unit/unit.h"

enum { START_S = 1700000000, TEXT_MAX = 1 << 20 };

struct fixture {
    struct status_board *board;
    struct metrics *metrics;
    struct metrics_snapshot s;
    struct metrics_snapshot_list list;
    struct buf text;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    f->s.config = feed_config();
    clock_set_for_test((uint64_t)START_S * 1000000, 1);
    f->board = status_board_new();
    f->metrics = metrics_new(f->board);
    f->s.now_s = START_S;
    buf_init(&f->text, TEXT_MAX);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < STATUS_BOARD_SECTIONS; i++) {
        json_decref(f->s.section[i]);
    }
    buf_fini(&f->text);
    metrics_free(&f->metrics);
    status_board_free(&f->board);
    clock_unset_for_test();
    config_release(&f->s.config);
    free(f);
    return 0;
}

static void render(struct fixture *f)
{
    buf_clear(&f->text);
    metrics_render(f->metrics, &f->s, false, &f->text);
    assert_false(buf_failed(&f->text));
}

/* The line is there, whole. */
static void assert_line(const struct fixture *f, const char *line)
{
    char whole[512];

    (void)snprintf(whole, sizeof(whole), "\n%s\n", line);
    if (strstr(f->text.p, whole) == NULL) {
        fail_msg("no line %s in\n%s", line, f->text.p);
    }
}

/* ---- the format ---- */

static void test_rows__of_any_number__then_as_prometheus_reads_them(void **state)
{
    static const struct {
        double v;
        const char *text;
    } examples[] = {{0, "x 0\n"},
                    {-3, "x -3\n"},
                    {1700000000.123, "x 1700000000.123\n"},
                    {999999999999999.0, "x 999999999999999\n"},
                    {1e300, "x 1e+300\n"},
                    {0.1, "x 0.1\n"},
                    {(double)NAN, "x NaN\n"},
                    {HUGE_VAL, "x +Inf\n"},
                    {-HUGE_VAL, "x -Inf\n"}};

    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        struct buf b;
        struct prom p = {.to = &b, .name = "x"};

        buf_init(&b, TEXT_MAX);
        prom_row(&p, examples[i].v, PROM_END);
        assert_string_equal(b.p, examples[i].text);
        buf_fini(&b);
    }
}

static void test_labels__of_hostile_names__then_nothing_breaks_out(void **state)
{
    struct buf b;
    struct prom p = {.to = &b, .name = "x"};

    (void)state;
    buf_init(&b, TEXT_MAX);
    prom_row(&p, 1, "a", "\"} 9\ny 1\n\\", "b", "\xc3\xbc\x7f", PROM_END);
    assert_string_equal(b.p, "x{a=\"\\\"} 9?y 1?\\\\\",b=\"???\"} 1\n");
    buf_fini(&b);
}

static void test_histogram__of_ranges__then_each_holds_those_before(void **state)
{
    static const double end[] = {0.1, 1};
    static const uint64_t count[] = {2, 0, 3};
    struct buf b;
    struct prom p = {.to = &b};

    (void)state;
    buf_init(&b, TEXT_MAX);
    prom_family(&p, "x_seconds", PROM_HISTOGRAM, "times");
    prom_histogram(
        &p, &(struct prom_ranges){.n = 3, .end = end, .count = count, .sum = 4.5}, "a",
        "b");
    assert_string_equal(b.p, "# HELP x_seconds times\n"
                             "# TYPE x_seconds histogram\n"
                             "x_seconds_bucket{a=\"b\",le=\"0.1\"} 2\n"
                             "x_seconds_bucket{a=\"b\",le=\"1\"} 2\n"
                             "x_seconds_bucket{a=\"b\",le=\"+Inf\"} 5\n"
                             "x_seconds_sum{a=\"b\"} 4.5\n"
                             "x_seconds_count{a=\"b\"} 5\n");
    buf_fini(&b);
}

/* ---- gillnetd ---- */

static void test_units__of_the_page__then_seconds_shares_and_bytes(void **state)
{
    struct fixture *f = *state;
    uint64_t *v = f->s.stats.value;

    f->s.has_stats = true;
    v[STAT_eom_us] = 1500000;
    v[STAT_filter_error_ppb] = 2000000;
    v[STAT_filter_bits] = 800;
    v[STAT_count_memory_bytes] = 1000;
    v[STAT_count_noise_1h_ppb] = 10000000;
    v[STAT_action_reject] = 3;
    v[STAT_action_discard] = 2;
    v[STAT_action_quarantine] = 1;
    v[STAT_list_entries] = 7;
    render(f);
    assert_line(f, "gillnet_gillnetd_up 0");
    assert_line(f, "gillnet_eom_seconds_total 1.5");
    assert_line(f, "gillnet_filter_error_ratio 0.002");
    assert_line(f, "gillnet_filter_bytes 100");
    assert_line(f, "gillnet_store_memory_bytes 1100");
    assert_line(f, "gillnet_count_noise_ratio{window=\"1h\"} 0.01");
    assert_line(f, "gillnet_count_noise_limit_ratio 0.01");
    assert_line(f, "gillnet_messages_blocked_total 6");
    assert_line(f, "gillnet_actions_total{action=\"reject\"} 3");
    assert_line(f, "gillnet_lists_entries 7");
    assert_null(strstr(f->text.p, "gillnet_pid"));
}

static void test_never_ran__then_only_what_is_known(void **state)
{
    struct fixture *f = *state;

    render(f);
    assert_null(strstr(f->text.p, "gillnet_messages_total"));
    assert_null(strstr(f->text.p, "gillnet_url_checks_total"));
    assert_line(f, "gillnet_build_info{version=\"" GILLNET_VERSION "\"} 1");
}

/* ---- lists, feeds, peers ---- */

static void test_list__then_its_rows(void **state)
{
    struct fixture *f = *state;

    f->s.nlists = 1;
    f->s.lists = &f->list;
    (void)snprintf(f->list.name, sizeof(f->list.name), "phish");
    f->list.stat =
        (struct list_stat){.entries = 5, .fill = 0.5, .updated_s = START_S - 60};
    f->list.has_fault = true;
    f->list.hits.number[LOOKUP_STATS_FALSE] = 9; /* not known: has_hits is false */
    render(f);
    assert_line(f, "gillnet_list_entries{list=\"phish\"} 5");
    assert_line(f, "gillnet_list_filter_fill_ratio{list=\"phish\"} 0.5");
    assert_line(f, "gillnet_list_age_seconds{list=\"phish\"} 60");
    assert_line(f, "gillnet_list_fault{list=\"phish\"} 1");
    assert_line(f, "gillnet_list_false_positives_total{list=\"phish\"} 0");
}

static json_t *feed_row(const char *state, uint64_t changed_s)
{
    return json_pack("{s:s, s:s, s:{s:i}, s:i, s:I, s:i, s:i, s:i, s:i, s:b}", "name",
                     "urlhaus", "state", state, "refused", "size", 2, "entries", 100,
                     "changed_s", (json_int_t)changed_s, "fetch_ms", 1500, "check_ms",
                     400, "import_ms", 100, "added_total", 42, "pinned", 1);
}

static void test_feed__then_its_rows_and_why_it_was_refused(void **state)
{
    struct fixture *f = *state;

    f->s.section[STATUS_BOARD_FEEDS] = json_pack("[o]", feed_row("refused", 5));
    render(f);
    assert_line(f, "gillnet_new_threats_added_total{source=\"urlhaus\"} 42");
    assert_line(f, "gillnet_feed_entries{feed=\"urlhaus\"} 100");
    assert_line(f, "gillnet_feed_fetch_seconds{feed=\"urlhaus\"} 1.5");
    assert_line(f, "gillnet_feed_pinned{feed=\"urlhaus\"} 1");
    assert_line(f, "gillnet_feed_state{feed=\"urlhaus\",state=\"refused\"} 1");
    assert_line(f, "gillnet_feed_refused_total{feed=\"urlhaus\",reason=\"size\"} 2");
    assert_line(f, "gillnet_feed_silent_after_seconds{feed=\"urlhaus\"} 172800");
}

/* The board says so, and a second goes by. */
static void show_feed(struct fixture *f, uint64_t changed_s)
{
    status_board_put(f->board, STATUS_BOARD_FEEDS,
                     json_pack("[o]", feed_row("ok", changed_s)));
    metrics_tick(f->metrics);
}

static void test_updates__when_a_version_comes__then_its_time_is_counted_once(
    void **state)
{
    struct fixture *f = *state;

    show_feed(f, START_S - 10); /* of a former run */
    show_feed(f, START_S + 10);
    show_feed(f, START_S + 10); /* asked again, nothing new */
    metrics_tick(f->metrics);
    show_feed(f, START_S + 20);
    render(f);
    assert_line(f, "gillnet_feed_update_duration_seconds_count{source=\"urlhaus\"} 2");
    assert_line(f, "gillnet_feed_update_duration_seconds_sum{source=\"urlhaus\"} 4");
    assert_line(
        f,
        "gillnet_feed_update_duration_seconds_bucket{source=\"urlhaus\",le=\"1\"} 0");
    assert_line(
        f,
        "gillnet_feed_update_duration_seconds_bucket{source=\"urlhaus\",le=\"5\"} 2");
}

static void test_updates__of_very_many_feeds__then_bounded(void **state)
{
    struct fixture *f = *state;
    json_t *rows = json_array();

    for (int i = 0; i < 2 * METRICS_FEEDS_MAX; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "feed%d", i);
        (void)json_array_append_new(rows,
                                    json_pack("{s:s, s:I}", "name", name, "changed_s",
                                              (json_int_t)START_S + 1));
    }
    status_board_put(f->board, STATUS_BOARD_FEEDS, rows);
    metrics_tick(f->metrics);
    render(f);
    assert_line(f, "gillnet_feed_update_duration_seconds_count{source=\"feed255\"} 1");
    assert_null(strstr(f->text.p, "feed256"));
}

static void test_peers__then_others_that_are_active(void **state)
{
    struct fixture *f = *state;

    f->s.section[STATUS_BOARD_PEERS] = json_pack(
        "[{s:s, s:s, s:b}, {s:s, s:s, s:b, s:b, s:I, s:{s:i}}, {s:s, s:s}]", "name",
        "self", "state", "active", "self", 1, "name", "two", "state", "active", "self",
        0, "connected", 1, "answered_ms", (json_int_t)1700000000250, "refused", "quota",
        4, "name", "gone", "state", "dropped");
    render(f);
    assert_line(f, "gillnet_peer_connected{peer=\"two\"} 1");
    assert_line(f, "gillnet_peer_answered_time_seconds{peer=\"two\"} 1700000000.25");
    assert_line(f, "gillnet_peer_refused_total{peer=\"two\",reason=\"quota\"} 4");
    assert_null(strstr(f->text.p, "peer=\"self\""));
    assert_null(strstr(f->text.p, "peer=\"gone\""));
}

static void test_api__then_routes_that_were_asked(void **state)
{
    struct fixture *f = *state;

    f->s.has_api = true;
    f->s.api.nroutes = 2;
    f->s.api.route[0] = (struct api_route_numbers){.path = "/v1/check",
                                                   .requests = {[2] = 3, [4] = 1},
                                                   .latency = {[0] = 4},
                                                   .latency_us = 2000000};
    f->s.api.route[1].path = "/metrics";
    f->s.api.reports_ham = 5;
    render(f);
    assert_line(f, "gillnet_api_requests_total{route=\"/v1/check\",code=\"2xx\"} 3");
    assert_line(f, "gillnet_api_requests_total{route=\"/v1/check\",code=\"4xx\"} 1");
    assert_line(f, "gillnet_api_request_duration_seconds_sum{route=\"/v1/check\"} 2");
    assert_line(f, "gillnet_false_positive_reports_total 5");
    assert_null(strstr(f->text.p, "route=\"/metrics\""));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows__of_any_number__then_as_prometheus_reads_them),
        cmocka_unit_test(test_labels__of_hostile_names__then_nothing_breaks_out),
        cmocka_unit_test(test_histogram__of_ranges__then_each_holds_those_before),
        TEST(test_units__of_the_page__then_seconds_shares_and_bytes),
        TEST(test_never_ran__then_only_what_is_known),
        TEST(test_list__then_its_rows),
        TEST(test_feed__then_its_rows_and_why_it_was_refused),
        TEST(test_updates__when_a_version_comes__then_its_time_is_counted_once),
        TEST(test_updates__of_very_many_feeds__then_bounded),
        TEST(test_peers__then_others_that_are_active),
        TEST(test_api__then_routes_that_were_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
