/* test_evaluate - which rules hold on which evidence, what they score, and why. */
#include "tests/unit/rule/ruled.h"

/* ---- conditions on features ---- */

static const struct {
    const char *conditions;
    const char *values[4]; /* of url_host */
    bool holds;
} feature_rows[] = {
    {"{ feature = \"url_host\"; }", {NULL}, false},
    {"{ feature = \"url_host\"; }", {"a.example"}, true},
    {"{ feature = \"url_host\"; least = 2; }", {"a.example"}, false},
    {"{ feature = \"url_host\"; least = 2; }", {"a.example", "b.example"}, true},
    {"{ feature = \"url_host\"; most = 1; }", {"a.example"}, true},
    {"{ feature = \"url_host\"; most = 1; }", {NULL}, true},
    {"{ feature = \"url_host\"; least = 1; most = 1; }", {NULL}, false},
    {"{ feature = \"url_host\"; most = 1; }", {"a.example", "b.example"}, false},
    {"{ feature = \"url_host\"; value = [ \"A.Example\" ]; }", {"a.example"}, true},
    {"{ feature = \"url_host\"; value = [ \"a.example\" ]; }", {"aa.example"}, false},
    {"{ feature = \"url_host\"; value = [ \"a.example\" ]; }", {"x.y.a.example"}, true},
    {"{ feature = \"url_host\"; value = [ \"x\", \"example\" ]; }",
     {"q.example"},
     true},
    {"{ feature = \"url_host\"; value = [ \"a.example\", \"b.a.example\" ]; most = 1; least = "
     "1; }",
     {"b.a.example"},
     true},
    {"{ feature = \"url_host\"; suffix = [ \".example\", \"e\" ]; }",
     {"a.example"},
     true},
    {"{ feature = \"url_host\"; suffix = [ \"a.example\" ]; }", {"a.example"}, true},
    {"{ feature = \"url_host\"; suffix = [ \".org\" ]; }", {"a.example"}, false},
    {"{ feature = \"url_host\"; set = \"s\"; }", {"deep.one.example"}, true},
    {"{ feature = \"url_host\"; set = \"s\"; }", {"none.example"}, false},
    {"{ feature = \"url_host\"; set = \"s\"; least = 2; }",
     {"one.example", "x"},
     false},
    {"{ feature = \"url_host\"; pattern = \"^[a-f]+\\\\.\"; }", {"ABC.x"}, true},
    {"{ feature = \"url_host\"; pattern = \"^[a-f]+\\\\.\"; }", {"xyz.x"}, false},
    /* all tests of one condition are met by one value */
    {"{ feature = \"url_host\"; suffix = [ \".example\" ]; pattern = \"^a\"; }",
     {"a.org", "b.example"},
     false},
    {"{ feature = \"url_host\"; suffix = [ \".example\" ]; pattern = \"^a\"; }",
     {"b.org", "a.example"},
     true},
    {"{ feature = \"url_host\"; set = \"s\"; value = [ \"one.example\" ]; suffix = [ \"e\" ]; "
     "pattern = \"n(?=e)\"; }",
     {"one.example"},
     true},
};

static void test_feature__each_test__then_as_its_row_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(feature_rows); i++) {
        char text[1024];

        snprintf(
            text, sizeof(text),
            "value_sets = ( { name = \"s\"; values = [ \"one.example\", \"two\" ]; } );"
            "rules = ( { name = \"r\"; all = ( %s ); } );",
            feature_rows[i].conditions);
        ruled_load(text);
        ruled_feature(FEATURE_subject, "a.example");
        for (size_t k = 0; k < 4 && feature_rows[i].values[k] != NULL; k++) {
            ruled_feature(FEATURE_url_host, feature_rows[i].values[k]);
        }
        if (ruled_holds() != feature_rows[i].holds) {
            fail_msg("row %zu: %s", i, feature_rows[i].conditions);
        }
    }
}

static void test_feature__an_address__then_its_domain_is_in_a_set(void **state)
{
    (void)state;
    ruled_load(
        "value_sets = ( { name = \"s\"; values = [ \"gmail.com\" ]; } );"
        "rules = ( { name = \"r\"; all = ( { feature = \"reply_to\"; set = \"s\"; } ); "
        "} );");
    ruled_feature(FEATURE_reply_to, "x@gmail.com");
    assert_true(ruled_holds());
    ruled_message();
    ruled_feature(FEATURE_reply_to, "x@notgmail.com");
    ruled_feature(FEATURE_reply_to, "gmail.com@other.example");
    assert_false(ruled_holds());
}

static void test_feature__a_file_of_values__then_each_line_is_one(void **state)
{
    char text[1024];

    (void)state;
    confdir_put("values", "# comment\n\n  one.example \r\ntwo.example");
    snprintf(
        text, sizeof(text),
        "value_sets = ( { name = \"s\"; file = \"%s\"; values = [ \"three\" ]; } );"
        "rules = ( { name = \"r\"; all = ( { feature = \"url_host\"; set = \"s\"; least = "
        "3; } ); } );",
        confdir_file);
    ruled_load(text);
    ruled_feature(FEATURE_url_host, "one.example");
    ruled_feature(FEATURE_url_host, "two.example");
    ruled_feature(FEATURE_url_host, "# comment");
    assert_false(ruled_holds());
    ruled_feature(FEATURE_url_host, "three");
    assert_true(ruled_holds());
}

static void test_feature__broken_utf8__then_patterns_still_see_the_rest(void **state)
{
    (void)state;
    ruled_load(ALL("{ feature = \"subject\"; pattern = \"wIN.*\xc3\x9c"
                   "ber\"; }"));
    ruled_feature(FEATURE_subject, "\xff\xc3 Win \xe2\x82 \xc3\xbc"
                                   "BER \xf0");
    assert_true(ruled_holds());
}

/* ---- other conditions ---- */

static void test_facts__each_kind__then_as_the_message_is(void **state)
{
    struct identity identity = {.words = UINT64_C(1) << IDENTITY_proved};
    struct rule_list lists[] = {
        {"phish_a", "phish", SLICE_LIT("evil.example")},
        {"other", "spam", SLICE_LIT("x")},
    };

    (void)state;
    ruled_load(ALL("{ trait = \"html_form\"; }"));
    assert_false(ruled_holds());
    ruled_feature(FEATURE_trait, "html_form");
    assert_true(ruled_holds());

    ruled_load(ALL("{ list = \"phish_a\"; }, { category = \"spam\"; }"));
    ruled.c.lists = lists;
    ruled.c.nlists = 1;
    assert_false(ruled_holds());
    ruled.c.nlists = 2;
    assert_true(ruled_holds());
    assert_string_equal(ruled.shown[0].detail,
                        "list=phish_a (evil.example), category=spam (x)");

    ruled_load(ALL("{ identity = \"proved\"; }"));
    assert_false(ruled_holds()); /* nothing is known */
    ruled.c.identity = &identity;
    assert_true(ruled_holds());

    ruled_load(NONE("{ identity = \"proved\"; }"));
    assert_true(ruled_holds()); /* no word: not proved */
    ruled.c.identity = &identity;
    assert_false(ruled_holds());

    ruled_load(
        ALL("{ direction = \"out\"; }, { size_least = \"1K\"; size_most = \"2K\"; }"));
    ruled.c.bytes = 1500;
    assert_false(ruled_holds());
    ruled.c.is_outgoing = true;
    assert_true(ruled_holds());
    ruled.c.bytes = 1023;
    assert_false(ruled_holds());
    ruled.c.bytes = 2049;
    assert_false(ruled_holds());
}

/* ---- groups ---- */

static const struct {
    const char *keys;
    const char *traits[4];
    bool holds;
} group_rows[] = {
    {"all = ( { trait = \"html_form\"; }, { trait = \"text_hidden\"; } );",
     {"html_form"},
     false},
    {"all = ( { trait = \"html_form\"; }, { trait = \"text_hidden\"; } );",
     {"html_form", "text_hidden"},
     true},
    {"any = ( { trait = \"html_form\"; }, { trait = \"text_hidden\"; } );",
     {"text_hidden"},
     true},
    {"any = ( { trait = \"html_form\"; }, { trait = \"text_hidden\"; }, { trait = \"limit_cpu\"; } "
     "); any_least = 2;",
     {"text_hidden"},
     false},
    {"any = ( { trait = \"html_form\"; }, { trait = \"text_hidden\"; }, { trait = \"limit_cpu\"; } "
     "); any_least = 2;",
     {"text_hidden", "limit_cpu"},
     true},
    {"none = ( { trait = \"html_form\"; } );", {NULL}, true},
    {"none = ( { trait = \"html_form\"; }, { trait = \"limit_cpu\"; } );",
     {"limit_cpu"},
     false},
    {"all = ( { none = ( { none = ( { trait = \"html_form\"; } ); } ); } );",
     {NULL},
     false},
    {"all = ( { none = ( { none = ( { trait = \"html_form\"; } ); } ); } );",
     {"html_form"},
     true},
    {"all = ( { any = ( { all = ( { trait = \"html_form\"; }, { trait = \"limit_cpu\"; } ); }, { "
     "all = ( { trait = \"text_hidden\"; } ); } ); }, { trait = \"limit_cpu\"; } );",
     {"html_form", "limit_cpu"},
     true},
    {"all = ( { any = ( { all = ( { trait = \"html_form\"; }, { trait = \"limit_urls\"; } ); }, { "
     "all = ( { trait = \"text_hidden\"; } ); } ); }, { trait = \"limit_cpu\"; } );",
     {"html_form", "limit_cpu"},
     false},
    {"trait = \"limit_cpu\"; any = ( { trait = \"html_form\"; } );",
     {"html_form"},
     false},
    {"trait = \"limit_cpu\"; any = ( { trait = \"html_form\"; } );",
     {"html_form", "limit_cpu"},
     true},
};

static void test_groups__nested__then_as_their_row_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(group_rows); i++) {
        char text[1024];

        snprintf(text, sizeof(text), "rules = ( { name = \"r\"; %s } );",
                 group_rows[i].keys);
        ruled_load(text);
        for (size_t k = 0; k < 4 && group_rows[i].traits[k] != NULL; k++) {
            ruled_feature(FEATURE_trait, group_rows[i].traits[k]);
        }
        if (ruled_holds() != group_rows[i].holds) {
            fail_msg("row %zu: %s", i, group_rows[i].keys);
        }
    }
}

static void test_rules__one_names_another__then_whatever_the_order(void **state)
{
    (void)state;
    ruled_load(
        "rules = ( { name = \"last\"; all = ( { rule = \"mid\"; } ); }, "
        "{ name = \"mid\"; all = ( { rule = \"first\"; } ); }, "
        "{ name = \"first\"; trait = \"html_form\"; }, "
        "{ name = \"not\"; all = ( { trait = \"limit_cpu\"; } ); none = ( { rule = "
        "\"mid\"; } ); } );");
    ruled_feature(FEATURE_trait, "limit_cpu");
    ruled_judge();
    assert_int_equal(ruled.nshown, 1);
    assert_string_equal(ruled.shown[0].name, "RULE_not");
    ruled_feature(FEATURE_trait, "html_form");
    ruled_judge();
    assert_int_equal(ruled.nshown, 3);
    assert_string_equal(ruled.shown[0].name, "RULE_last"); /* as they are written */
    assert_string_equal(ruled.shown[1].name, "RULE_mid");
    assert_string_equal(ruled.shown[2].name, "TRAIT_first");
}

static void test_shadow__a_rule_in_shadow__then_live_rules_do_not_see_it(void **state)
{
    (void)state;
    ruled_load(
        "rules = ( { name = \"dark\"; shadow = true; trait = \"html_form\"; score = 9.0; "
        "}, { name = \"live\"; all = ( { rule = \"dark\"; } ); }, { name = \"darker\"; "
        "shadow = true; all = ( { rule = \"dark\"; } ); }, { name = \"off\"; enabled = "
        "false; trait = \"html_form\"; }, { name = \"on_off\"; all = ( { rule = \"off\"; } "
        "); } );");
    ruled_feature(FEATURE_trait, "html_form");
    ruled_judge();
    assert_int_equal(ruled.nshown, 2);
    assert_string_equal(ruled.shown[0].name, "TRAIT_dark");
    assert_true(ruled.shown[0].score == 0 && ruled.shown[0].is_shadow);
    assert_string_equal(ruled.shown[0].detail, "shadow, trait=html_form");
    assert_string_equal(ruled.shown[1].name, "RULE_darker");
}

static void test_until__the_day_is_over__then_the_rule_rests(void **state)
{
    (void)state;
    ruled_load(
        "rules = ( { name = \"r\"; until = \"2027-06-30\"; all = ( { direction = "
        "\"in\"; } ); }, { name = \"next\"; all = ( { rule = \"r\"; } ); } );");
    clock_set_for_test(UINT64_C(1814399999) * 1000000, 1);
    assert_true(ruled_holds());
    assert_int_equal(ruled.nshown, 2);
    clock_set_for_test(UINT64_C(1814400000) * 1000000, 1);
    ruled_judge();
    assert_int_equal(ruled.nshown, 0);
}

static void test_emergency__a_rule_for_it__then_only_in_that_mode(void **state)
{
    (void)state;
    ruled_load(
        "rules = ( { name = \"r\"; emergency = true; score = 2.0; all = ( { feature "
        "= \"url\"; pattern = \"crypto.*scam\"; } ); } );");
    ruled_feature(FEATURE_url, "x.example/Crypto/now-scam");
    ruled_judge();
    assert_int_equal(ruled.nshown, 0);
    ruled.c.is_emergency = true;
    ruled_judge();
    assert_int_equal(ruled.nshown, 1);
    assert_string_equal(ruled.shown[0].name, "BLOCKED_PATTERN_r");
    assert_true(ruled.shown[0].score == 2.0);
}

static void test_groups__rules_of_one__then_their_scores_are_capped(void **state)
{
    (void)state;
    ruled_load(
        "rule_groups = ( { name = \"g\"; cap = 2.5; } );"
        "rules = ( { name = \"a\"; group = \"g\"; trait = \"html_form\"; score = 2.0; }, "
        "{ name = \"b\"; group = \"g\"; trait = \"html_form\"; score = 2.0; }, "
        "{ name = \"c\"; group = \"g\"; trait = \"html_form\"; score = 2.0; }, "
        "{ name = \"d\"; group = \"g\"; trait = \"html_form\"; score = -1.0; }, "
        "{ name = \"e\"; trait = \"html_form\"; score = 3.0; } );");
    ruled_feature(FEATURE_trait, "html_form");
    ruled_judge();
    const double want[] = {2.0, 0.5, 0.0, -1.0, 3.0};
    assert_int_equal(ruled.nshown, LENGTH(want));
    for (size_t i = 0; i < LENGTH(want); i++) {
        assert_true(fabs(ruled.shown[i].score - want[i]) < 1e-9);
        assert_int_equal(ruled.shown[i].rule, i);
    }
    assert_memory_equal(ruled.shown[0].detail, "trait", 5);
    assert_memory_equal(ruled.shown[1].detail, "of 2, cap of group g, trait", 27);
}

static void test_detail__a_hit__then_value_place_and_number(void **state)
{
    (void)state;
    ruled_load(ALL(
        "{ feature = \"subject\"; pattern = \"win\"; }, { none = ( { trait = "
        "\"html_form\"; } ); }, { feature = \"url_host\"; least = 2; }, { feature = "
        "\"reply_to\"; most = 0; }"));
    featureset_set_place(ruled.features, SLICE_NONE, SLICE_LIT("Subject"));
    ruled_feature(FEATURE_subject, "You win");
    featureset_set_place(ruled.features, SLICE_LIT("1.2"), SLICE_NONE);
    ruled_feature(FEATURE_url_host, "a.example");
    ruled_feature(FEATURE_url_host, "b.example");
    assert_true(ruled_holds());
    assert_string_equal(
        ruled.shown[0].detail,
        "subject=You win in Subject, url_host=a.example in part 1.2 (+1 "
        "more), no reply_to");
}

static void test_judge__the_arena_is_full__then_rules_score_nevertheless(void **state)
{
    struct arena *small = arena_new(1);

    (void)state;
    ruled_load(
        RULE("trait = \"html_form\"; all = ( { direction = \"in\"; } ); score = 2.0;"));
    ruled_feature(FEATURE_trait, "html_form");
    while (arena_bytes(small, 1) != NULL) {
    }
    ruled.c.arena = small;
    assert_true(ruled_holds());
    assert_true(ruled.shown[0].score == 2.0);
    assert_int_equal(ruled.shown[0].detail[0], '\0');
    arena_free(&small);
}

/* A thousand rules are looked at only where something speaks for them; all of them hold where all
 * does. */
static void test_judge__a_thousand_rules__then_each_by_its_own_value(void **state)
{
    struct buf text;

    (void)state;
    buf_init(&text, 4 << 20);
    buf_add_str(&text, "rules = ( ");
    for (unsigned i = 0; i < 1000; i++) {
        buf_printf(
            &text,
            "%s{ name = \"r%u\"; score = %u.0; all = ( { feature = \"url_host\"; "
            "value = [ \"h%u.example\" ]; }, { feature = \"subject\"; pattern = \"w%uz\"; "
            "} ); none = ( { trait = \"html_form\"; } ); }",
            i > 0 ? ", " : "", i, i % 7, i, i);
    }
    buf_add_str(&text, " );");
    ruled_load(text.p);
    buf_fini(&text);
    for (unsigned i = 0; i < 1000; i += 37) {
        char value[32];

        ruled_message();
        snprintf(value, sizeof(value), "x.h%u.example", i);
        ruled_feature(FEATURE_url_host, value);
        ruled_judge();
        assert_int_equal(ruled.nshown, 0);
        snprintf(value, sizeof(value), "see W%uZ", i);
        ruled_feature(FEATURE_subject, value);
        ruled_judge();
        assert_int_equal(ruled.nshown, 1);
        assert_int_equal(ruled.shown[0].rule, i);
        ruled_feature(FEATURE_trait, "html_form");
        ruled_judge();
        assert_int_equal(ruled.nshown, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_feature__each_test__then_as_its_row_says),
        TEST(test_feature__an_address__then_its_domain_is_in_a_set),
        TEST(test_feature__a_file_of_values__then_each_line_is_one),
        TEST(test_feature__broken_utf8__then_patterns_still_see_the_rest),
        TEST(test_facts__each_kind__then_as_the_message_is),
        TEST(test_groups__nested__then_as_their_row_says),
        TEST(test_rules__one_names_another__then_whatever_the_order),
        TEST(test_shadow__a_rule_in_shadow__then_live_rules_do_not_see_it),
        TEST(test_until__the_day_is_over__then_the_rule_rests),
        TEST(test_emergency__a_rule_for_it__then_only_in_that_mode),
        TEST(test_groups__rules_of_one__then_their_scores_are_capped),
        TEST(test_detail__a_hit__then_value_place_and_number),
        TEST(test_judge__the_arena_is_full__then_rules_score_nevertheless),
        TEST(test_judge__a_thousand_rules__then_each_by_its_own_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
