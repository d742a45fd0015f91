/* test_mail_date - dates as programs write them, and as they do not. */
#include <stdio.h>

#include "core/message/trait/mail_date.h"

#include "tests/unit/unit.h"

static const struct row {
    const char *text;
    bool is_date;
    bool is_exact;
    int64_t unix_time;
} rows[] = {
    {"Thu, 1 Jan 1970 00:00:00 +0000", true, true, 0},
    {"Fri, 21 Nov 1997 09:55:06 -0600", true, true, 880127706},
    {"21 Nov 97 09:55 GMT", true, true, 880106100},
    {"1 Mar 26 00:00 GMT", true, true, 1772323200},
    {"31 Dec 49 00:00 GMT", true, true, 2524521600},
    {"1 Jan 50 00:00 GMT", true, true, -631152000},
    {"1 Mar 126 00:00 GMT", true, true, 1772323200}, /* as some programs count */
    {"Thu, 29 Feb 2024 23:59:60 +0530 (IST)", true, true, 1709231400},
    {"Sun, 01 Mar 2026 00:00:00 +0000", true, true, 1772323200},
    {" fri ,  21  nov  1997 09:55:06 -0600", true, true, 880127706},
    {"Sat, 21 Nov 1997 09:55:06 -0600", true, false, 880127706}, /* a Friday */
    {"Fri 21 Nov 1997 09:55:06 -0600", true, false, 880127706},
    {"Fri, 21 Nov 1997 09:55:06", true, false, 880106106},
    {"Fri, 21 Nov 1997 09:55:06 -06", true, false, 880106106 + 6 * 60},
    {"Fri, 21 Nov 1997 09:55:06 -0600 PM", true, false, 880127706},
    {"Fri, 21 Nov 1997 25:55:06 -0600", false, false, 0},
    {"Fri, 32 Nov 1997 09:55:06 -0600", false, false, 0},
    {"Fri, 21 Foo 1997 09:55:06 -0600", false, false, 0},
    {"2026-01-01 00:00:00", false, false, 0},
    {"Fri, 21 Nov 1997", false, false, 0},
    {"99999999999999999999", false, false, 0},
    {"", false, false, 0},
};

static void test_parse__each_text__date_or_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mail_date got = {.unix_time = 0};
        bool is_date = mail_date_parse(slice_str(rows[i].text), &got);
        if (is_date != rows[i].is_date ||
            (is_date && (got.is_exact != rows[i].is_exact ||
                         got.unix_time != rows[i].unix_time))) {
            fail_msg("%s: %d %d %lld", rows[i].text, is_date, got.is_exact,
                     (long long)got.unix_time);
        }
    }
}

/* Every day of four centuries, against a count from one day to the next. */
static void test_parse__each_day__one_more_than_the_last(void **state)
{
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t day = 0;
    (void)state;
    for (int year = 1970; year < 2370; year++) {
        bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        for (int m = 0; m < 12; m++) {
            for (int d = 1; d <= lengths[m] + (m == 1 && is_leap); d++) {
                char text[64];
                struct mail_date got;
                snprintf(text, sizeof(text), "%d %s %d 00:00:00 +0000", d, months[m],
                         year);
                assert_true(mail_date_parse(slice_str(text), &got));
                assert_int_equal(got.unix_time, day * 86400);
                day++;
            }
        }
    }
}

static void test_received__last_semicolon__the_date_is_behind(void **state)
{
    (void)state;
    struct slice date = mail_date_of_received(
        SLICE_LIT("from a (b; c) by d; Fri, 21 Nov 1997 09:55:06 -0600"));
    assert_int_equal(slice_trim(date).p[0], 'F');
    assert_int_equal(mail_date_of_received(SLICE_LIT("from a")).n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse__each_text__date_or_not),
        cmocka_unit_test(test_parse__each_day__one_more_than_the_last),
        cmocka_unit_test(test_received__last_semicolon__the_date_is_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
