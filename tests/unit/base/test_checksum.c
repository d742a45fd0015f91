/*
 * test_checksum - published vectors, in one piece and in parts.
 */
#include "core/base/checksum.h"

#include "tests/unit/unit.h"

static void test_sha256__known_texts__match(void **state)
{
    (void)state;
    static const struct {
        struct slice text;
        const char *want;
    } rows[] = {
        {{"", 0}, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {{"abc", 3},
         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sha256 s;
        char hex[SHA256_HEX + 1];
        assert_int_equal(sha256_init(&s), ERR_OK);
        for (size_t k = 0; k < rows[i].text.n; k++) {
            sha256_add(&s, slice_of(rows[i].text.p + k, 1));
        }
        sha256_add(&s, SLICE_NONE);
        sha256_final_hex(&s, hex);
        assert_string_equal(hex, rows[i].want);
        sha256_fini(&s);
        sha256_add(&s, SLICE_LIT("late")); /* ended: no crash, no sum */
        sha256_final_hex(&s, hex);
        assert_string_equal(hex, "");
    }
}

static void test_sha256__not_wanted__leaks_nothing(void **state)
{
    (void)state;
    struct sha256 s;
    assert_int_equal(sha256_init(&s), ERR_OK);
    sha256_add(&s, SLICE_LIT("x"));
    sha256_fini(&s);
    sha256_fini(&s);
}

static void test_checksum64__known_value__is_frozen(void **state)
{
    (void)state;
    /* XXH3-64 of the empty text, seed 0, as published with xxhash */
    assert_true(checksum64(SLICE_NONE) == UINT64_C(0x2d06800538d394c2));
    assert_true(checksum32(SLICE_NONE) == 0x38d394c2);
    assert_true(checksum64(SLICE_LIT("a")) != checksum64(SLICE_LIT("b")));
}

static void test_md5_sum_sha1_sum__known_text__match(void **state)
{
    (void)state;
    static const uint8_t md5[MD5_BYTES] = {0x90, 0x01, 0x50, 0x98, 0x3c, 0xd2,
                                           0x4f, 0xb0, 0xd6, 0x96, 0x3f, 0x7d,
                                           0x28, 0xe1, 0x7f, 0x72};
    static const uint8_t sha1[SHA1_BYTES] = {0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81,
                                             0x6a, 0xba, 0x3e, 0x25, 0x71, 0x78, 0x50,
                                             0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d};
    uint8_t sum[SHA1_BYTES];
    assert_int_equal(md5_sum(SLICE_LIT("abc"), sum), ERR_OK);
    assert_memory_equal(sum, md5, sizeof(md5));
    assert_int_equal(sha1_sum(SLICE_LIT("abc"), sum), ERR_OK);
    assert_memory_equal(sum, sha1, sizeof(sha1));
    assert_int_equal(md5_sum(SLICE_NONE, sum), ERR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256__known_texts__match),
        cmocka_unit_test(test_sha256__not_wanted__leaks_nothing),
        cmocka_unit_test(test_md5_sum_sha1_sum__known_text__match),
        cmocka_unit_test(test_checksum64__known_value__is_frozen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
