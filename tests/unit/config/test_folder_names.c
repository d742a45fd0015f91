/* test_folder_names - a folder's name is kept without slashes at its end; a file that is not there. */
#include "core/config/tuning_file.h"

#include "tests/unit/config/confdir.h"

static void test_load__when_a_folder_ends_in_slashes__then_without(void **state)
{
    static const char *const rows[][2] = {
        {"/srv/gillnet", "/srv/gillnet"},
        {"/srv/", "/srv"},
        {"/a//", "/a"},
        {"/", "/"},
        {"//", "/"},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char text[64];

        snprintf(text, sizeof(text), "state_dir = \"%s\";\n", rows[i][0]);
        struct config *c = confdir_load(confdir_put("gillnet.conf", text));
        assert_string_equal(c->state_dir, rows[i][1]);
        config_release(&c);
    }
}

static void test_read__no_file__then_told_without_a_line(void **state)
{
    struct buf text;
    struct errinfo why;

    (void)state;
    buf_init(&text, 4096);
    assert_int_equal(tuning_file_read(confdir_path("none"), &text, &why),
                     ERR_NOT_FOUND);
    assert_int_equal(why.line, 0);
    assert_string_equal(why.source, confdir_file);
    buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_load__when_a_folder_ends_in_slashes__then_without, confdir_setup,
            confdir_teardown),
        cmocka_unit_test_setup_teardown(test_read__no_file__then_told_without_a_line,
                                        confdir_setup, confdir_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
