/*
 * test_negotiate - requests to the MTA for every subset of its offers.
 */
#include "milter/libmilter.h"
#include "milter/negotiate.h"

#include "tests/unit/unit.h"

static const unsigned long all_noreply = SMFIP_NR_CONN | SMFIP_NR_HELO | SMFIP_NR_MAIL |
                                         SMFIP_NR_RCPT | SMFIP_NR_DATA | SMFIP_NR_UNKN |
                                         SMFIP_NR_HDR | SMFIP_NR_EOH | SMFIP_NR_BODY;
static const unsigned long postfix_actions = 0x1ff;
static const unsigned long postfix_steps = 0x1fffff;

static void test_unix__everything_offered__asks_for_what_is_used(void **state)
{
    (void)state;
    struct negotiation n;
    negotiate(postfix_actions, postfix_steps, false, false, &n);
    assert_int_equal(n.actions, SMFIF_ADDHDRS | SMFIF_CHGHDRS | SMFIF_QUARANTINE |
                                    SMFIF_SETSYMLIST);
    assert_int_equal(n.steps,
                     all_noreply | SMFIP_NOUNKNOWN | SMFIP_NODATA | SMFIP_SKIP);
    assert_int_equal(n.options.noreply, all_noreply);
    assert_true(n.options.may_skip);
    assert_true(n.has_symlist);
}

static void test_inet__everything_offered__answers_data(void **state)
{
    (void)state;
    struct negotiation n;
    negotiate(postfix_actions, postfix_steps, true, false, &n);
    assert_int_equal(n.options.noreply, all_noreply & ~(unsigned long)SMFIP_NR_DATA);
    assert_int_equal(n.steps & (SMFIP_NODATA | SMFIP_NR_DATA), 0);
}

static void test_connect_answered__everything_offered__replies_there(void **state)
{
    (void)state;
    struct negotiation n;
    negotiate(postfix_actions, postfix_steps, false, true, &n);
    assert_int_equal(n.options.noreply, all_noreply & ~(unsigned long)SMFIP_NR_CONN);
}

/* Every subset of actions, and every single step left out: never more than was offered. */
static void test_any__subsets_offered__asks_for_nothing_else(void **state)
{
    (void)state;
    for (unsigned long actions = 0; actions <= postfix_actions; actions++) {
        for (unsigned bit = 0; bit < 22; bit++) {
            unsigned long steps = bit == 21 ? 0 : postfix_steps & ~(1UL << bit);
            struct negotiation n;
            negotiate(actions, steps, bit & 1, bit & 2, &n);
            assert_int_equal(n.actions & ~actions, 0);
            assert_int_equal(n.steps & ~steps, 0);
            assert_int_equal(n.options.noreply & ~n.steps, 0);
            assert_int_equal(n.options.may_skip, (steps & SMFIP_SKIP) != 0);
            assert_int_equal(n.options.actions & SMFIF_SETSYMLIST, 0);
            /* what we need is never switched off */
            assert_int_equal(n.steps & (SMFIP_NOCONNECT | SMFIP_NOHELO | SMFIP_NOMAIL |
                                        SMFIP_NORCPT | SMFIP_NOBODY | SMFIP_NOHDRS |
                                        SMFIP_NOEOH | SMFIP_HDR_LEADSPC),
                             0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unix__everything_offered__asks_for_what_is_used),
        cmocka_unit_test(test_inet__everything_offered__answers_data),
        cmocka_unit_test(test_connect_answered__everything_offered__replies_there),
        cmocka_unit_test(test_any__subsets_offered__asks_for_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
