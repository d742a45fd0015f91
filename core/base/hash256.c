/* hash256 - BLAKE2b-256 of libsodium. */
#include "core/base/hash256.h"

#include <sodium.h>

void hash256_make(const struct slice *parts, size_t n, struct hash256 *ret)
{
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, HASH256_BYTES);
    for (size_t i = 0; i < n; i++) {
        (void)crypto_generichash_update(&state, (const uint8_t *)parts[i].p,
                                        parts[i].n);
    }
    (void)crypto_generichash_final(&state, ret->b, HASH256_BYTES);
}

void hash256_of(struct slice bytes, struct hash256 *ret)
{
    (void)crypto_generichash(ret->b, HASH256_BYTES, (const uint8_t *)bytes.p, bytes.n,
                             NULL, 0);
}

bool hash256_equal(const struct hash256 *a, const struct hash256 *b)
{
    return memcmp(a->b, b->b, HASH256_BYTES) == 0;
}

void hex_print(const uint8_t *bytes, size_t n, char *ret)
{
    static const char digit[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        ret[2 * i] = digit[bytes[i] >> 4];
        ret[2 * i + 1] = digit[bytes[i] & 15];
    }
    ret[2 * n] = '\0';
}

bool hex_parse(struct slice text, uint8_t *ret, size_t n)
{
    if (text.n != 2 * n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        int high = hex_digit_value(text.p[2 * i]);
        int low = hex_digit_value(text.p[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        ret[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool hex_parse_lower(struct slice text, uint8_t *ret, size_t n)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] >= 'A' && text.p[i] <= 'F') {
            return false;
        }
    }
    return hex_parse(text, ret, n);
}
