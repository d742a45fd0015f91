#include "core/base/utf8.h"

#include "core/base/std.h"

/* How many bytes a character has by its first; 0: none begins so. */
static size_t lead_length(unsigned char lead)
{
    if (lead < 0x80) {
        return 1;
    }
    if (lead < 0xc2 || lead > 0xf4) {
        return 0;
    }
    return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* Whether lead and the byte after it are overlong, a surrogate or past U+10FFFF. */
static bool is_barred(unsigned char lead, unsigned char second)
{
    return (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
           (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
}

size_t utf8_length(const unsigned char *p, size_t n)
{
    size_t need = lead_length(*p);

    if (need > n || (need > 1 && is_barred(p[0], p[1]))) {
        return 0;
    }
    for (size_t i = 1; i < need; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return need;
}
