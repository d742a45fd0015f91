/* test_bulk - effect of counts on a message: confirmed, conditions, caps, newsletters, noise. */
#include "core/base/clock.h"

#include "tests/unit/verdict/judge.h"

enum { NOW = 3000000, KEYS = 80 };

/* Contents of the runs: buckets of each key; counts by digest of distinct ones. */
struct truth {
    struct digest digest;
    uint64_t bucket0; /* running */
    uint64_t before;  /* ten minutes ago */
};

static struct truth truths[4 * KEYS];
static size_t ntruths;
static unsigned nasked;
static uint64_t exact_takes_us;
static unsigned ndamaged;
static bool is_sound_now;
static struct counted counted[KEYS];
static struct feature features_of[KEYS];
static struct message_counts counts;
static struct count_port port;
static struct keyring ring;

static void fake_batch(void *context, struct count_item *items, size_t n)
{
    (void)context;
    (void)items;
    (void)n;
    fail();
}

static void fake_exact(void *context, const struct digest digest[KEYRING_MAX],
                       struct count_history *ret)
{
    (void)context;
    memset(ret, 0, sizeof(*ret));
    ret->now = NOW;
    ret->ndamaged = ndamaged;
    nasked++;
    if (exact_takes_us > 0) {
        clock_advance_us(exact_takes_us);
    }
    for (size_t i = 0; i < ntruths; i++) {
        if (memcmp(&truths[i].digest, &digest[0], sizeof(digest[0])) == 0) {
            ret->bucket[0] = truths[i].bucket0;
            ret->bucket[1] = truths[i].before;
            ret->day[0] = truths[i].bucket0 + truths[i].before;
        }
    }
}

static bool fake_is_sound(void *context, enum count_window w, double bound)
{
    (void)context;
    (void)w;
    assert_true(bound == 0.001);
    return is_sound_now;
}

static int set_up_bulk(void **state)
{
    set_up(state);
    struct bench *b = *state;
    ntruths = 0;
    nasked = 0;
    exact_takes_us = 0;
    ndamaged = 0;
    is_sound_now = true;
    port = (struct count_port){
        .batch = fake_batch, .exact = fake_exact, .is_sound = fake_is_sound};
    ring = (struct keyring){.n = 1};
    counts = (struct message_counts){.port = &port, .keys = &ring, .v = counted};
    b->config.count.noise_floor = 0.001;
    b->config.bulk_alone = ACTION_HEADER;
    b->context.counts = &counts;
    return 0;
}

/* A feature with a count of the sketch and one of the runs. */
static struct counted *saw(enum feature_type type, const char *value, uint64_t sketch,
                           uint64_t exact)
{
    size_t i = counts.n++;
    features_of[i] = (struct feature){.type = (uint16_t)type, .text = slice_str(value)};
    counted[i] = (struct counted){.feature = &features_of[i]};
    counted[i].digest[0].b[0] = (uint8_t)(i + 1);
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        counted[i].value.w[w] = sketch;
    }
    truths[ntruths++] = (struct truth){counted[i].digest[0], exact, 0};
    return &counted[i];
}

static void saw_distinct(struct counted *c, enum count_distinct kind, uint64_t day,
                         uint64_t sketch, uint64_t exact)
{
    struct digest digest[KEYRING_MAX];

    c->has_distinct = true;
    c->distinct[kind] = sketch;
    count_distinct_digest(&ring, c->digest, kind, day, digest);
    truths[ntruths++] = (struct truth){digest[0], exact, 0};
}

static struct config_rule *add_rule(struct bench *b, const char *name, const char *type,
                                    unsigned count, double score)
{
    static struct config_rule rules[64];
    static char texts[64][2][32];
    static char no_trait[] = "";
    size_t i = b->config.nrules++;

    snprintf(texts[i][0], 32, "%s", name);
    snprintf(texts[i][1], 32, "%s", type);
    rules[i] = (struct config_rule){.name = texts[i][0],
                                    .enabled = true,
                                    .type = texts[i][1],
                                    .trait = no_trait,
                                    .window = RULE_1D,
                                    .count = count,
                                    .score = score};
    b->config.rules = rules;
    return &rules[i];
}

static void test_bulk__when_exact_counts_confirm__then_symbol_and_score(void **state)
{
    struct bench *b = *state;
    saw(FEATURE_text_band, "600.00.aa", 30, 20);
    add_rule(b, "replica", "text_band", 20, 1.5);
    judge(b);
    has_symbol(b, 0, "BULK_REPLICA", 1.5, "text_band=600.00.aa seen 20 times in 1d");
    assert_int_equal(b->v.nsymbols, 1);
    assert_true(b->v.score == 1.5);
    assert_int_equal(b->v.action, ACTION_ACCEPT);
}

static void test_bulk__when_only_the_sketch_says_so__then_no_symbol(void **state)
{
    struct bench *b = *state;
    saw(FEATURE_text_band, "600.00.aa", 20, 19);
    saw(FEATURE_text, "ff", 19,
        25); /* impossible, since the sketch is never lower; the runs are not read */
    add_rule(b, "replica", "text_band", 20, 1.5);
    add_rule(b, "text", "text", 20, 1.5);
    judge(b);
    assert_int_equal(b->v.nsymbols, 0);
    assert_true(b->v.score == 0);
    assert_int_equal(nasked, 1);
}

static void test_bulk__when_the_first_is_not_confirmed__then_the_next_is(void **state)
{
    struct bench *b = *state;
    saw(FEATURE_url_domain, "a.example", 40, 3);
    saw(FEATURE_url_domain, "b.example", 90, 4);
    saw(FEATURE_url_domain, "c.example", 40, 33);
    add_rule(b, "domain", "url_domain", 20, 1);
    add_rule(b, "again", "url_domain", 30, 1);
    judge(b);
    has_symbol(b, 0, "BULK_DOMAIN", 1, "url_domain=c.example seen 33 times in 1d");
    has_symbol(b, 1, "BULK_AGAIN", 1, "url_domain=c.example seen 33 times in 1d");
    assert_int_equal(nasked, 3); /* each key once, whatever the rules */
}

static void test_bulk__when_many_are_above__then_few_are_asked(void **state)
{
    struct bench *b = *state;
    static char names[KEYS][16];
    for (size_t i = 0; i < KEYS; i++) {
        snprintf(names[i], sizeof(names[i]), "%zu.example", i);
        saw(i % 2 ? FEATURE_url_domain : FEATURE_url_host, names[i], 100 + i, 1);
    }
    for (size_t i = 0; i < 20; i++) {
        add_rule(b, "r", i % 2 ? "url_domain" : "url_host", 20, 1)->window =
            (enum rule_window)(i % RULE_WINDOWS);
    }
    judge(b);
    assert_int_equal(b->v.nsymbols, 0);
    assert_int_equal(nasked, 16); /* eight of each type, for all rules */
}

static void test_bulk__when_rules_alone_reach_a_threshold__then_bulk_alone(void **state)
{
    static const struct {
        enum action alone;
        enum action then;
        double list;
        double bulk;
    } rows[] = {
        {ACTION_HEADER, ACTION_ACCEPT, 0, 4},
        {ACTION_HEADER, ACTION_HEADER, 0, 5},
        {ACTION_HEADER, ACTION_HEADER, 0, 900},
        {ACTION_HEADER, ACTION_HEADER, 9, 900},
        {ACTION_HEADER, ACTION_QUARANTINE, 10, 900},
        {ACTION_HEADER, ACTION_REJECT, 15, 1},
        {ACTION_QUARANTINE, ACTION_QUARANTINE, 0, 900},
        {ACTION_QUARANTINE, ACTION_HEADER, 0, 6},
        {ACTION_REJECT, ACTION_REJECT, 0, 15},
        {ACTION_REJECT, ACTION_QUARANTINE, 0, 14.9},
        {ACTION_DISCARD, ACTION_REJECT, 0, 900},
    };
    struct bench *b = *state;
    saw(FEATURE_body, "ab", 100, 100);
    struct config_rule *rule = add_rule(b, "body", "body", 20, 0);
    struct config_list *list = add_list("phish", 0);
    add_hit(b, 0, FEATURE_url_domain, "evil.example");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        b->config.bulk_alone = rows[i].alone;
        list->weight = rows[i].list;
        rule->score = rows[i].bulk;
        judge(b);
        assert_int_equal(b->v.action, rows[i].then);
        assert_true(fabs(b->v.score - rows[i].list - rows[i].bulk) < 1e-9);
    }
}

static void test_bulk__when_let_through__then_nothing_is_asked(void **state)
{
    struct bench *b = *state;
    saw(FEATURE_body, "ab", 100, 100);
    add_rule(b, "body", "body", 20, 3);
    b->context.is_trusted_network = true;
    judge(b);
    assert_string_equal(b->v.allow, "network");
    assert_int_equal(b->v.nsymbols, 1);
    assert_true(b->v.score == 0 && nasked == 0);
}

static void test_bulk__when_a_value_is_on_an_allow_list__then_it_is_no_bulk(
    void **state)
{
    struct bench *b = *state;
    saw(FEATURE_url_domain, "logo.example", 100, 100);
    add_rule(b, "domain", "url_domain", 20, 3);
    add_list("ours", 0)->is_allow = true;
    add_hit(b, 0, FEATURE_url_domain, "logo.example");
    judge(b);
    assert_true(b->v.score == 0 && nasked == 0);
}

static void test_bulk__when_shadow_or_off__then_no_score(void **state)
{
    struct bench *b = *state;
    saw(FEATURE_body, "ab", 100, 100);
    add_rule(b, "seen", "body", 20, 9)->shadow = true;
    add_rule(b, "off", "body", 20, 9)->enabled = false;
    judge(b);
    assert_int_equal(b->v.nsymbols, 1);
    has_symbol(b, 0, "BULK_SEEN", 0, "shadow, body=ab seen 100 times in 1d");
    assert_int_equal(b->v.action, ACTION_ACCEPT);
}

static void test_bulk__when_distinct_ones_are_wanted__then_by_the_exact_number(
    void **state)
{
    static const struct {
        uint64_t sketch;
        uint64_t today;
        uint64_t yesterday;
        unsigned least;
        bool fires;
    } rows[] = {
        {3, 3, 0, 3, true},
        {3, 2, 3, 3, true}, /* a day that just began */
        {3, 2, 1, 3, false},
        {2, 3, 3, 3, false}, /* the sketch alone is enough for a no */
        {1, 1, 0, 1, true},
    };
    struct bench *b = *state;
    struct config_rule *rule = add_rule(b, "t", "text", 20, 2);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        counts.n = ntruths = 0;
        struct counted *c = saw(FEATURE_text, "ab", 20, 20);
        saw_distinct(c, DISTINCT_NETWORK, NOW / COUNT_DAY_BUCKETS, rows[i].sketch,
                     rows[i].today);
        saw_distinct(c, DISTINCT_NETWORK, NOW / COUNT_DAY_BUCKETS - 1, rows[i].sketch,
                     rows[i].yesterday);
        rule->distinct[RULE_NETWORKS] = rows[i].least;
        judge(b);
        assert_int_equal(b->v.nsymbols, rows[i].fires);
        if (rows[i].fires && rows[i].least == 3) {
            has_symbol(b, 0, "BULK_T", 2, "text=ab seen 20 times in 1d, 3 networks");
        }
    }
}

static void test_bulk__when_distinct_ones_are_not_counted__then_no_symbol(void **state)
{
    struct bench *b = *state;
    saw(FEATURE_url, "x.example/a", 20, 20);
    add_rule(b, "u", "url", 20, 2)->distinct[RULE_RECIPIENTS] = 1;
    judge(b);
    assert_int_equal(b->v.nsymbols, 0);
}

static void test_bulk__when_a_burst_is_wanted__then_max_over_mean(void **state)
{
    struct bench *b = *state;
    saw(FEATURE_body, "ab", 60, 30);
    truths[0].before = 30; /* two full buckets of 145: 72.5 times the mean */
    struct config_rule *rule = add_rule(b, "b", "body", 20, 2);
    rule->burst = 72.6;
    judge(b);
    assert_int_equal(b->v.nsymbols, 0);
    rule->burst = 72.5;
    judge(b);
    has_symbol(b, 0, "BULK_B", 2, "body=ab seen 60 times in 1d");
    has_symbol(b, 1, "BURST", 0, "30 of 60 in ten minutes");
    ndamaged = 1; /* what lies between may be what is damaged */
    judge(b);
    assert_int_equal(b->v.nsymbols, 0);
    rule->burst = 0; /* the counts are at least these */
    judge(b);
    assert_int_equal(b->v.nsymbols, 1);
}

static void test_bulk__when_one_proved_domain_sends_it__then_a_newsletter(void **state)
{
    static const struct {
        const char *dkim; /* NULL: nothing proved */
        uint64_t template;
        uint64_t senders; /* 0: not counted */
        bool spares;
        bool scores;
    } rows[] = {
        {"news.example", 90, 0, true, false},
        {"news.example", 89, 0, true, true},
        {NULL, 100, 1, true, true},
        {"other.example", 100, 1, true, true},
        {"news.example", 0, 1, true, false},
        {"news.example", 0, 2, true, true},
        {"news.example", 100, 1, false, true},
    };
    struct bench *b = *state;
    struct extract_auth auth = {.dkim_pass = true};
    struct config_rule *rule = add_rule(b, "t", "text", 20, 2);
    featureset_add(b->features, FEATURE_from, SLICE_LIT("us@news.example"));
    featureset_add(b->features, FEATURE_from_domain, SLICE_LIT("news.example"));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        counts.n = ntruths = 0;
        struct counted *c = saw(FEATURE_text, "ab", 100, 100);
        saw(FEATURE_template_sender, "cd news.example", 100, rows[i].template);
        if (rows[i].senders > 0) {
            saw_distinct(c, DISTINCT_SENDER, NOW / COUNT_DAY_BUCKETS, rows[i].senders,
                         rows[i].senders);
        }
        auth.dkim_domain = rows[i].dkim == NULL ? SLICE_NONE : slice_str(rows[i].dkim);
        b->context.auth = rows[i].dkim == NULL ? NULL : &auth;
        rule->spares_newsletters = rows[i].spares;
        judge(b);
        assert_true(b->v.score == (rows[i].scores ? 2.0 : 0.0));
        assert_int_equal(b->v.nsymbols, rows[i].scores ? 1 : 2);
        if (!rows[i].scores) {
            has_symbol(b, 0, "BULK_T", 0, "newsletter, text=ab seen 100 times in 1d");
            has_symbol(b, 1, "NEWSLETTER", 0, "news.example");
        }
    }
}

static void test_bulk__when_a_window_is_noisy__then_not_used_and_said(void **state)
{
    struct bench *b = *state;
    saw(FEATURE_body, "ab", 100, 100);
    add_rule(b, "body", "body", 20, 3);
    is_sound_now = false;
    judge(b);
    assert_int_equal(b->v.nsymbols, 0);
    assert_true(b->v.limits & LIMIT_FLAG(noise));
    b->config.rules[0].count = 101; /* would not apply anyway: nothing to say */
    judge(b);
    assert_false(b->v.limits & LIMIT_FLAG(noise));
}

static void test_bulk__when_not_all_was_counted__then_said(void **state)
{
    struct bench *b = *state;
    judge(b);
    assert_false(b->v.limits & LIMIT_FLAG(counts));
    counts.is_cut = true;
    judge(b);
    assert_true(b->v.limits & LIMIT_FLAG(counts));
}

static void test_bulk__when_the_deadline_passed__then_nothing_is_confirmed(void **state)
{
    struct bench *b = *state;
    saw(FEATURE_body, "ab", 100, 100);
    add_rule(b, "body", "body", 20, 3);
    clock_set_for_test(0, 500);
    b->context.deadline_mono_us = 500;
    judge(b);
    assert_int_equal(b->v.nsymbols + nasked, 0);
    assert_true(b->v.limits & LIMIT_FLAG(deadline));
    b->context.deadline_mono_us = 501;
    judge(b);
    assert_int_equal(b->v.nsymbols, 1);
    clock_unset_for_test();
}

static void
test_bulk__when_time_is_up_before_it_is_told_for_a_newsletter__then_no_score(
    void **state)
{
    struct bench *b = *state;
    const struct extract_auth auth = {.dkim_pass = true,
                                      .dkim_domain = SLICE_LIT("news.example")};
    add_rule(b, "t", "text", 20, 2)->spares_newsletters = true;
    featureset_add(b->features, FEATURE_from, SLICE_LIT("us@news.example"));
    featureset_add(b->features, FEATURE_from_domain, SLICE_LIT("news.example"));
    saw(FEATURE_text, "ab", 100, 100);
    saw(FEATURE_template_sender, "cd news.example", 100, 5);
    b->context.auth = &auth;
    b->context.deadline_mono_us = 1000;
    exact_takes_us = 700;
    clock_set_for_test(0, 100);
    judge(b);
    assert_true(b->v.score == 2.0); /* both were asked in time: it is none */
    clock_set_for_test(0, 400);
    judge(b);
    assert_true(b->v.score == 0.0);
    assert_true(b->v.limits & LIMIT_FLAG(deadline));
    clock_unset_for_test();
}

static void test_bulk__when_nothing_is_counted__then_as_without(void **state)
{
    struct bench *b = *state;
    add_rule(b, "body", "body", 20, 3);
    judge(b);
    counts.port = NULL;
    judge(b);
    b->context.counts = NULL;
    judge(b);
    assert_int_equal(b->v.nsymbols, 0);
}

#undef TEST
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up_bulk, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bulk__when_exact_counts_confirm__then_symbol_and_score),
        TEST(test_bulk__when_only_the_sketch_says_so__then_no_symbol),
        TEST(test_bulk__when_the_first_is_not_confirmed__then_the_next_is),
        TEST(test_bulk__when_many_are_above__then_few_are_asked),
        TEST(test_bulk__when_rules_alone_reach_a_threshold__then_bulk_alone),
        TEST(test_bulk__when_let_through__then_nothing_is_asked),
        TEST(test_bulk__when_a_value_is_on_an_allow_list__then_it_is_no_bulk),
        TEST(test_bulk__when_shadow_or_off__then_no_score),
        TEST(test_bulk__when_distinct_ones_are_wanted__then_by_the_exact_number),
        TEST(test_bulk__when_distinct_ones_are_not_counted__then_no_symbol),
        TEST(test_bulk__when_a_burst_is_wanted__then_max_over_mean),
        TEST(test_bulk__when_one_proved_domain_sends_it__then_a_newsletter),
        TEST(test_bulk__when_a_window_is_noisy__then_not_used_and_said),
        TEST(test_bulk__when_not_all_was_counted__then_said),
        TEST(test_bulk__when_the_deadline_passed__then_nothing_is_confirmed),
        TEST(
            test_bulk__when_time_is_up_before_it_is_told_for_a_newsletter__then_no_score),
        TEST(test_bulk__when_nothing_is_counted__then_as_without),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
