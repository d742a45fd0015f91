/* rich_text - text, fields, embedded objects and outside templates of a file in Rich Text Format.
 *
 * One pass over the bytes. Groups stand on a stack of fixed size; the content of deeper ones
 * belongs to the deepest that is kept. An unknown destination is left out, as programs do.
 * Source: Rich Text Format Specification 1.9.1; MS-OLEDS 2.2 (objects), 2.3.6 (packages). */

#include "core/base/cursor.h"
#include "core/reader/document/field.h"
#include "core/reader/document/ole_text.h"
#include "core/reader/wire/format.h"

enum {
    RTF_DEPTH = 200, /* of groups in one another */
    RTF_WORD = 32,   /* letters of a control word */
    RTF_FONTS = 1024
};

/* Where characters go. */
enum destination {
    TO_TEXT,
    TO_NOTHING,
    TO_FONTS,
    TO_LINK,  /* a name of another file */
    TO_OBJECT /* bytes in hexadecimal */
};

struct group {
    enum destination to;
    bool is_field;
    bool is_code; /* of the field around it */
    bool is_hidden;
    unsigned codepage;
    unsigned skip; /* characters that stand for a Unicode character, for old programs */
};

struct rtf {
    struct ole *o;
    struct cursor c;
    struct group stack[RTF_DEPTH];
    size_t depth;    /* of the group that is open */
    size_t too_deep; /* groups beyond the stack */
    bool is_new;     /* the group has just begun: a word may be its destination */
    bool is_starred; /* whoever does not know the destination leaves it out */
    unsigned skip;   /* characters still to be left out */
    unsigned codepage;
    unsigned fonts[RTF_FONTS]; /* code page; 0: that of the file */
    unsigned font;             /* that is defined */
    uint32_t high;             /* first half of a pair */
    struct field field;
    struct buf narrow; /* bytes that await their code page */
    struct buf text;
    struct buf link;
    struct buf object;
    int digit; /* first hexadecimal digit of a byte, or -1 */
};

enum action {
    DO_DESTINATION, /* value: enum destination */
    DO_STARRED,     /* a destination that is read though it is starred */
    DO_FIELD,
    DO_CODE,
    DO_CHARACTER, /* value: code point */
    DO_UNICODE,
    DO_SKIP,
    DO_CODEPAGE,
    DO_FONT,
    DO_CHARSET,
    DO_PLAIN,
    DO_HIDDEN,
    DO_BINARY,
    DO_RUNS
};

struct word {
    const char *name;
    enum action action;
    unsigned value;
};

static const struct word words[] = {
    {"annotation", DO_STARRED, TO_TEXT},
    {"ansicpg", DO_CODEPAGE, 0},
    {"bin", DO_BINARY, 0},
    {"blipuid", DO_DESTINATION, TO_NOTHING},
    {"bullet", DO_CHARACTER, 0x2022},
    {"cell", DO_CHARACTER, '\n'},
    {"colortbl", DO_DESTINATION, TO_NOTHING},
    {"cpg", DO_CODEPAGE, 0},
    {"emdash", DO_CHARACTER, 0x2014},
    {"endash", DO_CHARACTER, 0x2013},
    {"f", DO_FONT, 0},
    {"fcharset", DO_CHARSET, 0},
    {"field", DO_FIELD, 0},
    {"fldinst", DO_CODE, 0},
    {"fonttbl", DO_DESTINATION, TO_FONTS},
    {"footnote", DO_STARRED, TO_TEXT},
    {"hl", DO_STARRED, TO_NOTHING},
    {"hlloc", DO_STARRED, TO_LINK},
    {"hlsrc", DO_STARRED, TO_LINK},
    {"info", DO_DESTINATION, TO_NOTHING},
    {"ldblquote", DO_CHARACTER, 0x201c},
    {"line", DO_CHARACTER, '\n'},
    {"listtext", DO_DESTINATION, TO_NOTHING},
    {"lquote", DO_CHARACTER, 0x2018},
    {"nestcell", DO_CHARACTER, '\n'},
    {"nonshppict", DO_DESTINATION, TO_NOTHING},
    {"objautlink", DO_RUNS, 0},
    {"objdata", DO_STARRED, TO_OBJECT},
    {"objupdate", DO_RUNS, 0},
    {"page", DO_CHARACTER, '\n'},
    {"par", DO_CHARACTER, '\n'},
    {"pict", DO_DESTINATION, TO_NOTHING},
    {"plain", DO_PLAIN, 0},
    {"rdblquote", DO_CHARACTER, 0x201d},
    {"row", DO_CHARACTER, '\n'},
    {"rquote", DO_CHARACTER, 0x2019},
    {"sect", DO_CHARACTER, '\n'},
    {"shpinst", DO_STARRED, TO_TEXT},
    {"shprslt", DO_DESTINATION, TO_NOTHING},
    {"shptxt", DO_STARRED, TO_TEXT},
    {"sn", DO_DESTINATION, TO_NOTHING},
    {"stylesheet", DO_DESTINATION, TO_NOTHING},
    {"sv", DO_DESTINATION, TO_NOTHING},
    {"tab", DO_CHARACTER, '\t'},
    {"template", DO_STARRED, TO_LINK},
    {"u", DO_UNICODE, 0},
    {"uc", DO_SKIP, 0},
    {"v", DO_HIDDEN, 0},
    {"xe", DO_DESTINATION, TO_NOTHING},
};

static struct group *top(struct rtf *r)
{
    return &r->stack[r->depth];
}

/* Where a character goes now; NULL: nowhere. */
static struct buf *target(struct rtf *r)
{
    struct buf *code = field_code(&r->field);

    switch (top(r)->to) {
    case TO_TEXT:
        return code != NULL ? code : &r->text;
    case TO_LINK:
        return &r->link;
    case TO_NOTHING:
    case TO_FONTS:
    case TO_OBJECT:
        break;
    }
    return NULL;
}

/* Converts the bytes that wait by the code page. */
static void settle(struct rtf *r)
{
    struct buf *to = target(r);

    if (r->narrow.n > 0 && to != NULL) {
        text_add_narrow(r->o, to, top(r)->codepage, buf_slice(&r->narrow));
    }
    buf_clear(&r->narrow);
}

static void write_text(struct rtf *r, bool is_hidden)
{
    settle(r);
    if (r->text.n > 0) {
        ole_keep(r->o, found_text(r->o->f, buf_slice(&r->text), is_hidden));
    }
    buf_clear(&r->text);
}

static void put_character(struct rtf *r, uint32_t c)
{
    settle(r);
    struct buf *to = target(r);

    if (r->high != 0 && (c & 0xfc00) == 0xdc00) {
        c = 0x10000 + ((r->high & 0x3ff) << 10) + (c & 0x3ff);
    }
    r->high = (c & 0xfffffc00) == 0xd800 ? c : 0;
    if (to != NULL) {
        text_add_char(to, c);
    }
    if (r->text.n >= OLE_TEXT_STEP) {
        write_text(r, top(r)->is_hidden);
    }
}

static void put_digit(struct rtf *r, char c)
{
    const int value = hex_digit_value(c);

    if (value < 0) {
        return;
    }
    if (r->digit < 0) {
        r->digit = value;
    } else {
        buf_add_u8(&r->object, (uint8_t)(r->digit << 4 | value));
        r->digit = -1;
    }
}

static void put_byte(struct rtf *r, unsigned char c)
{
    if (r->skip > 0) {
        r->skip--;
    } else if (top(r)->to == TO_OBJECT) {
        put_digit(r, (char)c);
    } else if (c < 0x80 && r->narrow.n == 0) {
        put_character(r, c);
    } else if (c != 0 && target(r) != NULL) {
        buf_add_char(&r->narrow, (char)c);
        if (r->narrow.n >= OLE_TEXT_STEP) {
            settle(r);
        }
    } else {
        /* of a destination that is left out */
    }
}

static void end_destination(struct rtf *r, enum destination to)
{
    if (to == TO_OBJECT && r->object.n > 0) {
        write_text(r, false);
        ole_object(r->o, buf_slice(&r->object), r->codepage);
        buf_clear(&r->object);
        r->digit = -1;
    }
    if (to == TO_LINK && r->link.n > 0) {
        ole_keep(r->o, found_link(r->o->f, slice_trim(buf_slice(&r->link))));
        buf_clear(&r->link);
    }
}

static void begin_group(struct rtf *r)
{
    settle(r);
    r->is_new = true;
    r->is_starred = false;
    r->skip = 0;
    if (r->depth + 1 == RTF_DEPTH) {
        r->too_deep++;
        return;
    }
    r->stack[r->depth + 1] = r->stack[r->depth];
    r->depth++;
    top(r)->is_field = false;
    top(r)->is_code = false;
}

static void end_group(struct rtf *r)
{
    settle(r);
    r->is_new = false;
    r->skip = 0;
    if (r->too_deep > 0 || r->depth == 0) {
        r->too_deep -= r->too_deep > 0 ? 1 : 0;
        return;
    }
    const struct group ended = *top(r);
    if (ended.is_hidden != r->stack[r->depth - 1].is_hidden) {
        write_text(r, ended.is_hidden);
    }
    r->depth--;
    if (ended.is_code) {
        ole_keep(r->o, field_separate(&r->field, r->o->f));
    }
    if (ended.is_field) {
        ole_keep(r->o, field_end(&r->field, r->o->f));
    }
    if (ended.to != top(r)->to) {
        end_destination(r, ended.to);
    }
}

static void set_codepage(struct rtf *r, unsigned codepage)
{
    settle(r);
    top(r)->codepage = codepage != 0 ? codepage : r->codepage;
}

static void choose_font(struct rtf *r, unsigned font)
{
    if (top(r)->to == TO_FONTS) {
        r->font = font;
    } else if (font < RTF_FONTS) {
        set_codepage(r, r->fonts[font]);
    } else {
        /* more fonts than are kept */
    }
}

static void define_font(struct rtf *r, unsigned codepage)
{
    if (top(r)->to == TO_FONTS && r->font < RTF_FONTS && codepage != 0) {
        r->fonts[r->font] = codepage;
    }
}

static void define_codepage(struct rtf *r, unsigned codepage)
{
    if (top(r)->to == TO_FONTS) {
        define_font(r, codepage);
        return;
    }
    r->codepage = codepage;
    set_codepage(r, codepage);
}

static void set_hidden(struct rtf *r, bool is_hidden)
{
    if (top(r)->is_hidden != is_hidden) {
        write_text(r, top(r)->is_hidden);
        top(r)->is_hidden = is_hidden;
    }
}

static void take_binary(struct rtf *r, long n)
{
    const size_t most = n > 0 ? (size_t)n : 0;
    const struct slice bytes =
        cursor_bytes(&r->c, most < r->c.rest.n ? most : r->c.rest.n);

    if (top(r)->to == TO_OBJECT) {
        buf_add(&r->object, bytes);
    }
}

static void open_destination(struct rtf *r, enum destination to)
{
    const enum destination around = r->depth > 0 ? r->stack[r->depth - 1].to : TO_TEXT;

    settle(r);
    /* only addresses are read inside a destination that is left out */
    top(r)->to = around == TO_NOTHING && to == TO_TEXT ? TO_NOTHING : to;
}

static void open_field(struct rtf *r)
{
    settle(r);
    if (!top(r)->is_field) {
        top(r)->is_field = true;
        ole_keep(r->o, field_begin(&r->field));
    }
}

static void obey(struct rtf *r, const struct word *w, bool has_number, long number)
{
    switch (w->action) {
    case DO_DESTINATION:
    case DO_STARRED:
        open_destination(r, (enum destination)w->value);
        break;
    case DO_FIELD:
        open_field(r);
        break;
    case DO_CODE:
        settle(r);
        top(r)->is_code = true;
        break;
    case DO_CHARACTER:
        put_character(r, w->value);
        break;
    case DO_UNICODE:
        put_character(r, (uint32_t)(number & 0xffff));
        r->skip = top(r)->skip;
        break;
    case DO_SKIP:
        top(r)->skip = number > 0 && number < UINT8_MAX ? (unsigned)number : 0;
        break;
    case DO_CODEPAGE:
        define_codepage(r, (unsigned)number);
        break;
    case DO_FONT:
        choose_font(r, (unsigned)number);
        break;
    case DO_CHARSET:
        define_font(r, text_codepage_of_charset((unsigned)number));
        break;
    case DO_PLAIN:
        set_hidden(r, false);
        break;
    case DO_HIDDEN:
        set_hidden(r, !has_number || number != 0);
        break;
    case DO_BINARY:
        take_binary(r, number);
        break;
    case DO_RUNS:
        ole_keep(r->o, found_fact(r->o->f, RECORD_RUNS));
        break;
    }
}

static const struct word *word_of(const char *name)
{
    for (size_t i = 0; i < LENGTH(words); i++) {
        if (words[i].name[0] == name[0] && strcmp(words[i].name, name) == 0) {
            return &words[i];
        }
    }
    return NULL;
}

static bool is_ascii_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char peek(const struct rtf *r)
{
    if (r->c.rest.n == 0) {
        return '\0';
    }
    return r->c.rest.p[0];
}

/* -12: digits beyond those of any number are left out. */
static long lex_number(struct rtf *r)
{
    const bool is_negative = peek(r) == '-';
    long number = 0;

    if (is_negative) {
        (void)cursor_u8(&r->c);
    }
    while (is_digit(peek(r))) {
        const unsigned char c = cursor_u8(&r->c);
        number = number < INT32_MAX / 16 ? 10 * number + (c - '0') : number;
    }
    return is_negative ? -number : number;
}

static void lex_word(struct rtf *r)
{
    char name[RTF_WORD + 1];
    size_t n = 0;

    while (is_ascii_letter(peek(r))) {
        const char c = (char)cursor_u8(&r->c);
        if (n < RTF_WORD) {
            name[n++] = c;
        }
    }
    name[n] = '\0';
    const bool has_number = is_digit(peek(r)) || peek(r) == '-';
    const long number = has_number ? lex_number(r) : 0;
    if (peek(r) == ' ') {
        (void)cursor_u8(&r->c);
    }
    const struct word *w = word_of(name);
    const bool is_known = w != NULL && w->action != DO_DESTINATION;
    if (r->is_starred && r->is_new && !is_known) {
        open_destination(r, TO_NOTHING);
    } else if (w != NULL) {
        obey(r, w, has_number, number);
    } else {
        /* layout */
    }
    r->is_new = false;
}

static void take_hexadecimal(struct rtf *r)
{
    const int high = hex_digit_value(peek(r));

    if (high < 0) {
        return;
    }
    (void)cursor_u8(&r->c);
    const int low = hex_digit_value(peek(r));
    if (low < 0) {
        return;
    }
    (void)cursor_u8(&r->c);
    const unsigned char c = (unsigned char)(high << 4 | low);
    if (r->skip > 0) {
        r->skip--;
    } else if (c < 0x80 && r->narrow.n == 0) {
        put_character(r, c);
    } else if (target(r) != NULL) {
        buf_add_char(&r->narrow, (char)c);
    } else {
        /* of a destination that is left out */
    }
}

/* Reads the bytes that follow a backslash. */
static void lex_control(struct rtf *r)
{
    if (is_ascii_letter(peek(r))) {
        lex_word(r);
        return;
    }
    const char c = (char)cursor_u8(&r->c);
    switch (c) {
    case '\'':
        take_hexadecimal(r);
        break;
    case '*':
        r->is_starred = true;
        return; /* the group has still to tell its destination */
    case '~':
        put_character(r, 0xa0);
        break;
    case '_':
        put_character(r, '-');
        break;
    case '\\':
    case '{':
    case '}':
        put_byte(r, (unsigned char)c);
        break;
    case '\r':
    case '\n':
        put_character(r, '\n');
        break;
    default:
        break;
    }
    r->is_new = false;
}

static void read_byte(struct rtf *r)
{
    const unsigned char c = cursor_u8(&r->c);

    switch (c) {
    case '{':
        begin_group(r);
        break;
    case '}':
        end_group(r);
        break;
    case '\\':
        lex_control(r);
        break;
    case '\r':
    case '\n':
    case '\0':
        break;
    default:
        r->is_new = false;
        put_byte(r, c);
        break;
    }
}

void rtf_read(const struct reader_job *job, struct found *f)
{
    struct ole o = {.f = f, .job = job, .arena = arena_new(OLE_ARENA)};
    struct rtf *r = o.arena != NULL ? calloc(1, sizeof(*r)) : NULL;

    if (r == NULL) {
        arena_free(&o.arena);
        return;
    }
    r->o = &o;
    r->c = cursor_of(job->bytes);
    r->digit = -1;
    top(r)->skip = 1;
    field_init(&r->field);
    buf_init(&r->narrow, (size_t)2 * OLE_TEXT_STEP);
    buf_init(&r->text, (size_t)8 * OLE_TEXT_STEP);
    buf_init(&r->link, FOUND_VALUE_MAX);
    buf_init(&r->object, job->bytes.n + 1);
    while (r->c.rest.n > 0 && !o.is_over) {
        read_byte(r);
    }
    while (r->depth > 0 && !o.is_over) { /* the file is cut */
        r->too_deep = 0;
        end_group(r);
    }
    write_text(r, top(r)->is_hidden);
    buf_fini(&r->object);
    buf_fini(&r->link);
    buf_fini(&r->text);
    buf_fini(&r->narrow);
    field_fini(&r->field);
    free(r);
    arena_free(&o.arena);
}
