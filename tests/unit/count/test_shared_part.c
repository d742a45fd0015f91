/* test_shared_part - the part of other servers in totals that lag, against all counts of all. */
#include <string.h>

#include "core/base/prng.h"
#include "core/count/shared_part.h"

#include "tests/unit/unit.h"

enum {
    HOSTS = 3,
    FIRST = 19663 * COUNT_DAY_BUCKETS + 100,
    BUCKETS = 40 * COUNT_DAY_BUCKETS,
    ROUNDS = 300,
    STEPS = 300,
    WINDOWS = 4
};

/* One key: how often each host counted it, how much of that it published, and how much of this the
 * store has, by bucket since FIRST. */
struct world {
    uint64_t now;
    uint64_t counted[HOSTS][BUCKETS];
    uint64_t sent[HOSTS][BUCKETS];
    uint64_t stored[HOSTS][BUCKETS];
    struct shared_total view; /* of host 0 */
    struct prng prng;
};

typedef uint64_t row[BUCKETS];

static uint64_t below(struct world *w, uint64_t n)
{
    return prng_below(&w->prng, n);
}

static void history_of(struct world *w, row *rows, unsigned n,
                       struct count_history *ret)
{
    *ret = (struct count_history){.now = w->now};
    for (uint64_t b = FIRST; b <= w->now; b++) {
        for (unsigned h = 0; h < n; h++) {
            count_history_add(ret, b * COUNT_BUCKET_S, rows[h][b - FIRST]);
        }
    }
}

static uint64_t stored_in(struct world *w, uint64_t bucket)
{
    uint64_t sum = 0;

    for (unsigned h = 0; h < HOSTS; h++) {
        sum += w->stored[h][bucket - FIRST];
    }
    return sum;
}

static void hear(struct world *w, uint64_t bucket)
{
    uint64_t day = bucket / COUNT_DAY_BUCKETS;
    uint64_t in_day = 0;

    for (uint64_t b = FIRST; b <= w->now; b++) {
        in_day += b / COUNT_DAY_BUCKETS == day ? stored_in(w, b) : 0;
    }
    shared_total_set(&w->view, bucket, w->sent[0][bucket - FIRST], stored_in(w, bucket),
                     in_day);
}

static void hear_history(struct world *w)
{
    struct count_history h;

    history_of(w, w->stored, HOSTS, &h);
    shared_total_set_history(&w->view, &h);
}

static uint64_t some_bucket(struct world *w)
{
    uint64_t back = below(w, 3) == 0 ? below(w, 200) : below(w, 3);

    return w->now - FIRST > back ? w->now - back : FIRST;
}

/* Some counts are sent, and some of the sent ones arrive. */
static void publish(struct world *w, unsigned host, uint64_t bucket)
{
    uint64_t *sent = &w->sent[host][bucket - FIRST];
    uint64_t *stored = &w->stored[host][bucket - FIRST];

    *sent += below(w, w->counted[host][bucket - FIRST] - *sent + 1);
    *stored += below(w, *sent - *stored + 1);
}

static void step(struct world *w)
{
    unsigned host = (unsigned)below(w, HOSTS);

    switch (below(w, 12)) {
    case 0:
        w->now += below(w, 20) == 0 ? below(w, 400) : below(w, 3);
        break;
    case 1:
        hear_history(w);
        break;
    case 2:
        if (below(w, 20) == 0) { /* the entry went, or the file */
            w->view = (struct shared_total){.key = 7, .own = SHARED_OWN_UNKNOWN};
        }
        break;
    case 3:
    case 4:
    case 5:
        w->counted[host][w->now - FIRST] += below(w, 10);
        break;
    case 6:
    case 7:
        hear(w, below(w, 5) == 0 ? some_bucket(w) : w->now);
        break;
    default:
        publish(w, host, some_bucket(w));
        break;
    }
}

static void windows_of(struct world *w, row *rows, unsigned n, uint64_t ret[WINDOWS])
{
    struct count_history h;

    history_of(w, rows, n, &h);
    count_history_windows(&h, ret);
}

/* Own counts and the part; the sketch's bound for it. */
static void judge(struct world *w, uint64_t ret[WINDOWS], uint64_t retmost[WINDOWS])
{
    struct count_history own;
    struct count_history part;
    uint64_t theirs[WINDOWS];

    history_of(w, w->counted, 1, &own);
    shared_total_part(&w->view, 1, &own, &own, &part);
    count_history_windows(&own, ret);
    count_history_windows(&part, theirs);
    shared_total_windows(&w->view, w->now, retmost);
    for (unsigned i = 0; i < WINDOWS; i++) {
        ret[i] += theirs[i];
    }
}

static void check_never_high(struct world *w)
{
    uint64_t truth[WINDOWS];
    uint64_t got[WINDOWS];
    uint64_t most[WINDOWS];
    uint64_t own[WINDOWS];

    windows_of(w, w->counted, HOSTS, truth);
    windows_of(w, w->counted, 1, own);
    judge(w, got, most);
    for (unsigned i = 0; i < WINDOWS; i++) {
        assert_in_range(got[i], own[i], truth[i]);
    }
}

/* All is published and heard: nothing is missing, but hours that are in the window in part. */
static void check_whole(struct world *w)
{
    uint64_t truth[WINDOWS];
    uint64_t got[WINDOWS];
    uint64_t most[WINDOWS];

    memcpy(w->sent, w->counted, sizeof(w->sent));
    memcpy(w->stored, w->counted, sizeof(w->stored));
    hear_history(w);
    windows_of(w, w->counted, HOSTS, truth);
    judge(w, got, most);
    assert_int_equal(got[0], truth[0]);
    assert_int_equal(got[1], truth[1]);
    assert_int_equal(got[3], truth[3]);
    for (unsigned i = 0; i < WINDOWS; i++) {
        assert_true(most[i] >= truth[i]);
    }
    if ((w->now + 1) % 6 == 1) { /* the window is whole hours, and the running bucket */
        assert_int_equal(got[2], truth[2]);
    }
}

static void test_part__in_random_histories__is_never_high_and_whole_in_the_end(
    void **state)
{
    struct world *w = calloc(1, sizeof(*w));

    (void)state;
    assert_non_null(w);
    for (unsigned round = 0; round < ROUNDS; round++) {
        memset(w, 0, sizeof(*w));
        w->now = FIRST + below(w, 200);
        prng_init(&w->prng, 1, round);
        w->view = (struct shared_total){.key = 7, .own = SHARED_OWN_UNKNOWN};
        for (unsigned i = 0; i < STEPS && w->now < FIRST + BUCKETS - 500; i++) {
            step(w);
            check_never_high(w);
        }
        check_whole(w);
    }
    free(w);
}

/* A has counted 10, B counts its first copy: B's own copies under way hide nothing of A's. */
static void test_part__when_own_counts_are_under_way__then_all_of_the_others(
    void **state)
{
    struct count_history own = {.now = FIRST};
    struct count_history part;
    struct shared_total t = {.key = 7};

    (void)state;
    count_history_add(&own, (uint64_t)FIRST * COUNT_BUCKET_S, 5);
    shared_total_set(&t, FIRST, 0, 10, 10); /* none of the 5 is published */
    shared_total_part(&t, 1, &own, &own, &part);
    assert_int_equal(part.bucket[0], 10);
    assert_int_equal(part.day[0], 10);
    shared_total_set(&t, FIRST, 3, 12, 12); /* 3 are, of which 2 may have arrived */
    shared_total_part(&t, 1, &own, &own, &part);
    assert_int_equal(part.bucket[0], 9);
    assert_int_equal(part.day[0], 9);
    t.own = SHARED_OWN_UNKNOWN;
    shared_total_part(&t, 1, &own, &own, &part);
    assert_int_equal(part.bucket[0], 7);
    shared_total_part(&t, 1, NULL, &own, &part);
    assert_int_equal(part.bucket[0], 7);
}

static void test_set__when_others_counted_elsewhere_in_the_day__then_history_is_wanted(
    void **state)
{
    struct shared_total t = {.key = 7};
    struct count_history h = {.now = FIRST};

    (void)state;
    shared_total_set(&t, FIRST, 1, 3, 3);
    assert_true(shared_total_wants_history(&t)); /* its past is unknown */
    count_history_add(&h, (uint64_t)FIRST * COUNT_BUCKET_S, 3);
    shared_total_set_history(&t, &h);
    assert_false(shared_total_wants_history(&t));
    shared_total_set(&t, FIRST, 1, 4, 4);
    shared_total_set(&t, FIRST + 1, 1, 1, 5);
    assert_false(shared_total_wants_history(&t));
    shared_total_set(&t, FIRST + 1, 1, 2, 7); /* 1 more in another bucket */
    assert_true(shared_total_wants_history(&t));
    h = (struct count_history){.now = FIRST + 1};
    shared_total_set_history(&t, &h);
    assert_false(shared_total_wants_history(&t));
    shared_total_set(&t, FIRST + COUNT_DAY_BUCKETS, 0, 0, 0);
    assert_true(shared_total_wants_history(&t)); /* yesterday may have grown */
}

/* With any bytes the answer stays within its arrays. */
static void test_part__of_any_bytes__is_a_number(void **state)
{
    struct prng prng;
    struct count_history own = {.now = FIRST};

    (void)state;
    prng_init(&prng, 1, 2);
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t words[2][sizeof(struct shared_total) / 8];
        struct shared_total t[2];
        struct count_history part;
        uint64_t windows[WINDOWS];
        for (size_t k = 0; k < sizeof(words) / 8; k++) {
            words[k % 2][k / 2] = prng_next(&prng);
        }
        memcpy(t, words, sizeof(t));
        if (i % 2 == 0) {
            t[0].bucket = (uint32_t)(FIRST + prng_next(&prng) % 400 - 200);
        }
        own.now = i % 3 == 0 ? i % 10 : FIRST;
        shared_total_part(t, 1 + i % 2, &own, &own, &part);
        shared_total_windows(t, own.now, windows);
        shared_total_set(t, FIRST + i, 1, 2, 3);
        (void)shared_total_wants_history(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_part__in_random_histories__is_never_high_and_whole_in_the_end),
        cmocka_unit_test(
            test_part__when_own_counts_are_under_way__then_all_of_the_others),
        cmocka_unit_test(
            test_set__when_others_counted_elsewhere_in_the_day__then_history_is_wanted),
        cmocka_unit_test(test_part__of_any_bytes__is_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
