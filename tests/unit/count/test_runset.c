/* test_runset - histories against an independent count; days, expiry, damage, foreign files. */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sys/stat.h>

#include "core/count/runset.h"

#include "tests/unit/tempdir.h"

enum { KEYS = 40, KEY_A = 7, KEY_B = 8 };
#define DAY0 UINT64_C(20000) /* unix day */

static uint64_t mix(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static struct run_id bucket_id(uint64_t bucket, uint64_t inc, uint32_t key_id)
{
    return (struct run_id){.origin = {0xab, 1},
                           .inc = inc,
                           .start_s = bucket * COUNT_BUCKET_S,
                           .len_s = COUNT_BUCKET_S,
                           .key_id = key_id};
}

static void put_run(const char *dir, const struct run_id *id, const uint64_t *counts)
{
    char name[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    struct run_writer *w = NULL;
    assert_int_equal(runset_name(id, name), ERR_OK);
    assert_int_equal(file_path(path, "%s/%s", dir, name), ERR_OK);
    assert_int_equal(run_writer_new(path, id, &w, NULL), ERR_OK);
    for (uint64_t k = 0; k < KEYS; k++) {
        if (counts[k] > 0) {
            run_writer_add(w, &(struct run_record){(k + 1) << 40, counts[k]});
        }
    }
    assert_int_equal(run_writer_commit(&w, NULL), ERR_OK);
}

static size_t files_in(const char *dir)
{
    struct runset *s = NULL;
    struct runset_stat st;
    assert_int_equal(runset_open(dir, NULL, NULL, &s, NULL), ERR_OK);
    runset_stat(s, &st);
    runset_close(&s);
    return st.nbuckets + st.ndays;
}

static struct count_history ask(struct runset *s, uint64_t k, uint64_t now)
{
    static const uint32_t ids[2] = {KEY_A, KEY_B};
    const uint64_t keys[2] = {(k + 1) << 40, (k + 1) << 40};
    struct count_history h;
    runset_history(s, keys, ids, 2, now, &h);
    return h;
}

/* Counts that the test keeps itself, by bucket from the first one. */
struct ledger {
    uint64_t first; /* bucket */
    uint64_t (*n)[KEYS];
};

static void check(struct runset *s, const struct ledger *l, uint64_t now)
{
    for (uint64_t k = 0; k < KEYS; k++) {
        struct count_history h = ask(s, k, now);
        uint64_t day[COUNT_DAYS + 1] = {0};
        assert_int_equal(h.ndamaged, 0);
        for (uint64_t b = l->first; b <= now; b++) {
            uint64_t n = l->n[b - l->first][k];
            uint64_t d = now / COUNT_DAY_BUCKETS - b / COUNT_DAY_BUCKETS;
            if (now - b <= COUNT_BUCKETS) {
                assert_int_equal(h.bucket[now - b], n);
            }
            if (d <= COUNT_DAYS) {
                day[d] += n;
            }
        }
        assert_memory_equal(h.day, day, sizeof(day));
    }
}

/* Random traffic over 18 days, some buckets in two incarnations and under two keys, care taken at
 * random times: every history is the independent count's, and the folder stays bounded. */
static void test_history__when_random_days_go_by__then_equals_the_count(void **state)
{
    struct tempdir *t = *state;
    enum { BUCKETS = 18 * COUNT_DAY_BUCKETS };
    struct ledger l = {DAY0 * COUNT_DAY_BUCKETS, calloc(BUCKETS, sizeof(*l.n))};
    uint64_t s = 42;
    struct runset *set = NULL;
    assert_int_equal(runset_open(t->path, NULL, NULL, &set, NULL), ERR_OK);
    for (uint64_t i = 0; i < BUCKETS; i++) {
        uint64_t bucket = l.first + i;
        for (unsigned inc = 0; inc < 1 + (mix(&s) % 8 == 0); inc++) {
            uint64_t counts[KEYS] = {0};
            for (unsigned k = 0; k < KEYS; k++) {
                counts[k] = mix(&s) % 3 ? 0 : 1 + mix(&s) % 100;
                l.n[i][k] += counts[k];
            }
            struct run_id id = bucket_id(bucket, 100 + i + inc, i % 5 ? KEY_A : KEY_B);
            put_run(t->path, &id, counts);
        }
        if (mix(&s) % 40 == 0 || i + 1 == BUCKETS) {
            assert_int_equal(runset_refresh(set, NULL), ERR_OK);
            check(set, &l, bucket);
            uint64_t today = bucket / COUNT_DAY_BUCKETS;
            assert_int_equal(runset_merge_days(set, today, NULL), ERR_OK);
            check(set, &l, bucket);
            assert_int_equal(runset_expire(set, bucket, NULL), ERR_OK);
            check(set, &l, bucket);
        }
    }
    struct runset_stat st;
    runset_stat(set, &st);
    assert_int_equal(st.ndays, (size_t)COUNT_DAYS * 2); /* two keys */
    assert_in_range(st.nbuckets, COUNT_BUCKETS, 2 * COUNT_BUCKETS);
    assert_int_equal(st.ndamaged, 0);
    assert_int_equal(st.newest_s, (l.first + BUCKETS - 1) * COUNT_BUCKET_S);
    runset_close(&set);
    assert_int_equal(files_in(t->path), st.nbuckets + st.ndays);
    free(l.n);
}

static void test_merge__when_a_run_comes_late__then_it_is_merged_and_not_doubled(
    void **state)
{
    struct tempdir *t = *state;
    const uint64_t first = DAY0 * COUNT_DAY_BUCKETS;
    const uint64_t now = first + COUNT_DAY_BUCKETS + 3;
    uint64_t counts[KEYS] = {5, 1};
    struct run_id id = bucket_id(first + 10, 1, KEY_A);
    struct runset *s = NULL;
    put_run(t->path, &id, counts);
    assert_int_equal(runset_open(t->path, NULL, NULL, &s, NULL), ERR_OK);
    assert_int_equal(runset_merge_days(s, DAY0 + 1, NULL), ERR_OK);
    assert_int_equal(ask(s, 0, now).day[1], 5);
    id.inc = 2;
    put_run(t->path, &id, counts);
    assert_int_equal(runset_refresh(s, NULL), ERR_OK);
    assert_int_equal(ask(s, 0, now).day[1], 10); /* before it is merged */
    for (unsigned again = 0; again < 3; again++) {
        assert_int_equal(runset_merge_days(s, DAY0 + 1, NULL), ERR_OK);
        assert_int_equal(ask(s, 0, now).day[1], 10);
        assert_int_equal(ask(s, 1, now).bucket[COUNT_DAY_BUCKETS - 7], 2);
    }
    assert_int_equal(files_in(t->path), 3);
    /* both buckets leave, the day stays */
    assert_int_equal(runset_expire(s, now + 200, NULL), ERR_OK);
    assert_int_equal(files_in(t->path), 1);
    assert_int_equal(ask(s, 0, now + 200).day[2], 10);
    runset_close(&s);
}

static void test_expire__when_not_merged_or_of_the_future__then_stays(void **state)
{
    struct tempdir *t = *state;
    const uint64_t first = DAY0 * COUNT_DAY_BUCKETS;
    const uint64_t counts[KEYS] = {5, 1};
    struct run_id unmerged = bucket_id(first, 1, KEY_A);
    struct run_id future = bucket_id(first + 100000, 1, KEY_A);
    struct runset *s = NULL;
    put_run(t->path, &unmerged, counts);
    put_run(t->path, &future, counts);
    assert_int_equal(runset_open(t->path, NULL, NULL, &s, NULL), ERR_OK);
    assert_int_equal(runset_expire(s, first + 1000, NULL), ERR_OK);
    assert_int_equal(files_in(t->path), 2);
    assert_int_equal(ask(s, 0, first + 1000).day[6], 5);
    assert_int_equal(runset_expire(s, first + UINT64_C(15) * COUNT_DAY_BUCKETS, NULL),
                     ERR_OK);
    assert_int_equal(files_in(t->path), 1); /* no window reaches it any longer */
    runset_close(&s);
}

static void test_history__when_seen_in_one_bucket__then_first_and_last_are_its(
    void **state)
{
    struct tempdir *t = *state;
    const uint64_t first = DAY0 * COUNT_DAY_BUCKETS;
    const uint64_t counts[KEYS] = {5};
    struct run_id id = bucket_id(first + 140, 1, KEY_A);
    struct runset *s = NULL;
    uint64_t windows[4];
    put_run(t->path, &id, counts);
    assert_int_equal(runset_open(t->path, NULL, NULL, &s, NULL), ERR_OK);
    assert_int_equal(runset_merge_days(s, DAY0 + 1, NULL), ERR_OK);
    struct count_history h = ask(s, 0, first + COUNT_DAY_BUCKETS + 1);
    assert_int_equal(h.first_s, id.start_s);
    assert_int_equal(h.last_s, id.start_s + COUNT_BUCKET_S);
    count_history_windows(&h, windows);
    const uint64_t expected[4] = {0, 5, 5, 5};
    assert_memory_equal(windows, expected, sizeof(windows));
    h = ask(s, 0, first + UINT64_C(3) * COUNT_DAY_BUCKETS);
    assert_int_equal(h.first_s, DAY0 * COUNT_DAY_S);
    assert_int_equal(h.last_s, (DAY0 + 1) * COUNT_DAY_S);
    h = ask(s, 3, first + 145);
    assert_true(h.first_s == 0 && h.last_s == 0);
    runset_close(&s);
}

/* ---- damage and strangers ---- */

struct told {
    unsigned n;
    struct errinfo last;
};

static void on_damage(void *context, const struct errinfo *why)
{
    struct told *told = context;
    told->n++;
    told->last = *why;
}

static void run_path(struct tempdir *t, const struct run_id *id,
                     char ret[FILE_PATH_MAX])
{
    char name[FILE_PATH_MAX];
    assert_int_equal(runset_name(id, name), ERR_OK);
    assert_int_equal(file_path(ret, "%s/%s", t->path, name), ERR_OK);
}

static void test_damage__when_one_run_is_damaged__then_it_alone_is_left_out_and_named(
    void **state)
{
    struct tempdir *t = *state;
    const uint64_t first = DAY0 * COUNT_DAY_BUCKETS;
    const uint64_t counts[KEYS] = {5};
    char path[FILE_PATH_MAX];
    for (uint64_t b = 0; b < 3; b++) {
        struct run_id id = bucket_id(first + b, 1, KEY_A);
        put_run(t->path, &id, counts);
        run_path(t, &id, path);
    }
    assert_int_equal(truncate(path, 5000), 0);
    struct told told = {0};
    struct runset *s = NULL;
    struct runset_stat st;
    assert_int_equal(runset_open(t->path, on_damage, &told, &s, NULL), ERR_OK);
    assert_int_equal(told.n, 1);
    assert_string_equal(told.last.source, path);
    struct count_history h = ask(s, 0, first + 3);
    assert_int_equal(h.ndamaged, 1);
    assert_int_equal(h.day[0], 10);
    runset_stat(s, &st);
    assert_int_equal(st.ndamaged, 1);
    /* merging and expiring go on without it */
    assert_int_equal(runset_merge_days(s, DAY0 + 1, NULL), ERR_OK);
    assert_int_equal(runset_expire(s, first + 400, NULL), ERR_OK);
    assert_int_equal(files_in(t->path), 1);
    assert_int_equal(ask(s, 0, first + 400).day[2], 10);
    runset_close(&s);
}

static void test_damage__when_a_block_is_damaged__then_the_day_has_the_rest(
    void **state)
{
    struct tempdir *t = *state;
    const uint64_t first = DAY0 * COUNT_DAY_BUCKETS;
    const uint64_t counts[KEYS] = {5};
    char path[FILE_PATH_MAX];
    struct runset_stat st;
    for (uint64_t b = 0; b < 2; b++) {
        struct run_id id = bucket_id(first + b, 1, KEY_A);
        put_run(t->path, &id, counts);
        run_path(t, &id, path);
    }
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "x", 1, 8192 + 30), 1);
    assert_int_equal(close(fd), 0);
    struct runset *s = NULL;
    assert_int_equal(runset_open(t->path, NULL, NULL, &s, NULL), ERR_OK);
    assert_int_equal(ask(s, 0, first + 3).ndamaged, 1);
    assert_int_equal(runset_merge_days(s, DAY0 + 1, NULL), ERR_OK);
    assert_int_equal(ask(s, 0, first + 400).day[2], 5);
    runset_stat(s, &st);
    assert_int_equal(st.ndamaged, 1);
    runset_close(&s);
}

static void test_open__when_strangers_are_there__then_ignored_or_refused(void **state)
{
    struct tempdir *t = *state;
    const uint64_t first = DAY0 * COUNT_DAY_BUCKETS;
    const uint64_t counts[KEYS] = {5};
    static const char *const ignored[] = {
        "README",
        "x.run",
        ".run",
        "1728000000-00600-00.run",
        "1728000000-00601-ab010000000000000000000000000000-0000000000000001-00000007.run",
        "1728000000-00600-AB010000000000000000000000000000-0000000000000001-00000007.run",
        "1728000001-00600-ab010000000000000000000000000000-0000000000000001-00000007.run",
        "1728000000-00600-ab010000000000000000000000000000-0000000000000001-00000007.run~"};
    for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++) {
        int fd =
            open(tempdir_file(t, ignored[i]), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        assert_int_equal(close(fd), 0);
    }
    char path[FILE_PATH_MAX];
    char other[FILE_PATH_MAX];
    struct run_id id = bucket_id(first, 1, KEY_A);
    put_run(t->path, &id, counts);
    run_path(t, &id, path);
    id.inc = 2; /* a link, a FIFO, and a copy that would count twice */
    run_path(t, &id, other);
    assert_int_equal(symlink(path, other), 0);
    id.inc = 3;
    run_path(t, &id, other);
    assert_int_equal(mkfifo(other, 0600), 0);
    id.inc = 4;
    run_path(t, &id, other);
    assert_int_equal(link(path, other), 0);
    struct told told = {0};
    struct runset *s = NULL;
    assert_int_equal(runset_open(t->path, on_damage, &told, &s, NULL), ERR_OK);
    assert_int_equal(told.n, 3);
    assert_int_equal(ask(s, 0, first).day[0], 5);
    runset_close(&s);
}

/* ---- asked while it changes ---- */

struct asking {
    struct runset *set;
    uint64_t now;
    uint64_t expected;
    bool is_over; /* atomic */
    unsigned wrong;
};

static void *ask_on(void *context)
{
    struct asking *a = context;
    while (!__atomic_load_n(&a->is_over, __ATOMIC_ACQUIRE)) {
        struct count_history h = ask(a->set, 0, a->now);
        a->wrong += h.day[1] != a->expected || h.ndamaged != 0;
    }
    return NULL;
}

static void test_history__when_the_set_changes_meanwhile__then_always_whole(
    void **state)
{
    struct tempdir *t = *state;
    const uint64_t first = DAY0 * COUNT_DAY_BUCKETS;
    const uint64_t counts[KEYS] = {5};
    for (uint64_t b = 0; b < 20; b++) {
        struct run_id id = bucket_id(first + b, 1, KEY_A);
        put_run(t->path, &id, counts);
    }
    struct runset *s = NULL;
    assert_int_equal(runset_open(t->path, NULL, NULL, &s, NULL), ERR_OK);
    struct asking a = {
        .set = s, .now = first + 160 + COUNT_DAY_BUCKETS / 2, .expected = 100};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, ask_on, &a), 0);
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(runset_refresh(s, NULL), ERR_OK);
    }
    assert_int_equal(runset_merge_days(s, DAY0 + 1, NULL), ERR_OK);
    assert_int_equal(runset_expire(s, a.now, NULL), ERR_OK);
    __atomic_store_n(&a.is_over, true, __ATOMIC_RELEASE);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(a.wrong, 0);
    assert_int_equal(files_in(t->path), 1);
    runset_close(&s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_history__when_random_days_go_by__then_equals_the_count),
        TEST(test_merge__when_a_run_comes_late__then_it_is_merged_and_not_doubled),
        TEST(test_expire__when_not_merged_or_of_the_future__then_stays),
        TEST(test_history__when_seen_in_one_bucket__then_first_and_last_are_its),
        TEST(test_damage__when_one_run_is_damaged__then_it_alone_is_left_out_and_named),
        TEST(test_damage__when_a_block_is_damaged__then_the_day_has_the_rest),
        TEST(test_open__when_strangers_are_there__then_ignored_or_refused),
        TEST(test_history__when_the_set_changes_meanwhile__then_always_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
