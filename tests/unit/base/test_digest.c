/*
 * test_digest - the digest is frozen: these vectors may never change (ADR 0006).
 *
 * They were computed by a program written from the paper, which also gives the published
 * SipHash-2-4-128 vector for the empty message.
 */
#include <sodium.h>
#include <stdio.h>

#include "core/base/base.h"
#include "core/base/digest.h"

#include "tests/unit/unit.h"

static const struct hashkey key = {
    .bytes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};

static void assert_digest(uint16_t type, struct slice value, const char *want)
{
    struct digest d;
    char hex[2 * DIGEST_BYTES + 1];
    digest_make(&key, type, value, &d);
    sodium_bin2hex(hex, sizeof(hex), d.b, DIGEST_BYTES);
    assert_string_equal(hex, want);
}

static void test_make__vectors__are_frozen(void **state)
{
    (void)state;
    static const struct {
        uint16_t type;
        struct slice value;
        const char *want;
    } rows[] = {
        {8, {"", 0}, "2dec2daa4512b7ec8a4dd36a971368e9"},
        {14, {"user@example.com", 16}, "2173dbea91c6b9a8c4d4fa9239398155"},
        {20, {"http://example.com/a?b=c", 24}, "df393308469d85553dd8958e0e154d4e"},
        {0xfffe, {"\0\xff\n", 3}, "ce7c6e1876765a084568e2c9a2ddb962"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_digest(rows[i].type, rows[i].value, rows[i].want);
    }
    char text[5000];
    memset(text, 'x', sizeof(text));
    assert_digest(1, slice_of(text, 1024), "b95b4cb6c2bbf93e1c4f50e35db363dc");
    assert_digest(1, slice_of(text, 1025), "6e8b37b935c470832bfc84a1ebc1901e");
    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = (char)(unsigned char)(i & 255);
    }
    assert_digest(300, slice_of(text, sizeof(text)),
                  "6fc375f8b9328cdac1894ae5fd9f1205");
}

static void test_make__long_values__equal_libsodium(void **state)
{
    (void)state;
    unsigned char text[3 + 3000];
    randombytes_buf(text, sizeof(text));
    text[2] = 0;
    uint16_t type = (uint16_t)(text[0] | text[1] << 8);
    for (size_t n = 0; n <= 3000; n++) {
        struct digest d;
        unsigned char want[DIGEST_BYTES];
        digest_make(&key, type, slice_of((const char *)text + 3, n), &d);
        crypto_shorthash_siphashx24(want, text, n + 3, key.bytes);
        assert_memory_equal(d.b, want, DIGEST_BYTES);
    }
}

static void test_make__type_value_and_key__each_matter(void **state)
{
    (void)state;
    struct digest a;
    struct digest b;
    struct hashkey other = key;
    other.bytes[15] ^= 1;
    digest_make(&key, 1, SLICE_LIT("v"), &a);
    digest_make(&key, 2, SLICE_LIT("v"), &b);
    assert_int_not_equal(digest_cmp(&a, &b), 0);
    digest_make(&key, 1, SLICE_LIT("w"), &b);
    assert_int_not_equal(digest_cmp(&a, &b), 0);
    digest_make(&other, 1, SLICE_LIT("v"), &b);
    assert_int_not_equal(digest_cmp(&a, &b), 0);
    digest_make(&key, 1, SLICE_LIT("v"), &b);
    assert_int_equal(digest_cmp(&a, &b), 0);
}

static void test_cmp__order__is_unsigned_bytes(void **state)
{
    (void)state;
    struct digest a = {{0x7f}};
    struct digest b = {{0x80}};
    assert_true(digest_cmp(&a, &b) < 0);
    assert_true(digest_cmp(&b, &a) > 0);
}

static void test_cmp__each_byte__is_in_its_place(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DIGEST_BYTES; i++) {
        struct digest a = {{0}};
        struct digest b = {{0}};
        a.b[i] = 0x80;
        b.b[i] = 0x7f;
        for (unsigned k = i + 1; k < DIGEST_BYTES; k++) {
            b.b[k] = 0xff; /* what follows does not matter */
        }
        assert_true(digest_cmp(&a, &b) > 0);
        assert_true(digest_cmp(&b, &a) < 0);
    }
}

static void test_hash_local__two_draws_of_the_key__differ(void **state)
{
    (void)state;
    struct slice s = SLICE_LIT("value");
    uint64_t first = hash_local(s);
    assert_true(first == hash_local(s));
    assert_true(first != hash_local(SLICE_LIT("valuf")));
    hash_local_init();
    assert_true(first != hash_local(s));
    (void)hash_local(SLICE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_make__vectors__are_frozen),
        cmocka_unit_test(test_make__long_values__equal_libsodium),
        cmocka_unit_test(test_make__type_value_and_key__each_matter),
        cmocka_unit_test(test_cmp__order__is_unsigned_bytes),
        cmocka_unit_test(test_cmp__each_byte__is_in_its_place),
        cmocka_unit_test(test_hash_local__two_draws_of_the_key__differ),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
