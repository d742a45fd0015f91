/* test_live_recover - recovery of the running table after a kill and after a power loss. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "core/base/checksum.h"
#include "core/count/live_format.h"

#include "tests/unit/count/live_ledger.h"

/* Many lives of a bucket: traffic, flushes, growth, then an end of one kind or the other. After a
 * kill nothing is lost; after a power loss only flushed counts are there. */
static void test_recover__when_ended_at_random__then_kept_as_promised(void **state)
{
    struct tempdir *t = *state;
    static struct ledger led;  /* the truth */
    static struct ledger safe; /* what must be there */
    char dir[64];
    char runs[80];
    uint64_t s = 6;
    dirs(t, dir, runs);
    ledger_init(&safe);
    for (unsigned life = 0; life < 60; life++) {
        struct run_id id = an_id;
        id.inc = 100 + life;
        struct live_recovered r;
        struct live *l = new_live(dir, &id);
        ledger_init(&led);
        static struct ledger flushed;
        ledger_init(&flushed);
        for (unsigned i = 0; i < mix(&s) % 6; i++) {
            add_some(l, &led, &s, mix(&s) % 900);
            if (mix(&s) % 2) {
                flush(l);
                flushed = led;
            }
        }
        if (mix(&s) % 8 == 0 && live_used(l) > 0) { /* sealed, not yet removed */
            assert_int_equal(live_seal(l, runs, NULL), ERR_OK);
            flushed = led;
        }
        live_free(&l, false);
        bool is_power_loss = mix(&s) % 2;
        live_set_boot_for_test(is_power_loss ? "another" : NULL);
        assert_int_equal(live_recover(dir, runs, &r, NULL), ERR_OK);
        assert_int_equal(live_recover(dir, runs, &r, NULL), ERR_OK); /* nothing twice */
        assert_int_equal(r.runs, 0);
        live_set_boot_for_test(NULL);
        assert_int_equal(files_in(dir), 0);
        for (size_t i = 0; i < POOL; i++) {
            safe.n[i] += is_power_loss ? flushed.n[i] : led.n[i];
        }
    }
    check_runs(runs, &safe);
}

static void copy_file(const char *from, const char *to)
{
    struct buf b;
    buf_init(&b, 1 << 26);
    assert_int_equal(file_read(from, &b, NULL), ERR_OK);
    assert_int_equal(file_write_atomic(to, buf_slice(&b), 0600, NULL), ERR_OK);
    buf_fini(&b);
}

static const char *table_path(struct tempdir *t, unsigned generation)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "live.0000600000-000000000000004d.%u.table",
                   generation);
    return tempdir_file(t, name);
}

/* A kill while the table grows leaves two generations, each with a part of the truth. */
static void test_recover__when_killed_while_growing__then_the_larger_counts(
    void **state)
{
    struct tempdir *t = *state;
    static struct ledger led;
    char dir[64];
    char runs[80];
    uint64_t s = 7;
    uint64_t count = 0;
    dirs(t, dir, runs);
    ledger_init(&led);
    struct live *l = NULL;
    assert_int_equal(live_new(dir, &an_id, SHARDS, (uint64_t)2 * POOL, &l, NULL),
                     ERR_OK);
    for (size_t i = 0; i < 1000; i++) {
        add(l, &led, mix(&s) % 1000, 1);
    }
    assert_int_equal(live_grow_begin(l, NULL), ERR_OK);
    for (unsigned i = 0; i < SHARDS / 2; i++) {
        live_grow_shard(l, i);
    }
    for (size_t i = 0; i < 1000; i++) { /* counts on in both halves */
        assert_true(
            live_add(l, live_shard_of(led.key[i], SHARDS), led.key[i], 2, &count));
        led.n[i] += 2;
    }
    live_free(&l, false);
    assert_int_equal(files_in(dir), 3);
    struct live_recovered r;
    assert_int_equal(live_recover(dir, runs, &r, NULL), ERR_OK);
    assert_int_equal(r.keys, 1000);
    assert_false(r.by_journal);
    check_runs(runs, &led);
}

struct damage {
    const char *what;
    int64_t at;      /* byte that is changed; negative: the file is cut there */
    bool by_journal; /* then the journal serves */
    unsigned damaged;
};

static void test_recover__when_the_table_is_damaged__then_the_journal_serves(
    void **state)
{
    struct tempdir *t = *state;
    static struct ledger led;
    static const struct damage cases[] = {
        {"header A", 100, false, 0},
        {"cut", -9000, true, 1},
        {"cut in the header", -5000, true, 1},
        {"empty", -1, true, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char dir[64];
        char runs[80];
        uint64_t s = 8;
        dirs(t, dir, runs);
        ledger_init(&led);
        struct live *l = new_live(dir, &an_id);
        add_some(l, &led, &s, 100);
        flush(l);
        live_free(&l, false);
        const char *path = table_path(t, 0);
        for (unsigned g = 0; access(path, F_OK) != 0 && g < 20; g++) {
            path = table_path(t, g);
        }
        if (cases[i].at < 0) {
            assert_int_equal(truncate(path, -cases[i].at - 1), 0);
        } else {
            int fd = open(path, O_RDWR | O_CLOEXEC);
            assert_int_equal(pwrite(fd, "x", 1, cases[i].at), 1);
            assert_int_equal(close(fd), 0);
        }
        struct live_recovered r;
        assert_int_equal(live_recover(dir, runs, &r, NULL), ERR_OK);
        assert_int_equal(r.by_journal, cases[i].by_journal);
        assert_int_equal(r.damaged, cases[i].damaged);
        check_runs(runs, &led);
        assert_int_equal(tempdir_remove(runs), 0);
    }
}

/* After every cut or change of the write-ahead log: the counts before it are there, and no
 * others. */
static void test_recover__when_the_journal_is_damaged__then_up_to_there(void **state)
{
    struct tempdir *t = *state;
    static struct ledger led;
    static struct ledger after[12]; /* of so many records */
    uint64_t end[12];
    char dir[64];
    char runs[80];
    uint64_t s = 9;
    dirs(t, dir, runs);
    ledger_init(&led);
    ledger_init(&after[0]);
    struct live *l = new_live(dir, &an_id);
    struct stat st;
    const char *path = wal_path(t);
    assert_int_equal(stat(path, &st), 0);
    end[0] = (uint64_t)st.st_size;
    for (unsigned i = 1; i < 12; i++) {
        add_some(l, &led, &s, 30);
        flush(l);
        assert_int_equal(stat(path, &st), 0);
        after[i] = led;
        end[i] = (uint64_t)st.st_size;
    }
    live_free(&l, false);
    char saved[TEMPDIR_PATH];
    (void)snprintf(saved, sizeof(saved), "%s/saved", t->path);
    copy_file(path, saved);
    live_set_boot_for_test("another");
    for (uint64_t at = 0; at < end[11]; at += 1 + mix(&s) % 23) {
        copy_file(saved, path);
        bool is_cut = mix(&s) % 2;
        if (is_cut) {
            assert_int_equal(truncate(path, (off_t)at), 0);
        } else {
            int fd = open(path, O_RDWR | O_CLOEXEC);
            char c = 0;
            assert_int_equal(pread(fd, &c, 1, (off_t)at), 1);
            c = (char)(c ^ 16);
            assert_int_equal(pwrite(fd, &c, 1, (off_t)at), 1);
            assert_int_equal(close(fd), 0);
        }
        unsigned whole = 0;
        while (whole < 11 && end[whole + 1] <= at) {
            whole++;
        }
        struct live_recovered r;
        assert_int_equal(live_recover(dir, runs, &r, NULL), ERR_OK);
        if (at < end[0]) {
            assert_int_equal(r.damaged, 1);
        }
        check_runs(runs, &after[whole]);
        assert_int_equal(tempdir_remove(runs), 0);
        dirs(t, dir, runs);
    }
    live_set_boot_for_test(NULL);
}

static void test_recover__when_the_run_is_there_but_damaged__then_it_is_made_anew(
    void **state)
{
    struct tempdir *t = *state;
    static struct ledger led;
    char dir[64];
    char runs[80];
    char name[FILE_PATH_MAX];
    uint64_t s = 10;
    dirs(t, dir, runs);
    ledger_init(&led);
    struct live *l = new_live(dir, &an_id);
    add_some(l, &led, &s, 100);
    assert_int_equal(live_seal(l, runs, NULL), ERR_OK);
    live_free(&l, false);
    assert_int_equal(runset_name(&an_id, name), ERR_OK);
    char path[FILE_PATH_MAX];
    assert_int_equal(file_path(path, "%s/%s", runs, name), ERR_OK);
    assert_int_equal(truncate(path, 9000), 0);
    struct live_recovered r;
    assert_int_equal(live_recover(dir, runs, &r, NULL), ERR_OK);
    assert_int_equal(r.runs, 1);
    check_runs(runs, &led);
}

static void set_version(const char *path, size_t summed)
{
    struct buf b;
    buf_init(&b, 1 << 26);
    assert_int_equal(file_read(path, &b, NULL), ERR_OK);
    for (size_t at = 0; at < 2 * summed && at + summed <= b.n && at < 8192;
         at += summed) {
        b.p[at + 8] = 7;
        uint64_t sum = checksum64(slice_of(b.p + at, summed - 8));
        memcpy(b.p + at + summed - 8, &sum, 8);
        if (summed != 4096) {
            break;
        }
    }
    assert_int_equal(file_write_atomic(path, buf_slice(&b), 0600, NULL), ERR_OK);
    buf_fini(&b);
}

static void test_recover__when_of_another_version__then_refused_and_kept(void **state)
{
    struct tempdir *t = *state;
    for (unsigned which = 0; which < 2; which++) {
        char dir[64];
        char runs[80];
        uint64_t count = 0;
        dirs(t, dir, runs);
        struct live *l = new_live(dir, &an_id);
        assert_true(live_add(l, 0, 5, 1, &count));
        flush(l);
        live_free(&l, false);
        set_version(which ? wal_path(t) : table_path(t, 0), which ? 64 : 4096);
        struct live_recovered r;
        struct errinfo why;
        assert_int_equal(live_recover(dir, runs, &r, &why), ERR_UNSUPPORTED);
        assert_non_null(strstr(why.text, "another version"));
        assert_int_equal(files_in(dir), 2);
        assert_int_equal(unlink(table_path(t, 0)), 0);
        assert_int_equal(unlink(wal_path(t)), 0);
    }
}

/* A bucket that goes on for hours: the write-ahead log is rewritten, and serves like the old
 * one. */
static void test_flush__when_the_journal_grows_long__then_written_anew(void **state)
{
    enum { MANY = 100000, FLUSHES = 50 };
    struct tempdir *t = *state;
    char dir[64];
    char runs[80];
    struct live *l = NULL;
    struct live_recovered r;
    struct stat st;
    off_t before = 0;
    unsigned shorter = 0;
    dirs(t, dir, runs);
    assert_int_equal(live_new(dir, &an_id, SHARDS, (uint64_t)3 * MANY, &l, NULL),
                     ERR_OK);
    for (unsigned f = 0; f < FLUSHES; f++) {
        uint64_t s = 3;
        for (unsigned i = 0; i < MANY; i++) {
            uint64_t key = mix(&s) | 1;
            uint64_t count = 0;
            assert_true(live_add(l, live_shard_of(key, SHARDS), key, 1, &count));
        }
        flush(l);
        assert_int_equal(stat(wal_path(t), &st), 0);
        assert_true(st.st_size < LIVE_JOURNAL_MAX + MANY * 32);
        shorter += st.st_size < before;
        before = st.st_size;
    }
    assert_int_equal(shorter, 1);
    live_free(&l, false);
    live_set_boot_for_test("another");
    assert_int_equal(live_recover(dir, runs, &r, NULL), ERR_OK);
    live_set_boot_for_test(NULL);
    assert_int_equal(r.keys, MANY);
    struct runset *set = NULL;
    uint64_t s = 3;
    assert_int_equal(runset_open(runs, NULL, NULL, &set, NULL), ERR_OK);
    for (unsigned i = 0; i < MANY; i += 997) {
        struct count_history h;
        uint64_t key = mix(&s) | 1;
        runset_history(set, &key, &an_id.key_id, 1, an_id.start_s / COUNT_BUCKET_S, &h);
        assert_int_equal(h.bucket[0], FLUSHES);
    }
    runset_close(&set);
}

struct boots {
    struct live_boot then;
    struct live_boot now;
    bool same;
};

static void test_boot__when_compared__then_only_this_one_is_the_same(void **state)
{
    static const struct boots cases[] = {
        {{1, 5, 0}, {1, 5, 0}, true},
        {{1, 5, 0}, {1, 6, 0}, false},
        {{1, 5, 0}, {2, 5, 0}, false},
        {{2, 50000000, 7}, {2, 50000000, 9}, true},
        {{2, 50000000, 7}, {2, 51999999, 9}, true},  /* measured a little apart */
        {{2, 50000000, 7}, {2, 52000001, 9}, false}, /* the clock was set */
        {{2, 50000000, 7}, {2, 50000000, 6}, false}, /* booted since */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(live_boot_is_same(&cases[i].then, &cases[i].now),
                         cases[i].same);
    }
    struct live_boot a = live_boot_now();
    struct live_boot b = live_boot_now();
    assert_true(live_boot_is_same(&a, &b));
}

/* A real kill: every count that the child acknowledged is there. */
static void test_recover__when_killed__then_all_that_was_said_is_there(void **state)
{
    struct tempdir *t = *state;
    static struct ledger led;
    char dir[64];
    char runs[80];
    dirs(t, dir, runs);
    ledger_init(&led);
    int said[2];
    assert_int_equal(pipe2(said, O_CLOEXEC), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct live *l = new_live(dir, &an_id);
        uint64_t s = 13;
        add_some(l, &led, &s, 5000);
        (void)!write(said[1], "x", 1);
        for (;;) {
            (void)pause();
        }
    }
    char c = 0;
    uint64_t s = 13;
    assert_int_equal(read(said[0], &c, 1), 1);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    for (size_t i = 0; i < 5000; i++) {
        size_t at = mix(&s) % POOL;
        led.n[at] += 1 + mix(&s) % 5;
    }
    struct live_recovered r;
    assert_int_equal(live_recover(dir, runs, &r, NULL), ERR_OK);
    assert_false(r.by_journal);
    check_runs(runs, &led);
    (void)close(said[0]);
    (void)close(said[1]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_recover__when_ended_at_random__then_kept_as_promised),
        TEST(test_recover__when_killed_while_growing__then_the_larger_counts),
        TEST(test_recover__when_the_table_is_damaged__then_the_journal_serves),
        TEST(test_recover__when_the_journal_is_damaged__then_up_to_there),
        TEST(test_recover__when_the_run_is_there_but_damaged__then_it_is_made_anew),
        TEST(test_recover__when_of_another_version__then_refused_and_kept),
        TEST(test_flush__when_the_journal_grows_long__then_written_anew),
        TEST(test_boot__when_compared__then_only_this_one_is_the_same),
        TEST(test_recover__when_killed__then_all_that_was_said_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
