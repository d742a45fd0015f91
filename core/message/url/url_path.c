/* url_path - decoding, dot segments and escaping, each in one pass. */
#include "core/message/url/url_path.h"

#include "core/message/text/ascii.h"

/* If dst ends in a percent escape, its value replaces it; true when it did. */
static bool fold_escape(char *dst, size_t *n)
{
    if (*n < 3 || dst[*n - 3] != '%' || !ASCII_IS(dst[*n - 2], ASCII_HEX) ||
        !ASCII_IS(dst[*n - 1], ASCII_HEX)) {
        return false;
    }
    dst[*n - 3] = (char)(unsigned char)((ascii_hex[(unsigned char)dst[*n - 2]] << 4) |
                                        ascii_hex[(unsigned char)dst[*n - 1]]);
    *n -= 2;
    return true;
}

/* In one pass: escapes cannot overlap, so folding each as soon as its last byte is written gives
 * what repeated passes would. */
size_t url_decode_fully(struct slice text, char backslash, char *dst)
{
    size_t n = 0;
    size_t i = 0;

    for (i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (c == '\\') {
            c = backslash;
        }
        dst[n++] = c;
        while (fold_escape(dst, &n)) {
        }
    }
    return n;
}

size_t url_resolve_dots(char *p, size_t n)
{
    size_t out = 0;
    size_t i = 1;

    while (i <= n) {
        struct slice segment = slice_of(p + i, n - i);
        bool up = false;
        bool nothing = false;

        segment = slice_head(segment, slice_find(segment, '/'));
        up = slice_eq(segment, SLICE_LIT(".."));
        nothing = segment.n == 0 || slice_eq(segment, SLICE_LIT("."));
        i += segment.n + 1;
        if (!up && !nothing) {
            memmove(p + out + 1, segment.p, segment.n);
            p[out] = '/';
            out += segment.n + 1;
            continue;
        }
        if (up) {
            while (out > 0 && p[--out] != '/') {
            }
        }
        if (i > n) {
            p[out++] = '/'; /* a path that ends so names a folder */
        }
    }
    return out;
}

static bool must_escape(char c)
{
    return (unsigned char)c <= 0x20 || (unsigned char)c >= 0x7f || c == '#' || c == '%';
}

size_t url_escape_byte(char c, char *dst)
{
    static const char digits[] = "0123456789ABCDEF";

    dst[0] = '%';
    dst[1] = digits[(unsigned char)c >> 4];
    dst[2] = digits[(unsigned char)c & 15];
    return 3;
}

size_t url_escape(struct slice text, char *dst)
{
    size_t n = 0;
    size_t i = 0;

    for (i = 0; i < text.n; i++) {
        if (must_escape(text.p[i])) {
            n += url_escape_byte(text.p[i], dst + n);
        } else {
            dst[n++] = text.p[i];
        }
    }
    return n;
}

size_t url_escaped_size(struct slice text)
{
    size_t n = text.n;
    size_t i = 0;

    for (i = 0; i < text.n; i++) {
        if (must_escape(text.p[i])) {
            n += 2;
        }
    }
    return n;
}
