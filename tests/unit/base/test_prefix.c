/* test_prefix - where files of the installation are. */
#include "core/base/prefix.h"

#include "tests/unit/unit.h"

static void test_prefix_path_of__a_program__is_the_folder_above_bin(void **state)
{
    (void)state;
    static const struct {
        const char *program;
        const char *want;
    } rows[] = {
        {"/usr/sbin/gillnetd", "/usr/share/x"},
        {"/usr/local/bin/gillnet", "/usr/local/share/x"},
        {"/opt/mail/bin/gillnet", "/opt/mail/share/x"},
        {"/bin/gillnet", "/share/x"},
        {"/work/build/release/gillnet", GILLNET_PREFIX "/share/x"},
        {"/usr/libexec/gillnet/gillnet-hub", GILLNET_PREFIX "/share/x"},
        {"gillnet", GILLNET_PREFIX "/share/x"},
        {"", GILLNET_PREFIX "/share/x"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char path[FILE_PATH_MAX];
        assert_int_equal(prefix_path_of(path, slice_str(rows[i].program), "share/x"),
                         ERR_OK);
        assert_string_equal(path, rows[i].want);
    }
}

static void test_prefix_path__too_long__is_refused(void **state)
{
    (void)state;
    char path[FILE_PATH_MAX];
    static char name[FILE_PATH_MAX];
    memset(name, 'a', sizeof(name) - 1);
    assert_int_equal(prefix_path(path, name), ERR_LIMIT);
    assert_int_equal(prefix_path(path, "share/x"),
                     ERR_OK); /* this program is a build's */
    assert_string_equal(path, GILLNET_PREFIX "/share/x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prefix_path_of__a_program__is_the_folder_above_bin),
        cmocka_unit_test(test_prefix_path__too_long__is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
