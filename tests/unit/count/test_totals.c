/* totals: never less than the truth, exactly taken off again, rebuilt from the runs alike. */
#include <pthread.h>

#include "core/base/prng.h"
#include "core/count/totals_internal.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum {
    KEYS = 300,
    DAY = TOTALS_DAY_BUCKETS,
    HORIZON = 60 * DAY, /* buckets that a history covers */
    START = 20000 * DAY + 77,
    HUGE_SHIFT = 33
};

/* Independent counts of each key, in each bucket since START. */
struct world {
    struct totals *totals;
    struct prng prng;
    unsigned nshards;
    uint64_t now; /* since START */
    uint64_t (*count)[HORIZON];
    uint64_t seed;
};

static uint64_t key_of(unsigned i)
{
    return prng_mix(i + 1);
}

static unsigned shard_of(const struct world *w, uint64_t key)
{
    return (unsigned)((key >> 32) * w->nshards >> 32);
}

static void world_begin(struct world *w, const char *dir, struct totals_size size,
                        uint64_t seed)
{
    struct hashkey node = {.bytes = {7, 6, 5, (uint8_t)seed}};
    struct errinfo why;

    *w = (struct world){.nshards = size.nshards, .seed = seed};
    prng_init(&w->prng, seed, 1);
    w->count = calloc(KEYS, sizeof(*w->count));
    assert_non_null(w->count);
    assert_int_equal(totals_new(&size, &node, dir, START, &w->totals, &why), ERR_OK);
}

static void world_end(struct world *w)
{
    totals_free(&w->totals);
    totals_free(&w->totals);
    free(w->count);
}

/* The sums of a key's buckets, in the windows as they are promised. */
static void truth_of(const struct world *w, unsigned key, uint64_t ret[TOTALS_WINDOWS])
{
    uint64_t today = (w->now + START) / DAY;

    memset(ret, 0, TOTALS_WINDOWS * sizeof(*ret));
    for (uint64_t b = 0; b <= w->now; b++) {
        uint64_t n = w->count[key][b];
        ret[TOTALS_1H] += w->now - b <= 6 ? n : 0;
        ret[TOTALS_1D] += w->now - b <= 144 ? n : 0;
        ret[TOTALS_14D] += today - (b + START) / DAY <= 14 ? n : 0;
    }
}

static void check_value(const struct world *w, unsigned key, uint64_t truth,
                        uint64_t is)
{
    if (is < truth) {
        fail_msg("seed %llu, bucket %llu, key %u: %llu instead of %llu",
                 (unsigned long long)w->seed, (unsigned long long)w->now, key,
                 (unsigned long long)is, (unsigned long long)truth);
    }
}

/* Returns how many windows of keys read more than one above the truth. */
static unsigned check_all(const struct world *w)
{
    unsigned above = 0;

    for (unsigned i = 0; i < KEYS; i++) {
        uint64_t want[TOTALS_WINDOWS];
        uint64_t got[TOTALS_WINDOWS];
        truth_of(w, i, want);
        assert_true(totals_read(w->totals, shard_of(w, key_of(i)), key_of(i), got));
        for (unsigned x = 0; x < TOTALS_WINDOWS; x++) {
            check_value(w, i, want[x], got[x]);
            above += got[x] > want[x] + 1 ? 1 : 0;
        }
    }
    return above;
}

static uint64_t some_amount(struct world *w)
{
    switch (prng_below(&w->prng, 20)) {
    case 0:
        return 1 + prng_below(&w->prng, 400);
    case 1:
        return 1 + prng_below(&w->prng, 100000);
    case 2:
        return (UINT64_C(1) << HUGE_SHIFT) + prng_below(&w->prng, KEYS);
    default:
        return 1;
    }
}

static void add_one(struct world *w, unsigned i, uint64_t amount)
{
    uint64_t truth[TOTALS_WINDOWS];
    uint64_t got[TOTALS_WINDOWS];

    assert_true(totals_add(w->totals, shard_of(w, key_of(i)), key_of(i), amount, got));
    w->count[i][w->now] += amount;
    truth_of(w, i, truth);
    for (unsigned x = 0; x < TOTALS_WINDOWS; x++) {
        check_value(w, i, truth[x], got[x]);
    }
}

/* A few keys are frequent. */
static void add_some(struct world *w, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t draw = prng_below(&w->prng, KEYS);
        add_one(w, (unsigned)(draw * prng_below(&w->prng, KEYS) / KEYS),
                some_amount(w));
    }
}

/* Counts of another server come late, of buckets up to 14 days back. */
static void add_late(struct world *w)
{
    uint64_t reach = prng_below(&w->prng, 3) == 0 ? UINT64_C(16) * DAY : 10;
    uint64_t back = prng_below(&w->prng, w->now < reach ? w->now + 1 : reach);
    uint64_t bucket = w->now - back;
    struct run_record v[20];

    for (unsigned shard = 0; shard < w->nshards; shard++) {
        size_t n = 0;
        for (unsigned i = 0; i < 20; i++) {
            unsigned key = (unsigned)prng_below(&w->prng, KEYS);
            uint64_t amount = some_amount(w);
            if (shard_of(w, key_of(key)) == shard) {
                v[n++] = (struct run_record){key_of(key), amount};
                w->count[key][bucket] += amount;
            }
        }
        assert_true(totals_add_late(w->totals, shard, bucket + START, v, n));
    }
    (void)check_all(w);
}

static void roll(struct world *w, uint64_t ahead)
{
    w->now += ahead;
    assert_true(w->now < HORIZON);
    for (unsigned s = 0; s < w->nshards; s++) {
        totals_roll(w->totals, s, w->now + START);
    }
}

/* ---- rebuilding, as runs would have it ---- */

static uint64_t sum_of(const struct world *w, unsigned key, uint64_t from, uint64_t end)
{
    uint64_t n = 0;

    for (uint64_t b = from < START ? START : from; b < end && b <= w->now + START;
         b++) {
        n += w->count[key][b - START];
    }
    return n;
}

static void give_run(struct world *w, unsigned shard, uint64_t from, uint64_t end,
                     unsigned what)
{
    totals_rebuild_run(w->totals, shard, from, what & 1, what & 2);
    for (unsigned i = 0; i < KEYS; i++) {
        uint64_t n = sum_of(w, i, from, end);
        if (n > 0 && shard_of(w, key_of(i)) == shard) {
            totals_rebuild_add(w->totals, shard, key_of(i), n);
        }
    }
}

static void give_running(void *context, unsigned shard, totals_key_fn *fn, void *sink)
{
    const struct world *w = context;

    for (unsigned i = 0; i < KEYS; i++) {
        if (shard_of(w, key_of(i)) == shard && w->count[i][w->now] > 0) {
            fn(sink, key_of(i), w->count[i][w->now]);
        }
    }
}

/* The bucket may end while the shard is rebuilt. */
static void rebuild_shard(struct world *w, unsigned shard, bool may_end)
{
    uint64_t now = w->now + START;
    uint64_t today = now / DAY;
    uint64_t got[TOTALS_WINDOWS];

    totals_rebuild_begin(w->totals, shard, now);
    assert_false(totals_read(w->totals, shard, 1, got));
    assert_false(totals_add(w->totals, shard, 1, 1, got));
    for (uint64_t day = today - 16; day < today; day++) {
        give_run(w, shard, day * DAY, (day + 1) * DAY, 1);
    }
    for (uint64_t b = now - 200; b < now; b++) {
        give_run(w, shard, b, b + 1, b / DAY == today ? 3 : 2);
    }
    if (may_end) {
        totals_roll(w->totals, shard, now + 1);
        give_run(w, shard, now, now + 1, 3);
        totals_rebuild_end(w->totals, shard, NULL, NULL);
    } else {
        totals_rebuild_end(w->totals, shard, give_running, w);
    }
}

static void rebuild(struct world *w, bool may_end)
{
    for (unsigned s = 0; s < w->nshards; s++) {
        rebuild_shard(w, s, may_end);
    }
    w->now += may_end ? 1 : 0;
}

/* ---- the sums are those of the shares ---- */

struct recount {
    const struct cells *cells;
    uint64_t *sum; /* [line][cell] */
};

static void add_share(void *context, uint64_t line, unsigned cell, uint64_t value)
{
    const struct recount *r = context;

    assert_true(line < r->cells->nlines);
    r->sum[line * CELLS_OF_LINE + cell] += value;
}

static void recount_window(struct world *w, struct totals_shard *s, unsigned window)
{
    uint64_t n = s->cells.nlines * CELLS_OF_LINE;
    struct recount r = {&s->cells, calloc(n, sizeof(uint64_t))};

    assert_non_null(r.sum);
    for (size_t i = 0; i < s->nshares; i++) {
        char *bytes = malloc(s->shares[i].ref.n);
        assert_int_equal(spill_get(w->totals->spill, &s->shares[i].ref, bytes), ERR_OK);
        if (s->shares[i].windows & 1U << window) {
            assert_true(
                contribution_each(slice_of(bytes, s->shares[i].ref.n), add_share, &r));
        }
        free(bytes);
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t line = i / CELLS_OF_LINE;
        unsigned cell = (unsigned)(i % CELLS_OF_LINE);
        uint64_t is =
            cells_value(&s->cells, line, cell, (enum cells_column)(window + 1));
        uint64_t running = cells_value(&s->cells, line, cell, CELLS_RUNNING);
        if (is != CELLS_SATURATED) {
            assert_int_equal(is, r.sum[i] + running);
        }
    }
    free(r.sum);
}

static void recount_all(struct world *w)
{
    for (unsigned i = 0; i < w->nshards; i++) {
        for (unsigned x = 0; x < TOTALS_WINDOWS; x++) {
            recount_window(w, &w->totals->shards[i], x);
        }
    }
}

static void check_empty(struct world *w)
{
    struct totals_stat st;

    roll(w, UINT64_C(20) * DAY);
    totals_stat(w->totals, &st);
    assert_int_equal(st.doorkeeper_entries, 0);
    assert_int_equal(st.cell_lines_used, 0);
    assert_int_equal(st.overflowed, 0);
    assert_int_equal(st.spilled_bytes, 0);
    assert_false(st.has_lost_shares);
    for (unsigned i = 0; i < w->nshards; i++) {
        const struct totals_shard *s = &w->totals->shards[i];
        const unsigned char *p = (const void *)s->cells.lines;
        for (size_t b = 0; b < s->cells.nlines * CELLS_LINE_BYTES; b++) {
            assert_int_equal(p[b], 0);
        }
    }
}

static void live_through(struct world *w, unsigned steps)
{
    for (unsigned i = 0; i < steps; i++) {
        switch (prng_below(&w->prng, 25)) {
        case 0:
            roll(w, 1 + prng_below(&w->prng, DAY));
            break;
        case 1:
            roll(w, 1 + prng_below(&w->prng, 10));
            break;
        case 2:
            rebuild(w, prng_below(&w->prng, 3) == 0);
            break;
        case 3:
            recount_all(w);
            break;
        case 4:
        case 5:
        case 6:
            add_late(w);
            break;
        default:
            roll(w, 1);
            break;
        }
        add_some(w, 20);
        (void)check_all(w);
    }
}

static void test_totals__any_traffic_rolls_jumps_and_rebuilds__never_below_the_truth(
    void **state)
{
    static const struct totals_size sizes[] = {
        {1, 1, 1}, {2, 4, 8}, {4, 8, 1}, {4, 64, 512}, {16, 16, 16}};
    struct tempdir *dir = *state;

    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct world w;
        world_begin(&w, seed % 3 ? dir->path : NULL,
                    sizes[seed % (sizeof(sizes) / sizeof(*sizes))], seed);
        live_through(&w, 120);
        check_empty(&w);
        world_end(&w);
    }
}

/* Large enough, hardly anything reads more than one too much, before and after a rebuild. */
static void test_totals__room_for_all__at_most_one_above(void **state)
{
    struct tempdir *dir = *state;
    struct world w;

    world_begin(&w, dir->path, (struct totals_size){4, 1024, 65536}, 5);
    for (unsigned i = 0; i < 300; i++) {
        add_some(&w, 20);
        roll(&w, 1);
    }
    assert_true(check_all(&w) <= KEYS * TOTALS_WINDOWS / 100);
    rebuild(&w, false);
    assert_true(check_all(&w) <= KEYS * TOTALS_WINDOWS / 100);
    recount_all(&w);
    world_end(&w);
}

/* Keys seen once stay in the doorkeeper through a rebuild: cells are for those that come again. */
static void test_totals__seen_once__no_cell_is_touched_even_by_a_rebuild(void **state)
{
    struct tempdir *dir = *state;
    struct totals_stat st;
    struct world w;

    world_begin(&w, dir->path, (struct totals_size){4, 4096, 256}, 6);
    for (unsigned i = 0; i < KEYS; i++) {
        add_one(&w, i, 1);
        roll(&w, i % 4 == 0 ? 5 : 0);
    }
    totals_stat(w.totals, &st);
    assert_true(st.cell_lines_used <= 1); /* taken for another */
    rebuild(&w, false);
    totals_stat(w.totals, &st);
    assert_true(st.cell_lines_used <= 1);
    assert_int_equal(st.nready, 4);
    assert_true(check_all(&w) == 0);
    world_end(&w);
}

static void test_totals__never_counted__reads_nothing(void **state)
{
    struct tempdir *dir = *state;
    struct world w;
    uint64_t got[TOTALS_WINDOWS];
    unsigned above = 0;

    world_begin(&w, dir->path, (struct totals_size){1, 100, 100}, 7);
    for (unsigned i = 0; i < KEYS; i++) {
        add_one(&w, i, 3);
    }
    for (unsigned i = KEYS; i < 100 * KEYS; i++) {
        assert_true(totals_read(w.totals, 0, key_of(i), got));
        above += got[TOTALS_14D] > 0 ? 1 : 0;
    }
    assert_in_range(above, 0, KEYS / 10); /* 3 entries a line, 1 in 4095 each: 22 */
    world_end(&w);
}

static void test_totals__amounts_of_64_bits__saturate_and_never_wrap(void **state)
{
    struct tempdir *dir = *state;
    struct hashkey node = {0};
    struct totals_size size = {1, 1, 1};
    struct totals *t;
    struct errinfo why;
    uint64_t got[TOTALS_WINDOWS];

    assert_int_equal(totals_new(&size, &node, dir->path, START, &t, &why), ERR_OK);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(totals_add(t, 0, 5, UINT64_MAX - 9, got));
        assert_true(got[TOTALS_14D] >= UINT64_MAX - 9);
    }
    totals_roll(t, 0, START + 1);
    assert_true(totals_add(t, 0, 5, 1, got));
    assert_int_equal(got[TOTALS_1H], UINT64_MAX);
    totals_rebuild_begin(t, 0, START + 1);
    totals_rebuild_end(t, 0, NULL, NULL);
    assert_true(totals_add(t, 0, 5, 1, got)); /* a rebuild mends it */
    assert_int_equal(got[TOTALS_1H], 1);
    totals_free(&t);
}

static void test_totals_new__wrong_size__refused(void **state)
{
    static const struct totals_size wrong[] = {
        {0, 1, 1}, {3, 64, 64}, {4, 0, 64}, {4, 64, 0}, {1 << 20, 64, 64}};
    struct hashkey node = {0};
    struct totals *t = NULL;
    struct errinfo why;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_int_equal(totals_new(&wrong[i], &node, NULL, 1, &t, &why), ERR_RANGE);
        assert_null(t);
    }
}

/* Without the folder: all in memory, nothing lost. */
static void test_totals__disk_refuses__counts_on_in_memory(void **state)
{
    struct totals_stat st;
    struct world w;

    (void)state;
    world_begin(&w, "/proc/self/none", (struct totals_size){2, 64, 512}, 8);
    live_through(&w, 40);
    roll(&w, 1);
    totals_stat(w.totals, &st);
    assert_true(st.spilled_bytes > 0);
    assert_true(totals_memory(w.totals) > UINT64_C(64 + 512) * 64 + st.spilled_bytes);
    check_empty(&w);
    world_end(&w);
}

/* ---- threads, with the caller's locks ---- */

enum { THREADS = 4, THREAD_SHARDS = 4, THREAD_ADDS = 4000, THREAD_ROLLS = 200 };

struct crowd {
    struct totals *totals;
    pthread_mutex_t lock[THREAD_SHARDS]; /* guards: the shard of that number */
};

static unsigned crowd_shard(uint64_t key)
{
    return (unsigned)(key >> 62);
}

static void *crowd_add(void *context)
{
    struct crowd *c = context;

    for (unsigned i = 0; i < THREAD_ADDS; i++) {
        uint64_t got[TOTALS_WINDOWS];
        uint64_t key = key_of(i % 3 ? i % KEYS : 0); /* a third on one key */
        unsigned shard = crowd_shard(key);
        totals_prefetch(c->totals, shard, key);
        (void)pthread_mutex_lock(&c->lock[shard]);
        (void)totals_add(c->totals, shard, key, 1, got);
        (void)pthread_mutex_unlock(&c->lock[shard]);
    }
    return NULL;
}

static void *crowd_roll(void *context)
{
    struct crowd *c = context;
    struct totals_stat st;

    for (uint64_t b = 1; b <= THREAD_ROLLS; b++) {
        for (unsigned i = 0; i < THREAD_SHARDS; i++) {
            (void)pthread_mutex_lock(&c->lock[i]);
            totals_roll(c->totals, i, START + b);
            (void)pthread_mutex_unlock(&c->lock[i]);
        }
        totals_stat(c->totals, &st);
        assert_int_equal(st.nready, THREAD_SHARDS);
        assert_true(totals_memory(c->totals) > 0);
    }
    return NULL;
}

/* All within the fortnight: its sum misses none of the additions. */
static void test_totals__threads_with_the_shards_locks__none_is_lost(void **state)
{
    const struct tempdir *dir = *state;
    struct totals_size size = {THREAD_SHARDS, 64, 256};
    struct hashkey node = {0};
    struct errinfo why;
    struct crowd c;
    pthread_t thread[THREADS + 1];
    uint64_t got[TOTALS_WINDOWS];
    uint64_t key = key_of(0);

    assert_int_equal(totals_new(&size, &node, dir->path, START, &c.totals, &why),
                     ERR_OK);
    for (unsigned i = 0; i < THREAD_SHARDS; i++) {
        (void)pthread_mutex_init(&c.lock[i], NULL);
    }
    for (unsigned i = 0; i <= THREADS; i++) {
        assert_int_equal(
            pthread_create(&thread[i], NULL, i < THREADS ? crowd_add : crowd_roll, &c),
            0);
    }
    for (unsigned i = 0; i <= THREADS; i++) {
        (void)pthread_join(thread[i], NULL);
    }
    assert_true(totals_read(c.totals, crowd_shard(key), key, got));
    assert_true(got[TOTALS_14D] >= (uint64_t)THREADS * (THREAD_ADDS / 3));
    for (unsigned i = 0; i < THREAD_SHARDS; i++) {
        (void)pthread_mutex_destroy(&c.lock[i]);
    }
    totals_free(&c.totals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_totals__any_traffic_rolls_jumps_and_rebuilds__never_below_the_truth,
            tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_totals__room_for_all__at_most_one_above,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_totals__seen_once__no_cell_is_touched_even_by_a_rebuild, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_totals__never_counted__reads_nothing,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_totals__amounts_of_64_bits__saturate_and_never_wrap, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_totals__threads_with_the_shards_locks__none_is_lost, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test(test_totals_new__wrong_size__refused),
        cmocka_unit_test(test_totals__disk_refuses__counts_on_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
