/*
 * test_bloom_threads - readers beside a writer, and writers beside each other in their ranges.
 */
#include <pthread.h>

#include "core/lab/bloom_split.h"

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

/* Two threads that have each half of the keys; each deals its keys, waits for the other, and adds
 * the keys of its own part. */
struct dealer {
    struct bloom b;
    pthread_barrier_t *met;
    struct digest *dealt[2][2]; /* by whom, to whom */
    size_t count[2][2];
};

struct deal {
    struct dealer *all;
    unsigned me;
};

static void *deal_and_add(void *data)
{
    enum { OWN = SHARED_KEYS / 2 };
    struct deal *t = data;
    struct dealer *all = t->all;
    struct digest *own = calloc(OWN, sizeof(*own));
    assert_non_null(own);
    for (uint64_t i = 0; i < OWN; i++) {
        own[i] = digest_number(31, (uint64_t)t->me * OWN + i);
    }
    bloom_split(&all->b, own, OWN, 2, all->dealt[t->me], all->count[t->me]);
    (void)pthread_barrier_wait(all->met);
    struct bloom b = all->b;
    for (unsigned by = 0; by < 2; by++) {
        bloom_add_range(&b, all->dealt[by][t->me], all->count[by][t->me],
                        bloom_part_first(&b, t->me, 2),
                        bloom_part_first(&b, t->me + 1, 2));
    }
    free(own);
    return NULL;
}

static void test_bloom_split__two_threads_with_half_each__same_bits_as_one(void **state)
{
    (void)state;
    for (size_t l = 0; l < LAYOUTS; l++) {
        pthread_barrier_t met;
        struct dealer all = {.b = bloom_make(layouts[l], LINES, 10, &key_one),
                             .met = &met};
        struct bloom one = bloom_make(layouts[l], LINES, 10, &key_one);
        struct deal deals[2] = {{&all, 0}, {&all, 1}};
        pthread_t ids[2];
        (void)pthread_barrier_init(&met, NULL, 2);
        for (unsigned i = 0; i < 4; i++) {
            all.dealt[i / 2][i % 2] = calloc(SHARED_KEYS / 2, sizeof(struct digest));
            assert_non_null(all.dealt[i / 2][i % 2]);
        }
        for (unsigned i = 0; i < 2; i++) {
            assert_int_equal(pthread_create(&ids[i], NULL, deal_and_add, &deals[i]), 0);
        }
        for (unsigned i = 0; i < 2; i++) {
            assert_int_equal(pthread_join(ids[i], NULL), 0);
        }
        bloom_fill_keys(&one, 31, SHARED_KEYS);
        assert_memory_equal(one.words, all.b.words, bloom_bytes(&one));
        for (unsigned i = 0; i < 4; i++) {
            free(all.dealt[i / 2][i % 2]);
        }
        (void)pthread_barrier_destroy(&met);
        free(all.b.words);
        free(one.words);
    }
}

/* Any number of owners: every key reaches the owner of each of its bits. */
static void test_bloom_split__many_parts__same_bits_as_one(void **state)
{
    (void)state;
    enum { KEYS = 500 };
    static struct digest d[KEYS];
    static struct digest room[BLOOM_PARTS_MAX][KEYS];
    struct digest *ret[BLOOM_PARTS_MAX];
    size_t count[BLOOM_PARTS_MAX];
    for (unsigned p = 0; p < BLOOM_PARTS_MAX; p++) {
        ret[p] = room[p];
    }
    for (uint64_t i = 0; i < KEYS; i++) {
        d[i] = digest_number(33, i);
    }
    for (size_t l = 0; l < LAYOUTS; l++) {
        for (unsigned parts = 1; parts <= BLOOM_PARTS_MAX; parts += 9) {
            struct bloom one = bloom_make(layouts[l], 50, 6, &key_one);
            struct bloom dealt = bloom_make(layouts[l], 50, 6, &key_one);
            bloom_add_batch(&one, d, KEYS);
            memset(count, 0, sizeof(count));
            bloom_split(&dealt, d, KEYS / 3, parts, ret, count);
            bloom_split(&dealt, d + KEYS / 3, KEYS - KEYS / 3, parts, ret, count);
            assert_int_equal(bloom_part_first(&one, parts, parts), 50);
            for (unsigned p = 0; p < parts; p++) {
                bloom_add_range(&dealt, ret[p], count[p],
                                bloom_part_first(&one, p, parts),
                                bloom_part_first(&one, p + 1, parts));
            }
            assert_memory_equal(one.words, dealt.words, bloom_bytes(&one));
            free(one.words);
            free(dealt.words);
        }
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
        cmocka_unit_test(
            test_bloom_split__two_threads_with_half_each__same_bits_as_one),
        cmocka_unit_test(test_bloom_split__many_parts__same_bits_as_one),
        cmocka_unit_test(test_bloom_add_range__two_threads__same_bits_as_one),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
