#include "core/message/archive/tnef.h"

#include "core/base/cursor.h"
#include "core/message/archive/rtf.h"

enum {
    SIGNATURE = 0x223e9f78,
    LEVEL_MESSAGE = 1,
    LEVEL_ATTACHMENT = 2,
    GUID_BYTES = 16,
    PROPERTIES_MAX = 4096 /* of one block; later ones are ignored */
};

enum attribute {
    ATTR_BODY = 0x800c,
    ATTR_DATA = 0x800f,
    ATTR_TITLE = 0x8010,
    ATTR_RENDDATA = 0x9002, /* a new attachment begins */
    ATTR_PROPERTIES = 0x9003,
    ATTR_ATTACHMENT = 0x9005 /* properties of the attachment */
};

enum property {
    PROP_BODY = 0x1000,
    PROP_RTF = 0x1009,
    PROP_HTML = 0x1013,
    PROP_DATA = 0x3701,
    PROP_NAME = 0x3704,
    PROP_LONG_NAME = 0x3707
};

enum value_type {
    TYPE_MULTIPLE = 0x1000,
    TYPE_OBJECT = 13,
    TYPE_STRING = 30,
    TYPE_UNICODE = 31,
    TYPE_BINARY = 258
};

struct text {
    struct slice bytes;
    struct slice charset;
};

/* The attachment being collected: data and names come in any order. */
struct attachment {
    bool is_open;
    struct slice data;
    struct slice embedded; /* a message in a message */
    struct text title;
    struct text name;
    struct text long_name;
};

struct tnef {
    struct archive_budget *budget;
    const struct archive_events *events;
    void *context;
    struct attachment attachment;
};

static const struct slice western = {"windows-1252", sizeof "windows-1252" - 1};
static const struct slice wide = {"utf-16le", sizeof "utf-16le" - 1};

bool tnef_is(struct slice file)
{
    struct cursor c = cursor_of(file);
    return cursor_u32(&c) == SIGNATURE && cursor_ok(&c);
}

static void tell_file(const struct tnef *t, const struct archive_file *file,
                      struct slice bytes)
{
    if (bytes.n > 0 && archive_budget_entry(t->budget) &&
        t->events->begin(t->context, file)) {
        t->events->end(t->context, t->events->data(t->context, bytes));
    }
}

static void tell_text(const struct tnef *t, const char *type, struct text text)
{
    tell_file(t,
              &(struct archive_file){.type = slice_str(type), .charset = text.charset},
              text.bytes);
}

static void tell_rtf(const struct tnef *t, struct slice bytes)
{
    struct archive_file file = {.type = SLICE_LIT("text/rtf"), .charset = western};
    if (archive_budget_entry(t->budget) && t->events->begin(t->context, &file)) {
        t->events->end(t->context,
                       rtf_decompress(t->budget, bytes, t->events->data, t->context));
    }
}

/* Without the zero at its end; as much of a name as is looked at. */
static struct text name_of(struct text value)
{
    size_t unit = slice_eq(value.charset, wide) ? 2 : 1;
    struct slice s = slice_head(value.bytes, ARCHIVE_NAME_MAX);
    while (s.n >= unit && s.p[s.n - 1] == '\0' && s.p[s.n - unit] == '\0') {
        s.n -= unit;
    }
    return (struct text){s, value.charset};
}

static void close_attachment(struct tnef *t)
{
    struct attachment *a = &t->attachment;
    struct text names[] = {name_of(a->long_name), name_of(a->name), name_of(a->title)};
    struct archive_file file = {0};
    for (size_t i = 0; i < LENGTH(names); i++) {
        if (names[i].bytes.n == 0) {
            continue;
        }
        t->events->name(t->context, names[i].bytes, names[i].charset);
        if (file.name.n == 0) {
            file.name = names[i].bytes;
            file.charset = names[i].charset;
        }
    }
    tell_file(t, &file, a->data);
    if (a->embedded.n > 0) {
        file.type = SLICE_LIT("application/ms-tnef");
        tell_file(t, &file, a->embedded);
    }
    memset(a, 0, sizeof(*a));
}

/* Bytes of one value of a type of fixed size, with what pads it; 0: no such type. */
static size_t fixed_bytes(unsigned type)
{
    static const struct {
        unsigned type;
        size_t bytes;
    } rows[] = {{2, 4},  {3, 4},  {4, 4},  {5, 8},  {6, 8},  {7, 8},
                {10, 4}, {11, 4}, {20, 8}, {64, 8}, {72, 16}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (rows[i].type == type) {
            return rows[i].bytes;
        }
    }
    return 0;
}

static struct slice padded(struct cursor *c)
{
    uint32_t n = cursor_u32(c);
    struct slice value = cursor_bytes(c, n);
    size_t pad = (4 - n % 4) % 4;
    (void)cursor_bytes(c, c->rest.n < pad ? c->rest.n : pad);
    return value;
}

/* A property above 0x8000 has a name in front of its value. */
static void skip_property_name(struct cursor *c)
{
    (void)cursor_bytes(c, GUID_BYTES);
    if (cursor_u32(c) == 0) {
        (void)cursor_u32(c);
    } else {
        (void)padded(c);
    }
}

static void take_value(struct tnef *t, unsigned id, unsigned type, struct slice bytes)
{
    struct text text = {bytes, type == TYPE_UNICODE ? wide : western};
    struct attachment *a = &t->attachment;
    switch (id) {
    case PROP_BODY:
        tell_text(t, "text/plain", text);
        break;
    case PROP_HTML:
        text.charset = type == TYPE_UNICODE ? wide : SLICE_NONE;
        tell_text(t, "text/html", text);
        break;
    case PROP_RTF:
        tell_rtf(t, bytes);
        break;
    case PROP_DATA:
        if (type == TYPE_OBJECT && bytes.n > GUID_BYTES &&
            tnef_is(slice_from(bytes, GUID_BYTES))) {
            a->embedded = slice_from(bytes, GUID_BYTES);
        } else {
            a->data = a->data.n > 0 ? a->data : bytes;
        }
        break;
    case PROP_NAME:
        a->name = text;
        break;
    case PROP_LONG_NAME:
        a->long_name = text;
        break;
    default:
        break;
    }
}

static void read_property(struct tnef *t, struct cursor *c)
{
    unsigned type = cursor_u16(c);
    unsigned id = cursor_u16(c);
    if (id >= 0x8000) {
        skip_property_name(c);
    }
    size_t size = fixed_bytes(type & ~(unsigned)TYPE_MULTIPLE);
    bool is_variable = size == 0;
    uint32_t count = is_variable || (type & TYPE_MULTIPLE) != 0 ? cursor_u32(c) : 1;
    if (!is_variable) {
        if (count > c->rest.n / size) {
            c->failed = true;
            return;
        }
        (void)cursor_bytes(c, count * size);
        return;
    }
    for (uint32_t i = 0; i < count && cursor_ok(c); i++) {
        struct slice value = padded(c);
        if (cursor_ok(c)) {
            take_value(t, id, type & ~(unsigned)TYPE_MULTIPLE, value);
        }
    }
}

static void read_properties(struct tnef *t, struct slice block)
{
    struct cursor c = cursor_of(block);
    uint32_t count = cursor_u32(&c);
    for (uint32_t i = 0; i < count && i < PROPERTIES_MAX && cursor_ok(&c); i++) {
        read_property(t, &c);
    }
}

static void read_attribute(struct tnef *t, unsigned level, unsigned id,
                           struct slice data)
{
    struct attachment *a = &t->attachment;
    if (level == LEVEL_MESSAGE) {
        if (id == ATTR_BODY) {
            tell_text(t, "text/plain", (struct text){data, western});
        } else if (id == ATTR_PROPERTIES) {
            read_properties(t, data);
        }
        return;
    }
    if (id == ATTR_RENDDATA && a->is_open) {
        close_attachment(t);
    }
    a->is_open = true;
    if (id == ATTR_DATA) {
        a->data = data;
    } else if (id == ATTR_TITLE) {
        a->title = (struct text){data, western};
    } else if (id == ATTR_ATTACHMENT) {
        read_properties(t, data);
    }
}

void tnef_read(struct slice file, struct archive_budget *budget,
               const struct archive_events *events, void *context)
{
    struct tnef t = {.budget = budget, .events = events, .context = context};
    struct cursor c = cursor_of(file);
    if (!tnef_is(file)) {
        return;
    }
    (void)cursor_bytes(&c, 6); /* signature and key */
    while (cursor_ok(&c) && c.rest.n > 0) {
        unsigned level = cursor_u8(&c);
        unsigned id = cursor_u32(&c) & 0xffff;
        uint32_t n = cursor_u32(&c);
        if (!cursor_ok(&c) || (level != LEVEL_MESSAGE && level != LEVEL_ATTACHMENT)) {
            break;
        }
        /* One that claims to be longer than the file ends with the file. */
        struct slice data = cursor_bytes(&c, n < c.rest.n ? n : c.rest.n);
        read_attribute(&t, level, id, data);
        (void)cursor_u16(&c);
    }
    close_attachment(&t);
}
