#include "core/base/utf8.h"

size_t utf8_decode(const char *p, size_t n, uint32_t *retcode)
{
    static const uint32_t least[UTF8_MAX + 1] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *u = (const unsigned char *)p;
    const unsigned lead = u[0];
    if (lead < 0x80) {
        *retcode = lead;
        return 1;
    }
    const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
    if (length == 0 || length > n) {
        return 0;
    }
    uint32_t code = lead & (0xffU >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((u[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (u[i] & 0x3fU);
    }
    if (lead > 0xf4 || code < least[length] || code > UTF8_CODE_MAX ||
        (code >= 0xd800 && code <= 0xdfff)) {
        return 0;
    }
    *retcode = code;
    return length;
}

size_t utf8_length(const unsigned char *p, size_t n)
{
    uint32_t code = 0;
    return utf8_decode((const char *)p, n, &code);
}

size_t utf8_put(char *dst, uint32_t code)
{
    static const unsigned char lead_marks[UTF8_MAX + 1] = {0, 0, 0xc0, 0xe0, 0xf0};
    const size_t n = 1U + (code >= 0x80) + (code >= 0x800) + (code >= 0x10000);

    for (size_t i = n - 1; i > 0; i--) {
        dst[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    dst[0] = (char)(lead_marks[n] | code);
    return n;
}

struct slice utf8_head(struct slice text, size_t n)
{
    if (text.n <= n) {
        return text;
    }
    while (n > 0 && ((unsigned char)text.p[n] & 0xc0) == 0x80) {
        n--;
    }
    return slice_head(text, n);
}
