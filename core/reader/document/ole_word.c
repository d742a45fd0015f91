/* ole_word - text and fields of a Word document. Source: MS-DOC 2.4.1 (text), 2.5 (FIB). */

#include "core/base/cursor.h"
#include "core/message/text/charset.h"
#include "core/reader/document/field.h"
#include "core/reader/document/ole_text.h"

enum {
    FIB_MAGIC = 0xa5ec,
    FIB_WORD_97 = 0x00c1, /* the first version with a piece table in this layout */
    FIB_ENCRYPTED = 0x0100,
    FIB_TABLE_1 = 0x0200,
    FIB_MIN = 24,   /* offset: where the text of older versions begins and ends */
    FIB_TEXTS = 76, /* offset: counts of characters */
    FIB_CLX = 418,  /* offset: place and length of the piece table */
    PIECE_BYTES = 8,
    NTEXTS = 8
};

/* Parts of the text in the order in which they follow each other. */
static const char *const texts[NTEXTS] = {
    "",         "footnotes", "headers and footers", "macros",
    "comments", "endnotes",  "text boxes",          "text boxes of headers"};

struct word {
    struct ole *o;
    struct slice file;
    struct buf text;
    struct field field;
    uint32_t left[NTEXTS]; /* characters that are still to come */
    unsigned at;           /* of texts */
    uint32_t high;         /* first half of a pair */
};

static void write_text(struct word *w)
{
    text_flush(w->o, &w->text);
}

static void next_text(struct word *w)
{
    while (w->at + 1 < NTEXTS && w->left[w->at] == 0) {
        w->at++;
        if (w->left[w->at] > 0) {
            write_text(w);
            ole_at(w->o, "%s", texts[w->at]);
        }
    }
}

static void add_character(struct word *w, uint32_t c)
{
    struct buf *code = field_code(&w->field);

    if (w->high != 0 && (c & 0xfc00) == 0xdc00) {
        c = 0x10000 + ((w->high & 0x3ff) << 10) + (c & 0x3ff);
        w->high = 0;
    } else {
        w->high = (c & 0xfc00) == 0xd800 ? c : 0;
    }
    text_add_char(code != NULL ? code : &w->text, c);
}

static void put_mark(struct word *w, uint32_t c)
{
    switch (c) {
    case 0x13:
        ole_keep(w->o, field_begin(&w->field));
        break;
    case 0x14:
        ole_keep(w->o, field_separate(&w->field, w->o->f));
        break;
    case 0x15:
        ole_keep(w->o, field_end(&w->field, w->o->f));
        break;
    case 0x07: /* end of a cell */
    case 0x0b:
    case 0x0c:
    case 0x0d:
    case 0x0a:
        add_character(w, '\n');
        break;
    case 0x1e: /* a hyphen that does not break */
        add_character(w, '-');
        break;
    case 0x09:
    case 0x0e:
        add_character(w, ' ');
        break;
    default: /* pictures, numbers of notes, soft hyphens */
        break;
    }
}

static void on_character(struct word *w, uint32_t c)
{
    next_text(w);
    if (w->left[w->at] > 0) {
        w->left[w->at]--;
    }
    if (c < 0x20) {
        put_mark(w, c);
    } else {
        add_character(w, c);
    }
    text_step(w->o, &w->text);
}

static void put_narrow(struct word *w, struct slice bytes)
{
    for (size_t i = 0; i < bytes.n && !w->o->is_over; i++) {
        on_character(w, charset_western((unsigned char)bytes.p[i]));
    }
}

static void put_wide(struct word *w, struct slice bytes)
{
    struct cursor c = cursor_of(bytes);

    while (c.rest.n >= 2 && !w->o->is_over) {
        on_character(w, cursor_u16(&c));
    }
}

static void put_piece(struct word *w, uint32_t fc, uint32_t n)
{
    const bool is_narrow = (fc & 1U << 30) != 0;
    const size_t at = is_narrow ? (fc & 0x3fffffff) / 2 : fc & 0x3fffffff;
    const struct slice rest = slice_from(w->file, at);

    if (is_narrow) {
        put_narrow(w, slice_head(rest, n));
    } else {
        put_wide(w, slice_head(rest, 2 * (size_t)n));
    }
}

/* Positions of the pieces, then the pieces. All of them are no longer than the file is, however
 * they overlap. */
static void put_pieces(struct word *w, struct slice table)
{
    const size_t n = table.n < 4 ? 0 : (table.n - 4) / (4 + PIECE_BYTES);
    struct cursor ends = cursor_of(table);
    struct cursor pieces = cursor_of(slice_from(table, 4 * (n + 1)));
    uint64_t room = w->file.n;
    uint32_t begin = cursor_u32(&ends);

    for (size_t i = 0; i < n && !w->o->is_over; i++) {
        const uint32_t end = cursor_u32(&ends);
        (void)cursor_u16(&pieces);
        const uint32_t fc = cursor_u32(&pieces);
        (void)cursor_u16(&pieces);
        if (end < begin || end - begin > room) {
            ole_keep(w->o, found_fact(w->o->f, RECORD_DAMAGED));
            break;
        }
        room -= end - begin;
        put_piece(w, fc, end - begin);
        begin = end;
    }
}

/* Behind properties that are skipped stands the table of pieces. */
static void read_pieces(struct word *w, struct slice clx)
{
    struct cursor c = cursor_of(clx);

    while (cursor_ok(&c) && c.rest.n > 0) {
        const unsigned kind = cursor_u8(&c);
        if (kind == 2) {
            const uint32_t n = cursor_u32(&c);
            put_pieces(w, slice_head(c.rest, n));
            return;
        }
        if (kind != 1) {
            break;
        }
        (void)cursor_bytes(&c, cursor_u16(&c));
    }
    ole_keep(w->o, found_fact(w->o->f, RECORD_DAMAGED));
}

static void read_by_table(struct word *w, const struct ole_folder *folder,
                          unsigned flags)
{
    const char *name = (flags & FIB_TABLE_1) != 0 ? "1Table" : "0Table";
    struct cursor fib = cursor_of(slice_from(w->file, FIB_CLX));
    const uint32_t at = cursor_u32(&fib);
    const uint32_t n = cursor_u32(&fib);
    struct ole_stream table;

    if (!ole_open(w->o, folder, name, &table)) {
        ole_keep(w->o, found_fact(w->o->f, RECORD_DAMAGED));
        return;
    }
    fib = cursor_of(slice_from(w->file, FIB_TEXTS));
    for (size_t i = 0; i < NTEXTS; i++) {
        w->left[i] = cursor_u32(&fib);
    }
    read_pieces(w, slice_head(slice_from(table.bytes, at), n));
    ole_close(&table);
}

/* Word 6 and 95: the text stands in one piece. */
static void read_old(struct word *w)
{
    struct cursor fib = cursor_of(slice_from(w->file, FIB_MIN));
    const uint32_t begin = cursor_u32(&fib);
    const uint32_t end = cursor_u32(&fib);

    w->left[0] = UINT32_MAX;
    put_narrow(w,
               slice_head(slice_from(w->file, begin), end > begin ? end - begin : 0));
}

void word_read(struct ole *o, const struct ole_folder *folder, struct slice bytes)
{
    struct word w = {.o = o, .file = bytes};
    struct cursor fib = cursor_of(bytes);
    const unsigned magic = cursor_u16(&fib);
    const unsigned version = cursor_u16(&fib);
    (void)cursor_bytes(&fib, 6);
    const unsigned flags = cursor_u16(&fib);

    if (!cursor_ok(&fib)) {
        ole_keep(o, found_fact(o->f, RECORD_DAMAGED));
        return;
    }
    if ((flags & FIB_ENCRYPTED) != 0) {
        ole_keep(o, found_fact(o->f, RECORD_ENCRYPTED));
        return;
    }
    buf_init(&w.text, (size_t)2 * OLE_TEXT_STEP);
    field_init(&w.field);
    if (magic == FIB_MAGIC && version >= FIB_WORD_97) {
        read_by_table(&w, folder, flags);
    } else {
        read_old(&w);
    }
    write_text(&w);
    field_fini(&w.field);
    buf_fini(&w.text);
}
