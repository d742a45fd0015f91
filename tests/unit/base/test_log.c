/*
 * test_log - lines arrive whole, escaped, filtered; a slow reader costs lines, never time.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/log_recent.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

/* Standard error goes to a file (or a pipe) between these two. */
static int saved_stderr = -1;

static void redirect(int fd)
{
    saved_stderr = dup(STDERR_FILENO);
    assert_true(saved_stderr >= 0);
    assert_true(dup2(fd, STDERR_FILENO) >= 0);
    (void)close(fd);
}

static void restore(void)
{
    assert_true(dup2(saved_stderr, STDERR_FILENO) >= 0);
    (void)close(saved_stderr);
}

static void redirect_to_file(struct tempdir *t)
{
    int fd = open(tempdir_file(t, "err"), O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
    assert_true(fd >= 0);
    redirect(fd);
}

static void assert_logged(struct tempdir *t, const char *want)
{
    struct buf b;
    buf_init(&b, 64 << 20);
    assert_int_equal(file_read(tempdir_file(t, "err"), &b, NULL), ERR_OK);
    assert_true(slice_eq(buf_slice(&b), slice_str(want)));
    buf_fini(&b);
}

static void test_levels__below_the_set_one__are_silent(void **state)
{
    struct tempdir *t = *state;
    static const char *const want[] = {
        "gillnetd: error: e 1\n", "gillnetd: error: e 1\ngillnetd: warn: w\n",
        "gillnetd: error: e 1\ngillnetd: warn: w\ngillnetd: info: i\n",
        "gillnetd: error: e 1\ngillnetd: warn: w\ngillnetd: info: i\ngillnetd: debug: d\n"};
    for (int level = LOG_LEVEL_ERROR; level <= LOG_LEVEL_DEBUG; level++) {
        redirect_to_file(t);
        enum err e = log_start("gillnetd", LOG_TARGET_STDERR, (enum log_level)level);
        enum err twice = log_start("x", LOG_TARGET_STDERR, (enum log_level)level);
        log_error("e %d", 1);
        log_warn("w");
        log_info("i");
        log_debug("d");
        log_stop();
        log_stop();
        restore();
        assert_int_equal(e, ERR_OK);
        assert_int_equal(twice, ERR_EXISTS);
        assert_logged(t, want[level]);
    }
}

static void test_before_start__lines__go_straight_to_stderr(void **state)
{
    struct tempdir *t = *state;
    redirect_to_file(t);
    log_set_level(LOG_LEVEL_INFO);
    log_info("early");
    log_debug("not shown");
    struct errinfo info;
    (void)errinfo_set(&info, ERR_SYNTAX, "f.conf", 3, "bad");
    log_errinfo("config", &info);
    restore();
    assert_logged(t, "gillnetd: info: early\n"
                     "gillnetd: error: event=config f.conf:3: bad\n");
}

static void test_line__around_the_limit__is_cut_with_dots(void **state)
{
    struct tempdir *t = *state;
    char text[LOG_LINE_MAX + 2];
    char want[LOG_LINE_MAX + 64];
    memset(text, 'x', sizeof(text));
    for (size_t n = LOG_LINE_MAX - 1; n <= LOG_LINE_MAX + 1; n++) {
        text[n] = '\0';
        redirect_to_file(t);
        log_info("%s", text);
        restore();
        size_t kept = n > LOG_LINE_MAX ? LOG_LINE_MAX - 3 : n;
        (void)snprintf(want, sizeof(want), "gillnetd: info: %.*s%s\n", (int)kept, text,
                       n > LOG_LINE_MAX ? "..." : "");
        assert_logged(t, want);
        text[n] = 'x';
    }
}

static void test_line__unseen_characters__are_codes_on_one_line(void **state)
{
    struct tempdir *t = *state;
    redirect_to_file(t);
    log_info("a\nb\r\x1b\x7f"
             "c\xe2\x80\xae"
             "d");
    restore();
    assert_logged(t, "gillnetd: info: a<U+000A>b<U+000D><U+001B><U+007F>c<U+202E>d\n");
}

static void test_ring__many_long_lines__arrive_whole_and_in_order(void **state)
{
    struct tempdir *t = *state;
    enum { LINES = 5000 };
    struct buf want;
    char pad[1000];
    memset(pad, 'p', sizeof(pad));
    buf_init(&want, 64 << 20);
    redirect_to_file(t);
    enum err e = log_start("gillnetd", LOG_TARGET_STDERR, LOG_LEVEL_INFO);
    const uint64_t before = log_dropped();
    uint64_t lost = 0;
    for (int i = 0; i < LINES && e == ERR_OK; i++) {
        log_info("line %d %.*s", i, i % 997,
                 pad); /* crosses the ring's end many times */
        if (log_dropped() - before != lost) {
            lost = log_dropped() - before;
            (void)usleep(1000); /* let the writer catch up */
        }
    }
    log_stop();
    restore();
    assert_int_equal(e, ERR_OK);
    assert_int_equal(file_read(tempdir_file(t, "err"), &want, NULL), ERR_OK);
    /* Every line is whole, numbers rise, and the counter has the missing lines. */
    struct slice rest = buf_slice(&want);
    int last = -1;
    uint64_t seen = 0;
    uint64_t told = 0;
    uint64_t gap = 0;
    while (rest.n) {
        struct slice line = slice_cut(&rest, '\n');
        int number = 0;
        unsigned long long dropped = 0;
        char text[1200];
        (void)snprintf(text, sizeof(text), "%.*s", SLICE_ARGS(line));
        /* NOLINTNEXTLINE(cert-err34-c): our own numbers */
        if (sscanf(text, "gillnetd: warn: event=log_dropped lines=%llu", &dropped) ==
            1) {
            told += dropped;
            gap += dropped;
            continue;
        }
        /* NOLINTNEXTLINE(cert-err34-c): our own numbers */
        assert_int_equal(sscanf(text, "gillnetd: info: line %d ", &number), 1);
        assert_int_equal(number, (uint64_t)(last + 1) + gap); /* told where it is */
        gap = 0;
        const char *p = strchr(strstr(text, "line ") + 5, ' ');
        assert_int_equal(strlen(p + 1), number % 997);
        last = number;
        seen++;
    }
    assert_int_equal(told, lost);
    assert_int_equal(seen + lost, LINES);
    buf_fini(&want);
}

static void test_ring__writer_stuck__drops_count_and_are_told(void **state)
{
    (void)state;
    enum { LINES = 3000 };
    int ends[2];
    static char got[4 << 20];
    char pad[1000];
    memset(pad, 'p', sizeof(pad));
    assert_int_equal(pipe(ends), 0);
    redirect(ends[1]);
    const uint64_t before = log_dropped();
    enum err e = log_start("gillnetd", LOG_TARGET_STDERR, LOG_LEVEL_INFO);
    for (int i = 0; i < LINES && e == ERR_OK; i++) {
        log_info("%.1000s", pad); /* nobody reads: the pipe and then the ring fill up */
    }
    uint64_t dropped = log_dropped() - before;
    /* Now read until the line that tells of the loss. */
    size_t n = 0;
    while (n < sizeof(got) - 1 && !strstr(got, "event=log_dropped")) {
        ssize_t part = read(ends[0], got + n, sizeof(got) - 1 - n);
        assert_true(part > 0);
        n += (size_t)part;
        got[n] = '\0';
    }
    log_stop();
    restore();
    (void)close(ends[0]);
    assert_int_equal(e, ERR_OK);
    assert_true(dropped > 1000);
    assert_non_null(strstr(got, "event=log_dropped lines="));
}

enum { THREADS = 4, EACH = 500 };

static void *log_many(void *number)
{
    for (int i = 0; i < EACH; i++) {
        log_info("thread %d line %d", *(int *)number, i);
        log_set_level(LOG_LEVEL_INFO);
    }
    return NULL;
}

static void test_threads__logging_at_once__each_line_is_whole(void **state)
{
    struct tempdir *t = *state;
    pthread_t threads[THREADS];
    int numbers[THREADS];
    int next[THREADS] = {0};
    redirect_to_file(t);
    enum err e = log_start("gillnetd", LOG_TARGET_STDERR, LOG_LEVEL_INFO);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, log_many, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    log_stop();
    restore();
    assert_int_equal(e, ERR_OK);
    struct buf b;
    buf_init(&b, 8 << 20);
    assert_int_equal(file_read(tempdir_file(t, "err"), &b, NULL), ERR_OK);
    struct slice rest = buf_slice(&b);
    while (rest.n) {
        char text[200];
        int thread = -1;
        int line = -1;
        struct slice s = slice_cut(&rest, '\n');
        (void)snprintf(text, sizeof(text), "%.*s", SLICE_ARGS(s));
        /* NOLINTNEXTLINE(cert-err34-c): our own numbers */
        int n = sscanf(text, "gillnetd: info: thread %d line %d", &thread, &line);
        assert_int_equal(n, 2);
        assert_true(thread >= 0 && thread < THREADS);
        assert_int_equal(line,
                         next[thread]++); /* 2,000 short lines fit: no line is lost */
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(next[i], EACH);
    }
    buf_fini(&b);
}

static void test_targets__syslog_and_journal__start_and_stop(void **state)
{
    (void)state;
    /* The system decides where the lines go; the test checks that nothing waits or fails. */
    assert_int_equal(log_start("gillnet-test", LOG_TARGET_SYSLOG, LOG_LEVEL_DEBUG),
                     ERR_OK);
    log_debug("event=test target=syslog %%n");
    log_stop();
    int fd = open("/dev/null", O_WRONLY);
    redirect(fd);
    enum err e = log_start("gillnet-test", LOG_TARGET_JOURNAL, LOG_LEVEL_DEBUG);
    log_debug("event=test target=journal");
    log_stop();
    restore();
    assert_int_equal(e, ERR_OK);
}

static void test_str__bytes__are_made_safe(void **state)
{
    (void)state;
    static const struct {
        struct slice in;
        const char *want;
    } rows[] = {
        {{NULL, 0}, "-"},
        {{"plain/!~", 8}, "plain/!~"},
        {{"a b\"c\\d", 7}, "a\\x20b\\x22c\\x5cd"},
        {{"\0\n\x1b\x7f\xe4", 5}, "\\x00\\x0a\\x1b\\x7f\\xe4"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char dst[LOG_STR_MAX];
        assert_string_equal(log_str(dst, rows[i].in), rows[i].want);
    }
}

static void test_str__around_the_limit__is_cut_between_characters(void **state)
{
    (void)state;
    char in[400];
    char dst[LOG_STR_MAX];
    memset(in, 'x', sizeof(in));
    for (size_t n = 250; n <= 260; n++) {
        (void)log_str(dst, slice_of(in, n));
        assert_int_equal(strlen(dst), n > LOG_STR_MAX - 1 ? LOG_STR_MAX - 1 : n);
        assert_int_equal(strcmp(dst + strlen(dst) - 3, "...") == 0,
                         n > LOG_STR_MAX - 1);
    }
    for (size_t at = 240; at < 258; at++) { /* an escape at each place near the end */
        memset(in, 'x', sizeof(in));
        in[at] = '\n';
        (void)log_str(dst, slice_of(in, sizeof(in)));
        assert_true(strlen(dst) <= LOG_STR_MAX - 1);
        assert_string_equal(dst + strlen(dst) - 3, "...");
        const char *escape = strchr(dst, '\\');
        assert_true(!escape || strncmp(escape, "\\x0a", 4) == 0);
    }
    in[251] = '\n'; /* 251 + 4 = 255: fits to the byte */
    memset(in, 'x', 251);
    (void)log_str(dst, slice_of(in, 252));
    assert_string_equal(dst + 251, "\\x0a");
}

static void test_recent__warnings_and_errors__are_kept_the_newest_first(void **state)
{
    static struct log_recent got[LOG_RECENT_LINES];

    (void)state;
    log_info("event=quiet");
    log_warn("event=first");
    log_error("event=again n=%d", 7);
    log_error("event=again n=%d", 7);
    assert_true(log_recent_get(got) >= 2);
    assert_string_equal(got[0].text, "event=again n=7");
    assert_int_equal(got[0].times, 2);
    assert_int_equal(got[0].level, LOG_LEVEL_ERROR);
    assert_string_equal(got[1].text, "event=first");
    for (int i = 0; i < 2 * LOG_RECENT_LINES; i++) {
        log_warn("event=many n=%d", i);
    }
    assert_int_equal(log_recent_get(got), LOG_RECENT_LINES);
    assert_string_equal(got[LOG_RECENT_LINES - 1].text, "event=many n=100");
}

static void test_recent__a_long_line__is_cut_between_characters(void **state)
{
    static struct log_recent got[LOG_RECENT_LINES];
    char in[LOG_RECENT_TEXT_MAX * 2];

    (void)state;
    for (size_t skip = 0; skip < 2; skip++) {
        for (size_t i = 0; i + 1 < sizeof(in); i += 2) {
            memcpy(in + i, "\xc3\xa9", 2);
        }
        in[sizeof(in) - 1] = '\0';
        in[sizeof(in) - 2] = '\0';
        memset(in, 'x', skip);
        memset(in + skip, 'x', skip);
        log_warn("%s", in);
        assert_true(log_recent_get(got) > 0);
        size_t n = strlen(got[0].text);
        assert_in_range(n, LOG_RECENT_TEXT_MAX - 4, LOG_RECENT_TEXT_MAX);
        assert_string_equal(got[0].text + n - 3, "...");
        assert_int_equal((unsigned char)got[0].text[n - 4], 0xa9);
    }
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_levels__below_the_set_one__are_silent),
        TEST(test_before_start__lines__go_straight_to_stderr),
        TEST(test_line__around_the_limit__is_cut_with_dots),
        TEST(test_line__unseen_characters__are_codes_on_one_line),
        TEST(test_ring__many_long_lines__arrive_whole_and_in_order),
        TEST(test_ring__writer_stuck__drops_count_and_are_told),
        TEST(test_threads__logging_at_once__each_line_is_whole),
        TEST(test_targets__syslog_and_journal__start_and_stop),
        TEST(test_str__bytes__are_made_safe),
        TEST(test_str__around_the_limit__is_cut_between_characters),
        TEST(test_recent__warnings_and_errors__are_kept_the_newest_first),
        TEST(test_recent__a_long_line__is_cut_between_characters),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
