/* test_range - the number in a range of time, from what a history keeps. */
#include "core/base/prng.h"
#include "core/count/runset.h"

#include "tests/unit/unit.h"

enum { EVENTS = 400, ROUNDS = 20000 };

static struct count_history history;
static uint64_t start_s[EVENTS];

static uint64_t counted_between(uint64_t from_s, uint64_t to_s)
{
    uint64_t n = 0;

    for (size_t i = 0; i < EVENTS; i++) {
        n += start_s[i] >= from_s && start_s[i] < to_s;
    }
    return n;
}

/* Events of 14 days, half of them in the last one; it is now_s. */
static void fill(struct prng *r, uint64_t now_s)
{
    history = (struct count_history){.now = now_s / COUNT_BUCKET_S};
    for (size_t i = 0; i < EVENTS; i++) {
        uint64_t ago_s = prng_below(r, (uint64_t)(i % 2 == 0 ? 1 : 14) * COUNT_DAY_S);
        start_s[i] = (now_s - ago_s) / COUNT_BUCKET_S * COUNT_BUCKET_S;
        count_history_add(&history, start_s[i], 1);
    }
}

static void test_range__any__what_was_counted_between_its_edges(void **state)
{
    struct prng r;

    (void)state;
    prng_init(&r, 5, 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t now_s = 20000ULL * COUNT_DAY_S + prng_below(&r, COUNT_DAY_S);
        if (i % 100 == 0) {
            fill(&r, now_s);
        }
        now_s = history.now * COUNT_BUCKET_S;
        uint64_t wanted_from = now_s - prng_below(&r, 15ULL * COUNT_DAY_S);
        uint64_t wanted_to = wanted_from + 1 + prng_below(&r, 3ULL * COUNT_DAY_S);
        uint64_t from = wanted_from;
        uint64_t to = wanted_to;
        uint64_t n = count_history_range(&history, &from, &to);
        uint64_t end = now_s + COUNT_BUCKET_S;

        assert_true(from <= wanted_from && wanted_from - from < COUNT_DAY_S);
        assert_true(to >= (wanted_to < end ? wanted_to : end));
        assert_true(from % COUNT_BUCKET_S == 0 && to % COUNT_BUCKET_S == 0);
        if (wanted_from >= end - (uint64_t)COUNT_BUCKETS * COUNT_BUCKET_S) {
            assert_true(wanted_from - from < COUNT_BUCKET_S);
        }
        if (n != counted_between(from, to)) {
            fail_msg("%" PRIu64 " to %" PRIu64 ": %" PRIu64 ", not %" PRIu64, from, to,
                     n, counted_between(from, to));
        }
    }
}

static void test_range__all_and_nothing(void **state)
{
    struct prng r;
    uint64_t from = 0;
    uint64_t to = UINT64_MAX / 2;

    (void)state;
    prng_init(&r, 6, 0);
    fill(&r, 20000ULL * COUNT_DAY_S);
    assert_int_equal(count_history_range(&history, &from, &to), EVENTS);
    from = 20001ULL * COUNT_DAY_S; /* to come */
    to = from + 1;
    assert_int_equal(count_history_range(&history, &from, &to), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_range__any__what_was_counted_between_its_edges),
        cmocka_unit_test(test_range__all_and_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
