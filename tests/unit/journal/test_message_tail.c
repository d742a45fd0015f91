/*
 * test_message_tail - the journal's newest messages are found in memory, those that are added
 * follow, and those that were removed or forgotten are gone.
 */
#include <fcntl.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/verdict/journal/journal.h"
#include "core/verdict/journal/journal_file.h"
#include "core/verdict/journal/journal_forget.h"
#include "core/verdict/journal/message_tail.h"

#include "tests/unit/journal/records.h"
#include "tests/unit/tempdir.h"

enum { DAY = 86400, STEP_US = 20000, STEPS = 1500 };
static const struct hashkey key = {.id = 5, .bytes = {1, 2, 3}};

static struct journal *open_journal_for(const struct tempdir *t, uint64_t keep_s)
{
    const struct journal_options options = {
        .state_dir = t->path, .key = &key, .keep_s = keep_s, .size_max = 1 << 30};
    struct journal *j = NULL;
    struct errinfo why;

    assert_int_equal(journal_open(&options, &j, &why), ERR_OK);
    return j;
}

static struct journal *open_journal(const struct tempdir *t)
{
    return open_journal_for(t, UINT64_C(14) * DAY);
}

static void add(struct journal *j, uint64_t from, uint64_t to)
{
    static struct example e;

    for (uint64_t i = from; i < to; i++) {
        example_fill(&e, i);
        e.record.time_us = clock_wall_us();
        assert_true(journal_add(j, &e.record));
    }
}

static struct message_tail *follow(const struct tempdir *t, size_t rows)
{
    struct message_tail *tail = NULL;
    struct errinfo why;

    assert_int_equal(message_tail_new(t->path, rows, &tail, &why), ERR_OK);
    return tail;
}

struct seen {
    size_t n;
    uint64_t last; /* example */
    uint64_t number;
    size_t most;
    bool is_falling;
};

static bool on_row(void *context, const struct message_view *v)
{
    struct seen *s = context;

    s->is_falling = s->is_falling && (s->n == 0 || v->number < s->number);
    s->number = v->number;
    s->last = v->row.case_id & 0xffffff;
    s->n++;
    return s->most == 0 || s->n < s->most;
}

static struct message_searched find(struct message_tail *tail, const char *text,
                                    uint64_t before, struct seen *s)
{
    struct message_searched found;
    struct message_query *q = NULL;
    struct errinfo why;

    s->n = 0;
    s->is_falling = true;
    assert_int_equal(message_query_parse(slice_str(text), clock_wall_us(), &q, &why),
                     ERR_OK);
    const struct message_search search = {
        .query = q, .before = before, .fn = on_row, .context = s};
    message_tail_search(tail, &search, &found);
    message_query_free(&q);
    return found;
}

/* Waits until all is read and n rows are there. */
static void await(struct message_tail *tail, size_t n)
{
    struct seen s = {.n = 0};
    struct message_searched found = find(tail, "", 0, &s);

    for (unsigned i = 0; i < STEPS && (!found.is_whole || found.rows != n); i++) {
        usleep(STEP_US);
        found = find(tail, "", 0, &s);
    }
    assert_true(found.is_whole);
    assert_int_equal(found.rows, n);
    assert_int_equal(s.n, n);
    assert_true(s.is_falling);
}

static void test_tail__when_there_is_a_journal__then_the_newest_are_found(void **state)
{
    const struct tempdir *t = *state;
    struct journal *j = open_journal(t);
    struct seen s = {.n = 0};

    add(j, 0, 100);
    journal_close(&j);
    struct message_tail *tail = follow(t, 40);
    await(tail, 40);
    (void)find(tail, "from:sender60@", 0, &s);
    assert_int_equal(s.n, 1);
    (void)find(tail, "from:sender59@", 0, &s);
    assert_int_equal(s.n, 0);
    message_tail_set_rows(tail, 70);
    await(tail, 70);
    message_tail_set_rows(tail, 0);
    for (unsigned i = 0; i < STEPS && message_tail_newest(tail) != UINT64_MAX; i++) {
        usleep(STEP_US);
    }
    assert_int_equal(find(tail, "", 0, &s).rows, 0);
    message_tail_free(&tail);
}

static void test_tail__when_few_rows_are_wanted_of_a_long_file__then_they_are_there(
    void **state)
{
    const struct tempdir *t = *state;
    struct journal *j = open_journal(t);

    add(j, 0, 500);
    journal_close(&j);
    for (size_t rows = 1; rows < 30; rows += 4) {
        struct message_tail *tail = follow(t, rows);
        await(tail, rows);
        message_tail_free(&tail);
    }
}

static void test_tail__when_messages_come__then_they_follow_and_pages_have_no_doubles(
    void **state)
{
    const struct tempdir *t = *state;
    struct message_tail *tail = follow(t, 1000);
    struct seen s = {.most = 7};
    uint64_t next = 100;

    await(tail, 0); /* there is no journal yet */
    struct journal *j = open_journal(t);
    add(j, 0, 100);
    await(tail, 100);
    struct message_searched found = find(tail, "", 0, &s);
    while (found.has_more) {
        assert_int_equal(s.n, 7);
        assert_int_equal(s.last, next - 7);
        next -= 7;
        add(j, 100 + next, 101 + next); /* new mail changes no page behind */
        found = find(tail, "", found.last, &s);
    }
    assert_int_equal(s.last, 0);
    assert_int_equal(s.n, next);
    message_tail_free(&tail);
    journal_close(&j);
}

static void test_tail__when_rows_are_asked_for_from_one_on__then_the_oldest_first(
    void **state)
{
    const struct tempdir *t = *state;
    struct journal *j = open_journal(t);
    struct message_tail *tail = follow(t, 1000);
    struct message_query *q = NULL;
    struct message_searched found;
    struct errinfo why;
    struct seen s = {.n = 0};

    add(j, 0, 20);
    await(tail, 20);
    const uint64_t newest = message_tail_newest(tail);
    assert_int_equal(message_query_parse(SLICE_NONE, 0, &q, &why), ERR_OK);
    struct message_search search = {.query = q,
                                    .after = newest,
                                    .oldest_first = true,
                                    .most = 3,
                                    .fn = on_row,
                                    .context = &s};
    assert_true(message_tail_try(tail, &search, &found));
    assert_int_equal(found.rows, 0);
    add(j, 20, 25);
    await(tail, 25);
    assert_true(message_tail_try(tail, &search, &found));
    assert_int_equal(s.last, 22);
    search.after = found.last;
    assert_true(found.has_more);
    assert_true(message_tail_try(tail, &search, &found));
    assert_int_equal(s.last, 24);
    assert_int_equal(s.n, 5);
    assert_false(found.has_more);
    message_query_free(&q);
    message_tail_free(&tail);
    journal_close(&j);
}

static void test_tail__when_a_person_is_forgotten__then_no_search_finds_it(void **state)
{
    const struct tempdir *t = *state;
    struct journal *j = open_journal(t);
    struct message_tail *tail = follow(t, 1000);
    struct journal_forgotten done;
    struct errinfo why;
    struct seen s = {.n = 0};

    add(j, 0, 50);
    await(tail, 50);
    (void)find(tail, "to:joe3@rcpt.example", 0, &s);
    assert_int_equal(s.n, 5);
    assert_int_equal(
        journal_forget(t->path, SLICE_LIT("joe3@rcpt.example"), &done, &why), ERR_OK);
    (void)find(tail, "joe3@rcpt.example", 0, &s); /* at once */
    assert_int_equal(s.n, 0);
    await(tail, 50);
    (void)find(tail, "joe3@rcpt.example", 0, &s);
    assert_int_equal(s.n, 0);
    (void)find(tail, "to:joe4@rcpt.example", 0, &s);
    assert_int_equal(s.n, 5);
    message_tail_free(&tail);
    journal_close(&j);
}

static void test_tail__when_the_journal_goes__then_its_rows_go_and_a_new_one_is_read(
    void **state)
{
    const struct tempdir *t = *state;
    struct journal *j = open_journal(t);
    struct message_tail *tail = follow(t, 1000);

    add(j, 0, 50);
    await(tail, 50);
    journal_close(&j);
    j = open_journal_for(t, 0);
    await(tail, 0);
    journal_close(&j);
    j = open_journal(t);
    add(j, 0, 5);
    await(tail, 5);
    message_tail_free(&tail);
    journal_close(&j);
}

/* Writes bytes to the end of the newest file. */
static void damage(const struct tempdir *t)
{
    char path[TEMPDIR_PATH];
    char dir[TEMPDIR_PATH];
    char name[JOURNAL_FILE_NAME];
    char junk[4000];
    struct journal_files files;
    struct errinfo why;

    memset(junk, 'G', sizeof(junk));
    (void)snprintf(dir, sizeof(dir), "%s/journal", t->path);
    assert_int_equal(journal_files_list(dir, &files, &why), ERR_OK);
    journal_file_print(&files.v[files.n - 1], name);
    journal_files_fini(&files);
    assert_true(snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path));
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(write(fd, junk, sizeof(junk)), sizeof(junk));
    assert_int_equal(close(fd), 0);
}

static void test_tail__when_a_file_is_damaged__then_the_others_are_found(void **state)
{
    const struct tempdir *t = *state;
    struct journal *j = open_journal(t);
    struct message_tail *tail = follow(t, 1000);

    add(j, 0, 10);
    await(tail, 10);
    damage(t);
    add(j, 10, 20);
    await(tail, 20);
    message_tail_free(&tail);
    tail = follow(t, 1000);
    await(tail, 20);
    message_tail_free(&tail);
    journal_close(&j);
}

#define FOLDER_TEST(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    base_init();
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_tail__when_there_is_a_journal__then_the_newest_are_found),
        FOLDER_TEST(
            test_tail__when_few_rows_are_wanted_of_a_long_file__then_they_are_there),
        FOLDER_TEST(
            test_tail__when_messages_come__then_they_follow_and_pages_have_no_doubles),
        FOLDER_TEST(
            test_tail__when_rows_are_asked_for_from_one_on__then_the_oldest_first),
        FOLDER_TEST(test_tail__when_a_person_is_forgotten__then_no_search_finds_it),
        FOLDER_TEST(
            test_tail__when_the_journal_goes__then_its_rows_go_and_a_new_one_is_read),
        FOLDER_TEST(test_tail__when_a_file_is_damaged__then_the_others_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
