/* ole_excel - texts, links and macros of a workbook. Source: MS-XLS 2.1 to 2.4 (BIFF8). */

#include "core/base/cursor.h"
#include "core/reader/document/excel_formula.h"
#include "core/reader/document/ole_text.h"

enum record_type {
    XLS_FORMULA = 0x0006,
    XLS_EOF = 0x000a,
    XLS_HEADER = 0x0014,
    XLS_FOOTER = 0x0015,
    XLS_NAME = 0x0018,
    XLS_FILEPASS = 0x002f,
    XLS_CONTINUE = 0x003c,
    XLS_BOUNDSHEET = 0x0085,
    XLS_SST = 0x00fc,
    XLS_SUPBOOK = 0x01ae,
    XLS_TXO = 0x01b6,
    XLS_LABEL = 0x0204,
    XLS_STRING = 0x0207,
    XLS_BOF = 0x0809
};

enum {
    SHEETS = 1024,                  /* whose names are kept */
    SHEET_NAME = 4 * UINT8_MAX + 1, /* bytes */
    BOF_BIFF8 = 0x0600,
    BOF_MACROS = 0x0040,
    SHEET_MACROS = 1,
    SHEET_VERY_HIDDEN =
        2, /* no menu shows it; hidden sheets are in many honest workbooks */
    STRING_WIDE = 1,
    STRING_EXTENDED = 4,
    STRING_RICH = 8,
    NAME_BUILTIN = 0x20,
    NAME_HEAD = 14, /* bytes of a name before its characters */
    FORMULA_HEAD = 20,
    LABEL_HEAD = 6
};

struct sheet {
    uint32_t at;
    char name[SHEET_NAME];
};

struct excel {
    struct ole *o;
    struct slice file;
    size_t at;         /* of the next record */
    struct slice body; /* rest of the record */
    struct buf text;
    struct formula formula;
    bool is_old;    /* before BIFF8: a string has no flags */
    bool is_macros; /* the sheet holds macros */
    struct sheet *sheet;
    size_t nsheets;
    size_t sheet_next; /* where the next beginning is looked for */
};

/* The next record of any type. False: the stream ends. */
static bool next_record(struct excel *e, unsigned *rettype)
{
    struct cursor c = cursor_of(slice_from(e->file, e->at));
    const unsigned type = cursor_u16(&c);
    const size_t n = cursor_u16(&c);

    if (!cursor_ok(&c)) {
        return false;
    }
    e->body = slice_head(c.rest, n);
    e->at += 4 + e->body.n;
    *rettype = type;
    return true;
}

/* Goes on in the record that continues this one. False: there is none. */
static bool next_part(struct excel *e)
{
    const size_t here = e->at;
    unsigned type;

    if (next_record(e, &type) && type == XLS_CONTINUE) {
        return true;
    }
    e->at = here;
    e->body = SLICE_NONE;
    return false;
}

/* n bytes of the record and of those that continue it. False: they are not there. */
static bool skip_bytes(struct excel *e, uint64_t n)
{
    while (n > e->body.n) {
        n -= e->body.n;
        if (!next_part(e)) {
            return false;
        }
    }
    e->body = slice_from(e->body, (size_t)n);
    return true;
}

static uint32_t take_le(struct excel *e, unsigned nbytes)
{
    uint32_t v = 0;

    for (unsigned i = 0; i < nbytes; i++) {
        if (e->body.n == 0 && !next_part(e)) {
            break;
        }
        if (e->body.n > 0) {
            v |= (uint32_t)(unsigned char)e->body.p[0] << 8 * i;
            e->body = slice_from(e->body, 1);
        }
    }
    return v;
}

/* n characters; where they go on in another record, that begins with their width again. */
static bool take_characters(struct excel *e, size_t n, bool is_wide, struct buf *to)
{
    while (n > 0) {
        const size_t unit = is_wide ? 2 : 1;
        const size_t here = e->body.n / unit < n ? e->body.n / unit : n;
        const struct slice part = slice_head(e->body, here * unit);
        if (is_wide) {
            text_add_wide(to, part);
        } else {
            for (size_t i = 0; i < part.n; i++) {
                text_add_char(to, (unsigned char)part.p[i]);
            }
        }
        e->body = slice_from(e->body, part.n);
        n -= here;
        if (n > 0) {
            if (!next_part(e)) {
                return false;
            }
            is_wide = (take_le(e, 1) & STRING_WIDE) != 0;
        }
    }
    return true;
}

static bool take_counted_text(struct excel *e, size_t n, struct buf *to)
{
    const unsigned flags = e->is_old ? 0 : take_le(e, 1);
    const uint64_t runs = (flags & STRING_RICH) != 0 ? take_le(e, 2) : 0;
    const uint64_t more = (flags & STRING_EXTENDED) != 0 ? take_le(e, 4) : 0;

    return take_characters(e, n, (flags & STRING_WIDE) != 0, to) &&
           skip_bytes(e, 4 * runs + more);
}

static void end_text(struct excel *e)
{
    buf_add_char(&e->text, '\n');
    text_step(e->o, &e->text);
}

/* The strings of all cells, in the order in which they were used first. */
static void read_strings(struct excel *e)
{
    (void)take_le(e, 4);
    uint32_t n = take_le(e, 4);

    while (n-- > 0 && !e->o->is_over) {
        if (e->body.n == 0 && !next_part(e)) {
            break;
        }
        if (!take_counted_text(e, take_le(e, 2), &e->text)) {
            ole_keep(e->o, found_fact(e->o->f, RECORD_DAMAGED));
            break;
        }
        end_text(e);
    }
    text_flush(e->o, &e->text);
}

static void read_sheet(struct excel *e)
{
    const uint32_t at = take_le(e, 4);
    const bool is_hidden = (take_le(e, 1) & 3) == SHEET_VERY_HIDDEN;
    const unsigned type = take_le(e, 1);
    struct buf name;

    buf_init(&name, SHEET_NAME);
    (void)take_counted_text(e, take_le(e, 1), &name);
    if (name.n > 0) {
        ole_keep(e->o, found_text(e->o->f, buf_slice(&name), is_hidden));
        ole_keep(e->o, found_text(e->o->f, SLICE_LIT("\n"), is_hidden));
    }
    if (type == SHEET_MACROS) {
        ole_keep(e->o, found_fact(e->o->f, RECORD_MACRO));
    }
    if (e->nsheets < SHEETS) {
        struct sheet *s = &e->sheet[e->nsheets++];
        s->at = at;
        (void)snprintf(s->name, sizeof(s->name), "%.*s", SLICE_ARGS(buf_slice(&name)));
    }
    buf_fini(&name);
}

/* The sheets begin in the order of their names as a rule: each is looked for once. */
static void begin_sheet(struct excel *e, size_t at)
{
    const unsigned version = take_le(e, 2);
    const unsigned type = take_le(e, 2);

    text_flush(e->o, &e->text);
    e->is_old = version < BOF_BIFF8;
    e->is_macros = type == BOF_MACROS;
    if (e->is_macros) {
        ole_keep(e->o, found_fact(e->o->f, RECORD_MACRO));
    }
    for (size_t i = e->sheet_next; i < e->nsheets; i++) {
        if (e->sheet[i].at == at) {
            e->sheet_next = i + 1;
            ole_at(e->o, "sheet %s", e->sheet[i].name);
            return;
        }
    }
}

static void read_tokens(struct excel *e, struct slice tokens)
{
    struct formula *fm = &e->formula;

    formula_read(fm, tokens);
    for (size_t i = 0; i < fm->nlinks; i++) {
        const struct slice link = formula_text(fm, fm->link[i]);
        if (link.n > 0) {
            ole_keep(e->o, found_link(e->o->f, link));
        }
    }
    if (!e->is_macros || fm->text.n == 0) {
        return;
    }
    if (fm->runs) {
        ole_keep(e->o, found_fact(e->o->f, RECORD_RUNS));
    }
    ole_keep(e->o, found_script(e->o->f, RECORD_COMMAND, buf_slice(&fm->text)));
    ole_keep(e->o, found_script(e->o->f, RECORD_COMMAND, SLICE_LIT("\n")));
}

static void read_formula(struct excel *e)
{
    struct cursor c = cursor_of(slice_from(e->body, FORMULA_HEAD));
    const size_t n = cursor_u16(&c);

    read_tokens(e, slice_head(c.rest, n));
}

/* A name for a formula; names that start by themselves belong to macros. */
static void read_name(struct excel *e)
{
    struct cursor c = cursor_of(e->body);
    const unsigned flags = cursor_u16(&c);
    (void)cursor_u8(&c);
    const size_t nname = cursor_u8(&c);
    const size_t nformula = cursor_u16(&c);
    (void)cursor_bytes(&c, NAME_HEAD - 6);
    const bool is_wide = !e->is_old && (cursor_u8(&c) & STRING_WIDE) != 0;
    const struct slice name = cursor_bytes(&c, is_wide ? 2 * nname : nname);

    if (!cursor_ok(&c)) {
        return;
    }
    if ((flags & NAME_BUILTIN) != 0 && name.n == 1 &&
        (name.p[0] == 1 || name.p[0] == 2)) {
        ole_keep(e->o, found_fact(e->o->f, RECORD_RUNS)); /* Auto_Open, Auto_Close */
    }
    read_tokens(e, slice_head(c.rest, nformula));
}

/* &L, &"font,style", &12: layout in the text of a header. */
static void add_without_layout(struct buf *to, struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '&' || i + 1 == s.n) {
            buf_add_char(to, s.p[i]);
            continue;
        }
        i++;
        if (s.p[i] == '&') {
            buf_add_char(to, '&');
            continue;
        }
        if (s.p[i] == '"') {
            i += 1 + slice_find(slice_from(s, i + 1), '"');
        }
        while (i + 1 < s.n && s.p[i] >= '0' && s.p[i] <= '9' && s.p[i + 1] >= '0' &&
               s.p[i + 1] <= '9') {
            i++;
        }
        buf_add_char(to, ' ');
    }
}

static void read_header(struct excel *e)
{
    struct buf raw;

    if (e->body.n == 0) {
        return;
    }
    buf_init(&raw, (size_t)4 * UINT16_MAX);
    (void)take_counted_text(e, take_le(e, e->is_old ? 1 : 2), &raw);
    add_without_layout(&e->text, buf_slice(&raw));
    buf_fini(&raw);
    end_text(e);
}

/* Another workbook, or a program for DDE: its name, 3, topic. */
static void read_source(struct excel *e)
{
    struct buf path;

    (void)take_le(e, 2);
    const size_t n = take_le(e, 2);
    if (n == 0 || n > UINT8_MAX) { /* a mark of this workbook or of functions */
        return;
    }
    buf_init(&path, (size_t)4 * UINT8_MAX);
    (void)take_counted_text(e, n, &path);
    const struct slice s = buf_slice(&path);
    const size_t program = slice_find(s, '\3');
    if (program > 0 && program < s.n && s.p[0] != '\1') {
        path.p[program] = ' ';
        ole_keep(e->o, found_fact(e->o->f, RECORD_RUNS));
        ole_keep(e->o, found_script(e->o->f, RECORD_COMMAND, s));
    } else {
        const size_t at = slice_find_slice(s, SLICE_LIT("http"));
        const struct slice link = slice_from(s, at);
        if (link.n > 0) {
            ole_keep(e->o, found_link(e->o->f, link));
        }
    }
    buf_fini(&path);
}

/* Text of a shape or of a comment: its characters begin in the record that continues it. */
static void read_shape(struct excel *e)
{
    struct cursor c = cursor_of(slice_from(e->body, 10));
    const size_t n = cursor_u16(&c);

    e->body = SLICE_NONE;
    if (n > 0 && cursor_ok(&c) && next_part(e)) {
        const bool is_wide = (take_le(e, 1) & STRING_WIDE) != 0;
        (void)take_characters(e, n, is_wide, &e->text);
        end_text(e);
    }
}

static void read_label(struct excel *e, size_t head)
{
    (void)skip_bytes(e, head);
    (void)take_counted_text(e, take_le(e, 2), &e->text);
    end_text(e);
}

/* False: the rest cannot be read. */
static bool read_known(struct excel *e, unsigned type, size_t at)
{
    switch (type) {
    case XLS_FILEPASS:
        ole_keep(e->o, found_fact(e->o->f, RECORD_ENCRYPTED));
        return false;
    case XLS_BOF:
        begin_sheet(e, at);
        break;
    case XLS_EOF:
        text_flush(e->o, &e->text);
        ole_at(e->o, "%s", "");
        break;
    case XLS_BOUNDSHEET:
        read_sheet(e);
        break;
    case XLS_SST:
        read_strings(e);
        break;
    case XLS_FORMULA:
        read_formula(e);
        break;
    case XLS_NAME:
        read_name(e);
        break;
    case XLS_HEADER:
    case XLS_FOOTER:
        read_header(e);
        break;
    case XLS_SUPBOOK:
        read_source(e);
        break;
    case XLS_TXO:
        read_shape(e);
        break;
    case XLS_LABEL:
        read_label(e, LABEL_HEAD);
        break;
    case XLS_STRING:
        read_label(e, 0);
        break;
    default:
        break;
    }
    return !e->o->is_over;
}

void excel_read(struct ole *o, const struct ole_folder *folder, struct slice bytes)
{
    struct excel e = {.o = o, .file = bytes};
    unsigned type;
    size_t at = 0;

    (void)folder;
    e.sheet = calloc(SHEETS, sizeof(*e.sheet));
    if (e.sheet == NULL) {
        return;
    }
    buf_init(&e.text, (size_t)16 * OLE_TEXT_STEP);
    formula_init(&e.formula);
    while (next_record(&e, &type) && read_known(&e, type, at)) {
        at = e.at;
    }
    text_flush(o, &e.text);
    ole_at(o, "%s", "");
    ole_search(o, bytes);
    formula_fini(&e.formula);
    buf_fini(&e.text);
    free(e.sheet);
}
