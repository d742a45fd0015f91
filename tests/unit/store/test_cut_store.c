/*
 * test_cut_store - LMDB files that are cut while they are open: no end, and no answer from lost pages.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/store/index.h"
#include "core/store/table.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { RECORDS = 20000, PLACES = 24, KEYS = 400, VALUE = 900 };
#define MOST (UINT64_C(64) << 20)

static struct digest digest_of(uint64_t i)
{
    struct digest d = {{0}};
    for (unsigned k = 0; k < 8; k++) {
        d.b[k] = (uint8_t)(i >> (56 - 8 * k));
    }
    return d;
}

static struct index *open_index(struct tempdir *t)
{
    const char *path = tempdir_file(t, "index");
    struct index_builder *b = NULL;
    struct index *ix = NULL;
    assert_int_equal(index_builder_new(path, RECORDS, &b, NULL), ERR_OK);
    for (uint64_t i = 0; i < RECORDS; i++) {
        struct digest d = digest_of(2 * i);
        struct index_record r = {.status = 1, .segment = (uint32_t)i};
        assert_int_equal(index_builder_add(b, &d, &r, NULL), ERR_OK);
    }
    assert_int_equal(index_builder_commit(&b, NULL), ERR_OK);
    assert_int_equal(index_open(path, &ix, NULL), ERR_OK);
    return ix;
}

/* The i-th of PLACES sizes to cut to; every other one lies within a page. */
static off_t place_of(const char *path, unsigned i)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    off_t at = st.st_size / PLACES * (off_t)i;
    return i % 2 == 0 ? at / 4096 * 4096 : at;
}

static void assert_get(const struct index *ix, uint64_t i)
{
    struct index_record r;
    struct digest d = digest_of(2 * i);
    struct digest none = digest_of(2 * i + 1);
    enum err e = index_get(ix, &d, &r);
    assert_true(e == ERR_CORRUPT || (e == ERR_OK && r.segment == i));
    assert_int_equal(index_get(ix, &none, &r), ERR_CORRUPT); /* never "not listed" */
}

static void test_index__cut_at_any_place__says_only_what_is_sure(void **state)
{
    struct tempdir *t = *state;
    for (unsigned place = 0; place < PLACES; place++) {
        struct index *ix = open_index(t);
        assert_false(index_is_damaged(ix));
        assert_int_equal(truncate(t->file, place_of(t->file, place)), 0);
        for (uint64_t i = 0; i < RECORDS; i += 997) {
            assert_get(ix, i);
        }
        assert_true(index_is_damaged(ix));
        index_close(&ix);
    }
}

static void test_walk__cut_in_the_middle__ends_with_damage(void **state)
{
    struct tempdir *t = *state;
    for (unsigned place = 0; place < PLACES; place++) {
        struct index *ix = open_index(t);
        struct index_walk *w = NULL;
        struct index_record r;
        struct digest d;
        enum err e = ERR_OK;
        unsigned n = 0;
        assert_int_equal(index_walk_new(ix, &w), ERR_OK);
        while (n < 50 + place * 37 && index_walk_next(w, &d, &r, &e)) {
            n++;
        }
        assert_int_equal(truncate(t->file, place_of(t->file, place)), 0);
        while (index_walk_next(w, &d, &r, &e)) {
            n++;
        }
        assert_int_equal(e, ERR_CORRUPT);
        assert_true(n < RECORDS);
        d = digest_of(RECORDS);
        assert_int_equal(index_walk_find(w, &d, &r), ERR_CORRUPT);
        index_walk_free(&w);
        index_close(&ix);
    }
}

/* Files in memory: a commit syncs. */
static int setup(void **state)
{
    struct tempdir *t = calloc(1, sizeof(*t));
    assert_non_null(t);
    assert_true(tempdir_make_fast(t->path));
    *state = t;
    return 0;
}

static struct table *open_table(struct tempdir *t, bool is_writing)
{
    struct table *table = NULL;
    assert_int_equal(
        table_open(tempdir_file(t, "table"), is_writing, MOST, &table, NULL), ERR_OK);
    return table;
}

static void fill_table(struct table *table)
{
    struct table_txn *x = NULL;
    char value[VALUE];
    char key[16];
    memset(value, 'v', sizeof(value));
    assert_int_equal(table_begin(table, true, &x, NULL), ERR_OK);
    for (unsigned i = 0; i < KEYS; i++) {
        (void)snprintf(key, sizeof(key), "%u", i);
        assert_int_equal(table_put(x, slice_str(key), slice_of(value, sizeof(value))),
                         ERR_OK);
    }
    assert_int_equal(table_commit(&x, NULL), ERR_OK);
}

static bool count_entry(void *context, struct slice key, struct slice value,
                        bool is_damaged)
{
    (void)key;
    (void)value;
    *(unsigned *)context += !is_damaged;
    return true;
}

static void test_table__cut_under_a_reader__each_use_is_corrupt(void **state)
{
    struct tempdir *t = *state;
    struct table *table = open_table(t, true);
    fill_table(table);
    for (unsigned place = 0; place < PLACES; place += 5) {
        struct table *reader = NULL;
        struct table_txn *x = NULL;
        struct slice value = SLICE_NONE;
        char path[TEMPDIR_PATH + 16];
        unsigned n = 0;
        table_close(&table);
        (void)snprintf(path, sizeof(path), "%s/data.mdb", tempdir_file(t, "table"));
        (void)unlink(path);
        table = open_table(t, true);
        fill_table(table);
        reader = open_table(t, false);
        assert_int_equal(table_begin(reader, false, &x, NULL), ERR_OK);
        assert_int_equal(table_get(x, SLICE_LIT("399"), &value), ERR_OK);
        assert_int_equal(truncate(path, place_of(path, place)), 0);
        for (size_t i = 0; i < value.n; i++) { /* a value that was given out */
            assert_true(value.p[i] == 'v' || value.p[i] == 0);
        }
        enum err e = table_get(x, SLICE_LIT("7"), &value);
        assert_true(e == ERR_CORRUPT || (e == ERR_OK && value.n == VALUE));
        assert_int_equal(table_get(x, SLICE_LIT("none"), &value), ERR_CORRUPT);
        assert_int_equal(table_each(x, SLICE_NONE, count_entry, &n), ERR_CORRUPT);
        table_abort(&x);
        assert_int_equal(table_begin(reader, false, &x, NULL), ERR_CORRUPT);
        assert_true(table_is_damaged(reader));
        table_close(&reader);
    }
    table_close(&table);
}

static void cut_under_a_writer(struct tempdir *t, const char *name, off_t size)
{
    char path[TEMPDIR_PATH + 16];
    struct table *table = open_table(t, true);
    struct table_txn *x = NULL;
    fill_table(table);
    assert_int_equal(table_begin(table, true, &x, NULL), ERR_OK);
    (void)table_put(x, SLICE_LIT("new"), SLICE_LIT("value"));
    (void)snprintf(path, sizeof(path), "%s/%s", t->file, name);
    assert_int_equal(truncate(path, size), 0);
    (void)table_put(x, SLICE_LIT("other"), SLICE_LIT("value"));
    assert_int_equal(table_commit(&x, NULL), ERR_CORRUPT); /* it is not durable */
    assert_int_equal(table_begin(table, true, &x, NULL), ERR_CORRUPT);
    table_close(&table);
    (void)unlink(path);
}

static void test_table__files_cut_under_a_writer__nothing_counts_as_committed(
    void **state)
{
    cut_under_a_writer(*state, "data.mdb", 0);
    cut_under_a_writer(*state, "data.mdb", 100000);
    cut_under_a_writer(*state, "lock.mdb", 0);
    cut_under_a_writer(*state, "lock.mdb", 2048);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_index__cut_at_any_place__says_only_what_is_sure, setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_walk__cut_in_the_middle__ends_with_damage,
                                        setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_table__cut_under_a_reader__each_use_is_corrupt, setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_table__files_cut_under_a_writer__nothing_counts_as_committed, setup,
            tempdir_teardown),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
