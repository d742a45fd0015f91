#include "core/message/html/html_ref.h"

#include "core/base/utf8.h"
#include "core/base/word_table.h"
#include "core/message/text/ascii.h"
#include "core/message/text/charset.h"

enum {
    CODE_REPLACEMENT = 0xfffd,
    BARE = '!',   /* mark of a name that needs no ';' */
    BARE_MIN = 2, /* shortest and longest of these names */
    BARE_MAX = 6
};

static const struct slice entities[] = {
#define HTML_NAMES(row) WORD_ROW(row),
#include "core/message/html/html_name.def"
#undef HTML_NAMES
};

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
    if (r->value <= UTF8_CODE_MAX) {
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

static uint32_t number_code(uint32_t value)
{
    if (value >= 0x80 && value < 0xa0) {
        return charset_western((unsigned char)value);
    }
    return value == 0 || value > UTF8_CODE_MAX || (value >= 0xd800 && value <= 0xdfff)
               ? CODE_REPLACEMENT
               : value;
}

static struct slice name_text(const struct html_ref *r, bool in_value, char next,
                              char dst[HTML_REF_OUT])
{
    struct slice held = slice_of(r->held, r->nheld);
    bool closed = held.p[held.n - 1] == ';';
    struct slice name = slice_of(held.p + 1, held.n - 1 - (closed ? 1 : 0));
    struct word e = {.mark = '\0'};
    size_t used = held.n;

    if (!closed || !word_find(entities, LENGTH(entities), name, &e)) {
        size_t whole = name.n;

        name = slice_head(name, BARE_MAX);
        while (name.n >= BARE_MIN && e.mark != BARE) {
            (void)word_find(entities, LENGTH(entities), name, &e);
            used = name.n + 1;
            name.n--;
        }
        if (e.mark != BARE ||
            (in_value && (used < whole + 1 ||
                          (!closed && (next == '=' ||
                                       ASCII_IS(next, ASCII_ALPHA | ASCII_DIGIT)))))) {
            memcpy(dst, held.p, held.n);
            return slice_of(dst, held.n);
        }
    }
    memcpy(dst, e.text.p, e.text.n);
    memcpy(dst + e.text.n, held.p + used, held.n - used);
    return slice_of(dst, e.text.n + held.n - used);
}

struct slice html_ref_text(const struct html_ref *r, bool in_value, char next,
                           char dst[HTML_REF_OUT])
{
    if (r->kind == HTML_REF_NAME) {
        return name_text(r, in_value, next, dst);
    }
    if (r->digits) {
        return slice_of(dst, utf8_put(dst, number_code(r->value)));
    }
    memcpy(dst, r->held, r->nheld);
    return slice_of(dst, r->nheld);
}
