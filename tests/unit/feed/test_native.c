/*
 * test_native - the forms of providers: entries with begin and end, left-out entries with reasons,
 * bad lines.
 */
#include "core/base/base.h"

#include "tests/unit/feed/seen.h"
#include "tests/unit/unit.h"

enum { NOW_S = 1780000000, MADE_S = 1767323045 /* 2026-01-02 03:04:05 */ };

#define EMPTY_SUM "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define MD5_SUM   "d41d8cd98f00b204e9800998ecf8427e"
#define SHA1_SUM  "da39a3ee5e6b4b0d3255bfef95601890afd80709"
#define HASH_A    "f001957c833da35384097567d684bbfdccfd3c0aea51b672d740b5858f6e9aa5"
#define HASH_B    "f0af0e10e1fd8cc2b30e58c221eb16e66281e52b412199b6550c2b9c86c94e99"

static const struct {
    const char *file;
    enum feed_format format;
    bool is_found; /* without a name */
    uint32_t made_s;
    const char *entries;
    const char *bad;
    const char *unused;
} files[] = {
    {"openphish.txt", FEED_OPENPHISH, false, 0,
     "url:pages.example/login\n"
     "url:192.0.2.7/office/index.php?id=1\n"
     "url:pages.example/Login\n",
     "3:not a URL\n", ""},
    {"phishtank.csv", FEED_PHISHTANK, true, 0,
     "url:pages.example/a 1767323045-0\n"
     "url:pages.example/b,c?q=\"x\" 1767323045-0\n",
     "6:no url at all\n7:1006,short\n", "revoked 1\ndoubtful 1\n"},
    {"phishtank.json", FEED_PHISHTANK, true, 0,
     "url:pages.example/a 1767323045-0\n"
     "url:pages.example/b,c?q=\"]}x\" 1767323045-0\n",
     NULL, "revoked 1\ndoubtful 1\n"},
    {"urlhaus.csv", FEED_URLHAUS, true, MADE_S,
     "url:192.0.2.5:8080/1.sh 1767261600-0\n"
     "url:pages.example/x,y/3.exe 1767254400-0\n",
     "", "revoked 1\n"},
    {"urlhaus.json", FEED_URLHAUS, true, 0,
     "url:192.0.2.5:8080/1.sh 1767261600-0\n"
     "url:pages.example/x,y/3.exe\n",
     "4:gopher://pages.example/\n", "revoked 1\n"},
    {"threatfox.csv", FEED_THREATFOX, true, MADE_S,
     "url:192.0.2.7 1767261600-0\n"
     "domain:evil.example 1767265200-0\n"
     "url:pages.example/gate.php 1767268800-0\n"
     "attachment:" EMPTY_SUM " 1767272400-0\n",
     "14:co.uk\n", "doubtful 1\nchecksum 2\nother 1\n"},
    {"threatfox.json", FEED_THREATFOX, true, 0,
     "url:192.0.2.7 1767261600-0\n"
     "domain:evil.example 1767265200-0\n"
     "url:pages.example/gate.php 1767268800-0\n",
     "", "doubtful 1\nchecksum 1\n"},
    {"malwarebazaar.csv", FEED_MALWAREBAZAAR, true, MADE_S,
     "attachment:" EMPTY_SUM " 1767261600-0\n", "8:not a checksum\n", ""},
    {"malwarebazaar.txt", FEED_MALWAREBAZAAR, false, MADE_S,
     "attachment:" EMPTY_SUM "\n",
     "10:zzb0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n",
     "checksum 2\n"},
    {"malwarebazaar.json", FEED_MALWAREBAZAAR, true, 0,
     "attachment:" EMPTY_SUM " 1767261600-0\n", "", ""},
    {"drop.txt", FEED_DROP, true, MADE_S,
     "network:192.0.2.0/24\n"
     "network:198.51.100.0/22\n"
     "network:2001:db8:1::/48\n"
     "network:203.0.113.0\n",
     "7:0.0.0.0/0\n8:127.0.0.0/8\n", ""},
    {"drop.json", FEED_DROP, true, MADE_S,
     "network:192.0.2.0/24\n"
     "network:2001:db8:1::/48\n",
     "4:192.0.2.0/99\n", "other 1\n"},
    {"names.rbldnsd", FEED_RBLDNSD, true, MADE_S,
     "domain:evil.example\n"
     "host:exact.example\n"
     "domain:below.example\n"
     "host:valued.example\n"
     "domain:two.example\n"
     "host:co.uk\n",
     "13:co.uk\n", "revoked 1\ndoubtful 1\n"},
    {"ip.rbldnsd", FEED_RBLDNSD, true, 0,
     "network:192.0.2.7\n"
     "network:192.0.2.64/26\n"
     "network:192.0.2.4/30\n"
     "network:192.0.2.8/31\n"
     "network:192.0.2.20/31\n"
     "network:198.51.100.0/24\n"
     "network:2001:db8::/48\n"
     "network:2001:db8:1::1\n"
     "domain:evil.example\n",
     "8:203.0.113.9-203.0.113.1\n10:127.0.0.2\n", "revoked 2\nother 1\n"},
    {"axfr.rpz", FEED_RPZ, true, 0,
     "host:evil.example\n"
     "domain:evil.example\n"
     "network:192.0.2.0/24\n",
     "", ""},
    {"safebrowsing.txt", FEED_SAFEBROWSING, false, 0,
     "url_hash:" HASH_A "\n"
     "url_hash:" HASH_B "\n"
     "url_hash:" HASH_A "\n",
     "6:evil.example\n", "prefix 1\n"},
    {"safebrowsing-lists.json", FEED_SAFEBROWSING, true, 0,
     "url_hash:" HASH_A "\n"
     "url_hash:" HASH_B "\n",
     NULL, "prefix 2\n"},
    {"safebrowsing-hashes.json", FEED_SAFEBROWSING, true, 0, "url_hash:" HASH_A "\n",
     "", "doubtful 1\n"},
    {"misp.json", FEED_MISP, true, 0,
     "url:pages.example/kit|1 1767225600-0\n"
     "domain:evil.example 1764547200-0\n"
     "host:www.evil.example 1767225600-0\n"
     "network:192.0.2.7 1767225600-0\n"
     "address:sender@evil.example 1767225600-0\n"
     "attachment:" EMPTY_SUM " 1767225600-0\n",
     "", "revoked 1\ndoubtful 1\nchecksum 1\nother 1\n"},
    {"misp.csv", FEED_MISP, true, 0, "domain:evil.example 1767225600-0\n", "",
     "doubtful 1\nchecksum 1\n"},
    {"misp-hashes.csv", FEED_MISP, false, 0, "", "", "checksum 2\n"},
    {"stix.json", FEED_STIX, true, 0,
     "url:pages.example/it's 1767225600-1893456000\n"
     "domain:one.example 1767225600-0\n"
     "domain:two.example 1767225600-0\n"
     "network:192.0.2.7 1767225600-0\n"
     "network:2001:db8::/48 1767225600-0\n"
     "address:sender@evil.example 1767225600-0\n"
     "attachment:" EMPTY_SUM " 1767225600-0\n"
     "domain:three.example 1767225600-0\n"
     "domain:four.example 1767225600-0\n",
     "18:co.uk\n", "expired 1\nrevoked 1\ndoubtful 2\nchecksum 1\nother 6\n"},
};

static const char *text_of(const struct buf *b)
{
    return b->n > 0 ? b->p : "";
}

static void print_unused(const struct feed_counts *c, struct buf *ret)
{
    buf_init(ret, 4096);
    for (unsigned u = 0; u < FEED_UNUSED_COUNT; u++) {
        if (c->unused[u] > 0) {
            buf_printf(ret, "%s %lu\n", feed_unused_name((enum feed_unused)u),
                       (unsigned long)c->unused[u]);
        }
    }
}

static void test_read__native_form__then_entries_times_and_reasons(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        for (int named = files[i].is_found ? 0 : 1; named < 2; named++) {
            struct seen s = {.has_times = true};
            struct buf unused;
            struct feed_options o = {.format = named != 0 ? files[i].format : FEED_AUTO,
                                     .now_s = NOW_S};
            enum err e = read_fd(feed_fixture(files[i].file), &o, &s);
            print_unused(&s.counts, &unused);
            if (e != ERR_OK || s.counts.format != files[i].format ||
                s.counts.made_s != files[i].made_s ||
                strcmp(text_of(&s.entries), files[i].entries) != 0 ||
                (files[i].bad != NULL && strcmp(text_of(&s.bad), files[i].bad) != 0) ||
                strcmp(text_of(&unused), files[i].unused) != 0) {
                fail_msg("%s: %s %s, %s, made %u\n%sbad:\n%sunused:\n%s", files[i].file,
                         err_text(e), s.info.text, feed_format_name(s.counts.format),
                         (unsigned)s.counts.made_s, text_of(&s.entries),
                         text_of(&s.bad), text_of(&unused));
            }
            buf_fini(&unused);
            seen_fini(&s);
        }
    }
}

static void test_openphish__comment_with_a_url__then_no_entry(void **state)
{
    const struct feed_options o = {.format = FEED_OPENPHISH};
    struct seen s = {.n = 0};

    (void)state;
    assert_int_equal(
        read_text(SLICE_LIT("# http://about.example/\n#\nhttp://pages.example/x\n"), &o,
                  &s),
        ERR_OK);
    assert_string_equal(text_of(&s.entries), "url:pages.example/x\n");
    assert_int_equal(s.counts.ignored, 2);
    seen_fini(&s);
}

/* As good as none; without the field the entry counts. */
static void test_threatfox__confidence_is_no_number__then_doubtful(void **state)
{
    const struct feed_options o = {.format = FEED_THREATFOX};
    struct seen s = {.n = 0};

    (void)state;
    assert_int_equal(read_text(SLICE_LIT("# ioc_value,ioc_type,confidence_level\n"
                                         "one.example,domain,high\n"
                                         "two.example,domain,-99\n"
                                         "three.example,domain,\n"),
                               &o, &s),
                     ERR_OK);
    assert_string_equal(text_of(&s.entries), "domain:three.example\n");
    assert_int_equal(s.counts.unused[FEED_UNUSED_doubtful], 2);
    seen_fini(&s);
}

/* A byte order mark and CR LF change nothing. */
static void test_read__native_form_from_windows__then_the_same(void **state)
{
    static char text[65536];
    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct seen s = {.has_times = true};
        struct buf b;
        struct feed_options o = {
            .format = files[i].is_found ? FEED_AUTO : files[i].format, .now_s = NOW_S};
        int fd = feed_fixture(files[i].file);
        ssize_t n = read(fd, text, sizeof(text));
        close(fd);
        assert_true(n > 0);
        buf_init(&b, 1 << 20);
        buf_add_str(&b, "\xef\xbb\xbf");
        for (ssize_t k = 0; k < n; k++) {
            buf_add_str(&b, text[k] == '\n' ? "\r" : "");
            buf_add_char(&b, text[k]);
        }
        if (read_text(buf_slice(&b), &o, &s) != ERR_OK ||
            strcmp(text_of(&s.entries), files[i].entries) != 0) {
            fail_msg("%s: %s\n%s", files[i].file, s.info.text, text_of(&s.entries));
        }
        buf_fini(&b);
        seen_fini(&s);
    }
}

/* A line of 1 MiB, a line with a NUL: bad, and the next lines are read. */
static void test_read__endless_line_and_nul__then_the_rest_is_read(void **state)
{
    enum { FILL = 5000, LONG_LINE = 1 << 20 };
    static const struct {
        enum feed_format format;
        const char *header;
        const char *line;
    } forms[] = {
        {FEED_OPENPHISH, "", "http://pages.example/x\n"},
        {FEED_PHISHTANK, "phish_id,url\n", "1,http://pages.example/x\n"},
        {FEED_URLHAUS, "# id,url\n", "\"1\",\"http://pages.example/x\"\n"},
        {FEED_THREATFOX, "# \"ioc_value\",\"ioc_type\"\n",
         "\"http://pages.example/x\", \"url\"\n"},
        {FEED_MALWAREBAZAAR, "", EMPTY_SUM "\n"},
        {FEED_DROP, "", "192.0.2.0/24 ; SBL1\n"},
        {FEED_RBLDNSD, ":127.0.0.2:a\n", ".evil.example\n"},
        {FEED_SAFEBROWSING, "", HASH_A "\n"},
        {FEED_MISP, "value,type,to_ids\n", "evil.example,domain,1\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct seen s = {.n = 0};
        struct buf b;
        struct feed_options o = {.format = forms[i].format};
        buf_init(&b, 4 << 20);
        buf_add_str(&b, forms[i].header);
        buf_add_str(&b, forms[i].line);
        for (int k = 0; k < FILL; k++) {
            buf_add_str(&b, "#");
        }
        buf_add_str(&b, "\n");
        for (int k = 0; k < LONG_LINE; k++) {
            buf_add_str(&b, "a");
        }
        buf_add_str(&b, "\n");
        buf_add(&b, SLICE_LIT("evil\0.example\n"));
        buf_add_str(&b, forms[i].line);
        if (read_text(buf_slice(&b), &o, &s) != ERR_OK || s.counts.entries != 2 ||
            s.counts.bad < 2) {
            fail_msg("%s: %s, %lu entries, %lu bad", feed_format_name(forms[i].format),
                     s.info.text, (unsigned long)s.counts.entries,
                     (unsigned long)s.counts.bad);
        }
        buf_fini(&b);
        seen_fini(&s);
    }
}

/* The answer with which a DNS list refuses a query is never an entry. */
static void test_read__answers_over_quota__then_no_entry(void **state)
{
    static const struct {
        enum feed_format format;
        const char *text;
    } cases[] = {
        {FEED_AUTO, "127.255.255.254\n127.255.255.252\n127.0.0.2\n0.0.0.0\n::1\n"},
        {FEED_CSV, "ip,why\n127.255.255.254,open resolver\n"},
        {FEED_DROP, "127.255.255.254/32 ; over quota\n127.0.0.0/8 ; SBL0\n"},
        {FEED_RBLDNSD,
         ".evil.example :127.255.255.254:open resolver\n127.255.255.254\n"},
        {FEED_RPZ, "32.254.255.255.127.rpz-ip CNAME .\n"},
        {FEED_THREATFOX, "ioc_value,ioc_type\n127.255.255.254,domain\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct seen s = {.n = 0};
        struct feed_options o = {.format = cases[i].format};
        assert_int_equal(read_text(slice_str(cases[i].text), &o, &s), ERR_OK);
        if (s.counts.entries != 0) {
            fail_msg("case %zu: %s", i, s.entries.p);
        }
        seen_fini(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read__native_form__then_entries_times_and_reasons),
        cmocka_unit_test(test_openphish__comment_with_a_url__then_no_entry),
        cmocka_unit_test(test_threatfox__confidence_is_no_number__then_doubtful),
        cmocka_unit_test(test_read__native_form_from_windows__then_the_same),
        cmocka_unit_test(test_read__endless_line_and_nul__then_the_rest_is_read),
        cmocka_unit_test(test_read__answers_over_quota__then_no_entry),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
