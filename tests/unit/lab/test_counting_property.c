/*
 * test_counting_property - random keys, orders and amounts beside exact counts: never below the
 * truth, refined at most intuitive, merges linear, the split layout the same as wide cells.
 */
#include "tests/unit/lab/counting_make.h"

enum { KEYS = 600, STEPS = 6000, SEEDS = 12, MERGED = 3 };

/* splitmix64: the n-th number of a seed; the seed is printed where a test fails. */
struct draws {
    uint64_t seed;
    uint64_t n;
};

static uint64_t draw(struct draws *r, uint64_t below)
{
    return split_mix(r->seed * 0x1000003 + r->n++) % below;
}

static struct counting_shape random_shape(struct draws *r,
                                          enum counting_variant variant)
{
    static const unsigned widths[] = {4, 5, 6, 8, 16};
    struct counting_shape s = counting_flat(variant, widths[draw(r, 5)],
                                            1 + (unsigned)draw(r, COUNTING_K_MAX), 1);
    s.nchunks = 1 + draw(r, 9);
    s.chunk_cells = 1 + draw(r, 4000) / s.nchunks;
    if (draw(r, 2)) {
        s.layout = COUNTING_SPLIT;
        s.chunk_slots = s.chunk_cells * 2 + 8;
    }
    return s;
}

static void fail_at(const struct counting *c, uint64_t seed, const char *what,
                    uint64_t count, uint64_t truth)
{
    fail_msg("seed %lu: %s: %lu, truth %lu (layout %u, variant %u, %u bits, k %u, %lu "
             "chunks of %lu)",
             (unsigned long)seed, what, (unsigned long)count, (unsigned long)truth,
             (unsigned)c->shape.layout, (unsigned)c->shape.variant, c->shape.cell_bits,
             c->shape.k, (unsigned long)c->shape.nchunks,
             (unsigned long)c->shape.chunk_cells);
}

static void assert_bound(const struct counting *c, uint64_t seed,
                         struct counting_read read, uint64_t truth)
{
    if (read.count < truth && !(read.is_saturated && read.count == c->cap)) {
        fail_at(c, seed, "below the truth", read.count, truth);
    }
    if (read.is_saturated != (read.count == c->cap) || read.count > c->cap) {
        fail_at(c, seed, "cap and saturation do not fit", read.count, c->cap);
    }
}

static uint64_t random_amount(struct draws *r)
{
    static const uint64_t below[] = {2, 2, 2, 2, 20, 300, 70000, UINT64_C(1) << 33};
    return draw(r, below[draw(r, 8)]);
}

/* Each key of the truth, in one batch and one by one. */
static void assert_all(const struct counting *c, uint64_t seed, const uint64_t *truth)
{
    struct digest d[KEYS];
    struct counting_read reads[KEYS];
    for (uint64_t i = 0; i < KEYS; i++) {
        d[i] = digest_number(seed, i);
    }
    counting_get_batch(c, d, KEYS, reads);
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t positions[COUNTING_K_MAX];
        assert_bound(c, seed, reads[i], truth[i]);
        counting_positions(c, &d[i], positions);
        assert_int_equal(counting_get(c, &d[i]).count, reads[i].count);
        assert_int_equal(counting_get_at(c, positions).count, reads[i].count);
    }
}

static void test_counting__any_shape_order_and_amount__never_below_the_truth(
    void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS * 4; seed++) {
        struct draws r = {.seed = seed};
        uint64_t truth[KEYS] = {0};
        struct counting_shape s =
            random_shape(&r, seed % 2 ? COUNTING_REFINED : COUNTING_INTUITIVE);
        struct counting c = counting_make(&s, &key_one);
        for (unsigned step = 0; step < STEPS; step++) {
            uint64_t i = draw(&r, KEYS);
            uint64_t amount = random_amount(&r);
            struct digest d = digest_number(seed, i);
            bool may_remove = seed % 2 == 0 && draw(&r, 4) == 0;
            if (may_remove) {
                amount = amount < truth[i] ? amount : truth[i];
                assert_int_equal(counting_remove(&c, &d, amount, NULL), ERR_OK);
                truth[i] -= amount;
            } else {
                truth[i] += amount;
                assert_bound(&c, seed, counting_add(&c, &d, amount), truth[i]);
            }
            assert_bound(&c, seed, counting_get(&c, &d), truth[i]);
        }
        assert_all(&c, seed, truth);
        counting_drop(&c);
    }
}

/* Shapes in pairs, the same additions: returns the sums over all keys. */
static void test_counting__refined_beside_intuitive__between_truth_and_it(void **state)
{
    (void)state;
    uint64_t lower = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct draws r = {.seed = seed};
        uint64_t truth[KEYS] = {0};
        struct counting_shape s = random_shape(&r, COUNTING_REFINED);
        struct counting refined = counting_make(&s, &key_one);
        s.variant = COUNTING_INTUITIVE;
        struct counting intuitive = counting_make(&s, &key_one);
        for (unsigned step = 0; step < STEPS; step++) {
            uint64_t i = draw(&r, KEYS);
            uint64_t amount = random_amount(&r);
            struct digest d = digest_number(seed, i);
            truth[i] += amount;
            (void)counting_add(&refined, &d, amount);
            (void)counting_add(&intuitive, &d, amount);
        }
        for (uint64_t i = 0; i < KEYS; i++) {
            struct digest d = digest_number(seed, i);
            struct counting_read read = counting_get(&refined, &d);
            uint64_t above = counting_get(&intuitive, &d).count;
            assert_bound(&refined, seed, read, truth[i]);
            if (read.count > above) {
                fail_at(&refined, seed, "refined above intuitive", read.count, above);
            }
            lower += read.count < above;
        }
        counting_drop(&refined);
        counting_drop(&intuitive);
    }
    assert_true(lower > SEEDS * KEYS / 10);
}

static void test_counting_add__an_amount_at_once__as_one_by_one(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct draws r = {.seed = seed};
        struct counting_shape s = random_shape(&r, 1 + seed % 2);
        struct counting at_once = counting_make(&s, &key_one);
        struct counting singly = counting_make(&s, &key_one);
        for (unsigned step = 0; step < STEPS / 10; step++) {
            struct digest d = digest_number(seed, draw(&r, KEYS));
            uint64_t amount = draw(&r, 20);
            struct counting_read a = counting_add(&at_once, &d, amount);
            for (uint64_t i = 0; i < amount; i++) {
                (void)counting_add(&singly, &d, 1);
            }
            assert_int_equal(counting_get(&singly, &d).count, a.count);
        }
        for (uint64_t i = 0; i < s.nchunks * s.chunk_cells; i++) {
            assert_int_equal(counting_cell(&at_once, i), counting_cell(&singly, i));
        }
        counting_drop(&at_once);
        counting_drop(&singly);
    }
}

static void test_counting_add_batch__beside_single_additions__the_same(void **state)
{
    (void)state;
    enum { N = 777 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct draws r = {.seed = seed};
        struct counting_shape s = random_shape(&r, 1 + seed % 2);
        struct counting batched = counting_make(&s, &key_one);
        struct counting single = counting_make(&s, &key_one);
        static struct digest d[N];
        static uint64_t amounts[N];
        static struct counting_read reads[N];
        for (uint64_t i = 0; i < N; i++) {
            d[i] = digest_number(seed, draw(&r, 100));
            amounts[i] = draw(&r, 5);
        }
        counting_add_batch(&batched, d, amounts, N, reads);
        for (uint64_t i = 0; i < N; i++) {
            assert_int_equal(counting_add(&single, &d[i], amounts[i]).count,
                             reads[i].count);
        }
        counting_add_batch(&batched, d, NULL, N, NULL);
        for (uint64_t i = 0; i < N; i++) {
            (void)counting_add(&single, &d[i], 1);
        }
        assert_memory_equal(batched.words, single.words, counting_words(&s) * 8);
        counting_drop(&batched);
        counting_drop(&single);
    }
}

/* Parts of the additions to filters of their own, then into one. */
static void test_counting_merge__parts__linear_or_not_above_it(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS * 2; seed++) {
        struct draws r = {.seed = seed};
        bool is_refined = seed % 2 != 0;
        uint64_t truth[KEYS] = {0};
        struct counting_shape s =
            random_shape(&r, is_refined ? COUNTING_REFINED : COUNTING_INTUITIVE);
        struct counting part[MERGED];
        for (unsigned p = 0; p < MERGED; p++) {
            part[p] = counting_make(&s, &key_one);
        }
        s.variant = COUNTING_INTUITIVE;
        struct counting whole = counting_make(&s, &key_one);
        for (unsigned step = 0; step < STEPS / 4; step++) {
            uint64_t i = draw(&r, KEYS);
            uint64_t amount = random_amount(&r);
            struct digest d = digest_number(seed, i);
            truth[i] += amount;
            (void)counting_add(&part[draw(&r, MERGED)], &d, amount);
            (void)counting_add(&whole, &d, amount);
        }
        for (unsigned p = 1; p < MERGED; p++) {
            assert_int_equal(counting_merge(&part[0], &part[p], NULL), ERR_OK);
        }
        assert_all(&part[0], seed, truth);
        for (uint64_t i = 0; i < s.nchunks * s.chunk_cells; i++) {
            uint64_t cell = counting_cell(&part[0], i);
            uint64_t at_most = counting_cell(&whole, i);
            if (is_refined ? cell > at_most : cell != at_most) {
                fail_at(&part[0], seed, "a cell of the sum", cell, at_most);
            }
        }
        for (unsigned p = 0; p < MERGED; p++) {
            counting_drop(&part[p]);
        }
        counting_drop(&whole);
    }
}

/* Flat cells of 32 bits by hand, the rule written out once more. */
static uint64_t add_wide(uint64_t *cells, const uint64_t *at, unsigned k,
                         enum counting_variant variant, uint64_t amount)
{
    uint64_t least = UINT64_MAX;
    for (unsigned j = 0; j < k; j++) {
        least = cells[at[j]] < least ? cells[at[j]] : least;
    }
    for (unsigned j = 0; j < k; j++) {
        bool is_again = false;
        for (unsigned i = 0; i < j; i++) {
            is_again = is_again || at[i] == at[j];
        }
        if (is_again) {
            continue;
        }
        if (variant == COUNTING_INTUITIVE) {
            cells[at[j]] += amount;
        } else if (cells[at[j]] < least + amount) {
            cells[at[j]] = least + amount;
        }
    }
    return least + amount;
}

static void test_counting_split__beside_wide_cells__every_cell_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS * 2; seed++) {
        struct draws r = {.seed = seed};
        struct counting_shape s = random_shape(&r, 1 + seed % 2);
        s.layout = COUNTING_SPLIT;
        s.chunk_slots = s.chunk_cells * 8 / 7 + 2; /* room for every cell */
        struct counting c = counting_make(&s, &key_one);
        uint64_t ncells = s.nchunks * s.chunk_cells;
        uint64_t *wide = calloc(ncells, sizeof(*wide));
        assert_non_null(wide);
        for (unsigned step = 0; step < STEPS; step++) {
            uint64_t at[COUNTING_K_MAX];
            struct digest d = digest_number(seed, draw(&r, KEYS));
            uint64_t amount = random_amount(&r);
            counting_positions(&c, &d, at);
            uint64_t count = add_wide(wide, at, s.k, s.variant, amount);
            assert_int_equal(counting_add(&c, &d, amount).count, count);
            if (s.variant == COUNTING_INTUITIVE && draw(&r, 3) == 0) {
                uint64_t less = draw(&r, count + 1);
                if (counting_remove(&c, &d, less, NULL) == ERR_OK) {
                    (void)add_wide(wide, at, s.k, s.variant, -less); /* modulo 2^64 */
                } else {
                    fail_at(&c, seed, "removal refused", less, count);
                }
            }
        }
        for (uint64_t i = 0; i < ncells; i++) {
            if (counting_cell(&c, i) != wide[i]) {
                fail_at(&c, seed, "a cell differs", counting_cell(&c, i), wide[i]);
            }
        }
        free(wide);
        counting_drop(&c);
    }
}

static void test_counting_split__to_2_31_and_beyond__exact(void **state)
{
    (void)state;
    struct counting_shape s = {.variant = COUNTING_REFINED,
                               .layout = COUNTING_SPLIT,
                               .cell_bits = 5,
                               .k = 4,
                               .nchunks = 4,
                               .chunk_cells = 1 << 12,
                               .chunk_slots = 64};
    struct counting c = counting_make(&s, &key_one);
    struct digest hot = digest_number(1, 1);
    uint64_t truth = 0;
    static const uint64_t to[] = {15,         16,         255,        65536,
                                  INT32_MAX,  1u << 31,   UINT32_MAX, UINT64_C(1) << 32,
                                  1ull << 40, 1ull << 55, 1ull << 56};
    for (size_t i = 0; i < sizeof(to) / sizeof(to[0]); i++) {
        struct counting_read r = counting_add(&c, &hot, to[i] - 1 - truth);
        assert_int_equal(r.count, to[i] - 1);
        assert_int_equal(counting_add(&c, &hot, 1).count,
                         to[i] < c.cap ? to[i] : c.cap);
        truth = to[i];
    }
    assert_int_equal(c.cap, (UINT64_C(1) << 56) - 1); /* 52 high bits and 4 */
    assert_true(counting_get(&c, &hot).is_saturated);
    assert_int_equal(counting_add(&c, &hot, UINT64_MAX).count, c.cap);
    counting_drop(&c);
}

/* More high parts than places: each count is still no less than the truth, or says "saturated". */
static void test_counting_split__tables_full__says_so_and_grows_by_a_copy(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct draws r = {.seed = seed};
        uint64_t truth[KEYS] = {0};
        uint64_t saturated = 0;
        struct counting_shape s = random_shape(&r, 1 + seed % 2);
        s.layout = COUNTING_SPLIT;
        s.cell_bits = 4;
        s.nchunks = 2;
        s.chunk_cells = 4000;
        s.chunk_slots = 1 + draw(&r, 40);
        struct counting c = counting_make(&s, &key_one);
        for (unsigned step = 0; step < STEPS; step++) {
            uint64_t i = draw(&r, KEYS);
            struct digest d = digest_number(seed, i);
            truth[i] += 5;
            assert_bound(&c, seed, counting_add(&c, &d, 5), truth[i]);
        }
        assert_all(&c, seed, truth);
        assert_true(counting_table_load(&c) == 1);
        s.chunk_slots = 10000;
        struct counting larger = counting_make(&s, &key_one);
        assert_int_equal(counting_copy(&larger, &c, NULL), ERR_OK);
        for (uint64_t i = 0; i < s.nchunks * s.chunk_cells; i++) {
            uint64_t cell = counting_cell(&c, i);
            assert_int_equal(counting_cell(&larger, i), cell);
            saturated += cell == c.cap;
        }
        assert_true(saturated > 0);
        if (c.shape.chunk_slots > 2) {
            s.chunk_slots = 1;
            struct counting small = counting_make(&s, &key_one);
            struct errinfo info = {.text = ""};
            assert_int_equal(counting_copy(&small, &c, &info), ERR_RANGE);
            assert_non_null(strstr(info.text, "take more"));
            counting_drop(&small);
        }
        counting_drop(&larger);
        counting_drop(&c);
    }
}

/* Zipf's counts, 200,000 over the rank: memory of cells and of the slots for their high parts,
 * beside 32-bit cells of the same number. */
static void test_counting_split__zipf_counts__less_than_half_of_wide_cells(void **state)
{
    (void)state;
    enum { N = 20000, TOP = 200000, PER_KEY = 16 };
    static const struct {
        unsigned bits;
        double most; /* of 32-bit cells */
    } rows[] = {{4, 1.0}, {5, 0.75}, {6, 0.5}, {8, 0.34}, {16, 0.51}};
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        struct counting_shape s =
            counting_flat(COUNTING_REFINED, rows[row].bits, 6, N * PER_KEY);
        s.layout = COUNTING_SPLIT;
        s.chunk_slots = s.chunk_cells;
        struct counting c = counting_make(&s, &key_one);
        uint64_t wrong = 0;
        for (uint64_t i = 1; i <= N; i++) {
            struct digest d = digest_number(4, i);
            (void)counting_add(&c, &d, TOP / i);
        }
        for (uint64_t i = 1; i <= N; i++) {
            struct digest d = digest_number(4, i);
            struct counting_read r = counting_get(&c, &d);
            assert_false(r.is_saturated);
            assert_true(r.count >= TOP / i);
            wrong += r.count > TOP / i;
        }
        double parts = counting_table_load(&c) * (double)(s.chunk_slots / 8 * 7);
        double bytes = (double)counting_words(&s) * 8 + parts * 8 / 7 * 8;
        double share = bytes / (N * PER_KEY * 4.0);
        print_message("split, %u bits: %.0f high parts, %.0f bytes, %.3f of 32-bit "
                      "cells; %lu of %d counts wrong\n",
                      rows[row].bits, parts, bytes, share, (unsigned long)wrong, N);
        assert_true(share < rows[row].most);
        assert_true(wrong < N / 1000);
        counting_drop(&c);
    }
}

/* A key has its cells in its chunk, and the chunks share the keys evenly. */
static void test_counting_positions__many_keys__in_their_chunk_and_even(void **state)
{
    (void)state;
    enum { N = 20000, CHUNKS = 5, CELLS = 1000, PARTS = 10 };
    struct counting_shape s = counting_flat(COUNTING_REFINED, 8, 6, CELLS);
    s.nchunks = CHUNKS;
    struct counting c = counting_make(&s, &key_one);
    uint64_t seen[CHUNKS * PARTS] = {0};
    for (uint64_t i = 0; i < N; i++) {
        struct digest d = digest_number(3, i);
        uint64_t at[COUNTING_K_MAX];
        counting_positions(&c, &d, at);
        for (unsigned j = 0; j < s.k; j++) {
            assert_int_equal(at[j] / CELLS, counting_chunk(&c, &d));
            seen[at[j] / (CELLS / PARTS)]++;
        }
    }
    double chi = 0;
    const double mean = (double)N * 6 / (CHUNKS * PARTS);
    for (unsigned i = 0; i < CHUNKS * PARTS; i++) {
        chi += ((double)seen[i] - mean) * ((double)seen[i] - mean) / mean;
    }
    print_message("chi^2 of 49 degrees: %.1f\n", chi);
    assert_true(
        chi <
        140); /* keys choose a chunk for 6 positions at once: up to 6 x in 4 degrees */
    counting_drop(&c);
}

int main(void)
{
    if (base_init() != ERR_OK) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_counting__any_shape_order_and_amount__never_below_the_truth),
        cmocka_unit_test(test_counting__refined_beside_intuitive__between_truth_and_it),
        cmocka_unit_test(test_counting_add__an_amount_at_once__as_one_by_one),
        cmocka_unit_test(test_counting_add_batch__beside_single_additions__the_same),
        cmocka_unit_test(test_counting_merge__parts__linear_or_not_above_it),
        cmocka_unit_test(test_counting_split__beside_wide_cells__every_cell_the_same),
        cmocka_unit_test(test_counting_split__to_2_31_and_beyond__exact),
        cmocka_unit_test(test_counting_split__tables_full__says_so_and_grows_by_a_copy),
        cmocka_unit_test(
            test_counting_split__zipf_counts__less_than_half_of_wide_cells),
        cmocka_unit_test(test_counting_positions__many_keys__in_their_chunk_and_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
