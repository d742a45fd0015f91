#include <strings.h>

#include "core/config/config_value.h"

enum { TEXT_MAX = 120 };

static bool is_one_of_words(const char *text, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_yes(const char *text)
{
    static const char *const words[] = {"yes",    "y",       "on", "true",
                                        "enable", "enabled", "1"};

    return is_one_of_words(text, words, LENGTH(words));
}

static bool is_no(const char *text)
{
    static const char *const words[] = {"no",      "n",        "off", "false",
                                        "disable", "disabled", "0"};

    return is_one_of_words(text, words, LENGTH(words));
}

/* Digits with ',', '_' or '\'' between groups of three; "5.0" is 5. */
static bool form_count(const char *text, char dst[FORM_MAX])
{
    char digits[TEXT_MAX + 1] = "";
    size_t n = 0;
    size_t i = 0;

    for (; text[i] != '\0' && text[i] != '.'; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            digits[n++] = text[i];
        } else if (strchr(",_'", text[i]) == NULL || i == 0 ||
                   strspn(text + i + 1, "0123456789") != 3) {
            return false;
        }
    }
    if (n == 0 || strspn(text + i, ".0") != strlen(text + i)) {
        return false;
    }
    (void)snprintf(dst, FORM_MAX, "%s", digits);
    return true;
}

/* A number with a point or a comma, and perhaps "%"; of a share a hundredth of that. */
static bool form_score(const struct schema_row *row, const char *text,
                       char dst[FORM_MAX])
{
    char number[TEXT_MAX + 1];
    char *comma = NULL;
    char *end = NULL;
    double v = 0;

    if (row->kind == SCHEMA_THRESHOLD && is_no(text) && *text != '0') {
        (void)snprintf(dst, FORM_MAX, "\"off\"");
        return true;
    }
    (void)snprintf(number, sizeof(number), "%s", text);
    comma = strchr(number, ',');
    if (comma != NULL) {
        *comma = '.';
    }
    if (strspn(number, "+-.0123456789eE% ") != strlen(number)) {
        return false;
    }
    v = strtod(number, &end);
    if (end == number) {
        return false;
    }
    end += strspn(end, " ");
    if (*end == '%' && row->kind == SCHEMA_SHARE) {
        v /= 100;
    }
    end += *end == '%' ? 1 : 0;
    if (*end != '\0') {
        return false;
    }
    (void)snprintf(dst, FORM_MAX - 2, "%.12g", v);
    if (strpbrk(dst, ".e") == NULL) {
        (void)snprintf(dst + strlen(dst), 3, ".0");
    }
    return true;
}

/* Digits and the word of a unit, of which the first letter decides; without a word the unit of
 * the key's default, or of the smallest value where there is no default. */
static bool form_unit(const struct schema_row *row, const char *text,
                      char dst[FORM_MAX])
{
    const char *preset = row->default_text;
    const char *smallest = row->kind == SCHEMA_SIZE ? "B" : "s";
    const char *usual =
        *preset == '"' ? preset + 1 + strspn(preset + 1, "0123456789") : smallest;
    size_t digits = strspn(text, "0123456789");
    const char *word = text + digits + strspn(text + digits, " ");
    const char *units = row->kind == SCHEMA_SIZE ? "bkmg" : "smhdw";
    char unit[3] = "";

    if (digits == 0) {
        return false;
    }
    if (*word == '\0') {
        (void)snprintf(unit, sizeof(unit), "%.*s", (int)strcspn(usual, "\""), usual);
    } else if (row->kind != SCHEMA_SIZE &&
               (strncasecmp(word, "ms", 2) == 0 || strncasecmp(word, "mil", 3) == 0)) {
        (void)snprintf(unit, sizeof(unit), "ms");
    } else if (strchr(units, *word | 0x20) != NULL) {
        unit[0] = (char)(row->kind == SCHEMA_SIZE ? *word & ~0x20 : *word | 0x20);
    } else {
        return false;
    }
    (void)snprintf(dst, FORM_MAX, "\"%.*s%s\"", (int)digits, text, unit);
    return true;
}

static bool form_mode(const char *text, char dst[FORM_MAX])
{
    if (*text == '\0' || strlen(text) > 4 || strspn(text, "01234567") != strlen(text)) {
        return false;
    }
    (void)snprintf(dst, FORM_MAX, "\"%04lo\"", strtoul(text, NULL, 8));
    return true;
}

/* The words between commas and blanks as an array. */
static bool form_array(const char *text, char dst[FORM_MAX])
{
    static const char between[] = ", \t\"'[]()";
    size_t at = (size_t)snprintf(dst, FORM_MAX, "[");
    const char *lead = " ";

    for (const char *p = text + strspn(text, between); *p != '\0';
         p += strspn(p, between)) {
        size_t n = strcspn(p, between);

        at += (size_t)snprintf(dst + at, FORM_MAX - at, "%s\"%.*s\"", lead, (int)n, p);
        if (at + 4 > FORM_MAX) {
            return false;
        }
        lead = ", ";
        p += n;
    }
    (void)snprintf(dst + at, FORM_MAX - at, " ]");
    return true;
}

static bool form_bool(const char *text, char dst[FORM_MAX])
{
    if (!is_yes(text) && !is_no(text)) {
        return false;
    }
    (void)snprintf(dst, FORM_MAX, "%s", is_yes(text) ? "true" : "false");
    return true;
}

static bool form_text(const char *text, char dst[FORM_MAX])
{
    if (strpbrk(text, "\"\\") != NULL) {
        return false;
    }
    (void)snprintf(dst, FORM_MAX, "\"%s\"", text);
    return true;
}

bool form_value(const struct schema_row *row, struct slice text, char dst[FORM_MAX])
{
    char copy[TEXT_MAX + 1];

    if (text.n > TEXT_MAX) {
        return false;
    }
    (void)snprintf(copy, sizeof(copy), "%.*s", SLICE_ARGS(text));
    for (const char *p = copy; *p != '\0'; p++) {
        if ((unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f) {
            return false;
        }
    }
    /* NOLINTNEXTLINE(hicpp-multiway-paths-covered): the other kinds are texts */
    switch (row != NULL ? (int)row->kind : -1) {
    case SCHEMA_BOOL:
        return form_bool(copy, dst);
    case SCHEMA_COUNT:
        return form_count(copy, dst);
    case SCHEMA_SCORE:
    case SCHEMA_THRESHOLD:
    case SCHEMA_SHARE:
        return form_score(row, copy, dst);
    case SCHEMA_SIZE:
    case SCHEMA_TIME_US:
    case SCHEMA_TIME_S:
        return form_unit(row, copy, dst);
    case SCHEMA_MODE:
        return form_mode(copy, dst);
    case SCHEMA_NETWORKS:
    case SCHEMA_TOKENS:
    case SCHEMA_ADDRESSES:
    case SCHEMA_DOMAINS:
    case SCHEMA_RECIPIENTS:
    case SCHEMA_URLS:
    case SCHEMA_WEIGHTS:
    case SCHEMA_LISTENS:
    case SCHEMA_TEXTS:
        return form_array(copy, dst);
    default:
        return form_text(copy, dst);
    }
}
