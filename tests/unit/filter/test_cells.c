/*
 * test_cells - counts around the width of a cell, cells that are full, the chain of touched lines.
 */
#include "core/base/base.h"
#include "core/filter/cells.h"

#include "tests/unit/unit.h"

enum { LINES = 64 };

static struct cells_line lines[LINES];
static struct cells_figures figures;
static struct cells cells;

static int begin(void **state)
{
    (void)state;
    memset(lines, 0, sizeof(lines));
    cells_init(&cells, lines, LINES, &figures);
    return 0;
}

static int end(void **state)
{
    (void)state;
    cells_fini(&cells);
    return 0;
}

static void assert_count(uint64_t hash, uint64_t hour, uint64_t day, uint64_t fortnight)
{
    uint64_t got[CELLS_WINDOWS];

    cells_read(&cells, hash, got);
    if (got[0] != hour || got[1] != day || got[2] != fortnight) {
        fail_msg("%llu %llu %llu", (unsigned long long)got[0],
                 (unsigned long long)got[1], (unsigned long long)got[2]);
    }
}

/* The sum of one column of all lines; each key of it has three cells. */
static uint64_t sum_of(enum cells_column column)
{
    uint64_t sum = 0;

    for (uint64_t line = 0; line < LINES; line++) {
        for (unsigned cell = 0; cell < CELLS_OF_LINE; cell++) {
            sum += cells_value(&cells, line, cell, column);
        }
    }
    return sum;
}

static void test_add__around_the_width_of_a_cell__then_exact(void **state)
{
    static const struct {
        uint64_t amount;
        uint64_t overflowed; /* counts that go on in the table */
    } rows[] = {
        {1, 0},     {254, 0},    {255, 6},    {256, 6},
        {65534, 6}, {65535, 12}, {65536, 12}, {UINT64_MAX - 1, 12},
    };

    for (size_t i = 0; i < LENGTH(rows); i++) {
        uint64_t got[CELLS_WINDOWS];

        (void)begin(state);
        cells_add(&cells, 7, rows[i].amount, CELLS_ALL_WINDOWS, got);
        assert_true(got[0] == rows[i].amount && got[2] == rows[i].amount);
        assert_count(7, rows[i].amount, rows[i].amount, rows[i].amount);
        assert_int_equal(sum_of(CELLS_RUNNING), 3 * rows[i].amount);
        assert_int_equal(cells_overflowed(&cells), rows[i].overflowed);
        assert_int_equal(cells_used(&cells), 1);
        (void)end(state);
    }
}

static void test_add__one_by_one__then_exact_over_the_mark(void **state)
{
    uint64_t got[CELLS_WINDOWS];

    (void)state;
    for (uint64_t i = 1; i <= 300; i++) {
        cells_add(&cells, 7, 1, CELLS_ALL_WINDOWS, got);
        assert_count(7, i, i, i);
    }
}

static void test_add__to_some_windows__then_to_no_other(void **state)
{
    uint64_t got[CELLS_WINDOWS];

    (void)state;
    cells_add(&cells, 7, 5, 1U << 1, got);
    assert_count(7, 0, 5, 0);
    assert_int_equal(cells_used(&cells), 0); /* nothing in the longest window */
}

static void test_add__more_than_a_number_holds__then_saturated_for_good(void **state)
{
    uint64_t got[CELLS_WINDOWS];
    uint64_t ended[CELLS_OF_LINE];
    const uint64_t line = cells_line(&cells, 7);
    uint64_t of = 0;

    (void)state;
    cells_add(&cells, 7, UINT64_MAX - 1, CELLS_ALL_WINDOWS, got);
    cells_add(&cells, 7, 2, CELLS_ALL_WINDOWS, got);
    assert_count(7, CELLS_SATURATED, CELLS_SATURATED, CELLS_SATURATED);
    assert_int_equal(cells_overflowed(&cells), 0);
    for (unsigned cell = 0; cell < CELLS_OF_LINE; cell++) {
        cells_take(&cells, line, cell, 1, CELLS_ALL_WINDOWS);
    }
    assert_count(7, CELLS_SATURATED, CELLS_SATURATED, CELLS_SATURATED);
    assert_true(cells_next(&cells, &of, ended));
    assert_int_equal(of, line);
    for (unsigned cell = 0; cell < CELLS_OF_LINE; cell++) {
        assert_int_equal(ended[cell], 0);
    }
}

static void test_next__after_a_bucket__then_each_touched_line_once(void **state)
{
    bool is_touched[LINES] = {false};
    uint64_t got[CELLS_WINDOWS];
    uint64_t ended[CELLS_OF_LINE];
    uint64_t line = 0;
    uint64_t sum = 0;
    unsigned n = 0;

    (void)state;
    assert_false(cells_next(&cells, &line, ended));
    for (uint64_t key = 0; key < 20; key++) {
        cells_add(&cells, key, 300, CELLS_ALL_WINDOWS, got);
        n += !is_touched[cells_line(&cells, key)];
        is_touched[cells_line(&cells, key)] = true;
    }
    const uint64_t all = sum_of(CELLS_RUNNING);
    assert_true(all > 0);
    for (; cells_next(&cells, &line, ended); n--) {
        assert_true(line < LINES && is_touched[line]);
        is_touched[line] = false;
        for (unsigned cell = 0; cell < CELLS_OF_LINE; cell++) {
            sum += ended[cell];
        }
    }
    assert_int_equal(n, 0);
    assert_int_equal(figures.ntouched, 0);
    assert_int_equal(sum, all);
    assert_int_equal(sum_of(CELLS_RUNNING), 0);
    assert_true(sum_of(CELLS_HOUR) == all); /* the windows stay */
    cells_add(&cells, 3, 1, CELLS_ALL_WINDOWS, got);
    assert_true(cells_next(&cells, &line, ended)); /* and a line is touched again */
    assert_int_equal(line, cells_line(&cells, 3));
}

static void test_take__all_of_it__then_the_line_is_free(void **state)
{
    uint64_t got[CELLS_WINDOWS];
    const uint64_t line = cells_line(&cells, 7);

    (void)state;
    cells_add(&cells, 7, 70000, CELLS_ALL_WINDOWS, got);
    for (unsigned cell = 0; cell < CELLS_OF_LINE; cell++) {
        cells_take(&cells, line, cell, 69900, 1U << 0 | 1U << 2);
    }
    assert_count(7, 100, 70000, 100);
    assert_int_equal(cells_used(&cells), 1);
    for (unsigned cell = 0; cell < CELLS_OF_LINE; cell++) {
        cells_take(&cells, line, cell, 100, 1U << 2);
        cells_take(&cells, line, cell, 101, 1U << 0); /* not below 0 */
    }
    assert_count(7, 0, 70000, 0);
    assert_int_equal(cells_used(&cells), 0);
    assert_int_equal(cells_overflowed(&cells), 6); /* running and day */
}

static void test_over__a_threshold__then_the_cells_above_it(void **state)
{
    uint64_t over[CELLS_WINDOWS] = {1, 0, 0};
    uint64_t got[CELLS_WINDOWS];

    (void)state;
    cells_add(&cells, 7, 10, 1U << 0 | 1U << 1, got);
    cells_over(&cells, cells_line(&cells, 7), 10, over);
    assert_true(over[0] == 1 && over[1] == 0 && over[2] == 0);
    cells_over(&cells, cells_line(&cells, 7), 9, over);
    assert_true(over[0] == 1 + CELLS_OF_KEY && over[1] == CELLS_OF_KEY && over[2] == 0);
}

static void test_add_late__counts_of_an_ended_bucket__then_in_the_windows_only(
    void **state)
{
    uint64_t late[CELLS_OF_LINE] = {0};

    (void)state;
    cells_add_late(&cells, 7, 300, 1U << 1 | 1U << 2, late);
    assert_count(7, 0, 300, 300);
    cells_add_late(&cells, 7, 5, 1U << 1 | 1U << 2, late);
    assert_count(7, 0, 305, 305);
    assert_int_equal(sum_of(CELLS_RUNNING), 0);
    assert_int_equal(cells_used(&cells), 1);
    uint64_t sum = 0;
    for (unsigned cell = 0; cell < CELLS_OF_LINE; cell++) {
        sum += late[cell];
    }
    assert_int_equal(sum, 3 * 305);
    cells_add_late(&cells, 7, UINT64_MAX, CELLS_ALL_WINDOWS, late);
    assert_count(7, CELLS_SATURATED - 1 - 305, CELLS_SATURATED - 1,
                 CELLS_SATURATED - 1); /* so that it can be taken off again */
}

static void test_clear__then_as_new(void **state)
{
    uint64_t got[CELLS_WINDOWS];
    uint64_t ended[CELLS_OF_LINE];
    uint64_t line = 0;

    (void)state;
    cells_add(&cells, 7, 70000, CELLS_ALL_WINDOWS, got);
    cells_clear(&cells);
    assert_count(7, 0, 0, 0);
    assert_int_equal(cells_used(&cells), 0);
    assert_int_equal(cells_overflowed(&cells), 0);
    assert_false(cells_next(&cells, &line, ended));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add__around_the_width_of_a_cell__then_exact),
        TEST(test_add__one_by_one__then_exact_over_the_mark),
        TEST(test_add__to_some_windows__then_to_no_other),
        TEST(test_add__more_than_a_number_holds__then_saturated_for_good),
        TEST(test_next__after_a_bucket__then_each_touched_line_once),
        TEST(test_take__all_of_it__then_the_line_is_free),
        TEST(test_over__a_threshold__then_the_cells_above_it),
        TEST(test_add_late__counts_of_an_ended_bucket__then_in_the_windows_only),
        TEST(test_clear__then_as_new),
    };
#undef TEST
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
