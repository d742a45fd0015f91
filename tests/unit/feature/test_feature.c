/*
 * test_feature - the table is sound, a set keeps each feature once and says when it is full.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/message/feature/feature.h"

#include "tests/unit/unit.h"

enum { ARENA = 1 << 20, MANY = 1000 };

static void test_table__all_rows__numbers_and_names_are_unique(void **state)
{
    (void)state;
    size_t n = 0;
    const struct feature_info *rows = feature_table(&n);
    assert_true(n >= 20);
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(feature_info(rows[i].type), &rows[i]);
        assert_ptr_equal(feature_info_by_name(slice_str(rows[i].name)), &rows[i]);
    }
}

/* On disk and on the wire: these never change. */
static void test_table__numbers_of_the_sources__are_kept(void **state)
{
    (void)state;
    assert_int_equal(FEATURE_subject, 8);
    assert_int_equal(FEATURE_from, 14);
    assert_int_equal(FEATURE_client_ip, 15);
    assert_int_equal(FEATURE_url_exact, 22);
    assert_int_equal(FEATURE_url, 68);
    assert_int_equal(FEATURE_attachment_name, 42);
    assert_int_equal(FEATURE_attachment, 62);
    assert_int_equal(FEATURE_domain, 100);
    assert_int_equal(FEATURE_network, 103);
}

static void test_table__unknown_type_or_name__gives_null(void **state)
{
    (void)state;
    assert_null(feature_info(FEATURE_NONE));
    assert_null(feature_info_by_name(SLICE_LIT("nonsense")));
    assert_null(feature_info_by_name(SLICE_NONE));
}

static void test_limit_name__each_bit__has_one(void **state)
{
    (void)state;
    assert_string_equal(limit_name(LIMIT_BIT_mime_depth), "mime_depth");
    assert_non_null(limit_name(LIMIT_FLAG_COUNT - 1));
    assert_null(limit_name(LIMIT_FLAG_COUNT));
}

static void test_set__same_text_twice__is_kept_once_per_type(void **state)
{
    (void)state;
    struct arena *a = arena_new(ARENA);
    struct featureset *fs = featureset_new(a, MANY);
    assert_true(featureset_add(fs, FEATURE_from, SLICE_LIT("a@b.example")));
    assert_false(featureset_add(fs, FEATURE_from, SLICE_LIT("a@b.example")));
    assert_true(featureset_add(fs, FEATURE_sender, SLICE_LIT("a@b.example")));
    assert_false(featureset_add(fs, FEATURE_sender, SLICE_NONE));
    assert_int_equal(featureset_count(fs), 2);
    assert_int_equal(featureset_count_type(fs, FEATURE_sender), 1);
    assert_true(featureset_has(fs, FEATURE_from, SLICE_LIT("a@b.example")));
    assert_false(featureset_has(fs, FEATURE_url, SLICE_LIT("a@b.example")));
    assert_null(featureset_first(fs, FEATURE_url));
    assert_int_equal(featureset_first(fs, FEATURE_sender)->type, FEATURE_sender);
    assert_int_equal(featureset_limits(fs), 0);
    arena_free(&a);
}

static void test_set__text_of_the_caller_changes__copy_stays(void **state)
{
    (void)state;
    struct arena *a = arena_new(ARENA);
    struct featureset *fs = featureset_new(a, MANY);
    char text[] = "one";
    featureset_add(fs, FEATURE_subject, slice_str(text));
    text[0] = 'X';
    assert_true(slice_eq(featureset_at(fs, 0)->text, SLICE_LIT("one")));
    arena_free(&a);
}

static void test_set__below_at_and_above_the_cap__flag_only_above(void **state)
{
    (void)state;
    struct arena *a = arena_new(ARENA);
    struct featureset *fs = featureset_new(a, MANY);
    char text[16];
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof(text), "f%d", i);
        assert_true(featureset_add(fs, FEATURE_url, slice_str(text)));
    }
    assert_int_equal(featureset_limits(fs), 0);
    assert_false(featureset_add(fs, FEATURE_url, SLICE_LIT("f7")));
    assert_int_equal(featureset_limits(fs), 0);
    assert_true(featureset_add(fs, FEATURE_url, SLICE_LIT("one more")));
    assert_int_equal(featureset_limits(fs), LIMIT_FLAG(features));
    /* all there, in order, found again after the table grew */
    assert_int_equal(featureset_count(fs), MANY);
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof(text), "f%d", i);
        assert_true(slice_eq(featureset_at(fs, (size_t)i)->text, slice_str(text)));
        assert_true(featureset_has(fs, FEATURE_url, slice_str(text)));
    }
    arena_free(&a);
}

static void test_set__every_arena_cap__keeps_what_it_has_and_says_memory(void **state)
{
    (void)state;
    for (size_t cap = 1; cap < 40000; cap += 397) {
        struct arena *a = arena_new(cap);
        struct featureset *fs = featureset_new(a, MANY);
        size_t added = 0;
        char text[16];
        for (int i = 0; fs != NULL && i < 300; i++) {
            snprintf(text, sizeof(text), "f%d", i);
            added += featureset_add(fs, FEATURE_url, slice_str(text));
        }
        if (fs != NULL) {
            assert_int_equal(featureset_count(fs), added);
            assert_true(added == 300 || featureset_limits(fs) == LIMIT_FLAG(memory));
        }
        arena_free(&a);
    }
}

static void test_set__several_types__first_and_count_of_each(void **state)
{
    (void)state;
    struct arena *a = arena_new(ARENA);
    struct featureset *fs = featureset_new(a, MANY);
    assert_true(featureset_add(fs, FEATURE_subject, SLICE_LIT("one")));
    assert_true(featureset_add(fs, FEATURE_url, SLICE_LIT("two")));
    assert_true(featureset_add(fs, FEATURE_subject, SLICE_LIT("three")));
    assert_int_equal(featureset_count_type(fs, FEATURE_subject), 2);
    assert_int_equal(featureset_count_type(fs, FEATURE_url), 1);
    assert_int_equal(featureset_count_type(fs, FEATURE_from), 0);
    assert_ptr_equal(featureset_first(fs, FEATURE_subject), featureset_at(fs, 0));
    assert_ptr_equal(featureset_first(fs, FEATURE_url), featureset_at(fs, 1));
    assert_null(featureset_first(fs, FEATURE_from));
    arena_free(&a);
}

/* Kept features take no room from added ones. */
static void test_keep__in_a_full_set__has_room_and_leaves_none(void **state)
{
    (void)state;
    struct arena *a = arena_new(ARENA);
    struct featureset *other = featureset_new(a, MANY);
    struct featureset *fs = featureset_new(a, 1);
    featureset_set_place(other, SLICE_LIT("a.zip"), SLICE_NONE);
    assert_true(featureset_add(other, FEATURE_url, SLICE_LIT("kept")));
    assert_true(featureset_add(fs, FEATURE_url, SLICE_LIT("first")));
    assert_true(featureset_keep(fs, featureset_at(other, 0)));
    assert_int_equal(featureset_count(fs), 2);
    assert_int_equal(featureset_limits(fs), 0);
    const struct feature_place *place = featureset_at(fs, 1)->place;
    assert_non_null(place);
    assert_true(slice_eq(place->part, SLICE_LIT("a.zip")));
    assert_true(featureset_add(fs, FEATURE_url, SLICE_LIT("one too many")));
    assert_int_equal(featureset_count(fs), 2);
    assert_int_equal(featureset_limits(fs), LIMIT_FLAG(features));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table__all_rows__numbers_and_names_are_unique),
        cmocka_unit_test(test_table__numbers_of_the_sources__are_kept),
        cmocka_unit_test(test_table__unknown_type_or_name__gives_null),
        cmocka_unit_test(test_limit_name__each_bit__has_one),
        cmocka_unit_test(test_set__same_text_twice__is_kept_once_per_type),
        cmocka_unit_test(test_set__text_of_the_caller_changes__copy_stays),
        cmocka_unit_test(test_set__below_at_and_above_the_cap__flag_only_above),
        cmocka_unit_test(test_set__every_arena_cap__keeps_what_it_has_and_says_memory),
        cmocka_unit_test(test_set__several_types__first_and_count_of_each),
        cmocka_unit_test(test_keep__in_a_full_set__has_room_and_leaves_none),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
