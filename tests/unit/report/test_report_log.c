/* The log of reports: every acknowledged report is read again, also behind damage and torn ends. */
#include <fcntl.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/base/prng.h"
#include "core/config/config_internal.h"
#include "core/report/report_cases.h"
#include "core/report/report_log.h"
#include "core/report/reports.h"

#include "tests/unit/tempdir.h"

enum { MANY = 300 };

static struct report one(uint64_t id)
{
    static char vector[200];
    struct report r = {.entry = REPORT_GIVEN,
                       .is_spam = id % 3 == 0,
                       .id = id,
                       .time_s = 1000 + id,
                       .case_id = id % 10 + 1,
                       .message = id * 7,
                       .reporter = SLICE_LIT("anna@here.example"),
                       .way = SLICE_LIT("command"),
                       .vector = slice_of(vector, id % sizeof(vector)),
                       .nitems = id % 5};

    for (size_t i = 0; i < r.nitems; i++) {
        r.items[i] = (struct report_item){id * 100 + i, (uint16_t)i, 1};
    }
    return r;
}

struct seen {
    uint64_t n;
    uint64_t last; /* number */
    uint64_t sum;  /* of ids */
    bool is_wrong;
};

static bool see(void *context, const struct report *r)
{
    struct seen *s = context;
    const struct report wanted = one(r->id);

    s->is_wrong = s->is_wrong || r->number <= s->last || r->nitems != wanted.nitems ||
                  r->is_spam != wanted.is_spam ||
                  !slice_eq(r->reporter, wanted.reporter) ||
                  r->vector.n != wanted.vector.n ||
                  memcmp(r->items, wanted.items, r->nitems * sizeof(r->items[0])) != 0;
    s->last = r->number;
    s->sum += r->id;
    s->n++;
    return true;
}

static struct seen read_all(const char *dir, struct report_log_numbers *ret)
{
    struct seen s = {.n = 0};
    struct errinfo why;

    assert_int_equal(report_log_each(dir, see, &s, ret, &why), ERR_OK);
    assert_false(s.is_wrong);
    return s;
}

static void add(const char *dir, uint64_t from, uint64_t to)
{
    struct report_log *l = NULL;
    struct errinfo why;

    assert_int_equal(report_log_open(dir, &l, &why), ERR_OK);
    for (uint64_t id = from; id < to; id++) {
        struct report r = one(id);
        assert_int_equal(report_log_add(l, &r, 1, &why), ERR_OK);
    }
    report_log_close(&l);
}

static void test_add__opened_again_and_again__all_are_read_in_order(void **state)
{
    const struct tempdir *t = *state;
    struct report_log_numbers numbers;

    for (uint64_t id = 1; id <= MANY; id += 50) {
        add(t->path, id, id + 50);
    }
    struct seen s = read_all(t->path, &numbers);
    assert_int_equal(s.n, MANY);
    assert_int_equal(s.sum, MANY * (MANY + 1) / 2);
    assert_int_equal(numbers.next, MANY + 1);
    assert_int_equal(numbers.damaged, 0);
}

static bool count_entry(void *context, const struct report *r)
{
    (void)r;
    (*(uint64_t *)context)++;
    return true;
}

/* The entries behind the place. */
static uint64_t follow(const char *dir, struct report_log_place *p)
{
    uint64_t n = 0;
    struct errinfo why;
    assert_int_equal(report_log_follow(dir, p, count_entry, &n, &why), ERR_OK);
    return n;
}

static void test_follow__while_it_grows__each_entry_once(void **state)
{
    const struct tempdir *t = *state;
    struct report_log_place p = {.file = 0};
    struct report_log *l = NULL;
    struct errinfo why;

    assert_int_equal(follow(t->path, &p), 0); /* no log yet */
    add(t->path, 1, 51);
    assert_int_equal(follow(t->path, &p), 50);
    assert_int_equal(follow(t->path, &p), 0);
    add(t->path, 51, 52);
    assert_int_equal(follow(t->path, &p), 1);
    assert_int_equal(report_log_open(t->path, &l, &why), ERR_OK);
    report_log_skip(l, 1000); /* the next entry begins a file */
    for (uint64_t id = 1; id <= 3; id++) {
        struct report r = one(id);
        assert_int_equal(report_log_add(l, &r, 1, &why), ERR_OK);
        assert_int_equal(follow(t->path, &p), 1);
    }
    report_log_close(&l);
}

static void test_follow__a_torn_end__is_read_when_it_is_whole(void **state)
{
    struct tempdir *t = *state;
    struct report_log_place p = {.file = 0};
    struct stat before;
    struct stat after;
    char whole[4096];

    add(t->path, 1, 3);
    assert_int_equal(follow(t->path, &p), 2);
    const char *path = tempdir_file(t, "reports/log.1");
    assert_int_equal(stat(path, &before), 0);
    add(t->path, 3, 4);
    assert_int_equal(stat(path, &after), 0);
    size_t n = (size_t)(after.st_size - before.st_size);
    int fd = open(path, O_RDWR);
    assert_true(n < sizeof(whole) && pread(fd, whole, n, before.st_size) == (ssize_t)n);
    for (size_t cut = 0; cut < n; cut++) { /* the writer is amid its write */
        assert_int_equal(ftruncate(fd, before.st_size + (off_t)cut), 0);
        assert_int_equal(follow(t->path, &p), 0);
        assert_int_equal(pwrite(fd, whole, n, before.st_size), n);
    }
    assert_int_equal(follow(t->path, &p), 1);
    close(fd);
}

static void test_follow__what_was_read_is_gone__begins_again(void **state)
{
    struct tempdir *t = *state;
    struct report_log_place p = {.file = 0};
    struct errinfo why;
    uint64_t n = 0;

    add(t->path, 1, 5);
    assert_int_equal(follow(t->path, &p), 4);
    assert_int_equal(
        report_log_forget(t->path, SLICE_LIT("anna@here.example"), &n, &why), ERR_OK);
    assert_int_equal(report_log_follow(t->path, &p, count_entry, &n, &why), ERR_RANGE);
    assert_int_equal(follow(t->path, &p), 4); /* from the beginning */
    assert_int_equal(truncate(tempdir_file(t, "reports/log.1"), 0), 0);
    assert_int_equal(report_log_follow(t->path, &p, count_entry, &n, &why), ERR_RANGE);
    add(t->path, 1, 3);
    assert_int_equal(follow(t->path, &p), 2);
    assert_int_equal(unlink(tempdir_file(t, "reports/log.1")), 0);
    assert_int_equal(report_log_follow(t->path, &p, count_entry, &n, &why), ERR_RANGE);
    assert_int_equal(follow(t->path, &p), 0);
}

/* Two processes that only read: one reads all each time, the other follows. */
static void test_follower__asked_often__reads_each_entry_once_and_knows_the_same(
    void **state)
{
    const struct tempdir *t = *state;
    struct keyring keys;
    struct reports_follower *f = reports_follower_new();
    struct errinfo why;
    struct votes *followed = NULL;
    struct votes *all = NULL;

    struct config *config = config_new();
    const struct reports_options options = {
        .state_dir = t->path, .keys = &keys, .config = config};

    assert_int_equal(keyring_load_or_create(t->path, &keys, &why), ERR_OK);
    for (uint64_t id = 1; id <= 100; id += 10) {
        struct votes_report a;
        struct votes_report b;
        add(t->path, id, id + 10);
        assert_int_equal(reports_follower_votes(f, &options, &followed, &why), ERR_OK);
        assert_int_equal(reports_view(&options, &all, &why), ERR_OK);
        for (uint64_t k = 1; k < 120; k++) {
            bool is_there = votes_find(all, k, &a);
            assert_int_equal(votes_find(followed, k, &b), is_there);
            assert_true(!is_there || (a.number == b.number && a.is_spam == b.is_spam &&
                                      a.is_counted == b.is_counted));
        }
        reports_follower_release(f);
        votes_free(&all);
        assert_int_equal(reports_follower_entries(f), id + 9);
    }
    keys.ring[0].bytes[0] ^= 1; /* another key: reporters have other names */
    assert_int_equal(reports_follower_votes(f, &options, &followed, &why), ERR_OK);
    reports_follower_release(f);
    assert_int_equal(reports_follower_entries(f), 200);
    reports_follower_free(&f);
    config_release(&config);
}

static void test_open__while_another_has_it__is_locked(void **state)
{
    const struct tempdir *t = *state;
    struct report_log *a = NULL;
    struct report_log *b = NULL;
    struct errinfo why;

    assert_int_equal(report_log_open(t->path, &a, &why), ERR_OK);
    assert_int_equal(report_log_open(t->path, &b, &why), ERR_LOCKED);
    assert_null(b);
    report_log_close(&a);
    assert_int_equal(report_log_open(t->path, &b, &why), ERR_OK);
    report_log_close(&b);
}

/* The bytes of the only file. */
static size_t load(const char *path, char **ret)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    assert_int_equal(file_read(path, &b, NULL), ERR_OK);
    *ret = b.p;
    return b.n;
}

/* A kill cuts the file anywhere: entries before the cut stay, later ones follow in another file. */
static void test_add__after_a_cut_at_every_place__loses_the_cut_entry_alone(
    void **state)
{
    const struct tempdir *t = *state;
    char path[TEMPDIR_PATH];
    char again[TEMPDIR_PATH];
    char *bytes = NULL;

    add(t->path, 1, 4);
    (void)snprintf(path, sizeof(path), "%s/reports/log.1", t->path);
    size_t n = load(path, &bytes);
    for (size_t cut = 0; cut <= n; cut++) {
        struct report_log_numbers numbers;
        assert_int_equal(file_write_atomic(path, slice_of(bytes, cut), 0600, NULL),
                         ERR_OK);
        struct seen before = read_all(t->path, &numbers);
        uint64_t next = numbers.next;
        add(t->path, 10, 12);
        struct seen after = read_all(t->path, &numbers);
        assert_int_equal(after.n, before.n + 2);
        assert_int_equal(after.sum, before.sum + 21);
        for (uint64_t i = next; i <= next + 2;
             i++) { /* the file that was begun, if any */
            (void)snprintf(again, sizeof(again), "%s/reports/log.%" PRIu64, t->path, i);
            if (i > 1) {
                (void)unlink(again);
            }
        }
    }
    free(bytes);
}

static void test_each__a_byte_is_damaged__costs_one_entry(void **state)
{
    const struct tempdir *t = *state;
    char path[TEMPDIR_PATH];
    char *bytes = NULL;
    struct prng r;

    prng_init(&r, 3, 0);
    add(t->path, 1, 21);
    (void)snprintf(path, sizeof(path), "%s/reports/log.1", t->path);
    size_t n = load(path, &bytes);
    for (unsigned i = 0; i < 200; i++) {
        struct report_log_numbers numbers;
        size_t at = (size_t)prng_below(&r, n);
        bytes[at] ^= 0x10;
        assert_int_equal(file_write_atomic(path, slice_of(bytes, n), 0600, NULL),
                         ERR_OK);
        bytes[at] ^= 0x10;
        assert_int_equal(read_all(t->path, &numbers).n, 19);
        assert_int_equal(numbers.damaged, 1);
    }
    free(bytes);
}

/* Cut where an entry ends, a file looks whole: only the numbers tell that entries are gone. */
static void test_each__whole_entries_are_gone__is_told(void **state)
{
    const struct tempdir *t = *state;
    struct report_log_numbers numbers;
    struct report_log *l = NULL;
    char path[TEMPDIR_PATH];
    char *bytes = NULL;

    add(t->path, 1, 2);
    (void)snprintf(path, sizeof(path), "%s/reports/log.1", t->path);
    size_t one_entry = load(path, &bytes);
    add(t->path, 2, 5);
    assert_int_equal(truncate(path, (off_t)one_entry), 0);
    free(bytes);
    assert_int_equal(read_all(t->path, &numbers).n, 1);
    assert_int_equal(numbers.damaged, 0); /* nobody can know it yet */
    assert_int_equal(report_log_open(t->path, &l, NULL), ERR_OK);
    report_log_skip(l, 4);
    struct report next = one(5);
    assert_int_equal(report_log_add(l, &next, 1, NULL), ERR_OK);
    report_log_close(&l);
    assert_int_equal(read_all(t->path, &numbers).n, 2);
    assert_int_equal(numbers.damaged, 1);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(read_all(t->path, &numbers).n, 1);
    assert_int_equal(numbers.damaged, 1);
}

static void test_trim__old_files__go_and_the_newest_stays(void **state)
{
    const struct tempdir *t = *state;
    struct report_log *l = NULL;
    struct errinfo why;
    char path[TEMPDIR_PATH];
    char *bytes = NULL;

    add(t->path, 1, 3);
    (void)snprintf(path, sizeof(path), "%s/reports/log.1", t->path);
    size_t n = load(path, &bytes);
    assert_int_equal(file_write_atomic(path, slice_of(bytes, n - 1), 0600, NULL),
                     ERR_OK);
    free(bytes);
    add(t->path, 3, 5); /* another file, as the first is torn */
    assert_int_equal(report_log_open(t->path, &l, &why), ERR_OK);
    uint64_t far_s = UINT64_C(1) << 40;
    assert_int_equal(report_log_trim(l, far_s, far_s), 1);
    assert_int_equal(report_log_trim(l, far_s, 1), 3);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(read_all(t->path, NULL).n, 2);
    report_log_close(&l);
    add(t->path, 5, 6);
    assert_int_equal(read_all(t->path, NULL).last, 5);
}

static void test_forget__a_person__then_the_name_is_gone_and_the_entries_stay(
    void **state)
{
    const struct tempdir *t = *state;
    struct report_log *l = NULL;
    struct errinfo why;
    char path[TEMPDIR_PATH];
    char *bytes = NULL;
    uint64_t n = 0;
    struct report r[] = {one(3), one(4), one(5)};
    struct report_log_numbers numbers;

    r[1].reporter = SLICE_LIT("vmail/Anna@here.example");
    r[2].reporter = SLICE_LIT("joanna@here.example");
    assert_int_equal(report_log_open(t->path, &l, &why), ERR_OK);
    assert_int_equal(report_log_add(l, r, LENGTH(r), &why), ERR_OK);
    assert_int_equal(
        report_log_forget(t->path, SLICE_LIT("anna@here.example"), &n, &why), ERR_OK);
    assert_int_equal(n, 2);
    assert_int_equal(report_log_add(l, r, 1, &why), ERR_OK); /* after it */
    report_log_close(&l);
    assert_int_equal(report_log_each(t->path, NULL, NULL, &numbers, &why), ERR_OK);
    assert_int_equal(numbers.entries, 4);
    assert_int_equal(numbers.damaged, 0);
    (void)snprintf(path, sizeof(path), "%s/reports/log.1", t->path);
    size_t size = load(path, &bytes);
    assert_null(memmem(bytes, size, "Anna", 4));
    assert_non_null(memmem(bytes, size, "joanna", 6));
    free(bytes);
}

/* Random bytes are refused, or read within the bounds. */
static void test_parse__random_bytes__are_refused_or_bounded(void **state)
{
    struct report *r = calloc(1, sizeof(*r));
    struct report wanted = one(4);
    struct buf b;
    struct prng random;

    (void)state;
    prng_init(&random, 9, 0);
    buf_init(&b, 1 << 20);
    report_print(&wanted, &b);
    for (unsigned i = 0; i < 20000; i++) {
        size_t at = (size_t)prng_below(&random, b.n);
        char old = b.p[at];
        b.p[at] = (char)prng_below(&random, 256);
        if (report_parse(
                slice_head(buf_slice(&b), (size_t)prng_below(&random, b.n + 1)), r)) {
            assert_true(r->nitems <= REPORT_ITEMS_MAX);
            assert_true(r->reporter.n <= REPORT_NAME_MAX);
        }
        b.p[at] = old;
    }
    for (size_t n = 0; n < b.n; n++) {
        assert_false(report_parse(slice_head(buf_slice(&b), n), r));
    }
    buf_fini(&b);
    free(r);
}

static void test_cases__the_last_report_that_holds__counts(void **state)
{
    const struct tempdir *t = *state;
    struct report_log *l = NULL;
    struct report_cases cases;
    struct errinfo why;
    struct report given[] = {one(3), one(4), one(13), one(14)};
    struct report undone = {.entry = REPORT_UNDONE, .id = 14};

    given[0].case_id = given[1].case_id = 77; /* spam, then ham */
    given[2].case_id = given[3].case_id = 99; /* ham twice, one undone */
    given[2].is_spam = true;
    assert_int_equal(report_log_open(t->path, &l, &why), ERR_OK);
    assert_int_equal(report_log_add(l, given, LENGTH(given), &why), ERR_OK);
    assert_int_equal(report_log_add(l, &undone, 1, &why), ERR_OK);
    report_log_close(&l);
    assert_int_equal(report_cases_read(t->path, &cases, &why), ERR_OK);
    assert_int_equal(cases.n, 2);
    assert_int_equal(report_of_case(&cases, 77), REPORT_HAM);
    assert_int_equal(report_of_case(&cases, 99), REPORT_SPAM);
    assert_int_equal(report_of_case(&cases, 1), REPORT_NONE);
    report_cases_fini(&cases);
}

#define FOLDER_TEST(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    base_init();
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_add__opened_again_and_again__all_are_read_in_order),
        FOLDER_TEST(test_follow__while_it_grows__each_entry_once),
        FOLDER_TEST(test_follow__a_torn_end__is_read_when_it_is_whole),
        FOLDER_TEST(test_follow__what_was_read_is_gone__begins_again),
        FOLDER_TEST(
            test_follower__asked_often__reads_each_entry_once_and_knows_the_same),
        FOLDER_TEST(test_open__while_another_has_it__is_locked),
        FOLDER_TEST(test_add__after_a_cut_at_every_place__loses_the_cut_entry_alone),
        FOLDER_TEST(test_each__a_byte_is_damaged__costs_one_entry),
        FOLDER_TEST(test_each__whole_entries_are_gone__is_told),
        FOLDER_TEST(test_trim__old_files__go_and_the_newest_stays),
        cmocka_unit_test(test_parse__random_bytes__are_refused_or_bounded),
        FOLDER_TEST(test_forget__a_person__then_the_name_is_gone_and_the_entries_stay),
        FOLDER_TEST(test_cases__the_last_report_that_holds__counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
