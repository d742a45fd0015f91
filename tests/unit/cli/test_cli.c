/* test_cli - the command line, exit statuses, and `gillnet config`. */
#include <jansson.h>
#include <sysexits.h>

#include "tests/unit/cli/clirun.h"

static void test_run__when_asked_for_help__then_every_command(void **state)
{
    (void)state;
    assert_int_equal(CLIRUN("--help"), 0);
#define CLI_COMMAND(name, synopsis, help) assert_has(clirun_out, "\n  " #name " ");
#include "core/cli/commands.def"
#undef CLI_COMMAND
    assert_string_equal(clirun_err, "");
    assert_int_equal(CLIRUN("config", "--help"), 0);
    assert_has(clirun_out, "usage: gillnet [-c FILE] [--json] config check\n");
    assert_int_equal(CLIRUN("--version"), 0);
    assert_int_equal(strncmp(clirun_out, "gillnet ", 8), 0);
}

static void test_run__when_misused__then_ex_usage(void **state)
{
    (void)state;
    assert_int_equal(CLIRUN("confg"), EX_USAGE);
    assert_has(clirun_err, "no such command: confg");
    assert_int_equal(CLIRUN("--jsn"), EX_USAGE);
    assert_has(clirun_err, "no such option: --jsn");
    assert_int_equal(CLIRUN("--json"), EX_USAGE);
    assert_has(clirun_err, "name a command");
    assert_int_equal(CLIRUN("config", "check", "-c"), EX_USAGE);
    assert_has(clirun_err, "-c needs a file");
    assert_int_equal(CLIRUN("config"), EX_USAGE);
    assert_has(clirun_err, "usage: gillnet");
    assert_int_equal(CLIRUN("config", "chek"), EX_USAGE);
    assert_int_equal(CLIRUN("config", "check", "more"), EX_USAGE);
    assert_int_equal(CLIRUN("stat", "x"), EX_USAGE);
    assert_int_equal(CLIRUN("reload", "x"), EX_USAGE);
    assert_int_equal(CLIRUN("doctor", "--postconf-dir"), EX_USAGE);
    assert_int_equal(CLIRUN("doctor", "x", "y"), EX_USAGE);
    assert_string_equal(clirun_out, "");
}

static void test_run__when_c_stands_anywhere__then_taken(void **state)
{
    const char *file = clirun_put(
        "a.conf", "state_dir = \"%s/state\"; shipped_rules = false;\n", 0600);

    (void)state;
    assert_int_equal(CLIRUN("-c", file, "config", "dump"), 0);
    assert_has(clirun_out, "/state\"  # ");
    assert_int_equal(CLIRUN("config", "-c", file, "dump"), 0);
    assert_has(clirun_out, "/state\"  # ");
    assert_int_equal(CLIRUN("config", "dump", "-c", file), 0);
    assert_has(clirun_out, "/state\"  # ");
    /* past "--" it is an argument of the command */
    assert_int_equal(CLIRUN("config", "dump", "--", "-c", file), EX_USAGE);
}

static void test_config_check__when_wrong__then_every_error_and_ex_config(void **state)
{
    const char *file =
        clirun_put("bad.conf", "state_dri = \"/x\";\ndeadline = 3;\n", 0600);
    char line[1024];

    (void)state;
    assert_int_equal(CLIRUN("config", "check", "-c", file), EX_CONFIG);
    snprintf(line, sizeof(line), "gillnet: %s:1: \"state_dri\" is not a known key",
             file);
    assert_has(clirun_err, line);
    snprintf(line, sizeof(line), "gillnet: %s:2: deadline", file);
    assert_has(clirun_err, line);
    assert_string_equal(clirun_out, "");
}

static void test_config_check__when_file_is_missing__then_ex_config(void **state)
{
    (void)state;
    assert_int_equal(CLIRUN("config", "check", "-c", clirun_path("none")), EX_CONFIG);
    assert_has(clirun_err, "there is no such file");
}

static void test_config_check__when_a_type_is_unknown__then_named(void **state)
{
    const char *file = clirun_put(
        "a.conf",
        "list_defaults = { types = [ \"hello\" ]; };\ndeadline = 7;\n"
        "lists = ( { name = \"b\"; },\n"
        "          { name = \"a\"; types = [ \"url\", \"urll\", \"domain\" ]; } );",
        0600);
    static const char *const rest[] = {":2: deadline: this is a time",
                                       ":4: a.types: \"urll\" is not a feature type"};

    (void)state;
    assert_int_equal(CLIRUN("config", "check", "-c", file), EX_CONFIG);
    assert_has(clirun_err, ":1: list_defaults.types: \"hello\" is not a feature type");
    for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++) {
        assert_has(clirun_err, rest[i]);
    }
    assert_null(strstr(clirun_err, "b.types"));
    assert_null(strstr(clirun_err, "\"url\""));
}

static void test_config_check__when_fine__then_says_so(void **state)
{
    const char *file =
        clirun_put("a.conf", "state_dir = \"/x\"; shipped_rules = false;", 0600);

    (void)state;
    assert_int_equal(CLIRUN("config", "check", "-c", file), 0);
    assert_has(clirun_out, "a.conf: ok\n");
    assert_int_equal(CLIRUN("config", "check", "--json", "-c", file), 0);
    assert_has(clirun_out, "\"ok\":true");
}

static void test_config_check__when_something_has_no_effect__then_warns(void **state)
{
    const char *file = clirun_put("a.conf", "thresholds = { reject = 3.0; };", 0600);

    (void)state;
    mkdir(clirun_path("conf.d"), 0700);
    clirun_put("conf.d/a.conf.bak", "no configuration", 0600);
    clirun_put("conf.d/b.conf", "state_dir = \"/x\";", 0600);
    assert_int_equal(CLIRUN("config", "check", "-c", file), 0);
    assert_has(clirun_err, "warning: thresholds.header: its default never applies");
    assert_has(clirun_err, "/conf.d/a.conf.bak is not read; ");
    assert_null(strstr(clirun_err, "b.conf"));
    file = clirun_put("a.conf", "thresholds = { header = 2.0; reject = 3.0; };", 0600);
    assert_int_equal(CLIRUN("config", "check", "-c", file), 0);
    assert_null(strstr(clirun_err, "thresholds"));
}

static void test_config_dump__when_json__then_each_line_parses(void **state)
{
    const char *file =
        clirun_put("a.conf",
                   "state_dir = \"/x\\\"y\\\\z\\xff\";\nshipped_rules = false;\n"
                   "lists = ( { name = \"a\"; weight = 3; } );\n",
                   0600);
    unsigned n = 0;
    unsigned defaults = 0;

    (void)state;
    assert_int_equal(CLIRUN("config", "dump", "--json", "-c", file), 0);
    for (char *line = clirun_out; *line != '\0'; n++) {
        char *end = strchr(line, '\n');
        json_error_t why;
        json_t *o = NULL;

        assert_non_null(end);
        o = json_loadb(line, (size_t)(end - line), 0, &why);
        if (o == NULL) {
            fail_msg("%s: %.*s", why.text, (int)(end - line), line);
        }
        assert_true(json_is_string(json_object_get(o, "key")));
        assert_non_null(json_object_get(o, "value"));
        defaults +=
            strcmp(json_string_value(json_object_get(o, "source")), "default") == 0;
        json_decref(o);
        line = end + 1;
    }
    assert_int_equal(n - defaults, 3);
    assert_true(n > 40);
}

/* The options that a synopsis names, and its command, stand in gillnet(1). */
static void check_manual(const char *page, const char *name, const char *synopsis)
{
    char item[128];

    snprintf(item, sizeof(item), "\n.It Ic %s", name);
    assert_has(page, item);
    for (const char *p = strstr(synopsis, "--"); p != NULL; p = strstr(p + 2, "--")) {
        snprintf(item, sizeof(item), "Fl -%.*s",
                 (int)strspn(p + 2, "abcdefghijklmnopqrstuvwxyz-"), p + 2);
        assert_has(page, item);
    }
}

static void test_manual__when_read__then_every_command_and_option(void **state)
{
    FILE *f = fopen(GILLNET_SOURCE_DIR "/contrib/man/gillnet.1", "r");
    char *page = calloc(1, 1 << 18);

    (void)state;
    assert_non_null(f);
    assert_true(fread(page, 1, (1 << 18) - 1, f) > 0);
    fclose(f);
#define CLI_COMMAND(name, synopsis, help) check_manual(page, #name, synopsis);
#include "core/cli/commands.def"
#undef CLI_COMMAND
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, clirun_setup, clirun_teardown)
        TEST(test_run__when_asked_for_help__then_every_command),
        TEST(test_run__when_misused__then_ex_usage),
        TEST(test_run__when_c_stands_anywhere__then_taken),
        TEST(test_config_check__when_wrong__then_every_error_and_ex_config),
        TEST(test_config_check__when_file_is_missing__then_ex_config),
        TEST(test_config_check__when_a_type_is_unknown__then_named),
        TEST(test_config_check__when_fine__then_says_so),
        TEST(test_config_check__when_something_has_no_effect__then_warns),
        TEST(test_config_dump__when_json__then_each_line_parses),
        TEST(test_manual__when_read__then_every_command_and_option),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
