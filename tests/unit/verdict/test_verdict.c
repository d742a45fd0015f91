/* test_verdict - evidence to score and action. */
#include "tests/unit/verdict/judge.h"

static void test_make__no_hits__then_accept_without_symbols(void **state)
{
    struct bench *b = *state;
    add_list("phish", 8);
    judge(b);
    assert_int_equal(b->v.action, ACTION_ACCEPT);
    assert_int_equal(b->v.nsymbols, 0);
    assert_null(b->v.allow);
}

static void test_make__several_hits_of_a_list__then_score_once(void **state)
{
    struct bench *b = *state;
    add_list("my-phish_2", 8);
    add_hit(b, 0, FEATURE_url_domain, "evil.example");
    add_hit(b, 0, FEATURE_url, "evil.example/x");
    add_hit(b, 0, FEATURE_from_domain, "evil.example");
    judge(b);
    assert_int_equal(b->v.nsymbols, 1);
    has_symbol(b, 0, "LIST_MY_PHISH_2", 8, "url_domain=evil.example (+2 more)");
    assert_true(b->v.score == 8);
    assert_int_equal(b->v.action, ACTION_HEADER);
}

static void test_make__only_confirmed__then_score(void **state)
{
    static const enum list_answer others[] = {LIST_FALSE_POSITIVE, LIST_REVOKED,
                                              LIST_POSSIBLE};
    struct bench *b = *state;
    add_list("phish", 20);
    for (size_t i = 0; i < 3; i++) {
        add_hit(b, 0, FEATURE_url, "evil.example/x");
        b->hits[i].answer = others[i];
    }
    judge(b);
    assert_int_equal(b->v.nsymbols, 0);
    assert_int_equal(b->v.action, ACTION_ACCEPT);
}

static void test_make__thresholds__then_harshest_reached(void **state)
{
    static const struct {
        double weight;
        enum action action;
    } cases[] = {{4.999, ACTION_ACCEPT},  {5, ACTION_HEADER},  {9.99, ACTION_HEADER},
                 {10, ACTION_QUARANTINE}, {15, ACTION_REJECT}, {1e9, ACTION_REJECT},
                 {-3, ACTION_ACCEPT}};
    struct bench *b = *state;
    struct config_list *list = add_list("phish", 0);
    add_hit(b, 0, FEATURE_url, "evil.example/x");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        list->weight = cases[i].weight;
        judge(b);
        assert_int_equal(b->v.action, cases[i].action);
    }
}

static void test_make__decimal_sum__then_reaches_threshold(void **state)
{
    struct bench *b = *state;
    for (size_t i = 0; i < 3; i++) {
        add_list("l", 0.1);
        add_hit(b, i, FEATURE_url, "evil.example/x");
    }
    b->config.threshold[ACTION_HEADER] = 0.3;
    judge(b);
    assert_int_equal(b->v.action, ACTION_HEADER);
}

static void test_make__shadow_list__then_shown_with_zero(void **state)
{
    struct bench *b = *state;
    add_list("phish", 20)->shadow = true;
    add_hit(b, 0, FEATURE_url, "evil.example/x");
    judge(b);
    has_symbol(b, 0, "LIST_PHISH", 0, "shadow, url=evil.example/x");
    assert_int_equal(b->v.action, ACTION_ACCEPT);
    assert_null(b->v.allow);
}

static void test_make__more_lists_than_symbols__then_all_score(void **state)
{
    struct bench *b = *state;
    for (size_t i = 0; i < LISTS; i++) {
        add_list("l", 1);
        add_hit(b, i, FEATURE_url, "evil.example/x");
    }
    judge(b);
    assert_int_equal(b->v.nsymbols, VERDICT_SYMBOLS_MAX);
    assert_true(b->v.score == LISTS);
    has_symbol(b, VERDICT_SYMBOLS_MAX - 1, "OTHERS", LISTS - VERDICT_SYMBOLS_MAX + 1,
               "several symbols");
}

static void test_make__full_arena__then_still_scored(void **state)
{
    struct bench *b = *state;
    add_list("phish", 20);
    add_hit(b, 0, FEATURE_url, "evil.example/x");
    while (arena_alloc(b->arena, 64) != NULL) {
    }
    judge(b);
    assert_int_equal(b->v.action, ACTION_REJECT);
    assert_true(b->v.limits & LIMIT_FLAG(memory));
}

static void test_make__long_value__then_detail_is_cut(void **state)
{
    struct bench *b = *state;
    char value[5000];
    memset(value, 'a', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    add_list("phish", 1);
    add_hit(b, 0, FEATURE_url, value);
    judge(b);
    assert_in_range(b->v.symbols[0].detail.n, 200, 220);
}

static void test_make__limits__then_in_verdict(void **state)
{
    struct bench *b = *state;
    featureset_set_limit(b->features, LIMIT_FLAG(urls));
    b->found.met_deadline = true;
    judge(b);
    assert_int_equal(b->v.limits, LIMIT_FLAG(urls) | LIMIT_FLAG(deadline));
}

static void test_make__degraded_lists__then_in_verdict(void **state)
{
    struct bench *b = *state;
    judge(b);
    assert_int_equal(b->v.fault, LIST_FAULT_NONE);
    lists.fault = LIST_FAULT_LIST_UNREADABLE;
    judge(b);
    assert_int_equal(b->v.fault, LIST_FAULT_LIST_UNREADABLE);
}

static void test_evaluate__lookup__then_judged(void **state)
{
    struct bench *b = *state;
    struct list_hits hits;
    add_list("phish", 8);
    add_hit(b, 0, FEATURE_url, "evil.example/x");
    lookup_hits = b->found;
    lookup_result = ERR_NOMEM;
    verdict_evaluate(&b->config, &lists, b->features, &b->context, 77, b->arena, &b->v,
                     &hits);
    assert_int_equal(lookup_deadline, 77);
    assert_int_equal(hits.n, 1);
    assert_int_equal(b->v.action, ACTION_HEADER);
    assert_true(b->v.limits & LIMIT_FLAG(memory));
}

/* Four hits that the index could not confirm: of a filter, of none, of an allow list's value, and
 * the latter's own. */
static void look_up_unconfirmed(struct bench *b)
{
    add_list("phish", 8);
    add_list("friends", 0)->is_allow = true;
    add_hit(b, 0, FEATURE_url, "evil.example/x");
    add_hit(b, 0, FEATURE_url, "peer.example/x");
    add_hit(b, 0, FEATURE_url, "friend.example/x");
    add_hit(b, 1, FEATURE_url, "friend.example/x");
    for (size_t i = 0; i < b->found.n; i++) {
        b->hits[i].answer = LIST_POSSIBLE;
        b->hits[i].is_filtered = i != 1;
    }
    lookup_hits = b->found;
}

static void evaluate(struct bench *b)
{
    struct list_hits hits;

    verdict_evaluate(&b->config, &lists, b->features, &b->context, 0, b->arena, &b->v,
                     &hits);
}

static void test_evaluate__possible_hits__then_nothing(void **state)
{
    struct bench *b = *state;

    look_up_unconfirmed(b);
    evaluate(b);
    assert_int_equal(b->v.nsymbols, 0);
    assert_int_equal(b->v.limits, 0);
}

static void test_evaluate__possible_hits_and_trust__then_filters_count_and_say_so(
    void **state)
{
    struct bench *b = *state;

    look_up_unconfirmed(b);
    b->context.trusts_filters = true;
    evaluate(b);
    assert_int_equal(b->v.nsymbols, 1);
    has_symbol(b, 0, "LIST_PHISH", 8, "unverified, url=evil.example/x");
    assert_int_equal(b->v.limits, LIMIT_FLAG(unverified));
    assert_int_equal(b->v.action, ACTION_HEADER);
    assert_true(b->v.firm == 0); /* teaches nothing */
    /* what is confirmed stays as it is, and alone is shown */
    b->hits[1].answer = LIST_CONFIRMED;
    b->hits[0].answer = LIST_POSSIBLE;
    evaluate(b);
    has_symbol(b, 0, "LIST_PHISH", 8, "url=peer.example/x (+1 more)");
    assert_int_equal(b->v.limits, 0);
    assert_true(b->v.firm == 8);
}

static void test_extract_limits__config__then_all_are_taken(void **state)
{
    struct bench *b = *state;
    struct extract_limits l;
    b->config.limits = (struct config_limits){.message_bytes = 1,
                                              .decoded_bytes = 2,
                                              .headers = 3,
                                              .header_bytes = 4,
                                              .header_field = 5,
                                              .parts = 6,
                                              .mime_depth = 7,
                                              .urls = 8,
                                              .recipients = 9,
                                              .cpu_us = 10};
    verdict_extract_limits(&b->config, &l);
    assert_int_equal(l.mail.message_bytes, 1);
    assert_int_equal(l.mail.decoded_bytes, 2);
    assert_int_equal(l.mail.headers, 3);
    assert_int_equal(l.mail.header_bytes, 4);
    assert_int_equal(l.mail.header_field, 5);
    assert_int_equal(l.mail.parts, 6);
    assert_int_equal(l.mail.depth, 7);
    assert_int_equal(l.urls, 8);
    assert_int_equal(l.recipients, 9);
    assert_int_equal(l.cpu_us, 10);
}

static void test_make__odd_limits__then_one_score_however_many(void **state)
{
    struct bench *b = *state;
    b->config.limits.score = 3;
    featureset_set_limit(b->features, LIMIT_FLAG(message_bytes));
    judge(b);
    assert_int_equal(b->v.nsymbols, 0);
    featureset_set_limit(b->features, LIMIT_FLAG(cpu) | LIMIT_FLAG(html_depth));
    judge(b);
    assert_int_equal(b->v.nsymbols, 2);
    has_symbol(b, 0, "LIMIT_CPU", 3, "CPU time of extraction used up");
    assert_string_equal(b->v.symbols[1].name, "LIMIT_HTML_DEPTH");
    assert_true(b->v.score == 3);
    b->config.limits.score = 0;
    judge(b);
    assert_true(b->v.score == 0);
}

static void test_make__rule_with_a_trait__then_the_trait_decides(void **state)
{
    static char text[4][16] = {"cut", "limit_cpu", "", "text"};
    static struct config_rule rules[2];
    struct bench *b = *state;
    rules[0] = (struct config_rule){.name = text[0],
                                    .type = text[2],
                                    .trait = text[1],
                                    .enabled = true,
                                    .score = 2};
    rules[1] = rules[0];
    rules[1].type = text[3]; /* reads counts, of which there are none */
    b->config.rules = rules;
    b->config.nrules = 2;
    judge(b);
    assert_int_equal(b->v.nsymbols, 0);
    featureset_add(b->features, FEATURE_trait, SLICE_LIT("limit_cpu"));
    judge(b);
    assert_int_equal(b->v.nsymbols, 1);
    has_symbol(b, 0, "TRAIT_CUT", 2, "trait=limit_cpu");
    rules[0].shadow = true;
    judge(b);
    has_symbol(b, 0, "TRAIT_CUT", 0, "shadow, trait=limit_cpu");
}

/* ---- URLs that no list knows ---- */

static struct model_answer answer_of(const char *url, double score)
{
    return (struct model_answer){.nurls = 1, .url = {{slice_str(url), score, 0}}};
}

static void judge_url(struct bench *b, const char *url, double score)
{
    static struct model_answer a;
    a = answer_of(url, score);
    b->context.model = &a;
    b->config.model.urls = true;
    b->config.model.url_score = 9;
    judge(b);
}

static void test_unknown_url__by_score__then_clean_suspicious_or_malicious(void **state)
{
    struct bench *b = *state;
    judge_url(b, "a.example/x", 0.3);
    assert_int_equal(b->v.nsymbols, 0);
    judge_url(b, "a.example/x", 0.31);
    has_symbol(b, 0, "ML_SUSPICIOUS", 0, "0.31, url=a.example/x");
    assert_int_equal(b->v.nmalicious, 0);
    judge_url(b, "a.example/x", 0.8);
    has_symbol(b, 0, "ML_DETECTED_MALICIOUS", 9, "0.80, url=a.example/x");
    assert_int_equal(b->v.nmalicious, 1);
    assert_int_equal(b->v.symbols[0].kind, SYMBOL_UNSURE);
    assert_true(b->v.firm == 0);
    b->config.model.urls = false;
    judge(b);
    assert_int_equal(b->v.nsymbols, 0);
}

static void test_unknown_url__however_high__then_marks_at_most(void **state)
{
    struct bench *b = *state;
    b->config.model.urls = true;
    add_list("other", 4);
    add_hit(b, 0, FEATURE_from_domain, "b.example");
    judge_url(b, "a.example/x", 1);
    b->config.model.url_score = 100;
    judge(b);
    assert_true(b->v.score == 104);
    assert_int_equal(b->v.action, ACTION_HEADER);
    assert_true(b->v.firm == 4);
}

static void test_unknown_url__a_list_has_an_opinion__then_says_nothing(void **state)
{
    static const struct {
        uint16_t type;
        const char *value;
        enum list_answer answer;
        bool is_known;
    } cases[] = {{FEATURE_url, "a.example/x", LIST_CONFIRMED, true},
                 {FEATURE_url, "a.example/x", LIST_REVOKED, true},
                 {FEATURE_url, "a.example/x", LIST_POSSIBLE, true},
                 {FEATURE_url_domain, "a.example", LIST_CONFIRMED, true},
                 {FEATURE_url, "a.example/x", LIST_FALSE_POSITIVE, false},
                 {FEATURE_url, "a.example/y", LIST_CONFIRMED, false},
                 {FEATURE_from_domain, "a.example", LIST_CONFIRMED, false},
                 {FEATURE_url_domain, "b.example", LIST_CONFIRMED, false}};
    struct bench *b = *state;
    add_list("phish", 0);
    add_hit(b, 0, FEATURE_url, "");
    for (size_t i = 0; i < LENGTH(cases); i++) {
        b->hits[0].report_type = cases[i].type;
        b->hits[0].value = slice_str(cases[i].value);
        b->hits[0].answer = cases[i].answer;
        judge_url(b, "a.example/x", 0.9);
        assert_int_equal(b->v.nmalicious, cases[i].is_known ? 0 : 1);
    }
}

static void test_unknown_url__protected_name__then_says_nothing(void **state)
{
    static char name[] = "a.example";
    static char *names[] = {name};
    struct bench *b = *state;
    b->config.protected_domains.v = names;
    b->config.protected_domains.n = 1;
    judge_url(b, "www.a.example/x", 0.9);
    assert_int_equal(b->v.nsymbols, 0);
    judge_url(b, "aa.example/x", 0.9);
    assert_int_equal(b->v.nmalicious, 1);
}

static void test_unknown_url__of_the_proved_sender__then_at_most_suspicious(
    void **state)
{
    const struct extract_auth auth = {.dmarc_pass = true,
                                      .dmarc_domain = SLICE_LIT("mail.a.example")};
    struct bench *b = *state;
    featureset_add(b->features, FEATURE_from, SLICE_LIT("x@mail.a.example"));
    judge_url(b, "www.a.example/x", 0.9);
    assert_int_equal(b->v.nmalicious, 1); /* nothing proves the sender */
    b->context.auth = &auth;
    judge(b);
    assert_int_equal(b->v.nmalicious, 0);
    has_symbol(b, 0, "ML_SUSPICIOUS", 0, "0.90, url=www.a.example/x");
    judge_url(b, "b.example/x", 0.9);
    assert_int_equal(b->v.nmalicious, 1);
}

static void test_learnt_list__however_heavy__then_marks_at_most(void **state)
{
    struct bench *b = *state;
    struct config_list *list = add_list("ml", 100);
    list->is_learnt = true;
    add_hit(b, 0, FEATURE_url, "a.example/x");
    judge(b);
    has_symbol(b, 0, "LIST_ML", 100, "url=a.example/x");
    assert_int_equal(b->v.symbols[0].kind, SYMBOL_UNSURE);
    assert_int_equal(b->v.action, ACTION_HEADER);
    assert_true(b->v.firm == 0);
    list->is_learnt = false;
    judge(b);
    assert_int_equal(b->v.action, ACTION_REJECT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_make__no_hits__then_accept_without_symbols),
        TEST(test_make__several_hits_of_a_list__then_score_once),
        TEST(test_make__only_confirmed__then_score),
        TEST(test_make__thresholds__then_harshest_reached),
        TEST(test_make__decimal_sum__then_reaches_threshold),
        TEST(test_make__shadow_list__then_shown_with_zero),
        TEST(test_make__more_lists_than_symbols__then_all_score),
        TEST(test_make__full_arena__then_still_scored),
        TEST(test_make__long_value__then_detail_is_cut),
        TEST(test_make__odd_limits__then_one_score_however_many),
        TEST(test_make__rule_with_a_trait__then_the_trait_decides),
        TEST(test_make__limits__then_in_verdict),
        TEST(test_make__degraded_lists__then_in_verdict),
        TEST(test_evaluate__lookup__then_judged),
        TEST(test_evaluate__possible_hits__then_nothing),
        TEST(test_evaluate__possible_hits_and_trust__then_filters_count_and_say_so),
        TEST(test_extract_limits__config__then_all_are_taken),
        TEST(test_unknown_url__by_score__then_clean_suspicious_or_malicious),
        TEST(test_unknown_url__however_high__then_marks_at_most),
        TEST(test_unknown_url__a_list_has_an_opinion__then_says_nothing),
        TEST(test_unknown_url__protected_name__then_says_nothing),
        TEST(test_unknown_url__of_the_proved_sender__then_at_most_suspicious),
        TEST(test_learnt_list__however_heavy__then_marks_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
