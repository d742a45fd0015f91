/* test_origins - the file of origins: round trips, and text that gillnet did not write. */
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/store/origins.h"

#include "tests/unit/tempdir.h"

#define A    "000102030405060708090a0b0c0d0e0f"
#define B    "ff0102030405060708090a0b0c0d0e0f"
#define HEAD "gillnet-origins 1\nself " A "\nquorum 2\n"

static void put(struct tempdir *t, const char *text, size_t n)
{
    (void)mkdir(tempdir_file(t, "peers"), 0700);
    assert_int_equal(file_write_atomic(tempdir_file(t, "peers/origins"),
                                       slice_of(text, n), 0600, NULL),
                     ERR_OK);
}

static void test_origins__when_written__then_they_read_back(void **state)
{
    struct tempdir *t = *state;
    struct origin_row rows[] = {
        {.origin = {1, 2}, .name = "alpha", .cap = 10, .state = ORIGIN_ACTIVE},
        {.origin = {3}, .name = "b-2_c", .cap = UINT64_MAX, .state = ORIGIN_LEFT},
        {.origin = {4}, .name = "c", .cap = 0, .state = ORIGIN_DROPPED},
        {.origin = {5}, .name = "d", .cap = 1, .state = ORIGIN_DISTRUSTED},
    };
    const struct origins o = {.self = {9, 8}, .quorum = 3, .v = rows, .n = 4};
    struct origins back;
    const uint8_t nobody[ORIGIN_BYTES] = {77};

    assert_int_equal(origins_read(t->path, &back, NULL), ERR_NOT_FOUND);
    assert_int_equal(back.n, 0);
    assert_int_equal(mkdir(tempdir_file(t, "peers"), 0700), 0);
    assert_int_equal(origins_write(t->path, &o, NULL), ERR_OK);
    assert_int_equal(origins_read(t->path, &back, NULL), ERR_OK);
    assert_int_equal(back.n, 4);
    assert_int_equal(back.quorum, 3);
    assert_memory_equal(back.self, o.self, ORIGIN_BYTES);
    for (unsigned i = 0; i < 4; i++) {
        const struct origin_row *row = origins_find(&back, rows[i].origin);
        assert_non_null(row);
        assert_string_equal(row->name, rows[i].name);
        assert_int_equal(row->cap, rows[i].cap);
        assert_int_equal(row->state, rows[i].state);
    }
    assert_null(origins_find(&back, nobody));
    origins_fini(&back);
    origins_fini(&back);
}

static void test_subscriptions__of_a_member__say_whose_word_it_is(void **state)
{
    struct tempdir *t = *state;
    struct origin_row rows[] = {
        {.origin = {1, 2}, .name = "alpha", .cap = 10, .state = ORIGIN_ACTIVE}};
    struct origin_row more[] = {
        {.origin = {7}, .owner = {1, 2}, .name = "pub", .state = ORIGIN_ACTIVE},
        {.origin = {8}, .name = "other", .state = ORIGIN_ACTIVE}};
    const struct origins ring = {.v = rows, .n = 1};
    const struct origins followed = {.v = more, .n = 2};
    struct origins back;

    (void)mkdir(tempdir_file(t, "peers"), 0700);
    assert_int_equal(origins_write(t->path, &ring, NULL), ERR_OK);
    assert_int_equal(origins_write_subscriptions(t->path, &followed, NULL), ERR_OK);
    assert_int_equal(origins_read(t->path, &back, NULL), ERR_OK);
    assert_int_equal(back.n, 3);
    assert_memory_equal(back.v[1].owner, rows[0].origin, ORIGIN_BYTES);
    assert_false(origin_is_own(&back.v[1]));
    assert_true(origin_is_own(&back.v[0]) && origin_is_own(&back.v[2]));
    origins_fini(&back);
}

static void test_origins__when_they_cannot_be_written__then_it_is_said(void **state)
{
    struct tempdir *t = *state;
    static const char *const names[] = {"", "A", "a b", "a\n", "\xc3\xa4", "a/b"};

    (void)mkdir(tempdir_file(t, "peers"), 0700);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct origin_row row = {.state = ORIGIN_ACTIVE};
        (void)snprintf(row.name, sizeof(row.name), "%s", names[i]);
        const struct origins o = {.v = &row, .n = 1};
        assert_int_equal(origins_write(t->path, &o, NULL), ERR_RANGE);
    }
    const struct origins many = {.n = ORIGINS_MAX + 1};
    assert_int_equal(origins_write(t->path, &many, NULL), ERR_LIMIT);
}

static void test_origins__when_the_text_is_not_ours__then_nobody_has_a_say(void **state)
{
    static const struct {
        const char *text;
        enum err e;
        unsigned line;
    } cases[] = {
        {"", ERR_SYNTAX, 1},
        {"gillnet-origins 1", ERR_SYNTAX, 1},
        {"gillnet-origins 2\n", ERR_VERSION, 1},
        {"gillnet-origins 99999999999999999999999\n", ERR_SYNTAX, 1},
        {"gillnet-origins 1\n", ERR_SYNTAX, 2},
        {"gillnet-origins 1\nself " A "0\nquorum 2\n", ERR_SYNTAX, 2},
        {"gillnet-origins 1\nself " A "\nquorum -1\n", ERR_SYNTAX, 3},
        {"gillnet-origins 1\nself " A "\nquorum 257\n", ERR_SYNTAX, 3},
        {HEAD, ERR_OK, 0},
        {HEAD A " alpha 10 active\n", ERR_OK, 0},
        {HEAD A " alpha 10 active", ERR_SYNTAX, 4},
        {HEAD A " alpha 10 active\n\n", ERR_SYNTAX, 5},
        {HEAD A " alpha 10 active \n", ERR_SYNTAX, 4},
        {HEAD A " alpha 10 Active\n", ERR_SYNTAX, 4},
        {HEAD A " alpha 10\n", ERR_SYNTAX, 4},
        {HEAD A " alpha 18446744073709551616 active\n", ERR_SYNTAX, 4},
        {HEAD A " alpha x active\n", ERR_SYNTAX, 4},
        {HEAD A "  10 active\n", ERR_SYNTAX, 4},
        {HEAD A " 012345678901234567890123456789012 10 active\n", ERR_SYNTAX, 4},
        {HEAD "0001 alpha 10 active\n", ERR_SYNTAX, 4},
        {HEAD A " alpha 10 active\n" A " beta 10 active\n", ERR_SYNTAX, 5},
        {HEAD A " alpha 10 active\n" B " alpha 10 active\n", ERR_SYNTAX, 5},
    };
    struct tempdir *t = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct origins o;
        struct errinfo why = {.line = 0};
        put(t, cases[i].text, strlen(cases[i].text));
        assert_int_equal(origins_read(t->path, &o, &why), cases[i].e);
        assert_int_equal(why.line, cases[i].line);
        assert_true(cases[i].e == ERR_OK || o.n == 0);
        origins_fini(&o);
    }
}

static void test_origins__when_there_are_too_many__then_nobody_has_a_say(void **state)
{
    struct tempdir *t = *state;
    struct origins o;
    struct buf text;

    for (unsigned n = ORIGINS_MAX; n <= ORIGINS_MAX + 1; n++) {
        buf_init(&text, 1 << 20);
        buf_add_str(&text, HEAD);
        for (unsigned i = 0; i < n; i++) {
            buf_printf(&text, "%032x n%u 10 active\n", i, i);
        }
        put(t, text.p, text.n);
        assert_int_equal(origins_read(t->path, &o, NULL),
                         n > ORIGINS_MAX ? ERR_SYNTAX : ERR_OK);
        assert_int_equal(o.n, n > ORIGINS_MAX ? 0 : n);
        origins_fini(&o);
        buf_fini(&text);
    }
    char *large = calloc(1, 1 << 20);
    assert_non_null(large);
    put(t, large, 1 << 20);
    assert_int_equal(origins_read(t->path, &o, NULL), ERR_LIMIT);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_origins__when_written__then_they_read_back,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_subscriptions__of_a_member__say_whose_word_it_is, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_origins__when_they_cannot_be_written__then_it_is_said, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_origins__when_the_text_is_not_ours__then_nobody_has_a_say,
            tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_origins__when_there_are_too_many__then_nobody_has_a_say, tempdir_setup,
            tempdir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
