/* sparkline - a row of numbers as a row of little bars. */
#include "core/cli/sparkline.h"

#include <langinfo.h>
#include <locale.h>

#include "core/base/std.h"

enum { LEVELS = 8 };

bool sparkline_is_utf8(void)
{
    locale_t l = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (l == (locale_t)0) {
        return false;
    }
    bool is_utf8 = strcmp(nl_langinfo_l(CODESET, l), "UTF-8") == 0;
    freelocale(l);
    return is_utf8;
}

/* 0: nothing; up to LEVELS. */
static unsigned level_of(uint64_t v, uint64_t max)
{
    if (v == 0 || max == 0) {
        return 0;
    }
    if (v >= max) {
        return LEVELS;
    }
    return 1 + (unsigned)((double)v / (double)max * (LEVELS - 1));
}

void sparkline_print(FILE *to, const uint64_t *v, size_t n, uint64_t max, bool is_utf8)
{
    static const char *const blocks[LEVELS + 1] = {"\u00b7", "\u2581", "\u2582",
                                                   "\u2583", "\u2584", "\u2585",
                                                   "\u2586", "\u2587", "\u2588"};
    static const char *const ascii[LEVELS + 1] = {".", "_", "-", "=", "+",
                                                  "*", "o", "O", "#"};
    for (size_t i = n; i > 0; i--) {
        unsigned level = level_of(v[i - 1], max);
        (void)fputs(is_utf8 ? blocks[level] : ascii[level], to);
    }
}
