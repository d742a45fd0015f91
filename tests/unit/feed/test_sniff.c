/*
 * test_sniff - the format told from the first lines, and the formats by name.
 */
#include "core/base/base.h"

#include "tests/unit/feed/seen.h"
#include "tests/unit/unit.h"

static void test_sniff__text__then_format(void **state)
{
    static const struct {
        const char *text;
        enum feed_format format;
    } cases[] = {
        {"", FEED_PLAIN},
        {"# only comments\n\n", FEED_PLAIN},
        {"evil.example", FEED_PLAIN},
        {"http://pages.example/a,b\n", FEED_PLAIN},
        {"http://pages.example/a,phish\nhttp://pages.example/b,phish\n", FEED_CSV},
        {"evil.example,2026-01-01\n", FEED_CSV},
        {"evil.example;2026-01-01\n", FEED_CSV},
        {"\"evil.example\",\"2026-01-01\"\n", FEED_CSV},
        {"name,domain\n", FEED_CSV},
        {"phish_id, url\n1, http://pages.example/\n", FEED_PHISHTANK},
        {"# name, domain and so on\nevil.example\n", FEED_PLAIN},
        {"129.0.2.1 # scanner.example\n", FEED_PLAIN},
        {"0.0.0.0 evil.example # why\n", FEED_HOSTS},
        {"127.0.0.1 localhost\n", FEED_HOSTS},
        {"! comment\nevil.example\n", FEED_ADBLOCK},
        {"||evil.example^\n", FEED_ADBLOCK},
        {"evil.example\nother.example\n||evil.example/x^$all\n", FEED_ADBLOCK},
        {"local=/evil.example/\n", FEED_DNSMASQ},
        {"server:\n  local-zone: \"evil.example\" static\n", FEED_UNBOUND},
        {"evil.example CNAME .\n", FEED_RPZ},
        {"@ SOA a b (\n 1 2\n 3 4 5 )\nevil.example CNAME rpz-drop.\n", FEED_RPZ},
        {"$TTL 60\n@ SOA a b 1 2 3 4 5\nwww A 192.0.2.1\n",
         FEED_AUTO}, /* a plain zone */
        {"Dear reader,\nthis is a letter\n", FEED_AUTO},
        {"<html>evil.example\n", FEED_AUTO},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum feed_format f = feed_sniff(slice_str(cases[i].text));
        if (f != cases[i].format) {
            fail_msg("%s: %s", cases[i].text, feed_format_name(f));
        }
    }
}

static void test_read__unknown_format__then_says_what_to_do(void **state)
{
    struct seen s = {.n = 0};
    (void)state;
    assert_int_equal(read_text(SLICE_LIT("a b c\nd e f\n"),
                               &(struct feed_options){.format = FEED_AUTO}, &s),
                     ERR_SYNTAX);
    assert_non_null(strstr(s.info.text, "name it"));
    assert_string_equal(s.info.source, "feed");
    seen_fini(&s);
}

static void test_format__names__then_round_trip(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FEED_FORMAT_COUNT; i++) {
        const char *name = feed_format_name((enum feed_format)i);
        assert_int_equal(feed_format_by_name(slice_str(name)), i);
    }
    assert_int_equal(feed_format_by_name(SLICE_LIT("excel")), FEED_FORMAT_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sniff__text__then_format),
        cmocka_unit_test(test_read__unknown_format__then_says_what_to_do),
        cmocka_unit_test(test_format__names__then_round_trip),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
