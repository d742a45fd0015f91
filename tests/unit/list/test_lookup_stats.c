/*
 * test_lookup_stats - look-ups of each list and period, across restarts and damage.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/list/lookup_stats.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { NOW = 1000000000, THREADS = 4, ROUNDS = 20000 };

#define PHISH SLICE_LIT("phish")

struct fixture {
    char dir[64];
    char path[96];
    struct lookup_stats *hits;
    struct errinfo info;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    snprintf(f->dir, sizeof(f->dir), "/tmp/gillnet-hits-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->path, sizeof(f->path), "%s/lists.lookups", f->dir);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    lookup_stats_close(&f->hits);
    (void)tempdir_remove(f->dir);
    free(f);
    return 0;
}

static void open_at(struct fixture *f, uint64_t now_s)
{
    if (lookup_stats_open(f->path, now_s, &f->hits, &f->info) != ERR_OK) {
        fail_msg("%s", f->info.text);
    }
}

static struct lookup_stats_counts read_row(struct fixture *f, struct slice list,
                                           uint64_t period)
{
    struct hits_view *v = NULL;
    struct lookup_stats_counts c = {0};
    assert_int_equal(lookup_stats_read(f->path, &v, &f->info), ERR_OK);
    assert_true(lookup_stats_view_find(v, list, period, &c));
    lookup_stats_view_free(&v);
    return c;
}

static void test_hits__when_counted__then_readers_see_each_list_and_period(void **state)
{
    struct fixture *f = *state;
    open_at(f, NOW);
    struct lookup_stats_row *whole =
        lookup_stats_row(f->hits, PHISH, LOOKUP_STATS_WHOLE, NOW);
    struct lookup_stats_row *period = lookup_stats_row(f->hits, PHISH, 202611, NOW + 1);
    assert_non_null(whole);
    assert_non_null(period);
    assert_ptr_not_equal(whole, period);
    assert_ptr_equal(lookup_stats_row(f->hits, PHISH, 202611, NOW + 2), period);
    assert_ptr_equal(lookup_stats_row_find(f->hits, PHISH, 202611), period);
    assert_null(lookup_stats_row_find(f->hits, PHISH, 202612));
    struct lookup_stats_sums s = {.number = {[LOOKUP_STATS_TESTED] = 40,
                                             [LOOKUP_STATS_FILTER] = 3,
                                             [LOOKUP_STATS_CONFIRMED] = 2,
                                             [LOOKUP_STATS_FALSE] = 1},
                                  .last_hit_s = NOW + 5};
    lookup_stats_add(whole, &s);
    s.last_hit_s = NOW + 3; /* a slower thread */
    lookup_stats_add(whole, &s);
    lookup_stats_set(whole, LOOKUP_STATS_CANARY_TESTED, 7);
    struct lookup_stats_counts c = read_row(f, PHISH, LOOKUP_STATS_WHOLE);
    assert_int_equal(c.number[LOOKUP_STATS_TESTED], 80);
    assert_int_equal(c.number[LOOKUP_STATS_FILTER], 6);
    assert_int_equal(c.number[LOOKUP_STATS_CONFIRMED], 4);
    assert_int_equal(c.number[LOOKUP_STATS_FALSE], 2);
    assert_int_equal(c.number[LOOKUP_STATS_CANARY_TESTED], 7);
    assert_int_equal(c.last_hit_s, NOW + 5);
    assert_int_equal(c.since_s, NOW);
    assert_float_equal(lookup_stats_observed_error(&c), 2.0 / 76, 1e-12);
    c = read_row(f, PHISH, 202611);
    assert_int_equal(c.number[LOOKUP_STATS_TESTED], 0);
    assert_int_equal(c.last_hit_s, 0);
    assert_true(lookup_stats_observed_error(&c) < 0);
}

static void test_hits__when_opened_again__then_they_go_on(void **state)
{
    struct fixture *f = *state;
    open_at(f, NOW);
    struct lookup_stats_sums s = {.number = {[LOOKUP_STATS_TESTED] = 5},
                                  .last_hit_s = NOW};
    lookup_stats_add(lookup_stats_row(f->hits, PHISH, 3, NOW), &s);
    (void)lookup_stats_row(f->hits, SLICE_LIT("old"), LOOKUP_STATS_WHOLE, NOW);
    lookup_stats_alive(f->hits, NOW + 60);
    lookup_stats_close(&f->hits);
    open_at(f, NOW + LOOKUP_STATS_KEEP_S - 1);
    lookup_stats_add(lookup_stats_row(f->hits, PHISH, 3, NOW + LOOKUP_STATS_KEEP_S - 1),
                     &s);
    struct lookup_stats_counts c = read_row(f, PHISH, 3);
    assert_int_equal(c.number[LOOKUP_STATS_TESTED], 10);
    assert_int_equal(c.since_s, NOW);
    assert_int_equal(read_row(f, SLICE_LIT("old"), LOOKUP_STATS_WHOLE).since_s, NOW);
    lookup_stats_close(&f->hits);
    open_at(f, NOW + LOOKUP_STATS_KEEP_S); /* "old" was not asked for since */
    struct hits_view *v = NULL;
    assert_int_equal(lookup_stats_read(f->path, &v, &f->info), ERR_OK);
    assert_int_equal(lookup_stats_view_alive_s(v), NOW + 60);
    assert_false(lookup_stats_view_find(v, SLICE_LIT("old"), LOOKUP_STATS_WHOLE, &c));
    assert_true(lookup_stats_view_find(v, PHISH, 3, &c));
    lookup_stats_view_free(&v);
}

static void test_hits__when_file_damaged__then_counting_starts_anew(void **state)
{
    static const struct {
        long offset;
        const char *bytes;
        off_t size; /* 0: whole */
        enum err reason;
    } damage[] = {
        {0, "X", 0, ERR_CORRUPT},     {8, "\x63", 0, ERR_VERSION},
        {16, "\x07", 0, ERR_VERSION}, {0, "", 100, ERR_CORRUPT},
        {0, "", 1, ERR_CORRUPT},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
        struct hits_view *v = NULL;
        open_at(f, NOW);
        struct lookup_stats_sums s = {.number = {[LOOKUP_STATS_TESTED] = 5}};
        lookup_stats_add(lookup_stats_row(f->hits, PHISH, LOOKUP_STATS_WHOLE, NOW), &s);
        lookup_stats_close(&f->hits);
        int fd = open(f->path, O_RDWR | O_CLOEXEC);
        size_t n = strlen(damage[i].bytes);
        assert_int_equal(pwrite(fd, damage[i].bytes, n, damage[i].offset), n);
        if (damage[i].size > 0) {
            assert_int_equal(ftruncate(fd, damage[i].size), 0);
        }
        close(fd);
        assert_int_equal(lookup_stats_read(f->path, &v, &f->info), damage[i].reason);
        assert_null(v);
        open_at(f, NOW);
        (void)lookup_stats_row(f->hits, PHISH, LOOKUP_STATS_WHOLE, NOW);
        assert_int_equal(
            read_row(f, PHISH, LOOKUP_STATS_WHOLE).number[LOOKUP_STATS_TESTED], 0);
        lookup_stats_close(&f->hits);
        assert_int_equal(unlink(f->path), 0);
    }
    struct hits_view *v = NULL;
    assert_int_equal(lookup_stats_read(f->path, &v, &f->info), ERR_NOT_FOUND);
}

static void test_hits__when_rows_used_up__then_refused_and_the_rest_counts(void **state)
{
    struct fixture *f = *state;
    open_at(f, NOW);
    for (uint64_t i = 0; i < LOOKUP_STATS_ROWS_USED; i++) {
        assert_non_null(lookup_stats_row(f->hits, PHISH, i, NOW));
    }
    assert_null(lookup_stats_row(f->hits, PHISH, LOOKUP_STATS_ROWS_USED, NOW));
    assert_null(lookup_stats_row(f->hits, SLICE_LIT("other"), 0, NOW));
    assert_non_null(lookup_stats_row(f->hits, PHISH, LOOKUP_STATS_ROWS_USED - 1, NOW));
    assert_null(lookup_stats_row(f->hits, SLICE_LIT("not a name"), 0, NOW));
    lookup_stats_close(&f->hits);
    open_at(f, NOW + 1);
    assert_non_null(lookup_stats_row_find(f->hits, PHISH, LOOKUP_STATS_ROWS_USED - 1));
    assert_null(lookup_stats_row(f->hits, SLICE_LIT("other"), 0, NOW));
}

struct counter {
    struct lookup_stats *hits;
    uint64_t first;
};

static void *count_thread(void *context)
{
    struct counter *c = context;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct lookup_stats_row *row =
            lookup_stats_row(c->hits, PHISH, i % 64, NOW + i);
        struct lookup_stats_sums s = {
            .number = {[LOOKUP_STATS_TESTED] = 3, [LOOKUP_STATS_FILTER] = i % 2},
            .last_hit_s = NOW + i};
        if (row != lookup_stats_row_find(c->hits, PHISH, i % 64)) {
            return c;
        }
        lookup_stats_add(row, &s);
    }
    return NULL;
}

static void test_hits__when_threads_count_and_make_rows__then_nothing_is_lost(
    void **state)
{
    struct fixture *f = *state;
    pthread_t threads[THREADS];
    uint64_t tested = 0;
    uint64_t hit = 0;
    open_at(f, NOW);
    struct counter c = {.hits = f->hits};
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, count_thread, &c), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    for (uint64_t i = 0; i < 64; i++) {
        struct lookup_stats_counts n = read_row(f, PHISH, i);
        tested += n.number[LOOKUP_STATS_TESTED];
        hit += n.number[LOOKUP_STATS_FILTER];
    }
    assert_int_equal(tested, 3 * THREADS * ROUNDS);
    assert_int_equal(hit, THREADS * ROUNDS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_hits__when_counted__then_readers_see_each_list_and_period, setup,
            teardown),
        cmocka_unit_test_setup_teardown(test_hits__when_opened_again__then_they_go_on,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_hits__when_file_damaged__then_counting_starts_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_hits__when_rows_used_up__then_refused_and_the_rest_counts, setup,
            teardown),
        cmocka_unit_test_setup_teardown(
            test_hits__when_threads_count_and_make_rows__then_nothing_is_lost, setup,
            teardown),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
