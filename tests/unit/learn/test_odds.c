/*
 * test_odds - the second opinion: both classes weigh alike; a model's answer as a text.
 */
#include <math.h>

#include "core/learn/odds.h"

#include "tests/unit/unit.h"

enum { TERM = (int)VECTOR_TEXT << VECTOR_HASH_BITS | 77 };

static const uint32_t term = TERM;
static const struct vector message = {
    .n = 1, .term = &term, .count = {[VECTOR_TEXT] = 1}};

static struct model_seen *seen;

static int set_up(void **state)
{
    (void)state;
    seen = calloc(MODEL_SEEN, sizeof(*seen));
    return seen == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    free(seen);
    return 0;
}

/* The odds of a term by its number of messages in each class, of ten messages each. */
static double odds_after(unsigned nham, unsigned nspam)
{
    static const float ten[] = {10, 10};
    float counted[2] = {0, 0};
    memset(seen, 0, MODEL_SEEN * sizeof(*seen));
    for (unsigned i = 0; i < nham; i++) {
        odds_count(seen, counted, &message, false, 1);
    }
    for (unsigned i = 0; i < nspam; i++) {
        odds_count(seen, counted, &message, true, 1);
    }
    return odds_of(seen, ten, &message);
}

static void test_odds__of_both_classes__weigh_alike(void **state)
{
    (void)state;
    assert_true(fabs(odds_after(0, 0)) < 0.001);
    assert_true(fabs(odds_after(4, 4)) < 0.001);
    assert_true(odds_after(0, 4) > 0.1);
    assert_true(odds_after(0, 8) > odds_after(0, 4));
    assert_true(odds_after(2, 8) < odds_after(0, 8));
    assert_true(odds_after(4, 0) < 0);
}

static void test_odds__only_spam__by_weight_and_without_ham(void **state)
{
    (void)state;
    (void)odds_after(0, 3);
    assert_true(odds_only_spam(seen, TERM, 3));
    assert_false(odds_only_spam(seen, TERM, 3.25F));
    assert_false(odds_only_spam(seen, TERM + 1, 1));
    (void)odds_after(1, 3);
    assert_false(odds_only_spam(seen, TERM, 1));
}

static void test_count__taken_out_again__is_as_before(void **state)
{
    float counted[2] = {0, 0};
    const uint16_t *n = seen[TERM % MODEL_SEEN].n;
    (void)state;
    odds_count(seen, counted, &message, true, 1.5F);
    assert_int_equal(n[1], 6);
    assert_int_equal(n[0], 0);
    assert_true(counted[1] > 1.4F && counted[1] < 1.6F && !(counted[0] > 0));
    odds_count(seen, counted, &message, true, -1.5F);
    assert_true(n[1] == 0 && !(counted[1] > 0));
    odds_count(seen, counted, &message, true, -1);
    assert_true(n[1] == 0 && !(counted[1] < 0));
    for (unsigned i = 0; i < 3; i++) {
        odds_count(seen, counted, &message, false, 10000);
    }
    assert_int_equal(n[0], 65535);
}

static void test_describe__an_answer__names_the_strongest_blocks(void **state)
{
    struct model_answer a = {
        .kind = VECTOR_LIST,
        .margin = 2.125,
        .share = 0.002,
        .first = 3,
        .second = 3,
        .is_local = true,
        .block = {[VECTOR_TEXT] = 1.25F, [VECTOR_HTML] = 0.5F, [VECTOR_LINK] = -2}};
    char text[MODEL_DETAIL];
    (void)state;
    model_describe(&a, text, sizeof(text));
    assert_string_equal(text, "list margin 2.1, 0.2 % of ham, text +1.2, html +0.5");
    a.second = 2;
    model_describe(&a, text, sizeof(text));
    assert_string_equal(text,
                        "list margin 2.1, 0.2 % of ham, doubted, text +1.2, html +0.5");
    a.is_local = false;
    model_describe(&a, text, sizeof(text));
    assert_string_equal(text,
                        "list margin 2.1, 0.2 % of ham, prior, text +1.2, html +0.5");
    model_describe(&a, text, 20);
    assert_string_equal(text, "list margin 2.1, 0.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(test_odds__of_both_classes__weigh_alike),
        TEST(test_odds__only_spam__by_weight_and_without_ham),
        TEST(test_count__taken_out_again__is_as_before),
        TEST(test_describe__an_answer__names_the_strongest_blocks),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
