/*
 * test_peers - entries of peers score by the strongest peer, within the local limits.
 */
#include "tests/unit/verdict/judge.h"

/* List 0 is local, named phish; then one of each name below, all of peers. */
static void peers(struct bench *b, unsigned n, double weight)
{
    static const char *const names[] = {"anna", "bert", "carl", "dora"};
    struct config_list *own = add_list("phish", weight);
    lists.nown = 1;
    lists.weight[0] = 1;
    for (unsigned i = 0; i < n; i++) {
        struct config_list *c = add_list("phish", weight);
        static char name[] = "phish";
        c->name = name;
        lists.origin[i + 1] = names[i];
        lists.weight[i + 1] = 1;
    }
    static char own_name[] = "phish";
    own->name = own_name;
    b->config.peers.quorum_lists = 1;
    b->config.bulk_alone = ACTION_HEADER;
}

static void test_judge__when_several_peers_list_it__then_the_strongest_counts(
    void **state)
{
    struct bench *b = *state;
    peers(b, 3, 8);
    lists.weight[1] = 0.5;
    lists.weight[3] = 0.25;
    add_hit(b, 1, FEATURE_url_domain, "evil.example");
    add_hit(b, 2, FEATURE_url_domain, "evil.example");
    add_hit(b, 3, FEATURE_url_domain, "evil.example");
    judge(b);
    assert_int_equal(b->v.nsymbols, 1);
    has_symbol(b, 0, "LIST_PHISH", 8, "by bert and 2 more: url_domain=evil.example");
    assert_int_equal(b->v.action, ACTION_HEADER);
}

static void test_judge__when_ours_lists_it_too__then_ours_alone_counts(void **state)
{
    struct bench *b = *state;
    peers(b, 2, 8);
    add_hit(b, 0, FEATURE_url_domain, "evil.example");
    add_hit(b, 1, FEATURE_url_domain, "evil.example");
    add_hit(b, 2, FEATURE_url_domain, "other.example");
    judge(b);
    assert_int_equal(b->v.nsymbols, 1);
    has_symbol(b, 0, "LIST_PHISH", 8, "url_domain=evil.example");
}

static void test_judge__when_too_few_say_so__then_it_marks_and_no_more(void **state)
{
    struct bench *b = *state;
    peers(b, 3, 20);
    b->config.peers.quorum_lists = 2;
    add_hit(b, 1, FEATURE_url_domain, "evil.example");
    add_hit(b, 2, FEATURE_url_domain, "other.example");
    add_hit(b, 1, FEATURE_url_host, "evil.example"); /* the same origin again */
    judge(b);
    assert_int_equal(b->v.action, ACTION_HEADER);
    assert_true(fabs(b->v.score - 20) < 1e-6);
    add_hit(b, 3, FEATURE_from_domain, "other.example");
    judge(b);
    assert_int_equal(b->v.action, ACTION_REJECT);
    has_symbol(b, 0, "LIST_PHISH", 20, "by bert and 1 more: url_domain=other.example");
}

/* A member of the ring who publishes as well, under two names, and another member. */
static void test_judge__when_a_member_publishes_too__then_it_is_one(void **state)
{
    struct bench *b = *state;
    peers(b, 4, 20);
    b->config.peers.quorum_lists = 2;
    lists.owner[2] = 1 + 1;
    lists.owner[3] = 1 + 1;
    for (unsigned list = 1; list <= 3; list++) {
        add_hit(b, list, FEATURE_url_domain, "evil.example");
    }
    judge(b);
    assert_int_equal(b->v.action, ACTION_HEADER);
    has_symbol(b, 0, "LIST_PHISH", 20, "by anna: url_domain=evil.example");
    add_hit(b, 4, FEATURE_url_domain, "evil.example");
    judge(b);
    assert_int_equal(b->v.action, ACTION_REJECT);
}

static void test_judge__when_one_of_a_quorum_weighs_nothing__then_there_is_none(
    void **state)
{
    struct bench *b = *state;
    peers(b, 3, 20);
    b->config.peers.quorum_lists = 2;
    lists.weight[2] = 0;
    add_hit(b, 1, FEATURE_url_domain, "evil.example");
    add_hit(b, 2, FEATURE_url_domain, "evil.example");
    judge(b);
    assert_int_equal(b->v.action, ACTION_HEADER);
    add_hit(b, 3, FEATURE_url_domain, "evil.example");
    judge(b);
    assert_int_equal(b->v.action, ACTION_REJECT);
    has_symbol(b, 0, "LIST_PHISH", 20, "by anna and 1 more: url_domain=evil.example");
}

static void test_judge__when_it_is_not_theirs_to_say__then_it_is_shown_only(
    void **state)
{
    static const struct {
        enum list_suppression silence;
        double weight;
        bool is_configured;
        bool shadow;
        const char *want;
    } row[] = {
        {LIST_SUPPRESSED_REVOKED, 1, true, false,
         "revoked here, by anna: url_domain=a.example"},
        {LIST_SUPPRESSED_PROTECTED, 1, true, false,
         "protected here, by anna: url_domain=a.example"},
        {LIST_NOT_SUPPRESSED, 0, false, false,
         "not configured here, by anna: url_domain=a.example"},
        {LIST_NOT_SUPPRESSED, 0, true, false,
         "weighs nothing here, by anna: url_domain=a.example"},
        {LIST_NOT_SUPPRESSED, 1, true, true, "shadow, by anna: url_domain=a.example"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        void *s = NULL;
        (void)state;
        set_up(&s);
        struct bench *b = s;
        peers(b, 1, 8);
        lists.weight[1] = row[i].weight;
        lists.config[1].shadow = row[i].shadow;
        if (!row[i].is_configured) {
            lists.config[1].name = NULL;
        }
        add_hit(b, 1, FEATURE_url_domain, "a.example");
        b->hits[0].silence = (uint8_t)row[i].silence;
        judge(b);
        has_symbol(b, 0, "LIST_PHISH", 0, row[i].want);
        assert_int_equal(b->v.action, ACTION_ACCEPT);
        tear_down(&s);
    }
}

static void test_judge__when_a_list_lowers_scores__then_peers_cannot(void **state)
{
    struct bench *b = *state;
    peers(b, 1, -20);
    struct config_list *bad = add_list("bad", 6);
    (void)bad;
    add_hit(b, 1, FEATURE_url_domain, "evil.example");
    judge(b);
    assert_true(b->v.score >= 0);
}

static void test_judge__when_an_allow_list_takes_the_value__then_peers_are_not_heard(
    void **state)
{
    struct bench *b = *state;
    struct config_list *allow = add_list("good", 1);
    allow->is_allow = true;
    struct config_list *theirs = add_list("phish", 8);
    static char name[] = "phish";
    theirs->name = name;
    lists.nown = 1;
    lists.weight[1] = 1;
    lists.origin[1] = "anna";
    b->config.peers.quorum_lists = 1;
    add_hit(b, 0, FEATURE_url_domain, "shop.example");
    add_hit(b, 1, FEATURE_url_domain, "shop.example");
    judge(b);
    assert_true(fabs(b->v.score) < 1e-6);
}

static void test_judge__when_peers_flood__then_ours_still_counts(void **state)
{
    struct bench *b = *state;
    char values[290][24];
    peers(b, 4, 8);
    for (unsigned i = 0; i < 290; i++) {
        snprintf(values[i], sizeof(values[i]), "d%u.example", i);
        add_hit(b, 1 + i % 4, FEATURE_url_domain, values[i]);
    }
    add_hit(b, 0, FEATURE_url_domain, "evil.example");
    judge(b);
    has_symbol(b, 0, "LIST_PHISH", 8, "url_domain=evil.example");
    assert_int_equal(b->v.nsymbols, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_judge__when_several_peers_list_it__then_the_strongest_counts),
        TEST(test_judge__when_ours_lists_it_too__then_ours_alone_counts),
        TEST(test_judge__when_too_few_say_so__then_it_marks_and_no_more),
        TEST(test_judge__when_a_member_publishes_too__then_it_is_one),
        TEST(test_judge__when_one_of_a_quorum_weighs_nothing__then_there_is_none),
        cmocka_unit_test(
            test_judge__when_it_is_not_theirs_to_say__then_it_is_shown_only),
        TEST(test_judge__when_a_list_lowers_scores__then_peers_cannot),
        TEST(test_judge__when_an_allow_list_takes_the_value__then_peers_are_not_heard),
        TEST(test_judge__when_peers_flood__then_ours_still_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
