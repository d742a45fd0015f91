/* onenote - embedded files, texts and links of a section of OneNote.
 *
 * The tree of revisions is not walked: older revisions may still show a file that the newest one
 * lost. Embedded files are found by the mark in front of each. A text follows its length in bytes.
 * So each run of characters between the files, of one byte and of two, is a text if its length
 * stands in front of it. Linear.
 * Source: MS-ONESTORE 2.6.13 (FileDataStoreObject), 2.6.9 (values); MS-ONE 2.3 (properties). */

#include "core/base/cursor.h"
#include "core/reader/document/field.h"
#include "core/reader/document/ole_text.h"
#include "core/reader/document/uri_scan.h"
#include "core/reader/wire/format.h"

enum {
    FILE_HEAD = 16 + 8 + 4 + 8, /* mark, length, two unused fields */
    TEXT_MIN = 2,               /* characters */
    LENGTH_BYTES = 4,
    FIELD_MARK = 0xfddf, /* in front of the code of a hyperlink */
    EXTENSION_MAX = 5    /* characters behind the dot of a name */
};

static const struct slice file_mark = {
    "\xe7\x16\xe3\xbd\x65\x26\x11\x45\xa4\xc4\x8d\x4d\x0b\x7a\x9e\xac", 16};

static uint32_t unit(const char *p, size_t width)
{
    const uint32_t c = (unsigned char)p[0];

    return width == URI_WIDE ? c | (uint32_t)(unsigned char)p[1] << 8 : c;
}

static bool is_text_unit(uint32_t c)
{
    return (c >= 0x20 && c < 0x7f) || (c >= 0xa0 && c < 0xfffe) || c == '\t' ||
           c == '\n' || c == '\r' || c == '\v';
}

/* "HYPERLINK "address"shown": the code ends with the second quote. */
static bool give_fields(struct found *f, struct slice text)
{
    const struct slice mark = SLICE_LIT("HYPERLINK \"");
    bool is_more = true;

    while (is_more) {
        const struct slice code = slice_from(text, slice_find_slice(text, mark));
        if (code.n == 0) {
            break;
        }
        const size_t n = slice_find(slice_from(code, mark.n), '"');
        is_more = field_read(f, slice_head(code, mark.n + n + 1));
        text = slice_from(code, mark.n + n + 1);
    }
    return is_more;
}

/* The name of an embedded file stands apart from it, as a text of its own. */
static bool is_file_name(struct slice text)
{
    size_t n = 0;

    while (n < text.n && n <= EXTENSION_MAX && text.p[text.n - 1 - n] != '.') {
        n++;
    }
    return text.n > n + 1 && text.n <= NAME_MAX && n > 0 && n <= EXTENSION_MAX &&
           slice_find(text, '\n') == text.n && slice_find(text, '/') == text.n &&
           slice_find(slice_from(text, text.n - n), ' ') == n;
}

static bool give_text(struct found *f, struct slice bytes, size_t width)
{
    struct buf text;

    buf_init(&text, 4 * (size_t)bytes.n + 4);
    for (size_t i = 0; i + width <= bytes.n; i += width) {
        const uint32_t c = unit(bytes.p + i, width);
        text_add_char(&text, c == FIELD_MARK || c == '\v' ? '\n' : c);
    }
    const bool may_go_on =
        !is_file_name(buf_slice(&text)) || found_name(f, buf_slice(&text));
    buf_add_char(&text, '\n');
    const bool is_more = may_go_on && give_fields(f, buf_slice(&text)) &&
                         found_text(f, buf_slice(&text), false);
    buf_fini(&text);
    return is_more;
}

/* The run from byte a to b is a text where its length stands in front of it; its NUL may count. */
static bool give_run(struct found *f, struct slice bytes, size_t a, size_t b,
                     size_t width)
{
    if (a < LENGTH_BYTES || b - a < TEXT_MIN * width) {
        return true;
    }
    struct cursor c = cursor_of(slice_from(bytes, a - LENGTH_BYTES));
    const uint32_t n = cursor_u32(&c);
    if (n < TEXT_MIN * width || n > b - a + width || n % width != 0) {
        return true;
    }
    return give_text(f, slice_head(slice_from(bytes, a), n < b - a ? n : b - a), width);
}

static bool give_texts(struct found *f, struct slice bytes, size_t from, size_t width)
{
    bool is_more = true;
    size_t begin = from;
    size_t i = from;

    for (; i + width <= bytes.n && is_more; i += width) {
        if (!is_text_unit(unit(bytes.p + i, width))) {
            is_more = give_run(f, bytes, begin, i, width);
            begin = i + width;
        }
    }
    return is_more && give_run(f, bytes, begin, i, width);
}

/* Bytes between two embedded files. */
static bool read_between(struct found *f, struct slice bytes)
{
    return give_texts(f, bytes, 0, URI_WIDE) && give_texts(f, bytes, 1, URI_WIDE) &&
           give_texts(f, bytes, 0, URI_NARROW) && uri_scan(f, bytes, URI_WIDE);
}

/* The file behind a mark; *rest goes on behind it. */
static bool give_file(struct found *f, struct slice *rest, unsigned number)
{
    struct cursor c = cursor_of(slice_from(*rest, file_mark.n));
    const uint64_t n = cursor_u64(&c);
    const struct slice data = slice_from(*rest, FILE_HEAD);
    const bool is_whole = n <= data.n;
    const struct slice file = slice_head(data, is_whole ? (size_t)n : data.n);

    *rest = slice_from(data, file.n);
    found_at(f, "embedded file %u", number);
    const bool is_more = found_file_begin(f, SLICE_NONE, SLICE_NONE) &&
                         found_file_data(f, file) && found_file_end(f, is_whole);
    found_at(f, "%s", "");
    return is_more;
}

void onenote_read(const struct reader_job *job, struct found *f)
{
    struct slice rest = job->bytes;
    unsigned number = 0;
    bool is_more = true;

    while (is_more && rest.n > 0) {
        const size_t at = slice_find_slice(rest, file_mark);
        is_more = read_between(f, slice_head(rest, at));
        rest = slice_from(rest, at);
        if (is_more && rest.n > 0) {
            number++;
            is_more = give_file(f, &rest, number);
        }
    }
}
