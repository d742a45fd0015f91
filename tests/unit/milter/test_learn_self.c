/*
 * test_learn_self - what mail teaches without a report: newsletters of proved senders after two weeks,
 * few a day of each, and none that somebody reported.
 */
#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/count/judged.h"
#include "core/verdict/identity/identity.h"

#include "milter/learn_self.h"
#include "milter/service.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

static uint64_t start_s = UINT64_C(
    1767225600); /* a midnight; another one in each test: bounds are of a day */
static const uint64_t day_s = 86400;

static char dir[64];
static struct arena *arena;
static struct learner *learner;
static struct keyring keys;
static struct config config;

/* What is known of every sender. */
static uint64_t first_seen_s;
static uint64_t reported_spam;

static void exact(void *context, const struct digest digest[KEYRING_MAX],
                  struct count_history *ret)
{
    (void)context;
    (void)digest;
    *ret = (struct count_history){.first_s = first_seen_s};
}

static void called(void *context, const struct digest digest[KEYRING_MAX],
                   uint64_t from_s, uint64_t to_s, struct count_called *ret)
{
    (void)context;
    (void)digest;
    assert_int_equal(from_s, 0);
    assert_true(to_s >= start_s);
    *ret = (struct count_called){.spam = reported_spam};
}

static const struct count_port port = {.exact = exact, .called = called};

static int set_up(void **state)
{
    (void)state;
    const struct learner_options none = {.prior = NULL};
    arena = arena_new(4 << 20);
    config = (struct config){.model = {.enabled = true, .learn_newsletters = true}};
    first_seen_s = 0;
    reported_spam = 0;
    start_s += 30 * day_s;
    clock_set_for_test(start_s * 1000000, 1000000);
    service_set_counts(&port, &keys);
    return arena != NULL && tempdir_make_fast(dir) &&
                   keyring_load_or_create(dir, &keys, NULL) == ERR_OK &&
                   learner_open(dir, &none, &learner, NULL) == ERR_OK
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    (void)state;
    learn_self_end();
    learner_close(&learner);
    service_set_counts(NULL, NULL);
    clock_unset_for_test();
    arena_free(&arena);
    return file_remove_tree(dir, NULL) == ERR_OK ? 0 : -1;
}

/* A newsletter that was judged to be good comes in. */
static void receive_as(const char *domain, uint64_t words)
{
    uint32_t term[] = {VECTOR_TEXT << VECTOR_HASH_BITS | 7};
    const struct identity identity = {.words = words, .domain = slice_str(domain)};
    const struct verdict_context context = {.identity = &identity};
    const struct verdict verdict = {.nsymbols = 0};
    struct message m = {
        .config = &config,
        .vector = {
            .kind = VECTOR_NOTICE, .n = 1, .term = term, .count = {[VECTOR_TEXT] = 1}}};
    struct featureset *features = featureset_new(arena, 4);
    assert_true(featureset_add(features, FEATURE_from_domain, slice_str(domain)));
    learn_self_received(&m, &context, features, 1U << JUDGED_GOOD, &verdict);
}

static void receive(const char *domain)
{
    receive_as(domain, UINT64_C(1) << IDENTITY_proved | UINT64_C(1)
                                                            << IDENTITY_newsletter);
}

/* Examples that are in the store, once the thread has taken what waits. */
static uint64_t learnt(void)
{
    uint32_t counts[VECTOR_KINDS][2];
    uint64_t n = 0;
    learn_self_take(learner);
    learner_counts(learner, counts);
    for (unsigned k = 0; k < VECTOR_KINDS; k++) {
        assert_int_equal(counts[k][1], 0);
        n += counts[k][0];
    }
    return n;
}

static void test_newsletter__before_two_weeks__is_not_learnt(void **state)
{
    (void)state;
    receive("news.example"); /* never counted */
    assert_int_equal(learnt(), 0);
    first_seen_s =
        start_s; /* counted by days, so the first one of 14 began up to a day before */
    for (uint64_t day = 0; day < 13; day++) {
        receive("news.example");
        assert_int_equal(learnt(), 0);
        clock_advance_us(day_s * 1000000);
    }
    receive("news.example");
    assert_int_equal(learnt(), 1);
}

static void test_newsletter__reported_once__is_not_learnt(void **state)
{
    (void)state;
    first_seen_s = start_s - 14 * day_s;
    reported_spam = 1;
    receive("news.example");
    assert_int_equal(learnt(), 0);
    reported_spam = 0; /* what was dropped does not come back */
    assert_int_equal(learnt(), 0);
    receive("news.example");
    assert_int_equal(learnt(), 1);
}

static void test_newsletter__many_of_one_domain__five_a_day(void **state)
{
    (void)state;
    first_seen_s = start_s - 14 * day_s;
    for (unsigned i = 0; i < 20; i++) {
        receive("news.example");
    }
    assert_int_equal(learnt(), LEARN_SELF_SENDER);
    receive("news.example");
    receive("other.example");
    assert_int_equal(learnt(), LEARN_SELF_SENDER + 1);
    clock_advance_us(day_s * 1000000);
    for (unsigned i = 0; i < 20; i++) {
        receive("news.example");
    }
    assert_int_equal(learnt(), 2 * LEARN_SELF_SENDER + 1);
}

static void test_newsletter__of_many_domains__so_many_a_day(void **state)
{
    (void)state;
    first_seen_s = start_s - 14 * day_s;
    for (unsigned i = 0; i < LEARN_SELF_DAY + 100; i++) {
        char domain[32];
        (void)snprintf(domain, sizeof(domain), "n%u.example", i);
        receive(domain);
        (void)learnt();
    }
    assert_int_equal(learnt(), LEARN_SELF_DAY);
}

static void test_newsletter__not_proved_or_switched_off__is_not_learnt(void **state)
{
    (void)state;
    first_seen_s = start_s - 14 * day_s;
    receive_as("news.example", UINT64_C(1) << IDENTITY_newsletter);
    receive_as("news.example", UINT64_C(1) << IDENTITY_proved);
    assert_int_equal(learnt(), 0);
    config.model.learn_newsletters = false;
    receive("news.example");
    assert_int_equal(learnt(), 0);
    config.model.learn_newsletters = true;
    service_set_counts(NULL, &keys); /* nothing is counted, so nobody is known */
    receive("news.example");
    assert_int_equal(learnt(), 0);
    service_set_counts(&port, &keys);
    receive("news.example");
    assert_int_equal(learnt(), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_newsletter__before_two_weeks__is_not_learnt),
        TEST(test_newsletter__reported_once__is_not_learnt),
        TEST(test_newsletter__many_of_one_domain__five_a_day),
        TEST(test_newsletter__of_many_domains__so_many_a_day),
        TEST(test_newsletter__not_proved_or_switched_off__is_not_learnt),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
