/*
 * test_report_items - on which parts of a message a report votes, and the answer to a report.
 */
#include <jansson.h>

#include "core/base/base.h"
#include "core/report/report_items.h"
#include "core/report/report_json.h"

#include "tests/unit/unit.h"

static const struct keyring keys = {.n = 1, .ring = {{1, "key of this test"}}};
static struct config config;
static const struct report_naming how = {&keys, &config};

static void test_proof__of_each_type__by_what_it_belongs_to(void **state)
{
    static const struct {
        enum feature_type type;
        const char *value;
        enum report_proof proof;
    } rows[] = {
        {FEATURE_text_band, "1.2.3", REPORT_BAND},
        {FEATURE_text, "00", REPORT_EXACT},
        {FEATURE_body, "00", REPORT_EXACT},
        {FEATURE_attachment, "00", REPORT_EXACT},
        {FEATURE_subject, "x", REPORT_NO_PROOF},
        {FEATURE_from, "a@evil.de", REPORT_NO_PROOF},
        {FEATURE_url, "evil.de/x", REPORT_LINK},
        {FEATURE_url, "evil.de:8080/x", REPORT_LINK},
        {FEATURE_url_template, "evil.de/x", REPORT_LINK},
        {FEATURE_url, "evil.de/", REPORT_NO_PROOF}, /* everybody's first page */
        {FEATURE_url, "evil.de", REPORT_NO_PROOF},
        {FEATURE_url, "google.com/x", REPORT_NO_PROOF},
        {FEATURE_url, "www.google.com/x", REPORT_NO_PROOF},
        {FEATURE_url, "github.io/x", REPORT_NO_PROOF},
        {FEATURE_url, "/x", REPORT_NO_PROOF},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (report_proof((uint16_t)rows[i].type, slice_str(rows[i].value)) !=
            rows[i].proof) {
            fail_msg("%s", rows[i].value);
        }
    }
}

static void test_epoch__of_a_band__is_its_first_part(void **state)
{
    (void)state;
    assert_int_equal(report_epoch(SLICE_LIT("2bf.01.00000000000000ff")), 0x2bf);
    assert_int_equal(report_epoch(SLICE_LIT("f.01.0")), 0xf);
    assert_int_equal(report_epoch(SLICE_LIT("x.01.0")), 0);
    assert_int_equal(report_epoch(SLICE_NONE), 0);
}

static struct report report_of(const struct featureset *features)
{
    struct report r = {.nitems = 0};

    report_add_features(&how, features, &r);
    return r;
}

/* Own ones first; of near-duplicate keys those of the newest epoch. */
static void test_add_features__of_a_message__own_ones_of_this_epoch_first(void **state)
{
    static const enum feature_type types[] = {FEATURE_text_band, FEATURE_url,
                                              FEATURE_text_band, FEATURE_from};
    struct arena *arena = arena_new(1 << 20);
    struct featureset *set = featureset_new(arena, 100);

    (void)state;
    assert_true(featureset_add(set, FEATURE_from, SLICE_LIT("a@evil.de")));
    assert_true(featureset_add(set, FEATURE_text_band, SLICE_LIT("2be.01.aa")));
    assert_true(featureset_add(set, FEATURE_text_band, SLICE_LIT("2bf.01.bb")));
    assert_true(featureset_add(set, FEATURE_url, SLICE_LIT("evil.de/x")));
    assert_true(featureset_add(set, FEATURE_trait, SLICE_LIT("date_odd")));
    assert_true(featureset_add(set, FEATURE_text_band, SLICE_LIT("2bf.02.cc")));
    struct report r = report_of(set);
    assert_int_equal(r.nitems, LENGTH(types));
    for (size_t i = 0; i < LENGTH(types); i++) {
        assert_int_equal(r.items[i].type, types[i]);
        assert_int_equal(r.items[i].proof != REPORT_NO_PROOF, i < 3);
    }
    assert_true(r.items[0].digest != r.items[2].digest);
    arena_free(&arena);
}

static void test_add_item__no_item_or_no_room__is_left_out(void **state)
{
    struct report r = {.nitems = 0};

    (void)state;
    assert_false(report_add_item(&how, FEATURE_trait, SLICE_LIT("date_odd"), &r));
    assert_false(report_add_item(&how, FEATURE_NONE, SLICE_LIT("x"), &r));
    assert_int_equal(r.nitems, 0);
    for (unsigned i = 0; i < REPORT_ITEMS_MAX; i++) {
        assert_true(report_add_item(&how, FEATURE_subject, SLICE_LIT("x"), &r));
    }
    assert_false(report_add_item(&how, FEATURE_subject, SLICE_LIT("x"), &r));
    assert_int_equal(r.nitems, REPORT_ITEMS_MAX);
}

/* ---- the answer ---- */

static void assert_answer(const struct report *r, const struct reports_outcome *o,
                          const char *want)
{
    json_t *got = report_outcome_json(r, o);
    char *text = json_dumps(got, JSON_SORT_KEYS);

    assert_non_null(text);
    assert_string_equal(text, want);
    free(text);
    json_decref(got);
}

static void test_answer__to_a_report__says_what_it_changed(void **state)
{
    struct report r = {.is_spam = true,
                       .message = 5,
                       .nitems = 3,
                       .reporter = SLICE_LIT("anna"),
                       .way = SLICE_LIT("api")};
    struct reports_outcome o = {
        .is_counted = true, .votes = 2, .trust = 0.5, .after = STANDING_SPAM};

    (void)state;
    assert_answer(
        &r, &o,
        "{\"again\": false, \"changed\": [{\"items\": 2, \"status\": "
        "\"voted\"}], \"id\": null, \"kind\": \"spam\", \"reporter\": "
        "\"anna\", \"standing\": \"spam\", \"trust\": 0.5, \"way\": \"api\"}");
    r.is_spam = false;
    r.vector = SLICE_LIT("v");
    o = (struct reports_outcome){.is_counted = true,
                                 .trust = 1,
                                 .replaced = 1,
                                 .overruled = 2,
                                 .after = STANDING_HAM};
    assert_answer(
        &r, &o,
        "{\"again\": false, \"changed\": [{\"status\": \"taught\"}, {\"report\": "
        "\"000000000001\", \"status\": \"replaced\"}, {\"reports\": 2, \"status\": "
        "\"overruled\"}], \"detail\": \"nothing in it belongs to one message alone, so "
        "it votes on no message\", \"id\": null, \"kind\": \"ham\", \"reporter\": "
        "\"anna\", \"standing\": \"ham\", \"trust\": 1.0, \"way\": \"api\"}");
}

/* The answer to a report that changes nothing. */
static void test_answer__to_a_report_without_effect__says_why(void **state)
{
    static const struct {
        uint64_t message;
        struct reports_outcome outcome;
        const char *why;
    } rows[] = {
        {5, {.is_again = true, .is_counted = true, .votes = 1}, "said so before"},
        {0, {.is_counted = true}, "without the message"},
        {5, {.is_counted = false}, "more reports today than count"},
        {5, {.is_counted = true}, "nothing in it belongs to one message"},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct report r = {.message = rows[i].message,
                                 .reporter = SLICE_LIT("anna"),
                                 .way = SLICE_LIT("api")};
        json_t *got = report_outcome_json(&r, &rows[i].outcome);
        const char *why = json_string_value(json_object_get(got, "detail"));

        assert_non_null(why);
        assert_non_null(strstr(why, rows[i].why));
        assert_int_equal(json_array_size(json_object_get(got, "changed")), 0);
        json_decref(got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_proof__of_each_type__by_what_it_belongs_to),
        cmocka_unit_test(test_epoch__of_a_band__is_its_first_part),
        cmocka_unit_test(test_add_features__of_a_message__own_ones_of_this_epoch_first),
        cmocka_unit_test(test_add_item__no_item_or_no_room__is_left_out),
        cmocka_unit_test(test_answer__to_a_report__says_what_it_changed),
        cmocka_unit_test(test_answer__to_a_report_without_effect__says_why),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
