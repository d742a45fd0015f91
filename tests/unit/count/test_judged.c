/* test_judged - how messages with a value were judged, and what people called them. */
#include <stdio.h>

#include "core/base/clock.h"
#include "core/base/prng.h"
#include "core/count/judged.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { ARENA = 1 << 20, KEYS = 30, ROUNDS = 4000, STEP_S = COUNT_BUCKET_S };
#define START_S (UINT64_C(20000) * COUNT_DAY_S)

struct bench {
    struct tempdir *dir;
    struct keyring keys;
    struct config *config;
    struct count *count;
    struct count_port port;
    struct arena *arena;
};

static struct bench bench;

static void open_counts(void)
{
    struct count_options options = {
        .keys = &bench.keys, .messages_per_day = 10000, .state_dir = bench.dir->path};
    struct errinfo why = {.text = ""};

    if (count_open(&options, &bench.count, &why) != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
    bench.port = count_port_of(bench.count);
}

static int set_up(void **state)
{
    void *dir = NULL;
    struct config_errors errors = {.n = 0};
    struct errinfo why;

    (void)state;
    if (tempdir_setup(&dir) != 0) {
        return -1;
    }
    bench = (struct bench){.dir = dir, .arena = arena_new(ARENA)};
    assert_int_equal(config_load(NULL, NULL, &bench.config, &errors), ERR_OK);
    assert_int_equal(keyring_load_or_create(bench.dir->path, &bench.keys, &why),
                     ERR_OK);
    clock_set_for_test(START_S * 1000000, 1);
    open_counts();
    return 0;
}

static int tear_down(void **state)
{
    void *dir = bench.dir;

    (void)state;
    count_close(&bench.count);
    config_release(&bench.config);
    arena_free(&bench.arena);
    clock_unset_for_test();
    return tempdir_teardown(&dir);
}

static struct featureset *mail_from(const char *from)
{
    arena_reset(bench.arena);
    struct featureset *set = featureset_new(bench.arena, 100);
    featureset_add(set, FEATURE_helo, SLICE_LIT("mail.other.example"));
    featureset_add(set, FEATURE_from, slice_str(from));
    return set;
}

static struct message_counts counts_of(const char *from, unsigned deliveries)
{
    const struct message_facts facts = {.ndeliveries = deliveries};
    struct message_counts ret;

    count_message(&bench.port, &bench.keys, bench.config, mail_from(from), &facts,
                  deliveries == 0, bench.arena, &ret);
    assert_int_equal(ret.n, 2);
    return ret;
}

static void judge_one(const char *from, unsigned kinds)
{
    struct message_counts counts = counts_of(from, 1);
    judged_add(bench.config, &counts, kinds);
}

/* From has index 1, the type that is not judged 0. */
static void expect(const char *from, size_t feature, enum count_window w, uint64_t good,
                   uint64_t bad, uint64_t spam, uint64_t ham)
{
    const uint64_t wanted[JUDGEMENTS] = {good, bad, spam, ham};
    uint64_t n[JUDGEMENTS];
    struct message_counts counts = counts_of(from, 0);

    judged_read(&counts, &counts.v[feature], w, n);
    for (unsigned kind = 0; kind <= CALLED_GOOD; kind++) {
        if (n[kind] != wanted[kind]) {
            fail_msg("%s %s: %" PRIu64 ", not %" PRIu64, from, judgement_name(kind),
                     n[kind], wanted[kind]);
        }
    }
}

static void test_add__each_kind__is_read_alone(void **state)
{
    (void)state;
    judge_one("a@b.example", 1U << JUDGED_GOOD);
    for (unsigned i = 0; i < 3; i++) {
        judge_one("a@b.example", 1U << JUDGED_BAD | 1U << FIRST_CONTACTS);
    }
    judge_one("c@b.example", 1U << JUDGED_GOOD);
    expect("a@b.example", 1, COUNT_10M, 1, 3, 0, 0);
    expect("c@b.example", 1, COUNT_14D, 1, 0, 0, 0);
    expect("a@b.example", 0, COUNT_14D, 0, 0, 0, 0); /* helo is not in judged_types */
    struct message_counts counts = counts_of("a@b.example", 0);
    uint64_t n[JUDGEMENTS];
    judged_read(&counts, &counts.v[1], COUNT_1D, n);
    assert_int_equal(n[FIRST_CONTACTS], 3);
}

static void test_add__message_only_read__adds_nothing(void **state)
{
    struct message_counts counts = counts_of("a@b.example", 0);

    (void)state;
    judged_add(bench.config, &counts, 1U << JUDGED_BAD);
    expect("a@b.example", 1, COUNT_14D, 0, 0, 0, 0);
    counts = (struct message_counts){.n = 0}; /* no counting */
    judged_add(bench.config, &counts, 1U << JUDGED_BAD);
}

static void test_add__deliveries__as_often_as_counted(void **state)
{
    (void)state;
    bench.config->count.unit = COUNT_UNIT_DELIVERIES;
    struct message_counts counts = counts_of("a@b.example", 7);
    judged_add(bench.config, &counts, 1U << JUDGED_BAD);
    expect("a@b.example", 1, COUNT_1H, 0, 7, 0, 0);
}

static void test_add__time_passes__leaves_the_windows(void **state)
{
    (void)state;
    judge_one("a@b.example", 1U << JUDGED_BAD);
    for (unsigned i = 1; i <= 13; i++) {
        clock_set_for_test((START_S + (uint64_t)i * STEP_S) * 1000000, i + 1);
        count_tick(bench.count);
        judge_one("x@y.example", 1U << JUDGED_GOOD);
    }
    expect("a@b.example", 1, COUNT_10M, 0, 0, 0, 0);
    expect("a@b.example", 1, COUNT_1H, 0, 0, 0, 0);
    expect("a@b.example", 1, COUNT_1D, 0, 1, 0, 0);
    expect("x@y.example", 1, COUNT_14D, 13, 0, 0, 0);
}

/* What people said, by the test. */
static void call_one(void *context, const struct digest digest[KEYRING_MAX],
                     uint64_t from_s, uint64_t to_s, struct count_called *ret)
{
    const struct count_called *day = context;

    (void)digest;
    *ret = (struct count_called){.is_cleared = day->is_cleared};
    if (to_s - from_s >= 86400) {
        *ret = *day;
    }
}

static void test_called__by_people__is_read_from_their_reports(void **state)
{
    struct count_called said = {.spam = 4, .good = 2};

    (void)state;
    judge_one("a@b.example", 1U << JUDGED_BAD);
    bench.port.called = call_one;
    bench.port.called_context = &said;
    expect("a@b.example", 1, COUNT_14D, 0, 1, 4, 2);
    expect("a@b.example", 1, COUNT_1H, 0, 1, 0, 0);
    expect("a@b.example", 0, COUNT_1D, 0, 0, 4, 2); /* helo: of every type */
    said.is_cleared = true;
    expect("a@b.example", 1, COUNT_14D, 0, 0, 4, 2);
    bench.port.called = NULL;
    expect("a@b.example", 1, COUNT_14D, 0, 1, 0, 0);
}

/* Exact beside a plain table, also after the process ended and began again in mid-bucket. */
static void test_add__thousands_of_judgements__exact(void **state)
{
    uint64_t wanted[KEYS][JUDGEMENTS] = {{0}};
    struct prng r;
    char from[32];

    (void)state;
    prng_init(&r, 17, 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        size_t key = (size_t)prng_below(&r, KEYS);
        unsigned kind = (unsigned)prng_below(&r, CALLED_SPAM);
        (void)snprintf(from, sizeof(from), "u%zu@b.example", key);
        judge_one(from, 1U << kind);
        wanted[key][kind]++;
        if (i == ROUNDS / 2) {
            count_close(&bench.count);
            open_counts();
        }
    }
    for (size_t i = 0; i < KEYS; i++) {
        (void)snprintf(from, sizeof(from), "u%zu@b.example", i);
        expect(from, 1, COUNT_14D, wanted[i][0], wanted[i][1], wanted[i][2],
               wanted[i][3]);
    }
}

/* A peer has the same ring key and another node key. */
static void test_digest__of_a_peer__is_another(void **state)
{
    struct digest key[KEYRING_MAX];
    struct digest ours[KEYRING_MAX];
    struct digest theirs[KEYRING_MAX];
    struct keyring peer = bench.keys;

    (void)state;
    peer.node.bytes[0] ^= 1;
    count_digest(&bench.keys, bench.config, FEATURE_from, SLICE_LIT("a@b.example"),
                 key);
    judged_digest(&bench.keys, key, JUDGED_BAD, ours);
    judged_digest(&peer, key, JUDGED_BAD, theirs);
    assert_memory_not_equal(&ours[0], &theirs[0], sizeof(ours[0]));
    judged_digest(&bench.keys, key, JUDGED_GOOD, theirs);
    assert_memory_not_equal(&ours[0], &theirs[0], sizeof(ours[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        TEST(test_add__each_kind__is_read_alone),
        TEST(test_add__message_only_read__adds_nothing),
        TEST(test_add__deliveries__as_often_as_counted),
        TEST(test_add__time_passes__leaves_the_windows),
        TEST(test_called__by_people__is_read_from_their_reports),
        TEST(test_add__thousands_of_judgements__exact),
        TEST(test_digest__of_a_peer__is_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
