#include "core/message/url/find_mark.h"

#include <unicode/uchar.h>

#include "core/base/utf8.h"

enum { DEFANG_MIN = 3, DEFANG_MAX = 5 };

struct range {
    uint32_t first;
    uint32_t last;
};

/* Invisible characters, which a host does not keep. */
static const struct range hidden[] = {
    {0x00ad, 0x00ad}, {0x034f, 0x034f}, {0x061c, 0x061c},   {0x115f, 0x1160},
    {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200f},   {0x202a, 0x202e},
    {0x2060, 0x206f}, {0x3164, 0x3164}, {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
    {0xffa0, 0xffa0}, {0xfff9, 0xfffb}, {0xe0000, 0xe01ef},
};

/* Spaces and punctuation that end a URL wherever they stand. */
static const struct range ending[] = {
    {0x0080, 0x00a0}, {0x00ab, 0x00ab}, {0x00bb, 0x00bb}, {0x1680, 0x1680},
    {0x2000, 0x200a}, {0x2018, 0x201f}, {0x2026, 0x2029}, {0x202f, 0x202f},
    {0x2039, 0x203a}, {0x205f, 0x205f}, {0x3000, 0x3001}, {0x3003, 0x3003},
    {0x3008, 0x3011}, {0x3014, 0x301f}, {0xff01, 0xff02}, {0xff08, 0xff09},
    {0xff0c, 0xff0c}, {0xff1a, 0xff1c}, {0xff1e, 0xff1f}, {0xff3b, 0xff3b},
    {0xff3d, 0xff3d}, {0xff5b, 0xff5b}, {0xff5d, 0xff5d}, {0xff62, 0xff64},
};

static bool in_ranges(const struct range *ranges, size_t n, uint32_t code)
{
    size_t i = 0;

    while (i < n && code > ranges[i].last) {
        i++;
    }
    return i < n && code >= ranges[i].first;
}

/* Scripts whose words touch each other, and Hangul, whose particles touch what they follow. */
static bool is_dense(uint32_t code)
{
    switch (u_getIntPropertyValue((UChar32)code, UCHAR_LINE_BREAK)) {
    case U_LB_IDEOGRAPHIC:
    case U_LB_CONDITIONAL_JAPANESE_STARTER:
    case U_LB_NONSTARTER:
    case U_LB_COMPLEX_CONTEXT:
    case U_LB_H2:
    case U_LB_H3:
    case U_LB_JL:
    case U_LB_JV:
    case U_LB_JT:
        return true;
    default:
        return false;
    }
}

static bool is_fullwidth_latin(uint32_t code)
{
    return (code >= 0xff10 && code <= 0xff19) || (code >= 0xff21 && code <= 0xff3a) ||
           (code >= 0xff41 && code <= 0xff5a);
}

/* The letters that most text beyond ASCII has: Latin, Cyrillic, Han, Hangul; else MARK_END. */
static enum mark_kind usual_kind(uint32_t code)
{
    if ((code >= 0xc0 && code <= 0x24f && code != 0xd7 && code != 0xf7) ||
        (code >= 0x400 && code <= 0x481)) {
        return MARK_LETTER;
    }
    return (code >= 0x4e00 && code <= 0x9fef) || (code >= 0xac00 && code <= 0xd7a3)
               ? MARK_DENSE
               : MARK_END;
}

static enum mark_kind mark_kind_of(uint32_t code)
{
    enum mark_kind usual = usual_kind(code);

    if (usual != MARK_END) {
        return usual;
    }
    if (code == 0x3002 || code == 0xff0e || code == 0xff61) {
        return MARK_DOT;
    }
    if (in_ranges(hidden, LENGTH(hidden), code)) {
        return MARK_HIDDEN;
    }
    if (in_ranges(ending, LENGTH(ending), code)) {
        return MARK_END;
    }
    if (is_fullwidth_latin(code)) {
        return MARK_LETTER;
    }
    if (code == 0xfdfa || code == 0xfdfb) {
        return MARK_OTHER; /* phrases with blanks: see host_idna.c */
    }
    if (!u_isalnum((UChar32)code) &&
        (U_MASK(u_charType((UChar32)code)) & U_GC_M_MASK) == 0) {
        return MARK_OTHER;
    }
    return is_dense(code) ? MARK_DENSE : MARK_LETTER;
}

static struct mark wide_mark(struct slice s)
{
    uint32_t code = 0;
    struct mark m = {
        .kind = MARK_OTHER, .n = utf8_decode(s.p, s.n, &code), .c = s.p[0]};

    if (m.n == 0) {
        m.n = 1;
    } else {
        m.kind = mark_kind_of(code);
        m.is_wide = m.kind == MARK_DOT;
    }
    return m;
}

static bool may_be_defanged(char c)
{
    return c == '.' || c == '@' || ASCII_LOWER(c) == 'd' || ASCII_LOWER(c) == 'a';
}

/* "[.]", "(dot)", "{at}" at the beginning of s; MARK_END when there is none. */
static struct mark defanged(struct slice s)
{
    static const struct {
        struct slice text;
        enum mark_kind kind;
    } forms[] = {{{".", 1}, MARK_DOT},
                 {{"dot", 3}, MARK_DOT},
                 {{"@", 1}, MARK_AT},
                 {{"at", 2}, MARK_AT}};
    char closing = '\0';
    size_t i = 0;

    if (s.n < DEFANG_MIN || !may_be_defanged(s.p[1])) {
        return (struct mark){.kind = MARK_END};
    }
    if (s.p[0] == '[') {
        closing = ']';
    } else {
        closing = s.p[0] == '(' ? ')' : '}';
    }
    for (i = 0; i < LENGTH(forms); i++) {
        size_t n = forms[i].text.n;

        if (s.n >= n + 2 && s.p[n + 1] == closing &&
            slice_eq_nocase(slice_of(s.p + 1, n), forms[i].text)) {
            return (struct mark){
                .kind = forms[i].kind, .n = n + 2, .c = s.p[0], .is_defanged = true};
        }
    }
    return (struct mark){.kind = MARK_END};
}

static bool is_opening(char c)
{
    return c == '[' || c == '(' || c == '{';
}

static bool is_closing(char c)
{
    return c == ']' || c == ')' || c == '}';
}

/* A row of 16 bytes of a kind. */
#define ROW(kind)                                                                 \
    kind, kind, kind, kind, kind, kind, kind, kind, kind, kind, kind, kind, kind, \
        kind, kind, kind

/* clang-format off */
const unsigned char mark_bytes[256] = {
    ROW(MARK_END), ROW(MARK_END),
    /* sp ! " # $ % & ' ( ) * + , - . / */
    MARK_END | MARK_AFTER | MARK_BEFORE, MARK_ASCII, MARK_END, MARK_ASCII, MARK_ASCII,
    MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII | MARK_AFTER, MARK_ASCII | MARK_BEFORE,
    MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_DOT, MARK_ASCII,
    /* digits : ; < = > ? */
    MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII,
    MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_END, MARK_ASCII,
    MARK_END, MARK_ASCII,
    /* @, A to O, P to Z [ \ ] ^ _ */
    MARK_AT, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII,
    MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII,
    MARK_ASCII, MARK_ASCII,
    MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII,
    MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII | MARK_AFTER, MARK_ASCII,
    MARK_ASCII | MARK_BEFORE, MARK_ASCII, MARK_ASCII,
    /* `, a to o, p to z { | } ~ DEL */
    MARK_END, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII,
    MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII,
    MARK_ASCII, MARK_ASCII,
    MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII,
    MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII, MARK_ASCII | MARK_AFTER, MARK_ASCII,
    MARK_ASCII | MARK_BEFORE, MARK_ASCII, MARK_END,
    ROW(MARK_WIDE), ROW(MARK_WIDE), ROW(MARK_WIDE), ROW(MARK_WIDE),
    ROW(MARK_WIDE), ROW(MARK_WIDE), ROW(MARK_WIDE), ROW(MARK_WIDE)};
/* clang-format on */

/* The mark of a byte alone, from mark_bytes. */
static struct mark lone(char c)
{
    return (struct mark){.kind =
                             (enum mark_kind)(mark_bytes[(unsigned char)c] & MARK_KIND),
                         .n = 1,
                         .c = c};
}

struct mark mark_at_slowly(struct slice text, size_t i)
{
    struct mark m = {.kind = MARK_END};
    char c = '\0';

    if (i >= text.n) {
        return m;
    }
    c = text.p[i];
    if ((unsigned char)c >= 0x80) {
        return wide_mark(slice_from(text, i));
    }
    if (is_opening(c)) {
        m = defanged(slice_from(text, i));
    } else if (c == ' ' && i + 1 < text.n && is_opening(text.p[i + 1])) {
        m = defanged(slice_from(text, i + 1));
        if (m.n > 0 && i + 1 + m.n < text.n && text.p[i + 1 + m.n] == ' ') {
            m.n += 2;
        } else {
            m.n = 0;
        }
    }
    return m.n > 0 ? m : lone(c);
}

/* A defanged form that ends before i. */
static struct mark defanged_before(struct slice text, size_t from, size_t i)
{
    size_t blank = text.p[i - 1] == ' ' ? 1 : 0;
    size_t n = 0;

    if (i - from < DEFANG_MIN + blank || !is_closing(text.p[i - 1 - blank])) {
        return (struct mark){.kind = MARK_END};
    }
    for (n = DEFANG_MIN + 2 * blank; n <= DEFANG_MAX + 2 * blank && n <= i - from;
         n++) {
        char first = text.p[i - n];

        if ((blank == 0 && is_opening(first)) || (blank == 1 && first == ' ')) {
            struct mark m = mark_at(slice_head(text, i), i - n);

            if (m.is_defanged && m.n == n) {
                return m;
            }
        }
    }
    return (struct mark){.kind = MARK_END};
}

struct mark mark_before_slowly(struct slice text, size_t from, size_t i)
{
    size_t n = 0;

    if (i <= from) {
        return (struct mark){.kind = MARK_END};
    }
    if ((unsigned char)text.p[i - 1] < 0x80) {
        struct mark m = defanged_before(text, from, i);

        return m.n > 0 ? m : lone(text.p[i - 1]);
    }
    for (n = 2; n <= UTF8_MAX && n <= i - from; n++) {
        struct mark m = mark_at(slice_head(text, i), i - n);

        if (((unsigned char)text.p[i - n] & 0xc0) == 0xc0) {
            if (m.n == n) {
                return m;
            }
            break;
        }
    }
    return (struct mark){.kind = MARK_OTHER, .n = 1, .c = text.p[i - 1]};
}
