/*
 * cmocka - as much of cmocka as test_bloom_vector needs, for a machine that Debian's is not for.
 */
#ifndef TESTS_INTEG_NEON_CMOCKA_H
#define TESTS_INTEG_NEON_CMOCKA_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

static inline void assert_or_die(bool is_true, const char *what, const char *file,
                                 int line)
{
    if (!is_true) {
        (void)fprintf(stderr, "%s:%d: %s\n", file, line, what);
        exit(1);
    }
}

#define assert_true(x)               assert_or_die(x, #x, __FILE__, __LINE__)
#define assert_false(x)              assert_true(!(x))
#define assert_non_null(x)           assert_true((x) != NULL)
#define assert_int_equal(a, b)       assert_true((a) == (b))
#define assert_memory_equal(a, b, n) assert_true(memcmp(a, b, n) == 0)
#define assert_string_equal(a, b)    assert_true(strcmp(a, b) == 0)
#define print_message(...)           printf(__VA_ARGS__)
#define cmocka_unit_test(f) \
    {                       \
#        f, f               \
    }
#define cmocka_run_group_tests(tests, setup, teardown) \
    run_tests(tests, sizeof(tests) / sizeof((tests)[0]))

static inline int run_tests(const struct CMUnitTest *tests, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        tests[i].run(NULL);
        printf("%s: ok\n", tests[i].name);
    }
    return 0;
}

#endif
