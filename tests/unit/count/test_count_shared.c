/* test_count_shared - counts with a shared store, against all counts of three servers. The hub, the
 * other servers and the store are numbers here. */
#include <string.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/prng.h"
#include "core/count/count.h"
#include "core/count/count_internal.h"
#include "core/count/shared_totals.h"

#include "tests/unit/tempdir.h"

#define S      ((uint64_t)1000000)
#define BUCKET ((uint64_t)COUNT_BUCKET_S * S)

enum {
    FIRST = 19663 * COUNT_DAY_BUCKETS,
    BUCKETS = 3 * COUNT_DAY_BUCKETS,
    HOSTS = 3,
    KEYS = 6,
    STEPS = 4000,
    MESSAGES_PER_DAY = 1000,
    FRESH_S = 30
};

struct site {
    char dir[64];
    struct keyring keys;
    struct count *count;
    struct shared_totals *hub;
    struct prng prng;
    uint64_t counted[KEYS][HOSTS][BUCKETS]; /* [0]: this server */
    uint64_t sent[KEYS][HOSTS][BUCKETS];
};

static uint64_t now_of(void)
{
    return clock_wall_us() / BUCKET;
}

static void open_count(struct site *s)
{
    struct errinfo why;
    const struct count_options options = {.state_dir = s->dir,
                                          .keys = &s->keys,
                                          .messages_per_day = MESSAGES_PER_DAY,
                                          .has_store = true};

    if (count_open(&options, &s->count, &why) != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
    count_tick(s->count);
}

static void make_totals(struct site *s)
{
    shared_totals_close(&s->hub);
    assert_int_equal(shared_totals_make(s->dir, SHARED_TOTALS_SETS_MIN,
                                        s->keys.ring[0].id, &s->hub, NULL),
                     ERR_OK);
    shared_totals_beat(s->hub, clock_wall_us() / S);
}

static int setup(void **state)
{
    struct site *s = calloc(1, sizeof(*s));
    char path[FILE_PATH_MAX];

    assert_non_null(s);
    assert_true(tempdir_make_fast(s->dir));
    assert_int_equal(keyring_load_or_create(s->dir, &s->keys, NULL), ERR_OK);
    assert_int_equal(path_make(path, NULL, "%s/peers", s->dir), ERR_OK);
    assert_int_equal(file_make_dir(path, 0700, NULL), ERR_OK);
    clock_set_for_test(FIRST * BUCKET, 1000 * S);
    prng_init(&s->prng, 1, 2);
    open_count(s);
    make_totals(s);
    count_tick(s->count);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct site *s = *state;

    count_close(&s->count);
    shared_totals_close(&s->hub);
    clock_unset_for_test();
    (void)tempdir_remove(s->dir);
    free(s);
    return 0;
}

static void digest_of(const struct site *s, unsigned key,
                      struct digest ret[KEYRING_MAX])
{
    char text[16];
    int n = snprintf(text, sizeof(text), "key %u", key);

    memset(ret, 0, KEYRING_MAX * sizeof(ret[0]));
    digest_make(&s->keys.ring[0], 14, slice_of(text, (size_t)n), &ret[0]);
}

static struct count_value add(struct site *s, unsigned key, uint64_t amount)
{
    struct count_item item = {.amount = amount};

    digest_of(s, key, item.digest);
    count_batch(s->count, &item, 1);
    s->counted[key][0][now_of() - FIRST] += amount;
    return item.value;
}

/* ---- the store ---- */

static uint64_t stored(struct site *s, unsigned key, uint64_t first, uint64_t end)
{
    uint64_t sum = 0;

    for (uint64_t b = first < FIRST ? FIRST : first; b < end && b <= now_of(); b++) {
        for (unsigned h = 0; h < HOSTS; h++) {
            sum += s->sent[key][h][b - FIRST];
        }
    }
    return sum;
}

static void hear(struct site *s, unsigned key, uint64_t bucket, uint64_t own)
{
    struct digest digest[KEYRING_MAX];
    struct shared_total t;
    uint64_t day = bucket - bucket % COUNT_DAY_BUCKETS;

    digest_of(s, key, digest);
    (void)shared_totals_find(s->hub, count_key64(&digest[0]), &t);
    shared_total_set(&t, bucket, own, stored(s, key, bucket, bucket + 1),
                     stored(s, key, day, day + COUNT_DAY_BUCKETS));
    shared_totals_put(s->hub, &t);
}

static void hear_history(struct site *s, unsigned key)
{
    struct count_history h = {.now = now_of()};
    struct digest digest[KEYRING_MAX];
    struct shared_total t;

    for (uint64_t b = FIRST; b <= now_of(); b++) {
        count_history_add(&h, b * COUNT_BUCKET_S, stored(s, key, b, b + 1));
    }
    digest_of(s, key, digest);
    (void)shared_totals_find(s->hub, count_key64(&digest[0]), &t);
    shared_total_set_history(&t, &h);
    shared_totals_put(s->hub, &t);
}

/* ---- what must hold ---- */

static void history_of(const struct site *s, unsigned key, unsigned nhosts,
                       struct count_history *ret)
{
    *ret = (struct count_history){.now = now_of()};
    for (uint64_t b = FIRST; b <= now_of(); b++) {
        for (unsigned h = 0; h < nhosts; h++) {
            count_history_add(ret, b * COUNT_BUCKET_S, s->counted[key][h][b - FIRST]);
        }
    }
}

static void windows_of(const struct site *s, unsigned key, unsigned nhosts,
                       uint64_t ret[COUNT_WINDOWS])
{
    struct count_history h;

    history_of(s, key, nhosts, &h);
    count_history_windows(&h, ret);
}

static void check_key(struct site *s, unsigned key)
{
    uint64_t own[COUNT_WINDOWS];
    uint64_t truth[COUNT_WINDOWS];
    struct count_breakdown shares;
    struct count_value sketch = add(s, key, 0);
    struct digest digest[KEYRING_MAX];

    windows_of(s, key, 1, own);
    windows_of(s, key, HOSTS, truth);
    digest_of(s, key, digest);
    count_exact_shares(s->count, digest, &shares);
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        uint64_t sum = count_breakdown_bounded(&shares, w);
        assert_int_equal(shares.v[0].w[w], own[w]);
        assert_in_range(sum, own[w], truth[w]);
        assert_int_equal(sum, count_breakdown_sum(&shares, w));
        assert_true(sketch.w[w] >= sum);
    }
    count_breakdown_fini(&shares);
}

/* ---- steps ---- */

static void count_some(struct site *s, unsigned key)
{
    uint64_t host = prng_below(&s->prng, HOSTS);
    uint64_t amount = 1 + prng_below(&s->prng, 5);

    if (host == 0) {
        (void)add(s, key, amount);
    } else {
        s->counted[key][host][now_of() - FIRST] += amount;
    }
}

static void publish(struct site *s, unsigned key)
{
    unsigned host = (unsigned)prng_below(&s->prng, HOSTS);
    uint64_t back = prng_below(&s->prng, 20);
    uint64_t b = now_of() - FIRST > back ? now_of() - back : FIRST;
    uint64_t *sent = &s->sent[key][host][b - FIRST];

    *sent += prng_below(&s->prng, s->counted[key][host][b - FIRST] - *sent + 1);
}

static void pass_bucket(struct site *s)
{
    uint64_t b = now_of() - FIRST;

    if (b + 2 < BUCKETS) {
        clock_advance_us(BUCKET);
        count_tick(s->count);
    }
}

static void restart(struct site *s)
{
    switch (prng_below(&s->prng, 3)) {
    case 0: /* gillnetd */
        count_close(&s->count);
        open_count(s);
        break;
    case 1: /* the hub */
        make_totals(s);
        break;
    default: { /* its file went */
        char path[FILE_PATH_MAX];
        assert_int_equal(path_make(path, NULL, "%s/peers/shared/totals", s->dir),
                         ERR_OK);
        assert_int_equal(unlink(path), 0);
        make_totals(s);
        count_tick(s->count);
        break;
    }
    }
}

static void step(struct site *s)
{
    unsigned key = (unsigned)prng_below(&s->prng, KEYS);
    uint64_t back = prng_below(&s->prng, 10) == 0 ? prng_below(&s->prng, 200) : 0;
    uint64_t b = now_of() - FIRST > back ? now_of() - back : FIRST;

    switch (prng_below(&s->prng, 20)) {
    case 0:
        pass_bucket(s);
        break;
    case 1:
        hear_history(s, key);
        break;
    case 2:
        if (prng_below(&s->prng, 10) == 0) {
            restart(s);
        }
        break;
    case 3:
    case 4:
    case 5:
    case 6:
        hear(s, key, b,
             prng_below(&s->prng, 3) == 0 ? SHARED_OWN_UNKNOWN
                                          : s->sent[key][0][b - FIRST]);
        break;
    case 7:
    case 8:
    case 9:
    case 10:
    case 11:
        count_some(s, key);
        break;
    default:
        publish(s, key);
        break;
    }
    shared_totals_beat(s->hub, clock_wall_us() / S);
    check_key(s, key);
}

static void test_shares__in_random_histories__are_never_high(void **state)
{
    struct site *s = *state;

    for (unsigned i = 0; i < STEPS; i++) {
        step(s);
    }
    pass_bucket(s);
    for (unsigned key = 0; key < KEYS; key++) { /* all arrives */
        struct digest digest[KEYRING_MAX];
        struct count_breakdown shares;
        uint64_t truth[COUNT_WINDOWS];
        memcpy(s->sent[key], s->counted[key], sizeof(s->sent[key]));
        hear_history(s, key);
        check_key(s, key);
        windows_of(s, key, HOSTS, truth);
        digest_of(s, key, digest);
        count_exact_shares(s->count, digest, &shares);
        assert_int_equal(count_breakdown_sum(&shares, COUNT_1H), truth[COUNT_1H]);
        assert_int_equal(count_breakdown_sum(&shares, COUNT_14D), truth[COUNT_14D]);
        count_breakdown_fini(&shares);
    }
}

/* A has 10 of a threshold of 20: the first copy here is the eleventh. */
static void test_first_copy__of_what_another_has_seen__is_judged_with_it(void **state)
{
    struct site *s = *state;
    struct digest digest[KEYRING_MAX];
    struct count_breakdown shares;

    s->counted[1][1][0] = s->sent[1][1][0] = 10;
    hear(s, 1, FIRST, 0);
    struct count_value v = add(s, 1, 1);
    digest_of(s, 1, digest);
    count_exact_shares(s->count, digest, &shares);
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        assert_int_equal(v.w[w], 11);
        assert_int_equal(count_breakdown_bounded(&shares, w), 11);
    }
    assert_int_equal(shares.n, 2);
    assert_string_equal(shares.v[1].origin->name, "store");
    count_breakdown_fini(&shares);
}

/* The store has not answered for longer than the configuration allows. Its part does no harm then,
 * and still exempts messages. Limits of peers are no limits of the store. */
static void test_old_view__does_no_harm__and_still_helps(void **state)
{
    struct site *s = *state;
    struct digest digest[KEYRING_MAX];
    struct count_breakdown shares;

    s->counted[1][1][0] = s->sent[1][1][0] = 10;
    hear(s, 1, FIRST, 0);
    (void)add(s, 1, 1);
    digest_of(s, 1, digest);
    for (unsigned age_s = 0; age_s < 2 * FRESH_S; age_s++) {
        count_exact_shares(s->count, digest, &shares);
        assert_int_equal(shares.v[1].age_s, age_s);
        count_breakdown_limit(&shares, 3, 2, FRESH_S);
        assert_int_equal(count_breakdown_bounded(&shares, COUNT_1D),
                         age_s <= FRESH_S ? 11 : 1);
        assert_int_equal(count_breakdown_all(&shares, COUNT_1D), 11);
        assert_int_equal(count_breakdown_sum(&shares, COUNT_1D), 11);
        count_breakdown_fini(&shares);
        clock_advance_us(S);
    }
}

/* A command's look at the files. */
static void test_view__has_the_store_s_part(void **state)
{
    struct site *s = *state;
    struct digest digest[KEYRING_MAX];
    struct count_breakdown shares;
    struct count_view *view = NULL;

    s->counted[1][1][0] = s->sent[1][1][0] = 10;
    hear(s, 1, FIRST, 0);
    digest_of(s, 1, digest);
    for (unsigned has_store = 0; has_store < 2; has_store++) {
        assert_int_equal(count_view_open(s->dir, &s->keys, has_store != 0, &view, NULL),
                         ERR_OK);
        count_view_shares(view, digest, &shares);
        assert_int_equal(count_breakdown_sum(&shares, COUNT_1D), has_store * 10);
        assert_int_equal(shares.n, 1 + has_store);
        count_breakdown_fini(&shares);
        count_view_close(&view);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        T(test_shares__in_random_histories__are_never_high),
        T(test_first_copy__of_what_another_has_seen__is_judged_with_it),
        T(test_old_view__does_no_harm__and_still_helps),
        T(test_view__has_the_store_s_part),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
