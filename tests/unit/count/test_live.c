/* test_live - the running table: counting, growing, sealing, peeking, a disk that refuses. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/unit/count/live_ledger.h"

static void test_live__when_random_traffic__then_equals_the_ledger(void **state)
{
    struct tempdir *t = *state;
    static struct ledger led;
    char dir[64];
    char runs[80];
    uint64_t s = 5;
    dirs(t, dir, runs);
    ledger_init(&led);
    struct live *l = new_live(dir, &an_id);
    add_some(l, &led, &s, 20000);
    size_t used = 0;
    for (size_t i = 0; i < POOL; i++) {
        unsigned shard = live_shard_of(led.key[i], SHARDS);
        assert_int_equal(live_get(l, shard, led.key[i]), led.n[i]);
        used += led.n[i] > 0;
    }
    assert_int_equal(live_used(l), used);
    assert_true(live_slots(l) > used);
    assert_int_equal(files_in(dir),
                     2); /* table and journal: old generations are gone */
    assert_int_equal(live_seal(l, runs, NULL), ERR_OK);
    check_runs(runs, &led);
    live_forget(l);
    assert_int_equal(files_in(dir), 0);
    assert_int_equal(live_get(l, live_shard_of(led.key[0], SHARDS), led.key[0]),
                     led.n[0]);
    live_free(&l, true);
    assert_null(l);
}

static void test_add__when_the_shard_is_full__then_refused_and_nothing_changes(
    void **state)
{
    struct tempdir *t = *state;
    struct live *l = new_live(t->path, &an_id);
    uint64_t count = 0;
    uint64_t key = 1;
    while (live_add(l, 0, key, 3, &count)) {
        key++;
    }
    assert_int_equal(key, 15); /* 7/8 of 16 slots */
    assert_int_equal(live_get(l, 0, key), 0);
    assert_true(live_add(l, 0, 1, UINT64_MAX, &count)); /* what is there counts on */
    assert_true(count == UINT64_MAX);
    assert_true(live_wants_room(l));
    grow(l);
    assert_true(live_add(l, 0, key, 3, &count));
    assert_true(live_get(l, 0, 1) == UINT64_MAX);
    live_free(&l, true);
}

static void test_seal__when_empty__then_no_run(void **state)
{
    struct tempdir *t = *state;
    char dir[64];
    char runs[80];
    dirs(t, dir, runs);
    struct live *l = new_live(dir, &an_id);
    assert_int_equal(live_seal(l, runs, NULL), ERR_NOT_FOUND);
    live_free(&l, false);
    struct live_recovered r;
    assert_int_equal(live_recover(dir, runs, &r, NULL), ERR_OK);
    assert_int_equal(r.runs, 0);
    assert_int_equal(r.damaged, 0);
    assert_int_equal(files_in(dir) + files_in(runs), 0);
}

/* ---- a disk that refuses ---- */

static void test_new__when_the_disk_refuses__then_counts_in_memory(void **state)
{
    struct tempdir *t = *state;
    static struct ledger led;
    char dir[64];
    char runs[80];
    uint64_t s = 11;
    dirs(t, dir, runs);
    ledger_init(&led);
    struct errinfo why = {.code = ERR_OK};
    struct live *l = NULL;
    assert_int_equal(live_new("/nonexistent/counts", &an_id, SHARDS, 256, &l, &why),
                     ERR_OK);
    assert_true(live_is_volatile(l));
    assert_int_equal(why.code, ERR_NOT_FOUND);
    add_some(l, &led, &s, 5000);
    flush(l);
    assert_int_equal(live_seal(l, runs, NULL), ERR_OK);
    check_runs(runs, &led);
    live_free(&l, true);
}

static void test_new__when_without_a_folder__then_in_memory(void **state)
{
    struct live *l = NULL;
    uint64_t count = 0;
    (void)state;
    assert_int_equal(live_new("", &an_id, SHARDS, 256, &l, NULL), ERR_OK);
    assert_true(live_is_volatile(l));
    assert_int_not_equal(access("/live.0000600000-000000000000004d.0.table", F_OK), 0);
    assert_true(live_add(l, 0, 5, 2, &count));
    grow(l);
    assert_int_equal(live_get(l, 0, 5), 2);
    live_free(&l, true);
}

/* A write-ahead log that cannot grow is given up at once and logged; its records stay valid. */
static void test_flush__when_the_journal_cannot_grow__then_volatile_and_counting(
    void **state)
{
    struct tempdir *t = *state;
    static struct ledger led;
    static struct ledger flushed;
    char dir[64];
    char runs[80];
    uint64_t s = 12;
    dirs(t, dir, runs);
    ledger_init(&led);
    struct live *l = NULL;
    assert_int_equal(live_new(dir, &an_id, SHARDS, (uint64_t)2 * POOL, &l, NULL),
                     ERR_OK);
    add_some(l, &led, &s, 300);
    flush(l);
    flushed = led;
    add_some(l, &led, &s, 3000);
    struct stat st;
    struct rlimit old;
    assert_int_equal(stat(wal_path(t), &st), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit small = {(rlim_t)st.st_size + 100, old.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (unsigned i = 0; i < SHARDS; i++) {
        live_flush_shard(l, i);
    }
    struct errinfo why;
    assert_int_not_equal(live_flush(l, &why), ERR_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_true(live_is_volatile(l));
    assert_non_null(strstr(why.text, "counting goes on"));
    add_some(l, &led, &s, 100);
    assert_int_equal(live_flush(l, NULL), ERR_OK);
    live_free(&l, false);
    live_set_boot_for_test("another");
    struct live_recovered r;
    assert_int_equal(live_recover(dir, runs, &r, NULL), ERR_OK);
    live_set_boot_for_test(NULL);
    assert_true(r.by_journal);
    check_runs(runs, &flushed);
}

/* ---- peeking ---- */

static void test_peek__when_running_sealed_or_another_boot__then_only_what_runs(
    void **state)
{
    struct tempdir *t = *state;
    char dir[64];
    char runs[80];
    uint64_t count = 0;
    uint64_t start_s = 0;
    const uint64_t key = UINT64_C(0x123456789abcdef1);
    const unsigned shard = live_shard_of(key, SHARDS);
    dirs(t, dir, runs);
    assert_int_equal(live_peek(dir, key, &count, &start_s, NULL), ERR_NOT_FOUND);
    struct live *old = new_live(dir, &an_id);
    struct run_id id = an_id;
    id.start_s += COUNT_BUCKET_S;
    assert_true(live_add(old, shard, key, 4, &count));
    assert_int_equal(live_peek(dir, key, &count, &start_s, NULL), ERR_OK);
    assert_true(count == 4 && start_s == an_id.start_s);
    struct live *l = new_live(dir, &id);
    assert_true(live_add(l, shard, key, 9, &count));
    assert_int_equal(live_seal(old, runs, NULL), ERR_OK);
    assert_int_equal(live_peek(dir, key, &count, &start_s, NULL), ERR_OK);
    assert_true(count == 9 && start_s == id.start_s);
    assert_int_equal(live_peek(dir, key + 1, &count, &start_s, NULL), ERR_OK);
    assert_int_equal(count, 0);
    grow(l);
    assert_int_equal(live_peek(dir, key, &count, &start_s, NULL), ERR_OK);
    assert_int_equal(count, 9);
    live_set_boot_for_test("another");
    assert_int_equal(live_peek(dir, key, &count, &start_s, NULL), ERR_NOT_FOUND);
    live_set_boot_for_test(NULL);
    live_free(&l, true);
    assert_int_equal(live_peek(dir, key, &count, &start_s, NULL), ERR_NOT_FOUND);
    live_free(&old, true);
}

static void mend(struct live *l)
{
    struct run_record *logged = NULL;
    size_t n = 0;
    assert_int_equal(live_mend_begin(l, &logged, &n, NULL), ERR_OK);
    assert_int_equal(n, POOL);
    for (unsigned i = 0; i < SHARDS; i++) {
        live_mend_shard(l, i, logged, n);
    }
    live_grow_end(l);
    free(logged);
}

/* The only table in dir. */
static void cut_table(const char *dir, off_t size)
{
    char path[TEMPDIR_PATH];
    DIR *d = opendir(dir);
    assert_non_null(d);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (strstr(e->d_name, ".table") != NULL) {
            (void)snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
            assert_int_equal(truncate(path, size), 0);
        }
    }
    (void)closedir(d);
}

static void test_mend__when_the_table_was_cut__then_what_was_flushed_is_back(
    void **state)
{
    struct tempdir *t = *state;
    static struct ledger led;
    static const off_t sizes[] = {0, 4096, 30000};
    char dir[64];
    char runs[80];
    dirs(t, dir, runs);
    ledger_init(&led);
    struct live *l = new_live(dir, &an_id);
    for (size_t i = 0; i < POOL; i++) {
        add(l, &led, i, 100);
    }
    assert_false(live_is_damaged(l));
    for (size_t c = 0; c < LENGTH(sizes); c++) {
        flush(l);
        cut_table(dir, sizes[c]);
        for (size_t i = 0; i < POOL; i += 7) {
            uint64_t count = 0; /* in zeros, or in what is left */
            assert_true(
                live_add(l, live_shard_of(led.key[i], SHARDS), led.key[i], 1, &count));
            led.n[i]++;
        }
        assert_true(live_is_damaged(l));
        mend(l);
        assert_false(live_is_damaged(l));
        assert_int_equal(live_used(l), POOL);
        for (size_t i = 0; i < POOL; i++) {
            unsigned shard = live_shard_of(led.key[i], SHARDS);
            assert_int_equal(live_get(l, shard, led.key[i]), led.n[i]);
        }
    }
    assert_int_equal(live_seal(l, runs, NULL), ERR_OK);
    check_runs(runs, &led);
    live_free(&l, true);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_live__when_random_traffic__then_equals_the_ledger),
        TEST(test_add__when_the_shard_is_full__then_refused_and_nothing_changes),
        TEST(test_seal__when_empty__then_no_run),
        TEST(test_new__when_the_disk_refuses__then_counts_in_memory),
        TEST(test_new__when_without_a_folder__then_in_memory),
        TEST(test_flush__when_the_journal_cannot_grow__then_volatile_and_counting),
        TEST(test_mend__when_the_table_was_cut__then_what_was_flushed_is_back),
        TEST(test_peek__when_running_sealed_or_another_boot__then_only_what_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
