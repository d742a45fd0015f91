/* test_servers - the servers of one owner from files: current, old, silent, lying ones; totals. */
#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/summary/summary_json.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { MEMBERS = 5, HOUR_S = 3600, DAY_S = 86400 };

static const uint64_t now = 1800000300;

static struct summary sent;
static struct mirror_entry records[SUMMARY_RECORDS_MAX];
static size_t nrecords;
static size_t at;
static struct keyring keys;
static struct headline self = {.at_s = now, .has_run = true, .is_running = true};
static const char *dir;

static void put_origins(void)
{
    struct origin_row rows[MEMBERS];
    struct origins o = {.v = rows, .n = MEMBERS};

    memset(rows, 0, sizeof(rows));
    for (unsigned i = 0; i < MEMBERS; i++) {
        rows[i].origin[0] = (uint8_t)(i + 1);
        rows[i].cap = ORIGIN_NO_CAP;
        (void)snprintf(rows[i].name, sizeof(rows[i].name), "server%u", i);
    }
    rows[4].state = ORIGIN_DROPPED;
    memcpy(o.self, rows[0].origin, ORIGIN_BYTES);
    assert_int_equal(origins_write(dir, &o, NULL), ERR_OK);
}

static int setup(void **state)
{
    struct errinfo why;

    tempdir_setup(state);
    dir = ((struct tempdir *)*state)->path;
    assert_int_equal(keyring_load_or_create(dir, &keys, &why), ERR_OK);
    assert_int_equal(mkdir(tempdir_file(*state, "peers"), 0755), 0);
    assert_int_equal(mkdir(tempdir_file(*state, "peers/lists"), 0755), 0);
    put_origins();
    return 0;
}

static bool next_record(void *context, struct mirror_entry *ret)
{
    (void)context;
    if (at == nrecords) {
        return false;
    }
    *ret = records[at++];
    return true;
}

/* Writes the records as the list of a member. */
static void write_records(unsigned member)
{
    char folder[FILE_PATH_MAX];
    uint8_t origin[ORIGIN_BYTES] = {(uint8_t)(member + 1)};
    char hex[2 * ORIGIN_BYTES + 1];
    struct list_writer *w = NULL;
    struct errinfo why;

    hex_print(origin, ORIGIN_BYTES, hex);
    (void)snprintf(folder, sizeof(folder), "%s/peers/lists/%s", dir, hex);
    assert_int_equal(mkdir(folder, 0755), 0);
    assert_int_equal(
        mirror_open(folder, SLICE_LIT(LIST_SUMMARY), &keys, keys.ring[0].id, &w, &why),
        ERR_OK);
    at = 0;
    assert_int_equal(
        mirror_apply(w, next_record, NULL, nrecords, SLICE_LIT("peer"), &why), ERR_OK);
    list_writer_close(&w);
}

/* n messages in each bucket, made at at_s. */
static void write_summary(unsigned member, uint64_t at_s, uint64_t n)
{
    struct period_view *views[] = {&sent.day, &sent.month, &sent.years};
    const enum period of[] = {PERIOD_DAY, PERIOD_MONTH, PERIOD_YEARS};

    sent.headline = (struct headline){
        .at_s = at_s, .has_run = true, .is_running = true, .version = "1.0"};
    for (size_t i = 0; i < LENGTH(views); i++) {
        period_view_init(views[i], of[i], at_s);
        for (size_t k = 0; k < views[i]->n; k++) {
            views[i]->bucket[k].number[HISTORY_MESSAGES] = n;
        }
    }
    nrecords = summary_print(&sent, records);
    write_records(member);
}

static struct servers_ask ask_for(enum period p)
{
    return (struct servers_ask){
        .state_dir = dir, .now_s = now, .period = p, .self = &self};
}

static json_t *servers(void)
{
    struct servers_ask ask = ask_for(PERIOD_DAY);
    json_t *all = NULL;
    struct errinfo why;

    assert_int_equal(servers_json(&ask, &all, &why), ERR_OK);
    return all;
}

static const char *state_of(json_t *all, size_t i)
{
    json_t *row = json_array_get(json_object_get(all, "servers"), i);
    return json_string_value(json_object_get(row, "summary"));
}

static json_int_t total(json_t *all)
{
    return json_integer_value(
        json_object_get(json_object_get(all, "total"), "messages"));
}

static void test_servers__of_each_kind__only_current_ones_in_the_total(void **state)
{
    (void)state;
    self.today[HISTORY_MESSAGES] = 7;
    write_summary(1, now - 20, 2);
    write_summary(2, now - SUMMARY_STALE_S - 1, 2);
    write_summary(4, now, 1000); /* was dropped */
    json_t *all = servers();
    assert_int_equal(json_array_size(json_object_get(all, "servers")), 4);
    assert_string_equal(state_of(all, 0), "current");
    assert_string_equal(state_of(all, 1), "current");
    assert_string_equal(state_of(all, 2), "stale");
    assert_string_equal(state_of(all, 3), "unheard");
    assert_int_equal(total(all), 7 + 2 * HISTORY_BUCKETS);
    char *missing = json_dumps(json_object_get(all, "missing"), JSON_COMPACT);
    assert_string_equal(missing, "[\"server2\",\"server3\"]");
    free(missing);
    json_decref(all);
}

static void test_servers__a_summary_that_cannot_be_true__is_refused(void **state)
{
    (void)state;
    write_summary(1, now + SUMMARY_SKEW_S + 600, 2);
    write_summary(2, now, 2);
    json_t *all = servers();
    assert_string_equal(state_of(all, 1), "refused");
    assert_string_equal(state_of(all, 2), "current");
    assert_int_equal(total(all), self.today[HISTORY_MESSAGES] + 2 * HISTORY_BUCKETS);
    json_t *row = json_array_get(json_object_get(all, "servers"), 1);
    assert_string_equal(json_string_value(json_object_get(row, "why")),
                        "it was made in the future");
    assert_true(json_is_null(json_object_get(row, "headline")));
    json_decref(all);
}

static void test_servers__records_of_anything__are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < 100; i++) {
        records[i] = (struct mirror_entry){.class_type = 3, .status = ENTRY_LISTED};
        memset(records[i].digest.b, (int)i + 1, DIGEST_BYTES);
    }
    nrecords = 100;
    write_records(1);
    json_t *all = servers();
    assert_string_equal(state_of(all, 1), "refused");
    json_decref(all);
}

static void test_servers__of_a_federation__this_one_alone(void **state)
{
    struct origins o;

    (void)state;
    write_summary(1, now, 2);
    assert_int_equal(origins_read(dir, &o, NULL), ERR_OK);
    o.quorum = 2; /* servers of several owners */
    assert_int_equal(origins_write(dir, &o, NULL), ERR_OK);
    origins_fini(&o);
    json_t *all = servers();
    assert_int_equal(json_array_size(json_object_get(all, "servers")), 1);
    json_decref(all);
}

static json_int_t sum_of(const char *server, enum period p, size_t nservers,
                         size_t nmissing)
{
    struct servers_ask ask = ask_for(p);
    struct errinfo why;
    json_t *all = NULL;
    json_t *row = NULL;
    size_t i = 0;
    json_int_t sum = 0;

    assert_int_equal(servers_history_json(&ask, slice_str(server), &all, &why), ERR_OK);
    assert_int_equal(json_array_size(json_object_get(all, "servers")), nservers);
    assert_int_equal(json_array_size(json_object_get(all, "missing")), nmissing);
    assert_int_equal(json_array_size(json_object_get(all, "buckets")),
                     period_buckets(p));
    json_array_foreach(json_object_get(all, "buckets"), i, row)
    {
        sum += json_integer_value(json_object_get(row, "messages"));
    }
    json_decref(all);
    return sum;
}

static void test_history__of_one_or_all__adds_up(void **state)
{
    struct servers_ask ask = ask_for(PERIOD_DAY);
    struct errinfo why;
    json_t *all = NULL;

    (void)state;
    write_summary(1, now, 2);
    write_summary(2, now - 2 * HOUR_S, 3); /* stale */
    write_summary(3, now, 5);
    for (unsigned p = 0; p < PERIOD_COUNT; p++) {
        json_int_t n = (json_int_t)period_buckets((enum period)p);
        assert_int_equal(sum_of("all", (enum period)p, 4, 1), 7 * n);
        assert_int_equal(sum_of("server1", (enum period)p, 1, 0), 2 * n);
        assert_int_equal(sum_of(SERVER_ALONE, (enum period)p, 1, 0), 0);
        assert_int_equal(sum_of("", (enum period)p, 1, 0), 0);
    }
    assert_int_equal(sum_of("server2", PERIOD_WEEK, 1, 1), 3 * (7 * 24 + 1 - 2));
    assert_int_equal(servers_history_json(&ask, SLICE_LIT("server9"), &all, &why),
                     ERR_NOT_FOUND);
    assert_int_equal(servers_history_json(&ask, SLICE_LIT("server4"), &all, &why),
                     ERR_NOT_FOUND); /* dropped */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, tempdir_teardown)
        TEST(test_servers__of_each_kind__only_current_ones_in_the_total),
        TEST(test_servers__a_summary_that_cannot_be_true__is_refused),
        TEST(test_servers__records_of_anything__are_refused),
        TEST(test_servers__of_a_federation__this_one_alone),
        TEST(test_history__of_one_or_all__adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
