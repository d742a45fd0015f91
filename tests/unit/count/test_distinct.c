/* test_distinct - distinct recipients, networks and senders of a key, by pairs, day by day. */
#include <stdio.h>

#include "core/base/clock.h"
#include "core/base/prng.h"
#include "core/count/message.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum {
    ARENA = 1 << 22,
    RCPTS = 600,
    DAY_S = 86400,
    TWO_STEPS_S = 2 * COUNT_BUCKET_S,
    STEP_S = COUNT_BUCKET_S
};

static const struct keyring ring = {.n = 1, .ring = {{1, "key of the tests"}}};

struct bench {
    struct tempdir *dir;
    struct config config;
    struct count *count;
    struct count_port port;
    struct arena *arena;
    char rcpt[RCPTS][32];
    struct slice slices[RCPTS];
};

static struct bench bench;
static char text_type[] = "text";
static char prefix[] = "in";
static char net_type[] = "client_net";
static char *distinct_types[] = {text_type};
static char *two_types[] = {text_type, net_type};

static int set_up(void **state)
{
    void *dir = NULL;
    struct count_options options = {.keys = &ring, .messages_per_day = 10000};
    struct errinfo why;

    (void)state;
    if (tempdir_setup(&dir) != 0) {
        return -1;
    }
    bench = (struct bench){.dir = dir, .arena = arena_new(ARENA)};
    clock_set_for_test((uint64_t)20000 * DAY_S * 1000000, 1);
    bench.config.count.prefix = prefix;
    bench.config.count.distinct_types = (struct config_strings){1, distinct_types};
    options.state_dir = bench.dir->path;
    if (count_open(&options, &bench.count, &why) != ERR_OK) {
        print_error("%s: %s\n", why.source, why.text);
        return -1;
    }
    bench.port = count_port_of(bench.count);
    for (size_t i = 0; i < RCPTS; i++) {
        snprintf(bench.rcpt[i], sizeof(bench.rcpt[i]), "user%zu@our.example", i);
    }
    return 0;
}

static int tear_down(void **state)
{
    void *dir = bench.dir;

    (void)state;
    count_close(&bench.count);
    arena_free(&bench.arena);
    clock_unset_for_test();
    return tempdir_teardown(&dir);
}

/* A message with one text, one network and one sender, to some of the recipients. */
struct mail {
    const char *text;
    const char *net;
    const char *from;
    size_t first; /* recipient */
    size_t nrcpt;
    bool is_reading;
};

static struct message_counts counted(const struct mail *m)
{
    struct message_facts facts = {
        .rcpt = bench.slices, .nrcpt = m->nrcpt, .ndeliveries = m->nrcpt};
    struct message_counts ret;

    arena_reset(bench.arena);
    struct featureset *set = featureset_new(bench.arena, 100);
    featureset_add(set, FEATURE_from_domain, slice_str(m->from));
    featureset_add(set, FEATURE_client_net, slice_str(m->net));
    featureset_add(set, FEATURE_text, slice_str(m->text));
    for (size_t i = 0; i < m->nrcpt; i++) {
        bench.slices[i] = slice_str(bench.rcpt[m->first + i]);
    }
    count_message(&bench.port, &ring, &bench.config, set, &facts, m->is_reading,
                  bench.arena, &ret);
    assert_int_equal(ret.n, 3);
    assert_false(ret.v[0].has_distinct);
    assert_true(ret.v[2].has_distinct);
    return ret;
}

/* Exact counts of runs and running table; the sketch may only be higher. */
static uint64_t exact_distinct(const struct counted *c, enum count_distinct kind)
{
    struct digest digest[KEYRING_MAX];
    struct count_history h;
    uint64_t windows[COUNT_WINDOWS];

    count_distinct_digest(&ring, c->digest, kind, clock_wall_us() / 1000000 / DAY_S,
                          digest);
    count_exact(bench.count, digest, &h);
    count_history_windows(&h, windows);
    return windows[COUNT_14D];
}

static void expect(const struct mail *m, uint64_t rcpts, uint64_t nets,
                   uint64_t senders)
{
    const struct message_counts got = counted(m);
    const struct counted *c = &got.v[2];

    assert_int_equal(c->distinct[DISTINCT_RCPT], rcpts);
    assert_int_equal(c->distinct[DISTINCT_NETWORK], nets);
    assert_int_equal(c->distinct[DISTINCT_SENDER], senders);
}

static void pass(uint64_t seconds)
{
    for (uint64_t s = 0; s < seconds; s += STEP_S) {
        clock_advance_us((uint64_t)STEP_S * 1000000);
        count_tick(bench.count);
    }
}

static void test_distinct__when_a_hundred_mails_to_seven__then_seven(void **state)
{
    struct message_counts got = {.n = 0};

    (void)state;
    for (size_t i = 0; i < 100; i++) {
        got =
            counted(&(struct mail){"a", "192.0.2.0/24", "x.example", i % 7, 1, false});
    }
    assert_int_equal(got.v[2].value.w[COUNT_1D], 100);
    assert_int_equal(got.v[2].distinct[DISTINCT_RCPT], 7);
    assert_int_equal(got.v[2].distinct[DISTINCT_NETWORK], 1);
    assert_int_equal(exact_distinct(&got.v[2], DISTINCT_RCPT), 7);
    assert_int_equal(exact_distinct(&got.v[2], DISTINCT_SENDER), 1);
}

static void test_distinct__when_the_same_comes_again__then_nothing_is_added(
    void **state)
{
    const struct mail m = {"a", "192.0.2.0/24", "x.example", 0, 5, false};
    const struct mail look = {"a", "198.51.100.0/24", "y.example", 9, 3, true};

    (void)state;
    expect(&m, 5, 1, 1);
    expect(&m, 5, 1, 1);
    expect(&look, 5, 1, 1); /* only read: neither counted nor remembered */
    expect(&(struct mail){"a", "198.51.100.0/24", "x.example", 4, 2, false}, 6, 2, 1);
    expect(&(struct mail){"b", "192.0.2.0/24", "x.example", 0, 1, false}, 1, 1, 1);
    expect(&m, 6, 2, 1);
}

static void test_distinct__when_the_day_ends__then_anew_after_one_more(void **state)
{
    const struct mail seven = {"a", "192.0.2.0/24", "x.example", 0, 7, false};
    const struct mail two = {"a", "192.0.2.0/24", "x.example", 0, 2, false};

    (void)state;
    expect(&seven, 7, 1, 1);
    pass(DAY_S - TWO_STEPS_S);
    expect(&two, 7, 1, 1); /* the same day */
    pass(TWO_STEPS_S);
    expect(&two, 7, 1, 1); /* yesterday is larger */
    expect(&(struct mail){"a", "192.0.2.0/24", "x.example", 0, 9, false}, 9, 1, 1);
    pass(DAY_S);
    expect(&two, 9, 1, 1);
    pass(DAY_S);
    expect(&two, 2, 1, 1);
    expect(&two, 2, 1, 1);
}

static void test_distinct__when_more_pairs_than_are_counted__then_said(void **state)
{
    const struct mail m = {"a", "192.0.2.0/24", "x.example", 0, RCPTS, false};
    struct message_counts got = counted(&m);

    (void)state;
    assert_int_equal(got.v[2].distinct[DISTINCT_RCPT], COUNT_RCPT_MAX);
    assert_int_equal(got.v[2].distinct[DISTINCT_NETWORK],
                     1); /* they leave room for it */
    assert_false(got.is_cut);
    bench.config.count.distinct_types = (struct config_strings){2, two_types};
    got = counted(&m);
    assert_true(got.is_cut);
    assert_int_equal(got.v[1].distinct[DISTINCT_RCPT], COUNT_RCPT_MAX);
    assert_int_equal(got.v[2].value.w[COUNT_10M], 2);
}

static void test_count__when_deliveries_are_the_unit__then_each_recipient(void **state)
{
    const struct mail m = {"a", "192.0.2.0/24", "x.example", 0, 5, false};

    (void)state;
    bench.config.count.unit = COUNT_UNIT_DELIVERIES;
    (void)counted(&m);
    const struct message_counts got = counted(&m);
    assert_int_equal(got.v[2].value.w[COUNT_14D], 10);
    assert_int_equal(got.v[2].distinct[DISTINCT_RCPT], 5);
}

/* ---- random mail beside sets kept by hand ---- */

enum { TEXTS = 8, MAILS = 4000 };

struct sets {
    uint64_t n[TEXTS][DISTINCT_KINDS];
    bool has[TEXTS][DISTINCT_KINDS][RCPTS];
};

static void put(struct sets *s, size_t text, unsigned kind, size_t member)
{
    s->n[text][kind] += !s->has[text][kind][member];
    s->has[text][kind][member] = true;
}

static void compare(const struct sets *s, size_t text, const struct counted *c,
                    size_t i)
{
    for (unsigned kind = 0; kind < DISTINCT_KINDS; kind++) {
        uint64_t exact = exact_distinct(c, (enum count_distinct)kind);
        uint64_t truth = s->n[text][kind];

        if (exact > truth || exact * 1000 + 1000 < truth * 999 ||
            c->distinct[kind] < exact) {
            fail_msg("mail %zu kind %u: exact %llu, sketch %llu of %llu", i, kind,
                     (unsigned long long)exact, (unsigned long long)c->distinct[kind],
                     (unsigned long long)truth);
        }
    }
}

static void test_distinct__when_mail_is_random__then_as_many_as_the_sets_have(
    void **state)
{
    static const char *const texts[TEXTS] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    static struct sets sets;
    struct prng r;

    (void)state;
    memset(&sets, 0, sizeof(sets));
    prng_init(&r, 20261122, 0); /* the seed */
    for (size_t i = 0; i < MAILS; i++) {
        size_t text = prng_below(&r, TEXTS);
        size_t net = prng_below(&r, 200);
        size_t from = prng_below(&r, 30);
        char net_text[32];
        char from_text[32];
        struct mail m = {
            texts[text],           net_text, from_text, prng_below(&r, RCPTS - 4),
            1 + prng_below(&r, 4), false};

        snprintf(net_text, sizeof(net_text), "10.%zu.0.0/24", net);
        snprintf(from_text, sizeof(from_text), "d%zu.example", from);
        for (size_t k = 0; k < m.nrcpt; k++) {
            put(&sets, text, DISTINCT_RCPT, m.first + k);
        }
        put(&sets, text, DISTINCT_NETWORK, net);
        put(&sets, text, DISTINCT_SENDER, from);
        const struct message_counts got = counted(&m);
        compare(&sets, text, &got.v[2], i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        TEST(test_distinct__when_a_hundred_mails_to_seven__then_seven),
        TEST(test_distinct__when_the_same_comes_again__then_nothing_is_added),
        TEST(test_distinct__when_the_day_ends__then_anew_after_one_more),
        TEST(test_distinct__when_more_pairs_than_are_counted__then_said),
        TEST(test_count__when_deliveries_are_the_unit__then_each_recipient),
        TEST(test_distinct__when_mail_is_random__then_as_many_as_the_sets_have),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
