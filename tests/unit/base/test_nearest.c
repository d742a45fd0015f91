/*
 * test_nearest - edits between names, and which name a misspelt one meant.
 */
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/nearest.h"
#include "core/base/std.h"

#include "tests/unit/unit.h"

#define NAME_40 "0123456789012345678901234567890123456789"

static void test_edits__of_two_names__then_the_fewest(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        size_t edits;
    } rows[] = {
        {"", "", 0},
        {"", "abc", 3},
        {"abc", "", 3},
        {"list", "list", 0},
        {"list", "lists", 1},
        {"list", "lst", 1},
        {"list", "lost", 1},
        {"list", "lsit", 1}, /* neighbours changed places */
        {"list", "tsil", 3},
        {"abcd", "wxyz", 4},
        {"LIST", "list", 0},
        {"AZ", "az", 0},
        {"list-add", "list_add", 0},
        {"list add", "list.add", 0},
        {"[list", "{list", 1}, /* no letters, though one bit apart */
        {"@list", "`list", 1},
        {NAME_40, NAME_40, 0},
        {NAME_40, "", 40},
        {NAME_40 "0", NAME_40, NEAREST_NAME_MAX},
        {NAME_40, NAME_40 "0", NEAREST_NAME_MAX},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        size_t edits = nearest_edits(slice_str(rows[i].a), slice_str(rows[i].b));

        if (edits != rows[i].edits) {
            fail_msg("%s, %s: %zu", rows[i].a, rows[i].b, edits);
        }
    }
}

static void test_name__misspelt__then_the_nearest_or_none(void **state)
{
    static const char *const names[] = {"status", "stat", "lookup", "quarantine"};
    static const struct {
        const char *name;
        const char *nearest;
    } rows[] = {
        {"stat", "stat"},
        {"stats", "status"}, /* the first of two that are as near */
        {"sta", "stat"},
        {"satus", "status"},
        {"lokup", "lookup"},
        {"lookpu", "lookup"},
        {"lokp", NULL}, /* two edits are many in a short name */
        {"qarantin", "quarantine"},
        {"qarntin", NULL},
        {"karantaene", NULL},
        {"", NULL},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const char *got = nearest_name(slice_str(rows[i].name), names, LENGTH(names));

        if (got == NULL || rows[i].nearest == NULL
                ? got != rows[i].nearest
                : strcmp(got, rows[i].nearest) != 0) {
            fail_msg("%s: %s", rows[i].name, got != NULL ? got : "none");
        }
    }
}

static void test_most__by_length__then_about_a_third(void **state)
{
    static const size_t most[] = {1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4};

    (void)state;
    for (size_t i = 0; i < LENGTH(most); i++) {
        assert_int_equal(nearest_most(i), most[i]);
    }
}

/* Returns the standard error of nearest_option_print. */
static const char *printed(const char *written, char ret[200])
{
    static const struct option longs[] = {{"since", required_argument, NULL, 's'},
                                          {"dry-run", no_argument, NULL, 'n'},
                                          {NULL, 0, NULL, 0}};
    FILE *kept = tmpfile();
    const int before = dup(STDERR_FILENO);

    assert_non_null(kept);
    assert_true(before >= 0 && dup2(fileno(kept), STDERR_FILENO) >= 0);
    nearest_option_print("gillnet list", written, longs);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    (void)close(before);
    rewind(kept);
    ret[fread(ret, 1, 199, kept)] = '\0';
    (void)fclose(kept);
    return ret;
}

static void test_option_print__misspelt__then_the_nearest_or_nothing(void **state)
{
    char text[200];

    (void)state;
    assert_string_equal(printed("--sicne", text),
                        "gillnet list: did you mean \"--since\"?\n");
    assert_string_equal(printed("--dry_run", text),
                        "gillnet list: did you mean \"--dry-run\"?\n");
    assert_string_equal(printed("--since", text), ""); /* it has another mistake */
    assert_string_equal(printed("--verbose", text), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edits__of_two_names__then_the_fewest),
        cmocka_unit_test(test_name__misspelt__then_the_nearest_or_none),
        cmocka_unit_test(test_most__by_length__then_about_a_third),
        cmocka_unit_test(test_option_print__misspelt__then_the_nearest_or_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
