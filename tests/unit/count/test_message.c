/*
 * test_message - a message's features are counted together, and distinct ones by the day.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/count/message.h"
#include "core/count/runset.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

#define S     ((uint64_t)1000000)
#define START (UINT64_C(19663) * (uint64_t)COUNT_DAY_S * S)

enum { ARENA = 4 << 20 };

struct site {
    char dir[64];
    struct keyring keys;
    struct count *count;
    struct count_port port;
    struct config *config;
    struct arena *arena;
};

static int setup(void **state)
{
    struct site *s = calloc(1, sizeof(*s));
    struct errinfo why;
    struct config_errors errors = {.n = 0};
    char path[96];
    assert_true(tempdir_make_fast(s->dir));
    (void)snprintf(path, sizeof(path), "%s/c.conf", s->dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    (void)fprintf(f,
                  "state_dir = \"%s\";\ncount: { messages_per_day = 1000; unit = "
                  "\"deliveries\"; distinct_types = [\"from\"]; };\n",
                  s->dir);
    (void)fclose(f);
    if (config_load(path, NULL, &s->config, &errors) != ERR_OK) {
        fail_msg("%s", errors.v[0].text);
    }
    assert_int_equal(keyring_load_or_create(s->dir, &s->keys, &why), ERR_OK);
    clock_set_for_test(START, 1000 * S);
    const struct count_options options = {
        .state_dir = s->dir, .keys = &s->keys, .messages_per_day = 1000};
    assert_int_equal(count_open(&options, &s->count, &why), ERR_OK);
    s->port = count_port_of(s->count);
    s->arena = arena_new(ARENA);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct site *s = *state;
    count_close(&s->count);
    config_release(&s->config);
    arena_free(&s->arena);
    clock_unset_for_test();
    (void)tempdir_remove(s->dir);
    free(s);
    return 0;
}

/* A message from a@b.example to one recipient (by number), from a network; the counts of From. */
static struct counted send(struct site *s, unsigned rcpt, const char *net,
                           uint64_t ndeliveries, bool is_reading)
{
    char address[32];
    int n = snprintf(address, sizeof(address), "r%u@c.example", rcpt);
    struct slice one = slice_of(address, (size_t)n);
    struct message_facts facts = {.rcpt = &one, .nrcpt = 1, .ndeliveries = ndeliveries};
    struct message_counts counts;
    arena_reset(s->arena);
    struct featureset *set = featureset_new(s->arena, 100);
    featureset_add(set, FEATURE_from, SLICE_LIT("a@b.example"));
    featureset_add(set, FEATURE_from_domain, SLICE_LIT("b.example"));
    featureset_add(set, FEATURE_client_net, slice_str(net));
    count_message(&s->port, &s->keys, s->config, set, &facts, is_reading, s->arena,
                  &counts);
    assert_int_equal(counts.n, 3);
    assert_false(counts.is_cut);
    assert_true(counts.v[0].has_distinct);
    assert_false(counts.v[1].has_distinct);
    return counts.v[0];
}

static void test_distinct__100_mails_to_7_recipients__7(void **state)
{
    struct site *s = *state;
    struct counted c;
    for (unsigned i = 0; i < 100; i++) {
        c = send(s, i % 7, i % 2 ? "192.0.2.0/24" : "198.51.100.0/24", 1, false);
    }
    assert_int_equal(c.value.w[COUNT_1D], 100);
    assert_int_equal(c.distinct[DISTINCT_RCPT], 7);
    assert_int_equal(c.distinct[DISTINCT_NETWORK], 2);
    assert_int_equal(c.distinct[DISTINCT_SENDER], 1);
    c = send(s, 3, "192.0.2.0/24", 1, false);
    assert_int_equal(c.distinct[DISTINCT_RCPT], 7);
}

static void test_distinct__next_days__begins_anew(void **state)
{
    struct site *s = *state;
    for (unsigned i = 0; i < 10; i++) {
        send(s, i, "192.0.2.0/24", 1, false);
    }
    clock_advance_us((uint64_t)COUNT_DAY_S * S);
    count_tick(s->count); /* on trial: a whole day at once */
    clock_advance_us(601 * S);
    count_tick(s->count);
    assert_int_equal(send(s, 3, "192.0.2.0/24", 1, false).distinct[DISTINCT_RCPT], 10);
    clock_advance_us((uint64_t)COUNT_DAY_S * S);
    count_tick(s->count);
    clock_advance_us(601 * S);
    count_tick(s->count);
    assert_int_equal(send(s, 4, "192.0.2.0/24", 1, false).distinct[DISTINCT_RCPT], 1);
}

static void test_unit__deliveries__amount_is_recipients(void **state)
{
    struct site *s = *state;
    struct counted c = send(s, 1, "192.0.2.0/24", 12, false);
    assert_int_equal(c.value.w[COUNT_10M], 12);
    assert_int_equal(c.distinct[DISTINCT_RCPT], 1);
}

static void test_reading__nothing_changes(void **state)
{
    struct site *s = *state;
    struct counted c = send(s, 1, "192.0.2.0/24", 1, true);
    assert_int_equal(c.value.w[COUNT_14D], 0);
    assert_int_equal(c.distinct[DISTINCT_RCPT], 0);
    c = send(s, 1, "192.0.2.0/24", 1, false);
    assert_int_equal(c.value.w[COUNT_14D], 1);
    c = send(s, 2, "192.0.2.0/24", 1, true);
    assert_int_equal(c.value.w[COUNT_14D], 1);
    assert_int_equal(c.distinct[DISTINCT_RCPT], 1);
}

static void test_digest__prefix__keeps_name_spaces_apart(void **state)
{
    struct site *s = *state;
    struct digest in[KEYRING_MAX];
    struct digest plain;
    count_digest(&s->keys, s->config, FEATURE_from, SLICE_LIT("a@b.example"), in);
    digest_make(&s->keys.ring[0], FEATURE_from, SLICE_LIT("a@b.example"), &plain);
    assert_int_not_equal(digest_cmp(&in[0], &plain), 0);
    static const char value[] = "in\0a@b.example";
    digest_make(&s->keys.ring[0], FEATURE_from, slice_of(value, sizeof(value) - 1),
                &plain);
    assert_int_equal(digest_cmp(&in[0], &plain), 0);
}

#define SITE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SITE_TEST(test_distinct__100_mails_to_7_recipients__7),
        SITE_TEST(test_distinct__next_days__begins_anew),
        SITE_TEST(test_unit__deliveries__amount_is_recipients),
        SITE_TEST(test_reading__nothing_changes),
        SITE_TEST(test_digest__prefix__keeps_name_spaces_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
