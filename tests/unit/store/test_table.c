/*
 * test_table - commits are durable and atomic; damage and a full disk are reported.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/store/table.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

#define MOST (UINT64_C(64) << 20)

static struct table *open_table(struct tempdir *t, bool is_writing, uint64_t most)
{
    struct table *table = NULL;
    struct errinfo why = {.code = ERR_OK};
    enum err e = table_open(tempdir_file(t, "table"), is_writing, most, &table, &why);
    if (e != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
    return table;
}

static struct table_txn *begin(struct table *t, bool is_writing)
{
    struct table_txn *x = NULL;
    assert_int_equal(table_begin(t, is_writing, &x, NULL), ERR_OK);
    return x;
}

static void put(struct table *t, const char *key, const char *value)
{
    struct table_txn *x = begin(t, true);
    assert_int_equal(table_put(x, slice_str(key), slice_str(value)), ERR_OK);
    assert_int_equal(table_commit(&x, NULL), ERR_OK);
    assert_null(x);
}

static void assert_holds(struct table *t, const char *key, const char *value)
{
    struct slice got;
    struct table_txn *x = begin(t, false);
    enum err e = table_get(x, slice_str(key), &got);
    if (value) {
        assert_int_equal(e, ERR_OK);
        assert_true(slice_eq(got, slice_str(value)));
    } else {
        assert_int_equal(e, ERR_NOT_FOUND);
    }
    table_abort(&x);
}

static void test_table__when_opened_again__then_has_what_was_committed(void **state)
{
    struct table *t = open_table(*state, true, MOST);
    put(t, "a", "one");
    put(t, "b", "");
    put(t, "a", "two");
    struct table_txn *x = begin(t, true);
    assert_int_equal(table_put(x, SLICE_LIT("c"), SLICE_LIT("lost")), ERR_OK);
    assert_int_equal(table_remove(x, SLICE_LIT("a")), ERR_OK);
    table_abort(&x);
    table_abort(&x);
    table_close(&t);
    table_close(&t);
    t = open_table(*state, false, MOST);
    assert_holds(t, "a", "two");
    assert_holds(t, "b", "");
    assert_holds(t, "c", NULL);
    table_close(&t);
}

static void test_commit__when_a_change_failed__then_nothing_is_changed(void **state)
{
    static char big[TABLE_VALUE_MAX + 1];
    static char key[TABLE_KEY_MAX + 1];
    memset(key, 'k', sizeof(key));
    const struct {
        struct slice key;
        struct slice value;
        enum err e;
    } rows[] = {
        {SLICE_LIT("k"), slice_of(big, sizeof(big)), ERR_RANGE},
        {SLICE_LIT("k"), slice_of(big, sizeof(big) - 1), ERR_OK},
        {slice_of(key, sizeof(key)), SLICE_LIT("v"), ERR_RANGE},
        {slice_of(key, sizeof(key) - 1), SLICE_LIT("v"), ERR_OK},
        {SLICE_NONE, SLICE_LIT("v"), ERR_RANGE},
    };
    struct table *t = open_table(*state, true, MOST);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct slice got;
        struct table_txn *x = begin(t, true);
        assert_int_equal(table_put(x, SLICE_LIT("first"), SLICE_LIT("1")), ERR_OK);
        assert_int_equal(table_put(x, rows[i].key, rows[i].value), rows[i].e);
        assert_int_equal(table_commit(&x, NULL), rows[i].e);
        x = begin(t, true);
        enum err e = table_get(x, SLICE_LIT("first"), &got);
        assert_int_equal(e, rows[i].e == ERR_OK ? ERR_OK : ERR_NOT_FOUND);
        if (e == ERR_OK) {
            assert_int_equal(table_remove(x, SLICE_LIT("first")), ERR_OK);
            assert_int_equal(table_remove(x, SLICE_LIT("first")), ERR_NOT_FOUND);
        }
        assert_int_equal(table_commit(&x, NULL), ERR_OK);
    }
    table_close(&t);
}

static void test_begin__when_others_write__then_reads_one_state(void **state)
{
    struct table *t = open_table(*state, true, MOST);
    put(t, "a", "one");
    struct slice got;
    struct table_txn *reading = begin(t, false);
    put(t, "a", "two");
    assert_int_equal(table_get(reading, SLICE_LIT("a"), &got), ERR_OK);
    assert_true(slice_eq(got, SLICE_LIT("one")));
    assert_int_equal(table_put(reading, SLICE_LIT("a"), SLICE_LIT("x")), ERR_RANGE);
    table_abort(&reading);
    assert_holds(t, "a", "two");
    table_close(&t);
}

struct seen {
    char keys[64];
    unsigned most;
    unsigned damaged;
};

static bool note(void *context, struct slice key, struct slice value, bool is_damaged)
{
    struct seen *s = context;
    (void)value;
    assert_true(strlen(s->keys) + key.n + 2 < sizeof(s->keys));
    (void)snprintf(s->keys + strlen(s->keys), sizeof(s->keys) - strlen(s->keys),
                   "%.*s ", SLICE_ARGS(key));
    s->damaged += is_damaged;
    return --s->most > 0;
}

static void test_begin__when_a_reader_wants_to_write__then_refused(void **state)
{
    struct table *t = open_table(*state, true, MOST);
    put(t, "k", "v");
    table_close(&t);
    t = open_table(*state, false, MOST);
    struct table_txn *x = NULL;
    struct errinfo why;
    assert_int_not_equal(table_begin(t, true, &x, &why), ERR_OK);
    assert_null(x);
    assert_int_not_equal(why.text[0], '\0');
    assert_holds(t, "k", "v");
    table_close(&t);
}

static void test_each__when_given_a_prefix__then_those_in_order(void **state)
{
    static const struct {
        const char *prefix;
        unsigned most;
        const char *keys;
    } rows[] = {{"b", 9, "b b1 b2 "},
                {"", 9, "a b b1 b2 c "},
                {"b", 2, "b b1 "},
                {"bb", 9, ""},
                {"d", 9, ""}};
    static const char *const keys[] = {"c", "b2", "a", "b1", "b"};
    struct table *t = open_table(*state, true, MOST);
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        put(t, keys[i], "v");
    }
    struct table_txn *x = begin(t, false);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct seen s = {.most = rows[i].most};
        assert_int_equal(table_each(x, slice_str(rows[i].prefix), note, &s), ERR_OK);
        assert_string_equal(s.keys, rows[i].keys);
    }
    table_abort(&x);
    table_close(&t);
}

enum { COPIES_MAX = 8, SUM_BYTES = 8 };

/* Where the file has the value, old copies of its page too. */
static unsigned places_of(const char *path, const char *value, size_t ret[COPIES_MAX])
{
    struct buf file;
    unsigned n = 0;
    buf_init(&file, 1 << 24);
    assert_int_equal(file_read(path, &file, NULL), ERR_OK);
    for (size_t at = SUM_BYTES; at + strlen(value) <= file.n; at++) {
        if (memcmp(file.p + at, value, strlen(value)) == 0) {
            assert_true(n < COPIES_MAX);
            ret[n++] = at;
        }
    }
    buf_fini(&file);
    return n;
}

static void flip(int fd, size_t at)
{
    char byte = 0;
    assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
    byte = (char)(byte ^ 4);
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
}

static void test_get__when_a_bit_of_a_value_is_flipped__then_corrupt(void **state)
{
    static const char value[] = "bytes that must not be used once they have changed";
    struct tempdir *dir = *state;
    struct table *t = open_table(dir, true, MOST);
    put(t, "k", value);
    put(t, "other", "good");
    table_close(&t);
    size_t places[COPIES_MAX];
    char path[TEMPDIR_PATH];
    (void)snprintf(path, sizeof(path), "%s", tempdir_file(dir, "table/data.mdb"));
    unsigned n = places_of(path, value, places);
    assert_true(n > 0);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    for (size_t i = 0; i < SUM_BYTES + strlen(value); i++) {
        struct slice got;
        struct seen seen = {.most = 9};
        for (unsigned p = 0; p < n; p++) {
            flip(fd, places[p] - SUM_BYTES + i);
        }
        t = open_table(dir, false, MOST);
        struct table_txn *x = begin(t, false);
        assert_int_equal(table_get(x, SLICE_LIT("k"), &got), ERR_CORRUPT);
        assert_int_equal(table_each(x, SLICE_NONE, note, &seen), ERR_OK);
        assert_int_equal(seen.damaged, 1);
        table_abort(&x);
        assert_holds(t, "other", "good");
        table_close(&t);
        for (unsigned p = 0; p < n; p++) {
            flip(fd, places[p] - SUM_BYTES + i);
        }
    }
    (void)close(fd);
    t = open_table(dir, false, MOST);
    assert_holds(t, "k", value);
    table_close(&t);
}

/* The page that holds the value loses its kind, so it is no part of the tree. */
static void test_change__when_a_page_is_damaged__then_told_and_nothing_is_changed(
    void **state)
{
    enum { PAGE = 4096, FLAGS_AT = 10 };
    static const char value[] = "bytes on the damaged page";
    struct tempdir *dir = *state;
    struct table *t = open_table(dir, true, MOST);
    put(t, "k", value);
    table_close(&t);
    size_t places[COPIES_MAX];
    char path[TEMPDIR_PATH];
    (void)snprintf(path, sizeof(path), "%s", tempdir_file(dir, "table/data.mdb"));
    unsigned n = places_of(path, value, places);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(n > 0 && fd >= 0);
    for (unsigned p = 0; p < n; p++) {
        assert_int_equal(
            pwrite(fd, "\0\0", 2, (off_t)(places[p] / PAGE * PAGE + FLAGS_AT)), 2);
    }
    t = open_table(dir, true, MOST);
    struct table_txn *x = begin(t, true);
    assert_int_equal(table_remove(x, SLICE_LIT("k")), ERR_CORRUPT);
    assert_int_equal(table_remove(x, SLICE_LIT("k")), ERR_CORRUPT);
    assert_int_equal(table_put(x, SLICE_LIT("k"), SLICE_LIT("v")), ERR_CORRUPT);
    assert_int_equal(table_commit(&x, NULL), ERR_CORRUPT);
    x = begin(t, true);
    assert_int_equal(table_put(x, SLICE_LIT("k"), SLICE_LIT("v")), ERR_CORRUPT);
    assert_int_equal(table_commit(&x, NULL), ERR_CORRUPT);
    table_close(&t);
    (void)close(fd);
}

static void test_open__when_cut_short_or_no_file__then_told(void **state)
{
    struct tempdir *dir = *state;
    struct table *t = open_table(dir, true, MOST);
    struct errinfo why;
    struct stat st;
    for (unsigned i = 0; i < 100; i++) {
        char key[16];
        (void)snprintf(key, sizeof(key), "key %u", i);
        put(t, key, "some value");
    }
    table_close(&t);
    const char *file = tempdir_file(dir, "table/data.mdb");
    assert_int_equal(stat(file, &st), 0);
    for (off_t size = st.st_size - 1; size > 1; size /= 2) {
        assert_int_equal(truncate(file, size), 0);
        assert_int_not_equal(
            table_open(tempdir_file(dir, "table"), false, MOST, &t, &why), ERR_OK);
        assert_null(t);
        file = tempdir_file(dir, "table/data.mdb");
    }
    assert_int_equal(unlink(file), 0);
    assert_int_equal(symlink("/dev/null", file), 0);
    assert_int_equal(table_open(tempdir_file(dir, "table"), true, MOST, &t, &why),
                     ERR_CORRUPT);
    assert_int_equal(table_open(tempdir_file(dir, "none"), false, MOST, &t, &why),
                     ERR_NOT_FOUND);
}

/* Puts values until one is refused; returns how many are there. */
static unsigned fill(struct table *t, enum err *rete)
{
    static char value[4000];
    unsigned n = 0;
    *rete = ERR_OK;
    while (n < 100000) {
        char key[16];
        struct table_txn *x = begin(t, true);
        (void)snprintf(key, sizeof(key), "%06u", n);
        (void)table_put(x, slice_str(key), slice_of(value, sizeof(value)));
        *rete = table_commit(&x, NULL);
        if (*rete != ERR_OK) {
            break;
        }
        n++;
    }
    return n;
}

static void test_put__when_most_bytes_are_used__then_no_space_and_removing_works(
    void **state)
{
    const uint64_t most = UINT64_C(1) << 20;
    struct table *t = open_table(*state, true, most);
    struct stat st;
    enum err e = ERR_OK;
    unsigned first = fill(t, &e);
    assert_int_equal(e, ERR_NOSPACE);
    assert_in_range(first, 80, 256);
    for (unsigned round = 0; round < 50; round++) {
        for (unsigned i = 0; i < first; i++) {
            char key[16];
            struct table_txn *x = begin(t, true);
            (void)snprintf(key, sizeof(key), "%06u", i);
            assert_int_equal(table_remove(x, slice_str(key)), ERR_OK);
            assert_int_equal(table_commit(&x, NULL), ERR_OK);
        }
        assert_int_equal(fill(t, &e), first);
    }
    assert_int_equal(stat(tempdir_file(*state, "table/data.mdb"), &st), 0);
    assert_true((uint64_t)st.st_size <= most);
    table_close(&t);
}

static void test_commit__when_the_disk_is_full__then_told_and_nothing_changed(
    void **state)
{
    const struct rlimit small = {1 << 19, RLIM_INFINITY};
    struct rlimit before;
    struct table *t = open_table(*state, true, MOST);
    enum err e = ERR_OK;
    put(t, "kept", "value");
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    unsigned n = fill(t, &e);
    assert_int_not_equal(e, ERR_OK);
    assert_in_range(n, 20, 128);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, handler);
    assert_holds(t, "kept", "value");
    put(t, "kept", "newer");
    table_close(&t);
    t = open_table(*state, true, MOST);
    assert_holds(t, "kept", "newer");
    assert_holds(t, "000000 ", NULL);
    table_close(&t);
}

/* Counts two values up together until it is killed. */
static _Noreturn void count_up(struct tempdir *dir)
{
    struct table *t = open_table(dir, true, MOST);
    enum err e = ERR_OK;
    for (unsigned i = 0; e == ERR_OK; i++) {
        char v[16];
        struct table_txn *x = begin(t, true);
        (void)snprintf(v, sizeof(v), "%u", i);
        (void)table_put(x, SLICE_LIT("left"), slice_str(v));
        (void)table_put(x, SLICE_LIT("right"), slice_str(v));
        e = table_commit(&x, NULL);
    }
    _exit(1);
}

/* A child counts and is killed; the two are never apart. */
static void test_commit__when_killed__then_both_or_none(void **state)
{
    for (unsigned round = 0; round < 10; round++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            count_up(*state);
        }
        (void)usleep(3000 * (round + 1));
        int status = 0;
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        struct table *t = open_table(*state, true, MOST);
        struct table_txn *x = begin(t, false);
        struct slice left = SLICE_NONE;
        struct slice right = SLICE_NONE;
        enum err e = table_get(x, SLICE_LIT("left"), &left);
        assert_int_equal(table_get(x, SLICE_LIT("right"), &right), e);
        assert_true(slice_eq(left, right));
        table_abort(&x);
        table_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_table__when_opened_again__then_has_what_was_committed, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_commit__when_a_change_failed__then_nothing_is_changed, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_begin__when_others_write__then_reads_one_state, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_begin__when_a_reader_wants_to_write__then_refused, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_each__when_given_a_prefix__then_those_in_order, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_get__when_a_bit_of_a_value_is_flipped__then_corrupt, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_change__when_a_page_is_damaged__then_told_and_nothing_is_changed,
            tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_open__when_cut_short_or_no_file__then_told,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_put__when_most_bytes_are_used__then_no_space_and_removing_works,
            tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_commit__when_the_disk_is_full__then_told_and_nothing_changed,
            tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_commit__when_killed__then_both_or_none,
                                        tempdir_setup, tempdir_teardown),
    };
    (void)base_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
