/*
 * test_boilerplate - shingles that become common, and evictions from a full table.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "core/message/extract/boilerplate.h"

#include "tests/unit/unit.h"

static void test_learn__different_senders__makes_common(void **state)
{
    struct boilerplate *u = boilerplate_new(1000);
    (void)state;
    for (uint64_t sender = 1; sender < BOILERPLATE_SENDERS; sender++) {
        assert_false(boilerplate_learn(u, 77, sender));
        assert_false(
            boilerplate_learn(u, 77, sender)); /* one sender alone makes nothing */
        assert_false(boilerplate_has(u, 77));
    }
    assert_true(boilerplate_learn(u, 77, BOILERPLATE_SENDERS));
    assert_true(boilerplate_has(u, 77));
    assert_true(boilerplate_learn(u, 77, 1));
    assert_false(boilerplate_has(u, 78));
    boilerplate_free(&u);
    assert_null(u);
    boilerplate_free(&u);
}

static void test_learn__zero__is_nothing(void **state)
{
    struct boilerplate *u = boilerplate_new(1);
    (void)state;
    for (uint64_t sender = 1; sender <= BOILERPLATE_SENDERS + 3; sender++) {
        assert_false(boilerplate_learn(u, 0, sender));
    }
    assert_false(boilerplate_has(u, 0));
    boilerplate_free(&u);
}

/* One bucket: common shingles are never evicted. */
static void test_learn__without_room__rare_ones_give_way(void **state)
{
    struct boilerplate *u = boilerplate_new(1);
    (void)state;
    for (uint64_t sender = 1; sender <= BOILERPLATE_SENDERS; sender++) {
        (void)boilerplate_learn(u, 5, sender);
    }
    for (uint64_t shingle = 100; shingle < 10000; shingle++) {
        (void)boilerplate_learn(u, shingle, shingle);
    }
    assert_true(boilerplate_has(u, 5));
    for (uint64_t shingle = 10; shingle < 10 + BOILERPLATE_WAYS; shingle++) {
        for (uint64_t sender = 1; sender <= BOILERPLATE_SENDERS; sender++) {
            (void)boilerplate_learn(u, shingle, sender);
        }
    }
    assert_true(boilerplate_has(u, 10) && boilerplate_has(u, 11));
    boilerplate_free(&u);
}

/* A campaign has its many senders within hours. */
static void test_message__of_enough_senders__common_when_known_for_days(void **state)
{
    static const uint64_t shingles[] = {5, 6, 0, 7};
    struct boilerplate *u = boilerplate_new(1000);
    uint64_t day = 255; /* modulo 256 the next ones are 0 and 1 */
    (void)state;
    for (uint64_t sender = 1; sender <= 100; sender++) {
        boilerplate_learn_message(u, shingles, 4, sender, day);
    }
    assert_false(boilerplate_has(u, 5));
    boilerplate_learn_message(u, shingles, 4, 1, day + 1);
    assert_false(boilerplate_has(u, 5));
    boilerplate_learn_message(u, shingles, 2, 1, day + BOILERPLATE_DAYS);
    assert_true(boilerplate_has(u, 5) && boilerplate_has(u, 6));
    assert_false(boilerplate_has(u, 7) || boilerplate_has(u, 0));
    boilerplate_learn_message(u, shingles, 4, 1, day + 300);
    assert_true(boilerplate_has(u, 5)); /* stays */
    boilerplate_free(&u);
}

static void test_message__of_one_sender_for_years__is_not_common(void **state)
{
    static const uint64_t shingles[] = {5};
    struct boilerplate *u = boilerplate_new(1000);
    (void)state;
    for (uint64_t day = 0; day < 1000; day++) {
        boilerplate_learn_message(u, shingles, 1, 1 + day % (BOILERPLATE_SENDERS - 1),
                                  day);
    }
    assert_false(boilerplate_has(u, 5));
    boilerplate_free(&u);
}

/* One bucket of rare shingles: the oldest is evicted, so that newer ones can wait for a second
 * sender. */
static void test_message__without_room__the_oldest_rare_one_gives_way(void **state)
{
    struct boilerplate *u = boilerplate_new(1);
    (void)state;
    for (uint64_t shingle = 1; shingle <= BOILERPLATE_WAYS; shingle++) {
        boilerplate_learn_message(u, &shingle, 1, 1, shingle);
    }
    uint64_t newest = 9;
    boilerplate_learn_message(u, &newest, 1, 1, 9); /* in place of 1 */
    for (uint64_t shingle = 1; shingle <= BOILERPLATE_WAYS; shingle++) {
        bool is_there = shingle != 1;
        bool is_common = false;
        if (is_there) {
            (void)boilerplate_learn(u, shingle, 2);
            is_common = boilerplate_learn(u, shingle, 3);
        }
        assert_int_equal(is_common, is_there);
    }
    boilerplate_free(&u);
}

static void test_size__by_messages__within_bounds(void **state)
{
    (void)state;
    assert_int_equal(boilerplate_size(0), 1 << 16);
    assert_int_equal(boilerplate_size(100000), 800000);
    assert_int_equal(boilerplate_size(UINT64_MAX), 1 << 22);
}

/* ---- asking while others learn ---- */

enum { LEARNERS = 4, ASKERS = 4, ROUNDS = 2000, SHINGLES = 64 };

struct crowd {
    struct boilerplate *u;
    _Atomic unsigned learners;
    _Atomic unsigned next;
};

static void *learner(void *context)
{
    struct crowd *c = context;
    uint64_t me = atomic_fetch_add(&c->next, 1) + 1;
    uint64_t shingles[SHINGLES];
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (uint64_t i = 0; i < SHINGLES; i++) { /* half are known to all */
            shingles[i] = (i % 2 ? i : round * SHINGLES + i + me) << 20 | 1;
        }
        boilerplate_learn_message(c->u, shingles, SHINGLES, me, round / 500);
    }
    atomic_fetch_sub(&c->learners, 1);
    return NULL;
}

static void *asker(void *context)
{
    struct crowd *c = context;
    uintptr_t wrong = 0;
    while (atomic_load(&c->learners) > 0) {
        for (uint64_t i = 0; i < SHINGLES; i++) {
            wrong += boilerplate_has(c->u, (1000000 + i) << 20 | 3); /* nobody's */
        }
    }
    return (void *)wrong; /* NOLINT(performance-no-int-to-ptr) */
}

static void test_has__while_others_learn__is_safe(void **state)
{
    pthread_t threads[LEARNERS + ASKERS];
    struct crowd c = {.u = boilerplate_new(1 << 10), .learners = LEARNERS};
    (void)state;
    for (size_t i = 0; i < LEARNERS + ASKERS; i++) {
        assert_int_equal(
            pthread_create(&threads[i], NULL, i < LEARNERS ? learner : asker, &c), 0);
    }
    for (size_t i = 0; i < LEARNERS + ASKERS; i++) {
        void *wrong = NULL;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    for (uint64_t i = 1; i < SHINGLES; i += 2) {
        assert_true(boilerplate_has(c.u, i << 20 | 1));
    }
    boilerplate_free(&c.u);
}

static void test_new__too_many__is_none(void **state)
{
    (void)state;
    assert_null(boilerplate_new((size_t)BOILERPLATE_SHINGLES_MAX + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learn__different_senders__makes_common),
        cmocka_unit_test(test_learn__zero__is_nothing),
        cmocka_unit_test(test_learn__without_room__rare_ones_give_way),
        cmocka_unit_test(test_message__of_enough_senders__common_when_known_for_days),
        cmocka_unit_test(test_message__of_one_sender_for_years__is_not_common),
        cmocka_unit_test(test_message__without_room__the_oldest_rare_one_gives_way),
        cmocka_unit_test(test_size__by_messages__within_bounds),
        cmocka_unit_test(test_has__while_others_learn__is_safe),
        cmocka_unit_test(test_new__too_many__is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
