/*
 * test_periods - hours of a month and days of two years: against a plain map, over restarts, a
 * kill, damage, files of other releases.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/telemetry/history_page.h"
#include "core/telemetry/periods.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { SLOTS = 768, HEAD_BYTES = 64, HEAD_MAGIC = 0, HEAD_BYTES_AT = 8, THREADS = 4 };

static const uint64_t now = 1800000000 / 86400 * 86400; /* a day begins here */
static const uint64_t hour_s = 3600, day_s = 86400;

static struct period_view view;
static char state_dir[TEMPDIR_PATH];
static char path[TEMPDIR_PATH];
static char history[TEMPDIR_PATH];

static void set_up(struct tempdir *t)
{
    (void)snprintf(state_dir, sizeof(state_dir), "%s", t->path);
    (void)snprintf(path, sizeof(path), "%s", tempdir_file(t, "counts"));
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s", tempdir_file(t, STATE_PERIODS_FILE));
    (void)snprintf(history, sizeof(history), "%s", tempdir_file(t, STATE_HISTORY_FILE));
}

static void open_file(void)
{
    struct errinfo why;
    assert_int_equal(periods_open(path, history, &why), ERR_OK);
}

static void add(uint64_t at_s, enum history_number what, uint64_t n)
{
    uint64_t number[HISTORY_NUMBERS] = {[HISTORY_MESSAGES] = n};
    number[what] += what == HISTORY_MESSAGES ? 0 : n;
    periods_message(at_s, number);
}

static const uint64_t *look(enum period p, uint64_t now_s, size_t back)
{
    assert_int_equal(period_read(state_dir, p, now_s, &view, NULL), ERR_OK);
    return view.bucket[view.n - 1 - back].number;
}

/* ---- against a plain map ---- */

struct entry {
    uint64_t stamp;
    uint64_t n[HISTORY_NUMBERS];
};
struct map {
    struct entry v[SLOTS + 1];
    size_t n;
};

/* A ring forgets a stamp only when another stamp of the same place is written. */
static void map_add(struct map *m, uint64_t stamp, enum history_number what, uint64_t n)
{
    size_t at = m->n;
    for (size_t i = 0; i < m->n; i++) {
        at = m->v[i].stamp % SLOTS == stamp % SLOTS ? i : at;
    }
    if (at == m->n || m->v[at].stamp != stamp) {
        m->v[at] = (struct entry){.stamp = stamp};
    }
    m->n += at == m->n;
    assert_true(m->n <= SLOTS);
    m->v[at].n[HISTORY_MESSAGES] += n;
    m->v[at].n[what] += what == HISTORY_MESSAGES ? 0 : n;
}

static void compare(const struct map *m, enum period p, uint64_t now_s)
{
    static const struct entry none;
    assert_int_equal(period_read(state_dir, p, now_s, &view, NULL), ERR_OK);
    assert_int_equal(view.n, period_buckets(p));
    for (size_t i = 0; i < view.n; i++) {
        uint64_t stamp = now_s / period_bucket_s(p) - (view.n - 1 - i);
        const struct entry *e = &none;
        for (size_t k = 0; k < m->n; k++) {
            e = m->v[k].stamp == stamp ? &m->v[k] : e;
        }
        assert_int_equal(view.bucket[i].at_s, stamp * period_bucket_s(p));
        assert_memory_equal(view.bucket[i].number, e->n, sizeof(e->n));
    }
}

static uint64_t seed;
static uint64_t draw(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

/* Mostly the clock goes on; sometimes it jumps by up to three years, either way. */
static uint64_t next_time(uint64_t at_s)
{
    if (draw(20) == 0) {
        return at_s + draw(6 * 366 * day_s) - 3 * 366 * day_s;
    }
    return at_s + draw(draw(2) == 0 ? 7200 : 3 * day_s);
}

static void test_times__in_any_order__as_a_plain_map_has_them(void **state)
{
    static struct map hours;
    static struct map days;
    set_up(*state);
    for (unsigned round = 1; round <= 8; round++) {
        uint64_t at_s = now;
        seed = round * UINT64_C(0x9e3779b97f4a7c15);
        hours.n = days.n = 0;
        (void)unlink(path);
        open_file();
        for (unsigned i = 0; i < 1500; i++) {
            enum history_number what = (enum history_number)draw(HISTORY_NUMBERS);
            uint64_t n = 1 + draw(9);
            add(at_s, what, n);
            map_add(&hours, at_s / hour_s, what, n);
            map_add(&days, at_s / day_s, what, n);
            if (i % 100 == 99) {
                compare(&hours, PERIOD_WEEK, at_s);
                compare(&hours, PERIOD_MONTH, next_time(at_s));
                compare(&days, PERIOD_YEAR, at_s);
                compare(&days, PERIOD_YEARS, next_time(at_s));
            }
            if (draw(100) == 0) { /* a restart */
                periods_close();
                open_file();
            }
            at_s = next_time(at_s);
        }
        periods_close();
    }
}

/* ---- restarts, kills, damage ---- */

static void test_kill__amid_messages__nothing_is_lost(void **state)
{
    set_up(*state);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        open_file();
        add(now, HISTORY_REJECT, 7);
        (void)kill(getpid(), SIGKILL);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(look(PERIOD_WEEK, now, 0)[HISTORY_REJECT], 7);
    open_file();
    add(now + day_s, HISTORY_REJECT, 2);
    assert_int_equal(look(PERIOD_YEAR, now + day_s, 0)[HISTORY_REJECT], 2);
    assert_int_equal(look(PERIOD_YEAR, now + day_s, 1)[HISTORY_REJECT], 7);
    periods_close();
}

static void patch(uint64_t at, const void *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, n, (off_t)at), n);
    (void)close(fd);
}

static void test_open__damaged_or_cut__begins_anew(void **state)
{
    const uint32_t huge[] = {UINT32_MAX, 0, 65};
    struct errinfo why = {.code = ERR_OK};
    set_up(*state);
    for (int damage = 0; damage < 6; damage++) {
        open_file();
        add(now, HISTORY_HEADER, 3);
        periods_close();
        if (damage < 3) { /* the file's size, or a dimension */
            patch(HEAD_BYTES_AT + (uint64_t)damage * 4, &huge[damage], 4);
        } else if (damage == 3) {
            patch(HEAD_MAGIC, "X", 1);
        } else {
            assert_int_equal(truncate(path, damage == 4 ? 5000 : 3), 0);
        }
        assert_int_equal(period_read(state_dir, PERIOD_WEEK, now, &view, &why),
                         ERR_CORRUPT);
        assert_int_equal(view.n, period_buckets(PERIOD_WEEK));
        open_file();
        assert_int_equal(look(PERIOD_WEEK, now, 0)[HISTORY_HEADER], 0);
        add(now, HISTORY_HEADER, 1);
        assert_int_equal(look(PERIOD_WEEK, now, 0)[HISTORY_HEADER], 1);
        periods_close();
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(period_read(state_dir, PERIOD_WEEK, now, &view, &why),
                     ERR_NOT_FOUND);
}

static void test_open__slots_out_of_place__are_left_out(void **state)
{
    uint64_t stamp = now / hour_s;
    set_up(*state);
    open_file();
    add(now, HISTORY_HEADER, 3);
    add(now + hour_s, HISTORY_HEADER, 4);
    periods_close();
    stamp += 5; /* in the place of now */
    patch(HEAD_BYTES + now / hour_s % SLOTS * (1 + HISTORY_NUMBERS) * 8, &stamp, 8);
    open_file();
    assert_int_equal(look(PERIOD_WEEK, now + 5 * hour_s, 0)[HISTORY_HEADER], 0);
    assert_int_equal(look(PERIOD_WEEK, now + 5 * hour_s, 5)[HISTORY_HEADER], 0);
    assert_int_equal(look(PERIOD_WEEK, now + 5 * hour_s, 4)[HISTORY_HEADER], 4);
    periods_close();
}

static void test_open__random_bytes__bounded(void **state)
{
    static unsigned char bytes[HEAD_BYTES + 2 * SLOTS * (1 + HISTORY_NUMBERS) * 8];
    set_up(*state);
    seed = 88172645463325252u;
    for (int round = 0; round < 20; round++) {
        size_t from = round % 2 == 0 ? HEAD_BYTES : 8;
        open_file();
        periods_close();
        for (size_t i = from; i < sizeof(bytes); i++) {
            bytes[i] = (unsigned char)draw(round < 10 ? 2 : 256);
        }
        patch(from, bytes + from, sizeof(bytes) - from);
        (void)period_read(state_dir, PERIOD_YEARS, now, &view, NULL);
        open_file();
        add(now, HISTORY_ACCEPT, 1);
        assert_true(look(PERIOD_YEARS, now, 0)[HISTORY_ACCEPT] >= 1);
        periods_close();
    }
}

/* ---- other releases ---- */

static void test_open__without_a_file__begins_with_the_day(void **state)
{
    struct errinfo why;
    const double score = 1;
    uint64_t number[HISTORY_NUMBERS] = {[HISTORY_MESSAGES] = 1, [HISTORY_REJECT] = 1};
    uint64_t sum[HISTORY_NUMBERS];
    set_up(*state);
    assert_int_equal(history_open(history, now, &why), ERR_OK);
    for (unsigned i = 0; i < 144; i++) { /* as the release before left it */
        history_message(now - 43200 + i * UINT64_C(600), number, &score);
    }
    history_close();
    assert_int_equal(look(PERIOD_DAY, now, 0)[HISTORY_REJECT], 1);
    period_sum(&view, sum);
    assert_int_equal(sum[HISTORY_MESSAGES],
                     73); /* of half a day, and the current one */
    open_file();
    (void)look(PERIOD_WEEK, now + day_s / 2, 0);
    period_sum(&view, sum);
    assert_int_equal(sum[HISTORY_MESSAGES], 144);
    assert_int_equal(look(PERIOD_YEAR, now, 0)[HISTORY_REJECT], 72);
    assert_int_equal(look(PERIOD_YEAR, now, 1)[HISTORY_REJECT], 72);
    assert_int_equal(look(PERIOD_MONTH, now, 0)[HISTORY_REJECT], 6);
    periods_close();
    open_file(); /* the file exists now, and nothing is added twice */
    assert_int_equal(look(PERIOD_MONTH, now, 0)[HISTORY_REJECT], 6);
    periods_close();
}

/* A file with these dimensions, each slot of the last three hours and days holding its stamp. */
static void write_other(uint32_t numbers, uint32_t hours, uint32_t days)
{
    size_t words = (hours + days) * (size_t)(1 + numbers);
    uint64_t *file = calloc(HEAD_BYTES / 8 + words, 8);
    assert_non_null(file);
    open_file(); /* for the magic number */
    periods_close();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, file, 8), 8);
    (void)close(fd);
    uint32_t head[] = {(uint32_t)(HEAD_BYTES + words * 8), numbers, hours, days};
    memcpy(file + 1, head, sizeof(head));
    for (unsigned back = 0; back < 3; back++) {
        uint64_t hour = now / hour_s - back;
        uint64_t day = now / day_s - back;
        uint64_t *of_hour = file + HEAD_BYTES / 8 + hour % hours * (1 + numbers);
        uint64_t *of_day =
            file + HEAD_BYTES / 8 + (hours + day % days) * (size_t)(1 + numbers);
        of_hour[0] = hour;
        of_day[0] = day;
        for (unsigned i = 1; i <= numbers; i++) {
            of_hour[i] = 10 + back;
            of_day[i] = 100 + back;
        }
    }
    assert_int_equal(
        file_write_atomic(path, slice_of((const char *)file, HEAD_BYTES + words * 8),
                          0600, NULL),
        ERR_OK);
    free(file);
}

static void test_open__file_of_another_release__keeps_its_time(void **state)
{
    const uint32_t numbers[] = {HISTORY_NUMBERS + 3, HISTORY_NUMBERS, 2};
    const uint32_t slots[] = {1000, 40, SLOTS};
    set_up(*state);
    for (size_t i = 0; i < 3; i++) {
        write_other(numbers[i], slots[i], slots[2 - i]);
        for (int again = 0; again < 2; again++) { /* as a reader, then as the writer */
            for (unsigned back = 0; back < 3; back++) {
                assert_int_equal(look(PERIOD_MONTH, now, back)[HISTORY_MESSAGES],
                                 10 + back);
                assert_int_equal(look(PERIOD_YEARS, now, back)[HISTORY_ACCEPT],
                                 100 + back);
                assert_int_equal(look(PERIOD_YEARS, now, back)[HISTORY_BYTES],
                                 numbers[i] > 2 ? 100 + back : 0);
            }
            open_file();
            periods_close();
        }
    }
}

/* ---- threads ---- */

static void *count(void *context)
{
    (void)context;
    for (unsigned i = 0; i < 5000; i++) {
        add(now + i / 10 * hour_s, HISTORY_ACCEPT, 1);
    }
    return NULL;
}

static void test_threads__add_and_read__nothing_is_lost(void **state)
{
    pthread_t thread[THREADS];
    uint64_t sum[HISTORY_NUMBERS];
    set_up(*state);
    open_file();
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, count, NULL), 0);
    }
    for (int i = 0; i < 50; i++) {
        (void)look(PERIOD_MONTH, now, 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    }
    (void)look(PERIOD_MONTH, now + 499 * hour_s, 0);
    period_sum(&view, sum);
    assert_int_equal(sum[HISTORY_ACCEPT], THREADS * 5000);
    (void)look(PERIOD_YEARS, now + 499 * hour_s, 0);
    period_sum(&view, sum);
    assert_int_equal(sum[HISTORY_ACCEPT], THREADS * 5000);
    periods_close();
}

static void test_names__round_trip(void **state)
{
    enum period p = PERIOD_DAY;
    (void)state;
    for (unsigned i = 0; i < PERIOD_COUNT; i++) {
        assert_true(period_find(slice_str(period_name((enum period)i)), &p));
        assert_int_equal(p, i);
        assert_true(period_buckets(p) <= PERIOD_BUCKETS_MAX);
    }
    assert_false(period_find(SLICE_LIT("decade"), &p));
    assert_false(period_find(SLICE_NONE, &p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_times__in_any_order__as_a_plain_map_has_them, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_kill__amid_messages__nothing_is_lost,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_open__damaged_or_cut__begins_anew,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_open__slots_out_of_place__are_left_out,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_open__random_bytes__bounded, tempdir_setup,
                                        tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_open__without_a_file__begins_with_the_day,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_open__file_of_another_release__keeps_its_time, tempdir_setup,
            tempdir_teardown),
        cmocka_unit_test_setup_teardown(test_threads__add_and_read__nothing_is_lost,
                                        tempdir_setup, tempdir_teardown),
        cmocka_unit_test(test_names__round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
