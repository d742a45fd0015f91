/*
 * test_count - the counts as a whole against a plain list of all additions: windows, time,
 * restarts, refusals.
 */
#include <pthread.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/count/count.h"
#include "core/count/count_internal.h"
#include "core/telemetry/stats.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

#define S      ((uint64_t)1000000)
#define BUCKET ((uint64_t)COUNT_BUCKET_S * S)
#define START  (UINT64_C(19663) * (uint64_t)COUNT_DAY_S * S) /* 2023-11-02 */

#if defined(__SANITIZE_THREAD__)
enum { STEPS = 200 }; /* one thread; the other builds have the rest */
#else
enum { STEPS = 800 };
#endif
enum { KEYS = 300, MESSAGES_PER_DAY = 1000 };

/* ---- the truth ---- */

struct event {
    uint64_t bucket;
    unsigned key;
    uint64_t amount;
};
struct truth {
    struct event *v;
    size_t n;
};

static uint64_t truth_of(const struct truth *t, unsigned key, uint64_t now, unsigned w)
{
    static const uint64_t back[] = {1, 6, COUNT_BUCKETS};
    uint64_t sum = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct event *e = &t->v[i];
        uint64_t days = now / COUNT_DAY_BUCKETS - e->bucket / COUNT_DAY_BUCKETS;
        bool is_in = w == COUNT_14D ? days <= COUNT_DAYS : now - e->bucket <= back[w];
        sum += e->key == key && is_in ? e->amount : 0;
    }
    return sum;
}

/* ---- the site ---- */

struct site {
    char dir[64];
    struct keyring keys;
    struct count *count;
};

static void open_site(struct site *s)
{
    struct errinfo why;
    const struct count_options options = {
        .state_dir = s->dir, .keys = &s->keys, .messages_per_day = MESSAGES_PER_DAY};
    enum err e = count_open(&options, &s->count, &why);
    if (e != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
    count_tick(s->count);
}

static void key_digest(const struct site *s, unsigned key,
                       struct digest ret[KEYRING_MAX])
{
    char text[16];
    int n = snprintf(text, sizeof(text), "key %u", key);
    memset(ret, 0, KEYRING_MAX * sizeof(ret[0]));
    for (unsigned i = 0; i < s->keys.n; i++) {
        digest_make(&s->keys.ring[i], 14, slice_of(text, (size_t)n), &ret[i]);
    }
}

static struct count_value add(struct site *s, unsigned key, uint64_t amount)
{
    struct count_item item = {.amount = amount};
    key_digest(s, key, item.digest);
    count_batch(s->count, &item, 1);
    return item.value;
}

static void exact(struct site *s, unsigned key, uint64_t ret[COUNT_WINDOWS])
{
    struct digest digest[KEYRING_MAX];
    struct count_history h;
    key_digest(s, key, digest);
    count_exact(s->count, digest, &h);
    count_history_windows(&h, ret);
}

static int setup(void **state)
{
    struct site *s = calloc(1, sizeof(*s));
    struct errinfo why;
    assert_true(tempdir_make_fast(s->dir));
    assert_int_equal(keyring_load_or_create(s->dir, &s->keys, &why), ERR_OK);
    clock_set_for_test(START, 1000 * S);
    open_site(s);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct site *s = *state;
    count_close(&s->count);
    clock_unset_for_test();
    (void)tempdir_remove(s->dir);
    free(s);
    return 0;
}

static void pass(struct site *s, uint64_t us)
{
    for (uint64_t t = 0; t < us; t += BUCKET) {
        clock_advance_us(us - t < BUCKET ? us - t : BUCKET);
        count_tick(s->count);
    }
}

/* ---- tests ---- */

static void test_batch__same_key__counts_up_in_all_windows(void **state)
{
    struct site *s = *state;
    for (uint64_t i = 1; i <= 100; i++) {
        struct count_value v = add(s, 1, 1);
        for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
            assert_int_equal(v.w[w], i);
        }
    }
    assert_int_equal(add(s, 2, 0).w[COUNT_14D], 0);
    assert_int_equal(add(s, 2, 70000).w[COUNT_14D], 70000);
    assert_int_equal(add(s, 2, UINT64_C(1) << 33).w[COUNT_1D],
                     (UINT64_C(1) << 33) + 70000);
}

/* 100 items, more than are fetched ahead: key 1 in every other one with 1, 2, 3... */
static void test_batch__one_key_many_times__counted_as_often(void **state)
{
    enum { ITEMS = 100, HALF = ITEMS / 2 };
    struct site *s = *state;
    struct count_item items[ITEMS] = {0};
    uint64_t w[COUNT_WINDOWS];
    uint64_t sum = 0;

    for (unsigned i = 0; i < ITEMS; i++) {
        items[i].amount = i % 2 == 0 ? i / 2 + 1 : 1;
        key_digest(s, i % 2 == 0 ? 1 : i, items[i].digest);
    }
    key_digest(s, 1, items[1].digest); /* and once beside itself */
    count_batch(s->count, items, ITEMS);
    for (unsigned i = 0; i < ITEMS; i += 2) {
        sum += items[i].amount;
        assert_in_range(items[i].value.w[COUNT_1H], sum, HALF * (HALF + 1) / 2 + 1);
    }
    exact(s, 1, w);
    assert_int_equal(w[COUNT_14D], HALF * (HALF + 1) / 2 + 1);
    assert_int_equal(add(s, 1, 0).w[COUNT_14D], w[COUNT_14D]);
    for (unsigned i = 3; i < ITEMS; i += 2) {
        assert_int_equal(items[i].value.w[COUNT_14D], 1);
        exact(s, i, w);
        assert_int_equal(w[COUNT_10M], 1);
    }
}

static void test_batch__burst_on_the_edge__10m_has_both_sides(void **state)
{
    struct site *s = *state;
    add(s, 1, 30);
    pass(s, BUCKET);
    assert_int_equal(add(s, 1, 12).w[COUNT_10M], 42);
    pass(s, BUCKET);
    assert_int_equal(add(s, 1, 0).w[COUNT_10M], 12);
    pass(s, BUCKET);
    assert_int_equal(add(s, 1, 0).w[COUNT_10M], 0);
}

static void check(struct site *s, const struct truth *t, unsigned key)
{
    uint64_t now = s->count->period.bucket;
    uint64_t sure[COUNT_WINDOWS];
    struct count_value seen = add(s, key, 0);
    exact(s, key, sure);
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        uint64_t truth = truth_of(t, key, now, w);
        if (sure[w] != truth || seen.w[w] < truth) {
            fail_msg("key %u window %s: truth %llu, exact %llu, sketch %llu", key,
                     count_window_name(w), (unsigned long long)truth,
                     (unsigned long long)sure[w], (unsigned long long)seen.w[w]);
        }
    }
}

/* Adds, lets time pass, restarts, and looks up. */
static void test_all__random_traffic_and_restarts__exact_and_never_under(void **state)
{
    struct site *s = *state;
    struct truth t = {.v = calloc((size_t)STEPS * 8, sizeof(*t.v))};
    uint64_t seed = UINT64_C(0x6a09e667f3bcc909);
    print_message("seed %llx\n", (unsigned long long)seed);
    uint64_t rng = seed;
    for (unsigned step = 0; step < STEPS; step++) {
        rng = rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t now = s->count->period.bucket;
        for (unsigned i = 0; i < 8; i++) {
            unsigned key = (unsigned)(rng >> (8 + i)) % KEYS;
            uint64_t amount = 1 + ((rng >> 40) & (i == 0 ? 1023 : 1));
            add(s, key, amount);
            t.v[t.n++] = (struct event){now, key, amount};
        }
        if ((rng >> 50) % 3 == 0) {
            pass(s, BUCKET * (1 + (rng >> 20) % ((rng >> 55) % 8 == 0 ? 300 : 3)));
        }
        if (step % 250 == 249) {
            count_close(&s->count);
            open_site(s);
        }
        for (unsigned key = 0; step % 100 == 99 && key < KEYS; key++) {
            check(s, &t, key);
        }
    }
    free(t.v);
}

static void test_expiry__after_sixteen_days__nothing_is_left(void **state)
{
    struct site *s = *state;
    struct count_stat stat;
    for (unsigned key = 0; key < KEYS; key++) {
        add(s, key, 1 + key % 5);
    }
    pass(s, 16 * (uint64_t)COUNT_DAY_S * S);
    for (unsigned key = 0; key < KEYS; key++) {
        assert_int_equal(add(s, key, 0).w[COUNT_14D], 0);
    }
    count_stat(s->count, &stat);
    assert_int_equal(stat.runs.nbuckets + stat.runs.ndays, 0);
    assert_int_equal(stat.cell_lines_used, 0);
}

static void test_clock__jumps_for_a_while__nothing_expires(void **state)
{
    struct site *s = *state;
    uint64_t sure[COUNT_WINDOWS];
    add(s, 1, 7);
    pass(s, 3 * BUCKET);
    clock_set_for_test(clock_wall_us() + 30 * (uint64_t)COUNT_DAY_S * S,
                       clock_mono_us());
    count_tick(s->count);
    struct count_stat stat;
    count_stat(s->count, &stat);
    assert_true(stat.is_clock_suspended);
    assert_int_equal(add(s, 1, 1).w[COUNT_1H], 8);
    clock_set_for_test(clock_wall_us() - 30 * (uint64_t)COUNT_DAY_S * S,
                       clock_mono_us());
    pass(s, BUCKET);
    exact(s, 1, sure);
    assert_int_equal(sure[COUNT_1H], 8);
}

static void test_open__second_process__locked(void **state)
{
    struct site *s = *state;
    struct count *other = NULL;
    struct errinfo why;
    const struct count_options options = {
        .state_dir = s->dir, .keys = &s->keys, .messages_per_day = MESSAGES_PER_DAY};
    assert_int_equal(count_open(&options, &other, &why), ERR_LOCKED);
    assert_null(other);
}

static void test_open__counts_of_another_ring__refused_and_kept(void **state)
{
    struct site *s = *state;
    add(s, 1, 5);
    pass(s, 2 * BUCKET);
    count_close(&s->count);
    struct keyring mine = s->keys;
    struct errinfo why = {.code = ERR_OK};
    s->keys.ring[0].bytes[0] ^= 1;
    s->keys.ring[0].id ^= 1;
    const struct count_options options = {
        .state_dir = s->dir, .keys = &s->keys, .messages_per_day = MESSAGES_PER_DAY};
    assert_int_equal(count_open(&options, &s->count, &why), ERR_KEY);
    assert_non_null(strstr(why.text, "digest key"));
    s->keys = mine;
    open_site(s);
    uint64_t sure[COUNT_WINDOWS];
    exact(s, 1, sure);
    assert_int_equal(sure[COUNT_1D], 5);
}

static void test_open__ring_key_added__old_counts_still_found(void **state)
{
    struct site *s = *state;
    add(s, 1, 5);
    pass(s, 2 * BUCKET);
    count_close(&s->count);
    s->keys.ring[1] = s->keys.ring[0];
    s->keys.ring[0].bytes[0] ^= 1;
    s->keys.ring[0].id ^= 1;
    s->keys.n = 2;
    open_site(s);
    assert_int_equal(add(s, 1, 2).w[COUNT_1D], 7);
    uint64_t sure[COUNT_WINDOWS];
    exact(s, 1, sure);
    assert_int_equal(sure[COUNT_1D], 7);
}

static void test_canaries__small_site__read_nothing(void **state)
{
    struct site *s = *state;
    struct count_stat stat;
    for (unsigned key = 0; key < 20000; key++) {
        add(s, key, 1);
    }
    pass(s, BUCKET);
    count_stat(s->count, &stat);
    assert_true(stat.is_noise_known);
    assert_true(count_window_is_sound(s->count, COUNT_1D, 0.01));
    assert_true(stat.noise[COUNT_10M] == 0);
    assert_false(count_window_is_sound(s->count, COUNT_1D, -1));
}

static void test_growth__more_keys_than_planned__all_counted(void **state)
{
    struct site *s = *state;
    struct count_stat stat;
    count_stat(s->count, &stat);
    unsigned n = (unsigned)stat.live_slots * 3;
    for (unsigned key = 0; key < n; key++) {
        add(s, key, 2);
    }
    for (unsigned key = 0; key < n; key += 97) {
        assert_int_equal(add(s, key, 0).w[COUNT_10M], 2);
    }
    count_stat(s->count, &stat);
    assert_true(stat.live_keys == n && stat.nlost == 0);
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 3000, OWN_KEYS = 7 };

struct worker {
    struct site *site;
    unsigned number;
    pthread_t thread;
};

/* Each batch: the key of all, and one of a few of its own; new ones so that tables grow. */
static void *work(void *context)
{
    const struct worker *w = context;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct count_item items[3] = {{.amount = 1}, {.amount = 2}, {.amount = 1}};
        key_digest(w->site, 0, items[0].digest);
        key_digest(w->site, 1 + w->number * OWN_KEYS + i % OWN_KEYS, items[1].digest);
        key_digest(w->site, 1000 + w->number * ROUNDS + i, items[2].digest);
        count_batch(w->site->count, items, 3);
    }
    return NULL;
}

static void test_threads__buckets_end_and_tables_grow__nothing_lost(void **state)
{
    struct site *s = *state;
    struct worker workers[THREADS];
    uint64_t sure[COUNT_WINDOWS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.site = s, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]),
                         0);
    }
    for (unsigned i = 0; i < 12; i++) {
        pass(s, BUCKET);
        exact(s, 0, sure);
        assert_true(sure[COUNT_14D] <= (uint64_t)THREADS * ROUNDS);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(workers[i].thread, NULL);
    }
    exact(s, 0, sure);
    assert_int_equal(sure[COUNT_1D], (uint64_t)THREADS * ROUNDS);
    assert_true(add(s, 0, 0).w[COUNT_1D] >= (uint64_t)THREADS * ROUNDS);
    for (unsigned key = 0; key < THREADS * OWN_KEYS; key++) {
        unsigned n = ROUNDS / OWN_KEYS + (key % OWN_KEYS < ROUNDS % OWN_KEYS);
        exact(s, 1 + key, sure);
        assert_int_equal(sure[COUNT_1D], (uint64_t)2 * n);
        assert_true(add(s, 1 + key, 0).w[COUNT_1D] >= (uint64_t)2 * n);
    }
}

/* A command looks there for a gillnetd that counts, and may do so before the thread's first
 * round. */
static void test_start__the_page_says_so_at_once(void **state)
{
    struct site *s = *state;
    struct errinfo why;

    stats_set(STAT_count_messages_per_day, 0);
    assert_int_equal(count_start(s->count, &why), ERR_OK);
    assert_int_equal(stats_get(STAT_count_messages_per_day), MESSAGES_PER_DAY);
}

#define SITE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SITE_TEST(test_batch__same_key__counts_up_in_all_windows),
        SITE_TEST(test_batch__one_key_many_times__counted_as_often),
        SITE_TEST(test_batch__burst_on_the_edge__10m_has_both_sides),
        SITE_TEST(test_all__random_traffic_and_restarts__exact_and_never_under),
        SITE_TEST(test_expiry__after_sixteen_days__nothing_is_left),
        SITE_TEST(test_clock__jumps_for_a_while__nothing_expires),
        SITE_TEST(test_open__second_process__locked),
        SITE_TEST(test_open__counts_of_another_ring__refused_and_kept),
        SITE_TEST(test_open__ring_key_added__old_counts_still_found),
        SITE_TEST(test_canaries__small_site__read_nothing),
        SITE_TEST(test_growth__more_keys_than_planned__all_counted),
        SITE_TEST(test_start__the_page_says_so_at_once),
        SITE_TEST(test_threads__buckets_end_and_tables_grow__nothing_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
