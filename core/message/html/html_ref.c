/* html_ref - the reader of references; a name is sought by bisection, at most six times. */
#include "core/message/html/html_ref.h"

#include "core/message/text/ascii.h"

enum {
    CODE_MAX = 0x10ffff,
    CODE_REPLACEMENT = 0xfffd,
    BARE_MIN = 2, /* shortest and longest name that needs no ';' */
    BARE_MAX = 6,
    TEXT_MAX = 6 /* bytes that a name stands for */
};

/* The names one after another, a member each, so that they need no pointers. */
struct names {
#define HTML_NAME(name, text, bare) char at_##name[sizeof(#name) - 1];
#include "core/message/html/html_name.def"
#undef HTML_NAME
};

static const struct names names = {
#define HTML_NAME(name, text, bare) .at_##name = #name,
#include "core/message/html/html_name.def"
#undef HTML_NAME
};

struct entity {
    uint16_t at; /* where in names */
    uint8_t nname;
    bool bare; /* also without ';' */
    uint8_t ntext;
    char text[TEXT_MAX]; /* UTF-8 */
};

static const struct entity entities[] = {
#define HTML_NAME(name, text, bare)                                     \
    {offsetof(struct names, at_##name), sizeof(#name) - 1, (bare) == 1, \
     sizeof(text) - 1, text},
#include "core/message/html/html_name.def"
#undef HTML_NAME
};

/* What numbers from 128 to 159 mean: windows-1252, 0 where it has nothing. */
static const uint16_t high_controls[32] = {
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
    0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017d, 0,
    0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
    0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

void html_ref_init(struct html_ref *r)
{
    r->kind = HTML_REF_NAME;
    r->held[0] = '&';
    r->nheld = 1;
    r->digits = false;
    r->value = 0;
}

static void hold(struct html_ref *r, char c)
{
    r->held[r->nheld++] = c;
}

static bool add_digit(struct html_ref *r, char c)
{
    unsigned base = r->kind == HTML_REF_HEX ? 16 : 10;
    unsigned digit = ascii_hex[(unsigned char)c];

    if (digit >= base) {
        return false;
    }
    r->digits = true;
    if (r->value <= CODE_MAX) {
        r->value = r->value * base + digit;
    }
    return true;
}

bool html_ref_add(struct html_ref *r, char c, bool *retdone)
{
    *retdone = false;
    if (r->kind == HTML_REF_NAME) {
        if (r->nheld == 1 && c == '#') {
            r->kind = HTML_REF_DECIMAL;
            hold(r, c);
            return true;
        }
        if (c == ';' && r->nheld > 1) {
            hold(r, c);
            *retdone = true;
            return true;
        }
        if (!ASCII_IS(c, ASCII_ALPHA | ASCII_DIGIT) || r->nheld == HTML_REF_HELD - 1) {
            return false;
        }
        hold(r, c);
        return true;
    }
    if (r->kind == HTML_REF_DECIMAL && !r->digits && ASCII_LOWER(c) == 'x') {
        r->kind = HTML_REF_HEX;
        hold(r, c);
        return true;
    }
    if (c == ';' && r->digits) {
        *retdone = true;
        return true;
    }
    return add_digit(r, c);
}

/* UTF-8 of a code point of at most 16 bits or a supplementary one; returns its length. */
static size_t put_code(uint32_t c, char *dst)
{
    size_t n = 0;

    if (c < 0x80) {
        dst[n++] = (char)c;
        return n;
    }
    if (c < 0x800) {
        dst[n++] = (char)(unsigned char)(0xc0 | (c >> 6));
    } else if (c < 0x10000) {
        dst[n++] = (char)(unsigned char)(0xe0 | (c >> 12));
        dst[n++] = (char)(unsigned char)(0x80 | ((c >> 6) & 0x3f));
    } else {
        dst[n++] = (char)(unsigned char)(0xf0 | (c >> 18));
        dst[n++] = (char)(unsigned char)(0x80 | ((c >> 12) & 0x3f));
        dst[n++] = (char)(unsigned char)(0x80 | ((c >> 6) & 0x3f));
    }
    dst[n++] = (char)(unsigned char)(0x80 | (c & 0x3f));
    return n;
}

static uint32_t number_code(uint32_t value)
{
    if (value >= 0x80 && value < 0xa0 && high_controls[value - 0x80] != 0) {
        return high_controls[value - 0x80];
    }
    if (value == 0 || value > CODE_MAX || (value >= 0xd800 && value <= 0xdfff)) {
        return CODE_REPLACEMENT;
    }
    return value;
}

static const struct entity *find_entity(struct slice name)
{
    size_t low = 0;
    size_t high = LENGTH(entities);

    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct entity *e = &entities[middle];
        int order = slice_cmp(name, slice_of((const char *)&names + e->at, e->nname));

        if (order == 0) {
            return e;
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

static struct slice name_text(const struct html_ref *r, bool in_value, char next,
                              char dst[HTML_REF_OUT])
{
    struct slice held = slice_of(r->held, r->nheld);
    bool closed = held.p[held.n - 1] == ';';
    struct slice name = slice_of(held.p + 1, held.n - 1 - (closed ? 1 : 0));
    const struct entity *e = closed ? find_entity(name) : NULL;
    size_t used = held.n;
    size_t n = 0;

    if (e == NULL) {
        size_t whole = name.n;

        name = slice_head(name, BARE_MAX);
        while (name.n >= BARE_MIN && (e == NULL || !e->bare)) {
            e = find_entity(name);
            used = name.n + 1;
            name.n--;
        }
        if (e == NULL || !e->bare ||
            (in_value && (used < whole + 1 ||
                          (!closed && (next == '=' ||
                                       ASCII_IS(next, ASCII_ALPHA | ASCII_DIGIT)))))) {
            memcpy(dst, held.p, held.n);
            return slice_of(dst, held.n);
        }
    }
    n = e->ntext;
    memcpy(dst, e->text, n);
    memcpy(dst + n, held.p + used, held.n - used);
    return slice_of(dst, n + held.n - used);
}

struct slice html_ref_text(const struct html_ref *r, bool in_value, char next,
                           char dst[HTML_REF_OUT])
{
    if (r->kind == HTML_REF_NAME) {
        return name_text(r, in_value, next, dst);
    }
    if (r->digits) {
        return slice_of(dst, put_code(number_code(r->value), dst));
    }
    memcpy(dst, r->held, r->nheld);
    return slice_of(dst, r->nheld);
}
