/*
 * test_bloom_vector - every kind of instructions gives the answers of the plain code.
 */
#include "core/filter/bloom_vector.h"

#include "tests/unit/filter/keys.h"

static const enum bloom_vector kinds[] = {BLOOM_VECTOR_NEON, BLOOM_VECTOR_AVX2,
                                          BLOOM_VECTOR_AVX512};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), KEYS = 1500 };

/* Plain answers first, then those of each kind, over any length of batch. */
static void assert_alike(const struct bloom *b, const struct digest *d)
{
    static uint8_t plain[KEYS];
    static uint8_t vector[KEYS + 1];
    assert_true(bloom_vector_force(BLOOM_VECTOR_PLAIN));
    bloom_test_batch(b, d, KEYS, plain);
    for (size_t i = 0; i < KEYS; i++) {
        assert_int_equal(plain[i], bloom_test(b, &d[i]) ? 1 : 0);
    }
    for (size_t v = 0; v < KINDS; v++) {
        if (!bloom_vector_force(kinds[v])) {
            continue;
        }
        for (size_t done = 0, n = 0; done < KEYS; done += n++) {
            n = n < KEYS - done ? n : KEYS - done;
            vector[done + n] = 7; /* of what is beyond the batch nothing is written */
            bloom_test_batch(b, d + done, n, vector + done);
            assert_int_equal(vector[done + n], 7);
        }
        assert_memory_equal(plain, vector, KEYS);
        memset(vector, 7, KEYS);
        bloom_test_batch(b, d, KEYS, vector);
        assert_memory_equal(plain, vector, KEYS);
    }
}

static bool is_shape(enum bloom_layout layout, unsigned k)
{
    return bloom_check(layout, 1, k) == ERR_OK;
}

/* One in 2^(dense + 1) bits is not set. */
static void assert_random_alike(enum bloom_layout layout, unsigned k, unsigned dense)
{
    static struct digest d[KEYS];
    uint64_t x = k * 100 + dense;
    struct bloom b = bloom_make(layout, 200, k, &key_one);
    for (size_t i = 0; i < (size_t)200 * 8; i++) {
        for (unsigned j = 0; j <= dense; j++) {
            b.words[i] |= split_mix(x++ + ((uint64_t)layout << 20));
        }
    }
    for (uint64_t i = 0; i < KEYS; i++) {
        d[i] = digest_number(k, i);
    }
    assert_alike(&b, d);
    free(b.words);
}

static void test_bloom_vector__random_bits__same_answers(void **state)
{
    (void)state;
    for (unsigned k = 1; k <= BLOOM_K_MAX; k++) {
        for (enum bloom_layout l = BLOOM_ONE_LINE; l <= BLOOM_TWO_LINES; l++) {
            for (unsigned dense = 0; is_shape(l, k) && dense < 4; dense++) {
                assert_random_alike(l, k, dense);
            }
        }
    }
}

/* A line with all bits but one set: only the keys that ask that bit may be missed. */
static void test_bloom_vector__one_bit_missing__same_answers(void **state)
{
    (void)state;
    static struct digest d[KEYS];
    for (uint64_t i = 0; i < KEYS; i++) {
        d[i] = digest_number(50, i);
    }
    for (unsigned k = 1; k <= BLOOM_K_MAX; k++) {
        for (enum bloom_layout l = BLOOM_ONE_LINE; l <= BLOOM_TWO_LINES; l++) {
            for (unsigned bit = k; is_shape(l, k) && bit < BLOOM_LINE_BITS; bit += 13) {
                struct bloom b = bloom_make(l, 1, k, &key_one);
                memset(b.words, 0xff, BLOOM_LINE_BYTES);
                b.words[bit / 64] &= ~((uint64_t)1 << bit % 64);
                assert_alike(&b, d);
                free(b.words);
            }
        }
    }
}

/* Each kind that is here says so of the one key. */
static void assert_answers(const struct bloom *b, const struct digest *d, bool is_hit)
{
    for (size_t v = 0; v < KINDS; v++) {
        uint8_t hit = 7;
        if (bloom_vector_force(kinds[v])) {
            bloom_test_batch(b, d, 1, &hit);
            assert_int_equal(hit, is_hit ? 1 : 0);
        }
    }
}

static void assert_every_bit_asked(struct bloom *b, const struct digest *d)
{
    for (unsigned bit = 0; bit < b->nlines * BLOOM_LINE_BITS; bit++) {
        uint64_t mask = (uint64_t)1 << bit % 64;
        bool is_set = (b->words[bit / 64] & mask) != 0;
        b->words[bit / 64] &= ~mask;
        assert_answers(b, d, !is_set);
        b->words[bit / 64] |= is_set ? mask : 0;
    }
}

/* A key alone, with each of its bits taken away in turn. */
static void test_bloom_vector__each_bit_of_a_key_cleared__missed_by_all(void **state)
{
    (void)state;
    for (unsigned k = 1; k <= BLOOM_K_MAX; k++) {
        for (enum bloom_layout l = BLOOM_ONE_LINE; l <= BLOOM_TWO_LINES; l++) {
            for (uint64_t key = 0; is_shape(l, k) && key < 40; key++) {
                struct bloom b = bloom_make(l, 2, k, &key_one);
                struct digest d = digest_number(51, key);
                bloom_add(&b, &d);
                assert_every_bit_asked(&b, &d);
                free(b.words);
            }
        }
    }
}

/* Digests whose halves are the mixing constants, zero or all ones: products of zero. */
static void test_bloom_vector__extreme_digests__same_answers(void **state)
{
    (void)state;
    static struct digest d[KEYS];
    for (enum bloom_layout l = BLOOM_ONE_LINE; l <= BLOOM_TWO_LINES; l++) {
        struct bloom b = bloom_make(l, 5, 14, &key_one);
        const uint64_t halves[] = {0, UINT64_MAX, 1, 1ULL << 63, b.mix[0], b.mix[1]};
        enum { HALVES = sizeof(halves) / sizeof(halves[0]) };
        for (size_t i = 0; i < KEYS; i++) {
            uint64_t pair[2] = {halves[i % HALVES], halves[i / HALVES % HALVES]};
            memcpy(d[i].b, pair, sizeof(pair));
        }
        for (size_t i = 0; i < (size_t)5 * 8; i++) {
            b.words[i] = split_mix(i) | split_mix(i + 100);
        }
        assert_alike(&b, d);
        bloom_add_batch(&b, d, KEYS);
        assert_alike(&b, d);
        assert_true(bloom_test(&b, &d[0]));
        free(b.words);
    }
}

/* n keys by this kind, in two ranges, beside one by one. */
static void assert_same_bits(enum bloom_layout layout, unsigned k, uint64_t n)
{
    enum { LINES = 37 };
    struct bloom one = bloom_make(layout, LINES, k, &key_one);
    struct bloom batch = bloom_make(layout, LINES, k, &key_one);
    static struct digest d[KEYS];
    for (uint64_t i = 0; i < n; i++) {
        d[i] = digest_number(52, i);
        bloom_add(&one, &d[i]);
    }
    bloom_add_range(&batch, d, n, 0, LINES / 2);
    bloom_add_range(&batch, d, n, LINES / 2, LINES);
    assert_memory_equal(one.words, batch.words, bloom_bytes(&one));
    free(one.words);
    free(batch.words);
}

static void test_bloom_vector__keys_added__same_bits(void **state)
{
    (void)state;
    for (size_t v = 0; v < KINDS; v++) {
        if (!bloom_vector_force(kinds[v])) {
            continue;
        }
        for (unsigned k = 1; k <= BLOOM_K_MAX; k++) {
            assert_same_bits(BLOOM_ONE_LINE, k, split_mix(k) % KEYS);
            if (is_shape(BLOOM_TWO_LINES, k)) {
                assert_same_bits(BLOOM_TWO_LINES, k, split_mix(k) % KEYS);
            }
        }
    }
}

static void test_bloom_vector_force__what_is_not_here__refused(void **state)
{
    (void)state;
    assert_true(bloom_vector_force(BLOOM_VECTOR_PLAIN));
    assert_string_equal(bloom_lines()->name, "plain");
#if defined(__x86_64__)
    assert_false(bloom_vector_force(BLOOM_VECTOR_NEON));
#else
    assert_false(bloom_vector_force(BLOOM_VECTOR_AVX2));
    assert_false(bloom_vector_force(BLOOM_VECTOR_AVX512));
#endif
    assert_string_equal(bloom_lines()->name, "plain"); /* as it was */
    for (size_t v = 0; v < KINDS; v++) {
        if (bloom_vector_force(kinds[v])) {
            print_message("tested: %s\n", bloom_lines()->name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bloom_vector__random_bits__same_answers),
        cmocka_unit_test(test_bloom_vector__one_bit_missing__same_answers),
        cmocka_unit_test(test_bloom_vector__each_bit_of_a_key_cleared__missed_by_all),
        cmocka_unit_test(test_bloom_vector__extreme_digests__same_answers),
        cmocka_unit_test(test_bloom_vector__keys_added__same_bits),
        cmocka_unit_test(test_bloom_vector_force__what_is_not_here__refused),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
