/* test_sheet - several servers' counts of a bucket in one file: all of them come back, damage never as a number. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/store/merged_run.h"

#include "tests/unit/tempdir.h"

enum { RUNS = 40, KEYS = 3000, SEED = 60433 };

struct written {
    struct run *run[RUNS];
    uint64_t count[RUNS][KEYS]; /* 0: not counted */
    uint64_t key[KEYS];         /* rising */
};

static uint64_t mix(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Keys of all of them, of few, of one; some neighbours; 1 and the last number; counts of all sizes. */
static void make_keys(struct written *w, uint64_t *state)
{
    for (size_t i = 0; i < KEYS; i++) {
        uint64_t r = mix(state);
        w->key[i] = r % 5 == 0 && i > 0 ? w->key[i - 1] / 2 + 7 : r | 1;
    }
    w->key[0] = 1;
    w->key[1] = UINT64_MAX;
    qsort(w->key, KEYS, sizeof(w->key[0]), by_number);
}

static bool is_again(const struct written *w, size_t k)
{
    return k > 0 && w->key[k] == w->key[k - 1];
}

static uint64_t make_count(uint64_t *state, size_t k)
{
    uint64_t r = mix(state);
    uint64_t rare = k % 3 == 0 ? 3 : 30;
    if (k % 50 != 0 && r % rare != 0) {
        return 0;
    }
    return r % 4 ? 1 : (mix(state) >> (r % 64)) | 1;
}

/* The last one is empty. */
static void make_run(struct tempdir *t, struct written *w, size_t i, uint64_t *state)
{
    struct run_id id = {.origin = {(uint8_t)i},
                        .inc = i % 3,
                        .start_s = 600000,
                        .len_s = 600,
                        .key_id = 9};
    struct run_writer *rw = NULL;
    char name[16];
    snprintf(name, sizeof(name), "%zu.run", i);
    assert_int_equal(run_writer_new(tempdir_file(t, name), &id, &rw, NULL), ERR_OK);
    for (size_t k = 0; k < KEYS && i + 1 < RUNS; k++) {
        w->count[i][k] = is_again(w, k) ? 0 : make_count(state, k);
        if (w->count[i][k] > 0) {
            run_writer_add(rw, &(struct run_record){w->key[k], w->count[i][k]});
        }
    }
    assert_int_equal(run_writer_commit(&rw, NULL), ERR_OK);
    assert_int_equal(run_open(tempdir_file(t, name), &w->run[i], NULL), ERR_OK);
}

static void make_runs(struct tempdir *t, struct written *w)
{
    uint64_t state = SEED;
    make_keys(w, &state);
    for (size_t i = 0; i < RUNS; i++) {
        make_run(t, w, i, &state);
    }
}

static struct written *begin(struct tempdir *t, const char **retpath)
{
    struct written *w = calloc(1, sizeof(*w));
    size_t bad = 0;
    assert_non_null(w);
    make_runs(t, w);
    static char path[TEMPDIR_PATH];
    snprintf(path, sizeof(path), "%s", tempdir_file(t, "a.merged"));
    *retpath = path;
    assert_int_equal(
        merged_run_write(*retpath, (const struct run *const *)w->run, RUNS, &bad, NULL),
        ERR_OK);
    return w;
}

static void end(struct written *w)
{
    for (size_t i = 0; i < RUNS; i++) {
        run_close(&w->run[i]);
    }
    free(w);
}

static void check_key(const struct merged_run *s, const struct written *w, size_t k)
{
    struct merged_run_pair pair[MERGED_RUN_SOURCES_MAX];
    uint64_t count[RUNS] = {0};
    size_t n = 0;
    assert_int_equal(merged_run_get(s, w->key[k], pair, &n), ERR_OK);
    for (size_t i = 0; i < n; i++) {
        assert_true(pair[i].source < RUNS && count[pair[i].source] == 0);
        count[pair[i].source] = pair[i].count;
    }
    for (size_t i = 0; i < RUNS; i++) {
        assert_true(count[i] == w->count[i][k]);
    }
}

static void test_sheet__when_written__then_every_count_reads_back(void **state)
{
    const char *path = NULL;
    struct written *w = begin(*state, &path);
    struct merged_run *s = NULL;
    struct merged_run_pair pair[MERGED_RUN_SOURCES_MAX];
    size_t n = 9;
    assert_int_equal(merged_run_open(path, &s, NULL), ERR_OK);
    const struct merged_run_facts *f = merged_run_facts(s);
    assert_int_equal(f->nsources, RUNS);
    assert_true(f->start_s == 600000 && f->len_s == 600 && f->key_id == 9);
    for (size_t i = 0; i < RUNS; i++) {
        assert_true(merged_run_has(s, i, w->run[i]));
        assert_false(merged_run_has(s, i, w->run[(i + 1) % RUNS]));
    }
    for (size_t k = 0; k < KEYS; k++) {
        if (!is_again(w, k)) {
            check_key(s, w, k);
        }
    }
    assert_int_equal(merged_run_get(s, w->key[KEYS / 2] + 1, pair, &n), ERR_OK);
    assert_true(n == 0 || w->key[KEYS / 2 + 1] == w->key[KEYS / 2] + 1);
    merged_run_close(&s);
    end(w);
}

/* Any byte changed, or the end cut off: refused at opening, or at the block; else the answers are right. */
static void test_sheet__when_damaged__then_never_a_wrong_number(void **state)
{
    const char *path = NULL;
    struct written *w = begin(*state, &path);
    struct stat st;
    unsigned nrefused = 0;
    unsigned nblocks = 0;
    assert_int_equal(stat(path, &st), 0);
    for (off_t at = 0; at < st.st_size; at += 97) {
        char byte = 0;
        struct merged_run *s = NULL;
        int fd = open(path, O_RDWR | O_CLOEXEC);
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= 0x20;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        enum err e = merged_run_open(path, &s, NULL);
        nrefused += e != ERR_OK;
        size_t k = (size_t)at % KEYS;
        struct merged_run_pair pair[MERGED_RUN_SOURCES_MAX];
        size_t n = 0;
        if (e == ERR_OK && merged_run_get(s, w->key[k], pair, &n) != ERR_OK) {
            assert_int_equal(n, 0);
            nblocks++;
        } else if (e == ERR_OK && !is_again(w, k)) {
            check_key(s, w, k);
        }
        merged_run_close(&s);
        byte ^= 0x20;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        assert_int_equal(close(fd), 0);
    }
    assert_true(nrefused > 40 && nblocks > 2);
    struct merged_run *s = NULL;
    assert_int_equal(truncate(path, st.st_size - 1), 0);
    assert_int_equal(merged_run_open(path, &s, NULL), ERR_CORRUPT);
    end(w);
}

static void test_sheet__when_a_run_is_damaged__then_it_is_named_and_nothing_made(
    void **state)
{
    struct tempdir *t = *state;
    const char *path = NULL;
    struct written *w = begin(t, &path);
    size_t bad = 0;
    int fd = open(tempdir_file(t, "17.run"), O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "x", 1, 8192 + 100), 1);
    assert_int_equal(close(fd), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(
        merged_run_write(path, (const struct run *const *)w->run, RUNS, &bad, NULL),
        ERR_CORRUPT);
    assert_int_equal(bad, 17);
    assert_int_equal(access(path, F_OK), -1);
    end(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_sheet__when_written__then_every_count_reads_back, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_sheet__when_damaged__then_never_a_wrong_number, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_sheet__when_a_run_is_damaged__then_it_is_named_and_nothing_made,
            tempdir_setup, tempdir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
