/* test_counted - conditions on counts and judgements, beside those that test_bulk has. */
#include "tests/unit/rule/ruled.h"

enum { NOW = 3000000, KEYS = 4 }; /* buckets; NOW is 0:00 UTC of a day and some hours */

/* The truth of each key, by the first byte of its digest; judgements by their own digests. */
static struct count_history histories[KEYS];
static struct counted counted[KEYS];
static struct feature features_of[KEYS];
static struct message_counts counts;
static struct count_port port;
static struct keyring ring;
static struct {
    struct digest digest;
    uint64_t n;
} numbers[64];
static size_t nnumbers;
static unsigned nasked;
static bool is_sound_now;

static void fake_exact(void *context, const struct digest digest[KEYRING_MAX],
                       struct count_history *ret)
{
    (void)context;
    nasked++;
    *ret = (struct count_history){.now = NOW};
    for (size_t i = 0; i < counts.n; i++) {
        if (memcmp(&digest[0], &counted[i].digest[0], sizeof(digest[0])) == 0) {
            *ret = histories[i];
        }
    }
    for (size_t i = 0; i < nnumbers; i++) {
        if (memcmp(&digest[0], &numbers[i].digest, sizeof(digest[0])) == 0) {
            ret->bucket[0] = numbers[i].n;
            ret->day[0] = numbers[i].n;
        }
    }
}

static void fake_batch(void *context, struct count_item *items, size_t n)
{
    (void)context;
    for (size_t i = 0; i < n; i++) {
        struct count_history h;

        fake_exact(NULL, items[i].digest, &h);
        count_history_windows(&h, items[i].value.w);
    }
}

static bool fake_is_sound(void *context, enum count_window w, double bound)
{
    (void)context;
    (void)w;
    (void)bound;
    return is_sound_now;
}

static struct count_called called;

static void fake_called(void *context, const struct digest digest[KEYRING_MAX],
                        uint64_t from_s, uint64_t to_s, struct count_called *ret)
{
    (void)context;
    (void)digest;
    (void)from_s;
    (void)to_s;
    *ret = called;
}

static void reset(void)
{
    port = (struct count_port){.batch = fake_batch,
                               .exact = fake_exact,
                               .is_sound = fake_is_sound,
                               .called = fake_called};
    called = (struct count_called){.spam = 0};
    ring = (struct keyring){.n = 1};
    counts = (struct message_counts){
        .port = &port, .keys = &ring, .v = counted, .amount = 1};
    nnumbers = 0;
    nasked = 0;
    is_sound_now = true;
    ruled_message();
    ruled.c.counts = &counts;
    clock_set_for_test((uint64_t)NOW * COUNT_BUCKET_S * 1000000, 1);
}

/* A value of a feature, seen in this message; the caller adds to its history. */
static struct count_history *saw(enum feature_type type, const char *value,
                                 uint64_t sketch)
{
    size_t i = counts.n++;

    features_of[i] = (struct feature){.type = (uint16_t)type, .text = slice_str(value)};
    counted[i] = (struct counted){.feature = &features_of[i]};
    counted[i].digest[0].b[0] = (uint8_t)(i + 1);
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        counted[i].value.w[w] = sketch;
    }
    histories[i] = (struct count_history){
        .now = NOW, .bucket[0] = 1, .day[0] = 1, .last_s = (NOW + 1) * COUNT_BUCKET_S};
    histories[i].first_s = (uint64_t)NOW * COUNT_BUCKET_S;
    return &histories[i];
}

/* A symbol that must be there. */
static const struct shown *shown_as(const char *name)
{
    const struct shown *s = ruled_find(name);

    assert_non_null(s);
    return s != NULL ? s : &ruled.shown[0];
}

static void judged(size_t i, enum judgement kind, uint64_t n)
{
    struct digest digest[KEYRING_MAX];

    judged_digest(&ring, counted[i].digest, kind, digest);
    numbers[nnumbers].digest = digest[0];
    numbers[nnumbers++].n = n;
}

static void test_counted__least_and_most__then_exact_counts_decide(void **state)
{
    (void)state;
    ruled_load(
        ALL("{ counted = \"url_domain\"; window = \"1h\"; least = 3; most = 5; }"));
    for (uint64_t n = 2; n <= 6; n++) {
        reset();
        struct count_history *h = saw(FEATURE_url_domain, "a.example", 100);
        h->bucket[0] = n;
        assert_int_equal(ruled_holds(), n >= 3 && n <= 5);
        assert_int_equal(nasked, 1);
    }
    assert_int_equal(ruled.c.counts->n, 1);
    reset();
    saw(FEATURE_url_domain, "a.example", 2)->bucket[0] =
        4; /* the sketch is never lower */
    assert_false(ruled_holds());
    assert_int_equal(nasked, 0);
}

static void test_counted__new_or_known__then_first_seen_says(void **state)
{
    (void)state;
    ruled_load(ALL("{ counted = \"url_domain\"; first_seen = \"1h\"; }"));
    reset();
    struct count_history *h = saw(FEATURE_url_domain, "a.example", 1);
    assert_true(ruled_holds());
    h->first_s = (uint64_t)(NOW - 6) * COUNT_BUCKET_S;
    assert_true(ruled_holds());
    h->first_s = (uint64_t)(NOW - 7) * COUNT_BUCKET_S;
    assert_false(ruled_holds());
    h->first_s = (uint64_t)NOW * COUNT_BUCKET_S;
    h->ndamaged = 1; /* it may be older */
    assert_false(ruled_holds());
}

static void test_counted__silent_for_a_while__then_last_seen_says(void **state)
{
    (void)state;
    ruled_load(ALL("{ counted = \"url_domain\"; last_seen = \"2h\"; }"));
    reset();
    struct count_history *h = saw(FEATURE_url_domain, "a.example", 1);
    assert_true(ruled_holds()); /* never before this message */
    h->bucket[0] = 2;
    assert_false(ruled_holds());
    h->bucket[0] = 1;
    h->bucket[12] = 1; /* its end is 11 buckets ago */
    assert_false(ruled_holds());
    h->bucket[12] = 0;
    h->bucket[13] = 1;
    assert_true(ruled_holds());
    h->bucket[13] = 0;
    h->day[3] = 9;
    assert_true(ruled_holds());
    ruled.c.counts = NULL; /* nobody knows */
    assert_false(ruled_holds());
}

static void test_counted__rate_rises__then_ratio_says(void **state)
{
    (void)state;
    ruled_load(
        ALL("{ counted = \"url_domain\"; window = \"1h\"; ratio = 12.0; against = "
            "\"1d\"; least = 5; }"));
    reset();
    struct count_history *h = saw(FEATURE_url_domain, "a.example", 50);
    h->bucket[0] = 10; /* 10 in the hour, 20 in the day: 12 times the mean */
    h->bucket[100] = 10;
    assert_true(ruled_holds());
    h->bucket[101] = 1;
    assert_false(ruled_holds());
}

static void test_counted__under_none__then_only_knowledge_counts(void **state)
{
    (void)state;
    ruled_load(NONE("{ counted = \"from_domain\"; window = \"14d\"; least = 2; }"));
    reset();
    saw(FEATURE_from_domain, "a.example", 50);
    assert_true(ruled_holds()); /* a sender of the first time */
    is_sound_now = false;
    assert_false(ruled_holds());
    assert_true((ruled.met & LIMIT_FLAG(noise)) != 0);
    is_sound_now = true;
    ruled.c.counts = NULL;
    assert_false(ruled_holds());
    ruled.c.counts = &counts;
    ruled.c.deadline_mono_us = 1;
    assert_false(ruled_holds());
    assert_true((ruled.met & LIMIT_FLAG(deadline)) != 0);
}

static void test_counted__only_counts__then_bulk_else_content(void **state)
{
    (void)state;
    ruled_load(
        "rules = ( { name = \"a\"; all = ( { counted = \"url_domain\"; least = 2; }, { "
        "direction = \"in\"; } ); none = ( { identity = \"proved\"; }, { trait = "
        "\"html_form\"; } ); }, { name = \"b\"; all = ( { counted = \"url_domain\"; least "
        "= 2; }, { feature = \"url_domain\"; } ); }, { name = \"c\"; all = ( { rule = "
        "\"a\"; } ); }, { name = \"d\"; any = ( { rule = \"b\"; }, { rule = \"a\"; } ); }, "
        "{ name = \"e\"; type = \"url_domain\"; count = 2; trait = \"reply_elsewhere\"; } "
        ");");
    reset();
    saw(FEATURE_url_domain, "a.example", 9)->bucket[0] = 3;
    ruled_feature(FEATURE_url_domain, "a.example");
    ruled_feature(FEATURE_trait, "reply_elsewhere");
    ruled_judge();
    assert_int_equal(ruled.nshown, 5);
    assert_false(shown_as("RULE_b")->is_of_counts || shown_as("RULE_d")->is_of_counts);
    assert_true(shown_as("RULE_a")->is_of_counts && shown_as("RULE_c")->is_of_counts);
    assert_true(shown_as("BULK_e")->is_of_counts);
    assert_string_equal(shown_as("RULE_a")->detail,
                        "url_domain=a.example seen 3 times in 1d, direction=in");
    assert_string_equal(ruled.shown[0].name, "RULE_b"); /* content comes first */
}

/* A sender of whose messages 99 % were bad scores 1.5. */
static void test_judged__nearly_all_were_bad__then_it_scores(void **state)
{
    static const struct {
        uint64_t bad, good, spam, ham;
        bool holds;
    } rows[] = {
        {99, 1, 0, 0, true},  {98, 2, 0, 0, false}, {0, 0, 0, 0, false},
        {49, 0, 0, 0, false}, {50, 0, 0, 0, true},  {99, 1, 0, 1, false},
        {90, 1, 9, 0, true},  {0, 0, 60, 0, true},
    };

    (void)state;
    ruled_load(
        RULE("score = 1.5; all = ( { judged = \"from\"; window = \"14d\"; least = 50; "
             "bad_share = 0.99; } );"));
    for (size_t i = 0; i < LENGTH(rows); i++) {
        reset();
        saw(FEATURE_from, "a@b.example", 1);
        judged(0, JUDGED_BAD, rows[i].bad);
        judged(0, JUDGED_GOOD, rows[i].good);
        called = (struct count_called){rows[i].spam, rows[i].ham, false};
        if (ruled_holds() != rows[i].holds) {
            fail_msg("row %zu", i);
        }
    }
    reset();
    saw(FEATURE_from, "a@b.example", 1);
    judged(0, JUDGED_BAD, 99);
    judged(0, JUDGED_GOOD, 1);
    assert_true(ruled_holds());
    assert_true(ruled.shown[0].score == 1.5);
    assert_string_equal(ruled.shown[0].detail,
                        "from=a@b.example judged bad 99 of 100 times in 14d");
    ruled.c.counts = NULL;
    assert_false(ruled_holds());
}

static void test_judged__nearly_all_were_good__then_it_may_lower(void **state)
{
    (void)state;
    ruled_load(RULE(
        "score = -1.0; all = ( { judged = \"from\"; least = 20; good_share = 0.9; } "
        ");"));
    reset();
    saw(FEATURE_from, "a@b.example", 1);
    judged(0, JUDGED_GOOD, 19);
    judged(0, JUDGED_BAD, 1);
    assert_true(ruled_holds());
    assert_true(ruled.shown[0].score == -1.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_counted__least_and_most__then_exact_counts_decide),
        TEST(test_counted__new_or_known__then_first_seen_says),
        TEST(test_counted__silent_for_a_while__then_last_seen_says),
        TEST(test_counted__rate_rises__then_ratio_says),
        TEST(test_counted__under_none__then_only_knowledge_counts),
        TEST(test_counted__only_counts__then_bulk_else_content),
        TEST(test_judged__nearly_all_were_bad__then_it_scores),
        TEST(test_judged__nearly_all_were_good__then_it_may_lower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
