/*
 * test_prices - a price file read, and every fault of one named with its line.
 */
#include <stdio.h>
#include <unistd.h>

#include "core/lab/prices.h"

#include "tests/unit/unit.h"

static char path[] = "/tmp/test_prices_XXXXXX";

static void write_file(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void test_prices_load__whole_file__every_number(void **state)
{
    (void)state;
    struct prices p = {.instance = 150, .instances = 7};
    struct config_errors errors = {0, NULL};
    write_file(
        "# prices\nmemory_gb = 2;\ninstance_gb = 64.5;\nfalse_positive_query = 1e-4;\n"
        "false_positive = .01;\nunconfirmed = 0;\nqueries_per_day = 2.0e8;\n"
        "max_error = 0.01;\nerrors = [1e-4, 0.01];\nitems = (1000000, 3e9);\n");
    assert_int_equal(prices_load(path, &p, &errors), ERR_OK);
    assert_int_equal(errors.n, 0);
    assert_true(p.memory_gb == 2 && p.instance_gb == 64.5 && p.instance == 150);
    assert_true(p.instances == 7 && p.false_positive_query == 1e-4);
    assert_true(p.false_positive == 0.01 && p.unconfirmed == 0);
    assert_true(p.queries_per_day == 2e8 && p.max_error == 0.01);
    assert_true(p.errors.n == 2 && p.errors.v[0] == 1e-4 && p.errors.v[1] == 0.01);
    assert_true(p.items.n == 2 && p.items.v[0] == 1e6 && p.items.v[1] == 3e9);
}

static void test_prices_load__faults__line_and_what_to_do(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum err code;
        unsigned line;
        const char *says;
    } rows[] = {
        {"memory_gb = 1;\nmemory = 2;\n", ERR_SYNTAX, 2, "no price named memory"},
        {"\n\ninstance = \"150\";\n", ERR_SYNTAX, 3, "without quotes"},
        {"instance = -1;\n", ERR_RANGE, 1, "from 0"},
        {"instance = 1e400;\n", ERR_RANGE, 1, "from 0"},
        {"unconfirmed = 1.5;\n", ERR_RANGE, 1, "from 0 to 1"},
        {"errors = 0.1;\n", ERR_SYNTAX, 1, "square brackets"},
        {"errors = [];\n", ERR_LIMIT, 1, "1 to 16"},
        {"errors = [0.0];\n", ERR_RANGE, 1, "errors"},
        {"items = [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17];\n", ERR_LIMIT, 1,
         "17 numbers"},
        {"items = [3000000000];\n", ERR_RANGE, 1, "3e9"},
        {"items = [0.5];\n", ERR_RANGE, 1, "from 1"},
        {"instance = { a = 1; };\n", ERR_SYNTAX, 1, "a number"},
        {"memory_gb 5\n", ERR_SYNTAX, 1, "NAME = NUMBER"},
        {"@include \"/etc/passwd\"\n", ERR_UNSUPPORTED, 1, ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct prices p = {0};
        struct config_errors errors = {0, NULL};
        write_file(rows[i].text);
        enum err e = prices_load(path, &p, &errors);
        assert_true(errors.n > 0);
        if (e != rows[i].code || errors.v[0].line != rows[i].line ||
            strstr(errors.v[0].text, rows[i].says) == NULL) {
            fail_msg("row %zu: %d, line %u: %s", i, e, errors.v[0].line,
                     errors.v[0].text);
        }
        config_errors_free(&errors);
    }
}

static void test_prices_load__no_file_or_a_large_one__refused(void **state)
{
    (void)state;
    struct prices p = {0};
    struct config_errors errors = {0, NULL};
    assert_int_equal(prices_load("/nonexistent/prices", &p, &errors), ERR_NOT_FOUND);
    config_errors_free(&errors);
    errors = (struct config_errors){0, NULL};
    assert_int_not_equal(prices_load("/dev/zero", &p, &errors), ERR_OK);
    config_errors_free(&errors);
    char *large = malloc(PRICES_FILE_MAX + 2);
    assert_non_null(large);
    memset(large, '#', PRICES_FILE_MAX + 1);
    large[PRICES_FILE_MAX + 1] = '\0';
    write_file(large);
    errors = (struct config_errors){0, NULL};
    assert_int_equal(prices_load(path, &p, &errors), ERR_LIMIT);
    config_errors_free(&errors);
    large[PRICES_FILE_MAX] = '\0'; /* as large as allowed */
    write_file(large);
    errors = (struct config_errors){0, NULL};
    assert_int_equal(prices_load(path, &p, &errors), ERR_OK);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prices_load__whole_file__every_number),
        cmocka_unit_test(test_prices_load__faults__line_and_what_to_do),
        cmocka_unit_test(test_prices_load__no_file_or_a_large_one__refused),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
