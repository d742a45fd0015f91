#include "core/base/visible.h"

#include "core/base/utf8.h"

/* First and last, in order. */
static const struct {
    uint32_t from;
    uint32_t to;
} unseen[] = {
    {0x0000, 0x001f},   {0x007f, 0x009f},   {0x00ad, 0x00ad},   {0x034f, 0x034f},
    {0x061c, 0x061c},   {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
    {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x2800, 0x2800},
    {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb},   {0xfffe, 0xffff},   {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool visible_is(uint32_t character)
{
    size_t i = 0;
    size_t n = LENGTH(unseen);

    while (i < n && unseen[i].to < character) {
        i++;
    }
    return i == n || character < unseen[i].from;
}

size_t visible_next(const char *p, size_t n, char code[VISIBLE_CODE_MAX])
{
    uint32_t c = 0;
    size_t length = utf8_decode(p, n, &c);

    code[0] = '\0';
    if (length == 0) {
        (void)snprintf(code, VISIBLE_CODE_MAX, "\\x%02x", (unsigned char)p[0]);
        return 1;
    }
    if (!visible_is(c)) {
        (void)snprintf(code, VISIBLE_CODE_MAX, "<U+%04X>", (unsigned)c);
    }
    return length;
}

size_t visible_print(char *dst, size_t size, struct slice s)
{
    static const char dots[] = "...";
    size_t n = 0;
    size_t cut = 0; /* whole characters that leave room for the dots */

    for (size_t at = 0; at < s.n;) {
        char code[VISIBLE_CODE_MAX];
        size_t length = visible_next(s.p + at, s.n - at, code);
        struct slice shown =
            code[0] != '\0' ? slice_str(code) : slice_of(s.p + at, length);

        if (n + shown.n >= size) {
            memcpy(dst + cut, dots, sizeof(dots));
            return cut + sizeof(dots) - 1;
        }
        memcpy(dst + n, shown.p, shown.n);
        n += shown.n;
        at += length;
        cut = n + sizeof(dots) <= size ? n : cut;
    }
    dst[n] = '\0';
    return n;
}
