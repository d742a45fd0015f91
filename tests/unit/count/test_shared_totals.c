/* test_shared_totals - the hub's file of totals, read while it is written, replaced and cut. */
#include <pthread.h>
#include <stdatomic.h>

#include "core/base/file.h"
#include "core/base/prng.h"
#include "core/count/distinct_log.h"
#include "core/count/live.h"
#include "core/count/shared_totals.h"

#include "tests/unit/tempdir.h"

enum { SETS = SHARED_TOTALS_SETS_MIN, KEY_ID = 7, PUTS = 200000 };

struct bench {
    char dir[64];
    char path[256];
    struct shared_totals *hub;
    struct shared_totals *reader;
};

static void make_with(struct bench *b, uint64_t nsets, uint32_t key_id)
{
    struct errinfo why;

    shared_totals_close(&b->hub);
    if (shared_totals_make(b->dir, nsets, key_id, &b->hub, &why) != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
}

static void open_reader(struct bench *b)
{
    struct errinfo why;

    shared_totals_close(&b->reader);
    if (shared_totals_open(b->dir, KEY_ID, &b->reader, &why) != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
}

static int setup(void **state)
{
    struct bench *b = calloc(1, sizeof(*b));
    char peers[128];

    assert_non_null(b);
    assert_true(tempdir_make_fast(b->dir));
    (void)snprintf(peers, sizeof(peers), "%s/peers", b->dir);
    (void)snprintf(b->path, sizeof(b->path), "%s/shared/totals", peers);
    assert_int_equal(mkdir(peers, 0700), 0);
    live_set_boot_for_test("monday");
    make_with(b, SETS, KEY_ID);
    open_reader(b);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;

    shared_totals_close(&b->hub);
    shared_totals_close(&b->reader);
    live_set_boot_for_test(NULL);
    (void)tempdir_remove(b->dir);
    free(b);
    return 0;
}

static void put(struct bench *b, uint64_t key, uint32_t heard_s, uint64_t count)
{
    struct shared_total t;

    (void)shared_totals_find(b->hub, key, &t);
    assert_int_equal(t.key, key);
    shared_total_set(&t, 1000, 0, count, count);
    t.heard_s = heard_s;
    shared_totals_put(b->hub, &t);
}

static uint64_t read_count(const struct bench *b, uint64_t key)
{
    struct shared_total t;

    return shared_totals_read(b->reader, key, &t) ? t.ten[0] : 0;
}

static void test_read__of_what_was_put__by_another_mapping(void **state)
{
    struct bench *b = *state;

    assert_int_equal(read_count(b, 5), 0);
    put(b, 5, 1, 3);
    put(b, UINT64_MAX, 1, 4);
    put(b, 5 + ((uint64_t)9 << 32), 1, 7); /* the same set */
    put(b, 5, 2, 6);
    assert_int_equal(read_count(b, 5), 6);
    assert_int_equal(read_count(b, UINT64_MAX), 4);
    assert_int_equal(read_count(b, 5 + ((uint64_t)9 << 32)), 7);
    assert_int_equal(read_count(b, 6), 0);
}

static void test_put__when_the_set_is_full__then_the_oldest_goes(void **state)
{
    struct bench *b = *state;

    for (uint64_t i = 0; i < SHARED_TOTALS_WAYS; i++) {
        put(b, (i << 32) + 1, (uint32_t)(100 + (i + 5) % SHARED_TOTALS_WAYS), 2);
    }
    put(b, (UINT64_C(99) << 32) + 1, 200, 9); /* in the place of 11, of second 100 */
    for (uint64_t i = 0; i < SHARED_TOTALS_WAYS; i++) {
        assert_int_equal(read_count(b, (i << 32) + 1), i == 11 ? 0 : 2);
    }
    assert_int_equal(read_count(b, (UINT64_C(99) << 32) + 1), 9);
}

/* A number of distinct members has a mark in the lowest bits (distinct_log.h). */
static void test_put__of_keys_with_the_same_mark__finds_all(void **state)
{
    enum { KEYS = SHARED_TOTALS_SETS_MIN * 2 }; /* two a set, which has room for 16 */
    struct bench *b = *state;
    uint64_t found = 0;

    for (uint64_t i = 1; i <= KEYS; i++) {
        put(b, (prng_mix(i) & ~UINT64_C(0xffff)) | COUNT_MEMBER_MARK, 100, 2);
    }
    for (uint64_t i = 1; i <= KEYS; i++) {
        found +=
            read_count(b, (prng_mix(i) & ~UINT64_C(0xffff)) | COUNT_MEMBER_MARK) == 2;
    }
    assert_int_equal(found, KEYS);
}

static void test_make__again__keeps_entries_of_the_same_boot_key_and_size(void **state)
{
    struct bench *b = *state;

    put(b, 5, 1, 3);
    make_with(b, SETS, KEY_ID);
    assert_false(shared_totals_is_replaced(b->reader));
    assert_int_equal(read_count(b, 5), 3);
    for (unsigned i = 0; i < 3; i++) {
        live_set_boot_for_test(i == 0 ? "tuesday" : "monday");
        make_with(b, i == 1 ? 2 * SETS : SETS, i == 2 ? KEY_ID + 1 : KEY_ID);
        assert_true(shared_totals_is_replaced(b->reader));
        assert_int_equal(read_count(b, 5),
                         3); /* its own file is there until it looks */
        struct shared_total t;
        assert_false(shared_totals_find(b->hub, 5, &t));
        live_set_boot_for_test("monday");
        make_with(b, SETS, KEY_ID);
        open_reader(b);
        put(b, 5, 1, 3);
    }
}

static void test_open__of_damaged_files__refuses_with_a_reason(void **state)
{
    struct bench *b = *state;
    struct errinfo why;
    struct buf file;

    shared_totals_close(&b->reader);
    assert_int_equal(shared_totals_open(b->dir, KEY_ID + 1, &b->reader, &why), ERR_KEY);
    buf_init(&file, 64 << 20);
    assert_int_equal(file_read(b->path, &file, NULL), ERR_OK);
    for (size_t n = 0; n < 5000; n += n < 128 ? 1 : 977) { /* cut short */
        assert_int_equal(file_write_atomic(b->path, slice_of(file.p, n), 0600, NULL),
                         ERR_OK);
        assert_int_not_equal(shared_totals_open(b->dir, KEY_ID, &b->reader, &why),
                             ERR_OK);
        assert_true(why.text[0] != '\0');
    }
    for (size_t at = 0; at < 24; at++) { /* the header's bits */
        if (at >= 12 && at < 16) {
            continue; /* the digest key: above */
        }
        file.p[at] ^= 4;
        assert_int_equal(file_write_atomic(b->path, buf_slice(&file), 0600, NULL),
                         ERR_OK);
        assert_int_equal(shared_totals_open(b->dir, KEY_ID, &b->reader, &why),
                         ERR_CORRUPT);
        file.p[at] ^= 4;
    }
    buf_fini(&file);
    assert_int_equal(unlink(b->path), 0);
    assert_int_equal(shared_totals_open(b->dir, KEY_ID, &b->reader, &why),
                     ERR_NOT_FOUND);
    make_with(b, SETS, KEY_ID);
    open_reader(b);
}

static void test_read__when_the_file_is_cut__then_nothing_is_found(void **state)
{
    struct bench *b = *state;

    open_reader(b); /* again: cmocka has taken the signal since the setup */
    for (uint64_t key = 1; key < 1000; key++) {
        put(b, key, 1, 3);
    }
    assert_int_equal(read_count(b, 999), 3);
    shared_totals_close(&b->hub);
    assert_int_equal(truncate(b->path, 4096), 0);
    for (uint64_t key = 1; key < 1000; key++) {
        assert_int_equal(read_count(b, key), 0);
    }
    assert_int_equal(read_count(b, UINT64_MAX), 0);
    make_with(b, SETS, KEY_ID); /* another one */
    assert_true(shared_totals_is_replaced(b->reader));
}

/* The number of an entry is odd where its writer was killed. */
static void test_make__after_a_kill_within_an_entry__drops_it_alone(void **state)
{
    struct bench *b = *state;
    const uint64_t half = 5 << 16; /* in set 5 */
    const uint64_t whole = 6 << 16;
    struct buf file;

    put(b, half, 1, 3);
    put(b, whole, 1, 4);
    buf_init(&file, 64 << 20);
    assert_int_equal(file_read(b->path, &file, NULL), ERR_OK);
    size_t at = 4096 + (size_t)SETS * 64 + (size_t)5 * SHARED_TOTALS_WAYS * 256;
    assert_int_equal((unsigned char)file.p[at], 2);
    file.p[at] = 3;
    assert_int_equal(file_write_atomic(b->path, buf_slice(&file), 0600, NULL), ERR_OK);
    buf_fini(&file);
    open_reader(b);
    assert_int_equal(read_count(b, half), 0);
    make_with(b, SETS, KEY_ID);
    assert_int_equal(read_count(b, half), 0);
    assert_int_equal(read_count(b, whole), 4);
    put(b, half, 1, 8);
    assert_int_equal(read_count(b, half), 8);
}

static void test_age__of_the_last_answer(void **state)
{
    struct bench *b = *state;

    assert_true(shared_totals_age(b->reader, 1000) == UINT64_MAX);
    shared_totals_beat(b->hub, 1000);
    assert_int_equal(shared_totals_age(b->reader, 1000), 0);
    assert_int_equal(shared_totals_age(b->reader, 1031), 31);
    assert_int_equal(shared_totals_age(b->reader, 998), 0);
    assert_true(shared_totals_age(b->reader, 997) == UINT64_MAX); /* set back */
}

static void test_sets__by_messages__within_bounds(void **state)
{
    (void)state;
    assert_int_equal(shared_totals_sets(0), SHARED_TOTALS_SETS_MIN);
    assert_int_equal(shared_totals_sets(1000000), 16384); /* 2^18 entries */
    assert_int_equal(shared_totals_sets(UINT64_MAX), SHARED_TOTALS_SETS_MAX);
}

struct race {
    struct bench *b;
    _Atomic bool is_over;
};

/* All counts of an entry are one number. */
static void *write_all(void *context)
{
    struct race *r = context;

    for (uint32_t i = 1; i <= PUTS; i++) {
        struct shared_total t = {.key = 5 + (uint64_t)(i % 20) * SETS, .heard_s = i};
        for (unsigned k = 0; k < SHARED_BUCKETS; k++) {
            t.ten[k] = i;
        }
        for (unsigned k = 0; k < SHARED_HOURS; k++) {
            t.hour[k] = i;
        }
        for (unsigned k = 0; k < SHARED_DAYS; k++) {
            t.day[k] = i;
        }
        shared_totals_put(r->b->hub, &t);
    }
    atomic_store(&r->is_over, true);
    return NULL;
}

static void test_read__while_entries_change__sees_whole_ones(void **state)
{
    struct race r = {.b = *state};
    pthread_t writer;
    unsigned nread = 0;

    assert_int_equal(pthread_create(&writer, NULL, write_all, &r), 0);
    while (!atomic_load(&r.is_over)) {
        for (uint64_t k = 0; k < 20; k++) {
            struct shared_total t;
            if (!shared_totals_read(r.b->reader, 5 + k * SETS, &t)) {
                continue;
            }
            nread++;
            assert_int_equal(t.key, 5 + k * SETS);
            for (unsigned i = 0; i < SHARED_HOURS; i++) {
                assert_int_equal(t.hour[i], t.heard_s);
            }
            assert_int_equal(t.day[SHARED_DAYS - 1], t.heard_s);
            assert_int_equal(t.ten[0], t.heard_s);
        }
    }
    assert_int_equal(pthread_join(writer, NULL), 0);
    assert_true(nread > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        T(test_read__of_what_was_put__by_another_mapping),
        T(test_put__when_the_set_is_full__then_the_oldest_goes),
        T(test_put__of_keys_with_the_same_mark__finds_all),
        T(test_make__again__keeps_entries_of_the_same_boot_key_and_size),
        T(test_open__of_damaged_files__refuses_with_a_reason),
        T(test_read__when_the_file_is_cut__then_nothing_is_found),
        T(test_make__after_a_kill_within_an_entry__drops_it_alone),
        T(test_age__of_the_last_answer),
        T(test_read__while_entries_change__sees_whole_ones),
#undef T
        cmocka_unit_test(test_sets__by_messages__within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
