/*
 * test_footprint - memory in use is seen to grow, and the least of all limits holds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/footprint.h"
#include "core/base/slice.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

static void put(struct tempdir *t, const char *name, const char *text)
{
    char path[TEMPDIR_PATH];
    (void)snprintf(path, sizeof(path), "%s", tempdir_file(t, name));
    for (char *p = path + strlen(t->path) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        (void)mkdir(path, 0755);
        *p = '/';
    }
    assert_int_equal(file_write_atomic(path, slice_str(text), 0644, NULL), ERR_OK);
}

static void test_bytes__when_memory_is_touched__then_they_grow(void **state)
{
    enum { GROWTH = 64 << 20 };
    uint64_t before = footprint_bytes();
    char *p = malloc(GROWTH);
    (void)state;
    assert_non_null(p);
    memset(p, 1, GROWTH);
    uint64_t after = footprint_bytes();
    assert_int_equal(p[GROWTH - 1], 1);
    free(p);
    assert_true(before > 100000);
    assert_in_range(after - before, GROWTH / 10 * 9, GROWTH / 10 * 11);
}

static void test_limit__without_groups__then_the_machine_is_the_limit(void **state)
{
    struct tempdir *t = *state;
    uint64_t machine =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(footprint_limit(t->path), machine);
}

static void test_limit__when_a_group_above_has_the_least__then_that_holds(void **state)
{
    struct tempdir *t = *state;
    put(t, "proc/self/cgroup", "0::/system.slice/gillnetd.service\n");
    put(t, "sys/fs/cgroup/system.slice/gillnetd.service/memory.max", "max\n");
    put(t, "sys/fs/cgroup/system.slice/gillnetd.service/memory.high", "3000000\n");
    assert_int_equal(footprint_limit(t->path), 3000000);
    put(t, "sys/fs/cgroup/system.slice/memory.max", "2000000\n");
    assert_int_equal(footprint_limit(t->path), 2000000);
    put(t, "sys/fs/cgroup/memory.max", "1000000\n"); /* in a container */
    assert_int_equal(footprint_limit(t->path), 1000000);
}

static void test_limit__when_a_resource_limit_is_less__then_that_holds(void **state)
{
    struct tempdir *t = *state;
    struct rlimit before;
    struct rlimit less;
    assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
    less = (struct rlimit){.rlim_cur = 1 << 30, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_DATA, &less), 0);
    uint64_t limit = footprint_limit(t->path);
    assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
    assert_int_equal(limit, 1 << 30);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes__when_memory_is_touched__then_they_grow),
        TEST(test_limit__without_groups__then_the_machine_is_the_limit),
        TEST(test_limit__when_a_group_above_has_the_least__then_that_holds),
        TEST(test_limit__when_a_resource_limit_is_less__then_that_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
