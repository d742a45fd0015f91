/*
 * test_counting_shared - 64 threads on one hot key and many others: exact, never below the truth.
 */
#include <pthread.h>

#include "core/lab/counting_shared.h"

#include "tests/unit/lab/counting_make.h"

enum {
    THREADS = 64,
    ROUNDS = 40,
    BATCH = 50,
    OTHERS = 300,
    HOT_EACH = ROUNDS * BATCH / 2
};

struct shared {
    struct counting c;
    struct counting_lock *locks;
};

struct worker {
    struct shared *s;
    uint64_t seed;
    uint64_t truth[OTHERS];
    uint64_t below;      /* reads below what this thread alone had added */
    uint64_t steps_back; /* of the hot key's counts */
};

/* Every second key is the hot one. */
static void *count_some(void *data)
{
    struct worker *w = data;
    uint64_t hot_before = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct digest d[BATCH];
        uint64_t who[BATCH];
        struct counting_read reads[BATCH];
        for (unsigned i = 0; i < BATCH; i++) {
            who[i] = split_mix(w->seed * 1000003 + round * BATCH + i) % OTHERS;
            d[i] = digest_number(i % 2 == 0 ? 7 : 8, i % 2 == 0 ? 0 : who[i]);
        }
        counting_shared_add(&w->s->c, w->s->locks, d, NULL, BATCH, reads);
        for (unsigned i = 0; i < BATCH; i++) {
            if (i % 2 == 0) {
                w->steps_back += reads[i].count <= hot_before && !reads[i].is_saturated;
                hot_before = reads[i].count;
            } else {
                w->truth[who[i]]++;
                w->below += reads[i].count < w->truth[who[i]] && !reads[i].is_saturated;
            }
        }
        counting_shared_get(&w->s->c, w->s->locks, d, BATCH, reads);
        w->below += reads[0].count < hot_before && !reads[0].is_saturated;
    }
    return NULL;
}

static void run_threads(struct shared *s, uint64_t truth[OTHERS])
{
    pthread_t ids[THREADS];
    static struct worker w[THREADS];
    memset(w, 0, sizeof(w));
    for (unsigned i = 0; i < THREADS; i++) {
        w[i].s = s;
        w[i].seed = i + 1;
        assert_int_equal(pthread_create(&ids[i], NULL, count_some, &w[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(ids[i], NULL), 0);
        assert_int_equal(w[i].below, 0);
        assert_int_equal(w[i].steps_back, 0);
        for (unsigned j = 0; j < OTHERS; j++) {
            truth[j] += w[i].truth[j];
        }
    }
}

/* In a filter of this size the hot key's count is exact, so a lost or doubled addition would show.
 * Cells of 16 bits hold it, those of a split filter everything. */
static void test_counting_shared__64_threads_on_one_hot_key__exact(void **state)
{
    (void)state;
    for (unsigned row = 0; row < 8; row++) {
        uint64_t truth[OTHERS] = {0};
        struct counting_shape shape = counting_flat(1 + row % 2, 16, 4, 1 << 15);
        shape.nchunks = row / 2 % 2 ? 16 : 1;
        if (row >= 4) {
            shape.layout = COUNTING_SPLIT;
            shape.cell_bits = 5;
            shape.chunk_slots = 4096;
        }
        struct shared s = {.c = counting_make(&shape, &key_one)};
        s.locks = aligned_alloc(64, shape.nchunks * sizeof(*s.locks));
        assert_non_null(s.locks);
        memset(s.locks, 0, shape.nchunks * sizeof(*s.locks));
        run_threads(&s, truth);
        struct digest hot = digest_number(7, 0);
        assert_int_equal(counting_get(&s.c, &hot).count, THREADS * HOT_EACH);
        for (unsigned i = 0; i < OTHERS; i++) {
            struct digest d = digest_number(8, i);
            assert_true(counting_get(&s.c, &d).count >= truth[i]);
        }
        free(s.locks);
        counting_drop(&s.c);
    }
}

/* Packed cells of 4 to 6 bits share words, and one small filter is full of clashes. */
static void test_counting_shared__small_packed_cells__never_below_the_truth(
    void **state)
{
    (void)state;
    static const unsigned widths[] = {4, 5, 6, 8};
    for (unsigned row = 0; row < 4; row++) {
        uint64_t truth[OTHERS] = {0};
        struct counting_shape shape =
            counting_flat(COUNTING_REFINED, widths[row], 4, 100);
        shape.nchunks = 7;
        struct shared s = {.c = counting_make(&shape, &key_one)};
        s.locks = aligned_alloc(64, shape.nchunks * sizeof(*s.locks));
        assert_non_null(s.locks);
        memset(s.locks, 0, shape.nchunks * sizeof(*s.locks));
        for (unsigned i = 0; i < OTHERS; i++) {
            struct digest d = digest_number(8, i);
            (void)counting_shared_remove(&s.c, s.locks, &d, 1, NULL); /* refused */
        }
        run_threads(&s, truth);
        for (unsigned i = 0; i < OTHERS; i++) {
            struct digest d = digest_number(8, i);
            uint64_t least = truth[i] < s.c.cap ? truth[i] : s.c.cap;
            assert_true(counting_get(&s.c, &d).count >= least);
        }
        free(s.locks);
        counting_drop(&s.c);
    }
}

int main(void)
{
    if (base_init() != ERR_OK) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counting_shared__64_threads_on_one_hot_key__exact),
        cmocka_unit_test(
            test_counting_shared__small_packed_cells__never_below_the_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
