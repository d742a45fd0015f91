/*
 * test_alerts - each alert fires when it should, with its advice, and is over when all is well again.
 */
#include <stdio.h>

#include "core/hub/metrics/alerts.h"
#include "core/hub/metrics/alerts_internal.h"

#include "tests/unit/fetch/feed_config.h"
#include "tests/unit/unit.h"

enum { START_S = 1700000000, LOOK_S = 60, PER_LOOK = 1000 };

struct fixture {
    struct status_board *board;
    struct alerts *alerts;
    struct metrics_snapshot s;
    struct metrics_snapshot_list list;
};

static json_t *feed_row(void)
{
    return json_pack("{s:s, s:s, s:i, s:I}", "name", "urlhaus", "state", "ok",
                     "failures", 4, "good_s", (json_int_t)START_S);
}

static json_t *peer_row(const char *name, bool is_self)
{
    return json_pack("{s:s, s:s, s:b, s:b, s:b, s:b, s:b}", "name", name, "state",
                     "active", "self", (int)is_self, "called", 1, "connected",
                     (int)!is_self, "is_stale", 0, "is_distrusted", 0);
}

/* Nearly full and nearly too late, but not yet. */
static json_t *store_row(void)
{
    return json_pack("{s:s, s:[{s:s, s:s, s:i, s:i}], s:{s:i, s:i, s:i}}", "state",
                     "up", "servers", "address", "mx-redis-1:6379", "fault", "none",
                     "memory_bytes", 90, "memory_limit", 100, "counts", "spool_bytes",
                     90, "spool_limit", 100, "updates_lost", 7);
}

/* All is well. */
static void make_well(struct fixture *f)
{
    struct metrics_snapshot *s = &f->s;
    uint64_t *v = s->stats.value;

    s->has_stats = true;
    s->is_running = true;
    s->has_history = true;
    s->nlists = 1;
    s->lists = &f->list;
    (void)snprintf(f->list.name, sizeof(f->list.name), "phish");
    s->disk_bytes = 100000;
    s->disk_free_bytes = 10000;
    v[STAT_memory_bytes] = 84;
    v[STAT_memory_limit_bytes] = 100;
    v[STAT_filter_error_ppb] = 2000000;
    v[STAT_count_noise_1d_ppb] = 10000000;
    v[STAT_count_cells] = 100;
    v[STAT_count_cells_used] = 89;
    v[STAT_config_id] = 7;
    s->section[STATUS_BOARD_HUB] =
        json_pack("{s:i, s:i}", "config_id", 7, "config_restart_keys", 0);
    s->section[STATUS_BOARD_FEEDS] = json_pack("[o]", feed_row());
    s->section[STATUS_BOARD_PEERS] =
        json_pack("[o, o]", peer_row("self", true), peer_row("two", false));
    s->section[STATUS_BOARD_STORE] = store_row();
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    f->s.config = feed_config();
    f->board = status_board_new();
    f->alerts = alerts_new(f->board);
    f->s.now_s = START_S;
    make_well(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    json_decref(f->s.section[STATUS_BOARD_HUB]);
    json_decref(f->s.section[STATUS_BOARD_FEEDS]);
    json_decref(f->s.section[STATUS_BOARD_PEERS]);
    json_decref(f->s.section[STATUS_BOARD_STORE]);
    alerts_free(&f->alerts);
    status_board_free(&f->board);
    config_release(&f->s.config);
    free(f);
    return 0;
}

/* A minute goes by with mail that takes 20 ms at most, and everybody heard. */
static void look(struct fixture *f)
{
    struct history_times *t = &f->s.history.time[HISTORY_MESSAGE];
    size_t range = 0;

    while (history_time_us[range] < 20000) {
        range++;
    }
    f->s.now_s += LOOK_S;
    f->s.stats.value[STAT_messages] += PER_LOOK;
    t->count[range] += PER_LOOK;
    t->n += PER_LOOK;
    alerts_look(f->alerts, &f->s);
}

/* The caller's. */
static json_t *row_of(struct fixture *f, const char *name)
{
    json_t *rows = status_board_get(f->board, STATUS_BOARD_ALERTS);
    json_t *found = NULL;
    json_t *row = NULL;
    size_t i = 0;

    json_array_foreach(rows, i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "name")), name) == 0) {
            found = json_incref(row);
        }
    }
    json_decref(rows);
    assert_non_null(found);
    return found;
}

static bool fires(struct fixture *f, const char *name)
{
    json_t *row = row_of(f, name);
    bool is_firing = json_is_true(json_object_get(row, "firing"));

    json_decref(row);
    return is_firing;
}

static size_t firing(struct fixture *f)
{
    json_t *rows = status_board_get(f->board, STATUS_BOARD_ALERTS);
    json_t *row = NULL;
    size_t i = 0;
    size_t n = 0;

    json_array_foreach(rows, i, row)
    {
        n += json_is_true(json_object_get(row, "firing"));
    }
    json_decref(rows);
    return n;
}

/* ---- what makes each one fire, and all well again ---- */

static void set_row(json_t *rows, size_t at, const char *key, json_t *value)
{
    (void)json_object_set_new(json_array_get(rows, at), key, value);
}

#define FEEDS f->s.section[STATUS_BOARD_FEEDS]
#define PEERS f->s.section[STATUS_BOARD_PEERS]
#define V     f->s.stats.value

static void down(struct fixture *f, bool bad)
{
    f->s.is_running = !bad;
}
static void errors(struct fixture *f, bool bad)
{
    V[STAT_on_error] += bad ? PER_LOOK / 10 : 0;
    V[STAT_deadline] += bad ? 1 : 0;
}
static void sessions(struct fixture *f, bool bad)
{
    V[STAT_sessions_refused] += bad ? 1 : 0;
}
static void unread(struct fixture *f, bool bad)
{
    V[STAT_messages_unread] += bad ? 1 : 0;
}
static void latency(struct fixture *f, bool bad)
{
    struct history_times *t = &f->s.history.time[HISTORY_MESSAGE];

    t->count[HISTORY_TIMES - 2] += bad ? PER_LOOK / 10 : 0;
    t->n += bad ? PER_LOOK / 10 : 0;
}
static void memory(struct fixture *f, bool bad)
{
    V[STAT_memory_bytes] = bad ? 86 : 85;
}
static void emergency(struct fixture *f, bool bad)
{
    V[STAT_emergency] = bad ? 1 : 0;
}
static void false_positives(struct fixture *f, bool bad)
{
    V[STAT_filter_error_ppb] = bad ? 2000001 : 2000000;
}
static void filter_alarm(struct fixture *f, bool bad)
{
    V[STAT_filter_alarms] = bad ? 1 : 0;
}
static void list_fault(struct fixture *f, bool bad)
{
    f->list.has_fault = bad;
}
static void list_old(struct fixture *f, bool bad)
{
    f->list.is_old = bad;
}
static void refused(struct fixture *f, bool bad)
{
    set_row(FEEDS, 0, "state", json_string(bad ? "refused" : "ok"));
}
static void failing(struct fixture *f, bool bad)
{
    set_row(FEEDS, 0, "failures", json_integer(bad ? ALERTS_FAILURES : 0));
}
static void silent(struct fixture *f, bool bad)
{
    set_row(FEEDS, 0, "good_s",
            json_integer((json_int_t)f->s.now_s - (bad ? 86401 : 86000) + LOOK_S));
}
static void lost(struct fixture *f, bool bad)
{
    set_row(PEERS, 1, "connected", json_boolean(!bad));
}
static void set_distrusted(struct fixture *f, bool bad)
{
    set_row(PEERS, 1, "is_distrusted", json_boolean(bad));
}
static void noise(struct fixture *f, bool bad)
{
    V[STAT_count_noise_14d_ppb] = bad ? 10000001 : 0;
}
static void counts_volatile(struct fixture *f, bool bad)
{
    V[STAT_count_volatile] = bad;
}
static void account(struct fixture *f, bool bad)
{
    V[STAT_accounts_above] = bad;
}
static void limits(struct fixture *f, bool bad)
{
    V[STAT_messages] += 2999;
    V[STAT_limit_charset] += 2999; /* no key raises it */
    V[STAT_limit_cpu] += bad ? 30 : 1;
}
static void counts_full(struct fixture *f, bool bad)
{
    V[STAT_count_cells_used] = bad ? 91 : 90;
}
static void damage(struct fixture *f, bool bad)
{
    V[STAT_count_damaged_runs] = bad;
}
static void disk(struct fixture *f, bool bad)
{
    f->s.disk_free_bytes = bad ? 4999 : 5000;
}
static void clock_jump(struct fixture *f, bool bad)
{
    V[STAT_count_clock_suspended] = bad;
}
static void log_lost(struct fixture *f, bool bad)
{
    V[STAT_log_dropped] += bad ? 1 : 0;
}
static void reader_away(struct fixture *f, bool bad)
{
    V[STAT_files_read] = 1;
    V[STAT_files_unasked] += bad ? 1 : 0;
}
static void reload(struct fixture *f, bool bad)
{
    V[STAT_reloads_failed] += bad ? 1 : 0;
}
static void store_down(struct fixture *f, bool bad)
{
    json_t *store = f->s.section[STATUS_BOARD_STORE];
    json_t *server = json_array_get(json_object_get(store, "servers"), 0);

    json_object_set_new(store, "state", json_string(bad ? "partly" : "up"));
    json_object_set_new(server, "fault", json_string(bad ? "connect" : "none"));
}
static void store_full(struct fixture *f, bool bad)
{
    json_t *store = f->s.section[STATUS_BOARD_STORE];
    json_t *server = json_array_get(json_object_get(store, "servers"), 0);

    json_object_set_new(server, "memory_bytes", json_integer(bad ? 91 : 90));
}
static void store_spool(struct fixture *f, bool bad)
{
    json_object_set_new(json_object_get(f->s.section[STATUS_BOARD_STORE], "counts"),
                        "spool_bytes", json_integer(bad ? 91 : 90));
}
static void store_lost(struct fixture *f, bool bad)
{
    json_t *counts = json_object_get(f->s.section[STATUS_BOARD_STORE], "counts");
    const json_int_t lost = json_integer_value(json_object_get(counts, "updates_lost"));

    json_object_set_new(counts, "updates_lost", json_integer(lost + (bad ? 1 : 0)));
}
static void config_apart(struct fixture *f, bool bad)
{
    V[STAT_config_id] = bad ? 8 : 7;
}
static void restart(struct fixture *f, bool bad)
{
    json_object_set_new(f->s.section[STATUS_BOARD_HUB], "config_restart_keys",
                        json_integer(bad ? 1 : 0));
}

static const struct example {
    const char *name;
    const char *severity;
    void (*make)(struct fixture *f, bool bad);
    const char *message; /* somewhere in it */
    const char *action;
} examples[] = {
    {"GillnetDown", "critical", down, "gillnetd does not run",
     "systemctl start gillnetd"},
    {"GillnetErrors", "critical", errors, "internal error", "gillnet doctor"},
    {"GillnetSessionsRefused", "critical", sessions, "limits.sessions",
     "raise limits.sessions"},
    {"GillnetLimits", "warning", limits, ": limits.cpu", "raise that limit"},
    {"GillnetLatency", "warning", latency, "one message in a hundred", "slow stage"},
    {"GillnetEmergency", "warning", emergency, "more URLs are checked",
     "flood of mail"},
    {"GillnetMemory", "warning", memory, "alerts.memory", "MemoryMax"},
    {"GillnetFalsePositives", "warning", false_positives, "alerts.false_positives",
     "gillnet list rebuild"},
    {"GillnetFilterAlarm", "warning", filter_alarm, "err far more",
     "gillnet list rebuild"},
    {"GillnetListFault", "critical", list_fault, ": phish", "gillnet list verify"},
    {"GillnetUnread", "critical", unread, "cannot read", "gillnet doctor"},
    {"GillnetReader", "warning", reader_away, "attached files", "gillnet doctor"},
    {"GillnetListOld", "warning", list_old, ": phish", "gillnet feed list"},
    {"GillnetFeedRefused", "warning", refused, ": urlhaus", "gillnet feed test NAME"},
    {"GillnetFeedFailing", "warning", failing, ": urlhaus", "gillnet feed list"},
    {"GillnetFeedSilent", "warning", silent, ": urlhaus", "silent_after"},
    {"GillnetPeerLost", "warning", lost, ": two", "gillnet peer status"},
    {"GillnetPeerDistrusted", "critical", set_distrusted, ": two",
     "gillnet peer drop NAME"},
    {"GillnetStoreDown", "warning", store_down, ": mx-redis-1:6379",
     "gillnet store status"},
    {"GillnetStoreFull", "warning", store_full, "nearly full", "raise maxmemory"},
    {"GillnetStoreSpool", "warning", store_spool, "90 % of store.spool",
     "raise store.spool"},
    {"GillnetStoreLost", "critical", store_lost, "counts were dropped",
     "raise store.spool"},
    {"GillnetNoise", "warning", noise, "count.noise_floor", "count.messages_per_day"},
    {"GillnetCountsVolatile", "critical", counts_volatile, "disk cannot be written",
     "make room for counts/"},
    {"GillnetCountsFull", "warning", counts_full, "nearly full",
     "count.messages_per_day"},
    {"GillnetDamage", "critical", damage, "damaged", "gillnet count verify"},
    {"GillnetDiskFull", "critical", disk, "less than 5 %", "make room"},
    {"GillnetAccount", "warning", account, "account.recipients", "gillnet stat"},
    {"GillnetClock", "warning", clock_jump, "the clock jumped", "NTP"},
    {"GillnetLogDropped", "warning", log_lost, "log lines are lost", "syslog"},
    {"GillnetReloadRefused", "warning", reload, "a reload was refused",
     "gillnet config check"},
    {"GillnetConfigDiffers", "warning", config_apart, "different configurations",
     "gillnet reload"},
    {"GillnetRestartNeeded", "warning", restart, "another value than the file",
     "gillnet doctor"},
};
enum { EXAMPLES = sizeof(examples) / sizeof(examples[0]) };

/* Looks in the state that the example makes, n times. */
static void look_at(struct fixture *f, const struct example *e, bool bad, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        e->make(f, bad);
        look(f);
    }
}

static void assert_row(struct fixture *f, const struct example *e)
{
    json_t *row = row_of(f, e->name);
    const char *message = json_string_value(json_object_get(row, "message"));
    const char *action = json_string_value(json_object_get(row, "action"));

    assert_string_equal(json_string_value(json_object_get(row, "severity")),
                        e->severity);
    assert_non_null(strstr(message, e->message));
    assert_non_null(strstr(action, e->action));
    assert_int_equal(json_integer_value(json_object_get(row, "since_s")), f->s.now_s);
    assert_true(json_number_value(json_object_get(row, "value")) >
                json_number_value(json_object_get(row, "threshold")));
    json_decref(row);
}

static void test_each__when_it_is_bad_twice__then_it_fires_alone(void **state)
{
    for (size_t i = 0; i < EXAMPLES; i++) {
        const struct example *e = &examples[i];
        struct fixture *f = NULL;

        assert_int_equal(setup((void **)&f), 0);
        look_at(f, e, false, 3);
        assert_int_equal(firing(f), 0);
        look_at(f, e, true, 1);
        assert_int_equal(firing(f), 0);
        look_at(f, e, true, 1);
        if (!fires(f, e->name) || firing(f) != 1) {
            fail_msg("%s does not fire, or not alone", e->name);
        }
        assert_row(f, e);
        assert_int_equal(teardown((void **)&f), 0);
    }
    (void)state;
}

static void test_each__when_it_is_well_twice__then_it_is_over(void **state)
{
    enum { WINDOW = ALERTS_WINDOW_S / LOOK_S };

    for (size_t i = 0; i < EXAMPLES; i++) {
        const struct example *e = &examples[i];
        struct fixture *f = NULL;

        assert_int_equal(setup((void **)&f), 0);
        look_at(f, e, false, 3);
        look_at(f, e, true, 2);
        assert_true(fires(f, e->name));
        look_at(f, e, false, 1);
        assert_true(fires(f, e->name)); /* one good look is none */
        look_at(f, e, false, WINDOW + 1);
        if (fires(f, e->name)) {
            fail_msg("%s goes on", e->name);
        }
        assert_int_equal(teardown((void **)&f), 0);
    }
    (void)state;
}

static void test_table__when_it_grows__then_there_is_an_example(void **state)
{
    static const char *const names[] = {
#define ALERT(name, severity, look, message, action) #name,
#include "core/hub/metrics/alert.def"
#undef ALERT
    };
    (void)state;
    assert_int_equal(sizeof(names) / sizeof(names[0]), EXAMPLES);
    for (size_t i = 0; i < EXAMPLES; i++) {
        assert_string_equal(names[i], examples[i].name);
    }
}

/* A feed that failed, but of which nothing ever came. */
static void test_feed__when_nothing_ever_came__then_it_is_silent(void **state)
{
    struct fixture *f = *state;

    set_row(FEEDS, 0, "good_s", json_integer(0));
    look(f);
    look(f);
    assert_true(fires(f, "GillnetFeedSilent"));
    set_row(FEEDS, 0, "failures", json_integer(0)); /* nor was it asked yet */
    look(f);
    look(f);
    assert_int_equal(firing(f), 0);
}

static void test_look__when_bad_and_good_alternate__then_nothing_fires(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 10; i++) {
        f->s.is_running = i % 2 == 0;
        look(f);
        assert_int_equal(firing(f), 0);
    }
}

static void test_look__when_there_never_was_a_reader__then_no_alert(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < 4; i++, V[STAT_files_unasked]++) {
        look(f);
        assert_int_equal(firing(f), 0);
    }
}

static void test_look__when_the_page_is_gone_for_a_moment__then_old_sums_are_no_rise(
    void **state)
{
    struct fixture *f = *state;
    struct metrics_snapshot before;

    V[STAT_log_dropped] = 1000;
    V[STAT_on_error] = 1000;
    look(f);
    before = f->s;
    f->s.has_stats = false;
    f->s.has_history = false;
    memset(&f->s.stats, 0, sizeof(f->s.stats));
    memset(&f->s.history, 0, sizeof(f->s.history));
    alerts_look(f->alerts, &f->s);
    f->s = before;
    look(f);
    look(f);
    assert_int_equal(firing(f), 0);
}

static void test_look__when_counters_begin_anew__then_they_rise_from_nothing(
    void **state)
{
    struct fixture *f = *state;

    V[STAT_on_error] = 5000;
    look(f);
    look(f);
    V[STAT_on_error] = 3;
    V[STAT_messages] = 1000;
    look(f);
    look(f);
    assert_int_equal(firing(f), 0);
}

static void test_latency__when_there_is_little_mail__then_one_slow_message_is_no_alert(
    void **state)
{
    struct fixture *f = *state;
    struct history_times *t = &f->s.history.time[HISTORY_MESSAGE];

    for (int i = 0; i < 3; i++) {
        t->count[HISTORY_TIMES - 2]++;
        t->n++;
        f->s.now_s += LOOK_S;
        alerts_look(f->alerts, &f->s);
    }
    assert_int_equal(firing(f), 0);
}

static void test_subjects__when_there_are_very_many__then_all_are_counted(void **state)
{
    struct fixture *f = *state;
    json_t *row = NULL;

    for (int i = 0; i < 99; i++) {
        (void)json_array_append_new(FEEDS, feed_row());
    }
    for (size_t i = 0; i < 100; i++) {
        set_row(FEEDS, i, "state", json_string("refused"));
    }
    look(f);
    look(f);
    row = row_of(f, "GillnetFeedRefused");
    assert_int_equal(json_number_value(json_object_get(row, "value")), 100);
    json_decref(row);
}

static void test_nothing_known__when_gillnetd_never_ran__then_nothing_fires(
    void **state)
{
    struct fixture *f = *state;
    struct metrics_snapshot s = {.config = f->s.config, .now_s = START_S};

    for (int i = 0; i < 3; i++) {
        alerts_look(f->alerts, &s);
    }
    assert_int_equal(firing(f), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each__when_it_is_bad_twice__then_it_fires_alone),
        cmocka_unit_test(test_each__when_it_is_well_twice__then_it_is_over),
        cmocka_unit_test(test_table__when_it_grows__then_there_is_an_example),
        TEST(test_feed__when_nothing_ever_came__then_it_is_silent),
        TEST(test_look__when_bad_and_good_alternate__then_nothing_fires),
        TEST(test_look__when_there_never_was_a_reader__then_no_alert),
        TEST(test_look__when_the_page_is_gone_for_a_moment__then_old_sums_are_no_rise),
        TEST(test_look__when_counters_begin_anew__then_they_rise_from_nothing),
        TEST(
            test_latency__when_there_is_little_mail__then_one_slow_message_is_no_alert),
        TEST(test_subjects__when_there_are_very_many__then_all_are_counted),
        TEST(test_nothing_known__when_gillnetd_never_ran__then_nothing_fires),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
