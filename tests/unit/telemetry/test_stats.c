/*
 * test_stats - numbers survive a restart, readers of other builds read them, threads add up.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/telemetry/stats.h"
#include "core/telemetry/stats_page.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

static struct stats_view view_of(const char *path)
{
    struct stats_view v;
    assert_int_equal(stats_read(path, &v, NULL), ERR_OK);
    return v;
}

static uint32_t fault_seq(const char *path)
{
    uint32_t seq = 1;
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(
        pread(fd, &seq, sizeof(seq), (off_t)offsetof(struct stats_page, fault_seq)),
        sizeof(seq));
    (void)close(fd);
    return seq;
}

static void test_anonymous__without_a_page__counts(void **state)
{
    (void)state;
    stats_add(STAT_messages, 3);
    stats_set(STAT_messages_open, 5);
    stats_sub(STAT_messages_open, 2);
    assert_int_equal(stats_get(STAT_messages), 3);
    assert_int_equal(stats_get(STAT_messages_open), 3);
    stats_close();
    assert_int_equal(stats_get(STAT_messages), 0);
    assert_string_equal(stats_name(STAT_log_dropped), "log_dropped");
    assert_true(strlen(stats_help(STAT_log_dropped)) > 0);
}

static void test_open__again__counters_go_on_and_gauges_do_not(void **state)
{
    struct tempdir *t = *state;
    struct errinfo info;
    stats_add(STAT_messages, 1); /* before the page: kept */
    assert_int_equal(stats_open(tempdir_file(t, "stats"), &info), ERR_OK);
    stats_add(STAT_messages, 10);
    stats_set(STAT_lists, 4);
    assert_int_equal(fault_seq(t->file) % 2, 0);
    stats_fault("disk", "full");
    assert_int_equal(fault_seq(t->file) % 2, 0);
    struct stats_view v = view_of(t->file);
    assert_int_equal(v.value[STAT_messages], 11);
    assert_int_equal(v.value[STAT_lists], 4);
    assert_int_equal(v.nfaults, 1);
    assert_string_equal(v.fault[0], "disk: full");
    stats_fault("disk", NULL);
    stats_close();
    v = view_of(t->file);
    assert_int_equal(v.value[STAT_messages], 11); /* the file keeps them */
    assert_int_equal(stats_open(t->file, &info), ERR_OK);
    assert_int_equal(stats_get(STAT_messages), 11);
    assert_int_equal(stats_get(STAT_lists), 0);
    stats_add(STAT_messages, 1);
    assert_int_equal(stats_open(t->file, &info), ERR_OK); /* without a close */
    assert_int_equal(stats_get(STAT_messages), 12);
    stats_close();
    struct stat st;
    assert_int_equal(stat(t->file, &st), 0);
    assert_int_equal(st.st_size % 4096, 0);
}

/* Stores bytes at offset of the page. */
static void patch(const char *path, size_t offset, const void *bytes, size_t n)
{
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, n, (off_t)offset), n);
    (void)close(fd);
}

static void test_read__page_with_fewer_or_more_counters__is_read(void **state)
{
    struct tempdir *t = *state;
    static const uint32_t counts[] = {0, STAT_messages + 1, STAT_COUNT, STAT_COUNT + 7,
                                      STATS_VALUES_MAX};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        (void)unlink(tempdir_file(t, "stats"));
        assert_int_equal(stats_open(t->file, NULL), ERR_OK);
        stats_add(STAT_messages, 10);
        stats_add(STAT_log_dropped, 20);
        stats_fault("k", "text");
        stats_fault("k2", "text");
        stats_fault("k", NULL);
        stats_close();
        patch(t->file, offsetof(struct stats_page, nvalues), &counts[i], 4);
        struct stats_view v = view_of(t->file);
        assert_int_equal(v.value[STAT_messages], counts[i] > STAT_messages ? 10 : 0);
        assert_int_equal(v.value[STAT_log_dropped],
                         counts[i] > STAT_log_dropped ? 20 : 0);
        assert_int_equal(v.nfaults, 1);
        assert_string_equal(v.fault[0], "k2: text");
        stats_fault("k2", NULL);
        assert_int_equal(stats_open(t->file, NULL), ERR_OK);
        assert_int_equal(stats_get(STAT_messages), counts[i] > STAT_messages ? 10 : 0);
        stats_close();
    }
}

static void test_open__foreign_or_damaged_page__is_replaced(void **state)
{
    struct tempdir *t = *state;
    static const uint32_t bad = 0xffffffff;
    static const struct {
        size_t offset;
        enum err want;
    } rows[] = {{offsetof(struct stats_page, magic), ERR_CORRUPT},
                {offsetof(struct stats_page, version), ERR_VERSION},
                {offsetof(struct stats_page, nvalues), ERR_CORRUPT},
                {offsetof(struct stats_page, faults_max), ERR_CORRUPT},
                {offsetof(struct stats_page, fault_text), ERR_CORRUPT}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct stats_view v;
        (void)unlink(tempdir_file(t, "stats"));
        assert_int_equal(stats_open(t->file, NULL), ERR_OK);
        stats_add(STAT_messages, 10);
        stats_close();
        patch(t->file, rows[i].offset, &bad, sizeof(bad));
        assert_int_equal(stats_read(t->file, &v, NULL), rows[i].want);
        assert_int_equal(stats_open(t->file, NULL), ERR_OK);
        assert_int_equal(stats_get(STAT_messages), 0);
        stats_close();
        (void)view_of(t->file);
    }
    for (off_t size = 0; size < (off_t)sizeof(struct stats_page); size += 97) {
        struct stats_view v;
        assert_int_equal(stats_open(t->file, NULL), ERR_OK);
        stats_close();
        assert_int_equal(truncate(t->file, size), 0);
        assert_int_equal(stats_read(t->file, &v, NULL), ERR_CORRUPT);
    }
}

static void test_read__hostile_faults__are_tamed(void **state)
{
    struct tempdir *t = *state;
    uint32_t many = 0xffffffff;
    uint32_t odd = 7; /* a writer that was killed in the middle */
    char text[STATS_FAULT_TEXT];
    memset(text, 0x1b, sizeof(text));
    assert_int_equal(stats_open(tempdir_file(t, "stats"), NULL), ERR_OK);
    stats_close();
    patch(t->file, offsetof(struct stats_page, nfaults), &many, 4);
    patch(t->file, offsetof(struct stats_page, fault_seq), &odd, 4);
    patch(t->file, offsetof(struct stats_page, fault), text, sizeof(text));
    struct stats_view v = view_of(t->file);
    assert_int_equal(v.nfaults, STATS_FAULTS_MAX);
    assert_int_equal(strlen(v.fault[0]), STATS_FAULT_TEXT - 1);
    assert_null(strchr(v.fault[0], 0x1b));
}

static void test_open__folder_missing__counts_in_memory(void **state)
{
    struct tempdir *t = *state;
    struct errinfo info;
    assert_int_equal(stats_open(tempdir_file(t, "none/stats"), &info), ERR_NOT_FOUND);
    assert_true(strlen(info.text) > 0);
    stats_add(STAT_messages, 2);
    assert_int_equal(stats_get(STAT_messages), 2);
    stats_close();
}

static void test_fault__around_the_limit__the_rest_is_left_out(void **state)
{
    struct tempdir *t = *state;
    char key[32];
    assert_int_equal(stats_open(tempdir_file(t, "stats"), NULL), ERR_OK);
    for (unsigned i = 0; i < STATS_FAULTS_MAX + 1; i++) {
        (void)snprintf(key, sizeof(key), "list:%u", i);
        stats_fault(key, "first");
        stats_fault(key, "line\nbreak"); /* replaces */
        struct stats_view v = view_of(t->file);
        assert_int_equal(v.nfaults, i < STATS_FAULTS_MAX ? i + 1 : STATS_FAULTS_MAX);
        assert_string_equal(v.fault[0], "list:0: line break");
    }
    char longer[500];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    stats_fault("list:0", longer);
    stats_fault(longer, "no room, no harm");
    struct stats_view v = view_of(t->file);
    assert_int_equal(strlen(v.fault[0]), STATS_FAULT_TEXT - 1);
    for (unsigned i = 0; i < STATS_FAULTS_MAX + 1; i++) {
        (void)snprintf(key, sizeof(key), "list:%u", i);
        stats_fault(key, NULL);
    }
    stats_fault("never set", NULL);
    stats_fault("", "no key");
    stats_fault(longer, "first");
    stats_fault(longer, NULL);
    assert_int_equal(view_of(t->file).nfaults, 0);
    assert_int_equal(fault_seq(t->file) % 2, 0); /* at rest */
    stats_close();
}

enum { THREADS = 4, ADDS = 20000, READS = 300 };
static _Atomic bool stop_faults;

static void *add_many(void *unused)
{
    (void)unused;
    for (int i = 0; i < ADDS; i++) {
        stats_add(STAT_bytes, 2);
    }
    return NULL;
}

static void *change_faults(void *unused)
{
    (void)unused;
    char text[STATS_FAULT_TEXT];
    for (unsigned i = 0; !atomic_load(&stop_faults); i++) {
        memset(text, (int)('a' + i % 26), 200);
        text[200] = '\0';
        stats_fault("k", text);
        (void)usleep(50);
    }
    stats_fault("k", NULL);
    return NULL;
}

static void test_threads__adding_and_reading__no_number_lost_no_text_torn(void **state)
{
    struct tempdir *t = *state;
    pthread_t threads[THREADS];
    pthread_t faults;
    assert_int_equal(stats_open(tempdir_file(t, "stats"), NULL), ERR_OK);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, NULL), 0);
    }
    assert_int_equal(pthread_create(&faults, NULL, change_faults, NULL), 0);
    for (int i = 0; i < READS; i++) {
        struct stats_view v = view_of(t->file);
        if (v.nfaults) {
            const char *text = v.fault[0] + 3; /* after "k: " */
            assert_int_equal(strspn(text, (char[]){text[0], '\0'}), 200);
        }
    }
    atomic_store(&stop_faults, true);
    assert_int_equal(pthread_join(faults, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(view_of(t->file).value[STAT_bytes], 2 * THREADS * ADDS);
    stats_close();
}

static void test_threads__adding_while_opened_and_closed__no_crash(void **state)
{
    struct tempdir *t = *state;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, NULL), 0);
    }
    for (int i = 0; i < 20; i++) {
        assert_int_equal(stats_open(tempdir_file(t, "stats"), NULL), ERR_OK);
        stats_close();
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    stats_close();
}

static void test_alive__around_the_last_sign__only_for_a_moment(void **state)
{
    struct stats_view v = {.nfaults = 0};
    (void)state;
    v.value[STAT_alive_time] = 1000;
    assert_false(stats_is_alive(&v, 1000)); /* it ended */
    v.value[STAT_pid] = 1;
    assert_true(stats_is_alive(&v, 1000));
    assert_true(stats_is_alive(&v, 1000 + STATS_ALIVE_S - 1));
    assert_false(stats_is_alive(&v, 1000 + STATS_ALIVE_S));
    assert_false(stats_is_alive(&v, 5000));
    assert_true(stats_is_alive(&v, 999));
    assert_false(stats_is_alive(&v, 1000 - STATS_ALIVE_S)); /* the clock was set back */
    v.value[STAT_alive_time] = 0;
    assert_false(stats_is_alive(&v, 1000));
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_anonymous__without_a_page__counts),
        TEST(test_open__again__counters_go_on_and_gauges_do_not),
        TEST(test_read__page_with_fewer_or_more_counters__is_read),
        TEST(test_open__foreign_or_damaged_page__is_replaced),
        TEST(test_read__hostile_faults__are_tamed),
        TEST(test_alive__around_the_last_sign__only_for_a_moment),
        TEST(test_open__folder_missing__counts_in_memory),
        TEST(test_fault__around_the_limit__the_rest_is_left_out),
        TEST(test_threads__adding_and_reading__no_number_lost_no_text_torn),
        TEST(test_threads__adding_while_opened_and_closed__no_crash),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
