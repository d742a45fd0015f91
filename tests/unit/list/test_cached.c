/*
 * test_cached - answers through the confirmation cache are those of the list, at once and always;
 * the results of look-ups are counted.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "core/base/clock.h"
#include "core/list/listset.h"
#include "core/list/lookup_stats.h"
#include "core/list/reader.h"
#include "core/telemetry/stats.h"

#include "tests/unit/list/list_fixture.h"

enum { NOW = 1800000000, CACHE = 16384, HAMMERS = 3 };

struct cached_fixture {
    struct fixture *f;
    struct list_manager *h;
    struct config *config;
    struct lookup_stats *hits;
    char hits_path[96];
};

static struct config *load(struct cached_fixture *x, unsigned cache)
{
    char path[128];
    struct buf text;
    struct config *c = NULL;
    struct config_errors errors = {0};
    snprintf(path, sizeof(path), "%s/gillnet.conf", x->f->state);
    buf_init(&text, 1000);
    buf_printf(&text, "state_dir = \"%s\";\nlimits = { confirm_cache = %u; };\n",
               x->f->state, cache);
    MUST(x->f, file_write_atomic(path, buf_slice(&text), 0600, &x->f->info));
    buf_fini(&text);
    if (config_load(path, NULL, &c, &errors) != ERR_OK) {
        fail_msg("%s", errors.n > 0 ? errors.v[0].text : "config");
    }
    return c;
}

static int setup(void **state)
{
    struct cached_fixture *x = calloc(1, sizeof(*x));
    void *f = NULL;
    fixture_setup(&f);
    x->f = f;
    x->config = load(x, CACHE);
    x->h = list_manager_new(x->f->state, &x->f->keys);
    snprintf(x->hits_path, sizeof(x->hits_path), "%s/lists.lookups", x->f->state);
    MUST(x->f, lookup_stats_open(x->hits_path, NOW, &x->hits, &x->f->info));
    list_manager_set_stats(x->h, x->hits);
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct cached_fixture *x = *state;
    void *f = x->f;
    list_manager_free(&x->h);
    lookup_stats_close(&x->hits);
    config_release(&x->config);
    fixture_teardown(&f);
    free(x);
    clock_unset_for_test();
    return 0;
}

static void refresh(struct cached_fixture *x)
{
    MUST(x->f, list_manager_refresh(x->h, x->config, &x->f->info));
    list_manager_free_retired(x->h);
}

/* Looks up a host in the mail path's way. */
static enum list_answer look_in(struct cached_fixture *x, struct arena *arena,
                                uint64_t n)
{
    char text[64];
    struct list_hits hits = {0};
    arena_reset(arena);
    struct featureset *fs = featureset_new(arena, 100);
    struct feature_entry e = entry_number(n, text);
    bool is_added = featureset_add(fs, FEATURE_url_host, e.text);
    const struct listset *s = list_manager_acquire(x->h);
    enum err failed = listset_lookup(s, fs, 0, arena, &hits);
    list_manager_release(x->h, &s);
    if (!is_added || failed != ERR_OK) {
        return LIST_POSSIBLE; /* expected nowhere here */
    }
    return hits.n > 0 ? hits.v[0].answer : LIST_NO;
}

static enum list_answer look(struct cached_fixture *x, uint64_t n)
{
    return look_in(x, x->f->arena, n);
}

static struct lookup_stats_counts counts(struct cached_fixture *x)
{
    struct lookup_stats_counts c = {0};
    lookup_stats_row_read(lookup_stats_row_find(x->hits, NAME, LOOKUP_STATS_WHOLE), &c);
    return c;
}

static void test_cache__when_asked_again__then_the_index_is_not_read(void **state)
{
    struct cached_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    import_range(x->f, w, 0, 10, 0);
    refresh(x);
    uint64_t reads = stats_get(STAT_index_reads);
    uint64_t known = stats_get(STAT_confirm_cache_hits);
    uint64_t unknown = stats_get(STAT_confirm_cache_misses);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(look(x, 3), LIST_CONFIRMED);
    }
    assert_int_equal(stats_get(STAT_index_reads), reads + 1);
    assert_int_equal(stats_get(STAT_confirm_cache_hits), known + 4);
    assert_int_equal(stats_get(STAT_confirm_cache_misses), unknown + 1);
    /* off: every confirmation reads the index, and no miss is counted */
    config_release(&x->config);
    x->config = load(x, 0);
    refresh(x);
    assert_int_equal(look(x, 3), LIST_CONFIRMED);
    assert_int_equal(look(x, 3), LIST_CONFIRMED);
    assert_int_equal(stats_get(STAT_index_reads), reads + 3);
    assert_int_equal(stats_get(STAT_confirm_cache_misses), unknown + 1);
    list_writer_close(&w);
}

static void test_cache__when_cached_entry_changes__then_the_next_look_sees_it(
    void **state)
{
    struct cached_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    import_range(x->f, w, 0, 10, 0);
    refresh(x);
    assert_int_equal(look(x, 3), LIST_CONFIRMED);
    revoke_number(x->f, w, 3);
    assert_int_equal(look(x, 3), LIST_REVOKED);
    add_number(x->f, w, 3);
    assert_int_equal(look(x, 3), LIST_CONFIRMED);
    revoke_number(x->f, w, 4);
    import_range(x->f, w, 10, 20, 0); /* folds the tail: the cache of its reader ends */
    refresh(x);
    assert_int_equal(look(x, 3), LIST_CONFIRMED);
    assert_int_equal(look(x, 4), LIST_REVOKED);
    assert_int_equal(look(x, 15), LIST_CONFIRMED);
    list_writer_close(&w);
}

static void test_cache__when_absent_is_cached__then_an_add_is_seen(void **state)
{
    struct cached_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    import_range(x->f, w, 0, 10, 0);
    struct list_reader *r = open_reader(x->f);
    list_reader_set_cache(r, CACHE);
    struct digest d = digest_of(r, 500);
    assert_int_equal(list_reader_confirm(r, &d, NOW), LIST_FALSE_POSITIVE);
    struct reader_answer a;
    list_reader_ask(r, &d, NOW, &a);
    assert_true(a.was_cached);
    assert_false(a.is_known);
    assert_int_equal(a.answer, LIST_FALSE_POSITIVE);
    add_number(x->f, w, 500);
    assert_int_equal(list_reader_confirm(r, &d, NOW), LIST_CONFIRMED);
    list_reader_close(&r);
    list_writer_close(&w);
}

static void test_cache__when_entry_expires__then_judged_when_asked(void **state)
{
    struct cached_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    clock_set_for_test((uint64_t)NOW * 1000000, 1);
    import_range(x->f, w, 0, 10, NOW + 100);
    struct list_reader *r = open_reader(x->f);
    list_reader_set_cache(r, CACHE);
    struct digest d = digest_of(r, 3);
    struct reader_answer a;
    static const struct {
        uint64_t now_s;
        enum list_answer answer;
    } table[] = {{NOW, LIST_CONFIRMED},
                 {NOW + 99, LIST_CONFIRMED},
                 {NOW + 101, LIST_FALSE_POSITIVE},
                 {NOW + 99, LIST_CONFIRMED}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        list_reader_ask(r, &d, table[i].now_s, &a);
        assert_int_equal(a.answer, table[i].answer);
        assert_int_equal(a.was_cached, i > 0);
        assert_true(a.is_known);
    }
    list_reader_close(&r);
    list_writer_close(&w);
}

/* ---- threads ---- */

struct hammer {
    struct cached_fixture *x;
    _Atomic unsigned phase; /* 0 listed, 1 changing, 2 revoked, 3 changing, 4 listed */
    _Atomic bool is_over;
    _Atomic uint64_t looks[5];
};

/* Between two readings of the same steady phase the answer must be that phase's. */
static void *hammer_thread(void *context)
{
    struct hammer *h = context;
    struct arena *arena = arena_new(1 << 20);
    bool is_wrong = !arena;
    while (!atomic_load(&h->is_over) && !is_wrong) {
        unsigned before = atomic_load(&h->phase);
        enum list_answer a = look_in(h->x, arena, 3);
        unsigned after = atomic_load(&h->phase);
        if (before == after && before % 2 == 0) {
            is_wrong = a != (before == 2 ? LIST_REVOKED : LIST_CONFIRMED);
            atomic_fetch_add(&h->looks[before], 1);
        }
    }
    arena_free(&arena);
    return is_wrong ? h : NULL;
}

static void wait_for_looks(struct hammer *h, unsigned phase)
{
    static const struct timespec pause = {.tv_nsec = 1000000};
    for (unsigned i = 0; i < 20000 && atomic_load(&h->looks[phase]) < 50; i++) {
        (void)nanosleep(&pause, NULL);
    }
}

static void test_cache__when_threads_hammer__then_revoke_and_import_are_seen(
    void **state)
{
    struct cached_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    pthread_t threads[HAMMERS];
    struct hammer h = {.x = x};
    import_range(x->f, w, 0, 10, 0);
    refresh(x);
    for (unsigned i = 0; i < HAMMERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, hammer_thread, &h), 0);
    }
    wait_for_looks(&h, 0);
    atomic_store(&h.phase, 1);
    revoke_number(x->f, w, 3);
    atomic_store(&h.phase, 2);
    wait_for_looks(&h, 2);
    import_range(x->f, w, 10, 20, 0); /* a new generation: 3 stays revoked */
    refresh(x);
    refresh(x);
    atomic_store(&h.looks[2], 0);
    wait_for_looks(&h, 2);
    atomic_store(&h.phase, 3);
    add_number(x->f, w, 3);
    atomic_store(&h.phase, 4);
    wait_for_looks(&h, 4);
    atomic_store(&h.is_over, true);
    for (unsigned i = 0; i < HAMMERS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_true(atomic_load(&h.looks[0]) >= 50 && atomic_load(&h.looks[2]) >= 50 &&
                atomic_load(&h.looks[4]) >= 50);
    list_writer_close(&w);
}

/* ---- counting ---- */

static void test_hits__when_looked_up__then_each_outcome_is_counted(void **state)
{
    struct cached_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    clock_set_for_test((uint64_t)NOW * 1000000, 1);
    import_range(x->f, w, 0, 1000, 0);
    import_range(x->f, w, 1000, 1010, NOW + 10);
    refresh(x);
    (void)look(x, 5000000);
    uint64_t each = counts(x).number[LOOKUP_STATS_TESTED]; /* keys of one host */
    assert_true(each > 0);
    (void)look(x, 3);
    (void)look(x, 3);
    struct lookup_stats_counts c = counts(x);
    assert_int_equal(c.number[LOOKUP_STATS_TESTED], 3 * each);
    assert_int_equal(c.number[LOOKUP_STATS_CONFIRMED], 2);
    assert_int_equal(c.last_hit_s, NOW);
    revoke_number(x->f, w, 3);
    assert_int_equal(look(x, 3), LIST_REVOKED);
    c = counts(x);
    assert_int_equal(c.number[LOOKUP_STATS_REVOKED], 1);
    assert_int_equal(c.number[LOOKUP_STATS_CONFIRMED], 2);
    /* an expired entry is no fault of the filter */
    clock_advance_us(UINT64_C(20000000));
    assert_int_equal(look(x, 1005), LIST_FALSE_POSITIVE);
    assert_int_equal(counts(x).number[LOOKUP_STATS_FALSE],
                     c.number[LOOKUP_STATS_FALSE]);
    list_writer_close(&w);
}

static void test_hits__when_list_ages__then_each_period_has_its_own(void **state)
{
    static const struct list_ageing ageing = {86400, UINT64_C(30) * 86400};
    struct cached_fixture *x = *state;
    struct lookup_stats_counts c;
    uint64_t period[2];
    clock_set_for_test((uint64_t)NOW * 1000000, 1);
    for (unsigned i = 0; i < 2; i++) {
        struct list_writer *w = open_writer(x->f);
        list_writer_set_ageing(w, &ageing);
        import_range(x->f, w, i * UINT64_C(10), i * UINT64_C(10) + 10, 0);
        add_number(x->f, w, 100 + i); /* into the tail */
        list_writer_close(&w);
        refresh(x);
        const struct listset *s = list_manager_acquire(x->h);
        period[i] = listset_reader(s, 0)->current.period_s;
        list_manager_release(x->h, &s);
        assert_true(period[i] > 0);
        clock_advance_us(UINT64_C(86400000000));
    }
    assert_int_equal(period[1], period[0] + 86400);
    assert_int_equal(look(x, 3), LIST_CONFIRMED);
    assert_int_equal(look(x, 3), LIST_CONFIRMED); /* from the cache */
    assert_int_equal(look(x, 100), LIST_CONFIRMED);
    lookup_stats_row_read(lookup_stats_row_find(x->hits, NAME, period[0]), &c);
    assert_int_equal(c.number[LOOKUP_STATS_CONFIRMED], 3);
    assert_int_equal(c.last_hit_s, NOW + 2 * 86400);
    /* the other has a row before anything is met in it */
    lookup_stats_row_read(lookup_stats_row_find(x->hits, NAME, period[1]), &c);
    assert_int_equal(c.number[LOOKUP_STATS_CONFIRMED], 0);
    assert_int_equal(c.last_hit_s, 0);
    assert_int_equal(c.since_s, NOW + 86400);
    assert_int_equal(look(x, 13), LIST_CONFIRMED);
    assert_int_equal(look(x, 101), LIST_CONFIRMED); /* in the recent table */
    lookup_stats_row_read(lookup_stats_row_find(x->hits, NAME, period[1]), &c);
    assert_int_equal(c.number[LOOKUP_STATS_CONFIRMED], 2);
    assert_int_equal(counts(x).number[LOOKUP_STATS_CONFIRMED], 5);
}

static void test_hits__when_filter_errs__then_observed_error_is_that_of_the_filter(
    void **state)
{
    struct cached_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    import_range(x->f, w, 0, 20000, 0);
    refresh(x);
    for (uint64_t n = 1000000; n < 1060000; n++) {
        assert_true(is_absent(look(x, n)));
    }
    struct lookup_stats_counts c = counts(x);
    double tested = (double)c.number[LOOKUP_STATS_TESTED];
    assert_true(tested >= 60000);
    assert_int_equal(c.number[LOOKUP_STATS_FILTER], c.number[LOOKUP_STATS_FALSE]);
    assert_true(c.number[LOOKUP_STATS_FALSE] > 0);
    assert_true(c.number[LOOKUP_STATS_FALSE_NEW] <= c.number[LOOKUP_STATS_FALSE]);
    assert_true(lookup_stats_observed_error(&c) < 3 * 0.001);
    /* the same ones again: known to the cache, so not new */
    uint64_t fresh = c.number[LOOKUP_STATS_FALSE_NEW];
    for (uint64_t n = 1000000; n < 1060000; n++) {
        (void)look(x, n);
    }
    c = counts(x);
    assert_int_equal(c.number[LOOKUP_STATS_FALSE_NEW], fresh);
    assert_true(c.number[LOOKUP_STATS_FALSE] >= 2 * fresh);
    list_writer_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_cache__when_asked_again__then_the_index_is_not_read),
        TEST(test_cache__when_cached_entry_changes__then_the_next_look_sees_it),
        TEST(test_cache__when_absent_is_cached__then_an_add_is_seen),
        TEST(test_cache__when_entry_expires__then_judged_when_asked),
        TEST(test_cache__when_threads_hammer__then_revoke_and_import_are_seen),
        TEST(test_hits__when_looked_up__then_each_outcome_is_counted),
        TEST(test_hits__when_list_ages__then_each_period_has_its_own),
        TEST(test_hits__when_filter_errs__then_observed_error_is_that_of_the_filter),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
