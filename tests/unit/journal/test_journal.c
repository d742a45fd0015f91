/*
 * test_journal - added records are read back from the ring and the files, also after kill -9;
 * damage costs the damaged record alone; age and size; a person is forgotten.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/verdict/journal/journal.h"
#include "core/verdict/journal/journal_file.h"
#include "core/verdict/journal/journal_forget.h"
#include "core/verdict/journal/journal_read.h"
#include "core/verdict/journal/pending.h"

#include "tests/unit/journal/records.h"
#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { SEEN = 1 << 17, DAY = 86400, PIPE = 8192 };
static const struct hashkey key = {.id = 5, .bytes = {1, 2, 3}};

struct seen {
    uint64_t n;
    uint64_t last;
    bool is_falling;
    uint8_t has[SEEN]; /* times that record i came */
    uint64_t without_from;
    uint64_t erased;
    struct journal_numbers numbers;
};

static bool on_record(void *context, const struct record *r,
                      const struct journal_names *names)
{
    struct seen *s = context;
    uint64_t i = r->case_id & 0xffffff;

    assert_int_equal(names->key_id, key.id);
    assert_int_equal(r->message_id, i * 7919 + 1);
    assert_true(i < SEEN);
    s->has[i]++;
    s->n++;
    s->is_falling = s->is_falling && (s->last == 0 || r->number < s->last);
    s->last = r->number;
    s->without_from += r->from.n == 0;
    s->erased += r->is_erased;
    return true;
}

static void read_all(const struct tempdir *t, bool newest_first, struct seen *s)
{
    const struct journal_query q = {.state_dir = t->path,
                                    .newest_first = newest_first,
                                    .fn = on_record,
                                    .context = s};
    struct errinfo why;

    *s = (struct seen){.is_falling = true};
    assert_int_equal(journal_read(&q, &s->numbers, &why), ERR_OK);
}

static void assert_each_once(const struct seen *s, uint64_t from, uint64_t to)
{
    assert_int_equal(s->n, to - from);
    for (uint64_t i = from; i < to; i++) {
        assert_int_equal(s->has[i], 1);
    }
    assert_int_equal(s->numbers.damaged, 0);
}

static struct journal *open_journal(const struct tempdir *t)
{
    const struct journal_options options = {
        .state_dir = t->path, .key = &key, .keep_s = 14 * DAY, .size_max = 1 << 30};
    struct journal *j = NULL;
    struct errinfo why;

    assert_int_equal(journal_open(&options, &j, &why), ERR_OK);
    assert_non_null(j);
    return j;
}

static void add(struct journal *j, uint64_t from, uint64_t to)
{
    struct example *e = calloc(1, sizeof(*e));

    assert_non_null(e);
    for (uint64_t i = from; i < to; i++) {
        example_fill(e, i);
        e->record.time_us = clock_wall_us();
        assert_true(journal_add(j, &e->record));
    }
    free(e);
}

/* The path of the only file of messages. */
static const char *message_file(struct tempdir *t)
{
    char dir[TEMPDIR_PATH];
    char text[JOURNAL_FILE_NAME];
    char name[64];
    struct journal_files files;
    struct errinfo why;

    (void)snprintf(dir, sizeof(dir), "%s/journal", t->path);
    assert_int_equal(journal_files_list(dir, &files, &why), ERR_OK);
    assert_true(files.n >= 1 && files.v[0].kind == JOURNAL_MESSAGES);
    journal_file_print(&files.v[0], text);
    (void)snprintf(name, sizeof(name), "journal/%s", text);
    journal_files_fini(&files);
    return tempdir_file(t, name);
}

/* Numbers of the records after a number, in their order; their files, and the highest. */
static void read_after(const struct tempdir *t, uint64_t after, struct seen *s)
{
    const struct journal_query q = {
        .state_dir = t->path, .after = after, .fn = on_record, .context = s};
    struct errinfo why;

    *s = (struct seen){.n = 0};
    assert_int_equal(journal_read(&q, &s->numbers, &why), ERR_OK);
}

static void test_after__only_later_records_and_no_older_files_are_read(void **state)
{
    const struct tempdir *t = *state;
    struct seen *s = calloc(1, sizeof(*s));
    struct journal *j = NULL;

    assert_non_null(s);
    for (uint64_t day = 0; day < 3; day++) { /* ten records a file */
        clock_set_for_test(UINT64_C(1700000000000000) + day * DAY * UINT64_C(1000000),
                           1000000);
        j = open_journal(t);
        add(j, day * 10, day * 10 + 10);
        if (day < 2) {
            journal_close(&j);
        }
    }
    for (uint64_t after = 0; after <= 30; after++) { /* some are still in the ring */
        read_after(t, after, s);
        assert_each_once(s, after, 30);
        /* and one more: the newest, when it was just made, does not tell its first number */
        assert_true(s->numbers.files <= 4 - (after == 0 ? 0 : after - 1) / 10);
    }
    journal_close(&j);
    read_after(t, 25, s);
    assert_each_once(s, 25, 30);
    assert_int_equal(s->numbers.files, 1);
    read_after(t, 20, s);
    assert_each_once(s, 20, 30);
    assert_int_equal(s->numbers.files, 2);
    clock_unset_for_test();
    free(s);
}

static void test_journal__when_records_are_added__then_they_are_read(void **state)
{
    struct tempdir *t = *state;
    struct journal *j = open_journal(t);
    static struct seen s;

    add(j, 0, 1000);
    read_all(t, false, &s); /* from the ring, or the file, or both */
    assert_each_once(&s, 0, 1000);
    journal_close(&j);
    assert_null(j);
    read_all(t, false, &s);
    assert_each_once(&s, 0, 1000);
    assert_int_equal(s.numbers.waiting, 0);
    read_all(t, true, &s);
    assert_each_once(&s, 0, 1000);
    assert_true(s.is_falling);
    j = open_journal(t);
    add(j, 1000, 1500);
    journal_close(&j);
    read_all(t, false, &s);
    assert_each_once(&s, 0, 1500);
    assert_int_equal(s.numbers.files, 1);
}

/* A reader copies the ring, and gillnetd moves it into a file then. */
static void
test_journal__when_the_ring_is_moved_amid_a_look__then_each_record_comes_once(
    void **state)
{
    struct tempdir *t = *state;
    const char *path = tempdir_file(t, "journal/" JOURNAL_PENDING);
    struct journal *j = open_journal(t);
    struct errinfo why;
    struct buf ring;
    static struct seen s;

    add(j, 0, 12);
    journal_close(&j); /* into a file */
    j = open_journal(t);
    add(j, 12, 20);
    buf_init(&ring, PENDING_BYTES * 2);
    assert_int_equal(file_read(path, &ring, &why), ERR_OK);
    journal_close(&j);
    assert_int_equal(file_write_atomic(path, buf_slice(&ring), 0600, &why), ERR_OK);
    buf_fini(&ring);
    read_all(t, false, &s);
    assert_each_once(&s, 0, 20);
    read_all(t, true, &s);
    assert_each_once(&s, 0, 20);
    assert_true(s.is_falling);
}

static void test_journal__when_the_ring_is_full__then_more_is_dropped_and_the_rest_kept(
    void **state)
{
    struct tempdir *t = *state;
    struct journal *j = open_journal(t);
    struct example *e = calloc(1, sizeof(*e));
    uint64_t kept = 0;

    assert_non_null(e);
    example_fill(e, 1);
    for (unsigned i = 0; i < 40000;
         i++) { /* faster than the thread moves them, or not */
        kept += journal_add(j, &e->record);
    }
    journal_close(&j);
    static struct seen s;
    read_all(t, false, &s);
    assert_int_equal(s.n, kept);
    assert_true(kept > 10000);
    assert_int_equal(s.numbers.damaged, 0);
    free(e);
}

static void test_journal__when_it_is_locked__then_a_second_writer_is_refused(
    void **state)
{
    struct tempdir *t = *state;
    struct journal *j = open_journal(t);
    const struct journal_options options = {
        .state_dir = t->path, .key = &key, .keep_s = DAY};
    struct journal *second = NULL;
    struct errinfo why;

    assert_int_equal(journal_open(&options, &second, &why), ERR_LOCKED);
    assert_null(second);
    journal_close(&j);
}

/* ---- kill -9 ---- */

/* Adds from `from` on, and writes each number to the pipe once the record is added. */
static void add_until_killed(const struct tempdir *t, uint64_t from, int fd)
{
    struct journal *j = open_journal(t);

    for (uint64_t i = from;; i++) {
        add(j, i, i + 1);
        if (write(fd, &i, sizeof(i)) != sizeof(i)) {
            _exit(1);
        }
    }
}

static void test_journal__when_it_is_killed__then_nothing_acknowledged_is_lost(
    void **state)
{
    struct tempdir *t = *state;
    static struct seen s;
    uint64_t next = 0;

    for (unsigned round = 0; round < 8; round++) {
        int fds[2];
        uint64_t last = next;
        assert_int_equal(pipe(fds), 0);
        pid_t pid = fork();
        if (pid == 0) {
            (void)close(fds[0]);
            add_until_killed(t, next, fds[1]);
        }
        (void)close(fds[1]);
        for (unsigned i = 0; i < 20 + round * 60; i++) {
            assert_int_equal(read(fds[0], &last, sizeof(last)), sizeof(last));
        }
        usleep(round % 2 * 150000); /* also while records are moved */
        (void)kill(pid, SIGKILL);
        while (read(fds[0], &last, sizeof(last)) == sizeof(last)) {
        }
        (void)waitpid(pid, NULL, 0);
        (void)close(fds[0]);
        read_all(t, false, &s); /* without a daemon */
        for (uint64_t i = 0; i <= last; i++) {
            assert_int_equal(s.has[i], 1);
        }
        assert_int_equal(s.numbers.damaged, 0);
        next = s.n; /* one more than was acknowledged may be there */
        if (next > SEEN - 2 * PIPE) {
            break;
        }
    }
    struct journal *j = open_journal(t);
    journal_close(&j);
    read_all(t, false, &s);
    assert_each_once(&s, 0, next);
}

/* ---- damage ---- */

static char *load(const char *path, size_t *retn)
{
    struct buf b;
    struct errinfo why;

    buf_init(&b, 1 << 26);
    assert_int_equal(file_read(path, &b, &why), ERR_OK);
    *retn = b.n;
    return b.p;
}

static void store(const char *path, const char *p, size_t n)
{
    int fd = open(path, O_WRONLY | O_TRUNC);

    assert_true(fd >= 0);
    assert_true(file_write_all(fd, slice_of(p, n)));
    (void)close(fd);
}

/* Where the i-th record of a file ends. */
static size_t end_of(const char *bytes, size_t n, size_t i)
{
    struct journal_walk w =
        journal_walk_begin(slice_of(bytes + JOURNAL_HEAD, n - JOURNAL_HEAD));
    struct slice frame;

    for (size_t k = 0; k <= i; k++) {
        assert_true(journal_walk_next(&w, &frame));
    }
    return JOURNAL_HEAD + w.whole;
}

static void test_journal__when_a_file_is_cut_anywhere__then_what_is_before_is_read(
    void **state)
{
    struct tempdir *t = *state;
    struct journal *j = open_journal(t);
    static struct seen s;
    size_t n = 0;

    add(j, 0, 3);
    journal_close(&j);
    const char *path = message_file(t);
    char *bytes = load(path, &n);
    const size_t end[] = {end_of(bytes, n, 0), end_of(bytes, n, 1), n};
    for (size_t cut = JOURNAL_HEAD - 2; cut < n; cut++) {
        store(path, bytes, cut);
        read_all(t, false, &s);
        assert_int_equal(s.n, (cut >= end[0]) + (cut >= end[1]));
    }
    j = open_journal(t); /* cuts off the part, and goes on behind it */
    add(j, 3, 5);
    journal_close(&j);
    read_all(t, false, &s);
    assert_int_equal(s.n, 4);
    assert_int_equal(s.numbers.damaged, 0);
    free(bytes);
}

static void test_journal__when_any_bit_flips__then_one_record_is_lost_at_most(
    void **state)
{
    struct tempdir *t = *state;
    struct journal *j = open_journal(t);
    static struct seen s;
    size_t n = 0;

    add(j, 0, 3);
    journal_close(&j);
    const char *path = message_file(t);
    char *bytes = load(path, &n);
    const size_t last =
        end_of(bytes, n, 1); /* damage behind it may be a part of a record */
    for (size_t at = 0; at < n; at += at < JOURNAL_HEAD ? 331 : 1) {
        unsigned bit = (unsigned)at % 8;
        bytes[at] ^= (char)(1 << bit);
        store(path, bytes, n);
        read_all(t, false, &s);
        bool is_last = at >= last;
        assert_true(s.n >= 2);
        assert_true(s.n == 3 || is_last || s.numbers.damaged == 1);
        bytes[at] ^= (char)(1 << bit);
    }
    store(path, bytes, n);
    read_all(t, false, &s);
    assert_each_once(&s, 0, 3);
    free(bytes);
}

/* ---- age and size ---- */

static void test_journal__when_it_is_switched_off__then_its_files_go(void **state)
{
    struct tempdir *t = *state;
    struct journal *j = open_journal(t);
    static struct seen s;

    add(j, 0, 10);
    journal_close(&j);
    const struct journal_options off = {.state_dir = t->path, .key = &key, .keep_s = 0};
    struct errinfo why;
    assert_int_equal(journal_open(&off, &j, &why), ERR_OK);
    assert_false(journal_is_on(j));
    usleep(100000);
    journal_close(&j);
    read_all(t, false, &s);
    assert_int_equal(s.n, 0);
    assert_int_equal(s.numbers.files, 0);
}

static void test_journal_file__when_names_are_printed__then_they_are_read(void **state)
{
    char text[JOURNAL_FILE_NAME];
    struct journal_name_of got;

    (void)state;
    for (uint64_t day = 0; day < 40000; day += 97) {
        const struct journal_name_of name = {.kind = day % 2 ? JOURNAL_REPORTS
                                                             : JOURNAL_MESSAGES,
                                             .day = day,
                                             .part = day % 2 ? 0 : (unsigned)day + 1};
        journal_file_print(&name, text);
        assert_true(journal_file_read(slice_str(text), &got));
        assert_int_equal(got.day, day);
        assert_int_equal(got.part, name.part);
        assert_int_equal(got.kind, name.kind);
    }
    assert_false(journal_file_read(SLICE_LIT("messages-20261323-0001"), &got));
    assert_false(journal_file_read(SLICE_LIT("messages-20261123-1"), &got));
    assert_false(journal_file_read(SLICE_LIT("pending"), &got));
    assert_false(journal_file_read(SLICE_LIT("reports-20261123-0001"), &got));
}

enum { RING_BEGIN = 16 }; /* the end follows it */

static void test_pending_read__when_its_places_are_damaged__then_frames_are_found(
    void **state)
{
    static const uint64_t places[][2] = {
        {UINT64_MAX - 9, UINT64_MAX}, {9, 8}, {0, UINT64_MAX}};
    struct tempdir *t = *state;
    struct pending *p = NULL;
    const char *path = tempdir_file(t, "pending");
    char head[JOURNAL_HEAD] = "";
    struct errinfo why;

    assert_int_equal(pending_make(path, slice_of(head, sizeof(head)), 1, &p, &why),
                     ERR_OK);
    struct buf frame;
    struct example *e = calloc(1, sizeof(*e));
    assert_non_null(e);
    example_fill(e, 0);
    record_print(&e->record, &frame);
    assert_true(pending_add(p, frame.p, frame.n));
    pending_close(&p);
    for (size_t i = 0; i < LENGTH(places); i++) {
        struct buf got_head;
        struct buf got;
        uint64_t place = 0;
        int fd = open(path, O_RDWR);

        assert_true(pwrite(fd, places[i], sizeof(places[i]), RING_BEGIN) ==
                    sizeof(places[i]));
        (void)close(fd);
        buf_init(&got_head, JOURNAL_HEAD);
        buf_init(&got, PENDING_BYTES);
        assert_int_equal(pending_read(path, &got_head, &got, &place, &why), ERR_OK);
        assert_int_equal(got.n, frame.n);
        buf_fini(&got_head);
        buf_fini(&got);
    }
    buf_fini(&frame);
    free(e);
}

/* gillnetd makes a ring that was cut again, with its records: none has left it. */
static void test_pending_is_past__when_the_ring_was_cut__then_it_is_not(void **state)
{
    struct tempdir *t = *state;
    struct pending *p = NULL;
    const char *path = tempdir_file(t, "pending");
    char head[JOURNAL_HEAD] = "";

    assert_int_equal(pending_make(path, slice_of(head, sizeof(head)), 1, &p, NULL),
                     ERR_OK);
    assert_false(pending_is_past(path, 1));
    assert_int_equal(truncate(path, 0), 0);
    assert_false(pending_is_past(path, 1));
    pending_keep(p);
    assert_false(pending_is_past(path, 1));
    pending_free_to(p, 1);
    assert_true(pending_is_past(path, 1));
    assert_int_equal(unlink(path), 0);
    assert_true(pending_is_past(path, 1));
    pending_close(&p);
}

/* ---- people ---- */

static void test_journal__when_a_person_is_forgotten__then_no_file_names_it(
    void **state)
{
    struct tempdir *t = *state;
    struct journal *j = open_journal(t);
    static struct seen s;
    struct journal_forgotten done;
    struct errinfo why;
    size_t n = 0;

    add(j, 0, 100);
    /* while the writer runs */
    assert_int_equal(
        journal_forget(t->path, SLICE_LIT("joe3@rcpt.example"), &done, &why), ERR_OK);
    assert_int_equal(done.records, 10);
    add(j, 100, 110);
    journal_close(&j);
    assert_int_equal(
        journal_forget(t->path, SLICE_LIT("sender42@sender.example"), &done, &why),
        ERR_OK);
    assert_int_equal(done.records, 1);
    read_all(t, false, &s);
    assert_each_once(&s, 0, 110);
    assert_int_equal(s.erased, 11);
    assert_int_equal(s.without_from, 1);
    char *bytes = load(message_file(t), &n);
    const char gone[] = "sender42@sender.example";
    assert_null(memmem(bytes, n, gone, strlen(gone)));
    free(bytes);
}

static void test_message_id__however_it_is_written__then_the_digest_is_the_same(
    void **state)
{
    (void)state;
    uint64_t want = journal_message_id(&key, SLICE_LIT("a@b.example"));
    assert_true(want != 0);
    assert_true(journal_message_id(&key, SLICE_LIT(" <a@b.example>\t")) == want);
    assert_true(journal_message_id(&key, SLICE_LIT("c@b.example")) != want);
    assert_true(journal_message_id(&key, SLICE_LIT("<>")) != want);
    assert_int_equal(journal_message_id(&key, SLICE_NONE), 0);
}

#define FOLDER_TEST(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    base_init();
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_journal__when_records_are_added__then_they_are_read),
        FOLDER_TEST(test_after__only_later_records_and_no_older_files_are_read),
        FOLDER_TEST(
            test_journal__when_the_ring_is_moved_amid_a_look__then_each_record_comes_once),
        FOLDER_TEST(
            test_journal__when_the_ring_is_full__then_more_is_dropped_and_the_rest_kept),
        FOLDER_TEST(test_journal__when_it_is_locked__then_a_second_writer_is_refused),
        FOLDER_TEST(test_journal__when_it_is_killed__then_nothing_acknowledged_is_lost),
        FOLDER_TEST(
            test_journal__when_a_file_is_cut_anywhere__then_what_is_before_is_read),
        FOLDER_TEST(test_journal__when_any_bit_flips__then_one_record_is_lost_at_most),
        FOLDER_TEST(test_journal__when_it_is_switched_off__then_its_files_go),
        FOLDER_TEST(
            test_pending_read__when_its_places_are_damaged__then_frames_are_found),
        FOLDER_TEST(test_pending_is_past__when_the_ring_was_cut__then_it_is_not),
        FOLDER_TEST(test_journal__when_a_person_is_forgotten__then_no_file_names_it),
        cmocka_unit_test(test_journal_file__when_names_are_printed__then_they_are_read),
        cmocka_unit_test(
            test_message_id__however_it_is_written__then_the_digest_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
