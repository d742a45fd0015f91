/*
 * test_scheme - every bit is reached or the scheme is refused, positions are spread evenly, and
 * equation (1) of the paper holds.
 */
#include <math.h>

#include "core/base/base.h"
#include "core/lab/scheme.h"

#include "tests/unit/unit.h"

static const struct hashkey key_one = {.id = 1, .bytes = "0123456789abcde"};

static uint64_t split_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static struct scheme_params params(enum scheme_kind kind, uint64_t m, unsigned k,
                                   bool is_partitioned)
{
    struct scheme_params p = {
        .kind = kind, .m = m, .k = k, .is_partitioned = is_partitioned};
    return p;
}

/* A scheme whose constants come of a seed, so that a test never differs from run to run. */
static struct scheme scheme_make(struct scheme_params p, uint64_t seed)
{
    struct scheme s;
    struct scheme_constant constants[SCHEME_K_MAX];
    bool is_universal = p.kind == SCHEME_UNIVERSAL || p.kind == SCHEME_UNIVERSAL_PAPER;
    struct errinfo why = {0};
    enum err e = ERR_OK;

    for (unsigned i = 0; i < SCHEME_K_MAX; i++) {
        uint64_t prime = p.kind == SCHEME_UNIVERSAL ? SCHEME_PRIME : SCHEME_PRIME_PAPER;
        constants[i].c = 1 + split_mix(seed * 1000 + 2 * i) % (prime - 1);
        constants[i].d = split_mix(seed * 1000 + 2 * i + 1) % prime;
    }
    e = is_universal ? scheme_init_with(&s, &p, constants, &why)
                     : scheme_init(&s, &p, &key_one, &why);
    if (e != ERR_OK) {
        fail_msg("%s", why.text);
    }
    if (is_universal) {
        s.key = key_one;
    }
    return s;
}

static void positions_of(const struct scheme *s, uint64_t number, uint64_t *ret)
{
    uint64_t bytes = split_mix(number);
    scheme_positions(s, slice_of((const char *)&bytes, sizeof(bytes)), ret);
}

static const enum scheme_kind all_kinds[] = {SCHEME_KEYED, SCHEME_UNIVERSAL,
                                             SCHEME_UNIVERSAL_PAPER, SCHEME_MD5_CHUNKS,
                                             SCHEME_SHA1_CHUNKS};
enum { KINDS = sizeof(all_kinds) / sizeof(all_kinds[0]) };

static void test_scheme_utilisable__papers_numbers__exact(void **state)
{
    (void)state;
    static const struct {
        struct scheme_params p;
        uint64_t want;
    } rows[] = {
        /* Fig. 1: k = 8 reaches 2^16 with MD5 and 2^20 with SHA-1, however large m is */
        {{SCHEME_MD5_CHUNKS, UINT64_C(1) << 30, 8, false}, 1 << 16},
        {{SCHEME_SHA1_CHUNKS, UINT64_C(1) << 30, 8, false}, 1 << 20},
        {{SCHEME_MD5_CHUNKS, 1 << 12, 8, false}, 1 << 12},
        {{SCHEME_MD5_CHUNKS, UINT64_C(1) << 40, 4, false}, UINT64_C(1) << 32},
        {{SCHEME_SHA1_CHUNKS, UINT64_C(1) << 50, 4, false}, UINT64_C(1) << 40},
        {{SCHEME_MD5_CHUNKS, UINT64_C(1) << 60, 2, false}, UINT64_C(1) << 60},
        {{SCHEME_MD5_CHUNKS, 17253105079, 10, false}, 1 << 12},
        {{SCHEME_MD5_CHUNKS, 1000, 64, false}, 4},
        /* Fig. 2: parts raise it k times */
        {{SCHEME_MD5_CHUNKS, UINT64_C(1) << 30, 8, true}, 8 << 16},
        {{SCHEME_SHA1_CHUNKS, UINT64_C(1) << 30, 8, true}, 8 << 20},
        {{SCHEME_MD5_CHUNKS, 8 << 16, 8, true}, 8 << 16},
        {{SCHEME_MD5_CHUNKS, 8 << 12, 8, true}, 8 << 12},
        {{SCHEME_KEYED, 103, 10, true}, 100},
        /* trap: the prime of the paper bounds what is reached too */
        {{SCHEME_UNIVERSAL_PAPER, 17253105079, 10, false}, 2100000011},
        {{SCHEME_UNIVERSAL_PAPER, 640000, 8, false}, 640000},
        {{SCHEME_UNIVERSAL, UINT64_C(1) << 60, 10, false}, UINT64_C(1) << 60},
        {{SCHEME_KEYED, UINT64_C(1) << 60, 10, false}, UINT64_C(1) << 60},
        /* impossible */
        {{SCHEME_KEYED, 0, 10, false}, 0},
        {{SCHEME_KEYED, 10, 0, false}, 0},
        {{SCHEME_KEYED, 10, SCHEME_K_MAX + 1, false}, 0},
        {{SCHEME_KEYED, 9, 10, true}, 0},
        {{SCHEME_KEYED, (UINT64_C(1) << 60) + 1, 1, false}, 0},
        {{(enum scheme_kind)0, 10, 1, false}, 0},
        {{(enum scheme_kind)99, 10, 1, false}, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(scheme_utilisable(&rows[i].p), rows[i].want);
    }
}

static void test_scheme_check__bits_out_of_reach__refused_with_both_numbers(
    void **state)
{
    (void)state;
    struct errinfo why = {0};
    struct scheme s;
    struct scheme_params p = params(SCHEME_UNIVERSAL_PAPER, 17253105079, 10, false);
    assert_int_equal(scheme_init(&s, &p, &key_one, &why), ERR_UNSUPPORTED);
    assert_non_null(strstr(why.text, "2100000011"));
    assert_non_null(strstr(why.text, "17253105079"));
    p = params(SCHEME_MD5_CHUNKS, 65537, 8, false);
    assert_int_equal(scheme_init(&s, &p, &key_one, &why), ERR_UNSUPPORTED);
    assert_non_null(strstr(why.text, "65536 of 65537"));
    p.m = 65536;
    assert_int_equal(scheme_init(&s, &p, &key_one, &why), ERR_OK);
    p = params(SCHEME_KEYED, 103, 10, true);
    assert_int_equal(scheme_check(&p, &why), ERR_UNSUPPORTED);
    assert_non_null(strstr(why.text, "100 of 103"));
    assert_int_equal(scheme_check(&p, NULL), ERR_UNSUPPORTED);
    p = params(SCHEME_KEYED, 0, 1, false);
    assert_int_equal(scheme_check(&p, &why), ERR_RANGE);
    p = params(SCHEME_KEYED, 1, 0, false);
    assert_int_equal(scheme_check(&p, &why), ERR_RANGE);
    p = params(SCHEME_KEYED, 5, 9, true);
    assert_int_equal(scheme_check(&p, &why), ERR_RANGE);
    p = params((enum scheme_kind)77, 5, 9, true);
    assert_int_equal(scheme_check(&p, &why), ERR_RANGE);
}

static void test_scheme_positions__small_m__every_bit_is_reached(void **state)
{
    (void)state;
    static const struct {
        uint64_t m;
        unsigned k;
        bool is_partitioned;
    } rows[] = {{1, 1, false},   {2, 3, false},    {7, 2, false},   {97, 4, false},
                {256, 8, false}, {1000, 5, false}, {8, 8, true},    {96, 4, true},
                {1000, 8, true}, {512, 8, true},   {640, 16, true}, {4093, 6, false}};
    for (size_t kind = 0; kind < KINDS; kind++) {
        for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
            struct scheme s = scheme_make(
                params(all_kinds[kind], rows[r].m, rows[r].k, rows[r].is_partitioned),
                7);
            uint64_t at[SCHEME_K_MAX];
            uint8_t *seen = calloc(rows[r].m, 1);
            uint64_t reached = 0;
            assert_non_null(seen);
            for (uint64_t i = 0; i < 40 * rows[r].m + 100; i++) {
                positions_of(&s, i, at);
                for (unsigned p = 0; p < rows[r].k; p++) {
                    assert_true(at[p] < rows[r].m);
                    assert_true(!rows[r].is_partitioned ||
                                at[p] / (rows[r].m / rows[r].k) == p);
                    reached += seen[at[p]] == 0;
                    seen[at[p]] = 1;
                }
            }
            assert_int_equal(reached, rows[r].m);
            free(seen);
        }
    }
}

/* Sum of (observed - expected)^2 / expected over cells, in standard deviations from its mean:
 * above 5 is no accident. */
static double chi_squared(const uint64_t *count, size_t cells, double expected)
{
    double sum = 0;
    for (size_t i = 0; i < cells; i++) {
        double off = (double)count[i] - expected;
        sum += off * off / expected;
    }
    double freedom = (double)(cells - 1);
    return (sum - freedom) / sqrt(2 * freedom);
}

static void test_scheme_positions__many_keys__evenly_spread(void **state)
{
    (void)state;
    enum { CELLS = 1009, KEYS = 200000, K = 4 };
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct scheme s = scheme_make(params(all_kinds[kind], CELLS, K, false), 11);
        uint64_t count[K][CELLS] = {{0}};
        uint64_t all[CELLS] = {0};
        uint64_t at[SCHEME_K_MAX];
        for (uint64_t i = 0; i < KEYS; i++) {
            positions_of(&s, i, at);
            for (unsigned p = 0; p < K; p++) {
                count[p][at[p]]++;
                all[at[p]]++;
            }
        }
        for (unsigned p = 0; p < K; p++) {
            double off = chi_squared(count[p], CELLS, (double)KEYS / CELLS);
            if (fabs(off) > 5) {
                fail_msg("%s probe %u: %.1f deviations", scheme_name(all_kinds[kind]),
                         p, off);
            }
        }
        assert_true(fabs(chi_squared(all, CELLS, (double)KEYS * K / CELLS)) < 5);
    }
}

static void test_scheme_init__twice__other_constants_in_range(void **state)
{
    (void)state;
    struct scheme_params p = params(SCHEME_UNIVERSAL, 1 << 20, 16, false);
    struct scheme a;
    struct scheme b;
    struct errinfo why = {0};
    assert_int_equal(scheme_init(&a, &p, &key_one, &why), ERR_OK);
    assert_int_equal(scheme_init(&b, &p, &key_one, &why), ERR_OK);
    for (unsigned i = 0; i < p.k; i++) {
        assert_true(a.constants[i].c > 0 && a.constants[i].c < SCHEME_PRIME);
        assert_true(a.constants[i].d < SCHEME_PRIME);
        assert_true(a.constants[i].c != b.constants[i].c);
        assert_true(i == 0 || a.constants[i].c != a.constants[i - 1].c);
    }
}

static void test_scheme_init_with__constants_outside__refused(void **state)
{
    (void)state;
    struct scheme_params p = params(SCHEME_UNIVERSAL_PAPER, 1000, 1, false);
    struct scheme s;
    struct scheme_constant one = {.c = SCHEME_PRIME_PAPER - 1, .d = 0};
    assert_int_equal(scheme_init_with(&s, &p, &one, NULL), ERR_OK);
    one.c = 0;
    assert_int_equal(scheme_init_with(&s, &p, &one, NULL), ERR_RANGE);
    one.c = SCHEME_PRIME_PAPER;
    assert_int_equal(scheme_init_with(&s, &p, &one, NULL), ERR_RANGE);
    one = (struct scheme_constant){.c = 1, .d = SCHEME_PRIME_PAPER};
    assert_int_equal(scheme_init_with(&s, &p, &one, NULL), ERR_RANGE);
    p.kind = SCHEME_KEYED;
    assert_int_equal(scheme_init_with(&s, &p, &one, NULL), ERR_UNSUPPORTED);
}

static void test_scheme_positions__known_values__frozen(void **state)
{
    (void)state;
    uint64_t at[SCHEME_K_MAX];
    /* (3 * 5 + 4) mod p mod 10 = 9, and a product that needs 128 bits */
    struct scheme_params p = params(SCHEME_UNIVERSAL, 10, 2, false);
    static const struct scheme_constant two[] = {{3, 4},
                                                 {SCHEME_PRIME - 1, SCHEME_PRIME - 1}};
    struct scheme s;
    assert_int_equal(scheme_init_with(&s, &p, two, NULL), ERR_OK);
    scheme_positions_of_number(&s, 5, at);
    assert_int_equal(at[0], 9);
    assert_int_equal(at[1], (SCHEME_PRIME - 6) % 10); /* -5 - 1 mod p */
    /* MD5("abc") = 900150983cd24fb0 d6963f7d28e17f72, SHA-1: a9993e36 4706816a ba3e... */
    s = scheme_make(params(SCHEME_MD5_CHUNKS, UINT64_C(1) << 32, 4, false), 0);
    scheme_positions(&s, SLICE_LIT("abc"), at);
    assert_int_equal(at[0], 0x90015098);
    assert_int_equal(at[3], 0x28e17f72);
    s = scheme_make(params(SCHEME_MD5_CHUNKS, 1 << 12, 10, false), 0);
    scheme_positions(&s, SLICE_LIT("abc"), at);
    assert_int_equal(at[0], 0x900);
    assert_int_equal(at[1], 0x150);
    s = scheme_make(params(SCHEME_SHA1_CHUNKS, UINT64_C(1) << 40, 4, false), 0);
    scheme_positions(&s, SLICE_LIT("abc"), at);
    assert_true(at[0] == UINT64_C(0xa9993e3647));
    assert_true(at[1] == UINT64_C(0x06816aba3e));
}

/* Share of hits among keys that were never added. */
static double measured_error(const struct scheme *s, uint64_t keys, uint64_t probes)
{
    uint64_t *words = calloc(s->params.m / 64 + 1, sizeof(*words));
    uint64_t at[SCHEME_K_MAX];
    uint64_t hits = 0;
    assert_non_null(words);
    for (uint64_t i = 0; i < keys; i++) {
        positions_of(s, i, at);
        scheme_add(words, at, s->params.k);
        assert_true(scheme_test(words, at, s->params.k));
    }
    for (uint64_t i = 0; i < keys; i++) {
        positions_of(s, i, at);
        assert_true(scheme_test(words, at, s->params.k));
    }
    for (uint64_t i = keys; i < keys + probes; i++) {
        positions_of(s, i, at);
        hits += scheme_test(words, at, s->params.k);
    }
    free(words);
    return (double)hits / (double)probes;
}

static void test_scheme__every_kind__no_false_negative_and_equation_1(void **state)
{
    (void)state;
    enum { KEYS = 20000, PER_KEY = 10, K = 4, PROBES = 400000 };
    double want = pow(1 - exp(-(double)K / PER_KEY), K);
    for (size_t kind = 0; kind < KINDS; kind++) {
        for (int parts = 0; parts < 2; parts++) {
            struct scheme s =
                scheme_make(params(all_kinds[kind], KEYS * PER_KEY, K, parts == 1), 23);
            double f = measured_error(&s, KEYS, PROBES);
            print_message("%s%s: %.5f %% for %.5f %%\n", scheme_name(all_kinds[kind]),
                          parts == 1 ? " in parts" : "", 100 * f, 100 * want);
            assert_true(fabs(f - want) < 0.05 * want);
        }
    }
}

static void test_scheme_of_name__every_name__round_trip(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        enum scheme_kind kind = (enum scheme_kind)0;
        assert_true(scheme_of_name(scheme_name(all_kinds[i]), &kind));
        assert_int_equal(kind, all_kinds[i]);
    }
    enum scheme_kind kind = SCHEME_KEYED;
    assert_false(scheme_of_name("", &kind));
    assert_false(scheme_of_name("MD5", &kind));
    assert_null(scheme_name((enum scheme_kind)0));
    assert_null(scheme_name((enum scheme_kind)6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scheme_utilisable__papers_numbers__exact),
        cmocka_unit_test(
            test_scheme_check__bits_out_of_reach__refused_with_both_numbers),
        cmocka_unit_test(test_scheme_positions__small_m__every_bit_is_reached),
        cmocka_unit_test(test_scheme_positions__many_keys__evenly_spread),
        cmocka_unit_test(test_scheme_init__twice__other_constants_in_range),
        cmocka_unit_test(test_scheme_init_with__constants_outside__refused),
        cmocka_unit_test(test_scheme_positions__known_values__frozen),
        cmocka_unit_test(test_scheme__every_kind__no_false_negative_and_equation_1),
        cmocka_unit_test(test_scheme_of_name__every_name__round_trip),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
