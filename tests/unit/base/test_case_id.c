/*
 * test_case_id - ids are different, sort by time, tell no order within a second, and can be read
 * back.
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/case_id.h"

#include "tests/unit/unit.h"

enum { IDS = 200000, NOW = 1790000000 };

static int by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void test_case_id__within_one_second__then_all_are_different_and_unordered(
    void **state)
{
    uint64_t *ids = calloc(IDS, sizeof(*ids));
    size_t nrising = 0;

    (void)state;
    assert_non_null(ids);
    for (size_t i = 0; i < IDS; i++) {
        ids[i] = case_id_next(NOW);
        assert_int_equal(case_id_time_s(ids[i]), NOW);
        nrising += i > 0 && ids[i] > ids[i - 1];
    }
    assert_in_range(nrising, IDS * 45 / 100, IDS * 55 / 100);
    qsort(ids, IDS, sizeof(*ids), by_id);
    for (size_t i = 1; i < IDS; i++) {
        assert_true(ids[i] != ids[i - 1]);
    }
    assert_true(case_id_next(NOW + 1) > ids[IDS - 1]);
    free(ids);
}

static void
test_case_id__when_another_process_starts_in_that_second__then_none_is_repeated(
    void **state)
{
    const struct hashkey key = {.id = 1, .bytes = "any sixteen byte"};
    const uint64_t start_us = UINT64_C(1790000000123456);
    uint64_t *ids = calloc(IDS, sizeof(*ids));

    (void)state;
    assert_non_null(ids);
    for (size_t i = 0; i < IDS; i++) {
        if (i % (IDS / 4) == 0) {
            case_id_begin(&key, start_us + i);
        }
        ids[i] = case_id_next(NOW);
    }
    qsort(ids, IDS, sizeof(*ids), by_id);
    for (size_t i = 1; i < IDS; i++) {
        assert_true(ids[i] != ids[i - 1]);
    }
    free(ids);
}

static void test_case_id__when_it_is_printed__then_it_is_read_back(void **state)
{
    char text[CASE_ID_SIZE];
    uint64_t got = 0;

    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        uint64_t id = case_id_next(NOW + i);
        case_id_print(id, text);
        assert_int_equal(strlen(text), CASE_ID_CHARS);
        assert_true(case_id_read(slice_str(text), &got));
        assert_true(got == id);
        for (char *p = text; *p != '\0'; p++) {
            *p = *p == '0' ? 'O' : *p == '1' ? 'l' : *p;
        }
        assert_true(case_id_read(slice_str(text), &got));
        assert_true(got == id);
    }
}

static void test_case_id__when_the_text_is_none__then_it_is_refused(void **state)
{
    uint64_t got = 0;

    (void)state;
    assert_false(case_id_read(SLICE_NONE, &got));
    assert_false(case_id_read(SLICE_LIT("d3k7p0vq9x2"), &got));
    assert_false(case_id_read(SLICE_LIT("d3k7p0vq9x2mm"), &got));
    assert_false(case_id_read(SLICE_LIT("d3k7p0vq9x2u"), &got));
    assert_false(case_id_read(slice_of("d3k7p0vq9x2\0", 12), &got));
}

/* A clock that was never set gives no id of 0. */
static void test_case_id__when_the_clock_is_before_all_ids__then_of_a_later_second(
    void **state)
{
    const uint64_t first_s = case_id_time_s(0);

    (void)state;
    assert_true(case_id_time_s(case_id_next(0)) > first_s);
    assert_true(case_id_time_s(case_id_next(first_s)) > first_s);
    assert_int_equal(case_id_time_s(case_id_next(first_s + 1)), first_s + 1);
}

int main(void)
{
    base_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_case_id__within_one_second__then_all_are_different_and_unordered),
        cmocka_unit_test(
            test_case_id__when_another_process_starts_in_that_second__then_none_is_repeated),
        cmocka_unit_test(
            test_case_id__when_the_clock_is_before_all_ids__then_of_a_later_second),
        cmocka_unit_test(test_case_id__when_it_is_printed__then_it_is_read_back),
        cmocka_unit_test(test_case_id__when_the_text_is_none__then_it_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
