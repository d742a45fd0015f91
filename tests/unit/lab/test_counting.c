/*
 * test_counting - the paper's examples row by row, limits one below, at and above, and refused
 * arguments.
 */
#include <math.h>

#include "core/lab/plan.h"

#include "tests/unit/lab/counting_make.h"

static const unsigned widths[] = {4, 5, 6, 8, 16};
enum { WIDTHS = sizeof(widths) / sizeof(widths[0]) };

/* Raises one cell alone: all positions of such a key coincide (H2). */
static void raise_cell(struct counting *c, uint64_t position, uint64_t amount)
{
    uint64_t same[COUNTING_K_MAX];
    for (unsigned j = 0; j < c->shape.k; j++) {
        same[j] = position;
    }
    (void)counting_add_at(c, same, amount);
}

static void assert_cells(const struct counting *c, const uint64_t *cells, unsigned n)
{
    for (unsigned j = 0; j < n; j++) {
        assert_int_equal(counting_cell(c, j), cells[j]);
    }
}

static struct counting three_cells(enum counting_variant variant, unsigned bits,
                                   const uint64_t cells[3])
{
    struct counting_shape s = counting_flat(variant, bits, 3, 3);
    struct counting c = counting_make(&s, NULL);
    for (unsigned j = 0; j < 3; j++) {
        raise_cell(&c, j, cells[j]);
    }
    return c;
}

static const uint64_t all_three[] = {0, 1, 2};

/* Table 2 of the paper: a key's three cells at server b, as it occurs 0 to 4 times where others
 * left (1,1,0); then what follows the counter-example's (4,4,3). */
static void test_counting_add__table_2_of_the_paper__each_row_in_both_columns(
    void **state)
{
    (void)state;
    static const struct {
        enum counting_variant variant;
        uint64_t rows[5][3];
    } columns[] = {
        {COUNTING_INTUITIVE, {{1, 1, 0}, {2, 2, 1}, {3, 3, 2}, {4, 4, 3}, {5, 5, 4}}},
        {COUNTING_REFINED, {{1, 1, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}}},
        {COUNTING_INTUITIVE, {{4, 4, 3}, {5, 5, 4}, {6, 6, 5}, {7, 7, 6}, {8, 8, 7}}},
        {COUNTING_REFINED, {{4, 4, 3}, {4, 4, 4}, {5, 5, 5}, {6, 6, 6}, {7, 7, 7}}},
    };
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        struct counting c = three_cells(columns[i].variant, 5, columns[i].rows[0]);
        for (unsigned row = 0; row < 5; row++) {
            const uint64_t *cells = columns[i].rows[row];
            assert_cells(&c, cells, 3);
            assert_int_equal(counting_get_at(&c, all_three).count, cells[2]);
            struct counting_read r = counting_add_at(&c, all_three, 1);
            assert_int_equal(r.count, cells[2] + 1);
            assert_false(r.is_saturated);
        }
        counting_drop(&c);
    }
}

/* The paper's counter-example: seen 2 times at a (2,5,8) and 3 times at b (4,4,3), the sum of
 * the cells says 6; one more at each, and it says 8, with H1 7. */
static void test_counting_merge__the_papers_counter_example__six_then_eight_or_seven(
    void **state)
{
    (void)state;
    static const uint64_t a[] = {2, 5, 8};
    static const uint64_t b[] = {4, 4, 3};
    static const struct {
        enum counting_variant variant;
        uint64_t more;
        uint64_t expected;
    } rows[] = {
        {COUNTING_INTUITIVE, 0, 6},
        {COUNTING_INTUITIVE, 1, 8},
        {COUNTING_REFINED, 0, 6},
        {COUNTING_REFINED, 1, 7},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct counting at_a = three_cells(rows[i].variant, 5, a);
        struct counting at_b = three_cells(rows[i].variant, 5, b);
        uint64_t sum = counting_add_at(&at_a, all_three, rows[i].more).count +
                       counting_add_at(&at_b, all_three, rows[i].more).count;
        assert_int_equal(sum, 5 + 2 * rows[i].more); /* planes kept apart are exact */
        assert_int_equal(counting_merge(&at_a, &at_b, NULL), ERR_OK);
        assert_int_equal(counting_get_at(&at_a, all_three).count, rows[i].expected);
        counting_drop(&at_a);
        counting_drop(&at_b);
    }
}

static void test_counting_add__positions_that_coincide__rise_once(void **state)
{
    (void)state;
    static const uint64_t positions[] = {1, 0, 1};
    static const struct {
        enum counting_variant variant;
        uint64_t expected[2];
    } rows[] = {{COUNTING_INTUITIVE, {5, 3}}, {COUNTING_REFINED, {3, 3}}};
    for (size_t w = 0; w < WIDTHS; w++) {
        for (size_t i = 0; i < 2; i++) {
            struct counting_shape s = counting_flat(rows[i].variant, widths[w], 3, 2);
            struct counting c = counting_make(&s, NULL);
            raise_cell(&c, 0, 2);
            assert_int_equal(counting_add_at(&c, positions, 1).count, 1);
            assert_int_equal(counting_add_at(&c, positions, 2).count, 3);
            assert_cells(&c, rows[i].expected, 2);
            counting_drop(&c);
        }
    }
}

static void test_counting_add__to_the_cap__says_so_and_stays(void **state)
{
    (void)state;
    static const uint64_t amounts[] = {1, 7, UINT64_MAX};
    for (size_t w = 0; w < WIDTHS; w++) {
        uint64_t cap = ((uint64_t)1 << widths[w]) - 1;
        for (size_t i = 0; i < 3; i++) {
            struct counting_shape s =
                counting_flat(COUNTING_INTUITIVE + i % 2, widths[w], 2, 40);
            struct counting c = counting_make(&s, NULL);
            static const uint64_t at[] = {11, 12};
            struct counting_read r = counting_add_at(&c, at, cap - 1);
            assert_int_equal(r.count, cap - 1);
            assert_false(r.is_saturated);
            for (unsigned more = 0; more < 3; more++) {
                r = counting_add_at(&c, at, amounts[i]);
                assert_int_equal(r.count, cap);
                assert_true(r.is_saturated);
            }
            assert_int_equal(counting_cell(&c, 10), 0); /* no carry into neighbours */
            assert_int_equal(counting_cell(&c, 13), 0);
            counting_drop(&c);
        }
    }
}

static void test_counting_remove__intuitive__takes_back_and_refuses_too_much(
    void **state)
{
    (void)state;
    struct errinfo info;
    for (size_t w = 0; w < WIDTHS; w++) {
        struct counting_shape s = counting_flat(COUNTING_INTUITIVE, widths[w], 4, 500);
        struct counting c = counting_make(&s, &key_one);
        for (uint64_t i = 0; i < 200; i++) {
            struct digest d = digest_number(1, i);
            (void)counting_add(&c, &d, 1 + i % 3);
        }
        struct digest never = digest_number(2, 1);
        uint64_t more = counting_get(&c, &never).count + 1;
        assert_int_equal(counting_remove(&c, &never, more, &info), ERR_NOT_FOUND);
        for (uint64_t i = 0; i < 200; i++) {
            struct digest d = digest_number(1, i);
            assert_int_equal(counting_remove(&c, &d, 1 + i % 3, &info), ERR_OK);
        }
        for (uint64_t i = 0; i < 500 && widths[w] > 4; i++) {
            assert_int_equal(counting_cell(&c, i), 0);
        }
        counting_drop(&c);
    }
}

static void test_counting_remove__a_saturated_cell__stays(void **state)
{
    (void)state;
    struct counting_shape s = counting_flat(COUNTING_INTUITIVE, 5, 2, 10);
    struct counting c = counting_make(&s, NULL);
    static const uint64_t at[] = {3, 4};
    raise_cell(&c, 3, 100);
    (void)counting_add_at(&c, at, 10);
    assert_int_equal(counting_remove_at(&c, at, 10, NULL), ERR_OK);
    assert_int_equal(counting_cell(&c, 3), 31);
    assert_int_equal(counting_cell(&c, 4), 0);
    counting_drop(&c);
}

static void test_counting_remove__refined__refused_with_the_reason(void **state)
{
    (void)state;
    struct counting_shape s = counting_flat(COUNTING_REFINED, 8, 4, 100);
    struct counting c = counting_make(&s, &key_one);
    struct digest d = digest_number(1, 1);
    struct errinfo info = {.text = ""};
    (void)counting_add(&c, &d, 3);
    assert_int_equal(counting_remove(&c, &d, 1, &info), ERR_UNSUPPORTED);
    assert_non_null(strstr(info.text, "counted too low"));
    assert_int_equal(counting_get(&c, &d).count, 3);
    counting_drop(&c);
}

static void test_counting_merge__others__refused_and_nothing_done(void **state)
{
    (void)state;
    const struct counting_shape base = {.variant = COUNTING_INTUITIVE,
                                        .layout = COUNTING_FLAT,
                                        .cell_bits = 8,
                                        .k = 4,
                                        .nchunks = 2,
                                        .chunk_cells = 100};
    struct {
        enum err expected;
        const struct hashkey *key;
        struct counting_shape s;
        const char *named;
    } rows[] = {
        {ERR_UNSUPPORTED, &key_one, base, "variant"},
        {ERR_UNSUPPORTED, &key_one, base, "layout"},
        {ERR_UNSUPPORTED, &key_one, base, "width"},
        {ERR_RANGE, &key_one, base, "k is"},
        {ERR_RANGE, &key_one, base, "number of chunks"},
        {ERR_RANGE, &key_one, base, "cells in a chunk"},
        {ERR_KEY, &key_two, base, "different keys"},
    };
    rows[0].s.variant = COUNTING_REFINED;
    rows[1].s.layout = COUNTING_SPLIT;
    rows[1].s.chunk_slots = 10;
    rows[2].s.cell_bits = 6;
    rows[3].s.k = 5;
    rows[4].s.nchunks = 1;
    rows[5].s.chunk_cells = 99;
    struct digest d = digest_number(1, 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct counting c = counting_make(&base, &key_one);
        struct counting other = counting_make(&rows[i].s, rows[i].key);
        struct errinfo info = {.text = ""};
        (void)counting_add(&c, &d, 2);
        (void)counting_add(&other, &d, 2);
        assert_int_equal(counting_merge(&c, &other, &info), rows[i].expected);
        assert_non_null(strstr(info.text, rows[i].named));
        assert_int_equal(counting_get(&c, &d).count, 2);
        counting_drop(&c);
        counting_drop(&other);
    }
}

static void test_counting_merge__above_the_cap__saturates(void **state)
{
    (void)state;
    for (size_t w = 0; w < WIDTHS; w++) {
        uint64_t cap = ((uint64_t)1 << widths[w]) - 1;
        struct counting_shape s = counting_flat(COUNTING_INTUITIVE, widths[w], 1, 30);
        struct counting a = counting_make(&s, NULL);
        struct counting b = counting_make(&s, NULL);
        for (uint64_t i = 0; i < 30; i++) {
            raise_cell(&a, i, cap - i % 5);
            raise_cell(&b, i, i % 3);
        }
        assert_int_equal(counting_merge(&a, &b, NULL), ERR_OK);
        for (uint64_t i = 0; i < 30; i++) {
            uint64_t sum = cap - i % 5 + i % 3;
            assert_int_equal(counting_cell(&a, i), sum < cap ? sum : cap);
        }
        counting_drop(&a);
        counting_drop(&b);
    }
}

static void test_counting_check__hostile_shapes__refused(void **state)
{
    (void)state;
    const struct counting_shape good = {.variant = COUNTING_REFINED,
                                        .layout = COUNTING_SPLIT,
                                        .cell_bits = 5,
                                        .k = 16,
                                        .nchunks = 1,
                                        .chunk_cells = 1,
                                        .chunk_slots = 1};
    struct {
        enum err expected;
        struct counting_shape s;
    } rows[32];
    size_t n = 0;
#define ROW(code, field, value) \
    rows[n].s = good;           \
    rows[n].s.field = value;    \
    rows[n++].expected = code
    ROW(ERR_OK, k, 1);
    ROW(ERR_RANGE, k, 0);
    ROW(ERR_OK, k, COUNTING_K_MAX);
    ROW(ERR_RANGE, k, COUNTING_K_MAX + 1);
    ROW(ERR_RANGE, nchunks, 0);
    ROW(ERR_OK, nchunks, COUNTING_CHUNKS_MAX);
    ROW(ERR_RANGE, nchunks, COUNTING_CHUNKS_MAX + 1);
    ROW(ERR_RANGE, nchunks, UINT64_MAX);
    ROW(ERR_RANGE, chunk_cells, 0);
    ROW(ERR_OK, chunk_cells, COUNTING_CHUNK_CELLS_MAX);
    ROW(ERR_RANGE, chunk_cells, COUNTING_CHUNK_CELLS_MAX + 1);
    ROW(ERR_RANGE, chunk_cells, UINT64_MAX);
    ROW(ERR_RANGE, chunk_slots, 0);
    ROW(ERR_RANGE, chunk_slots, UINT64_MAX);
    ROW(ERR_UNSUPPORTED, cell_bits, 0);
    ROW(ERR_UNSUPPORTED, cell_bits, 7);
    ROW(ERR_UNSUPPORTED, cell_bits, 64);
    ROW(ERR_UNSUPPORTED, variant, 0);
    ROW(ERR_UNSUPPORTED, variant, 3);
    ROW(ERR_UNSUPPORTED, layout, 0);
    ROW(ERR_UNSUPPORTED, layout, 3);
    ROW(ERR_RANGE, layout, COUNTING_FLAT); /* with slots */
    ROW(ERR_RANGE, nchunks, COUNTING_CHUNKS_MAX);
    rows[n - 1].s.chunk_cells = COUNTING_CHUNK_CELLS_MAX; /* each fits, both do not */
    ROW(ERR_RANGE, nchunks, COUNTING_CHUNKS_MAX);
    rows[n - 1].s.chunk_slots = COUNTING_CHUNK_CELLS_MAX;
#undef ROW
    for (size_t i = 0; i < n; i++) {
        struct errinfo info = {.text = ""};
        enum err e = counting_check(&rows[i].s, &info);
        if (e != rows[i].expected || (e != ERR_OK && info.text[0] == '\0')) {
            fail_msg("row %zu: %s, expected %s (%s: %s)", i, err_text(e),
                     err_text(rows[i].expected), info.source, info.text);
        }
    }
}

/* Equations (3) and (4) are upper bounds of both variants. */
static void test_counting__keys_never_added__at_most_equation_4(void **state)
{
    (void)state;
    enum { KEYS = 20000, CELLS = 20000, ASKED = 200000, THRESHOLD = 6 };
    const struct plan_counting plan = {
        .items = KEYS, .cells = CELLS, .k = 4, .threshold = THRESHOLD};
    double bound = exp(plan_log_dcc_error(&plan));
    uint64_t over[2] = {0, 0};
    for (unsigned v = 0; v < 2; v++) {
        struct counting_shape s = counting_flat(COUNTING_INTUITIVE + v, 8, 4, CELLS);
        struct counting c = counting_make(&s, &key_one);
        for (uint64_t i = 0; i < KEYS; i++) {
            struct digest d = digest_number(1, i);
            (void)counting_add(&c, &d, 1);
        }
        for (uint64_t i = 0; i < ASKED; i++) {
            struct digest d = digest_number(2, i);
            over[v] += counting_get(&c, &d).count >= THRESHOLD;
        }
        counting_drop(&c);
    }
    double expected = bound * ASKED;
    print_message("f_dcc * %d = %.1f; intuitive %lu, refined %lu\n", ASKED, expected,
                  (unsigned long)over[0], (unsigned long)over[1]);
    assert_true((double)over[0] <= expected + 4 * sqrt(expected) + 1);
    assert_true(over[1] <= over[0]);
}

int main(void)
{
    base_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_counting_add__table_2_of_the_paper__each_row_in_both_columns),
        cmocka_unit_test(
            test_counting_merge__the_papers_counter_example__six_then_eight_or_seven),
        cmocka_unit_test(test_counting_add__positions_that_coincide__rise_once),
        cmocka_unit_test(test_counting_add__to_the_cap__says_so_and_stays),
        cmocka_unit_test(
            test_counting_remove__intuitive__takes_back_and_refuses_too_much),
        cmocka_unit_test(test_counting_remove__a_saturated_cell__stays),
        cmocka_unit_test(test_counting_remove__refined__refused_with_the_reason),
        cmocka_unit_test(test_counting_merge__others__refused_and_nothing_done),
        cmocka_unit_test(test_counting_merge__above_the_cap__saturates),
        cmocka_unit_test(test_counting_check__hostile_shapes__refused),
        cmocka_unit_test(test_counting__keys_never_added__at_most_equation_4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
