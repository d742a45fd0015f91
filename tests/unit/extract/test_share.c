/*
 * test_share - processor time: no part uses up that of another, and a part that is cut short is
 * skimmed.
 */
#include "core/base/buf.h"
#include "core/message/extract/share.h"

#include "tests/unit/extract/limits.h"
#include "tests/unit/unit.h"

enum { ARENA = 64 << 20, TEXT = 64 << 20, BURN = 4 << 20, SOME = 3, LITTLE = 50 };

/* Takes more time than a leaf has. */
static void burn(struct buf *text)
{
    const struct slice costly = SLICE_LIT("1-(2).a@b.c/d ");
    for (size_t n = 0; n < BURN; n += costly.n) {
        buf_add(text, costly);
    }
}

static struct extract *read_within(struct arena *arena, const struct buf *text,
                                   uint64_t cpu_us)
{
    struct extract_limits limits = limits_default;
    limits.mail.message_bytes = TEXT;
    limits.mail.decoded_bytes = TEXT;
    limits.cpu_us = cpu_us;
    struct extract *x = extract_new(arena, &limits, NULL, 0);
    assert_non_null(x);
    assert_false(buf_failed(text));
    extract_raw(x, buf_slice(text));
    return x;
}

/* With this fraction of the time that extraction takes without a bound, on this machine and
 * build. */
static struct featureset *read_message(struct arena *arena, const struct buf *text,
                                       unsigned part)
{
    struct arena *first = arena_new(ARENA);
    struct extract *x = read_within(first, text, 0);
    uint64_t whole_us = extract_time_us(x);
    extract_drop(x);
    arena_free(&first);
    return extract_finish(read_within(arena, text, whole_us / part));
}

/* Text before the link, and its encoding. */
static const struct row {
    const char *head;
    const char *between;
    const char *link;
} rows[] = {
    /* an attachment that is text does not take the time of the text */
    {"Content-Type: multipart/mixed; boundary=b\n\n--b\n"
     "Content-Type: text/plain; name=a.txt\nContent-Disposition: attachment\n\n",
     "\n--b\nContent-Type: text/plain\n\n", "evil.com"},
    /* one part does not take the time of the next */
    {"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\n",
     "\n--b\nContent-Type: text/plain\n\n", "evil.com"},
};

static void test_share__one_part_is_costly__the_next_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena *arena = arena_new(ARENA);
        struct buf text;

        buf_init(&text, TEXT);
        buf_add_str(&text, rows[i].head);
        burn(&text);
        buf_add_str(&text, rows[i].between);
        buf_add_str(&text, rows[i].link);
        buf_add_str(&text, "\n--b--\n");
        struct featureset *set = read_message(arena, &text, SOME);
        assert_true((featureset_limits(set) & LIMIT_FLAG(cpu)) != 0);
        assert_true(featureset_has(set, FEATURE_url_host, SLICE_LIT("evil.com")));
        buf_fini(&text);
        arena_free(&arena);
    }
}

static void test_skim__each_way_of_writing__is_found(void **state)
{
    static const struct {
        const char *text;
        const char *url;
    } links[] = {
        {"http://evil.com/pay?a=1&amp;b=2", "evil.com/pay?a=1&b=2"},
        {"see <a href=\"https://evil.com/pay\">", "evil.com/pay"},
        {"see <a href = 'evil.com/pay'>", "evil.com/pay"},
        {"<img src=//evil.com/pay>", "evil.com/pay"},
        {"(HTTP://evil.com/pay).", "evil.com/pay"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        struct arena *arena = arena_new(ARENA);
        struct buf text;

        buf_init(&text, TEXT);
        buf_add_str(&text, "Content-Type: text/html\n\n");
        burn(&text);
        buf_add_str(&text, links[i].text);
        struct featureset *set = read_message(arena, &text, SOME);
        assert_true((featureset_limits(set) & LIMIT_FLAG(cpu)) != 0);
        if (!featureset_has(set, FEATURE_url, slice_str(links[i].url))) {
            fail_msg("not found: %s", links[i].text);
        }
        buf_fini(&text);
        arena_free(&arena);
    }
}

static void test_share__all_is_used_up__the_trait_says_so(void **state)
{
    struct arena *arena = arena_new(ARENA);
    struct buf text;

    (void)state;
    buf_init(&text, TEXT);
    buf_add_str(&text, "Subject: x\n\n");
    for (int i = 0; i < 8; i++) {
        burn(&text);
    }
    struct featureset *set = read_message(arena, &text, LITTLE);
    assert_true(featureset_has(set, FEATURE_trait, SLICE_LIT("limit_cpu")));
    assert_int_equal(featureset_count_type(set, FEATURE_body), 1);
    buf_fini(&text);
    arena_free(&arena);
}

static void test_shares__no_budget__nothing_is_ever_over(void **state)
{
    struct shares s;

    (void)state;
    shares_init(&s, 0);
    shares_begin(&s, SIZE_MAX / 2);
    shares_spend_on(&s, SHARE_TEXT);
    shares_step(&s, SIZE_MAX / 2);
    assert_false(shares_leaf_is_over(&s));
    assert_false(shares_all_is_over(&s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share__one_part_is_costly__the_next_is_read),
        cmocka_unit_test(test_skim__each_way_of_writing__is_found),
        cmocka_unit_test(test_share__all_is_used_up__the_trait_says_so),
        cmocka_unit_test(test_shares__no_budget__nothing_is_ever_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
