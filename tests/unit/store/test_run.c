/* test_run - runs of counts: round trips, damage of every region, truncation, merges. */
#include <inttypes.h>
#include <sys/stat.h>

#include "core/base/checksum.h"

#include "tests/unit/store/run_image.h"

enum { RECORDS = 5000, SEED = 20061 };

static uint64_t mix(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int by_key(const void *a, const void *b)
{
    const struct run_record *x = a;
    const struct run_record *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* n records of random keys, some close together, counts of all sizes; returns how many. */
static size_t make_records(uint64_t seed, size_t n, struct run_record *ret)
{
    uint64_t state = seed;
    for (size_t i = 0; i < n; i++) {
        uint64_t r = mix(&state);
        ret[i].key = i > 0 && r % 7 == 0 ? ret[i - 1].key + 1 + r % 3 : mix(&state) | 1;
        ret[i].count = r % 3 ? 1 : (mix(&state) >> (mix(&state) % 64)) | 1;
    }
    qsort(ret, n, sizeof(*ret), by_key);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || ret[kept - 1].key != ret[i].key) {
            ret[kept++] = ret[i];
        }
    }
    return kept;
}

static void test_run__when_written__then_every_key_reads_back(void **state)
{
    struct tempdir *t = *state;
    static struct run_record records[RECORDS];
    size_t n = make_records(SEED, RECORDS, records);
    const char *path = tempdir_file(t, "a.run");
    write_run(path, &an_id, records, n);
    struct run *r = NULL;
    assert_int_equal(run_open(path, &r, NULL), ERR_OK);
    assert_memory_equal(run_id(r), &an_id, sizeof(an_id));
    assert_int_equal(run_records(r), n);
    assert_int_equal(run_verify(r, NULL), ERR_OK);
    struct run_cursor c;
    run_cursor_init(&c, r, 0, UINT64_MAX);
    for (size_t i = 0; i < n; i++) {
        uint64_t count = 0;
        struct run_record record;
        assert_int_equal(run_get(r, records[i].key, &count), ERR_OK);
        assert_true(count == records[i].count);
        assert_int_equal(run_cursor_next(&c, &record), ERR_OK);
        assert_true(record.key == records[i].key && record.count == records[i].count);
        uint64_t beside = records[i].key + 1;
        if (i + 1 == n || records[i + 1].key != beside) {
            assert_int_equal(run_get(r, beside, &count), ERR_NOT_FOUND);
        }
    }
    struct run_record record;
    assert_int_equal(run_cursor_next(&c, &record), ERR_NOT_FOUND);
    run_rest(r); /* the same through files that are opened again */
    uint64_t count = 0;
    assert_int_equal(run_get(r, records[n / 2].key, &count), ERR_OK);
    assert_true(count == records[n / 2].count);
    run_close(&r);
}

static void test_run__when_extreme__then_exact(void **state)
{
    struct tempdir *t = *state;
    static const struct run_record records[] = {
        {1, 1},
        {2, UINT64_MAX - 10},
        {3, 2},
        {UINT64_C(1) << 60, 3},
        {(UINT64_C(1) << 61) + 1, 1},
        {UINT64_MAX - 1, 129},
        {UINT64_MAX, 5},
    };
    enum { N = sizeof(records) / sizeof(*records) };
    const char *path = tempdir_file(t, "a.run");
    write_run(path, &an_id, records, N);
    struct run *r = NULL;
    assert_int_equal(run_open(path, &r, NULL), ERR_OK);
    for (size_t i = 0; i < N; i++) {
        uint64_t count = 0;
        assert_int_equal(run_get(r, records[i].key, &count), ERR_OK);
        assert_true(count == records[i].count);
    }
    assert_true(run_total(r) == UINT64_MAX); /* saturated, not wrapped */
    assert_int_equal(run_verify(r, NULL), ERR_OK);
    run_close(&r);
}

static void test_run__when_empty__then_nothing_is_found(void **state)
{
    struct tempdir *t = *state;
    const char *path = tempdir_file(t, "a.run");
    write_run(path, &an_id, NULL, 0);
    struct run *r = NULL;
    uint64_t count = 0;
    struct run_cursor c;
    struct run_record record;
    assert_int_equal(run_open(path, &r, NULL), ERR_OK);
    assert_int_equal(run_get(r, 5, &count), ERR_NOT_FOUND);
    run_cursor_init(&c, r, 0, UINT64_MAX);
    assert_int_equal(run_cursor_next(&c, &record), ERR_NOT_FOUND);
    assert_int_equal(run_verify(r, NULL), ERR_OK);
    run_close(&r);
}

static void test_run__when_keys_do_not_rise__then_commit_refuses(void **state)
{
    struct tempdir *t = *state;
    static const struct run_record wrong[][2] = {
        {{5, 1}, {5, 1}}, {{5, 1}, {4, 1}}, {{0, 1}, {1, 1}}, {{5, 0}, {6, 1}}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct run_writer *w = NULL;
        const char *path = tempdir_file(t, "a.run");
        struct stat st;
        assert_int_equal(run_writer_new(path, &an_id, &w, NULL), ERR_OK);
        run_writer_add(w, &wrong[i][0]);
        run_writer_add(w, &wrong[i][1]);
        assert_int_equal(run_writer_commit(&w, NULL), ERR_RANGE);
        assert_int_not_equal(stat(path, &st), 0);
    }
}

static void test_cursor__when_bounded__then_exactly_the_range(void **state)
{
    struct tempdir *t = *state;
    static struct run_record records[RECORDS];
    size_t n = make_records(SEED + 1, RECORDS, records);
    const char *path = tempdir_file(t, "a.run");
    write_run(path, &an_id, records, n);
    struct run *r = NULL;
    assert_int_equal(run_open(path, &r, NULL), ERR_OK);
    uint64_t s = SEED;
    for (unsigned round = 0; round < 200; round++) {
        size_t a = mix(&s) % n;
        size_t b = a + mix(&s) % (n - a);
        uint64_t first = records[a].key - (round % 2 && a > 0 &&
                                           records[a - 1].key + 1 < records[a].key);
        struct run_cursor c;
        struct run_record record;
        run_cursor_init(&c, r, first, records[b].key);
        for (size_t i = a; i <= b; i++) {
            assert_int_equal(run_cursor_next(&c, &record), ERR_OK);
            assert_true(record.key == records[i].key);
        }
        assert_int_equal(run_cursor_next(&c, &record), ERR_NOT_FOUND);
        assert_int_equal(run_cursor_next(&c, &record), ERR_NOT_FOUND);
    }
    run_close(&r);
}

/* ---- damage ---- */

/* Asks for every record: each answer is right or ERR_CORRUPT. Returns how many were right. */
static size_t right_answers(const struct run *r, const struct run_record *records,
                            size_t n)
{
    size_t right = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t count = 0;
        enum err e = run_get(r, records[i].key, &count);
        assert_true(e == ERR_CORRUPT || (e == ERR_OK && count == records[i].count));
        right += e == ERR_OK;
    }
    return right;
}

static void test_damage__when_a_bit_flips_anywhere__then_detected_and_the_rest_serves(
    void **state)
{
    struct tempdir *t = *state;
    enum { N = 1500 }; /* four blocks */
    static struct run_record records[N];
    size_t n = make_records(SEED + 2, N, records);
    const char *path = tempdir_file(t, "a.run");
    write_run(path, &an_id, records, n);
    struct image whole = read_image(path);
    size_t blocks = (whole.n - 8192) / (4096 + 8);
    size_t data_end = 8192 + blocks * 4096;
    assert_true(blocks >= 3);
    uint64_t s = SEED;
    for (size_t at = 0; at < whole.n; at += at < 8192 ? 61 : 17) {
        uint8_t *flipped = (uint8_t *)whole.p + at;
        uint8_t bit = (uint8_t)(1U << (mix(&s) % 8));
        *flipped ^= bit;
        write_image(path, whole.p, whole.n);
        *flipped ^= bit;
        struct run *r = NULL;
        struct errinfo info;
        enum err e = run_open(path, &r, &info);
        if (at >= data_end) {
            assert_int_equal(e, ERR_CORRUPT); /* the index */
            assert_string_equal(info.source, path);
            continue;
        }
        assert_int_equal(e, ERR_OK);
        size_t right = right_answers(r, records, n);
        if (at < 8192) { /* one header is left */
            assert_int_equal(right, n);
            assert_int_equal(run_verify(r, NULL), ERR_OK);
        } else {
            assert_true(right < n && right > n / 2);
            assert_int_equal(run_verify(r, &info), ERR_CORRUPT);
        }
        run_close(&r);
    }
    free(whole.p);
}

static void test_damage__when_cut_or_longer__then_refused(void **state)
{
    struct tempdir *t = *state;
    enum { N = 1500 };
    static struct run_record records[N];
    size_t n = make_records(SEED + 3, N, records);
    const char *path = tempdir_file(t, "a.run");
    write_run(path, &an_id, records, n);
    struct image whole = read_image(path);
    char *longer = calloc(1, whole.n + 4096);
    memcpy(longer, whole.p, whole.n);
    struct run *r = NULL;
    for (size_t cut = 0; cut < whole.n; cut += cut % 4096 == 0 ? 1 : 819) {
        write_image(path, whole.p, cut);
        assert_int_equal(run_open(path, &r, NULL), ERR_CORRUPT);
    }
    static const size_t more[] = {1, 8, 16, 4096};
    for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
        write_image(path, longer, whole.n + more[i]);
        assert_int_equal(run_open(path, &r, NULL), ERR_CORRUPT);
    }
    free(longer);
    free(whole.p);
}

static void test_damage__when_cut_under_an_open_run__then_corrupt_and_no_fault(
    void **state)
{
    struct tempdir *t = *state;
    enum { N = 1500 };
    static struct run_record records[N];
    size_t n = make_records(SEED + 4, N, records);
    const char *path = tempdir_file(t, "a.run");
    write_run(path, &an_id, records, n);
    struct run *r = NULL;
    uint64_t count = 0;
    assert_int_equal(run_open(path, &r, NULL), ERR_OK);
    assert_int_equal(truncate(path, 8192 + 4096), 0);
    assert_int_equal(run_get(r, records[n - 1].key, &count), ERR_CORRUPT);
    assert_int_equal(run_get(r, records[0].key, &count), ERR_OK);
    run_close(&r);
}

static void test_damage__when_blocks_are_swapped__then_detected(void **state)
{
    struct tempdir *t = *state;
    enum { N = 1500 };
    static struct run_record records[N];
    size_t n = make_records(SEED + 5, N, records);
    const char *path = tempdir_file(t, "a.run");
    write_run(path, &an_id, records, n);
    struct image whole = read_image(path);
    char block[4096];
    memcpy(block, whole.p + 8192, 4096);
    memcpy(whole.p + 8192, whole.p + 8192 + 4096, 4096);
    memcpy(whole.p + 8192 + 4096, block, 4096);
    write_image(path, whole.p, whole.n);
    struct run *r = NULL;
    uint64_t count = 0;
    assert_int_equal(run_open(path, &r, NULL), ERR_OK);
    assert_int_equal(run_get(r, records[0].key, &count), ERR_CORRUPT);
    assert_int_equal(run_get(r, records[n - 1].key, &count), ERR_OK);
    run_close(&r);
    free(whole.p);
}

static void test_open__when_another_version_or_no_file__then_says_what_to_do(
    void **state)
{
    struct tempdir *t = *state;
    static const struct run_record one = {5, 1};
    const char *path = tempdir_file(t, "a.run");
    write_run(path, &an_id, &one, 1);
    struct image whole = read_image(path);
    for (unsigned copy = 0; copy < 2; copy++) {
        char *h = whole.p + (size_t)copy * 4096;
        h[8] = 2;
        uint64_t sum = checksum64(slice_of(h, 4088));
        memcpy(h + 4088, &sum, sizeof(sum));
    }
    write_image(path, whole.p, whole.n);
    struct run *r = NULL;
    struct errinfo info;
    assert_int_equal(run_open(path, &r, &info), ERR_VERSION);
    assert_non_null(strstr(info.text, "format 2"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(run_open(path, &r, &info), ERR_NOT_FOUND);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(run_open(path, &r, &info), ERR_CORRUPT);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_int_equal(run_open(path, &r, &info), ERR_DENIED);
    free(whole.p);
}

/* ---- merging ---- */

static void test_merge__when_many_runs__then_equals_the_sum_and_names_sources(
    void **state)
{
    struct tempdir *t = *state;
    enum { RUNS = 150, EACH = 400, POOL = 3000 };
    static struct run_record pool[POOL];
    static uint64_t sum[POOL];
    struct run *runs[RUNS];
    size_t n = make_records(SEED + 6, POOL, pool);
    uint64_t s = SEED;
    memset(sum, 0, sizeof(sum));
    for (unsigned i = 0; i < RUNS; i++) {
        struct run_record records[EACH];
        size_t used = 0;
        for (size_t at = mix(&s) % 8; at < n && used < EACH; at += 1 + mix(&s) % 14) {
            uint64_t count = 1 + mix(&s) % 1000;
            records[used++] = (struct run_record){pool[at].key, count};
            sum[at] += count;
        }
        char name[32];
        (void)snprintf(name, sizeof(name), "%u.run", i);
        struct run_id id = an_id;
        id.start_s = UINT64_C(600) * i;
        write_run(tempdir_file(t, name), &id, records, used);
        assert_int_equal(run_open(t->file, &runs[i], NULL), ERR_OK);
    }
    struct run_writer *w = NULL;
    uint64_t damaged = 1;
    const struct run_id day = {.start_s = 0, .len_s = 86400};
    assert_int_equal(run_writer_new(tempdir_file(t, "day.run"), &day, &w, NULL),
                     ERR_OK);
    const struct run *const *all = (const struct run *const *)runs;
    assert_int_equal(run_merge(all, RUNS, w, &damaged), ERR_OK);
    assert_int_equal(damaged, 0);
    assert_int_equal(run_writer_commit(&w, NULL), ERR_OK);
    struct run *r = NULL;
    assert_int_equal(run_open(t->file, &r, NULL), ERR_OK);
    assert_int_equal(run_verify(r, NULL), ERR_OK);
    struct run_cursor c;
    struct run_record record;
    run_cursor_init(&c, r, 0, UINT64_MAX);
    for (size_t i = 0; i < n; i++) {
        if (sum[i] > 0) {
            assert_int_equal(run_cursor_next(&c, &record), ERR_OK);
            assert_true(record.key == pool[i].key && record.count == sum[i]);
        }
    }
    assert_int_equal(run_cursor_next(&c, &record), ERR_NOT_FOUND);
    assert_true(run_has_source(r, 0, 77) && run_has_source(r, 89400, 77));
    assert_false(run_has_source(r, 0, 78) || run_has_source(r, 90000, 77));
    run_close(&r);
    for (unsigned i = 0; i < RUNS; i++) {
        run_close(&runs[i]);
    }
}

static void test_merge__when_a_block_is_damaged__then_the_others_are_in_it(void **state)
{
    struct tempdir *t = *state;
    enum { N = 1500 };
    static struct run_record records[N];
    size_t n = make_records(SEED + 7, N, records);
    const char *path = tempdir_file(t, "a.run");
    write_run(path, &an_id, records, n);
    struct image whole = read_image(path);
    whole.p[8192 + 4096 + 100] ^= 1;
    write_image(path, whole.p, whole.n);
    free(whole.p);
    struct run *r = NULL;
    assert_int_equal(run_open(path, &r, NULL), ERR_OK);
    struct run_writer *w = NULL;
    uint64_t damaged = 0;
    assert_int_equal(run_writer_new(tempdir_file(t, "b.run"), &an_id, &w, NULL),
                     ERR_OK);
    const struct run *one = r;
    assert_int_equal(run_merge(&one, 1, w, &damaged), ERR_OK);
    assert_int_equal(run_writer_commit(&w, NULL), ERR_OK);
    assert_int_equal(damaged, 1);
    struct run *merged = NULL;
    assert_int_equal(run_open(t->file, &merged, NULL), ERR_OK);
    assert_int_equal(run_records(merged), right_answers(r, records, n));
    assert_int_equal(run_verify(merged, NULL), ERR_OK);
    run_close(&merged);
    run_close(&r);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_run__when_written__then_every_key_reads_back),
        TEST(test_run__when_extreme__then_exact),
        TEST(test_run__when_empty__then_nothing_is_found),
        TEST(test_run__when_keys_do_not_rise__then_commit_refuses),
        TEST(test_cursor__when_bounded__then_exactly_the_range),
        TEST(test_damage__when_a_bit_flips_anywhere__then_detected_and_the_rest_serves),
        TEST(test_damage__when_cut_or_longer__then_refused),
        TEST(test_damage__when_cut_under_an_open_run__then_corrupt_and_no_fault),
        TEST(test_damage__when_blocks_are_swapped__then_detected),
        TEST(test_open__when_another_version_or_no_file__then_says_what_to_do),
        TEST(test_merge__when_many_runs__then_equals_the_sum_and_names_sources),
        TEST(test_merge__when_a_block_is_damaged__then_the_others_are_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
