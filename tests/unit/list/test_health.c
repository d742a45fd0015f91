/*
 * test_health - filters with more errors than designed are reported, others never; bad blocks are
 * found.
 */
#include <math.h>

#include "core/base/clock.h"
#include "core/list/error_alarm.h"
#include "core/list/health.h"
#include "core/list/reader.h"
#include "core/telemetry/stats.h"

#include "tests/unit/list/list_fixture.h"

enum { NOW = 1800000000, ENTRIES = 20000 };

struct guard_fixture {
    struct fixture *f;
    struct list_manager *h;
    struct config *config;
    struct lookup_stats *hits;
    struct list_health *guard;
    char stats_path[96];
};

static struct config *load(struct guard_fixture *x, const char *more)
{
    char path[128];
    struct buf text;
    struct config *c = NULL;
    struct config_errors errors = {0};
    snprintf(path, sizeof(path), "%s/gillnet.conf", x->f->state);
    buf_init(&text, 1000);
    buf_printf(&text, "state_dir = \"%s\";\n%s\n", x->f->state, more);
    MUST(x->f, file_write_atomic(path, buf_slice(&text), 0600, &x->f->info));
    buf_fini(&text);
    if (config_load(path, NULL, &c, &errors) != ERR_OK) {
        fail_msg("%s", errors.n > 0 ? errors.v[0].text : "config");
    }
    return c;
}

static int setup(void **state)
{
    struct guard_fixture *x = calloc(1, sizeof(*x));
    char path[96];
    void *f = NULL;
    fixture_setup(&f);
    x->f = f;
    clock_set_for_test((uint64_t)NOW * 1000000, 1);
    x->config = load(x, "");
    x->h = list_manager_new(x->f->state, &x->f->keys);
    snprintf(path, sizeof(path), "%s/lists.lookups", x->f->state);
    MUST(x->f, lookup_stats_open(path, NOW, &x->hits, &x->f->info));
    list_manager_set_stats(x->h, x->hits);
    snprintf(x->stats_path, sizeof(x->stats_path), "%s/stats", x->f->state);
    MUST(x->f, stats_open(x->stats_path, &x->f->info));
    x->guard = list_health_new(x->h, x->hits);
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct guard_fixture *x = *state;
    void *f = x->f;
    list_health_free(&x->guard);
    stats_close();
    list_manager_free(&x->h);
    lookup_stats_close(&x->hits);
    config_release(&x->config);
    fixture_teardown(&f);
    free(x);
    clock_unset_for_test();
    return 0;
}

static void refresh(struct guard_fixture *x)
{
    MUST(x->f, list_manager_refresh(x->h, x->config, &x->f->info));
    list_manager_free_retired(x->h);
}

static void make_list(struct guard_fixture *x)
{
    struct list_writer *w = open_writer(x->f);
    import_range(x->f, w, 0, ENTRIES, 0);
    list_writer_close(&w);
    refresh(x);
}

static void look_minutes(struct guard_fixture *x, unsigned minutes)
{
    for (unsigned i = 0; i < minutes * LIST_HEALTH_LOOKS_A_MINUTE; i++) {
        assert_false(list_health_look(x->guard));
        clock_advance_us(250000);
    }
}

/* The text of the list's fault; empty: none. */
static const char *fault_text(struct guard_fixture *x)
{
    static struct stats_view v;
    MUST(x->f, stats_read(x->stats_path, &v, &x->f->info));
    for (unsigned i = 0; i < v.nfaults; i++) {
        if (strncmp(v.fault[i], "filter:test: ", 13) == 0) {
            return v.fault[i] + 13;
        }
    }
    return "";
}

static struct lookup_stats_counts counts(struct guard_fixture *x)
{
    struct lookup_stats_counts c = {0};
    lookup_stats_row_read(lookup_stats_row_find(x->hits, NAME, LOOKUP_STATS_WHOLE), &c);
    return c;
}

/* One reader of the snapshot, as the health check sees it. */
static const struct list_reader *reader_in_use(struct guard_fixture *x)
{
    const struct listset *s = list_manager_acquire(x->h);
    const struct list_reader *r = listset_reader(s, 0);
    list_manager_release(x->h, &s);
    return r;
}

static enum list_answer ask(struct guard_fixture *x, uint64_t n)
{
    return ask_number(reader_in_use(x), n, NOW);
}

static void test_canaries__when_filter_is_well__then_its_error_is_measured(void **state)
{
    struct guard_fixture *x = *state;
    struct list_filters f;
    make_list(x);
    look_minutes(x, ERROR_ALARM_MINUTES + 2);
    struct lookup_stats_counts c = counts(x);
    list_reader_filters(reader_in_use(x), &f);
    double tested = (double)c.number[LOOKUP_STATS_CANARY_TESTED];
    double measured = (double)c.number[LOOKUP_STATS_CANARY_HITS] / tested;
    assert_true(tested > 14.0 * LIST_HEALTH_LOOKS_A_MINUTE * LIST_HEALTH_CANARIES);
    if (fabs(measured - f.error_formula) > 5 * sqrt(f.error_formula / tested)) {
        fail_msg("measured %.6f, formula %.6f", measured, f.error_formula);
    }
    assert_int_equal(c.number[LOOKUP_STATS_ALARMS], 0);
    assert_string_equal(fault_text(x), "");
    assert_int_equal(stats_get(STAT_filter_alarms), 0);
    assert_int_equal(stats_get(STAT_filter_bits), f.bits);
    assert_true(stats_get(STAT_filter_error_ppb) > 0);
    assert_int_equal(stats_get(STAT_scrub_errors), 0);
}

/* Puts a filter of ones in place, under the numbers of the one there: every checksum holds. */
static void saturate(struct guard_fixture *x)
{
    struct reader_part part;
    struct bloomfile file;
    char path[256];
    const struct list_reader *r = reader_in_use(x);
    assert_int_equal(list_reader_parts(r, &part, 1), 1);
    const struct bloom *b = &part.filter->bloom;
    MUST(x->f, bloomfile_new(&file, b->layout, b->nlines, b->k, &x->f->keys.node,
                             &x->f->info));
    file.facts = part.filter->facts;
    memset(file.bloom.words, 0xff, b->nlines * BLOOM_LINE_BYTES);
    snprintf(path, sizeof(path), "%s/base.%08llu", x->f->dir,
             (unsigned long long)part.number);
    MUST(x->f, bloomfile_write(&file, path, &x->f->info));
    bloomfile_close(&file);
    list_manager_reopen(x->h, NAME); /* as after a restart */
    refresh(x);
}

static void test_saturated__when_all_ones__then_told_and_answers_stay_right(
    void **state)
{
    struct guard_fixture *x = *state;
    make_list(x);
    saturate(x);
    assert_null(list_reader_fault(reader_in_use(x)));
    look_minutes(x, 1);
    assert_non_null(strstr(fault_text(x), "100 % of random keys"));
    assert_non_null(strstr(fault_text(x), "gillnet list rebuild test"));
    assert_int_equal(counts(x).number[LOOKUP_STATS_ALARMS],
                     LOOKUP_STATS_ALARM_CANARY | LOOKUP_STATS_ALARM_TARGET);
    assert_int_equal(stats_get(STAT_filter_alarms), 1);
    assert_int_equal(ask(x, 3), LIST_CONFIRMED);
    assert_int_equal(ask(x, ENTRIES + 3), LIST_FALSE_POSITIVE);
    /* the next step works */
    struct list_writer *w = open_writer(x->f);
    MUST(x->f, list_rebuild(w, NULL, NULL, &x->f->info));
    list_writer_close(&w);
    refresh(x);
    look_minutes(x, 1);
    assert_string_equal(fault_text(x), "");
    assert_int_equal(counts(x).number[LOOKUP_STATS_ALARMS], 0);
}

static void test_traffic__when_false_positives_pour_in__then_alarm_until_over(
    void **state)
{
    static const struct {
        uint64_t tested;
        uint64_t false_new;
        bool is_on;
    } minutes[] = {
        {100000, 80, false},  /* as designed */
        {1000, 20, false},    /* many, but few */
        {100000, 3000, true}, /* 1.5 % of all look-ups before */
        {100000, 80, true},
    };
    struct guard_fixture *x = *state;
    make_list(x);
    look_minutes(x, 2);
    struct lookup_stats_row *row =
        lookup_stats_row_find(x->hits, NAME, LOOKUP_STATS_WHOLE);
    for (size_t i = 0; i < sizeof(minutes) / sizeof(minutes[0]); i++) {
        const struct lookup_stats_sums s = {
            .number = {[LOOKUP_STATS_TESTED] = minutes[i].tested,
                       [LOOKUP_STATS_FALSE] = minutes[i].false_new,
                       [LOOKUP_STATS_FALSE_NEW] = minutes[i].false_new}};
        lookup_stats_add(row, &s);
        look_minutes(x, 1);
        assert_int_equal(counts(x).number[LOOKUP_STATS_ALARMS] ==
                             LOOKUP_STATS_ALARM_TRAFFIC,
                         minutes[i].is_on);
        assert_int_equal(*fault_text(x) != '\0', minutes[i].is_on);
    }
    assert_non_null(strstr(fault_text(x), "look-ups of mail are false positives"));
    look_minutes(x, ERROR_ALARM_MINUTES + 1);
    assert_string_equal(fault_text(x), "");
    assert_int_equal(counts(x).number[LOOKUP_STATS_ALARMS], 0);
}

static void test_target__when_filter_errs_above_it__then_told(void **state)
{
    struct guard_fixture *x = *state;
    make_list(x);
    config_release(&x->config);
    x->config = load(x, "lists = ( { name = \"test\"; filter_error = 0.0001; } );");
    refresh(x);
    look_minutes(x, 2);
    assert_non_null(strstr(fault_text(x), "the target is 0.01 %"));
    assert_true((counts(x).number[LOOKUP_STATS_ALARMS] & LOOKUP_STATS_ALARM_TARGET) !=
                0);
    /* a list that is gone has no fault */
    config_release(&x->config);
    x->config = load(x, "lists = ( { name = \"test\"; enabled = false; } );");
    refresh(x);
    look_minutes(x, 1);
    assert_string_equal(fault_text(x), "");
}

static void test_scrub__when_filter_in_memory_goes_bad__then_opened_anew(void **state)
{
    struct guard_fixture *x = *state;
    struct reader_part part;
    make_list(x);
    look_minutes(x, 1);
    assert_int_equal(stats_get(STAT_scrub_errors), 0);
    assert_int_equal(stats_get(STAT_scrub_passes), 1);
    assert_int_equal(list_reader_parts(reader_in_use(x), &part, 1), 1);
    assert_non_null(part.filter);
    part.filter->bloom.words[11] = 0; /* entries lost: a false negative */
    look_minutes(x, 9);
    assert_int_equal(stats_get(STAT_scrub_passes), 1); /* the next pass is not due */
    look_minutes(x, 1);
    assert_int_equal(stats_get(STAT_scrub_errors), 1);
    refresh(x);
    assert_null(list_reader_fault(reader_in_use(x)));
    for (uint64_t n = 0; n < ENTRIES; n++) {
        assert_int_equal(ask(x, n), LIST_CONFIRMED);
    }
    look_minutes(x, 11);
    assert_int_equal(stats_get(STAT_scrub_errors), 1);
    assert_true(stats_get(STAT_scrub_passes) >= 2);
}

static void test_scrub__when_index_on_disk_goes_bad__then_fault_and_answers_stay(
    void **state)
{
    struct guard_fixture *x = *state;
    struct reader_part part;
    char file[64];
    make_list(x);
    assert_int_equal(list_reader_parts(reader_in_use(x), &part, 1), 1);
    snprintf(file, sizeof(file), "index.%08llu", (unsigned long long)part.number);
    flip_byte(x->f, file, 40000);
    look_minutes(x, 1);
    assert_int_equal(stats_get(STAT_scrub_errors), 1);
    refresh(x);
    assert_non_null(list_reader_fault(reader_in_use(x)));
    assert_non_null(strstr(list_reader_fault(reader_in_use(x)), "index"));
    assert_int_not_equal(ask(x, 3), LIST_NO);
    look_minutes(x, 30); /* said once, not at every pass */
    assert_int_equal(stats_get(STAT_scrub_errors), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_canaries__when_filter_is_well__then_its_error_is_measured),
        TEST(test_saturated__when_all_ones__then_told_and_answers_stay_right),
        TEST(test_traffic__when_false_positives_pour_in__then_alarm_until_over),
        TEST(test_target__when_filter_errs_above_it__then_told),
        TEST(test_scrub__when_filter_in_memory_goes_bad__then_opened_anew),
        TEST(test_scrub__when_index_on_disk_goes_bad__then_fault_and_answers_stay),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
