/*
 * test_account - strangers of a login count once a day; too many are said once, and at each doubling.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/verdict/account/account.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

#define DAY_US ((uint64_t)86400 * 1000000)
#define START  (20000 * DAY_US)

enum { MOST = 10 };

struct site {
    char dir[64];
    char path[128];
    struct accounts *a;
};

static struct accounts *open_file(const char *path)
{
    struct accounts *a = NULL;
    struct errinfo why = {.code = ERR_OK};
    if (accounts_open(path, &a, &why) != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
    return a;
}

static int set_up(void **state)
{
    static struct site s;
    assert_true(tempdir_make_fast(s.dir));
    (void)snprintf(s.path, sizeof(s.path), "%s/accounts", s.dir);
    clock_set_for_test(START, START);
    s.a = open_file(s.path);
    *state = &s;
    return 0;
}

static int tear_down(void **state)
{
    struct site *s = *state;
    accounts_close(&s->a);
    clock_unset_for_test();
    assert_int_equal(file_remove_tree(s->dir, NULL), ERR_OK);
    return 0;
}

/* To n strangers from number first on, in one message. */
static bool send(struct site *s, const char *user, unsigned first, unsigned n,
                 struct account_numbers *ret)
{
    struct slice stranger[ACCOUNT_RECIPIENTS];
    char text[ACCOUNT_RECIPIENTS][32];
    for (unsigned i = 0; i < n; i++) {
        (void)snprintf(text[i], sizeof(text[i]), "p%u@their.example", first + i);
        stranger[i] = slice_str(text[i]);
    }
    const struct account_mail mail = {.user = slice_str(user),
                                      .from = SLICE_LIT("ann@our.example"),
                                      .stranger = stranger,
                                      .nstrangers = n,
                                      .nrecipients = n + 1,
                                      .nfirsts = 1};
    return accounts_add(s->a, &mail, MOST, ret);
}

static void test_accounts_add__strangers__count_once_a_day(void **state)
{
    struct site *s = *state;
    struct account_numbers n;
    assert_false(send(s, "ann", 0, 4, &n));
    assert_false(send(s, "ann", 2, 4, &n));
    assert_int_equal(n.strangers, 6);
    assert_int_equal(n.messages, 2);
    assert_int_equal(n.recipients, 10);
    assert_int_equal(n.firsts, 2);
    assert_false(send(s, "bob", 0, 1, &n));
    assert_int_equal(n.strangers, 1);
    clock_advance_us(3600 * (uint64_t)1000000);
    assert_false(send(s, "ann", 0, 1, &n));
    assert_int_equal(n.messages_hour, 1);
    assert_int_equal(n.messages, 3);
    clock_advance_us(DAY_US);
    assert_false(send(s, "ann", 0, 4, &n));
    assert_int_equal(n.strangers, 4);
    assert_int_equal(n.messages, 1);
}

static void test_accounts_add__too_many__is_said_at_the_limit_and_when_doubled(
    void **state)
{
    struct site *s = *state;
    struct account_numbers n;
    char user[ACCOUNT_USER_MAX + 1];
    assert_false(send(s, "ann", 0, MOST, &n));
    assert_int_equal(accounts_above(s->a, MOST, user, &n), 0);
    assert_true(send(s, "ann", MOST, 1, &n));
    assert_int_equal(n.strangers, MOST + 1);
    assert_int_equal(accounts_above(s->a, MOST, user, &n), 1);
    assert_string_equal(user, "ann");
    assert_false(send(s, "ann", MOST + 1, MOST, &n));
    assert_true(send(s, "ann", 2 * MOST + 1, 1, &n));
    clock_advance_us(DAY_US);
    assert_int_equal(accounts_above(s->a, MOST, user, &n), 0);
    assert_true(send(s, "ann", 0, MOST + 1, &n));
}

static void test_accounts_add_bounce__to_its_address__is_the_logins(void **state)
{
    struct site *s = *state;
    struct account_numbers n;
    (void)send(s, "ann", 0, 1, &n);
    accounts_add_bounce(s->a, SLICE_LIT("ann@our.example"));
    accounts_add_bounce(s->a, SLICE_LIT("eve@our.example"));
    accounts_add_complaint(s->a, SLICE_LIT("ann@our.example"));
    accounts_add_complaint(s->a, SLICE_LIT("ann@our.example"));
    accounts_add_complaint(s->a, SLICE_LIT("eve@our.example"));
    (void)send(s, "ann", 1, 1, &n);
    assert_int_equal(n.bounces, 1);
    assert_int_equal(n.complaints, 2);
}

static void test_accounts_save__opened_again__has_the_numbers(void **state)
{
    struct site *s = *state;
    struct account_numbers n;
    struct errinfo why;
    (void)send(s, "a login\nwith a line break", 0, MOST + 1, &n);
    (void)send(s, "bob", 0, 2, &n);
    accounts_add_complaint(s->a, SLICE_LIT("ann@our.example"));
    assert_int_equal(accounts_save(s->a, &why), ERR_OK);
    accounts_close(&s->a);
    s->a = open_file(s->path);
    char user[ACCOUNT_USER_MAX + 1];
    assert_int_equal(accounts_above(s->a, MOST, user, &n), 1);
    assert_string_equal(user, "a?login?with?a?line?break");
    assert_int_equal(n.recipients, MOST + 2);
    assert_int_equal(n.complaints, 1);
    assert_false(send(s, "bob", 2, 1, &n));
    assert_int_equal(n.strangers, 3);
}

static void test_accounts_open__another_file__is_refused(void **state)
{
    struct site *s = *state;
    struct errinfo why = {.code = ERR_OK};
    accounts_close(&s->a);
    assert_int_equal(file_write_atomic(s->path, SLICE_LIT("hello\n"), 0640, &why),
                     ERR_OK);
    assert_int_equal(accounts_open(s->path, &s->a, &why), ERR_CORRUPT);
    assert_non_null(strstr(why.text, "remove it"));
}

static void test_accounts_add__more_logins_than_kept__the_oldest_goes(void **state)
{
    struct site *s = *state;
    struct account_numbers n;
    char user[32];
    for (unsigned i = 0; i <= ACCOUNTS_MAX; i++) {
        (void)snprintf(user, sizeof(user), "u%u", i);
        (void)send(s, user, 0, 1, &n);
        clock_advance_us(1);
    }
    (void)send(s, "u1", 1, 1, &n);
    assert_int_equal(n.strangers, 2);
    (void)send(s, "u0", 1, 1, &n);
    assert_int_equal(n.strangers, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_accounts_add__strangers__count_once_a_day),
        TEST(test_accounts_add__too_many__is_said_at_the_limit_and_when_doubled),
        TEST(test_accounts_add_bounce__to_its_address__is_the_logins),
        TEST(test_accounts_save__opened_again__has_the_numbers),
        TEST(test_accounts_open__another_file__is_refused),
        TEST(test_accounts_add__more_logins_than_kept__the_oldest_goes),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
