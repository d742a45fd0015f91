/* traffic - shares, Zipf's law, distinct keys, repeatable streams. */
#include <math.h>

#include "core/count/traffic.h"

#include "tests/unit/unit.h"

enum { MESSAGES = 20000, SITE = 10000, RANKS_SHOWN = 12 };

static bool are_different(const uint64_t *keys, int n)
{
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < a; b++) {
            if (keys[a] == keys[b]) {
                return false;
            }
        }
    }
    return true;
}

static void test_message__always__has_different_keys(void **state)
{
    static const uint64_t sites[] = {1, 2, 10, 1000};
    (void)state;

    for (size_t s = 0; s < sizeof(sites) / sizeof(sites[0]); s++) {
        struct traffic t;
        traffic_init(&t, sites[s], 7);
        for (int i = 0; i < 200; i++) {
            uint64_t keys[TRAFFIC_KEYS];
            traffic_message(&t, keys);
            assert_true(are_different(keys, TRAFFIC_KEYS));
        }
    }
}

static void test_message__of_many__has_the_share_of_first_sights(void **state)
{
    struct traffic t;
    uint64_t first = 0;
    uint64_t last = 0;
    (void)state;

    traffic_init(&t, 1000000, 3);
    for (int i = 0; i < MESSAGES; i++) {
        uint64_t keys[TRAFFIC_KEYS];
        traffic_message(&t, keys);
        for (int k = 0; k < TRAFFIC_KEYS; k++) {
            if ((keys[k] & TRAFFIC_FIRST) != 0) {
                assert_true(keys[k] > last);
                last = keys[k];
                first++;
            } else {
                assert_in_range(keys[k], 1, t.nranks);
            }
        }
    }
    double share = (double)first / ((double)MESSAGES * TRAFFIC_KEYS);
    /* A key that the message has already is drawn again among the ranks: no share is lost. */
    assert_true(fabs(share - 0.6) < 5 * sqrt(0.24 / ((double)MESSAGES * TRAFFIC_KEYS)));
}

static void test_rank__of_many_draws__follows_zipf(void **state)
{
    struct traffic t;
    uint64_t seen[RANKS_SHOWN + 1] = {0};
    double draws = 4000000;
    double sum = 0;
    (void)state;

    traffic_init(&t, SITE, 5);
    for (uint64_t i = 1; i <= t.nranks; i++) {
        sum += 1 / (double)i;
    }
    for (int i = 0; i < (int)draws; i++) {
        uint64_t rank = traffic_rank(&t);
        assert_in_range(rank, 1, t.nranks);
        if (rank <= RANKS_SHOWN) {
            seen[rank]++;
        }
    }
    for (int r = 1; r <= RANKS_SHOWN; r++) {
        double expected = draws / r / sum;
        assert_true(fabs((double)seen[r] - expected) < 5 * sqrt(expected));
    }
}

static void test_expected_ranks__beside_a_count__agree(void **state)
{
    static uint8_t is_seen[2 * SITE + 1];
    struct traffic t;
    int n = 0;
    int draws = 50000;
    (void)state;

    traffic_init(&t, SITE, 11);
    for (int i = 0; i < draws; i++) {
        uint64_t rank = traffic_rank(&t);
        n += 1 - is_seen[rank];
        is_seen[rank] = 1;
    }
    double expected = traffic_expected_ranks(t.nranks, draws);
    assert_true(fabs(n - expected) < 0.01 * expected);
    assert_true(traffic_expected_ranks(10, 1e9) > 9.999);
    assert_true(traffic_expected_ranks(10, 1e9) <= 10);
}

static void test_init__with_a_seed__is_repeatable_and_others_differ(void **state)
{
    uint64_t a[TRAFFIC_KEYS];
    uint64_t b[TRAFFIC_KEYS];
    uint64_t c[TRAFFIC_KEYS];
    struct traffic t;
    (void)state;

    traffic_init(&t, 1000, 1);
    traffic_message(&t, a);
    traffic_init(&t, 1000, 1);
    traffic_message(&t, b);
    traffic_init(&t, 1000, 2);
    traffic_message(&t, c);
    assert_memory_equal(a, b, sizeof(a));
    assert_memory_not_equal(a, c, sizeof(a));
}

static void test_digest__of_neighbours__differs_in_every_half(void **state)
{
    struct digest a;
    struct digest b;
    (void)state;

    traffic_digest(TRAFFIC_FIRST | 1, &a);
    traffic_digest(TRAFFIC_FIRST | 2, &b);
    assert_memory_not_equal(a.b, b.b, 8);
    assert_memory_not_equal(a.b + 8, b.b + 8, 8);
    assert_memory_not_equal(a.b, a.b + 8, 8);
}

static void test_below__any_bound__stays_below_and_reaches_all(void **state)
{
    struct prng p;
    unsigned seen[6] = {0};
    (void)state;

    prng_init(&p, 1, 2);
    for (int i = 0; i < 60000; i++) {
        uint64_t v = prng_below(&p, 6);
        assert_in_range(v, 0, 5);
        seen[v]++;
    }
    for (int i = 0; i < 6; i++) {
        assert_in_range(seen[i], 9500, 10500);
    }
    assert_int_equal(prng_below(&p, 1), 0);
    assert_true(prng_below(&p, UINT64_MAX) < UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_message__always__has_different_keys),
        cmocka_unit_test(test_message__of_many__has_the_share_of_first_sights),
        cmocka_unit_test(test_rank__of_many_draws__follows_zipf),
        cmocka_unit_test(test_expected_ranks__beside_a_count__agree),
        cmocka_unit_test(test_init__with_a_seed__is_repeatable_and_others_differ),
        cmocka_unit_test(test_digest__of_neighbours__differs_in_every_half),
        cmocka_unit_test(test_below__any_bound__stays_below_and_reaches_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
