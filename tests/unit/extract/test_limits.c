/*
 * test_limits - every limit of extraction one below, at and one above; every arena.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/base/buf.h"
#include "core/message/extract/extract.h"
#include "core/message/html/shown.h"

#include "tests/unit/extract/limits.h"
#include "tests/unit/unit.h"

enum { ARENA = 64 << 20, TEXT = 32 << 20 };

struct outcome {
    unsigned limits;
    size_t count;
};

/* Text is used up. count: features of type. */
static struct outcome run(struct buf *text, const struct extract_limits *limits,
                          enum feature_type type)
{
    struct arena *arena = arena_new(ARENA);
    struct extract *x = extract_new(arena, limits, NULL, 0);
    assert_non_null(x);
    assert_false(buf_failed(text));
    extract_raw(x, buf_slice(text));
    struct featureset *fs = extract_finish(x);
    struct outcome o = {featureset_limits(fs), featureset_count_type(fs, type)};
    arena_free(&arena);
    buf_fini(text);
    return o;
}

static void test_urls__below_at_above__later_ones_are_left(void **state)
{
    (void)state;
    for (int n = 499; n <= 501; n++) {
        struct buf text;
        buf_init(&text, TEXT);
        buf_add_str(&text, "A: b\n\n");
        for (int i = 0; i < n; i++) {
            buf_printf(&text, "http://h%d.com/ http://h%d.com/\n", i, i);
        }
        struct outcome o = run(&text, &limits_default, FEATURE_url);
        assert_int_equal(o.count, n > 500 ? 500 : n);
        assert_int_equal(o.limits, n > 500 ? LIMIT_FLAG(urls) : 0);
    }
}

static void test_url_bytes__too_long__host_is_kept(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, TEXT);
    buf_add_str(&text, "Content-Type: text/html\n\n<a href='http://evil.com/");
    for (int i = 0; i < 9000; i++) {
        buf_add_char(&text, 'x');
    }
    buf_add_str(&text, "'>");
    struct outcome o = run(&text, &limits_default, FEATURE_url_host);
    assert_int_equal(o.count, 1);
    assert_int_equal(o.limits, LIMIT_FLAG(url_bytes));
}

static void test_addresses__below_at_above__later_ones_are_left(void **state)
{
    (void)state;
    for (int n = 99; n <= 101; n++) {
        struct buf text;
        buf_init(&text, TEXT);
        buf_add_str(&text, "From: ");
        for (int i = 0; i < n; i++) {
            buf_printf(&text, "%sa%d@b.com", i > 0 ? ", " : "", i);
        }
        buf_add_str(&text, "\n\n");
        struct outcome o = run(&text, &limits_default, FEATURE_from);
        assert_int_equal(o.count, n > 100 ? 100 : n);
        assert_int_equal(o.limits, n > 100 ? LIMIT_FLAG(addresses) : 0);
    }
}

static void test_recipients__below_at_above__flag_only_above(void **state)
{
    (void)state;
    for (int n = 99; n <= 101; n++) {
        struct arena *arena = arena_new(ARENA);
        struct extract *x = extract_new(arena, &limits_default, NULL, 0);
        for (int i = 0; i < n; i++) {
            extract_rcpt_to(x, SLICE_LIT("a@b.com"));
        }
        assert_int_equal(featureset_limits(extract_finish(x)),
                         n > 100 ? LIMIT_FLAG(recipients) : 0);
        arena_free(&arena);
    }
}

static void test_html_attributes__above__is_flagged(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, TEXT);
    buf_add_str(&text, "Content-Type: text/html\n\n<a");
    for (int i = 0; i < 300; i++) {
        buf_printf(&text, " a%d=b", i);
    }
    buf_add_str(&text, "> http://a.com/\n");
    struct outcome o = run(&text, &limits_default, FEATURE_url);
    assert_int_equal(o.limits, LIMIT_FLAG(html_attributes));
    assert_int_equal(o.count, 1);
}

static void test_html_depth__above__is_flagged(void **state)
{
    (void)state;
    for (int depth = SHOWN_DEPTH_MAX; depth <= SHOWN_DEPTH_MAX + 1; depth++) {
        struct buf text;
        buf_init(&text, TEXT);
        buf_add_str(&text, "Content-Type: text/html\n\n");
        for (int i = 0; i < depth; i++) {
            buf_add_str(&text, "<div>");
        }
        buf_add_str(&text, "http://a.com/\n");
        struct outcome o = run(&text, &limits_default, FEATURE_url);
        assert_int_equal(o.limits,
                         depth > SHOWN_DEPTH_MAX ? LIMIT_FLAG(html_depth) : 0);
        assert_int_equal(o.count, 1);
    }
}

static void test_features__many_attachments__are_capped(void **state)
{
    (void)state;
    struct extract_limits l = limits_default;
    l.mail.parts = 10000;
    l.mail.header_bytes = 1 << 24;
    struct buf text;
    buf_init(&text, TEXT);
    buf_add_str(&text, "Content-Type: multipart/mixed; boundary=b\n\n");
    for (int i = 0; i < 6000; i++) {
        buf_printf(&text, "--b\nContent-Type: image/png; name=%d\n\n%d\n", i, i);
    }
    struct outcome o = run(&text, &l, FEATURE_attachment);
    assert_int_equal(o.limits, LIMIT_FLAG(features));
    assert_in_range(o.count, 4000, 4096);
}

static void test_charset__unknown__is_flagged_and_read_all_the_same(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, TEXT);
    buf_add_str(&text, "Content-Type: text/plain; charset=x-martian\n\n"
                       "\xe9 http://a.com/\n");
    struct outcome o = run(&text, &limits_default, FEATURE_url);
    assert_int_equal(o.limits, LIMIT_FLAG(charset));
    assert_int_equal(o.count, 1);
}

static void test_cpu__used_up__stops_and_keeps_what_was_found(void **state)
{
    (void)state;
    struct extract_limits l = limits_default;
    l.cpu_us = 1;
    struct buf text;
    buf_init(&text, TEXT);
    buf_add_str(&text, "Subject: hi\n\n");
    for (int i = 0; i < 100000; i++) {
        buf_printf(&text, "http://h%d.com/ and some more text in this line\n", i % 400);
    }
    struct outcome o = run(&text, &l, FEATURE_url);
    assert_int_equal(o.limits & LIMIT_FLAG(cpu), LIMIT_FLAG(cpu));
    assert_true(o.count < 400);
}

static void test_mail_limits__of_the_parser__are_named(void **state)
{
    static const char text[] =
        "A: b\nC: d\nE: f\nContent-Type: multipart/x; boundary=b\n\n"
        "--b\nContent-Type: multipart/x; boundary=c\n\n--c\n\nx\n"
        "--b\n\ny\n--b\n\nlong long long\n--b--\n";
    (void)state;
    const struct {
        struct mail_limits mail;
        unsigned flag;
    } rows[] = {
        {{600, 999999, 99, 999, 99, 99, 9, false}, LIMIT_FLAG(message_bytes)},
        {{999, 5, 99, 999, 99, 99, 9, false}, LIMIT_FLAG(decoded_bytes)},
        {{999, 99, 3, 999, 99, 99, 9, false}, LIMIT_FLAG(headers)},
        {{999, 99, 99, 8, 99, 99, 9, false}, LIMIT_FLAG(header_bytes)},
        {{999, 99, 99, 999, 50, 99, 9, false}, LIMIT_FLAG(header_field)},
        {{999, 99, 99, 999, 99, 3, 9, false}, LIMIT_FLAG(parts)},
        {{999, 99, 99, 999, 99, 99, 1, false}, LIMIT_FLAG(mime_depth)},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct extract_limits l = limits_default;
        struct buf b;
        l.mail = rows[i].mail;
        buf_init(&b, TEXT);
        buf_add_str(&b, text);
        if (rows[i].flag == LIMIT_FLAG(header_field)) {
            buf_clear(&b);
            buf_add_str(&b,
                        "Subject: 0123456789012345678901234567890123456789012345\n\n");
        }
        if (rows[i].flag == LIMIT_FLAG(message_bytes)) { /* of an attachment */
            buf_clear(&b);
            buf_add_str(&b, "Content-Type: image/png\n\n");
            for (size_t n = 0; n < 20000; n++) {
                buf_add_str(&b, "x\n");
            }
        }
        assert_int_equal(run(&b, &l, FEATURE_url).limits, rows[i].flag);
    }
}

static void test_arena__every_size__never_more_than_a_flag(void **state)
{
    static const char text[] =
        "Subject: =?utf-8?q?a=20b?=\nFrom: a@b.com\n"
        "Content-Type: multipart/mixed; boundary=b\n\n--b\n"
        "Content-Type: text/html; charset=iso-8859-1\n\n<a href=http://a.com/> \xe9 \n--b\n"
        "Content-Type: image/png; name=x.png\n\nx\n--b--\n";
    (void)state;
    size_t refused = 0;
    size_t flagged = 0;
    size_t whole = 0;
    for (size_t cap = 1; cap < 400000; cap += 331) {
        struct arena *arena = arena_new(cap);
        struct extract *x = extract_new(arena, &limits_default, NULL, 0);
        if (x == NULL) {
            refused++;
        } else {
            extract_raw(x, slice_str(text));
            unsigned met = featureset_limits(extract_finish(x));
            assert_true((met & ~LIMIT_FLAG(memory)) == 0);
            assert_int_equal(met != 0, arena_is_full(arena));
            flagged += met != 0;
            whole += met == 0;
        }
        arena_free(&arena);
    }
    assert_true(refused > 0 && flagged > 0 && whole > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls__below_at_above__later_ones_are_left),
        cmocka_unit_test(test_url_bytes__too_long__host_is_kept),
        cmocka_unit_test(test_addresses__below_at_above__later_ones_are_left),
        cmocka_unit_test(test_recipients__below_at_above__flag_only_above),
        cmocka_unit_test(test_html_attributes__above__is_flagged),
        cmocka_unit_test(test_html_depth__above__is_flagged),
        cmocka_unit_test(test_features__many_attachments__are_capped),
        cmocka_unit_test(test_charset__unknown__is_flagged_and_read_all_the_same),
        cmocka_unit_test(test_cpu__used_up__stops_and_keeps_what_was_found),
        cmocka_unit_test(test_mail_limits__of_the_parser__are_named),
        cmocka_unit_test(test_arena__every_size__never_more_than_a_flag),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
