#include "core/cli/humanize.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>

#include "core/base/std.h"

const char *humanize_count(uint64_t n, char dst[HUMANIZE_MAX])
{
    char digits[HUMANIZE_MAX];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, n);
    int at = 0;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            dst[at++] = ',';
        }
        dst[at++] = digits[i];
    }
    dst[at] = '\0';
    return dst;
}

/* Three significant digits of 0.95..9999, without an exponent. */
static const char *three_digits(double v, const char *unit, char dst[HUMANIZE_MAX])
{
    int decimals = 2;

    if (v >= 99.95) {
        decimals = 0;
    } else if (v >= 9.995) {
        decimals = 1;
    }
    (void)snprintf(dst, HUMANIZE_MAX, "%.*f %s", decimals, v, unit);
    return dst;
}

const char *humanize_bytes(double bytes, char dst[HUMANIZE_MAX])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    unsigned i = 0;

    while (bytes >= 999.5 && i + 1 < LENGTH(units)) {
        bytes /= 1000;
        i++;
    }
    if (i == 0) {
        (void)snprintf(dst, HUMANIZE_MAX, "%.0f B", bytes);
        return dst;
    }
    return three_digits(bytes, units[i], dst);
}

const char *humanize_share(double share, char dst[HUMANIZE_MAX])
{
    double percent = 100 * share;
    double lost = percent > 0 ? ceil(-log10(percent)) : 0;

    if (share > 0 && share < 1e-7) {
        (void)snprintf(dst, HUMANIZE_MAX, "%.2e", share);
    } else {
        int decimals = 2 + (int)fmax(0, lost);
        (void)snprintf(dst, HUMANIZE_MAX, "%.*f %%", decimals, percent);
    }
    return dst;
}

const char *humanize_seconds(double seconds, char dst[HUMANIZE_MAX])
{
    static const struct {
        double below;
        double unit;
        const char *name;
    } rows[] = {{0.9995e-6, 1e-9, "ns"}, {0.9995e-3, 1e-6, "us"}, {0.9995, 1e-3, "ms"},
                {120, 1, "s"},           {7200, 60, "min"},       {172800, 3600, "h"}};

    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (seconds < rows[i].below) {
            return three_digits(seconds / rows[i].unit, rows[i].name, dst);
        }
    }
    return three_digits(seconds / 86400, "d", dst);
}

bool humanize_read(const char *text, double *ret)
{
    static const char suffixes[] = "kMGT";
    char *end = NULL;
    double v = 0;

    if (*text == '\0' || strpbrk(text, "xX \t\n") != NULL) {
        return false; /* strtod takes blanks and hexadecimal digits */
    }
    v = strtod(text, &end);
    if (end == text) {
        return false;
    }
    if (*end != '\0') {
        const char *suffix = strchr(suffixes, *end);
        if (suffix == NULL || end[1] != '\0') {
            return false;
        }
        v *= pow(1000, (double)(suffix - suffixes + 1));
    }
    *ret = v;
    return true;
}

/* ---- bars ---- */

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
