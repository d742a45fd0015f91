/*
 * test_confirm - the table gives back what was put into it, or nothing.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "core/base/base.h"
#include "core/list/confirm_cache.h"
#include "core/list/list.h"

#include "tests/unit/unit.h"

enum { ENTRIES = 1024, THREADS = 4, ROUNDS = 40000, SHARED = 64 };

static struct digest digest_number(uint64_t n)
{
    static const struct hashkey key = {.id = 1, .bytes = "0123456789abcde"};
    struct digest d;
    digest_make(&key, 1, slice_of((const char *)&n, sizeof(n)), &d);
    return d;
}

/* Every field tells the number, so that a mixture of two records is seen. */
static struct confirm_cache_answer answer_number(uint64_t n, bool is_there)
{
    uint32_t low = (uint32_t)n;
    struct confirm_cache_answer a = {.is_there = is_there, .period = n * 3};
    if (is_there) {
        a.record = (struct index_record){
            .status = ENTRY_LISTED,
            .flags = (uint8_t)(n & 1),
            .class_type = (uint16_t)(n & 0xff),
            .segment = low * 5,
            .offset = low * 7,
            .first_seen_s = low * 11,
            .expiry_s = low * 13,
        };
    }
    return a;
}

static bool is_answer(const struct confirm_cache_answer *a, uint64_t n, bool is_there)
{
    struct confirm_cache_answer want = answer_number(n, is_there);
    return a->is_there == want.is_there && a->period == want.period &&
           a->record.status == want.record.status &&
           a->record.flags == want.record.flags &&
           a->record.class_type == want.record.class_type &&
           a->record.segment == want.record.segment &&
           a->record.offset == want.record.offset &&
           a->record.first_seen_s == want.record.first_seen_s &&
           a->record.expiry_s == want.record.expiry_s;
}

static void put(struct confirm_cache *c, uint64_t n, bool is_there)
{
    struct digest d = digest_number(n);
    struct confirm_cache_answer a = answer_number(n, is_there);
    confirm_cache_put(c, &d, &a);
}

/* Fails on a wrong answer; false: no answer. */
static bool get(const struct confirm_cache *c, uint64_t n, bool is_there)
{
    struct digest d = digest_number(n);
    struct confirm_cache_answer a;
    if (!confirm_cache_get(c, &d, &a)) {
        return false;
    }
    assert_true(is_answer(&a, n, is_there));
    return true;
}

static void test_confirm__when_put__then_the_same_comes_back(void **state)
{
    (void)state;
    struct confirm_cache *c = confirm_cache_new(ENTRIES);
    assert_non_null(c);
    assert_false(get(c, 1, true));
    put(c, 1, true);
    put(c, 2, false);
    assert_true(get(c, 1, true));
    assert_true(get(c, 2, false));
    assert_false(get(c, 3, false));
    put(c, 1, true); /* again: takes no second slot */
    assert_true(get(c, 1, true));
    confirm_cache_free(&c);
    assert_null(c);
}

static void test_confirm__when_off__then_it_holds_nothing(void **state)
{
    (void)state;
    struct confirm_cache *c = confirm_cache_new(0);
    assert_null(c);
    put(c, 1, true);
    assert_false(get(c, 1, true));
    assert_int_equal(confirm_cache_bytes(c), 0);
    confirm_cache_free(&c);
}

static void test_confirm__when_size_is_given__then_memory_is_bounded(void **state)
{
    static const struct {
        size_t entries;
        size_t slots;
    } table[] = {{1, 4},
                 {4, 4},
                 {5, 8},
                 {1000, 1024},
                 {CONFIRM_CACHE_SLOTS_MAX, CONFIRM_CACHE_SLOTS_MAX},
                 {SIZE_MAX, CONFIRM_CACHE_SLOTS_MAX}};
    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct confirm_cache *c = confirm_cache_new(table[i].entries);
        assert_non_null(c);
        assert_int_equal(confirm_cache_bytes(c),
                         table[i].slots * CONFIRM_CACHE_SLOT_BYTES);
        assert_int_equal(confirm_cache_bytes_for(table[i].entries),
                         confirm_cache_bytes(c));
        for (uint64_t n = 0; n < 100; n++) {
            put(c, n, n % 2 == 0);
        }
        for (uint64_t n = 0; n < 100; n++) {
            (void)get(c, n, n % 2 == 0);
        }
        confirm_cache_free(&c);
    }
}

static void test_confirm__when_strangers_flood_it__then_listed_ones_stay(void **state)
{
    (void)state;
    struct confirm_cache *c = confirm_cache_new(ENTRIES);
    unsigned before = 0;
    unsigned after = 0;
    for (uint64_t n = 0; n < ENTRIES / 8; n++) {
        put(c, n, true);
    }
    for (uint64_t n = 0; n < ENTRIES / 8; n++) {
        before += get(c, n, true);
    }
    for (uint64_t n = ENTRIES; n < UINT64_C(100) * ENTRIES; n++) {
        put(c, n, false);
    }
    for (uint64_t n = 0; n < ENTRIES / 8; n++) {
        after += get(c, n, true);
    }
    assert_true(before > ENTRIES / 8 * 9 / 10);
    assert_int_equal(after, before);
    confirm_cache_free(&c);
}

struct hammer {
    struct confirm_cache *c;
    uint64_t first;
    _Atomic uint64_t found;
};

/* Puts and gets digests that the others put too, into sets so few that all meet there. */
static void *hammer_thread(void *context)
{
    struct hammer *h = context;
    uint64_t found = 0;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t n = i * 7 % SHARED;
        struct digest d = digest_number(n);
        struct confirm_cache_answer a;
        if (confirm_cache_get(h->c, &d, &a)) {
            found++;
            if (!is_answer(&a, n, n % 2 == 0)) {
                return h;
            }
        } else {
            a = answer_number(n, n % 2 == 0);
            confirm_cache_put(h->c, &d, &a);
        }
    }
    atomic_fetch_add(&h->found, found);
    return NULL;
}

static void test_confirm__when_threads_share_slots__then_no_answer_is_mixed(
    void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    struct hammer h = {.c = confirm_cache_new(SHARED / 4)};
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, hammer_thread, &h), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_true(atomic_load(&h.found) > 0);
    confirm_cache_free(&h.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_confirm__when_put__then_the_same_comes_back),
        cmocka_unit_test(test_confirm__when_off__then_it_holds_nothing),
        cmocka_unit_test(test_confirm__when_size_is_given__then_memory_is_bounded),
        cmocka_unit_test(test_confirm__when_strangers_flood_it__then_listed_ones_stay),
        cmocka_unit_test(
            test_confirm__when_threads_share_slots__then_no_answer_is_mixed),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
