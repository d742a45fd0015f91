/*
 * test_replay - a setting changes its parts of a recorded score alone; a message whose record lacks
 * the answer is undecided; a setting that no record answers is refused.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/verdict/journal/journal_head.h"
#include "core/verdict/journal/journal_replay.h"
#include "core/verdict/rule/rule.h"

#include "tests/unit/journal/records.h"
#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

static struct config *config;
static struct journal_names *names;
static struct example example;

static const char text[] =
    "state_dir = \"/nowhere\";\n"
    "shipped_rules = false;\n"
    "count = { distinct_types = [ \"text_band\" ]; };\n"
    "thresholds = { header = 5.0; };\n"
    "lists = ( { name = \"phish\"; weight = 6.0; }, { name = \"ok\"; category = \"allow\"; },\n"
    "          { name = \"off\"; enabled = false; }, { name = \"asked\"; } );\n"
    "rule_groups = ( { name = \"two\"; cap = 2.0; } );\n"
    "rules = (\n"
    "  { name = \"naming\"; all = ( { rule = \"named\"; }, { list = \"asked\"; } ); score = 0.5; },\n"
    "  { name = \"replica\"; type = \"text_band\"; window = \"1d\"; count = 30; score = 1.5; },\n"
    "  { name = \"wide\"; type = \"text_band\"; window = \"1d\"; count = 30; networks = 9; score = 1.0; },\n"
    "  { name = \"burst\"; type = \"text_band\"; window = \"1d\"; count = 900; burst = 3.0; score = 1.0; },\n"
    "  { name = \"form\"; trait = \"html_form\"; score = 1.0; shadow = true; },\n"
    "  { name = \"one\"; all = ( { trait = \"html_form\"; } ); score = 1.5; group = \"two\"; },\n"
    "  { name = \"more\"; all = ( { trait = \"html_form\"; } ); score = 1.5; group = \"two\"; },\n"
    "  { name = \"named\"; trait = \"html_form\"; },\n"
    "  { name = \"calm\"; type = \"text_band\"; window = \"1d\"; count = 900; burst = 0.5; score = 1.0; } );\n";

static int load(void **state)
{
    struct config_errors errors = {.n = 0};
    struct buf head;
    char path[TEMPDIR_PATH];
    struct errinfo why;

    assert_int_equal(tempdir_setup(state), 0);
    (void)snprintf(path, sizeof(path), "%s/gillnet.conf",
                   ((struct tempdir *)*state)->path);
    assert_int_equal(file_write_atomic(path, slice_str(text), 0600, &why), ERR_OK);
    if (ruleset_load(path, &config, &errors) != ERR_OK) {
        fail_msg("%s", errors.v[0].text);
    }
    names = calloc(1, sizeof(*names));
    assert_non_null(names);
    buf_init(&head, JOURNAL_HEAD);
    journal_head_print(1, &head);
    /* the names stay in the buffer, which lives as long as the program */
    assert_int_equal(journal_head_parse(buf_slice(&head), "", names, &why), ERR_OK);
    return 0;
}

static int unload(void **state)
{
    config_release(&config);
    return tempdir_teardown(state);
}

/* A message of 6.0 from phish and 1.5 from replica, marked at 5.0. */
static struct record *message(void)
{
    struct record *r = &example.record;

    example_fill(&example, 0);
    r->config_id = config_id(config);
    r->count[0].w[2] = 57;
    r->count[0].distinct[1] = 4;
    r->type[0] = (struct record_type){61, 1, 1};
    return r;
}

static struct replay_result judge(const char *const *settings, size_t n,
                                  const struct record *r)
{
    struct replay p;
    struct replay_result result;
    struct errinfo why;

    replay_init(&p, config);
    for (size_t i = 0; i < n; i++) {
        if (replay_set(&p, settings[i], &why) != ERR_OK) {
            fail_msg("%s: %s", settings[i], why.text);
        }
    }
    replay_judge(&p, r, names, &result);
    return result;
}

static void check(const char *setting, double score, enum action after)
{
    struct replay_result got = judge(&setting, 1, message());

    assert_null(got.undecided);
    assert_true(fabs(got.score_after - score) < 1e-9);
    assert_int_equal(got.after, after);
}

static void test_replay__without_settings__then_nothing_changes(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        example_fill(&example, i);
        struct replay_result got = judge(NULL, 0, &example.record);
        assert_null(got.undecided);
        assert_int_equal(got.after, got.before);
        assert_true(got.score_after == got.score_before);
        example.record.unjudged = SLICE_LIT("memory");
        assert_non_null(judge(NULL, 0, &example.record).undecided);
    }
}

static void test_replay__each_setting__changes_its_part(void **state)
{
    (void)state;
    check("thresholds.header=8", 7.5, ACTION_ACCEPT);
    check("thresholds.header=off", 7.5, ACTION_ACCEPT);
    check("thresholds.reject=6", 7.5, ACTION_REJECT);
    check("thresholds.reject=7", 7.5, ACTION_HEADER); /* bulk alone marks at most */
    check("lists.phish.weight=1", 2.5, ACTION_ACCEPT);
    check("lists.phish.enabled=false", 1.5, ACTION_ACCEPT);
    check("lists.phish.shadow=true", 1.5, ACTION_ACCEPT);
    check("lists.other.weight=9", 7.5, ACTION_HEADER);
    check("rules.replica.score=0.5", 6.5, ACTION_HEADER);
    check("rules.replica.enabled=false", 6.0, ACTION_HEADER);
    check("rules.replica.shadow=true", 6.0, ACTION_HEADER);
    check("rules.replica.count=57", 7.5, ACTION_HEADER);
    check("rules.replica.count=58", 6.0, ACTION_HEADER);
    check("rules.replica.count=5", 7.5, ACTION_HEADER);
    check("rules.wide.networks=2", 8.5, ACTION_HEADER);
    check("rules.wide.networks=5", 7.5, ACTION_HEADER);
    const char *both[] = {"thresholds.reject=7", "bulk_alone=reject"};
    assert_int_equal(judge(both, 2, message()).after, ACTION_REJECT);
}

/* The record tells all that such a rule asks for. */
static void test_replay__a_rule_of_a_trait__is_met_by_it_alone(void **state)
{
    (void)state;
    const char *live = "rules.form.shadow=false";
    struct record *r = message();
    r->ntraits = 1;
    r->trait[0] = TRAIT_html_form;
    struct replay_result got = judge(&live, 1, r);
    assert_null(got.undecided);
    assert_true(fabs(got.score_after - 8.5) < 1e-9);
    r->ntraits = 0;
    got = judge(&live, 1, r);
    assert_null(got.undecided);
    assert_true(fabs(got.score_after - 7.5) < 1e-9);
}

static void test_replay__limits_score__counts_once(void **state)
{
    (void)state;
    struct record *r = message();
    r->symbol[0] = (struct record_symbol){SLICE_LIT("LIMIT_CPU"), 3.0, 0, SLICE_NONE};
    r->symbol[1] = (struct record_symbol){SLICE_LIT("LIMIT_PARTS"), 0, 0, SLICE_NONE};
    r->score = r->sure = r->firm = 3.0;
    r->wanted = ACTION_ACCEPT;
    const char *setting = "limits.score=5.5";
    struct replay_result got = judge(&setting, 1, r);
    assert_true(got.score_after == 5.5);
    assert_int_equal(got.after, ACTION_HEADER);
}

static void test_replay__what_a_record_cannot_tell__is_undecided(void **state)
{
    (void)state;
    const char *lower = "rules.burst.count=10";
    assert_non_null(judge(&lower, 1, message()).undecided);
    const char *calm = "rules.calm.count=10"; /* a burst below 1 is one too */
    assert_non_null(judge(&calm, 1, message()).undecided);
    const char *wide = "rules.wide.networks=6";
    struct record *r = message();
    r->type[0].features = 9; /* another feature may have been in more networks */
    r->config_id = 1;
    assert_non_null(judge(&wide, 1, r).undecided);
    r = message();
    r->ntypes = 0;
    const char *more = "rules.wide.networks=2";
    assert_non_null(judge(&more, 1, r).undecided);
    r = message();
    r->symbol[0].score = 0; /* why it scored nothing was in a text that is gone */
    r->symbol[0].detail = SLICE_NONE;
    r->score -= 6;
    r->sure -= 6;
    r->firm -= 6;
    r->wanted = ACTION_ACCEPT;
    const char *live = "lists.phish.shadow=false";
    assert_non_null(judge(&live, 1, r).undecided);
    r->wanted = ACTION_REJECT;
    assert_non_null(judge(NULL, 0, r).undecided);
    r = message();
    r->is_of_users = true;
    assert_null(judge(NULL, 0, r).undecided);
    assert_non_null(judge(&live, 1, r).undecided);
}

static void test_replay__a_group__keeps_its_cap(void **state)
{
    (void)state;
    struct record *r = message();
    r->symbol[0] =
        (struct record_symbol){SLICE_LIT("RULE_ONE"), 1.5, 0, SLICE_LIT("x")};
    r->symbol[1] =
        (struct record_symbol){SLICE_LIT("RULE_MORE"), 0.5, 0, SLICE_LIT("x")};
    r->score = r->sure = r->firm = 2.0;
    r->wanted = ACTION_ACCEPT;
    const char *off = "rules.one.enabled=false";
    assert_true(judge(&off, 1, r).score_after == 1.5);
    const char *small = "rules.one.score=0.25";
    assert_true(judge(&small, 1, r).score_after == 1.75);
    const char *large = "rules.more.score=9";
    assert_true(judge(&large, 1, r).score_after == 2.0);
    r->config_id = 1;
    assert_non_null(judge(&large, 1, r).undecided);
}

static void test_replay__what_no_record_can_tell__is_refused(void **state)
{
    (void)state;
    static const char *const rows[] = {"rules.nosuch.score=1",
                                       "rules.one.count=3",
                                       "rules.replica.window=1h",
                                       "rules.replica.type=url",
                                       "rules.form.count=2",
                                       "rules.replica.count=-1",
                                       "rules.replica.score=x",
                                       "rules.named.enabled=false",
                                       "lists.ok.weight=3",
                                       "lists.off.enabled=true",
                                       "lists.phish.types=url",
                                       "lists.asked.enabled=false",
                                       "lists..weight=1",
                                       "thresholds.accept=1",
                                       "thresholds.header=0",
                                       "thresholds.header=nan",
                                       "thresholds.header=1e99",
                                       "deadline=1s",
                                       "limits.urls=3",
                                       "limits.score=-1",
                                       "bulk_alone=accept",
                                       "thresholds.header",
                                       "=1",
                                       ""};
    struct replay p;
    struct errinfo why;

    for (size_t i = 0; i < LENGTH(rows); i++) {
        replay_init(&p, config);
        why = (struct errinfo){.code = ERR_OK};
        assert_int_not_equal(replay_set(&p, rows[i], &why), ERR_OK);
        assert_true(strlen(why.text) > 10);
    }
}

int main(void)
{
    base_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replay__without_settings__then_nothing_changes),
        cmocka_unit_test(test_replay__each_setting__changes_its_part),
        cmocka_unit_test(test_replay__a_rule_of_a_trait__is_met_by_it_alone),
        cmocka_unit_test(test_replay__limits_score__counts_once),
        cmocka_unit_test(test_replay__what_a_record_cannot_tell__is_undecided),
        cmocka_unit_test(test_replay__a_group__keeps_its_cap),
        cmocka_unit_test(test_replay__what_no_record_can_tell__is_refused),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
