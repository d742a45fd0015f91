#include "core/reader/document/excel_formula.h"

#include "core/base/cursor.h"
#include "core/reader/document/ole_text.h"

enum token {
    TOKEN_CONCAT = 0x08,
    TOKEN_PAREN = 0x15,
    TOKEN_MISSING = 0x16,
    TOKEN_TEXT = 0x17,
    TOKEN_EXTENDED = 0x18,
    TOKEN_ATTRIBUTE = 0x19,
    TOKEN_INTEGER = 0x1e,
    TOKEN_FUNCTION = 0x21, /* of a fixed number of arguments */
    TOKEN_FUNCTION_OF = 0x22
};

enum { ATTRIBUTE_CHOOSE = 0x04, ATTRIBUTE_SUM = 0x10 };

enum function {
    FUNCTION_EXEC = 110,
    FUNCTION_CHAR = 111,
    FUNCTION_REGISTER = 149,
    FUNCTION_CALL = 150,
    FUNCTION_USER = 255,
    FUNCTION_HYPERLINK = 359
};

/* Bytes behind the number of a token, and whether it leaves a value; class bits are cleared. */
static const struct {
    uint8_t bytes;
    bool is_value;
} rows[0x40] = {
    [0x01] = {4, true},  [0x02] = {4, true},  [0x1c] = {1, true},  [0x1d] = {1, true},
    [0x1e] = {2, true},  [0x1f] = {8, true},  [0x20] = {7, true},  [0x23] = {4, true},
    [0x24] = {4, true},  [0x25] = {8, true},  [0x26] = {6, false}, [0x27] = {6, false},
    [0x28] = {6, false}, [0x29] = {2, false}, [0x2a] = {4, true},  [0x2b] = {8, true},
    [0x2c] = {4, true},  [0x2d] = {8, true},  [0x39] = {6, true},  [0x3a] = {6, true},
    [0x3b] = {10, true}, [0x3c] = {6, true},  [0x3d] = {10, true},
};

void formula_init(struct formula *fm)
{
    memset(fm, 0, sizeof(*fm));
    buf_init(&fm->text, FORMULA_TEXT);
}

void formula_fini(struct formula *fm)
{
    buf_fini(&fm->text);
}

struct slice formula_text(const struct formula *fm, struct formula_value value)
{
    return slice_head(slice_from(buf_slice(&fm->text), value.at), value.n);
}

/* A value: the text from byte `at` on. */
static void push(struct formula *fm, size_t at)
{
    if (fm->nstack < FORMULA_STACK) {
        fm->stack[fm->nstack++] = (struct formula_value){at, fm->text.n - at};
    }
}

static void pop(struct formula *fm, size_t n)
{
    fm->nstack -= n < fm->nstack ? n : fm->nstack;
}

static void read_constant(struct formula *fm, struct cursor *c)
{
    const size_t n = cursor_u8(c);
    const bool is_wide = (cursor_u8(c) & 1) != 0;
    const struct slice bytes = cursor_bytes(c, is_wide ? 2 * n : n);
    const size_t at = fm->text.n;

    for (size_t i = 0; !is_wide && i < bytes.n; i++) {
        text_add_char(&fm->text, (unsigned char)bytes.p[i]);
    }
    text_add_wide(&fm->text, is_wide ? bytes : SLICE_NONE);
    push(fm, at);
}

/* The two texts on top stand one behind the other, where nothing came between. */
static void join_top(struct formula *fm)
{
    if (fm->nstack < 2) {
        fm->nstack = 0;
        return;
    }
    struct formula_value *a = &fm->stack[fm->nstack - 2];
    const struct formula_value b = fm->stack[fm->nstack - 1];
    if (a->n == 0) {
        *a = b;
    } else if (b.n > 0 && a->at + a->n == b.at) {
        a->n += b.n;
    } else {
        /* a value between them was dropped */
    }
    fm->nstack--;
}

static void call(struct formula *fm, unsigned function, size_t narguments)
{
    const size_t at = fm->text.n;

    if (function == FUNCTION_HYPERLINK && narguments >= 1 && narguments <= fm->nstack &&
        fm->nlinks < FORMULA_LINKS) {
        fm->link[fm->nlinks++] = fm->stack[fm->nstack - narguments];
    }
    fm->runs = fm->runs || function == FUNCTION_EXEC || function == FUNCTION_CALL ||
               function == FUNCTION_REGISTER;
    pop(fm, narguments);
    if (function == FUNCTION_CHAR) {
        text_add_char(&fm->text, fm->number & 0xff);
    }
    push(fm, at);
}

/* Functions of a fixed number of arguments: those that matter have one, the others leave it at
 * that, since the texts of their arguments are no value of interest. */
static void read_function(struct formula *fm, struct cursor *c)
{
    call(fm, cursor_u16(c), 1);
}

static void read_function_of(struct formula *fm, struct cursor *c)
{
    const size_t n = cursor_u8(c) & 0x7f;
    const unsigned function = cursor_u16(c) & 0x7fff;

    call(fm, function, n);
}

static void read_attribute(struct formula *fm, struct cursor *c)
{
    const unsigned kind = cursor_u8(c);
    const size_t n = cursor_u16(c);

    if ((kind & ATTRIBUTE_CHOOSE) != 0) {
        (void)cursor_bytes(c, 2 * (n + 1));
    }
    if ((kind & ATTRIBUTE_SUM) != 0) {
        pop(fm, 1);
        push(fm, fm->text.n);
    }
}

static void read_token(struct formula *fm, struct cursor *c)
{
    unsigned token = cursor_u8(c) & 0x7f;

    token = token >= 0x40 ? (token & 0x1f) | 0x20 : token;
    switch (token) {
    case TOKEN_CONCAT:
        join_top(fm);
        return;
    case TOKEN_TEXT:
        read_constant(fm, c);
        return;
    case TOKEN_ATTRIBUTE:
        read_attribute(fm, c);
        return;
    case TOKEN_FUNCTION:
        read_function(fm, c);
        return;
    case TOKEN_FUNCTION_OF:
        read_function_of(fm, c);
        return;
    case TOKEN_EXTENDED:
        (void)cursor_bytes(c, 5);
        return;
    case TOKEN_MISSING:
        push(fm, fm->text.n);
        return;
    case TOKEN_PAREN:
        return;
    default:
        break;
    }
    if (token >= 0x03 && token <= 0x11) { /* two values become one without text */
        pop(fm, 2);
        push(fm, fm->text.n);
        return;
    }
    if (token > 0x14 && rows[token].bytes == 0) {
        c->failed = true; /* no token */
        return;
    }
    const struct slice operand = cursor_bytes(c, rows[token].bytes);
    if (token == TOKEN_INTEGER && operand.n == 2) {
        fm->number = (unsigned char)operand.p[0] | (unsigned)(unsigned char)operand.p[1]
                                                       << 8;
    }
    if (rows[token].is_value) {
        push(fm, fm->text.n);
    }
}

void formula_read(struct formula *fm, struct slice tokens)
{
    struct cursor c = cursor_of(tokens);

    buf_clear(&fm->text);
    fm->nstack = 0;
    fm->nlinks = 0;
    fm->number = 0;
    fm->runs = false;
    while (cursor_ok(&c) && c.rest.n > 0) {
        read_token(fm, &c);
    }
}
