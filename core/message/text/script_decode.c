/* script_decode - results of unescape, atob and String.fromCharCode. */

#include "core/base/base64.h"
#include "core/base/utf8.h"
#include "core/message/text/ascii.h"
#include "core/message/text/script_inside.h"

enum {
    CODE_REPLACEMENT = 0xfffd,
    ESCAPE_MAX = 6, /* bytes of "%uXXXX" */
    BYTE_DIGITS = 2,
    UNIT_DIGITS = 4,
    DECIMAL = 10,
    HEXADECIMAL = 16,
    BASE64_GROUP = 4,
    BASE64_BITS = 6
};

static int digit_of(char c, unsigned base)
{
    unsigned v = ascii_hex[(unsigned char)c];
    return v < base ? (int)v : -1;
}

/* The number that n hexadecimal digits at p say; -1: they are none. */
static long hex_of(const char *p, size_t n)
{
    long v = 0;
    for (size_t i = 0; i < n; i++) {
        int d = digit_of(p[i], HEXADECIMAL);
        if (d < 0) {
            return -1;
        }
        v = v * HEXADECIMAL + d;
    }
    return v;
}

/* A byte at dst. Our own marks become another control byte; a NUL, as UTF-16 has them in ASCII, is
 * dropped. */
static size_t put_byte(char *dst, unsigned byte)
{
    bool is_mark = byte == SCRIPT_UNKNOWN || byte == SCRIPT_NEXT;
    dst[0] = (char)(unsigned char)(is_mark ? SCRIPT_CONTROL : byte);
    return byte != 0;
}

size_t script_utf8(char *dst, unsigned code)
{
    if (code < 0x80) {
        return put_byte(dst, code);
    }
    return utf8_put(dst, code <= UTF8_CODE_MAX ? code : CODE_REPLACEMENT);
}

size_t script_decode_escapes(char *value, size_t from, size_t to, size_t *rest)
{
    bool is_last = *rest == to;
    size_t n = from;
    size_t i = from;
    while (i < to && (is_last || value[i] != '%' || to - i >= ESCAPE_MAX)) {
        bool is_unit = to - i >= ESCAPE_MAX && (value[i + 1] | 32) == 'u';
        size_t digits = is_unit ? UNIT_DIGITS : BYTE_DIGITS;
        size_t used = is_unit ? ESCAPE_MAX : 1 + BYTE_DIGITS;
        long code = -1;
        if (value[i] == '%' && to - i >= used) {
            code = hex_of(value + i + used - digits, digits);
        }
        if (code < 0) {
            value[n++] = value[i++];
        } else {
            n += is_unit ? script_utf8(value + n, (unsigned)code)
                         : put_byte(value + n, (unsigned)code);
            i += used;
        }
    }
    *rest = i;
    return n;
}

/* The bytes of a group of two to four digits, the last of the text perhaps. */
static size_t put_group(char *dst, unsigned bits, unsigned count)
{
    size_t n = 0;
    bits <<= BASE64_BITS * (BASE64_GROUP - count);
    for (unsigned k = 0; k + 1 < count; k++) {
        n += put_byte(dst + n, bits >> (16 - 8 * k) & 0xff);
    }
    return n;
}

size_t script_decode_base64(char *value, size_t from, size_t to, size_t *rest)
{
    bool is_last = *rest == to;
    size_t n = from;
    size_t whole = from;
    unsigned bits = 0;
    unsigned count = 0;
    for (size_t i = from; i < to; i++) {
        unsigned v = base64_digit(value[i]);
        bool is_unknown = value[i] == SCRIPT_UNKNOWN;
        if (v != BASE64_NONE) {
            bits = bits << BASE64_BITS | v;
            count++;
        }
        if (count == BASE64_GROUP || is_unknown) {
            n += count > 1 ? put_group(value + n, bits, count) : 0;
            bits = count = 0;
            whole = i + 1;
        }
        if (is_unknown) {
            value[n++] = SCRIPT_UNKNOWN;
        }
    }
    if (is_last && count > 1) {
        n += put_group(value + n, bits, count);
    }
    *rest = is_last || count == 0 ? to : whole;
    return n;
}

unsigned script_number(struct slice text)
{
    bool is_hex = text.n > 2 && text.p[0] == '0' && (text.p[1] | 32) == 'x';
    unsigned base = is_hex ? HEXADECIMAL : DECIMAL;
    unsigned v = 0;
    text = slice_from(text, is_hex ? BYTE_DIGITS : 0);
    for (size_t i = 0; i < text.n && v <= SCRIPT_CODE_MAX; i++) {
        int d = digit_of(text.p[i], base);
        v = d < 0 ? SCRIPT_CODE_MAX + 1 : v * base + (unsigned)d;
    }
    return text.n > 0 && v <= SCRIPT_CODE_MAX ? v : SCRIPT_CODE_MAX + 1;
}

size_t script_decode_codes(char *value, size_t from, size_t to, size_t *rest)
{
    bool is_last = *rest == to;
    size_t n = from;
    size_t begin = from;
    for (size_t i = from; i < to + is_last; i++) {
        if (i < to && value[i] != SCRIPT_NEXT) {
            continue;
        }
        unsigned code = script_number(slice_of(value + begin, i - begin));
        if (code > SCRIPT_CODE_MAX && i > begin) {
            value[n++] = SCRIPT_UNKNOWN;
        } else if (code <= SCRIPT_CODE_MAX) {
            n += script_utf8(value + n, code);
        } else {
            /* an empty element */
        }
        begin = i + 1;
    }
    *rest = begin < to ? begin : to;
    return n;
}
