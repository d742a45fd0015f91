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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256__known_texts__match),
        cmocka_unit_test(test_sha256__not_wanted__leaks_nothing),
        cmocka_unit_test(test_checksum64__known_value__is_frozen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
