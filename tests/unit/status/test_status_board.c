/* test_board - sections are swapped whole, tasks are shown until they end. */
#include <string.h>

#include "core/hub/status/status_board.h"

#include "tests/unit/unit.h"

static void assert_section(struct status_board *b, enum status_board_section s,
                           const char *text)
{
    struct buf got;

    buf_init(&got, 4096);
    status_board_add(b, s, &got);
    assert_string_equal(got.p, text);
    buf_fini(&got);
}

static void test_board__when_new__then_every_section_is_empty(void **state)
{
    struct status_board *b = status_board_new();

    (void)state;
    assert_section(b, STATUS_BOARD_HUB, "{}");
    assert_section(b, STATUS_BOARD_RING, "null");
    assert_section(b, STATUS_BOARD_FEEDS, "[]");
    status_board_free(&b);
    assert_null(b);
}

static void test_board__when_put__then_swapped_and_newer(void **state)
{
    struct status_board *b = status_board_new();
    uint64_t before = status_board_version(b, STATUS_BOARD_FEEDS);

    (void)state;
    status_board_put(b, STATUS_BOARD_FEEDS, json_pack("[{s:s}]", "name", "a"));
    assert_section(b, STATUS_BOARD_FEEDS, "[{\"name\":\"a\"}]");
    assert_int_equal(status_board_version(b, STATUS_BOARD_FEEDS), before + 1);
    status_board_put(b, STATUS_BOARD_FEEDS, NULL);
    assert_section(b, STATUS_BOARD_FEEDS, "[{\"name\":\"a\"}]");
    json_t *v = status_board_get(b, STATUS_BOARD_FEEDS);
    assert_int_equal(json_array_size(v), 1);
    json_decref(v);
    status_board_free(&b);
}

static void test_task__when_it_runs__then_shown_until_its_end(void **state)
{
    struct status_board *b = status_board_new();
    struct board_task *t = status_board_task_begin(b, "import", "phish");

    (void)state;
    status_board_task_show(t, "sorting", 0.5);
    json_t *rows = status_board_get(b, STATUS_BOARD_TASKS);
    json_t *row = json_array_get(rows, 0);
    assert_string_equal(json_string_value(json_object_get(row, "name")), "phish");
    assert_string_equal(json_string_value(json_object_get(row, "stage")), "sorting");
    json_decref(rows);
    status_board_task_end(&t);
    assert_null(t);
    assert_section(b, STATUS_BOARD_TASKS, "[]");
    status_board_task_show(t, "nothing", 0);
    status_board_task_end(&t);
    status_board_free(&b);
}

static void test_task__when_there_are_too_many__then_null_and_no_harm(void **state)
{
    enum { MANY = 65 };
    struct status_board *b = status_board_new();
    struct board_task *t[MANY];

    (void)state;
    for (int i = 0; i < MANY; i++) {
        t[i] = status_board_task_begin(b, "import", "x");
    }
    assert_null(t[MANY - 1]);
    for (int i = 0; i < MANY; i++) {
        status_board_task_end(&t[i]);
    }
    assert_section(b, STATUS_BOARD_TASKS, "[]");
    status_board_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_board__when_new__then_every_section_is_empty),
        cmocka_unit_test(test_board__when_put__then_swapped_and_newer),
        cmocka_unit_test(test_task__when_it_runs__then_shown_until_its_end),
        cmocka_unit_test(test_task__when_there_are_too_many__then_null_and_no_harm),
    };
    return cmocka_run_group_tests_name("board", tests, NULL, NULL);
}
