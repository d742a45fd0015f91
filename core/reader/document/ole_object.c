/* ole_object - embedded files and addresses of linked objects.
 * Source: MS-OLEDS 2.3.6 (Ole10Native); MS-OSHARED 2.3.7 (hyperlinks and monikers). */

#include "core/base/cursor.h"
#include "core/reader/document/ole_text.h"
#include "core/reader/document/uri_scan.h"

enum {
    OBJECT_LINKED = 1,
    NATIVE_NAMED = 2, /* names stand before the data */
    LINK_HAS_MONIKER = 0x001,
    LINK_HAS_TITLE = 0x010,
    LINK_HAS_FRAME = 0x080,
    LINK_AS_STRING = 0x100
};

void ole_file(struct ole *o, struct slice name, struct slice type, struct slice bytes)
{
    ole_keep(o, found_file_begin(o->f, name, type) && found_file_data(o->f, bytes) &&
                    found_file_end(o->f, true));
}

void package_read(struct ole *o, const struct ole_folder *folder, struct slice bytes)
{
    (void)folder;
    if (bytes.n > 0) {
        ole_file(o, SLICE_NONE, SLICE_NONE, bytes);
    }
}

/* The bytes up to a NUL, which is taken as well. */
static struct slice cut_string(struct cursor *c)
{
    const size_t n = slice_find(c->rest, '\0');
    const struct slice s = cursor_bytes(c, n);

    (void)cursor_u8(c);
    return s;
}

/* Path, label and name in UTF-16 follow the data, each with its length. */
static void add_wide_name(struct cursor *c, struct buf *name)
{
    struct slice last = SLICE_NONE;

    for (unsigned i = 0; i < 3; i++) {
        const uint64_t n = cursor_u32(c);
        const struct slice s = cursor_bytes(c, 2 * n);
        last = cursor_ok(c) && s.n > 0 ? s : last;
    }
    text_add_wide(name, slice_head(last, 2 * (size_t)FOUND_NAME_MAX));
}

void native_content(struct ole *o, struct slice bytes)
{
    struct cursor c = cursor_of(bytes);
    struct buf name;

    if (cursor_u16(&c) != NATIVE_NAMED || !cursor_ok(&c)) {
        ole_file(o, SLICE_NONE, SLICE_NONE, bytes);
        return;
    }
    const struct slice label = cut_string(&c);
    const struct slice path = cut_string(&c);
    (void)cursor_u32(&c);
    (void)cursor_bytes(&c, cursor_u32(&c)); /* where it is put to be started */
    const uint32_t ndata = cursor_u32(&c);
    if (!cursor_ok(&c)) {
        ole_keep(o, found_fact(o->f, RECORD_DAMAGED));
        return;
    }
    const struct slice data = cursor_bytes(&c, ndata < c.rest.n ? ndata : c.rest.n);
    buf_init(&name, (size_t)4 * FOUND_NAME_MAX);
    add_wide_name(&c, &name);
    if (name.n == 0) {
        text_add_narrow(o, &name, o->codepage,
                        slice_head(label.n > 0 ? label : path, FOUND_NAME_MAX));
    }
    ole_file(o, buf_slice(&name), SLICE_NONE, data);
    buf_fini(&name);
}

void native_read(struct ole *o, const struct ole_folder *folder, struct slice bytes)
{
    struct cursor c = cursor_of(bytes);
    const uint32_t n = cursor_u32(&c);

    (void)folder;
    native_content(o, slice_head(c.rest, n));
}

static struct slice cut_counted(struct cursor *c)
{
    const struct slice s = cursor_bytes(c, cursor_u32(c));

    return slice_head(s, slice_find(s, '\0'));
}

static void give_narrow(struct ole *o, struct slice bytes, unsigned codepage)
{
    struct buf link;

    buf_init(&link, (size_t)4 * FOUND_VALUE_MAX);
    text_add_narrow(o, &link, codepage, slice_head(bytes, FOUND_VALUE_MAX));
    if (link.n > 0) {
        ole_keep(o, found_link(o->f, buf_slice(&link)));
    }
    buf_fini(&link);
}

void ole_object(struct ole *o, struct slice bytes, unsigned codepage)
{
    struct cursor c = cursor_of(bytes);

    (void)cursor_u32(&c);
    const uint32_t kind = cursor_u32(&c);
    const struct slice class = cut_counted(&c);
    const struct slice topic = cut_counted(&c);
    (void)cut_counted(&c);
    const uint32_t n = kind == OBJECT_LINKED ? 0 : cursor_u32(&c);
    o->object++;
    ole_at(o, "object %u", o->object);
    if (!cursor_ok(&c)) {
        ole_keep(o, found_fact(o->f, RECORD_DAMAGED));
        ole_search(o, bytes);
    } else if (kind == OBJECT_LINKED) {
        ole_keep(o, found_fact(o->f, RECORD_RUNS));
        give_narrow(o, topic, codepage);
    } else if (slice_eq_nocase(class, SLICE_LIT("Package"))) {
        native_content(o, slice_head(c.rest, n));
    } else {
        ole_file(o, SLICE_NONE, SLICE_NONE, slice_head(c.rest, n));
    }
    ole_at(o, "%s", "");
}

static void give_wide(struct ole *o, struct slice utf16)
{
    struct buf link;

    buf_init(&link, (size_t)2 * FOUND_VALUE_MAX);
    text_add_wide(&link, slice_head(utf16, FOUND_VALUE_MAX));
    if (link.n > 0) {
        ole_keep(o, found_link(o->f, buf_slice(&link)));
    }
    buf_fini(&link);
}

/* A length in characters, and these. */
static struct slice cut_wide(struct cursor *c)
{
    const uint64_t n = cursor_u32(c);

    return cursor_bytes(c, 2 * n);
}

/* Behind the class of a hyperlink: its address as a string, where it has no moniker. */
static void read_hyperlink(struct ole *o, struct slice bytes)
{
    struct cursor c = cursor_of(bytes);
    const unsigned want = LINK_HAS_MONIKER | LINK_AS_STRING;

    (void)cursor_u32(&c);
    const unsigned flags = cursor_u32(&c);
    if ((flags & LINK_HAS_TITLE) != 0) {
        (void)cut_wide(&c);
    }
    if ((flags & LINK_HAS_FRAME) != 0) {
        (void)cut_wide(&c);
    }
    const struct slice address =
        (flags & want) == want && cursor_ok(&c) ? cut_wide(&c) : SLICE_NONE;
    if (cursor_ok(&c)) {
        give_wide(o, address);
    }
}

/* An address of a number of bytes; behind its end may stand other data. */
static void read_url(struct ole *o, struct slice bytes)
{
    struct cursor c = cursor_of(bytes);
    const uint32_t n = cursor_u32(&c);
    struct slice url = slice_head(c.rest, n);
    size_t end = 0;

    while (end + 1 < url.n && (url.p[end] != '\0' || url.p[end + 1] != '\0')) {
        end += 2;
    }
    give_wide(o, slice_head(url, end));
}

/* A path of bytes: of interest where it leads to another machine. */
static void read_file_moniker(struct ole *o, struct slice bytes)
{
    struct cursor c = cursor_of(bytes);
    (void)cursor_u16(&c);
    const uint32_t n = cursor_u32(&c);
    struct slice path = slice_head(c.rest, n);

    path = slice_head(path, slice_find(path, '\0'));
    if (slice_has_prefix(path, SLICE_LIT("\\\\")) ||
        slice_find_slice(path, SLICE_LIT("://")) < path.n) {
        give_narrow(o, path, 0);
    }
}

/* Classes by their bytes in the file; hyperlink and URL moniker differ in the first. */
static void read_monikers(struct ole *o, struct slice bytes)
{
    static const struct slice of_links = {
        "\xc9\xea\x79\xf9\xba\xce\x11\x8c\x82\x00\xaa\x00\x4b\xa9\x0b", 15};
    static const struct slice of_path = {"\x03\x03\0\0\0\0\0\0\xc0\0\0\0\0\0\0\x46",
                                         16};
    struct slice rest = bytes;

    while (rest.n > 0 && !o->is_over) {
        const size_t at = slice_find_slice(rest, of_links);
        const char *first = rest.p + at - 1;
        const bool is_there = at < rest.n && first >= bytes.p;
        rest = slice_from(rest, at + of_links.n);
        if (is_there && *first == '\xe0') {
            read_url(o, rest);
        } else if (is_there && *first == '\xd0') {
            read_hyperlink(o, rest);
        } else {
            /* another class of the family */
        }
    }
    rest = bytes;
    while (rest.n > 0 && !o->is_over) {
        rest = slice_from(rest, slice_find_slice(rest, of_path) + of_path.n);
        read_file_moniker(o, rest);
    }
}

void ole_search(struct ole *o, struct slice bytes)
{
    read_monikers(o, bytes);
    ole_keep(o, uri_scan(o->f, bytes, URI_WIDE));
    if (o->is_broken) {
        ole_keep(o, uri_scan(o->f, bytes, URI_NARROW));
    }
}
