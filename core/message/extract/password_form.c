/* password_form - punctuation around a password, and the look of a password. */

#include "core/message/extract/password_internal.h"
#include "core/message/text/ascii.h"

enum password_kind password_kind(uint32_t point)
{
    if (point < 0x80) {
        return point == '\n'                   ? PASSWORD_LINE
               : point <= ' ' || point == 0x7f ? PASSWORD_SPACE
                                               : PASSWORD_OTHER;
    }
    switch (point) {
    case 0xa0:   /* no-break space */
    case 0x3000: /* ideographic space */
    case 0x3001: /* ideographic comma, full stop */
    case 0x3002:
    case 0xff0c: /* fullwidth comma, semicolon, exclamation mark */
    case 0xff1b:
    case 0xff01:
    case 0x60c: /* Arabic comma */
        return PASSWORD_SPACE;
    case 0x2028:
    case 0x2029:
        return PASSWORD_LINE;
    case 0xad:
    case 0xfeff:
        return PASSWORD_DROP;
    default:
        break;
    }
    if (point >= 0x2000 && point <= 0x200a) {
        return PASSWORD_SPACE;
    }
    if ((point >= 0x200b && point <= 0x200f) || (point >= 0x202a && point <= 0x202e) ||
        (point >= 0x2060 && point <= 0x206f)) {
        return PASSWORD_DROP;
    }
    return password_is_dense(point) ? PASSWORD_DENSE : PASSWORD_OTHER;
}

/* Marks around and between. */
static const struct slice separators[] = {
    {":", 1}, {"=", 1}, {"：", 3}, {"＝", 3}, {"→", 3}, {"»", 2}, {">", 1},
};
static const struct slice dashes[] = {{"-", 1}, {"–", 3}, {"—", 3}};
static const struct slice quotes[] = {
    {"\"", 1}, {"'", 1},  {"`", 1},  {"“", 3},  {"”", 3},  {"„", 3},
    {"‘", 3},  {"’", 3},  {"‚", 3},  {"«", 2},  {"»", 2},  {"‹", 3},
    {"›", 3},  {"「", 3}, {"」", 3}, {"『", 3}, {"』", 3}, {"【", 3},
    {"】", 3}, {"《", 3}, {"》", 3}, {"＂", 3}, {"״", 2},
};
static const struct slice brackets[] = {
    {"(", 1}, {")", 1}, {"[", 1}, {"]", 1},  {"{", 1},
    {"}", 1}, {"<", 1}, {">", 1}, {"（", 3}, {"）", 3},
};
/* An end of a sentence or a mark of emphasis, which may also belong to a password. */
static const struct slice ends[] = {
    {".", 1}, {",", 1}, {";", 1}, {":", 1}, {"!", 1},  {"?", 1},
    {"*", 1}, {"_", 1}, {"~", 1}, {"…", 3}, {"？", 3},
};
/* Punctuation that ends a sentence and hardly a password. */
static const struct slice stops[] = {{".", 1}, {",", 1}, {";", 1}, {":", 1}};

#define HEAD_OF(s, marks) mark_at_head(s, marks, LENGTH(marks))
#define TAIL_OF(s, marks) mark_at_tail(s, marks, LENGTH(marks))

/* Bytes of the mark with which s begins; 0: none. */
static size_t mark_at_head(struct slice s, const struct slice *marks, size_t n)
{
    if (s.n == 0 || ASCII_IS(s.p[0], ASCII_ALPHA | ASCII_DIGIT)) {
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (s.p[0] == marks[i].p[0] && slice_has_prefix(s, marks[i])) {
            return marks[i].n;
        }
    }
    return 0;
}

static size_t mark_at_tail(struct slice s, const struct slice *marks, size_t n)
{
    if (s.n == 0 || ASCII_IS(s.p[s.n - 1], ASCII_ALPHA | ASCII_DIGIT)) {
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (s.n >= marks[i].n && slice_eq(slice_from(s, s.n - marks[i].n), marks[i])) {
            return marks[i].n;
        }
    }
    return 0;
}

size_t password_opening(struct slice s)
{
    const size_t n = HEAD_OF(s, quotes);
    return n > 0 ? n : HEAD_OF(s, brackets);
}

static size_t closing_of(struct slice s)
{
    const size_t n = TAIL_OF(s, quotes);
    return n > 0 ? n : TAIL_OF(s, brackets);
}

struct slice password_bare(struct slice s)
{
    size_t n = 1;

    while (s.n > 0 && n > 0) {
        n = password_opening(s);
        n = n > 0 ? n : HEAD_OF(s, ends);
        s = slice_from(s, n);
    }
    n = 1;
    while (s.n > 0 && n > 0) {
        n = closing_of(s);
        n = n > 0 ? n : TAIL_OF(s, ends);
        s = slice_head(s, s.n - n);
    }
    return s;
}

struct slice password_unquoted(struct slice s)
{
    size_t n;

    while (s.n > 0 && (n = TAIL_OF(s, stops)) > 0) {
        s = slice_head(s, s.n - n);
    }
    while (s.n > 0 && password_opening(s) > 0 && closing_of(s) > 0) {
        s = slice_from(s, password_opening(s));
        s = slice_head(s, s.n - closing_of(s));
    }
    return s;
}

size_t password_separator(struct slice s)
{
    return HEAD_OF(s, separators);
}

bool password_ends_separated(struct slice s)
{
    return TAIL_OF(s, separators) > 0;
}

size_t password_dash(struct slice s)
{
    return HEAD_OF(s, dashes);
}

static bool is_quoted(struct slice s)
{
    return HEAD_OF(s, quotes) > 0;
}

static bool has_digit(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (ASCII_IS(s.p[i], ASCII_DIGIT)) {
            return true;
        }
    }
    return false;
}

/* Letters of both cases within, or signs: "aBcD", "pa$$". */
static bool is_mixed(struct slice s)
{
    bool has_lower = false;

    for (size_t i = 0; i < s.n; i++) {
        const char c = s.p[i];
        const bool is_upper = c >= 'A' && c <= 'Z';
        if ((is_upper && has_lower) ||
            (c > ' ' && c < 0x7f && !ASCII_IS(c, ASCII_ALPHA) && c != '-' && c != '/' &&
             c != '\'' && c != '.')) {
            return true;
        }
        has_lower = has_lower || (ASCII_IS(c, ASCII_ALPHA) && !is_upper);
    }
    return false;
}

bool password_is_likely(struct slice s)
{
    if (!has_digit(s) && !is_mixed(s) && !is_quoted(s)) {
        return false; /* most words */
    }
    const struct slice bare = password_bare(s);
    return bare.n >= PASSWORD_LIKELY && bare.n <= PASSWORD_BYTES &&
           (has_digit(bare) || is_mixed(bare) || is_quoted(s));
}
