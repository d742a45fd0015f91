/*
 * test_changes - the log of changes: what is noted is read, over crashes, damage and many writers.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/telemetry/changes_read.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { KILLS = 12, WRITERS = 4, ROUNDS = 100 };

static void note(struct tempdir *t, const struct change *c)
{
    struct errinfo why = {.text = ""};

    if (changes_note(t->path, c, &why) != ERR_OK) {
        fail_msg("%s", why.text);
    }
}

static void note_object(struct tempdir *t, enum change_kind kind, const char *object)
{
    const struct slice value = SLICE_LIT("domain:evil.example");

    note(t, &(struct change){.kind = kind,
                             .who = SLICE_LIT("anna"),
                             .way = SLICE_LIT("api"),
                             .object = slice_str(object),
                             .values = &value,
                             .nvalues = 1});
}

static json_t *rows_of(struct tempdir *t, const char *words, uint64_t before,
                       size_t limit, uint64_t *retnext)
{
    const struct changes_query q = {.state_dir = t->path,
                                    .words = slice_str(words),
                                    .before = before,
                                    .limit = limit};
    json_t *rows = NULL;
    uint64_t next = 0;

    assert_int_equal(changes_read(&q, &rows, &next, NULL), ERR_OK);
    if (retnext != NULL) {
        *retnext = next;
    }
    return rows;
}

static const char *text_at(const json_t *rows, size_t i, const char *name)
{
    const char *text =
        json_string_value(json_object_get(json_array_get(rows, i), name));

    return text != NULL ? text : "(none)";
}

static size_t count(struct tempdir *t, const char *words)
{
    uint64_t next = 0;
    size_t n = 0;

    do {
        json_t *rows = rows_of(t, words, next, CHANGES_ROWS_MAX, &next);

        n += json_array_size(rows);
        json_decref(rows);
    } while (next != 0);
    return n;
}

/* ---- reading what was noted ---- */

static void test_empty__no_folder__then_no_rows(void **state)
{
    assert_int_equal(count(*state, ""), 0);
}

static void test_note__all_members__then_they_are_read(void **state)
{
    struct tempdir *t = *state;
    const struct slice values[] = {SLICE_LIT("domain:a.example"),
                                   SLICE_LIT("url:b.example/\"")};

    note(t, &(struct change){.kind = CHANGE_list_add,
                             .who = SLICE_LIT("anna"),
                             .way = SLICE_LIT("page"),
                             .object = SLICE_LIT("phish"),
                             .before = SLICE_LIT(""),
                             .after = SLICE_LIT("x=1"),
                             .reason = SLICE_LIT("a reason"),
                             .values = values,
                             .nvalues = 2,
                             .count = 7});
    json_t *rows = rows_of(t, "", 0, 10, NULL);
    const json_t *row = json_array_get(rows, 0);

    assert_int_equal(json_array_size(rows), 1);
    assert_string_equal(text_at(rows, 0, "id"), "1-0");
    assert_string_equal(text_at(rows, 0, "kind"), "list-add");
    assert_string_equal(text_at(rows, 0, "who"), "anna");
    assert_string_equal(text_at(rows, 0, "way"), "page");
    assert_string_equal(text_at(rows, 0, "object"), "phish");
    assert_string_equal(text_at(rows, 0, "before"), "");
    assert_string_equal(text_at(rows, 0, "after"), "x=1");
    assert_string_equal(text_at(rows, 0, "reason"), "a reason");
    assert_string_equal(text_at(rows, 0, "result"), "(none)");
    assert_string_equal(text_at(rows, 0, "undo"),
                        "none"); /* five values are not kept */
    assert_int_equal(json_integer_value(json_object_get(row, "count")), 7);
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(row, "values"), 1)),
        "url:b.example/\"");
    json_decref(rows);
}

static void test_pages__more_rows_than_a_page__then_each_once_newest_first(void **state)
{
    struct tempdir *t = *state;
    uint64_t next = 0;
    char name[16];
    int left = 25;

    for (int i = 0; i < left; i++) {
        (void)snprintf(name, sizeof(name), "list%d", i);
        note_object(t, CHANGE_list_add, name);
    }
    do {
        json_t *rows = rows_of(t, "", next, 10, &next);

        for (size_t i = 0; i < json_array_size(rows); i++) {
            (void)snprintf(name, sizeof(name), "list%d", --left);
            assert_string_equal(text_at(rows, i, "object"), name);
        }
        json_decref(rows);
    } while (next != 0);
    assert_int_equal(left, 0);
}

static void test_words__of_texts_and_names__then_only_these(void **state)
{
    struct tempdir *t = *state;

    note_object(t, CHANGE_list_add, "phish");
    note_object(t, CHANGE_list_revoke, "Spam");
    assert_int_equal(count(t, "spam"), 1);
    assert_int_equal(count(t, "kind:LIST"), 2);
    assert_int_equal(count(t, "kind:list-add who:anna"), 1);
    assert_int_equal(count(t, "who:bert"), 0);
    assert_int_equal(count(t, "object:anna"), 0);
    assert_int_equal(count(t, "  domain:EVIL.example  phish"), 1);
    assert_int_equal(count(t, "who:"), 2);
}

/* ---- undo ---- */

static const char *undo_of(struct tempdir *t, const char *id, enum change_undo want)
{
    json_t *row = NULL;
    const char *why = NULL;

    assert_int_equal(changes_find(t->path, slice_str(id), &row, NULL), ERR_OK);
    assert_string_equal(json_string_value(json_object_get(row, "id")), id);
    assert_int_equal(changes_undo_of(row, &why), want);
    json_decref(row);
    return why;
}

static void test_undo__of_an_undo__then_the_first_holds_again(void **state)
{
    struct tempdir *t = *state;
    char first[CHANGE_ID_SIZE];
    char second[CHANGE_ID_SIZE];

    note_object(t, CHANGE_list_add, "phish");
    json_t *rows = rows_of(t, "", 0, 10, NULL);
    (void)snprintf(first, sizeof(first), "%s", text_at(rows, 0, "id"));
    json_decref(rows);
    assert_null(undo_of(t, first, CHANGE_LIST_REVOKE));

    const struct slice value = SLICE_LIT("domain:evil.example");
    struct change undo = {.kind = CHANGE_list_revoke,
                          .object = SLICE_LIT("phish"),
                          .values = &value,
                          .nvalues = 1,
                          .undoes = slice_str(first)};
    note(t, &undo);
    rows = rows_of(t, "", 0, 10, NULL);
    (void)snprintf(second, sizeof(second), "%s", text_at(rows, 0, "id"));
    assert_string_equal(text_at(rows, 0, "undo"), "possible");
    assert_string_equal(text_at(rows, 1, "undo"), "done");
    json_decref(rows);
    assert_non_null(undo_of(t, first, CHANGE_STAYS));
    assert_null(undo_of(t, second, CHANGE_LIST_ADD));

    undo.kind = CHANGE_list_add;
    undo.undoes = slice_str(second);
    note(t, &undo);
    assert_null(undo_of(t, first, CHANGE_LIST_REVOKE));
    assert_non_null(undo_of(t, second, CHANGE_STAYS));
}

static void test_undo__what_cannot_be__then_it_says_why(void **state)
{
    struct tempdir *t = *state;
    char long_state[CHANGES_STATE_MAX + 1];

    memset(long_state, 'x', sizeof(long_state));
    note_object(t, CHANGE_held_delete, "4XyZ");
    note(t, &(struct change){.kind = CHANGE_report,
                             .object = SLICE_LIT("17"),
                             .result = SLICE_LIT("503")});
    note(t, &(struct change){.kind = CHANGE_user_set,
                             .object = SLICE_LIT("@a.example"),
                             .before = slice_of(long_state, sizeof(long_state))});
    note(t, &(struct change){.kind = CHANGE_list_revoke,
                             .object = SLICE_LIT("phish"),
                             .result = SLICE_LIT("not listed before")});
    note(t, &(struct change){.kind = CHANGE_user_set,
                             .object = SLICE_LIT("@c.example"),
                             .before = SLICE_LIT(""),
                             .after = slice_of(long_state, sizeof(long_state))});
    note(t, &(struct change){.kind = CHANGE_user_set,
                             .object = SLICE_LIT("@b.example"),
                             .before = SLICE_LIT("sensitivity=low"),
                             .after = SLICE_LIT("")});
    json_t *rows = rows_of(t, "", 0, 10, NULL);

    assert_string_equal(text_at(rows, 0, "undo"), "possible");
    for (size_t i = 1; i < 6; i++) {
        assert_string_equal(text_at(rows, i, "undo"), "none");
    }
    assert_non_null(
        strstr(undo_of(t, text_at(rows, 1, "id"), CHANGE_STAYS), "too long"));
    assert_non_null(strstr(undo_of(t, text_at(rows, 2, "id"), CHANGE_STAYS),
                           "the revocation stays: gillnet list add"));
    assert_non_null(
        strstr(undo_of(t, text_at(rows, 3, "id"), CHANGE_STAYS), "too long"));
    assert_non_null(
        strstr(undo_of(t, text_at(rows, 4, "id"), CHANGE_STAYS), "no effect"));
    json_decref(rows);
}

static void test_find__ids_that_are_none__then_not_found(void **state)
{
    static const char *const ids[] = {"",     "1",    "0-0",  "1-1", "2-0",
                                      "1-0x", "-1-0", "1--1", "1-",  "1-99999999999"};
    struct tempdir *t = *state;
    json_t *row = NULL;

    note_object(t, CHANGE_list_add, "phish");
    for (size_t i = 0; i < LENGTH(ids); i++) {
        assert_int_equal(changes_find(t->path, slice_str(ids[i]), &row, NULL),
                         ERR_NOT_FOUND);
    }
}

/* ---- hostile and damaged ---- */

static void append(struct tempdir *t, const char *text, size_t n)
{
    FILE *to = fopen(tempdir_file(t, "changes/log.1"), "ae");

    assert_non_null(to);
    assert_int_equal(fwrite(text, 1, n, to), n);
    assert_int_equal(fclose(to), 0);
}

static void test_hostile_texts__then_whole_json_and_no_control_character(void **state)
{
    struct tempdir *t = *state;
    static const char bad[] = "a\x01\x1b[31m\n\"\\\xff\xc3(\0\x7f<script>\xe2\x80\xae";
    char big[CHANGES_STATE_MAX];
    struct slice values[CHANGES_VALUES_MAX + 1];

    memset(big, '\\', sizeof(big));
    for (size_t i = 0; i < LENGTH(values); i++) {
        values[i] = slice_of(big, CHANGES_VALUES_BYTES / CHANGES_VALUES_MAX);
    }
    const struct slice text = slice_of(bad, sizeof(bad));
    const struct slice whole = slice_of(big, sizeof(big));
    note(t, &(struct change){
                .kind = CHANGE_list_add, .who = text, .object = text, .before = text});
    note(t, &(struct change){.kind = CHANGE_list_add, /* the longest line there is */
                             .who = whole,
                             .way = whole,
                             .object = whole,
                             .before = whole,
                             .after = whole,
                             .reason = whole,
                             .result = whole,
                             .values = values,
                             .nvalues = LENGTH(values)});
    json_t *rows = rows_of(t, "", 0, 10, NULL);

    assert_int_equal(json_array_size(rows), 2);
    assert_string_equal(text_at(rows, 1, "who"),
                        "a\xef\xbf\xbd\xef\xbf\xbd[31m\xef\xbf\xbd\"\\\xef\xbf\xbd"
                        "\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd<script>\xe2\x80\xae"
                        "\xef\xbf\xbd");
    assert_string_equal(text_at(rows, 1, "before"), "(none)");
    assert_int_equal(strlen(text_at(rows, 0, "who")), CHANGES_TEXT_MAX);
    assert_int_equal(strlen(text_at(rows, 0, "after")), CHANGES_STATE_MAX);
    assert_int_equal(
        json_array_size(json_object_get(json_array_get(rows, 0), "values")),
        CHANGES_VALUES_MAX);
    json_decref(rows);
}

static void test_hostile_lines__then_skipped(void **state)
{
    static const char *const lines[] = {
        "{}",
        "[]",
        "{\"time\":1,\"kind\":\"no-such\"}",
        "{\"time\":-1,\"kind\":\"report\"}",
        "{\"time\":\"1\",\"kind\":\"report\"}",
        "{\"time\":1,\"kind\":\"report\",\"who\":5}",
        "{\"time\":1,\"kind\":\"report\",\"who\":\"a\",\"who\":\"b\"}",
        "{\"time\":1,\"kind\":\"report\",\"evil\":\"a\"}",
        "{\"time\":1,\"kind\":\"list-add\",\"values\":[\"a\"]}",
        "{\"time\":1,\"kind\":\"list-add\",\"values\":[5],\"count\":1}",
        "{\"time\":1,\"kind\":\"list-add\",\"values\":{},\"count\":1}",
        "{\"time\":1,\"kind\":\"report\",\"who\":\"\xff\"}",
        "{\"time\":1,\"kind\":\"report\"} trailing",
        "{\"time\":1,\"kind\":\"rep",
        "",
    };
    struct tempdir *t = *state;

    note_object(t, CHANGE_list_add, "phish");
    for (size_t i = 0; i < LENGTH(lines); i++) {
        append(t, lines[i], strlen(lines[i]));
        append(t, "\n", 1);
    }
    append(t, "\0\0\0\0", 4);
    note_object(t, CHANGE_list_add, "spam");
    json_t *rows = rows_of(t, "", 0, CHANGES_ROWS_MAX, NULL);
    assert_int_equal(json_array_size(rows), 2);
    assert_string_equal(text_at(rows, 0, "object"), "spam");
    json_decref(rows);
}

static void test_torn_line__then_the_next_one_is_whole(void **state)
{
    struct tempdir *t = *state;
    static const char torn[] = "{\"time\":1,\"kind\":\"report\",\"who\":\"a";

    note_object(t, CHANGE_list_add, "phish");
    append(t, torn, sizeof(torn) - 1);
    assert_int_equal(count(t, ""), 1);
    note_object(t, CHANGE_list_add, "spam");
    assert_int_equal(count(t, ""), 2);
}

static void test_folder__then_for_its_group_alone(void **state)
{
    struct tempdir *t = *state;
    struct stat st;

    (void)umask(077);
    note_object(t, CHANGE_list_add, "phish");
    assert_int_equal(stat(tempdir_file(t, "changes"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0770);
    assert_int_equal(stat(tempdir_file(t, "changes/log.1"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0660);
}

static void test_link_in_the_place_of_a_file__then_refused(void **state)
{
    struct tempdir *t = *state;
    char target[TEMPDIR_PATH];
    struct errinfo why = {.text = ""};

    (void)snprintf(target, sizeof(target), "%s/target", t->path);
    assert_int_equal(mkdir(tempdir_file(t, "changes"), 0770), 0);
    assert_int_equal(symlink(target, tempdir_file(t, "changes/log.1")), 0);
    assert_int_not_equal(
        changes_note(t->path, &(struct change){.kind = CHANGE_report}, &why), ERR_OK);
    assert_int_not_equal(access(target, F_OK), 0);
}

static void test_forget__then_the_address_alone_is_gone(void **state)
{
    struct tempdir *t = *state;
    uint64_t n = 0;

    assert_int_equal(changes_forget(t->path, SLICE_LIT("a@b.example"), &n, NULL),
                     ERR_OK);
    note_object(t, CHANGE_user_set, "a@b.example");
    note_object(t, CHANGE_user_set, "aa@b.example");
    note_object(t, CHANGE_user_set, "a@b.example.org");
    note(t, &(struct change){.kind = CHANGE_user_set,
                             .who = SLICE_LIT("A@B.example"),
                             .object = SLICE_LIT("last"),
                             .before =
                                 SLICE_LIT("allow.addresses=c@d.example,a@b.example"),
                             .after = SLICE_LIT("\"q\\\"@b.example")});
    assert_int_equal(changes_forget(t->path, SLICE_LIT("a@b.example"), &n, NULL),
                     ERR_OK);
    assert_int_equal(n, 3);
    assert_int_equal(changes_forget(t->path, SLICE_LIT("\"q\\\"@b.example"), &n, NULL),
                     ERR_OK);
    assert_int_equal(n, 1);
    assert_int_equal(changes_forget(t->path, SLICE_NONE, &n, NULL), ERR_OK);
    assert_int_equal(n, 0);
    json_t *rows = rows_of(t, "", 0, 10, NULL);
    assert_int_equal(json_array_size(rows), 4);
    assert_string_equal(text_at(rows, 0, "who"), "xxxxxxxxxxx");
    assert_string_equal(text_at(rows, 0, "before"),
                        "allow.addresses=c@d.example,xxxxxxxxxxx");
    assert_string_equal(text_at(rows, 1, "object"), "a@b.example.org");
    assert_string_equal(text_at(rows, 2, "object"), "aa@b.example");
    assert_string_equal(text_at(rows, 3, "object"), "xxxxxxxxxxx");
    json_decref(rows);
}

/* ---- bounds ---- */

static void test_files__more_than_there_may_be__then_the_oldest_go(void **state)
{
    struct tempdir *t = *state;
    char name[32];
    struct stat st;

    for (unsigned i = 1; i <= CHANGES_FILES + 3; i++) {
        note_object(t, CHANGE_list_add, "phish");
        (void)snprintf(name, sizeof(name), "changes/log.%u", i);
        assert_int_equal(stat(tempdir_file(t, name), &st), 0);
        /* it is full: its hole is no line */
        assert_int_equal(truncate(tempdir_file(t, name), CHANGES_FILE_BYTES), 0);
    }
    for (unsigned i = 1; i <= CHANGES_FILES + 3; i++) {
        (void)snprintf(name, sizeof(name), "changes/log.%u", i);
        assert_int_equal(access(tempdir_file(t, name), F_OK) == 0, i > 3);
    }
    assert_int_equal(count(t, ""), CHANGES_FILES);
}

/* ---- crashes and many writers ---- */

/* Notes until it is killed; a byte for each change that is acknowledged. */
static void write_until_killed(struct tempdir *t, int to)
{
    for (;;) {
        note_object(t, CHANGE_list_add, "killed");
        if (write(to, "x", 1) != 1) {
            _exit(1);
        }
    }
}

static void test_kill__amid_notes__then_all_acknowledged_are_there(void **state)
{
    struct tempdir *t = *state;
    size_t acknowledged = 0;

    for (int i = 0; i < KILLS; i++) {
        char bytes[512];
        int ends[2];
        ssize_t n = 0;

        assert_int_equal(pipe(ends), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            (void)close(ends[0]);
            write_until_killed(t, ends[1]);
        }
        (void)close(ends[1]);
        assert_int_equal(read(ends[0], bytes, 1), 1);
        acknowledged++;
        (void)usleep((unsigned)(i * 371));
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
        while ((n = read(ends[0], bytes, sizeof(bytes))) > 0) {
            acknowledged += (size_t)n;
        }
        (void)close(ends[0]);
    }
    const size_t found = count(t, "");
    assert_in_range(found, acknowledged, acknowledged + KILLS);
    note_object(t, CHANGE_list_add, "after");
    assert_int_equal(count(t, "object:after"), 1);
}

static void test_writers__at_once__then_no_line_is_lost_or_mixed(void **state)
{
    struct tempdir *t = *state;
    pid_t child[WRITERS];

    for (int i = 0; i < WRITERS; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        for (int k = 0; child[i] == 0 && k < ROUNDS; k++) {
            note_object(t, CHANGE_list_add, i % 2 == 0 ? "even" : "odd");
        }
        if (child[i] == 0) {
            _exit(0);
        }
    }
    for (int i = 0; i < WRITERS; i++) {
        int status = -1;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(count(t, "object:even"), ROUNDS * WRITERS / 2);
    assert_int_equal(count(t, "object:odd"), ROUNDS * WRITERS / 2);
}

static int setup_fast(void **state)
{
    struct tempdir *t = calloc(1, sizeof(*t));

    assert_non_null(t);
    assert_true(tempdir_make_fast(t->path));
    *state = t;
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_fast, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_empty__no_folder__then_no_rows),
        TEST(test_note__all_members__then_they_are_read),
        TEST(test_pages__more_rows_than_a_page__then_each_once_newest_first),
        TEST(test_words__of_texts_and_names__then_only_these),
        TEST(test_undo__of_an_undo__then_the_first_holds_again),
        TEST(test_undo__what_cannot_be__then_it_says_why),
        TEST(test_find__ids_that_are_none__then_not_found),
        TEST(test_hostile_texts__then_whole_json_and_no_control_character),
        TEST(test_hostile_lines__then_skipped),
        TEST(test_torn_line__then_the_next_one_is_whole),
        TEST(test_folder__then_for_its_group_alone),
        TEST(test_link_in_the_place_of_a_file__then_refused),
        TEST(test_forget__then_the_address_alone_is_gone),
        TEST(test_files__more_than_there_may_be__then_the_oldest_go),
        TEST(test_kill__amid_notes__then_all_acknowledged_are_there),
        TEST(test_writers__at_once__then_no_line_is_lost_or_mixed),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
