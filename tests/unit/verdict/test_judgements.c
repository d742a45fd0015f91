/* test_judgements - which messages count as good and as bad for their values. */
#include "tests/unit/verdict/judge.h"

/* Evidence of that score. */
static unsigned judged_at(struct bench *b, double score)
{
    add_list("phish", score);
    add_hit(b, 0, FEATURE_url_domain, "evil.example");
    judge(b);
    return verdict_judgements(&b->config, &b->v, &b->context);
}

static void test_judgements__scores__far_and_near_the_mark(void **state)
{
    /* the mark is 5 */
    static const struct {
        double score;
        unsigned kinds;
    } rows[] = {{0, 1U << JUDGED_GOOD}, {2.4, 1U << JUDGED_GOOD}, {2.5, 0}, {4.9, 0},
                {5, 1U << JUDGED_BAD},  {20, 1U << JUDGED_BAD}};

    for (size_t i = 0; i < LENGTH(rows); i++) {
        (void)tear_down(state);
        (void)set_up(state);
        assert_int_equal(judged_at(*state, rows[i].score), rows[i].kinds);
    }
}

static void test_judgements__allowed_or_outgoing__none(void **state)
{
    struct bench *b = *state;

    b->context.is_trusted_network = true;
    assert_int_equal(judged_at(b, 6), 0);
    b->context.is_trusted_network = false;
    b->context.is_outgoing = true;
    judge(b);
    assert_int_equal(b->v.action, ACTION_HEADER);
    assert_int_equal(verdict_judgements(&b->config, &b->v, &b->context), 0);
}

static void test_judgements__cut_short__not_good(void **state)
{
    struct bench *b = *state;

    assert_int_equal(judged_at(b, 0), 1U << JUDGED_GOOD);
    b->found.met_deadline = true;
    judge(b);
    assert_int_equal(verdict_judgements(&b->config, &b->v, &b->context), 0);
}

/* A rule on judgements adds to the score and not to firm: it cannot feed its own numbers. */
static void test_judgements__score_of_judgements__does_not_count(void **state)
{
    struct bench *b = *state;

    assert_int_equal(judged_at(b, 6), 1U << JUDGED_BAD);
    b->v.firm -= 1.5;
    assert_int_equal(verdict_judgements(&b->config, &b->v, &b->context), 0);
    b->v.firm = 1;
    assert_int_equal(verdict_judgements(&b->config, &b->v, &b->context), 0);
}

static void test_judgements__first_contact__beside_the_judgement(void **state)
{
    struct bench *b = *state;
    const struct identity stranger = {.words = UINT64_C(1) << IDENTITY_first_contact};

    b->context.identity = &stranger;
    assert_int_equal(judged_at(b, 3), 1U << FIRST_CONTACTS);
}

static void test_judgements__no_threshold__none(void **state)
{
    struct bench *b = *state;

    for (unsigned a = 0; a < ACTION_COUNT; a++) {
        b->config.threshold[a] = HUGE_VAL;
    }
    assert_int_equal(judged_at(b, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_judgements__scores__far_and_near_the_mark),
        TEST(test_judgements__allowed_or_outgoing__none),
        TEST(test_judgements__cut_short__not_good),
        TEST(test_judgements__score_of_judgements__does_not_count),
        TEST(test_judgements__first_contact__beside_the_judgement),
        TEST(test_judgements__no_threshold__none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
