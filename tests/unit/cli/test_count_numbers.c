/* test_count_numbers - the state of the counts, and the advice. */
#include "core/cli/count_numbers.h"
#include "core/count/runset.h"

#include "tests/unit/unit.h"

enum { NOW = 1800000000 };

static struct stats_view page_of(uint64_t fill_percent, uint64_t days)
{
    struct stats_view page;
    memset(&page, 0, sizeof(page));
    page.value[STAT_count_messages_per_day] = 10000;
    page.value[STAT_count_doorkeeper_entries] = fill_percent * 1000;
    page.value[STAT_count_doorkeeper_capacity] = 100000;
    page.value[STAT_count_cells] = 1000;
    page.value[STAT_count_oldest] = NOW - days * COUNT_DAY_S;
    return page;
}

static void test_size__by_fill_and_age__advised(void **state)
{
    static const struct {
        uint64_t fill;
        uint64_t days;
        uint64_t advised;
    } rows[] = {
        {77, 15, 0}, /* as planned */
        {86, 15, 0},      {87, 15, 20000},
        {100, 20, 20000}, {10, 0, 0}, /* too early to tell */
        {10, 1, 20000},               /* 150 % in a fortnight */
        {77, 1, 200000}, /* a site of ten times the size, on its first day */
        {0, 3, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct stats_view page = page_of(rows[i].fill, rows[i].days);
        struct count_numbers n;
        count_numbers_get(&page, 0.001, NOW, &n);
        if (n.advised_messages != rows[i].advised) {
            fail_msg("%d %% after %d days: %d", (int)rows[i].fill, (int)rows[i].days,
                     (int)n.advised_messages);
        }
    }
}

static void test_size__cells_are_fuller__they_count(void **state)
{
    struct stats_view page = page_of(10, 15);
    struct count_numbers n;

    (void)state;
    page.value[STAT_count_cells_used] = 950;
    count_numbers_get(&page, 0.001, NOW, &n);
    assert_int_equal(n.advised_messages, 20000);
}

struct seen {
    unsigned n;
    unsigned nserious;
    char text[1024];
};

static void on_trouble(void *context, bool is_serious, const char *text,
                       const char *advice)
{
    struct seen *s = context;
    s->n++;
    s->nserious += is_serious;
    assert_true(advice[0] != '\0');
    strncat(s->text, text, sizeof(s->text) - strlen(s->text) - 1);
}

static void test_troubles__each_said_once(void **state)
{
    struct stats_view page = page_of(10, 15);
    struct count_numbers n;
    struct seen s = {.n = 0};

    (void)state;
    count_numbers_get(&page, 0.001, NOW, &n);
    count_numbers_troubles(&n, on_trouble, &s);
    assert_int_equal(s.n, 0);
    page.value[STAT_count_volatile] = 1;
    page.value[STAT_count_clock_suspended] = 1;
    page.value[STAT_count_damaged_runs] = 3;
    page.value[STAT_count_noise_1d_ppb] = 1000001; /* of 1,000,000 allowed */
    page.value[STAT_count_noise_1h_ppb] = 1000000;
    count_numbers_get(&page, 0.001, NOW, &n);
    count_numbers_troubles(&n, on_trouble, &s);
    assert_int_equal(s.n, 3); /* noise is not known yet */
    page.value[STAT_count_noise_known] = 1;
    s = (struct seen){.n = 0};
    count_numbers_get(&page, 0.001, NOW, &n);
    count_numbers_troubles(&n, on_trouble, &s);
    assert_int_equal(s.n, 4);
    assert_non_null(strstr(s.text, "noise floor of 1d"));
    assert_null(strstr(s.text, "noise floor of 1h"));
}

static void test_json__names_without_prefix(void **state)
{
    struct stats_view page = page_of(50, 15);
    struct count_numbers n;

    (void)state;
    page.value[STAT_count_live_keys] = 42;
    count_numbers_get(&page, 0.001, NOW, &n);
    json_t *o = count_numbers_json(&n);
    assert_non_null(o);
    assert_string_equal(json_string_value(json_object_get(o, "type")), "counting");
    assert_int_equal(json_integer_value(json_object_get(o, "live_keys")), 42);
    assert_true(json_real_value(json_object_get(o, "doorkeeper_fill")) == 0.5);
    assert_true(json_is_real(json_object_get(json_object_get(o, "noise"), "14d")));
    assert_null(json_object_get(o, "noise_14d_ppb"));
    json_decref(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size__by_fill_and_age__advised),
        cmocka_unit_test(test_size__cells_are_fuller__they_count),
        cmocka_unit_test(test_troubles__each_said_once),
        cmocka_unit_test(test_json__names_without_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
