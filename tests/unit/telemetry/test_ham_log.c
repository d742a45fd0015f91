/*
 * test_ham_log - added records are read back, the oldest is replaced, torn ones are skipped, and a
 * busy site's sample is even over time.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/telemetry/ham_log.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { KEY = 0x1234, T0 = 1700000000, THREADS = 4, EACH = 5000 };

struct place {
    char dir[64];
    char path[96];
    struct ham_log *j;
    struct errinfo info;
};

struct seen {
    uint64_t n;
    uint64_t good;
    uint64_t sum;
    uint32_t least_s;
};

static int setup(void **state)
{
    struct place *p = calloc(1, sizeof(*p));
    assert_non_null(p);
    snprintf(p->dir, sizeof(p->dir), "/tmp/gillnet-journal-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    snprintf(p->path, sizeof(p->path), "%s/journal", p->dir);
    assert_int_equal(ham_log_open(p->path, KEY, &p->j, &p->info), ERR_OK);
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;
    ham_log_close(&p->j);
    (void)tempdir_remove(p->dir);
    free(p);
    return 0;
}

static struct ham_log_message message(uint64_t i)
{
    struct ham_log_message m = {.time_s = T0 + (uint32_t)(i / 10),
                                .is_good = i % 2 == 0,
                                .network = i,
                                .n = i % (HAM_LOG_KEYS + 1)};
    for (size_t k = 0; k < m.n; k++) {
        m.key[k] = i * 1000 + k;
    }
    return m;
}

static void check(void *context, const struct ham_log_message *m)
{
    struct seen *s = context;
    struct ham_log_message want = message(m->network);
    s->n++;
    s->good += m->is_good;
    s->least_s = s->least_s == 0 || m->time_s < s->least_s ? m->time_s : s->least_s;
    assert_int_equal(m->time_s, want.time_s);
    assert_int_equal(m->is_good, want.is_good);
    assert_int_equal(m->n, want.n);
    assert_memory_equal(m->key, want.key, want.n * sizeof(want.key[0]));
}

static struct seen read_all(struct place *p, uint32_t since_s)
{
    struct seen s = {0};
    uint32_t key_id = 0;
    assert_int_equal(ham_log_read(p->path, since_s, check, &s, &key_id, &p->info),
                     ERR_OK);
    assert_int_equal(key_id, KEY);
    return s;
}

static void add(struct place *p, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        struct ham_log_message m = message(i);
        ham_log_add(p->j, &m);
    }
}

static void test_ham_log__when_messages_are_added__then_they_are_read(void **state)
{
    struct place *p = *state;
    assert_int_equal(read_all(p, 0).n, 0);
    add(p, 0, 1000);
    assert_int_equal(read_all(p, 0).n, 1000);
    assert_int_equal(read_all(p, 0).good, 500);
    assert_int_equal(read_all(p, T0 + 90).n, 100);
    add(p, 1000, HAM_LOG_SLOTS + 500); /* the first 500 are replaced */
    assert_int_equal(read_all(p, 0).n, HAM_LOG_SLOTS);
    assert_int_equal(read_all(p, 0).least_s, T0 + 50);
}

static void test_ham_log__when_opened_again__then_it_goes_on(void **state)
{
    struct place *p = *state;
    add(p, 0, 100);
    ham_log_close(&p->j);
    assert_int_equal(ham_log_open(p->path, KEY, &p->j, &p->info), ERR_OK);
    add(p, 100, 150);
    assert_int_equal(read_all(p, 0).n, 150);
    ham_log_close(&p->j);
    assert_int_equal(ham_log_open(p->path, KEY + 1, &p->j, &p->info), ERR_OK);
    assert_int_equal(ham_log_key_id(p->j), KEY + 1);
    struct seen s = {0};
    uint32_t key_id = 0;
    assert_int_equal(ham_log_read(p->path, 0, check, &s, &key_id, &p->info), ERR_OK);
    assert_int_equal(s.n, 0); /* another key: the old records are dropped */
}

static void test_ham_log__when_damaged__then_whole_records_are_left(void **state)
{
    struct place *p = *state;
    struct stat st;
    add(p, 0, HAM_LOG_SLOTS);
    ham_log_close(&p->j);
    int fd = open(p->path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    for (off_t at = 4096; at < st.st_size; at += 50000) {
        char c = 0;
        assert_int_equal(pread(fd, &c, 1, at), 1);
        c = (char)(c ^ 0x20);
        assert_int_equal(pwrite(fd, &c, 1, at), 1);
    }
    uint64_t n = read_all(p, 0).n; /* each that is given is as it was added */
    assert_true(n >= HAM_LOG_SLOTS - 600 && n < HAM_LOG_SLOTS - 100);
    assert_int_equal(ftruncate(fd, st.st_size / 2), 0);
    struct seen s = {0};
    uint32_t key_id = 0;
    assert_int_equal(ham_log_read(p->path, 0, check, &s, &key_id, &p->info),
                     ERR_CORRUPT);
    close(fd);
    assert_int_equal(ham_log_open(p->path, KEY, &p->j, &p->info), ERR_OK);
    assert_int_equal(read_all(p, 0).n, 0);
}

static void test_ham_log__when_mail_is_much__then_a_sample_reaches_back_days(
    void **state)
{
    struct place *p = *state;
    uint64_t now_us = 1000000;
    uint64_t kept = 0;
    for (unsigned i = 0; i < HAM_LOG_BURST; i++) {
        assert_true(ham_log_wants(p->j, now_us)); /* a small site's burst */
    }
    for (unsigned s = 0; s < 100000; s++) { /* ten a second */
        now_us += 100000;
        kept += ham_log_wants(p->j, now_us);
    }
    assert_in_range(kept, 10000 / HAM_LOG_EVERY_S - 2, 10000 / HAM_LOG_EVERY_S + 2);
    assert_true((uint64_t)HAM_LOG_EVERY_S * HAM_LOG_SLOTS > 6 * 86400);
}

static void *adder(void *context)
{
    struct place *p = context;
    add(p, 0, EACH);
    return NULL;
}

static void test_ham_log__when_threads_add__then_no_record_is_lost(void **state)
{
    struct place *p = *state;
    pthread_t thread[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, adder, p), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    }
    assert_int_equal(read_all(p, 0).n, THREADS * EACH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_ham_log__when_messages_are_added__then_they_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_ham_log__when_opened_again__then_it_goes_on, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_ham_log__when_damaged__then_whole_records_are_left, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_ham_log__when_mail_is_much__then_a_sample_reaches_back_days, setup,
            teardown),
        cmocka_unit_test_setup_teardown(
            test_ham_log__when_threads_add__then_no_record_is_lost, setup, teardown),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
