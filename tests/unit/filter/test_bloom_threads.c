/*
 * test_bloom_threads - readers beside a writer, and writers beside each other in their ranges.
 */
#include <pthread.h>

#include "tests/unit/filter/keys.h"

static const enum bloom_layout layouts[] = {BLOOM_ONE_LINE, BLOOM_TWO_LINES,
                                            BLOOM_CLASSIC, BLOOM_PARTITIONED};
enum { LAYOUTS = sizeof(layouts) / sizeof(layouts[0]) };

struct shared {
    struct bloom b;
    _Atomic uint64_t added; /* keys that every reader must find; partner: ask_some */
    _Atomic uint64_t lost;
};

enum { SHARED_KEYS = 20000, LINES = 601 };

static void *ask_some(void *data)
{
    struct shared *s = data;
    for (uint64_t n = 0; n < SHARED_KEYS;) {
        struct digest d[BLOOM_BATCH + 1];
        uint8_t hit[BLOOM_BATCH + 1];
        n = s->added;
        for (uint64_t i = 0; n > 0 && i <= BLOOM_BATCH; i++) {
            d[i] = digest_number(30, i == 0 ? n - 1 : split_mix(n + i) % n);
            s->lost += bloom_test(&s->b, &d[i]) ? 0 : 1;
        }
        if (n > 0) {
            bloom_test_batch(&s->b, d, BLOOM_BATCH + 1, hit);
            for (unsigned i = 0; i <= BLOOM_BATCH; i++) {
                s->lost += hit[i] ? 0 : 1;
            }
        }
    }
    return NULL;
}

static void test_bloom_add__readers_beside_it__every_added_key_is_found(void **state)
{
    (void)state;
    enum { READERS = 2 };
    for (size_t l = 0; l < LAYOUTS; l++) {
        struct shared s = {.b = bloom_make(layouts[l], LINES, 8, &key_one)};
        pthread_t ids[READERS];
        for (unsigned i = 0; i < READERS; i++) {
            assert_int_equal(pthread_create(&ids[i], NULL, ask_some, &s), 0);
        }
        for (uint64_t i = 0; i < SHARED_KEYS; i++) {
            struct digest d[2] = {digest_number(30, i), digest_number(30, i + 1)};
            if (i % 3 == 0 && i + 1 < SHARED_KEYS) {
                bloom_add_batch(&s.b, d, 2);
                i++;
            } else {
                bloom_add(&s.b, d);
            }
            s.added = i + 1;
        }
        for (unsigned i = 0; i < READERS; i++) {
            assert_int_equal(pthread_join(ids[i], NULL), 0);
        }
        assert_int_equal(s.lost, 0);
        free(s.b.words);
    }
}

struct owner {
    struct bloom b; /* the same words for all owners */
    uint64_t first;
    uint64_t end;
};

static void *add_own(void *data)
{
    struct owner *o = data;
    for (uint64_t i = 0; i < SHARED_KEYS; i += 50) {
        struct digest d[50];
        for (uint64_t j = 0; j < 50; j++) {
            d[j] = digest_number(31, i + j);
        }
        bloom_add_range(&o->b, d, 50, o->first, o->end);
    }
    return NULL;
}

static void test_bloom_add_range__two_threads__same_bits_as_one(void **state)
{
    (void)state;
    for (size_t l = 0; l < LAYOUTS; l++) {
        struct bloom both = bloom_make(layouts[l], LINES, 10, &key_one);
        struct bloom one = bloom_make(layouts[l], LINES, 10, &key_one);
        struct owner owners[2] = {{both, 0, LINES / 2}, {both, LINES / 2, LINES}};
        pthread_t ids[2];
        for (unsigned i = 0; i < 2; i++) {
            assert_int_equal(pthread_create(&ids[i], NULL, add_own, &owners[i]), 0);
        }
        for (unsigned i = 0; i < 2; i++) {
            assert_int_equal(pthread_join(ids[i], NULL), 0);
        }
        bloom_fill_keys(&one, 31, SHARED_KEYS);
        assert_memory_equal(one.words, both.words, bloom_bytes(&one));
        free(both.words);
        free(one.words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bloom_add__readers_beside_it__every_added_key_is_found),
        cmocka_unit_test(test_bloom_add_range__two_threads__same_bits_as_one),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
