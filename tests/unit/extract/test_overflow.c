/*
 * test_overflow - features without room are looked up, and listed ones are kept.
 */
#include "core/base/buf.h"

#include "tests/unit/extract/limits.h"
#include "tests/unit/unit.h"

enum { ARENA = 64 << 20, TEXT = 32 << 20 };

/* Lists that hold values which end in a text. */
struct list_watcher {
    struct slice end;
    size_t asked;
    size_t questions;
};

static size_t listed(void *context, const struct featureset *features, uint32_t *ret)
{
    struct list_watcher *l = context;
    size_t n = 0;

    l->questions++;
    for (uint32_t i = 0; i < featureset_count(features); i++) {
        l->asked++;
        if (slice_has_suffix_nocase(featureset_at(features, i)->text, l->end)) {
            ret[n++] = i;
        }
    }
    return n;
}

struct message {
    struct arena *arena;
    struct featureset *set;
};

/* Text is used up. */
static struct message read_message(struct buf *text, struct extract_limits *limits,
                                   struct list_watcher *lists)
{
    struct message m = {.arena = arena_new(ARENA)};
    if (lists != NULL) {
        limits->listed = listed;
        limits->listed_context = lists;
    }
    struct extract *x = extract_new(m.arena, limits, NULL, 0);
    assert_non_null(x);
    assert_false(buf_failed(text));
    extract_raw(x, buf_slice(text));
    m.set = extract_finish(x);
    buf_fini(text);
    return m;
}

/* n lines; of each a number follows head and middle. */
static void lines(struct buf *text, const char *head, const char *middle, unsigned n)
{
    buf_init(text, TEXT);
    buf_add_str(text, "Subject: x\n\n");
    for (unsigned i = 0; i < n; i++) {
        buf_printf(text, "%s%u%s%u.com\n", head, i, middle, i);
    }
}

static void test_urls__over_the_limit__listed_ones_are_kept(void **state)
{
    struct extract_limits limits = limits_default;
    struct list_watcher lists = {.end = SLICE_LIT("evil.com")};
    struct buf text;

    (void)state;
    lines(&text, "http://a", ".h", 3000);
    buf_add_str(&text, "http://www.evil.com/pay\n");
    struct message m = read_message(&text, &limits, &lists);
    assert_true(featureset_has(m.set, FEATURE_url_host, SLICE_LIT("www.evil.com")));
    assert_true(lists.asked > 3000);
    assert_true(lists.questions < 200);
    assert_true(featureset_count_type(m.set, FEATURE_url) <= limits.urls + 1);
    assert_true((featureset_limits(m.set) & LIMIT_FLAG(urls)) != 0);
    arena_free(&m.arena);
}

static void test_urls__of_one_domain__leave_room_for_others(void **state)
{
    struct extract_limits limits = limits_default;
    struct buf text;

    (void)state;
    lines(&text, "http://img.com/", "?", 3000);
    buf_add_str(&text, "http://other.com/pay\n");
    struct message m = read_message(&text, &limits, NULL);
    assert_true(featureset_has(m.set, FEATURE_url_host, SLICE_LIT("other.com")));
    assert_int_equal(featureset_count_type(m.set, FEATURE_url), limits.urls + 2);
    arena_free(&m.arena);
}

static void test_features__over_the_limit__addresses_are_asked_once_each(void **state)
{
    struct extract_limits limits = limits_default;
    struct list_watcher lists = {.end = SLICE_LIT("bad@evil.com")};
    struct buf text;

    (void)state;
    limits.features = 500;
    lines(&text, "u", "@h", 1000);
    for (int i = 0; i < 1000; i++) {
        buf_add_str(&text, "bad@evil.com\n");
    }
    struct message m = read_message(&text, &limits, &lists);
    assert_true(featureset_has(m.set, FEATURE_text_address, SLICE_LIT("bad@evil.com")));
    assert_in_range(lists.asked, 400, 700);
    arena_free(&m.arena);
}

static void test_field__many_addresses__the_last_is_asked_about(void **state)
{
    struct extract_limits limits = limits_default;
    struct list_watcher lists = {.end = SLICE_LIT("bad@evil.com")};
    struct buf text;

    (void)state;
    buf_init(&text, TEXT);
    buf_add_str(&text, "From: a@b.com");
    for (int i = 0; i < 1000; i++) {
        buf_printf(&text, ",\n u%d@h%d.com", i, i);
    }
    buf_add_str(&text, ",\n bad@evil.com\n\nx\n");
    struct message m = read_message(&text, &limits, &lists);
    assert_true(featureset_has(m.set, FEATURE_from, SLICE_LIT("bad@evil.com")));
    assert_int_equal(featureset_count_type(m.set, FEATURE_from), 101);
    assert_int_equal(featureset_limits(m.set), LIMIT_FLAG(addresses));
    arena_free(&m.arena);
}

static void test_kept__from_the_overflow__stands_where_it_stood(void **state)
{
    struct extract_limits limits = limits_default;
    struct list_watcher lists = {.end = SLICE_LIT("evil.com")};
    struct buf text;

    (void)state;
    limits.urls = 1;
    lines(&text, "http://a", ".h", 20);
    buf_add_str(&text, "http://evil.com/\n");
    struct message m = read_message(&text, &limits, &lists);
    const struct feature *f = NULL;
    for (size_t i = 0; i < featureset_count(m.set); i++) {
        if (slice_eq(featureset_at(m.set, i)->text, SLICE_LIT("evil.com"))) {
            f = featureset_at(m.set, i);
        }
    }
    assert_non_null(f);
    assert_non_null(f->place);
    assert_true(slice_eq(f->place->part, SLICE_LIT("1")));
    assert_true(f->offset > 0);
    arena_free(&m.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls__over_the_limit__listed_ones_are_kept),
        cmocka_unit_test(test_urls__of_one_domain__leave_room_for_others),
        cmocka_unit_test(test_features__over_the_limit__addresses_are_asked_once_each),
        cmocka_unit_test(test_field__many_addresses__the_last_is_asked_about),
        cmocka_unit_test(test_kept__from_the_overflow__stands_where_it_stood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
