/*
 * test_bloomfile_memory - a filter gets memory that the machine has free.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/pages.h"
#include "core/filter/bloomfile_internal.h"

#include "tests/unit/unit.h"

enum { MIB = 1 << 20, KIB = 1024 };

/* All memory of the machine, in bytes; some of it is always in use. */
static size_t memory_total(void)
{
    char line[128];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/meminfo", "re");
    assert_non_null(f);
    while (kib == 0 && fgets(line, sizeof(line), f)) {
        (void)sscanf(line, "MemTotal: %llu kB", &kib);
    }
    (void)fclose(f);
    assert_true(kib > 0);
    return (size_t)kib * KIB;
}

static void check_new(size_t bytes)
{
    void *p = NULL;
    struct errinfo info = {.code = ERR_OK};
    if (bloomfile_memory_new(bytes, "f", "make room", &p, &info) != ERR_OK) {
        fail_msg("%s", info.text);
    }
    assert_int_equal(((const char *)p)[0], 0);
    assert_int_equal(((const char *)p)[bytes - 1], 0);
    pages_free(p, bytes);
}

static void test_memory_new__what_is_free__is_given(void **state)
{
    (void)state;
    check_new(4096);
    check_new((size_t)64 * MIB); /* from here on the free memory is looked at */
    check_new((size_t)65 * MIB);
}

/* The kernel itself would promise it. */
static void test_memory_new__all_of_the_machine__is_refused_with_what_to_do(
    void **state)
{
    void *p = NULL;
    struct errinfo info;
    char size[64];
    size_t bytes = memory_total();
    (void)state;
    assert_int_equal(bloomfile_memory_new(bytes, "f", "make room", &p, &info),
                     ERR_NOMEM);
    assert_null(p);
    assert_int_equal(info.code, ERR_NOMEM);
    assert_string_equal(info.source, "f");
    (void)snprintf(size, sizeof(size), "of %zu MiB; make room", bytes / MIB + 1);
    assert_non_null(strstr(info.text, size));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_new__what_is_free__is_given),
        cmocka_unit_test(
            test_memory_new__all_of_the_machine__is_refused_with_what_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
