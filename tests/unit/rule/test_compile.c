/* test_compile - rules that are refused with their line, and what is left in force. */
#include "tests/unit/rule/ruled.h"

static const struct {
    const char *text;
    unsigned line;
    const char *error;
} bad_rows[] = {
    {"rules = (\n{ name = \"a\"; all = ( { rule = \"b\"; } ); } );", 2,
     "there is no such rule"},
    {"rules = (\n{ name = \"a\"; all = ( { rule = \"a\"; } ); } );", 2, "in a circle"},
    {"rules = (\n{ name = \"a\"; all = ( { rule = \"b\"; } ); },\n{ name = \"b\"; none = ( { "
     "rule = \"c\"; } ); trait = \"html_form\"; },\n{ name = \"c\"; any = ( { rule = \"a\"; } ); "
     "} );",
     4, "rules.c: rule = \"a\": the rule is in a circle"},
    {"rules = (\n{ name = \"a\"; trait = \"html_form\"; group = \"g\"; } );", 2,
     "there is no group \"g\""},
    {"value_sets = ( { name = \"frequent\"; values = [ \"x\" ]; } );\nrules = ( { name = "
     "\"a\"; all = ( { feature = \"subject\"; set = \"freqent\"; } ); } );",
     2, "did you mean \"frequent\"?"},
    {"rules = ( { name = \"a\"; all = (\n{ feature = \"subject\"; pattern = \"(a\"; } ); } );",
     2, "the pattern is wrong at character 3: missing closing parenthesis"},
    {"rules = ( { name = \"a\"; all = (\n{ feature = \"subject\"; pattern = \"a*\"; } ); } );",
     2, "matches the empty text"},
    {"rules = ( { name = \"a\"; all = (\n{ feature = \"subject\"; pattern = \"^(?!www)\"; } ); } "
     ");",
     2, "matches the empty text"},
    {"rules = ( { name = \"a\"; all = (\n{ text = \"b?\"; } ); } );", 2,
     "matches the empty text"},
    {"rules = ( { name = \"a\"; all = (\n{ text = \"(?<=a)b\"; } ); } );", 2,
     "vectorscan, which reads the text, refuses the pattern"},
    {"rules = ( { name = \"a\"; all = (\n{ text = \"((a{1,900}b){1,900}c){1,900}\"; } ); } );",
     2, "rules.a: text = \"((a{1,900}b){1,900}c){1,900}\": the pattern is too large"},
    {"rules = ( { name = \"a\"; all = (\n{ text = \"foo.{0,900}bar.{0,900}baz\"; } ); } );",
     2, "the pattern is too large with 7200 of at most 400"},
    {"rules = ( { name = \"a\"; all = (\n{ text = \".*foo.*bar.{0,900}baz.{0,900}\"; } ); } "
     ");",
     2, "write fewer or shorter {m,n}"},
    {"rules = ( { name = \"a\"; all = (\n{ text = \"(a)\\\\1\"; } ); } );", 2,
     "vectorscan, which reads the text, refuses the pattern"},
    {"rules = ( { name = \"a\"; all = (\n{ feature = \"subject\"; pattern = \"a{2,1}\"; } ); } );",
     2, "the pattern is wrong"},
    {"#\nvalue_sets = ( { name = \"s\"; file = \"/dev/zero\"; } );\nrules = ( { name = "
     "\"a\"; all = ( { feature = \"subject\"; set = \"s\"; } ); } );",
     2, "value_sets.s.file: /dev/zero"},
    {"#\nvalue_sets = ( { name = \"s\"; file = \"/nowhere/at/all\"; } );\nrules = ( { name = "
     "\"a\"; all = ( { feature = \"subject\"; set = \"s\"; } ); } );",
     2, "value_sets.s.file: /nowhere/at/all"},
};

static void test_compile__when_a_rule_is_wrong__then_its_line_and_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(bad_rows); i++) {
        struct config *c = NULL;
        struct config_errors errors = {0, NULL};
        char text[1200];

        snprintf(text, sizeof(text), "shipped_rules = false; %s", bad_rows[i].text);
        assert_int_not_equal(
            ruleset_load(confdir_put("gillnet.conf", text), &c, &errors), ERR_OK);
        assert_null(c);
        if (!confdir_has_error(&errors, bad_rows[i].line, bad_rows[i].error)) {
            fail_msg("row %zu: line %u: %s", i, errors.v[0].line, errors.v[0].text);
        }
        assert_string_equal(errors.v[0].source, confdir_file);
        config_errors_free(&errors);
    }
}

static void test_compile__when_several_are_wrong__then_all_in_one_run(void **state)
{
    struct config *c = NULL;
    struct config_errors errors = {0, NULL};

    (void)state;
    confdir_put("gillnet.conf",
                "shipped_rules = false; rules = ( { name = \"a\"; all = (\n"
                "{ rule = \"zz\"; },\n{ feature = \"subject\"; pattern = \"(\"; },\n"
                "{ feature = \"url\"; pattern = \"x*\"; },\n{ text = \"y?\"; },\n"
                "{ feature = \"subject\"; set = \"zz\"; } ); } );");
    assert_int_equal(ruleset_load(confdir_path("gillnet.conf"), &c, &errors),
                     ERR_SYNTAX);
    for (unsigned line = 2; line <= 6; line++) {
        assert_true(confdir_has_error(&errors, line, "rules.a: "));
    }
    assert_int_equal(errors.n, 5);
    config_errors_free(&errors);
}

/* The same condition in many rules is one atom, the same pattern one pattern. */
static void test_compile__when_conditions_are_equal__then_one_atom(void **state)
{
    struct ruleset_stat stat;

    (void)state;
    ruled_load(
        "rules = ( { name = \"a\"; trait = \"html_form\"; all = ( { text = \"abc\"; } ); "
        "}, { name = \"b\"; all = ( { trait = \"html_form\"; }, { text = \"abc\"; }, { "
        "feature = \"subject\"; pattern = \"(?=x)xy\"; } ); }, { name = \"c\"; enabled = "
        "false; trait = \"html_script\"; } );");
    ruleset_stat(ruled.config->ruleset, &stat);
    assert_int_equal(stat.rules, 2);
    assert_int_equal(stat.atoms, 3);
    assert_int_equal(stat.patterns, 1);
    assert_int_equal(stat.slow_patterns, 1);
}

static void test_compile__when_done_again__then_the_new_one_is_in_force(void **state)
{
    struct config_errors errors = {0, NULL};

    (void)state;
    ruled_load(RULE("trait = \"html_form\"; all = ( { direction = \"in\"; } );"));
    ruled.config->rules[0].enabled = false;
    assert_int_equal(ruleset_compile(ruled.config, &errors), ERR_OK);
    ruled_feature(FEATURE_trait, "html_form");
    assert_false(ruled_holds());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_compile__when_a_rule_is_wrong__then_its_line_and_why),
        TEST(test_compile__when_several_are_wrong__then_all_in_one_run),
        TEST(test_compile__when_conditions_are_equal__then_one_atom),
        TEST(test_compile__when_done_again__then_the_new_one_is_in_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
