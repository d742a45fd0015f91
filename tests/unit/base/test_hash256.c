/*
 * test_hash256 - BLAKE2b-256 as others make it, and hexadecimal digits.
 *
 * The vectors come from an implementation that passes the self-test of RFC 7693, appendix E.
 */
#include "core/base/base.h"
#include "core/base/hash256.h"

#include "tests/unit/unit.h"

static void assert_hash(struct slice bytes, const char *want)
{
    struct hash256 hash;
    char hex[HASH256_HEX + 1];
    hash256_of(bytes, &hash);
    hex_print(hash.b, HASH256_BYTES, hex);
    assert_string_equal(hex, want);
}

/* The bytes that appendix E of RFC 7693 hashes. */
static void sequence(uint8_t *ret, size_t n, uint32_t seed)
{
    uint32_t a = UINT32_C(0xDEAD4BAD) * seed;
    uint32_t b = 1;
    for (size_t i = 0; i < n; i++) {
        uint32_t t = a + b;
        a = b;
        b = t;
        ret[i] = (uint8_t)(t >> 24);
    }
}

static void test_of__known_values__are_those(void **state)
{
    (void)state;
    assert_hash(SLICE_NONE,
                "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
    assert_hash(SLICE_LIT("abc"),
                "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

static void test_of__lengths_of_the_rfc__are_those(void **state)
{
    (void)state;
    static const size_t length[] = {0, 3, 128, 129, 255, 1024};
    enum { N = sizeof(length) / sizeof(length[0]) };
    uint8_t bytes[1024];
    struct hash256 all[N];
    for (size_t i = 0; i < N; i++) {
        sequence(bytes, length[i], (uint32_t)length[i]);
        hash256_of(slice_of((const char *)bytes, length[i]), &all[i]);
    }
    assert_hash(slice_of((const char *)all, sizeof(all)),
                "4f115497d72f1ccb3d237329babe50880012733139e76a227f62b1ee64cd03e4");
}

static void test_make__cut_anywhere__is_the_same(void **state)
{
    (void)state;
    uint8_t bytes[300];
    struct hash256 whole;
    sequence(bytes, sizeof(bytes), 7);
    struct slice all = slice_of((const char *)bytes, sizeof(bytes));
    hash256_of(all, &whole);
    for (size_t i = 0; i <= sizeof(bytes); i++) {
        struct hash256 parts;
        const struct slice part[] = {slice_head(all, i), SLICE_NONE,
                                     slice_from(all, i)};
        hash256_make(part, 3, &parts);
        assert_true(hash256_equal(&parts, &whole));
    }
    whole.b[HASH256_BYTES - 1] ^= 1;
    struct hash256 again;
    hash256_of(all, &again);
    assert_false(hash256_equal(&again, &whole));
}

static void test_four__each_length_and_way__is_the_same(void **state)
{
    (void)state;
    for (int way = HASH256_ONE_BY_ONE; way <= HASH256_AVX512; way++) {
        for (size_t n = 0; n <= HASH256_SHORT; n++) {
            struct hash256_message p[HASH256_LANES] = {{{0}}};
            struct hash256 got[HASH256_LANES];
            struct hash256 want;
            for (uint32_t k = 0; k < HASH256_LANES; k++) {
                sequence(p[k].b, n, 4 * (uint32_t)n + k + 1);
            }
            const bool can = hash256_four_in((enum hash256_way)way, p, n, got);
            if (!can) {
                print_message("way %d is not here\n", way);
                break;
            }
            for (size_t k = 0; k < HASH256_LANES; k++) {
                hash256_of(slice_of((const char *)p[k].b, n), &want);
                assert_true(hash256_equal(&got[k], &want));
            }
            hash256_four(p, n, got);
            assert_true(hash256_equal(&got[HASH256_LANES - 1], &want));
        }
    }
}

static void test_hex__digits_of_both_cases__are_bytes(void **state)
{
    (void)state;
    uint8_t bytes[4] = {0};
    char text[9];
    assert_true(hex_parse(SLICE_LIT("00fFa09C"), bytes, sizeof(bytes)));
    hex_print(bytes, sizeof(bytes), text);
    assert_string_equal(text, "00ffa09c");
    static const char *const bad[] = {"",         "00ffa09",  "00ffa09c0",
                                      "00ffa09g", "0x00ffa0", "00ffa09G",
                                      " 0ffa09c", "00ffa0-1", "00ffa09:"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(hex_parse(slice_str(bad[i]), bytes, sizeof(bytes)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of__known_values__are_those),
        cmocka_unit_test(test_of__lengths_of_the_rfc__are_those),
        cmocka_unit_test(test_make__cut_anywhere__is_the_same),
        cmocka_unit_test(test_four__each_length_and_way__is_the_same),
        cmocka_unit_test(test_hex__digits_of_both_cases__are_bytes),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
