/* test_live - the running table: counting, growing, sealing; what a kill and a power loss leave. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "core/base/checksum.h"
#include "core/base/file.h"
#include "core/count/live.h"
#include "core/count/runset.h"

#include "tests/unit/tempdir.h"

enum { SHARDS = 16, POOL = 3000 };

static const struct run_id an_id = {.origin = {1, 2, 3},
                                    .inc = 77,
                                    .start_s = 600000,
                                    .len_s = COUNT_BUCKET_S,
                                    .key_id = 9};

static uint64_t mix(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* What the test itself counted. */
struct ledger {
    uint64_t key[POOL];
    uint64_t n[POOL];
};

static void ledger_init(struct ledger *l)
{
    uint64_t s = 99;
    for (size_t i = 0; i < POOL; i++) {
        l->key[i] = mix(&s) | 1;
        l->n[i] = 0;
    }
}

static void grow(struct live *l)
{
    assert_int_equal(live_grow_begin(l, NULL), ERR_OK);
    for (unsigned i = 0; i < SHARDS; i++) {
        live_grow_shard(l, i);
    }
    live_grow_end(l);
}

static void add(struct live *l, struct ledger *led, size_t i, uint64_t amount)
{
    uint64_t count = 0;
    unsigned shard = live_shard_of(led->key[i], SHARDS);
    if (live_wants_room(l)) {
        grow(l);
    }
    assert_true(live_add(l, shard, led->key[i], amount, &count));
    led->n[i] += amount;
    assert_int_equal(count, led->n[i]);
}

static void add_some(struct live *l, struct ledger *led, uint64_t *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = mix(s) % POOL;
        add(l, led, at, 1 + mix(s) % 5);
    }
}

static void flush(struct live *l)
{
    for (unsigned i = 0; i < SHARDS; i++) {
        live_flush_shard(l, i);
    }
    assert_int_equal(live_flush(l, NULL), ERR_OK);
}

static void dirs(struct tempdir *t, char dir[64], char runs[80])
{
    (void)snprintf(dir, 64, "%s", t->path);
    (void)snprintf(runs, 80, "%s/runs", t->path);
    assert_int_equal(file_make_dir(runs, 0700, NULL), ERR_OK);
}

static size_t files_in(const char *dir)
{
    size_t n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (const struct dirent *e = readdir(d); e; e = readdir(d)) { /* NOLINT */
        n += e->d_type == DT_REG;
    }
    (void)closedir(d);
    return n;
}

/* What the runs have of each key is what the ledger says. */
static void check_runs(const char *runs, const struct ledger *led)
{
    struct runset *set = NULL;
    assert_int_equal(runset_open(runs, NULL, NULL, &set, NULL), ERR_OK);
    for (size_t i = 0; i < POOL; i++) {
        struct count_history h;
        runset_history(set, &led->key[i], &an_id.key_id, 1,
                       an_id.start_s / COUNT_BUCKET_S, &h);
        assert_int_equal(h.ndamaged, 0);
        assert_int_equal(h.bucket[0], led->n[i]);
    }
    runset_close(&set);
}

static struct live *new_live(const char *dir, const struct run_id *id)
{
    struct live *l = NULL;
    assert_int_equal(live_new(dir, id, SHARDS, 256, &l, NULL), ERR_OK);
    assert_false(live_is_volatile(l));
    return l;
}

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

/* ---- recovery ---- */

/* Many lives of a bucket: traffic, flushes, growth, then an end of one kind or the other. After a
 * kill nothing is lost; after a power loss what was flushed is there, and no more. */
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

static const char *journal_path(struct tempdir *t)
{
    return tempdir_file(t, "live.0000600000-000000000000004d.journal");
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

/* Whatever is cut off or changed in the journal: what precedes is there, nothing else appears. */
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
    const char *path = journal_path(t);
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
        set_version(which ? journal_path(t) : table_path(t, 0), which ? 64 : 4096);
        struct live_recovered r;
        struct errinfo why;
        assert_int_equal(live_recover(dir, runs, &r, &why), ERR_UNSUPPORTED);
        assert_non_null(strstr(why.text, "another version"));
        assert_int_equal(files_in(dir), 2);
        assert_int_equal(unlink(table_path(t, 0)), 0);
        assert_int_equal(unlink(journal_path(t)), 0);
    }
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

/* A journal that cannot be appended to is given up at once and said so; what it had stays good. */
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
    assert_int_equal(stat(journal_path(t), &st), 0);
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

/* A real kill: what the child counted before it said so is there. */
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
        TEST(test_live__when_random_traffic__then_equals_the_ledger),
        TEST(test_add__when_the_shard_is_full__then_refused_and_nothing_changes),
        TEST(test_seal__when_empty__then_no_run),
        TEST(test_recover__when_ended_at_random__then_kept_as_promised),
        TEST(test_recover__when_killed_while_growing__then_the_larger_counts),
        TEST(test_recover__when_the_table_is_damaged__then_the_journal_serves),
        TEST(test_recover__when_the_journal_is_damaged__then_up_to_there),
        TEST(test_recover__when_the_run_is_there_but_damaged__then_it_is_made_anew),
        TEST(test_recover__when_of_another_version__then_refused_and_kept),
        TEST(test_new__when_the_disk_refuses__then_counts_in_memory),
        TEST(test_flush__when_the_journal_cannot_grow__then_volatile_and_counting),
        TEST(test_peek__when_running_sealed_or_another_boot__then_only_what_runs),
        TEST(test_recover__when_killed__then_all_that_was_said_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
