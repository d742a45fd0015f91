/*
 * test_cuckoo - stored keys are always found, a key that does not fit changes nothing, the error is
 * the formula's.
 */
#include "core/base/base.h"
#include "core/lab/cuckoo.h"

#include "tests/unit/unit.h"

static const struct hashkey key_one = {.id = 1, .bytes = "0123456789abcde"};

/* SplitMix64 */
static uint64_t split_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static struct digest digest_number(uint64_t stream, uint64_t n)
{
    uint64_t half[2] = {split_mix(stream * 0x100000000 + n * 2),
                        split_mix(~(stream * 0x100000000 + n * 2 + 1))};
    struct digest d;
    memcpy(d.b, half, sizeof(half));
    return d;
}

static struct cuckoo cuckoo_make(uint64_t nbuckets)
{
    struct cuckoo c = {.nbuckets = nbuckets};
    c.buckets = calloc(nbuckets, CUCKOO_BUCKET_BYTES);
    assert_non_null(c.buckets);
    cuckoo_key(&c, &key_one);
    return c;
}

/* Adds keys of a stream until one finds no room; how many are inside. */
static uint64_t fill(struct cuckoo *c, uint64_t stream, uint64_t at_most)
{
    for (uint64_t i = 0; i < at_most; i++) {
        struct digest d = digest_number(stream, i);
        enum err e = cuckoo_add(c, &d);
        if (e != ERR_OK) {
            assert_int_equal(e, ERR_NOSPACE);
            return i;
        }
    }
    return at_most;
}

static void assert_all_found(const struct cuckoo *c, uint64_t stream, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        struct digest d = digest_number(stream, i);
        assert_true(cuckoo_test(c, &d));
    }
}

static void test_cuckoo_add__until_full__every_key_is_found(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 2, 3, 7, 64, 100, 1000, 4099, 50000};
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        struct cuckoo c = cuckoo_make(sizes[s]);
        uint64_t n = fill(&c, s, sizes[s] * CUCKOO_BUCKET_ENTRIES + 1);
        assert_int_equal(c.entries, n);
        assert_true(n <= sizes[s] * CUCKOO_BUCKET_ENTRIES);
        assert_all_found(&c, s, n);
        print_message("%lu buckets: full at %.4f\n", (unsigned long)sizes[s],
                      cuckoo_load(&c));
        assert_true(sizes[s] < 1000 || cuckoo_load(&c) > 0.95);
        free(c.buckets);
    }
}

static void test_cuckoo_add__no_room__leaves_every_byte(void **state)
{
    (void)state;
    enum { BUCKETS = 300, MORE = 200 };
    struct cuckoo c = cuckoo_make(BUCKETS);
    uint64_t n = fill(&c, 1, 4 * BUCKETS);
    uint64_t *before = malloc(BUCKETS * sizeof(*before));
    unsigned refused = 0;
    assert_non_null(before);
    for (uint64_t i = n; i < n + MORE; i++) {
        struct digest d = digest_number(1, i);
        uint64_t entries = c.entries;
        memcpy(before, c.buckets, BUCKETS * sizeof(*before));
        if (cuckoo_add(&c, &d) == ERR_NOSPACE) {
            refused++;
            assert_int_equal(c.entries, entries);
            assert_memory_equal(c.buckets, before, BUCKETS * sizeof(*before));
        }
    }
    assert_true(refused > MORE / 2);
    assert_all_found(&c, 1, n);
    free(before);
    free(c.buckets);
}

static void test_cuckoo_buckets_for__any_number_of_keys__almost_always_fit(void **state)
{
    (void)state;
    unsigned failed = 0;
    for (uint64_t n = 0; n < 300; n++) {
        for (uint64_t seed = 0; seed < 40; seed++) {
            struct cuckoo c = cuckoo_make(cuckoo_buckets_for(n));
            failed += fill(&c, 1000 + seed, n) < n;
            free(c.buckets);
        }
    }
    print_message("%u of 12000 small fills failed\n", failed);
    assert_true(failed < 12);
    for (uint64_t n = 1000; n <= 1000000; n *= 10) {
        for (uint64_t seed = 0; seed < (n < 1000000 ? 20 : 2); seed++) {
            struct cuckoo c = cuckoo_make(cuckoo_buckets_for(n));
            assert_int_equal(fill(&c, 2000 + seed, n), n);
            free(c.buckets);
        }
    }
    assert_int_equal(cuckoo_buckets_for(UINT64_MAX), 0);
    assert_int_equal(cuckoo_buckets_for(CUCKOO_KEYS_MAX + 1), 0);
    assert_true(cuckoo_buckets_for(CUCKOO_KEYS_MAX) > CUCKOO_KEYS_MAX / 4);
}

/* A model of the contents: how often each key was added and not removed. */
enum { MODEL_KEYS = 600 };
struct model {
    unsigned copies[MODEL_KEYS];
};

static void check_model(const struct cuckoo *c, const struct model *m, uint64_t seed,
                        unsigned step)
{
    for (unsigned i = 0; i < MODEL_KEYS; i++) {
        struct digest d = digest_number(seed, i);
        if (m->copies[i] > 0 && !cuckoo_test(c, &d)) {
            fail_msg("seed %lu step %u: key %u is lost", (unsigned long)seed, step, i);
        }
    }
}

static void test_cuckoo__any_adds_and_removes__no_false_negative(void **state)
{
    (void)state;
    enum { SEEDS = 60, STEPS = 6000 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        /* from roomy to far too small: additions are refused all the time in the latter */
        struct cuckoo c = cuckoo_make(20 + seed * 3);
        struct model m = {{0}};
        uint64_t random = seed;
        uint64_t inside = 0;
        for (unsigned step = 0; step < STEPS; step++) {
            random = split_mix(random);
            unsigned i = (unsigned)(random % MODEL_KEYS);
            struct digest d = digest_number(seed, i);
            if ((random >> 32) % 5 < 3) {
                if (cuckoo_add(&c, &d) == ERR_OK) {
                    m.copies[i]++;
                    inside++;
                }
            } else if (m.copies[i] > 0) {
                assert_int_equal(cuckoo_remove(&c, &d), ERR_OK);
                m.copies[i]--;
                inside--;
            }
            assert_int_equal(c.entries, inside);
            if (step % 50 == 0) {
                check_model(&c, &m, seed, step);
            }
        }
        check_model(&c, &m, seed, STEPS);
        for (unsigned i = 0; i < MODEL_KEYS; i++) {
            struct digest d = digest_number(seed, i);
            for (; m.copies[i] > 0; m.copies[i]--) {
                assert_int_equal(cuckoo_remove(&c, &d), ERR_OK);
            }
        }
        assert_int_equal(c.entries, 0);
        for (uint64_t b = 0; b < c.nbuckets; b++) {
            assert_true(c.buckets[b] == 0);
        }
        free(c.buckets);
    }
}

static void test_cuckoo_remove__not_inside__refused_and_nothing_done(void **state)
{
    (void)state;
    struct cuckoo c = cuckoo_make(cuckoo_buckets_for(10000));
    unsigned known = 0;
    enum { TRIES = 3000 };
    assert_int_equal(fill(&c, 1, 10000), 10000);
    for (uint64_t i = 0; i < TRIES; i++) {
        struct digest d = digest_number(2, i);
        bool was_hit = cuckoo_test(&c, &d);
        enum err e = ERR_OK;
        if (was_hit) {
            continue; /* it cannot be known: see the header */
        }
        known++;
        e = cuckoo_remove(&c, &d);
        assert_int_equal(e, ERR_NOT_FOUND);
    }
    assert_true(known > TRIES - 20);
    assert_int_equal(c.entries, 10000);
    assert_all_found(&c, 1, 10000);
    free(c.buckets);
}

static void test_cuckoo_add__one_key_again_and_again__bounded(void **state)
{
    (void)state;
    struct cuckoo c = cuckoo_make(1000);
    struct digest d = digest_number(1, 1);
    struct digest other = digest_number(1, 2);
    unsigned copies = 0;
    assert_int_equal(cuckoo_add(&c, &other), ERR_OK);
    while (cuckoo_add(&c, &d) == ERR_OK) {
        copies++;
        assert_true(copies <= CUCKOO_COPIES_MAX);
    }
    assert_int_equal(copies, CUCKOO_COPIES_MAX);
    assert_int_equal(cuckoo_add(&c, &d), ERR_LIMIT);
    assert_int_equal(c.entries, CUCKOO_COPIES_MAX + 1);
    for (; copies > 0; copies--) {
        assert_true(cuckoo_test(&c, &d));
        assert_int_equal(cuckoo_remove(&c, &d), ERR_OK);
    }
    assert_false(cuckoo_test(&c, &d));
    assert_true(cuckoo_test(&c, &other));
    free(c.buckets);
}

static void test_cuckoo_add__one_bucket_only__four_copies(void **state)
{
    (void)state;
    struct cuckoo c = cuckoo_make(1);
    struct digest d = digest_number(1, 1);
    for (unsigned i = 0; i < CUCKOO_BUCKET_ENTRIES; i++) {
        assert_int_equal(cuckoo_add(&c, &d), ERR_OK);
    }
    assert_int_equal(cuckoo_add(&c, &d), ERR_LIMIT);
    d = digest_number(1, 2);
    assert_int_equal(cuckoo_add(&c, &d), ERR_NOSPACE);
    assert_int_equal(c.entries, CUCKOO_BUCKET_ENTRIES);
    free(c.buckets);
}

static void test_cuckoo_error__measured_on_a_fixed_seed__within_5_percent(void **state)
{
    (void)state;
    enum { KEYS = 200000, PROBES = 30000000 };
    struct cuckoo c = cuckoo_make(cuckoo_buckets_for(KEYS));
    uint64_t hits = 0;
    assert_int_equal(fill(&c, 1, KEYS), KEYS);
    for (uint64_t i = 0; i < PROBES; i++) {
        struct digest d = digest_number(2, i);
        hits += cuckoo_test(&c, &d);
    }
    double measured = (double)hits / PROBES;
    double expected = cuckoo_error(c.nbuckets, c.entries);
    print_message("measured %.6f %%, formula %.6f %%\n", 100 * measured,
                  100 * expected);
    assert_true(measured < 1.05 * expected);
    assert_true(measured > 0.95 * expected);
    assert_true(cuckoo_error(10, 0) <= 0);
    free(c.buckets);
}

static void test_cuckoo_add_batch__until_full__same_as_single(void **state)
{
    (void)state;
    enum { BUCKETS = 100, KEYS = 450 };
    struct cuckoo one = cuckoo_make(BUCKETS);
    struct cuckoo many = cuckoo_make(BUCKETS);
    struct digest d[KEYS];
    size_t added = 0;
    uint64_t singly = fill(&one, 3, KEYS);
    for (uint64_t i = 0; i < KEYS; i++) {
        d[i] = digest_number(3, i);
    }
    assert_int_equal(cuckoo_add_batch(&many, d, 77, &added), ERR_OK);
    assert_int_equal(added, 77);
    assert_int_equal(cuckoo_add_batch(&many, d + 77, KEYS - 77, &added), ERR_NOSPACE);
    assert_int_equal(added + 77, singly);
    assert_int_equal(many.entries, singly);
    assert_memory_equal(one.buckets, many.buckets, BUCKETS * CUCKOO_BUCKET_BYTES);
    assert_int_equal(cuckoo_add_batch(&many, d, 0, &added), ERR_OK);
    assert_int_equal(added, 0);
    free(one.buckets);
    free(many.buckets);
}

static void test_cuckoo_test_batch__mixed_keys__same_as_single(void **state)
{
    (void)state;
    struct cuckoo c = cuckoo_make(40);
    struct digest d[3 * CUCKOO_BATCH + 5];
    enum { COUNT = sizeof(d) / sizeof(d[0]) };
    uint8_t hit[COUNT + 1];
    for (uint64_t i = 0; i < COUNT; i++) {
        d[i] = digest_number(5, i);
        if (i % 3 == 0) {
            assert_int_equal(cuckoo_add(&c, &d[i]), ERR_OK);
        }
    }
    for (size_t n = 0; n <= COUNT; n++) {
        memset(hit, 7, sizeof(hit));
        cuckoo_test_batch(&c, d, n, hit);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(hit[i], cuckoo_test(&c, &d[i]) ? 1 : 0);
            assert_true(hit[i] == 1 || i % 3 != 0);
        }
        assert_int_equal(hit[n], 7);
    }
    free(c.buckets);
}

static void test_cuckoo_key__another_key__other_places(void **state)
{
    (void)state;
    static const struct hashkey key_two = {.id = 2, .bytes = "0123456789abcdf"};
    struct cuckoo c = cuckoo_make(1000);
    unsigned found = 0;
    assert_int_equal(fill(&c, 1, 3000), 3000);
    cuckoo_key(&c, &key_two);
    for (uint64_t i = 0; i < 3000; i++) {
        struct digest d = digest_number(1, i);
        found += cuckoo_test(&c, &d);
    }
    assert_true(found < 10);
    free(c.buckets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuckoo_add__until_full__every_key_is_found),
        cmocka_unit_test(test_cuckoo_add__no_room__leaves_every_byte),
        cmocka_unit_test(
            test_cuckoo_buckets_for__any_number_of_keys__almost_always_fit),
        cmocka_unit_test(test_cuckoo__any_adds_and_removes__no_false_negative),
        cmocka_unit_test(test_cuckoo_remove__not_inside__refused_and_nothing_done),
        cmocka_unit_test(test_cuckoo_add__one_key_again_and_again__bounded),
        cmocka_unit_test(test_cuckoo_add__one_bucket_only__four_copies),
        cmocka_unit_test(test_cuckoo_error__measured_on_a_fixed_seed__within_5_percent),
        cmocka_unit_test(test_cuckoo_add_batch__until_full__same_as_single),
        cmocka_unit_test(test_cuckoo_test_batch__mixed_keys__same_as_single),
        cmocka_unit_test(test_cuckoo_key__another_key__other_places),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
