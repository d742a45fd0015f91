/* test_rules - rules, value sets and groups of rules in configuration files. */
#include "core/config/condition.h"
#include "core/config/config_internal.h"

#include "tests/unit/config/confdir.h"

static const struct config_rule *rule_of(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->nrules; i++) {
        if (strcmp(c->rules[i].name, name) == 0) {
            return &c->rules[i];
        }
    }
    fail_msg("no rule %s", name);
    return &c->rule_default;
}

static bool is_word(struct slice name)
{
    return !slice_has_prefix(name, SLICE_LIT("no_"));
}

static const struct config_types words = {.is_sought = is_word,
                                          .is_counted = is_word,
                                          .is_trait = is_word,
                                          .is_feature = is_word,
                                          .is_identity = is_word};

static void conditions_are(const struct config_conditions *c, const char *text)
{
    struct buf b;

    buf_init(&b, 1 << 16);
    conditions_text(c, &b);
    assert_string_equal(b.p, text);
    buf_fini(&b);
}

static void test_conditions__when_nested__then_flat_in_order_and_back(void **state)
{
    static const char text[] =
        "( { trait = \"a\"; }, { any_least = 2; any = ( { list = \"l\"; }, { none = ( { "
        "feature = \"subject\"; least = 2; most = 5; value = [\"x\", \"y\"]; suffix = "
        "[\".zip\"]; set = \"s\"; pattern = \"p+\"; } ); }, { category = \"phish\"; } ); }, { "
        "identity = \"proved\"; }, { direction = \"out\"; }, { size_least = \"1K\"; size_most "
        "= \"2M\"; }, { rule = \"other\"; }, { text = \"t\"; }, { counted = \"text\"; least = "
        "3; window = \"1h\"; networks = 2; burst = 2.0; ratio = 5.0; against = \"14d\"; "
        "first_seen = \"1d\"; last_seen = \"1w\"; } )";
    char file[1400];
    struct config *c = NULL;

    (void)state;
    snprintf(file, sizeof(file),
             "shipped_rules = false; count = { distinct_types = [\"text\"]; };\n"
             "rules = ( { name = \"r\"; all = %s; } );",
             text);
    c = confdir_load(confdir_put("gillnet.conf", file));
    const struct config_conditions *all = &c->rules[0].all;
    assert_int_equal(all->n, 12);
    assert_int_equal(all->v[1].kind, CONDITION_ANY);
    assert_int_equal(all->v[1].end, 6);
    assert_int_equal(all->v[1].nparts, 3);
    assert_int_equal(all->v[1].any_least, 2);
    assert_int_equal(all->v[3].kind, CONDITION_NONE);
    assert_int_equal(all->v[3].end, 5);
    assert_int_equal(all->v[4].values.n, 2);
    assert_int_equal(all->v[0].line, 2);
    assert_int_equal(all->v[8].size_most, 2 << 20);
    assert_int_equal(all->v[11].last_seen_s, 7 * 86400);
    conditions_are(all, text);
    config_release(&c);
}

static void test_conditions__when_least_or_most_is_left_out__then_what_is_meant(
    void **state)
{
    struct config *c = confdir_load(confdir_put(
        "gillnet.conf",
        "shipped_rules = false; rules = ( { name = \"r\"; all = ( { feature = \"subject\"; }, "
        "{ feature = \"subject\"; most = 3; }, { feature = \"subject\"; least = 2; } ); } );"));
    const struct config_condition *v = c->rules[0].all.v;

    (void)state;
    assert_int_equal(v[0].least, 1);
    assert_int_equal(v[0].most, CONDITION_UNBOUNDED);
    assert_int_equal(v[1].least, 0);
    assert_int_equal(v[1].most, 3);
    assert_int_equal(v[2].least, 2);
    config_release(&c);
}

#define RULE(keys)      "shipped_rules = false;\nrules = ( { name = \"r\"; " keys " } );"
#define ALL(conditions) RULE("all = ( " conditions " );")
#define NEST(x)         "{ all = ( " x " ); }"

static const struct {
    const char *text;
    const char *error; /* in line 2 */
} bad_rows[] = {
    {RULE(""), "the rule has no condition"},
    {RULE("all = 3;"), "write a list of conditions"},
    {RULE("all = { trait = \"a\"; };"), "write a list of conditions"},
    {ALL("3"), "write each condition as a group"},
    {ALL("{ }"), "says first what it is about"},
    {ALL("{ feture = \"x\"; }"), "did you mean \"feature\"?"},
    {ALL("{ trait = \"a\"; list = \"b\"; }"),
     "\"trait\" and \"list\" in one condition"},
    {ALL("{ feature = \"x\"; patern = \"y\"; }"), "did you mean \"pattern\"?"},
    {ALL("{ trait = \"x\"; window = \"1d\"; }"),
     "\"window\" is not a key of a condition"},
    {ALL("{ trait = 3; }"), "rules.r.all.trait"},
    {ALL("{ trait = \"\"; }"), "write a name"},
    {ALL("{ text = \"\"; }"), "write a pattern"},
    {ALL("{ list = \"Phish\"; }"), "write one word of a-z, 0-9, _ and -"},
    {ALL("{ category = \"spam and phish\"; }"), "write one word of a-z, 0-9, _ and -"},
    {ALL("{ trait = \"no_such\"; }"), "\"no_such\" is not a trait"},
    {ALL("{ feature = \"no_such\"; }"), "\"no_such\" is not a feature type;"},
    {ALL("{ counted = \"no_such\"; }"),
     "\"no_such\" is not a feature type that is counted"},
    {ALL("{ identity = \"no_such\"; }"), "is not a word of identity"},
    {ALL("{ direction = \"up\"; }"), "\"in\" or \"out\""},
    {ALL("{ size_least = \"10\"; }"), "here: size_least = \"10B\";"},
    {ALL("{ counted = \"x\"; first_seen = \"900\"; }"), "here: first_seen = \"900s\";"},
    {ALL("{ size_least = \"2M\"; size_most = \"1M\"; }"), "this can never hold"},
    {ALL("{ feature = \"x\"; least = 3; most = 2; }"), "least is above most"},
    {ALL("{ feature = \"x\"; value = [ ]; }"), "an empty array of values"},
    {ALL("{ feature = \"x\"; value = \"y\"; }"), "write an array of texts"},
    {ALL("{ counted = \"x\"; ratio = 3.0; window = \"14d\"; }"), "a longer window"},
    {ALL("{ counted = \"x\"; against = \"1d\"; }"), "against belongs to ratio"},
    {ALL("{ counted = \"x\"; networks = 3; }"), "add \"x\" to count.distinct_types"},
    {ALL("{ counted = \"x\"; first_seen = \"15d\"; }"), "from 10m to 2w"},
    {ALL("{ any = ( ); }"), "write at least one condition"},
    {ALL("{ any = ( { trait = \"a\"; } ); any_least = 2; }"), "this can never hold"},
    {ALL("{ all = ( { trait = \"a\"; } ); any_least = 1; }"),
     "\"any_least\" is not a key of a condition on all"},
    {RULE("any = ( { trait = \"a\"; } ); any_least = 2;"), "rules.r.any_least"},
    {RULE("feature = \"x\";"), "\"feature\" is not a known key of rules"},
    {RULE("trait = \"a\"; until = \"2027-02-30\";"), "YEAR-MONTH-DAY"},
    {RULE("trait = \"a\"; until = \"tomorrow\";"), "YEAR-MONTH-DAY"},
    {RULE("trait = \"a\"; score = 1001.0;"), "from -1000 to 1000"},
    {ALL(NEST(NEST(NEST(NEST(NEST(NEST(NEST("{ trait = \"a\"; }")))))))),
     "conditions are nested too deep"},
    {"#\nusers = ( { name = 3; } );", "write a text in quotes"},
    {"#\nrule_groups = ( { name = \"g\"; cap = -1.0; } );", "from 0 to 1000"},
    {"#\nvalue_sets = ( { name = \"s\"; values = [ 3 ]; } );", "as text in quotes"},
    {"#\nvalue_sets = ( { name = \"s\"; file = \"x\"; } );", "an absolute path"},
};

static void test_rules__when_one_is_wrong__then_its_line_and_what_to_do(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(bad_rows); i++) {
        struct config *c = NULL;
        struct config_errors errors = {0, NULL};

        assert_int_not_equal(config_load(confdir_put("gillnet.conf", bad_rows[i].text),
                                         &words, &c, &errors),
                             ERR_OK);
        if (!confdir_has_error(&errors, 2, bad_rows[i].error)) {
            fail_msg("%s: %s", bad_rows[i].text, errors.v[0].text);
        }
        assert_int_equal(errors.v[0].line, 2);
        config_errors_free(&errors);
    }
}

static void test_rules__when_there_are_too_many_conditions__then_refused(void **state)
{
    struct buf text;
    struct config *c = NULL;

    (void)state;
    for (size_t n = CONDITION_NODES_MAX; n <= CONDITION_NODES_MAX + 1; n++) {
        buf_init(&text, 1 << 20);
        buf_add_str(&text,
                    "shipped_rules = false;\nrules = ( { name = \"r\"; any = ( ");
        for (size_t i = 0; i < n; i++) {
            buf_printf(&text, "%s{ trait = \"t%zu\"; }", i > 0 ? ", " : "", i);
        }
        buf_add_str(&text, " ); } );");
        if (n == CONDITION_NODES_MAX) {
            c = confdir_load(confdir_put("gillnet.conf", text.p));
            assert_int_equal(c->rules[0].any.n, n);
            config_release(&c);
        } else {
            confdir_refused(text.p, "at most 256 conditions");
        }
        buf_fini(&text);
    }
}

static void test_rules__when_a_later_file_names_one__then_its_keys_change(void **state)
{
    struct config *c = NULL;

    (void)state;
    mkdir(confdir_path("conf.d"), 0700);
    confdir_put(
        "conf.d/a.conf",
        "rules = ( { name = \"score\"; score = 0.2; shadow = true; }, { name = "
        "\"other\"; any = ( { trait = \"c\"; } ); }, { name = \"short\"; count = 99; }, "
        "{ name = \"tree\"; type = \"body\"; }, { name = \"brief\"; all = ( { trait = "
        "\"d\"; } ); } );");
    c = confdir_load(confdir_put(
        "gillnet.conf",
        "shipped_rules = false; rules = ( { name = \"score\"; all = ( { trait = \"a\"; } ); "
        "score = 3.0; group = \"g\"; }, { name = \"other\"; all = ( { trait = \"a\"; } ); none "
        "= ( { trait = \"b\"; } ); }, { name = \"short\"; type = \"text\"; window = \"1h\"; }, "
        "{ name = \"tree\"; all = ( { trait = \"a\"; } ); }, { name = \"brief\"; type = "
        "\"text\"; trait = \"e\"; count = 7; } );"));
    const struct config_rule *r = rule_of(c, "score");
    assert_int_equal(r->all.n, 1);
    assert_true(r->score == 0.2 && r->shadow);
    assert_string_equal(r->group, "g");
    r = rule_of(c, "other"); /* its conditions are replaced as a whole */
    assert_int_equal(r->all.n + r->none.n, 0);
    conditions_are(&r->any, "( { trait = \"c\"; } )");
    r = rule_of(c, "short"); /* the short form merges key by key */
    assert_string_equal(r->type, "text");
    assert_int_equal(r->window, RULE_1H);
    assert_int_equal(r->count, 99);
    r = rule_of(c, "tree");
    assert_int_equal(r->all.n, 0);
    assert_string_equal(r->type, "body");
    r = rule_of(c, "brief");
    assert_string_equal(r->type, "");
    assert_string_equal(r->trait, "");
    assert_int_equal(r->all.n, 1);
    config_release(&c);
}

static void test_rules__when_shipped_ones_are_changed_or_dropped__then_so(void **state)
{
    struct config *c = confdir_load(confdir_put(
        "gillnet.conf", "rules = ( { name = \"replica\"; count = 77; }, { name = "
                        "\"mine\"; trait = \"t\"; } );"));
    size_t n = c->nrules;
    struct buf dump;

    (void)state;
    assert_int_equal(rule_of(c, "replica")->count, 77);
    assert_string_equal(rule_of(c, "replica")->type, "text_band");
    assert_non_null(rule_of(c, "text"));
    buf_init(&dump, 8 << 20);
    config_dump(c, false, &dump);
    assert_non_null(strstr(dump.p, "rules.body.type = \"body\"  # rules.d/bulk.conf "
                                   "(shipped):"));
    buf_fini(&dump);
    config_release(&c);

    mkdir(confdir_path("conf.d"), 0700); /* of all files before, shipped ones too */
    confdir_put("conf.d/a.conf", "rules = ();");
    confdir_put("conf.d/b.conf", "rules = ( { name = \"last\"; trait = \"t\"; } );");
    c = confdir_load(confdir_put("gillnet.conf", "rules = ( { name = \"mine\"; trait = "
                                                 "\"t\"; } );"));
    assert_int_equal(c->nrules, 1);
    assert_string_equal(c->rules[0].name, "last");
    config_release(&c);

    unlink(confdir_path("conf.d/a.conf"));
    c = confdir_load(confdir_path("gillnet.conf"));
    assert_int_equal(c->nrules, n + 1);
    config_release(&c);

    confdir_put("conf.d/a.conf", "shipped_rules = false;");
    c = confdir_load(confdir_path("gillnet.conf"));
    assert_int_equal(c->nrules, 2);
    config_release(&c);
    unlink(confdir_path("conf.d/b.conf"));
    c = confdir_load(confdir_put("gillnet.conf", "shipped_rules = false;"));
    assert_int_equal(c->nrules + c->nvalue_sets + c->nrule_groups, 0);
    config_release(&c);
    /* a change of a shipped rule is no rule without it */
    confdir_refused("rules = ( { name = \"replica\"; count = 77; } );",
                    "rules.replica.all: the rule has no condition");
}

static void test_rules__when_files_name_some__then_these_with_the_keys_of_all(
    void **state)
{
    struct config *c = NULL;

    (void)state;
    mkdir(confdir_path("conf.d"), 0700);
    confdir_put("conf.d/a.conf",
                "rules = ( { name = \"x\"; score = 2; }, { name = \"y\"; "
                "type = \"body\"; enabled = false; } );");
    c = confdir_load(confdir_put(
        "gillnet.conf", "rules = ( { name = \"x\"; type = \"text\"; window = \"14d\"; "
                        "count = 7; senders = 2; burst = 1.5; } ); shipped_rules = "
                        "false;"));
    assert_int_equal(c->nrules, 2);
    assert_string_equal(c->rules[0].name, "x");
    assert_string_equal(c->rules[0].type, "text");
    assert_int_equal(c->rules[0].window, RULE_14D);
    assert_int_equal(c->rules[0].count, 7);
    assert_int_equal(c->rules[0].distinct[RULE_SENDERS], 2);
    assert_true(c->rules[0].burst == 1.5 && c->rules[0].score == 2.0);
    assert_false(c->rules[1].enabled);
    assert_int_equal(c->rules[1].count, 20);
    config_release(&c);
}

static void test_value_sets__when_named_again__then_later_values(void **state)
{
    struct config *c = NULL;

    (void)state;
    mkdir(confdir_path("conf.d"), 0700);
    confdir_put("conf.d/a.conf",
                "value_sets = ( { name = \"s\"; values = [ \"c\" ]; } );");
    c = confdir_load(confdir_put(
        "gillnet.conf",
        "shipped_rules = false; value_sets = ( { name = \"s\"; values = [ "
        "\"a\", \"b\" ]; file = \"/nowhere\"; } ); rule_groups = ( { name = "
        "\"g\"; cap = 2.5; } );"));
    assert_int_equal(c->nvalue_sets, 1);
    assert_int_equal(c->value_sets[0].values.n, 1);
    assert_string_equal(c->value_sets[0].values.v[0], "c");
    assert_string_equal(c->value_sets[0].file, "/nowhere");
    assert_true(c->rule_groups[0].cap == 2.5);
    config_release(&c);
}

static void test_until__when_a_day_is_given__then_its_end(void **state)
{
    struct config *c = confdir_load(
        confdir_put("gillnet.conf", RULE("trait = \"a\"; until = \"2027-06-30\";")));

    (void)state;
    assert_int_equal(c->rules[0].until_s, 1814400000); /* 2027-07-01T00:00:00Z */
    config_release(&c);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, confdir_setup, confdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_conditions__when_nested__then_flat_in_order_and_back),
        TEST(test_conditions__when_least_or_most_is_left_out__then_what_is_meant),
        TEST(test_rules__when_one_is_wrong__then_its_line_and_what_to_do),
        TEST(test_rules__when_there_are_too_many_conditions__then_refused),
        TEST(test_rules__when_a_later_file_names_one__then_its_keys_change),
        TEST(test_rules__when_shipped_ones_are_changed_or_dropped__then_so),
        TEST(test_rules__when_files_name_some__then_these_with_the_keys_of_all),
        TEST(test_value_sets__when_named_again__then_later_values),
        TEST(test_until__when_a_day_is_given__then_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
