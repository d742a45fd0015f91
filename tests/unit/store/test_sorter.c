/*
 * test_sorter - the same order as qsort gives, in memory and through many runs.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/random.h"
#include "core/store/sorter.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

struct row {
    struct digest digest;
    uint64_t order;
    uint16_t n;
    unsigned char fill;
};

static int row_cmp(const void *a, const void *b)
{
    const struct row *x = a;
    const struct row *y = b;
    int c = digest_cmp(&x->digest, &y->digest);
    return c ? c : (x->order > y->order) - (x->order < y->order);
}

/* Patterns of digests that are hard for the radix passes. */
enum shape { RANDOM, FEW, ONE, LAST_BYTES, ZEROS, SORTED };

static void make_rows(struct row *rows, size_t n, enum shape shape, size_t most)
{
    for (size_t i = 0; i < n; i++) {
        struct row *r = &rows[i];
        memset(r, 0, sizeof(*r));
        if (shape == RANDOM) {
            random_bytes(r->digest.b, DIGEST_BYTES);
        } else if (shape == FEW) {
            r->digest.b[3] = (uint8_t)(i * 7 % 5);
        } else if (shape == LAST_BYTES) {
            random_bytes(r->digest.b + 14, 2);
        } else if (shape == ONE) {
            memset(r->digest.b, 0xff, DIGEST_BYTES);
        } else if (shape == SORTED) {
            r->digest.b[0] = (uint8_t)(i >> 8);
            r->digest.b[1] = (uint8_t)i;
        }
        r->order = i * 2654435761u % 1000003u; /* distinct below 1000003 */
        r->n = (uint16_t)(i * 131 % (most + 1));
        r->fill = (unsigned char)(i * 17);
    }
}

static void check(struct tempdir *t, struct row *rows, size_t n, size_t memory)
{
    static char data[SORTER_DATA_MAX];
    struct sorter *s = NULL;
    struct errinfo info;
    struct sorter_record out;
    enum err fail = ERR_OK;
    assert_int_equal(sorter_new(t->path, memory, &s, &info), ERR_OK);
    for (size_t i = 0; i < n; i++) {
        memset(data, rows[i].fill, rows[i].n);
        struct sorter_record r = {rows[i].digest, rows[i].order,
                                  slice_of(data, rows[i].n)};
        assert_int_equal(sorter_add(s, &r, &info), ERR_OK);
    }
    assert_int_equal(sorter_count(s), n);
    assert_int_equal(sorter_finish(s, &info), ERR_OK);
    qsort(rows, n, sizeof(*rows), row_cmp);
    for (size_t i = 0; i < n; i++) {
        assert_true(sorter_next(s, &out, &fail));
        assert_memory_equal(out.digest.b, rows[i].digest.b, DIGEST_BYTES);
        assert_true(out.order == rows[i].order);
        assert_int_equal(out.data.n, rows[i].n);
        memset(data, rows[i].fill, rows[i].n);
        assert_memory_equal(out.data.p, data, rows[i].n);
    }
    assert_false(sorter_next(s, &out, &fail));
    assert_int_equal(fail, ERR_OK);
    assert_false(sorter_next(s, &out, &fail));
    sorter_free(&s);
    assert_null(s);
}

static void test_sort__shapes_in_memory_and_in_runs__equal_qsort(void **state)
{
    static const size_t memories[] = {0, 200 << 10, 64 << 20};
    static const size_t most[] = {0, 300};
    static struct row rows[30000];
    for (int shape = RANDOM; shape <= SORTED; shape++) {
        for (size_t m = 0; m < 3; m++) {
            for (size_t d = 0; d < 2; d++) {
                make_rows(rows, 30000, (enum shape)shape, most[d]);
                check(*state, rows, 30000, memories[m]);
            }
        }
    }
}

static void test_sort__largest_records_and_tiny_memory__come_back(void **state)
{
    static struct row
        rows[400]; /* 4 fit: 100 runs, each record larger than its buffer */
    make_rows(rows, 400, RANDOM, 0);
    for (size_t i = 0; i < 400; i++) {
        rows[i].n = (uint16_t)(SORTER_DATA_MAX - i % 3);
    }
    check(*state, rows, 400, 0);
}

static void test_sort__few_records__come_back(void **state)
{
    static struct row rows[64];
    for (size_t n = 0; n <= 64; n++) {
        make_rows(rows, n, RANDOM, 10);
        check(*state, rows, n, 0);
    }
}

static void test_add__around_the_data_limit__is_told(void **state)
{
    struct tempdir *t = *state;
    static char data[SORTER_DATA_MAX + 1];
    struct sorter *s = NULL;
    struct errinfo info;
    assert_int_equal(sorter_new(t->path, 0, &s, &info), ERR_OK);
    for (size_t n = SORTER_DATA_MAX - 1; n <= SORTER_DATA_MAX + 1; n++) {
        struct sorter_record r = {.data = slice_of(data, n)};
        assert_int_equal(sorter_add(s, &r, &info),
                         n > SORTER_DATA_MAX ? ERR_LIMIT : ERR_OK);
    }
    assert_int_equal(sorter_count(s), 2);
    sorter_free(&s);
    sorter_free(&s);
}

/* Adds until it fails or n records are in. */
static enum err add_until_full(struct sorter *s, size_t n, struct errinfo *info)
{
    static char data[1000];
    for (size_t i = 0; i < n; i++) {
        struct sorter_record r = {.order = i, .data = slice_of(data, sizeof(data))};
        random_bytes(r.digest.b, DIGEST_BYTES);
        enum err e = sorter_add(s, &r, info);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static void test_full_disk__add__says_so_and_nothing_partial_comes_out(void **state)
{
    struct tempdir *t = *state;
    struct sorter *s = NULL;
    struct errinfo info;
    struct errinfo again;
    struct sorter_record out;
    enum err fail = ERR_OK;
    if (geteuid() != 0 || mount("none", t->path, "tmpfs", 0, "size=1m") != 0) {
        skip();
    }
    enum err made = sorter_new(t->path, 0, &s, &info);
    enum err full = add_until_full(s, 3000, &info);
    enum err more = add_until_full(s, 1, &again);
    enum err finish = sorter_finish(s, &again);
    bool next = sorter_next(s, &out, &fail);
    sorter_free(&s);
    (void)umount(t->path);
    assert_int_equal(made, ERR_OK);
    assert_int_equal(full, ERR_NOSPACE);
    assert_string_equal(info.source, t->path);
    assert_int_equal(more, ERR_NOSPACE);
    assert_int_equal(finish, ERR_NOSPACE);
    assert_false(next);
    assert_int_equal(fail, ERR_NOSPACE);
}

static void test_file_size_limit__add__fails(void **state)
{
    struct tempdir *t = *state;
    struct sorter *s = NULL;
    struct errinfo info;
    struct rlimit old;
    assert_int_equal(sorter_new(t->path, 0, &s, &info), ERR_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit small = {UINT64_C(100) * 1024, old.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum err e = add_until_full(s, 1000, &info);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(e, ERR_LIMIT);
    sorter_free(&s);
}

static void test_folder_missing__small_data__needs_no_disk(void **state)
{
    struct tempdir *t = *state;
    struct sorter *s = NULL;
    struct errinfo info;
    assert_int_equal(sorter_new(tempdir_file(t, "none"), 0, &s, &info), ERR_OK);
    assert_int_equal(add_until_full(s, 10, &info), ERR_OK);
    assert_int_equal(add_until_full(s, 1000, &info), ERR_NOT_FOUND);
    sorter_free(&s);
}

static void test_runs__leave_no_name__in_the_folder(void **state)
{
    struct tempdir *t = *state;
    struct sorter *s = NULL;
    struct errinfo info;
    assert_int_equal(sorter_new(t->path, 0, &s, &info), ERR_OK);
    assert_int_equal(add_until_full(s, 1000, &info), ERR_OK);
    assert_int_equal(rmdir(t->path), 0); /* empty although runs are on disk */
    assert_int_equal(sorter_finish(s, &info), ERR_OK);
    struct sorter_record out;
    enum err fail = ERR_OK;
    size_t n = 0;
    while (sorter_next(s, &out, &fail)) {
        n++;
    }
    assert_int_equal(fail, ERR_OK);
    assert_int_equal(n, 1000);
    sorter_free(&s);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_sort__shapes_in_memory_and_in_runs__equal_qsort),
        TEST(test_sort__largest_records_and_tiny_memory__come_back),
        TEST(test_sort__few_records__come_back),
        TEST(test_add__around_the_data_limit__is_told),
        TEST(test_full_disk__add__says_so_and_nothing_partial_comes_out),
        TEST(test_file_size_limit__add__fails),
        TEST(test_folder_missing__small_data__needs_no_disk),
        TEST(test_runs__leave_no_name__in_the_folder),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
