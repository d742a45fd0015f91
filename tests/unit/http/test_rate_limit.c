/*
 * test_limit - token buckets, addresses that flood, waits between tries.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>

#include "core/hub/http/rate_limit.h"

#include "tests/unit/unit.h"

#define S 1000000ULL

static struct sockaddr_storage at(const char *text)
{
    struct sockaddr_storage a = {.ss_family = AF_INET};

    if (inet_pton(AF_INET, text, &((struct sockaddr_in *)&a)->sin_addr) != 1) {
        a.ss_family = AF_INET6;
        assert_int_equal(
            inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)&a)->sin6_addr), 1);
    }
    return a;
}

static bool admit(struct rate_limit *l, const char *from, uint64_t now)
{
    struct sockaddr_storage a = at(from);

    return rate_limit_admit(l, (struct sockaddr *)&a, now);
}

static void test_bucket__when_drained__then_fills_at_its_rate(void **state)
{
    const struct bucket_rate rate = {.per_s = 2, .burst = 4};
    struct bucket b = {0};
    unsigned wait_s = 0;

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_true(bucket_take(&b, &rate, 1, 10 * S, NULL));
    }
    assert_false(bucket_take(&b, &rate, 1, 10 * S, &wait_s));
    assert_int_equal(wait_s, 1);
    assert_true(bucket_take(&b, &rate, 1, 10 * S + S / 2, NULL));
    assert_false(bucket_take(&b, &rate, 1, 10 * S + S / 2, NULL));
    for (int i = 0; i < 4; i++) {
        assert_true(
            bucket_take(&b, &rate, 1, 100 * S, NULL)); /* never above the burst */
    }
    assert_false(bucket_take(&b, &rate, 1, 100 * S, NULL));
    assert_false(bucket_take(&b, &rate, 1, 50 * S, NULL)); /* a clock stepped back */
}

static void test_bucket__when_more_than_its_burst__then_owed(void **state)
{
    const struct bucket_rate rate = {.per_s = 10, .burst = 100};
    struct bucket b = {0};
    unsigned wait_s = 0;

    (void)state;
    assert_true(bucket_take(&b, &rate, 300, S, NULL));
    assert_false(bucket_take(&b, &rate, 1, 2 * S, &wait_s));
    assert_int_equal(wait_s, 20); /* 190 owed and one more */
    assert_true(bucket_take(&b, &rate, 1, 22 * S, NULL));
}

static void test_admit__when_one_address_floods__then_others_come_in(void **state)
{
    struct rate_limit *l = rate_limit_new();
    unsigned admitted = 0;

    (void)state;
    for (int i = 0; i < 10000; i++) {
        admitted += admit(l, "192.0.2.1", S) ? 1 : 0;
    }
    assert_int_equal(admitted, (unsigned)rate_limit_address_rate.burst);
    assert_true(admit(l, "192.0.2.2", S));
    assert_true(admit(l, "192.0.2.1", 2 * S));
    rate_limit_free(&l);
    assert_null(l);
}

static void test_admit__when_v6__then_by_64(void **state)
{
    struct rate_limit *l = rate_limit_new();
    unsigned admitted = 0;
    char text[64];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof(text), "2001:db8::%x", i + 1);
        admitted += admit(l, text, S) ? 1 : 0;
    }
    assert_int_equal(admitted, (unsigned)rate_limit_address_rate.burst);
    assert_true(admit(l, "2001:db8:0:1::1", S));
    for (int i = 0; i < 1000; i++) {
        admitted += admit(l, "::ffff:198.51.100.7", 11 * S) ? 1 : 0;
    }
    assert_int_equal(admitted, 2 * (unsigned)rate_limit_address_rate.burst);
    assert_false(admit(l, "198.51.100.7", 11 * S)); /* the same one */
    rate_limit_free(&l);
}

static void test_admit__when_many_addresses_flood__then_a_known_one_comes_in(
    void **state)
{
    struct rate_limit *l = rate_limit_new();
    struct sockaddr_storage known = at("203.0.113.5");
    unsigned admitted = 0;
    char text[64];

    (void)state;
    rate_limit_know(l, (struct sockaddr *)&known, S);
    for (int i = 0; i < 20000; i++) {
        snprintf(text, sizeof(text), "10.%d.%d.1", i / 250, i % 250);
        admitted += admit(l, text, S + 1) ? 1 : 0;
    }
    assert_int_equal(admitted, (unsigned)rate_limit_all_rate.burst);
    assert_false(admit(l, "10.99.99.99", S + 2));
    assert_true(admit(l, "203.0.113.5", S + 3));
    assert_false(admit(l, "10.99.99.98", S + 3));
    rate_limit_free(&l);
}

static void test_backoff__when_it_fails_on__then_longer_up_to_a_bound(void **state)
{
    (void)state;
    const unsigned longest[] = {BACKOFF_MOST_MS, BACKOFF_UNHEARD_MS};

    assert_int_equal(backoff_ms(1, BACKOFF_MOST_MS, 0), 500);
    assert_int_equal(backoff_ms(1, BACKOFF_MOST_MS, 500), 1000);
    assert_int_equal(backoff_ms(2, BACKOFF_MOST_MS, 0), 1000);
    assert_int_equal(backoff_ms(7, BACKOFF_MOST_MS, 0), 30000);
    assert_int_equal(backoff_ms(4000000000U, BACKOFF_MOST_MS, 30000), 60000);
    assert_int_equal(backoff_ms(3, BACKOFF_UNHEARD_MS, 2000), 4000);
    assert_int_equal(backoff_ms(4000000000U, BACKOFF_UNHEARD_MS, 2500), 5000);
    for (unsigned f = 1; f < 20; f++) {
        for (uint32_t r = 0; r < 70000; r += 777) {
            for (unsigned i = 0; i < 2; i++) {
                unsigned ms = backoff_ms(f, longest[i], r);

                assert_true(ms >= BACKOFF_FIRST_MS / 2 && ms <= longest[i]);
            }
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bucket__when_drained__then_fills_at_its_rate),
        cmocka_unit_test(test_bucket__when_more_than_its_burst__then_owed),
        cmocka_unit_test(test_admit__when_one_address_floods__then_others_come_in),
        cmocka_unit_test(test_admit__when_v6__then_by_64),
        cmocka_unit_test(
            test_admit__when_many_addresses_flood__then_a_known_one_comes_in),
        cmocka_unit_test(test_backoff__when_it_fails_on__then_longer_up_to_a_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
