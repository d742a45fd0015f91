/*
 * test_worth_tail - the thread counts what the journal has, follows it, and finds messages that are
 * reported later.
 */
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/case_id.h"
#include "core/base/clock.h"
#include "core/list/list.h"
#include "core/verdict/journal/journal.h"
#include "core/verdict/journal/journal_file.h"
#include "core/verdict/journal/worth_tail.h"

#include "tests/unit/journal/records.h"
#include "tests/unit/tempdir.h"

enum { DAY_S = 86400, STEP_US = 20000, STEPS = 1500, SECOND = 1000000 };
static const struct hashkey key = {.id = 5, .bytes = {1, 2, 3}};

static struct journal *open_journal(const struct tempdir *t)
{
    const struct journal_options options = {.state_dir = t->path,
                                            .key = &key,
                                            .keep_s = UINT64_C(30) * DAY_S,
                                            .size_max = 1 << 30};
    struct journal *j = NULL;
    struct errinfo why;

    assert_int_equal(journal_open(&options, &j, &why), ERR_OK);
    return j;
}

/* n messages of this age; their ids go to ids. */
static void add(struct journal *j, size_t n, uint64_t age_s, uint64_t *ids)
{
    static struct example e;

    for (size_t i = 0; i < n; i++) {
        example_fill(&e, i);
        e.record.hit[0].answer = LIST_CONFIRMED;
        e.record.time_us = clock_wall_us() - age_s * SECOND;
        e.record.case_id = case_id_next(e.record.time_us / SECOND);
        if (ids != NULL) {
            ids[i] = e.record.case_id;
        }
        assert_true(journal_add(j, &e.record));
    }
}

static struct worth_tail *follow(const struct tempdir *t)
{
    struct worth_tail *tail = NULL;
    struct errinfo why;

    assert_int_equal(worth_tail_new(t->path, &tail, &why), ERR_OK);
    return tail;
}

static struct worth_numbers numbers(struct worth_tail *tail, bool *retwhole)
{
    const struct worth *w = worth_tail_acquire(tail, retwhole);
    struct worth_numbers n;

    worth_of_list(w, SLICE_LIT("phish"), SLICE_NONE,
                  clock_wall_us() / SECOND / WORTH_DAY_S, &n);
    worth_tail_release(tail);
    return n;
}

/* Waits for these numbers of the list. */
static void await(struct worth_tail *tail, uint64_t hits, uint64_t spam, uint64_t ham)
{
    bool is_whole = false;
    struct worth_numbers n = numbers(tail, &is_whole);

    for (unsigned i = 0;
         i < STEPS && (!is_whole || n.hits != hits || n.spam != spam || n.ham != ham);
         i++) {
        usleep(STEP_US);
        n = numbers(tail, &is_whole);
    }
    assert_true(is_whole);
    assert_int_equal(n.hits, hits);
    assert_int_equal(n.spam, spam);
    assert_int_equal(n.ham, ham);
}

static void report(const struct tempdir *t, uint64_t case_id, bool is_spam,
                   enum report_entry entry)
{
    static uint64_t id;
    struct report_log *l = NULL;
    struct report r = {.entry = (uint8_t)entry,
                       .is_spam = is_spam,
                       .id = entry == REPORT_UNDONE ? case_id : ++id,
                       .time_s = clock_wall_us() / SECOND,
                       .case_id = entry == REPORT_UNDONE ? 0 : case_id,
                       .reporter = SLICE_LIT("joe"),
                       .way = SLICE_LIT("api")};
    struct errinfo why;

    assert_int_equal(report_log_open(t->path, &l, &why), ERR_OK);
    assert_int_equal(report_log_add(l, &r, 1, &why), ERR_OK);
    report_log_close(&l);
}

static void test_tail__counts_the_last_days_and_what_comes(void **state)
{
    const struct tempdir *t = *state;
    struct worth_tail *tail = follow(t);

    await(tail, 0, 0, 0); /* there is no journal yet */
    struct journal *j = open_journal(t);
    add(j, 20, (uint64_t)WORTH_DAYS * DAY_S, NULL); /* too old */
    add(j, 30, DAY_S, NULL);
    await(tail, 30, 0, 0);
    add(j, 5, 0, NULL);
    await(tail, 35, 0, 0);
    worth_tail_free(&tail);
    tail = follow(t); /* from the files alone */
    await(tail, 35, 0, 0);
    journal_close(&j);
    worth_tail_free(&tail);
}

static void test_reports__count_when_they_come_before_and_after_the_tail(void **state)
{
    const struct tempdir *t = *state;
    struct journal *j = open_journal(t);
    uint64_t ids[10];

    add(j, 10, 0, ids);
    report(t, ids[0], true, REPORT_GIVEN);
    struct worth_tail *tail = follow(t);
    await(tail, 10, 1, 0);
    report(t, ids[1], false, REPORT_GIVEN);                   /* counted long ago */
    report(t, case_id_next(1700000000), false, REPORT_GIVEN); /* not in the journal */
    await(tail, 10, 1, 1);
    report(t, ids[0], false, REPORT_GIVEN); /* another opinion */
    await(tail, 10, 0, 2);
    journal_close(&j);
    worth_tail_free(&tail);
}

static void test_tail__when_the_journal_is_removed__then_it_begins_again(void **state)
{
    const struct tempdir *t = *state;
    struct journal *j = open_journal(t);
    struct journal_files files;
    struct errinfo why;
    char dir[FILE_PATH_MAX];

    add(j, 10, 0, NULL);
    struct worth_tail *tail = follow(t);
    await(tail, 10, 0, 0);
    journal_close(&j);
    (void)snprintf(dir, sizeof(dir), "%s/" STATE_JOURNAL_DIR, t->path);
    assert_int_equal(journal_files_list(dir, &files, &why), ERR_OK);
    for (size_t i = 0; i < files.n; i++) {
        char name[JOURNAL_FILE_NAME];
        char path[FILE_PATH_MAX + JOURNAL_FILE_NAME];
        journal_file_print(&files.v[i], name);
        (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
        assert_int_equal(unlink(path), 0);
    }
    journal_files_fini(&files);
    await(tail, 0, 0, 0);
    j = open_journal(t);
    add(j, 3, 0, NULL);
    await(tail, 3, 0, 0);
    journal_close(&j);
    worth_tail_free(&tail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_tail__counts_the_last_days_and_what_comes,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_reports__count_when_they_come_before_and_after_the_tail, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_tail__when_the_journal_is_removed__then_it_begins_again, tempdir_setup,
            tempdir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
