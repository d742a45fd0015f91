/*
 * test_feed - each format: entries and their types, ignored lines, bad lines and their numbers.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/base.h"

#include "tests/unit/feed/seen.h"
#include "tests/unit/unit.h"

static const struct {
    const char *file;
    enum feed_format format;
    const char *entries;
    const char *bad;
} files[] = {
    {"domains.txt", FEED_PLAIN,
     "domain:evil.example\n"
     "domain:upper.example.com\n"
     "domain:wild.example\n"
     "domain:dotted.example\n"
     "domain:commented.example\n"
     "url:pages.example/login\n"
     "url:pages.example/other?x=1\n"
     "network:192.0.2.7\n"
     "network:192.0.2.64/26\n"
     "network:2001:db8::1\n"
     "url:192.0.2.9:8080\n"
     "address:sender@evil.example\n"
     "host:exact.example\n"
     "attachment:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n",
     "18:no spaces here\n"
     "19:/only/a/path\n"
     "20:localhost\n"},
    {"hosts.txt", FEED_HOSTS,
     "host:ads.example\n"
     "host:track.example\n"
     "host:local.evil.example\n"
     "host:six.evil.example\n",
     "9:0.0.0.0\n"
     "10:not.an.address evil.example\n"},
    {"urls.csv", FEED_PHISHTANK,
     "url:pages.example/a\n"
     "url:pages.example/b,c\n"
     "url:pages.example/last\n",
     "6:not a url at all\n"
     "7:5\n"},
    {"comment-header.csv", FEED_CSV,
     "url:pages.example/1.exe\n"
     "url:192.0.2.5:8080/2.exe\n",
     ""},
    {"dnsmasq.conf", FEED_DNSMASQ,
     "domain:evil.example\n"
     "domain:one.example\n"
     "domain:two.example\n"
     "domain:six.example\n"
     "domain:null.example\n"
     "domain:local.example\n"
     "domain:mine.example\n",
     "12:address=//0.0.0.0\n"
     "13:This is prose.\n"},
    {"unbound.conf", FEED_UNBOUND,
     "domain:evil.example\n"
     "domain:refused.example\n"
     "domain:redirected.example\n"
     "host:redirected.example\n"
     "host:exact.example\n",
     "11:prose without a colon\n"},
    {"adblock.txt", FEED_ADBLOCK,
     "domain:evil.example\n"
     "domain:all.example\n"
     "domain:doc.example\n"
     "domain:wild.example\n"
     "url:pages.example/dir/page.html\n"
     "url:pages.example/no-end.html\n"
     "url:pages.example/price$10\n"
     "network:192.0.2.7\n"
     "url:192.0.2.8:8080\n"
     "domain:plain.example\n"
     "network:192.0.2.9\n"
     "host:hosts.example\n",
     ""},
    {"policy.rpz", FEED_RPZ,
     "host:exact.test\n"
     "domain:wild.test\n"
     "host:both.test\n"
     "domain:both.test\n"
     "host:walled.test\n"
     "host:walled.test\n"
     "host:garden.test\n"
     "network:192.0.2.7\n"
     "network:2001:db8:2::/48\n"
     "network:2001:db8::1\n"
     "host:below.sub\n",
     ""
     "28:outside.example.          CNAME .\n"
     "29:$INCLUDE more.zone\n"
     "30:esc\\.aped                 CNAME .\n"},
};

static void test_read__each_format__then_entries_and_bad_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        for (int given = 0; given < 2; given++) {
            struct seen s = {.n = 0};
            struct feed_options o = {.format = given ? files[i].format : FEED_AUTO};
            if (read_fd(feed_fixture(files[i].file), &o, &s) != ERR_OK) {
                fail_msg("%s: %s", files[i].file, s.info.text);
            }
            assert_string_equal(feed_format_name(s.counts.format),
                                feed_format_name(files[i].format));
            assert_string_equal(s.entries.p, files[i].entries);
            assert_string_equal(s.bad.p == NULL ? "" : s.bad.p, files[i].bad);
            assert_int_equal(s.counts.entries, s.n);
            seen_fini(&s);
        }
    }
}

struct drip {
    int fd;
    size_t step;
    struct slice text;
};

static void *drip_writer(void *context)
{
    struct drip *d = context;
    struct slice rest = d->text;
    while (rest.n > 0) {
        struct slice part = slice_head(rest, d->step);
        if (write(d->fd, part.p, part.n) != (ssize_t)part.n) {
            break;
        }
        rest = slice_from(rest, part.n);
    }
    close(d->fd);
    return NULL;
}

static void test_read__pipe_in_pieces__then_same_entries(void **state)
{
    static const size_t steps[] = {1, 3, 64};
    static char text[65536];
    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        int fd = feed_fixture(files[i].file);
        ssize_t n = read(fd, text, sizeof(text));
        close(fd);
        assert_true(n > 0);
        for (size_t k = 0; k < 3; k++) {
            int ends[2];
            pthread_t writer;
            struct seen s = {.n = 0};
            assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
            struct drip d = {ends[1], steps[k], slice_of(text, (size_t)n)};
            assert_int_equal(pthread_create(&writer, NULL, drip_writer, &d), 0);
            assert_int_equal(
                read_fd(ends[0], &(struct feed_options){.format = FEED_AUTO}, &s),
                ERR_OK);
            pthread_join(writer, NULL);
            assert_string_equal(s.entries.p, files[i].entries);
            seen_fini(&s);
        }
    }
}

static void test_read__every_truncation__then_no_entry_but_cut_ones(void **state)
{
    static char text[65536];
    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        int fd = feed_fixture(files[i].file);
        ssize_t n = read(fd, text, sizeof(text));
        close(fd);
        for (ssize_t cut = 0; cut < n; cut += 7) {
            struct seen s = {.n = 0};
            struct feed_options o = {.format = files[i].format};
            char *copy = malloc((size_t)cut + 1); /* for the address sanitizer */
            memcpy(copy, text, (size_t)cut);
            enum err e = read_text(slice_of(copy, (size_t)cut), &o, &s);
            free(copy);
            /* half a header names no column */
            assert_true(e == ERR_OK ||
                        (e == ERR_SYNTAX &&
                         (o.format == FEED_CSV || o.format == FEED_PHISHTANK)));
            /* all but the last entry are those of the whole */
            size_t same = s.entries.n;
            while (same > 0 && (same == s.entries.n || s.entries.p[same - 1] != '\n')) {
                same--;
            }
            assert_memory_equal(s.entries.p == NULL ? "" : s.entries.p,
                                files[i].entries, same);
            seen_fini(&s);
        }
    }
}

static void test_read__no_list__then_refused_with_reason(void **state)
{
    static const struct {
        const char *file;
        const char *reason;
    } cases[] = {{"page.html", "web page"},
                 {"utf16.txt", "UTF-16"},
                 {"binary.bin", "binary"},
                 {"list.txt.gz", "compressed"}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int given = 0; given < 2; given++) {
            struct seen s = {.n = 0};
            struct feed_options o = {.format = given ? FEED_PLAIN : FEED_AUTO};
            assert_int_equal(read_fd(feed_fixture(cases[i].file), &o, &s), ERR_SYNTAX);
            assert_non_null(strstr(s.info.text, cases[i].reason));
            assert_int_equal(s.n, 0);
            seen_fini(&s);
        }
    }
}

static void read_long(size_t n, const char *end, struct seen *s)
{
    struct buf b;
    buf_init(&b, 1 << 20);
    buf_add_str(&b, "first.example\nevil.example/");
    while (b.n < sizeof "first.example\n" - 1 + n) {
        buf_add_char(&b, 'a');
    }
    buf_add_str(&b, end);
    buf_add_str(&b, "last.example");
    assert_int_equal(
        read_text(buf_slice(&b), &(struct feed_options){.format = FEED_PLAIN}, s),
        ERR_OK);
    buf_fini(&b);
}

static void test_read__line_at_limit__then_read_and_above_bad(void **state)
{
    static const struct {
        size_t n;
        const char *end;
        bool is_long;
    } cases[] = {
        {FEED_LINE_MAX - 1, "\n", false},
        {FEED_LINE_MAX, "\n", false},
        {FEED_LINE_MAX, "\r\n", false},
        {FEED_LINE_MAX + 1, "\n", true},
        {FEED_LINE_MAX + 1, "\r\n", true},
        {FEED_LINE_MAX + 2, "\n", true},
        {300000, "\n", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct seen s = {.n = 0};
        read_long(cases[i].n, cases[i].end, &s);
        /* a URL has a bound of its own below that of a line: bad either way, by its reason */
        assert_int_equal(s.counts.lines, 3);
        assert_int_equal(s.counts.bad, 1);
        assert_string_equal(s.entries.p, "domain:first.example\ndomain:last.example\n");
        assert_int_equal(strncmp(s.bad.p, "2:evil.example/aaa", 18), 0);
        seen_fini(&s);
    }
}

static void last_reason(void *context, uint64_t line, const char *reason,
                        struct slice text)
{
    (void)line;
    (void)text;
    (void)snprintf(context, 128, "%s", reason);
}

static enum err drop_entry(void *context, const struct feed_item *item)
{
    (void)context;
    (void)item;
    return ERR_OK;
}

static void test_read__line_over_limit__then_reason_names_it(void **state)
{
    (void)state;
    for (size_t n = FEED_LINE_MAX; n <= FEED_LINE_MAX + 1; n++) {
        char reason[128] = "";
        struct feed_sink sink = {drop_entry, last_reason, NULL, reason};
        struct feed_counts counts;
        struct errinfo info;
        struct feed_options o = {.format = FEED_PLAIN};
        char *text = malloc(n);
        memset(text, 'a', n);
        int fd = memfd_create("feed", MFD_CLOEXEC);
        assert_int_equal(write(fd, text, n), (ssize_t)n);
        assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
        assert_int_equal(feed_read(fd, "feed", &o, &sink, &counts, &info), ERR_OK);
        assert_int_equal(strstr(reason, "longer than 16384 bytes") != NULL,
                         n > FEED_LINE_MAX);
        free(text);
        close(fd);
    }
}

static void test_read__nul_byte__then_bad_line(void **state)
{
    struct seen s = {.n = 0};
    char text[8192];
    (void)state;
    memset(text, '#', sizeof(text));
    memcpy(text + 5000, "\nevil\0.example\nb.example\n", 25);
    assert_int_equal(read_text(slice_of(text, sizeof(text)),
                               &(struct feed_options){.format = FEED_AUTO}, &s),
                     ERR_OK);
    assert_string_equal(s.entries.p, "domain:b.example\n");
    assert_int_equal(s.counts.bad, 1);
    seen_fini(&s);
}

static void test_read__sink_fails__then_stops_with_its_error(void **state)
{
    struct seen s = {.stop_after = 2};
    (void)state;
    assert_int_equal(
        read_text(SLICE_LIT("a.example\nb.example\nc.example\nd.example\n"),
                  &(struct feed_options){.format = FEED_AUTO}, &s),
        ERR_NOSPACE);
    assert_int_equal(s.counts.entries, 2);
    assert_int_equal(s.info.line, 3);
    seen_fini(&s);
}

static void test_read__unreadable__then_io_error(void **state)
{
    struct seen s = {.n = 0};
    int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)state;
    assert_int_not_equal(read_fd(fd, &(struct feed_options){.format = FEED_PLAIN}, &s),
                         ERR_OK);
    assert_string_equal(s.info.source, "feed");
    seen_fini(&s);
}

static void test_read__entry_type__then_forced(void **state)
{
    static const struct {
        uint16_t type;
        const char *entries;
    } cases[] = {{FEATURE_NONE, "domain:evil.example\n"},
                 {FEATURE_host, "host:evil.example\n"},
                 {FEATURE_url, "url:evil.example\n"}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (int csv = 0; csv < 2; csv++) {
            struct seen s = {.n = 0};
            struct feed_options o = {.format = csv ? FEED_CSV : FEED_PLAIN,
                                     .entry_type = cases[i].type};
            struct slice text = csv ? SLICE_LIT("a,domain\n1,evil.example\n")
                                    : SLICE_LIT("evil.example\n");
            assert_int_equal(read_text(text, &o, &s), ERR_OK);
            assert_string_equal(s.entries.p, cases[i].entries);
            seen_fini(&s);
        }
    }
}

static void test_read__progress__then_all_bytes_told(void **state)
{
    struct buf b;
    struct seen s = {.n = 0};
    (void)state;
    buf_init(&b, 8 << 20);
    while (b.n < 1 << 20) {
        buf_printf(&b, "n%zu.example\n", b.n);
    }
    assert_int_equal(
        read_text(buf_slice(&b), &(struct feed_options){.format = FEED_AUTO}, &s),
        ERR_OK);
    assert_int_equal(s.progress, b.n);
    assert_int_equal(s.counts.bad, 0);
    assert_int_equal(s.counts.entries, s.counts.lines);
    seen_fini(&s);
    buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read__each_format__then_entries_and_bad_lines),
        cmocka_unit_test(test_read__pipe_in_pieces__then_same_entries),
        cmocka_unit_test(test_read__every_truncation__then_no_entry_but_cut_ones),
        cmocka_unit_test(test_read__no_list__then_refused_with_reason),
        cmocka_unit_test(test_read__line_at_limit__then_read_and_above_bad),
        cmocka_unit_test(test_read__line_over_limit__then_reason_names_it),
        cmocka_unit_test(test_read__nul_byte__then_bad_line),
        cmocka_unit_test(test_read__sink_fails__then_stops_with_its_error),
        cmocka_unit_test(test_read__unreadable__then_io_error),
        cmocka_unit_test(test_read__entry_type__then_forced),
        cmocka_unit_test(test_read__progress__then_all_bytes_told),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
