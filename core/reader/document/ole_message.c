/* ole_message - a message of Outlook: texts, bodies, attachments.
 * Source: MS-OXMSG 2.1 to 2.4; MS-OXPROPS; MS-OXRTFCP (packed RTF). */

#include "core/base/cursor.h"
#include "core/message/archive/rtf.h"
#include "core/reader/document/ole_text.h"

enum property {
    PROP_SUBJECT = 0x0037,
    PROP_SENDER = 0x0c1a,
    PROP_BODY = 0x1000,
    PROP_RTF = 0x1009,
    PROP_HTML = 0x1013,
    PROP_TITLE = 0x3001,
    PROP_DATA = 0x3701,
    PROP_NAME = 0x3704,
    PROP_LONG_NAME = 0x3707,
    PROP_LONG_PATH = 0x370d,
    PROP_TYPE = 0x370e,
    PROP_CODEPAGE = 0x3ffd
};

enum value_type {
    TYPE_NUMBER = 0x0003,
    TYPE_NARROW = 0x001e,
    TYPE_WIDE = 0x001f,
    TYPE_BINARY = 0x0102
};

enum { ENTRY = 16, NAME_BYTES = 32, TEXT_MAX = 256 << 20 };

static bool open_property(struct ole *o, const struct ole_folder *folder,
                          enum property id, enum value_type type,
                          struct ole_stream *ret)
{
    char name[NAME_BYTES];

    (void)snprintf(name, sizeof(name), "__substg1.0_%04X%04X", (unsigned)id,
                   (unsigned)type);
    return ole_open(o, folder, name, ret);
}

/* Appends a text property, of either width. False: there is none. */
static bool add_property(struct ole *o, const struct ole_folder *folder,
                         enum property id, struct buf *to)
{
    struct ole_stream s;

    if (open_property(o, folder, id, TYPE_WIDE, &s)) {
        text_add_wide(to, s.bytes);
    } else if (open_property(o, folder, id, TYPE_NARROW, &s)) {
        text_add_narrow(o, to, o->codepage, s.bytes);
    } else {
        return false;
    }
    ole_close(&s);
    return to->n > 0;
}

static void read_codepage(struct ole *o, struct slice properties)
{
    struct cursor c = cursor_of(slice_from(properties, properties.n % ENTRY));

    while (c.rest.n >= ENTRY) {
        const unsigned type = cursor_u16(&c);
        const unsigned id = cursor_u16(&c);
        (void)cursor_u32(&c);
        const uint32_t value = cursor_u32(&c);
        (void)cursor_u32(&c);
        if (type == TYPE_NUMBER && id == PROP_CODEPAGE) {
            o->codepage = value;
        }
    }
}

static void read_texts(struct ole *o, const struct ole_folder *folder)
{
    static const enum property ids[] = {PROP_SUBJECT, PROP_SENDER, PROP_BODY};
    struct buf text;

    buf_init(&text, TEXT_MAX);
    for (size_t i = 0; i < LENGTH(ids); i++) {
        if (add_property(o, folder, ids[i], &text)) {
            buf_add_char(&text, '\n');
        }
        text_flush(o, &text);
    }
    buf_fini(&text);
}

/* A byte order mark wins over the charset that the page names. */
static void read_html(struct ole *o, const struct ole_folder *folder)
{
    const struct slice type = SLICE_LIT("text/html");
    struct ole_stream s;
    struct buf text;

    if (open_property(o, folder, PROP_HTML, TYPE_BINARY, &s) ||
        open_property(o, folder, PROP_HTML, TYPE_NARROW, &s)) {
        ole_file(o, SLICE_NONE, type, s.bytes);
        ole_close(&s);
    } else if (open_property(o, folder, PROP_HTML, TYPE_WIDE, &s)) {
        buf_init(&text, TEXT_MAX);
        buf_add_str(&text, "\xef\xbb\xbf");
        text_add_wide(&text, s.bytes);
        ole_file(o, SLICE_NONE, type, buf_slice(&text));
        buf_fini(&text);
        ole_close(&s);
    } else {
        /* a message of plain text, or of RTF */
    }
}

static bool on_rtf(void *context, struct slice bytes)
{
    struct ole *o = context;

    ole_keep(o, found_file_data(o->f, bytes));
    return !o->is_over;
}

static void read_rtf(struct ole *o, const struct ole_folder *folder)
{
    struct archive_budget budget = archive_budget_start();
    struct ole_stream s;

    if (!open_property(o, folder, PROP_RTF, TYPE_BINARY, &s)) {
        return;
    }
    budget.inflated = found_room(o->f);
    ole_keep(o, found_file_begin(o->f, SLICE_NONE, SLICE_LIT("text/rtf")));
    if (!o->is_over) {
        const bool is_whole = rtf_decompress(&budget, s.bytes, on_rtf, o);
        ole_keep(o, found_file_end(o->f, is_whole));
    }
    ole_close(&s);
}

/* An attachment has its bytes, a message of its own in a storage, or a path to them. */
static void read_attachment(struct ole *o, const struct ole_folder *folder)
{
    static const enum property names[] = {PROP_LONG_NAME, PROP_NAME, PROP_TITLE};
    struct ole_stream s;
    struct buf name;
    struct buf type;

    buf_init(&name, (size_t)8 * FOUND_NAME_MAX);
    buf_init(&type, (size_t)8 * FOUND_NAME_MAX);
    for (size_t i = 0; i < LENGTH(names) && name.n == 0; i++) {
        (void)add_property(o, folder, names[i], &name);
    }
    (void)add_property(o, folder, PROP_TYPE, &type);
    if (open_property(o, folder, PROP_DATA, TYPE_BINARY, &s)) {
        ole_file(o, buf_slice(&name), buf_slice(&type), s.bytes);
        ole_close(&s);
    } else if (name.n > 0) {
        ole_keep(o, found_name(o->f, buf_slice(&name)));
    } else {
        /* a message */
    }
    buf_clear(&name);
    if (add_property(o, folder, PROP_LONG_PATH, &name)) {
        ole_keep(o, found_link(o->f, buf_slice(&name)));
    }
    buf_fini(&type);
    buf_fini(&name);
}

void message_read(struct ole *o, const struct ole_folder *folder, struct slice bytes)
{
    read_codepage(o, bytes);
    read_texts(o, folder);
    read_html(o, folder);
    read_rtf(o, folder);
    read_attachment(o, folder);
}

/* The sound of a reminder is such a property: a path to another machine makes Outlook sign in
 * there. */
void named_read(struct ole *o, const struct ole_folder *folder, struct slice bytes)
{
    const struct slice start = {"\\\0\\\0", 4};
    struct buf path;

    (void)folder;
    if (!slice_has_prefix(bytes, start)) {
        ole_search(o, bytes);
        return;
    }
    buf_init(&path, (size_t)2 * FOUND_VALUE_MAX);
    text_add_wide(&path, slice_head(bytes, FOUND_VALUE_MAX));
    ole_keep(o, found_link(o->f, buf_slice(&path)));
    buf_fini(&path);
}
