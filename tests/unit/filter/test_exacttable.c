/*
 * test_exacttable - every stored value is found, also with a flipped bit and beside a writer.
 */
#include <pthread.h>

#include "core/base/base.h"
#include "core/filter/exacttable.h"

#include "tests/unit/unit.h"

enum { CAPACITY = 64 };

static struct digest digest_number(uint64_t n)
{
    uint64_t half[2] = {n * 0x9e3779b97f4a7c15, ~n};
    struct digest d;
    memcpy(d.b, half, sizeof(half));
    return d;
}

static struct exact_value value_number(uint64_t n)
{
    return (struct exact_value){{n, n * 3, ~n}};
}

static struct exact_table table_make(uint64_t capacity)
{
    struct exact_table t = {.capacity = capacity};
    t.words = calloc(capacity, EXACT_SLOT_BYTES);
    assert_non_null(t.words);
    return t;
}

static void test_exact_put__up_to_full__all_found_then_nospace(void **state)
{
    (void)state;
    struct exact_table t = table_make(CAPACITY);
    struct exact_value v;
    bool is_new = false;
    for (uint64_t i = 0; i < CAPACITY; i++) {
        struct digest d = digest_number(i);
        assert_int_equal(exact_get(&t, &d, &v), ERR_NOT_FOUND);
        v = value_number(i);
        assert_int_equal(exact_put(&t, &d, &v, &is_new), ERR_OK);
        assert_true(is_new);
        v = value_number(i + 1000);
        assert_int_equal(exact_put(&t, &d, &v, &is_new), ERR_OK);
        assert_false(is_new);
    }
    struct digest more = digest_number(CAPACITY);
    v = value_number(0);
    assert_int_equal(exact_put(&t, &more, &v, &is_new), ERR_NOSPACE);
    assert_int_equal(exact_get(&t, &more, &v), ERR_NOT_FOUND);
    for (uint64_t i = 0; i < CAPACITY; i++) {
        struct digest d = digest_number(i);
        struct exact_value want = value_number(i + 1000);
        assert_int_equal(exact_get(&t, &d, &v), ERR_OK);
        assert_memory_equal(&v, &want, sizeof(v));
    }
    free(t.words);
}

/* A table that holds one entry; the words of its slot. */
static uint64_t *table_with(struct exact_table *t, const struct digest *d,
                            const struct exact_value *v)
{
    struct exact_value got;
    struct digest at;
    bool is_new = false;
    uint64_t slot = 0;
    *t = table_make(CAPACITY);
    assert_int_equal(exact_put(t, d, v, &is_new), ERR_OK);
    assert_true(is_new);
    while (exact_at(t, slot, &at, &got) == ERR_NOT_FOUND) {
        slot++;
    }
    return t->words + slot * EXACT_SLOT_WORDS;
}

static void test_exact_get__any_bit_of_a_slot_flipped__never_a_wrong_value(void **state)
{
    (void)state;
    struct exact_table t;
    struct digest d = digest_number(7);
    struct exact_value v = value_number(7);
    struct exact_value got;
    uint64_t *words = table_with(&t, &d, &v);
    for (size_t bit = 0; bit < (size_t)EXACT_SLOT_BYTES * 8; bit++) {
        uint64_t *word = &words[bit / 64];
        uint64_t slot = (uint64_t)(words - t.words) / EXACT_SLOT_WORDS;
        struct digest at;
        *word ^= (uint64_t)1 << (bit % 64);
        assert_int_equal(exact_at(&t, slot, &at, &got), ERR_CORRUPT);
        assert_int_not_equal(exact_get(&t, &d, &got), ERR_OK);
        *word ^= (uint64_t)1 << (bit % 64);
        assert_int_equal(exact_get(&t, &d, &got), ERR_OK);
    }
    free(t.words);
}

static void test_exact_get__writer_died_in_a_replacement__corrupt_until_put_again(
    void **state)
{
    (void)state;
    struct exact_table t;
    struct digest d = digest_number(7);
    struct exact_value v = value_number(7);
    struct exact_value got;
    uint64_t *words = table_with(&t, &d, &v);
    bool is_new = true;
    words[EXACT_SLOT_WORDS - 1] = 1; /* being written */
    assert_int_equal(exact_get(&t, &d, &got), ERR_CORRUPT);
    assert_int_equal(exact_put(&t, &d, &v, &is_new), ERR_OK);
    assert_false(is_new);
    assert_int_equal(exact_get(&t, &d, &got), ERR_OK);
    assert_memory_equal(&got, &v, sizeof(v));
    free(t.words);
}

struct race {
    struct exact_table t;
    int stop;
    unsigned bad;
};

static void *read_until_stopped(void *context)
{
    struct race *r = context;
    uint64_t last[CAPACITY / 2] = {0};
    unsigned bad = 0;
    while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
        for (uint64_t i = 0; i < CAPACITY / 2; i++) {
            struct digest d = digest_number(i);
            struct exact_value v = {0};
            enum err e = exact_get(&r->t, &d, &v);
            if (e == ERR_NOT_FOUND && last[i] == 0) {
                continue;
            }
            struct exact_value want = value_number(v.word[0]);
            bad +=
                e != ERR_OK || memcmp(&v, &want, sizeof(v)) != 0 || v.word[0] < last[i];
            last[i] = v.word[0];
        }
    }
    __atomic_fetch_add(&r->bad, bad, __ATOMIC_RELAXED);
    return NULL;
}

static void test_exact_get__beside_a_writer__whole_values_that_never_go_back(
    void **state)
{
    (void)state;
    struct race r = {.t = table_make(CAPACITY)};
    pthread_t reader[2];
    bool is_new = false;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&reader[i], NULL, read_until_stopped, &r), 0);
    }
    for (uint64_t round = 1; round < 20000; round++) {
        struct digest d = digest_number(round % (CAPACITY / 2));
        struct exact_value v = value_number(round);
        assert_int_equal(exact_put(&r.t, &d, &v, &is_new), ERR_OK);
    }
    __atomic_store_n(&r.stop, 1, __ATOMIC_RELEASE);
    for (size_t i = 0; i < 2; i++) {
        pthread_join(reader[i], NULL);
    }
    assert_int_equal(r.bad, 0);
    free(r.t.words);
}

/* As in a page of a file that was cut (core/base/sigbus.h). */
static void test_exact_get__slots_are_lost__nothing_is_denied(void **state)
{
    (void)state;
    struct exact_table t = table_make(CAPACITY);
    struct digest d = digest_number(1);
    struct exact_value v = value_number(1);
    bool is_new = false;
    memset((void *)t.words, 0xff, CAPACITY * EXACT_SLOT_BYTES);
    assert_int_equal(exact_get(&t, &d, &v), ERR_CORRUPT);
    assert_int_equal(exact_put(&t, &d, &v, &is_new), ERR_CORRUPT);
    free(t.words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_put__up_to_full__all_found_then_nospace),
        cmocka_unit_test(
            test_exact_get__any_bit_of_a_slot_flipped__never_a_wrong_value),
        cmocka_unit_test(
            test_exact_get__writer_died_in_a_replacement__corrupt_until_put_again),
        cmocka_unit_test(
            test_exact_get__beside_a_writer__whole_values_that_never_go_back),
        cmocka_unit_test(test_exact_get__slots_are_lost__nothing_is_denied),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
