/*
 * test_json - JSON record by record: its bounds, text that is too long, too deep or not JSON, and
 * times.
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/feed/parser_internal.h"

#include "tests/unit/feed/seen.h"
#include "tests/unit/unit.h"

static enum err read_as(enum feed_format format, struct slice text, struct seen *s)
{
    *s = (struct seen){.n = 0};
    return read_text(text, &(struct feed_options){.format = format}, s);
}

static void test_read__json_cut_anywhere__then_an_error_and_no_guess(void **state)
{
    static const struct {
        const char *file;
        enum feed_format format;
    } files[] = {
        {"phishtank.json", FEED_PHISHTANK},
        {"urlhaus.json", FEED_URLHAUS},
        {"threatfox.json", FEED_THREATFOX},
        {"safebrowsing-lists.json", FEED_SAFEBROWSING},
        {"misp.json", FEED_MISP},
        {"stix.json", FEED_STIX},
    };
    static char text[65536];
    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        int fd = feed_fixture(files[i].file);
        size_t n = (size_t)read(fd, text, sizeof(text));
        close(fd);
        n = slice_trim(slice_of(text, n)).n;
        for (size_t cut = 2; cut < n; cut += 5) {
            struct seen s;
            char *copy = malloc(cut); /* for the address sanitizer */
            assert_non_null(copy);
            memcpy(copy, text, cut);
            enum err e = read_as(files[i].format, slice_of(copy, cut), &s);
            free(copy);
            if (e != ERR_SYNTAX || strstr(s.info.text, "whole JSON") == NULL) {
                fail_msg("%s cut at %zu: %s %s", files[i].file, cut, err_text(e),
                         s.info.text);
            }
            seen_fini(&s);
        }
    }
}

static void test_read__broken_json__then_refused(void **state)
{
    static const char *const texts[] = {
        "[{\"url\":\"http://a.example/\"}",
        "[{\"url\":\"http://a.example/\"]]",
        "[{\"url\":\"http://a.example/\"}}",
        "[{\"url\":\"http://a.example/}]",
        "[{\"url\":\"http://a.example/\"}] Ok",
        "[] <html>",
        "{\"a\":[{\"url\":\"http://a.example/\"}]}}",
        "{{\"a\":1}}",
        "{\"a\":\x01}",
    };
    struct seen s;
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (read_as(FEED_URLHAUS, slice_str(texts[i]), &s) == ERR_OK) {
            fail_msg("%s", texts[i]);
        }
        seen_fini(&s);
    }
}

static void test_read__json_nested_too_deep__then_refused(void **state)
{
    struct buf b;
    struct seen s;
    (void)state;
    buf_init(&b, 1 << 20);
    buf_add_str(&b, "[{\"url\":\"http://a.example/\"},{\"a\":");
    for (int i = 0; i < 100000; i++) {
        buf_add_str(&b, "[");
    }
    assert_int_equal(read_as(FEED_URLHAUS, buf_slice(&b), &s), ERR_SYNTAX);
    assert_non_null(strstr(s.info.text, "too deep"));
    seen_fini(&s);
    buf_fini(&b);
}

/* Records of all lengths over many buffers, one of them longer than any may be. */
static void test_read__long_json__then_every_record_but_the_endless(void **state)
{
    enum { RECORDS = 3000 };
    struct buf b;
    struct seen s;
    (void)state;
    buf_init(&b, 64 << 20);
    buf_add_str(&b, "\xef\xbb\xbf[\r\n");
    for (int i = 0; i < RECORDS; i++) {
        buf_printf(&b, "{\"url\":\"http://a.example/%d\",\"target\":\"", i);
        for (int k = i == 1500 ? FEED_RECORD_MAX + 1 : i * 7 % 400; k > 0; k--) {
            buf_add_str(&b, k % 9 == 0 ? "\\\"" : "]");
        }
        buf_printf(&b, "\"}%s\r\n", i + 1 < RECORDS ? "," : "]");
    }
    assert_false(buf_failed(&b));
    assert_int_equal(read_as(FEED_PHISHTANK, buf_slice(&b), &s), ERR_OK);
    assert_int_equal(s.counts.lines, RECORDS);
    assert_int_equal(s.counts.entries, RECORDS - 1);
    assert_int_equal(s.counts.bad, 1);
    assert_int_equal(strncmp(s.bad.p, "1501:", 5), 0);
    assert_true(s.progress >= b.n);
    seen_fini(&s);
    buf_fini(&b);
}

static void test_read__one_bad_record__then_the_others_stay(void **state)
{
    struct seen s;
    (void)state;
    assert_int_equal(read_as(FEED_DROP,
                             SLICE_LIT("{\"cidr\":\"192.0.2.0/24\"}\n"
                                       "{\"cidr\":\"198.51.100.0/24\" oops}\n"
                                       "{\"cidr\":\"198.51.100\x01/24\"}\n"
                                       "{\"cidr\":\"\xff\xfe\"}\n"
                                       "{\"cidr\":\"203.0.113.0/24\"}\n"),
                             &s),
                     ERR_OK);
    assert_string_equal(s.entries.p, "network:192.0.2.0/24\nnetwork:203.0.113.0/24\n");
    assert_int_equal(s.counts.bad, 3);
    seen_fini(&s);
}

static void test_read__wrong_encoding_or_form__then_says_so(void **state)
{
    static const struct {
        struct slice text;
        enum feed_format format;
        const char *says;
    } cases[] = {
        {{"\xff\xfe[\0{\0", 6}, FEED_PHISHTANK, "UTF-16"},
        {{"\xfe\xff\0[\0{", 6}, FEED_AUTO, "UTF-16"},
        {{"[\0{\0", 4}, FEED_PHISHTANK, "binary"},
        {{"a,b\n1,2\n", 8}, FEED_STIX, "no JSON"},
        {{"a,b\n1,2\n", 8}, FEED_PHISHTANK, "\"url\""},
        {{"1,2\n", 4}, FEED_THREATFOX, "\"ioc_value\""},
        {{"[{\"x\": 1}]", 10}, FEED_AUTO, "stix, or auto"},
        {{"<html>quota", 11}, FEED_MISP, "web page"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct seen s;
        if (read_as(cases[i].format, cases[i].text, &s) != ERR_SYNTAX ||
            strstr(s.info.text, cases[i].says) == NULL) {
            fail_msg("case %zu: %s", i, s.info.text);
        }
        seen_fini(&s);
    }
}

static void test_read__nothing__then_no_entry_in_any_format(void **state)
{
    static const char *const texts[] = {"", "\n \n", "[]", "{}", " [ ] \n"};
    struct seen s;
    (void)state;
    for (unsigned f = FEED_AUTO; f < FEED_FORMAT_COUNT; f++) {
        for (size_t i = 0;
             i < (f < FEED_PHISHTANK ? 2 : sizeof(texts) / sizeof(texts[0])); i++) {
            (void)read_as((enum feed_format)f, slice_str(texts[i]), &s);
            assert_int_equal(s.counts.entries, 0);
            assert_int_equal(i < 2 ? s.info.code : ERR_OK, ERR_OK);
            seen_fini(&s);
        }
    }
}

static void test_time__forms__then_seconds(void **state)
{
    static const struct {
        const char *text;
        uint32_t s;
    } cases[] = {
        {"2026-01-02 03:04:05", 1767323045},
        {"2026-01-02T03:04:05Z", 1767323045},
        {"2026-01-02T03:04:05.123456+00:00", 1767323045},
        {"2026-01-02T05:04:05+02:00", 1767323045},
        {"2026-01-01T22:04:05 -0500", 1767323045},
        {" 2026-01-02 03:04:05 UTC (or so)", 1767323045},
        {"2026/01/02", 1767312000},
        {"2026-01-02", 1767312000},
        {"Fri, 02 Jan 2026 03:04:05 GMT", 1767323045},
        {"2 Jan 2026 03:04 UTC", 1767323040},
        {"1767323045", 1767323045},
        {"1767323045123", 1767323045},
        {"2024-02-29", 1709164800},
        {"2000-03-01", 951868800},
        {"2105-12-31", 4291660800},
        {"2016-12-31 23:59:60", 1483228800}, /* a leap second */
        {"2026-01-02 10:", 1767312000},
        {"2026-01-02 10:15:", 1767312000},
        {"2026-01-02 10:60", 1767312000},
        {"2026-01-02 10:15:61", 1767312000},
        {"2 Dec 2026", 1796169600},
        {"7", 0},
        {"", 0},
        {"-", 0},
        {"never", 0},
        {"2026-13-01", 0},
        {"2026-00-01", 0},
        {"1970-01-01", 0},
        {"2106-01-01", 0},
        {"99999999999999999999", 0},
        {"2026-", 0},
        {"12 Foo 2026", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t s = feed_time(slice_str(cases[i].text));
        if (s != cases[i].s) {
            fail_msg("%s: %u", cases[i].text, (unsigned)s);
        }
    }
    assert_int_equal(feed_time(SLICE_LIT("2 \0\0\0 2026")), 0); /* no month either */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read__json_cut_anywhere__then_an_error_and_no_guess),
        cmocka_unit_test(test_read__broken_json__then_refused),
        cmocka_unit_test(test_read__json_nested_too_deep__then_refused),
        cmocka_unit_test(test_read__long_json__then_every_record_but_the_endless),
        cmocka_unit_test(test_read__one_bad_record__then_the_others_stay),
        cmocka_unit_test(test_read__wrong_encoding_or_form__then_says_so),
        cmocka_unit_test(test_read__nothing__then_no_entry_in_any_format),
        cmocka_unit_test(test_time__forms__then_seconds),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
