/*
 * test_json - any bytes become text, and features, limits and places their JSON.
 */
#include "core/base/base.h"
#include "core/message/feature/feature_json.h"

#include "tests/unit/unit.h"

static void check_text(struct slice bytes, const char *want)
{
    json_t *text = json_text(bytes);
    assert_non_null(text);
    assert_int_equal(json_string_length(text), strlen(want));
    assert_string_equal(json_string_value(text), want);
    json_decref(text);
}

static void test_text__bytes_of_any_kind__are_valid_utf8(void **state)
{
    (void)state;
    check_text(SLICE_NONE, "");
    check_text(SLICE_LIT("\xc3\xa9 \xf0\x9f\x98\x80"), "\xc3\xa9 \xf0\x9f\x98\x80");
    check_text(SLICE_LIT("a\0b"), "a\xef\xbf\xbd"
                                  "b");
    check_text(SLICE_LIT("\xe9t\xed\xa0\x80"),
               "\xef\xbf\xbdt\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    check_text(SLICE_LIT("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");
}

static void check_dump(json_t *value, const char *want)
{
    char *got = json_dumps(value, JSON_COMPACT);
    assert_string_equal(got, want);
    free(got);
    json_decref(value);
}

static void test_features__with_and_without_places__as_documented(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 16);
    struct featureset *fs = featureset_new(a, 10);
    featureset_set_place(fs, SLICE_LIT("1.2"), SLICE_NONE);
    featureset_set_offset(fs, 7);
    featureset_add(fs, FEATURE_url, SLICE_LIT("evil.example/"));
    check_dump(json_features(fs, false),
               "[{\"type\":\"url\",\"value\":\"evil.example/\"}]");
    check_dump(json_features(fs, true),
               "[{\"type\":\"url\",\"value\":\"evil.example/\",\"part\":\"1.2\","
               "\"header\":null,\"within\":null,\"offset\":7}]");
    arena_free(&a);
}

static void test_limits__bits__are_their_names(void **state)
{
    (void)state;
    check_dump(json_limits(0), "[]");
    check_dump(json_limits(LIMIT_FLAG(urls) | LIMIT_FLAG(deadline)),
               "[\"urls\",\"deadline\"]");
    assert_string_equal(feature_type_name(FEATURE_url), "url");
    assert_string_equal(feature_type_name(9999), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text__bytes_of_any_kind__are_valid_utf8),
        cmocka_unit_test(test_features__with_and_without_places__as_documented),
        cmocka_unit_test(test_limits__bits__are_their_names),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
