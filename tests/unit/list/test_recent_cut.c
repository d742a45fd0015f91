/*
 * test_recent_cut - a table of recent entries that is cut while it is read, or written.
 */
#include "core/list/memtable.h"
#include "core/list/reader.h"

#include "tests/unit/list/list_fixture.h"

enum { OLD = 100, ALL = 160, REVOKED = 9, NOW = 1000 };

/* Sizes to cut to: all gone, in the header, among the slots. */
static const off_t cuts[] = {0, 4096, 4096 * 50};
static const char recent_file[] = "memtable.00000002";

/* Entries of an import, then single ones. */
static void make_list(struct fixture *f)
{
    struct list_writer *w = open_writer(f);
    import_range(f, w, 0, OLD, 0);
    for (uint64_t n = OLD; n < ALL; n++) {
        add_number(f, w, n);
    }
    revoke_number(f, w, REVOKED);
    assert_int_equal(w->current.generation, 2);
    list_writer_close(&w);
}

static void check_answers(const struct list_reader *r, bool may_be_possible)
{
    for (uint64_t n = 0; n < ALL; n++) {
        enum list_answer a = ask_number(r, n, NOW);
        if (!may_be_possible || a != LIST_POSSIBLE) {
            assert_int_equal(a, n == REVOKED ? LIST_REVOKED : LIST_CONFIRMED);
        }
    }
}

static void check_opened_again(struct fixture *f)
{
    struct list_reader *r = open_reader(f);
    assert_false(list_reader_is_damaged(r));
    check_answers(r, false);
    list_reader_close(&r);
}

static void test_reader__cut__denies_and_forgets_nothing(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < LENGTH(cuts); i++) {
        make_list(f);
        struct list_reader *r = open_reader(f);
        cut_file(f, recent_file, cuts[i]);
        check_answers(r, true);
        assert_true(list_reader_is_damaged(r));
        list_reader_close(&r);
        check_opened_again(f);
    }
}

/* Slots of lost pages look empty to a writer: a merge would leave their entries out. */
static void test_writer__cut__merges_nothing(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < LENGTH(cuts); i++) {
        struct memtable_entry *entries = NULL;
        size_t n = 0;
        make_list(f);
        struct list_writer *w = open_writer(f);
        cut_file(f, recent_file, cuts[i]);
        assert_int_equal(memtable_sorted(&w->recent, &entries, &n, &f->info),
                         ERR_CORRUPT);
        list_writer_close(&w);
        w = open_writer(f);
        MUST(f, memtable_sorted(&w->recent, &entries, &n, &f->info));
        assert_int_equal(n, ALL - OLD + 1);
        free(entries);
        list_writer_close(&w);
        check_opened_again(f);
    }
}

#define LIST_TEST(name) \
    cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIST_TEST(test_reader__cut__denies_and_forgets_nothing),
        LIST_TEST(test_writer__cut__merges_nothing),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
