#include "core/message/text/fold_table.h"

enum { PAGE_BITS = 7, PAGE = 1 << PAGE_BITS, TABLE_END = 0x20000, FOLDED_MAX = 12 };

#define FOLD_PAGE(...)
#define FOLD_TEXT(text)
#define FOLD_INDEX(...) __VA_ARGS__
static const uint8_t page_index[TABLE_END / PAGE] = {
#include "core/message/text/fold.def"
};
#undef FOLD_INDEX
#undef FOLD_PAGE
#define FOLD_INDEX(...)
#define FOLD_PAGE(...) {__VA_ARGS__},
static const uint16_t pages[][PAGE] = {
#include "core/message/text/fold.def"
};
#undef FOLD_PAGE
#undef FOLD_TEXT
#define FOLD_PAGE(...)
#define FOLD_TEXT(text) text,
static const char folded[][FOLDED_MAX] = {
#include "core/message/text/fold.def"
};
#undef FOLD_INDEX
#undef FOLD_PAGE
#undef FOLD_TEXT

size_t fold_table_decode(struct slice text, uint32_t *retpoint)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)text.p;
    unsigned char c = p[0];
    size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 0;
    if (n == 0 || c > 0xf4 || text.n < n) {
        return 0;
    }
    uint32_t point = c & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
        point = point << 6 | (p[i] & 0x3fu);
    }
    if (point < least[n] || point > 0x10ffff) {
        return 0;
    }
    *retpoint = point;
    return n;
}

unsigned fold_table_class(uint32_t point)
{
    if (point < TABLE_END) {
        return pages[page_index[point >> PAGE_BITS]][point % PAGE];
    }
    if (point < 0x40000) {
        return FOLD_CLASS_ALONE; /* rare ideographs */
    }
    return point >= 0xe0000 && point < 0xe1000 ? FOLD_CLASS_DROP : FOLD_CLASS_BREAK;
}

bool fold_table_is_styled(uint32_t point)
{
    static const uint16_t small_capitals[] = {0x262, 0x26a, 0x274, 0x280,
                                              0x28f, 0x299, 0x29c, 0x29f};
    for (size_t i = 0; i < LENGTH(small_capitals); i++) {
        if (point == small_capitals[i]) {
            return true;
        }
    }
    return (point >= 0x1d00 && point < 0x1d80) || (point >= 0x24b6 && point < 0x24ea) ||
           (point >= 0x1d400 && point < 0x1d7ce) ||
           (point >= 0x1f110 && point < 0x1f18a);
}

bool fold_table_is_other_script(uint32_t point)
{
    return (point >= 0x370 && point < 0x1d00) || (point >= 0x2c80 && point < 0x2e00) ||
           (point >= 0xa4d0 && point < 0xa6a0) || (point >= 0xab70 && point < 0xabc0) ||
           point >= 0x10000;
}

bool fold_table_is_zero_width(uint32_t point)
{
    return (point >= 0x200b && point <= 0x200d) || point == 0x2060 || point == 0xfeff ||
           point == 0x180e;
}

struct slice fold_table_text(unsigned class)
{
    const char *text = folded[class - FOLD_CLASSES];
    return slice_of(text, strnlen(text, FOLDED_MAX));
}
