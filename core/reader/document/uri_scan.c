#include "core/reader/document/uri_scan.h"

#include "core/reader/document/ole_text.h"

/* The character in `width` bytes. */
static uint32_t character(const char *p, size_t width)
{
    const uint32_t c = (unsigned char)p[0];

    return width == URI_WIDE ? c | (uint32_t)(unsigned char)p[1] << 8 : c;
}

static bool is_scheme(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* ASCII, and letters of any script where they are certain: punctuation ends it. */
static bool is_uri_character(uint32_t c, size_t width)
{
    const bool is_letter = (c > 0xa0 && c < 0x2000) || (c > 0x3002 && c < 0xe000);

    return (c > ' ' && c <= '~' && c != '"' && c != '<' && c != '>') ||
           (width == URI_WIDE && is_letter);
}

/* The address round the mark at byte `at`; *retend: the byte behind it. */
static bool cut_uri(struct slice bytes, size_t at, size_t width, struct buf *to,
                    size_t *retend)
{
    size_t begin = at;
    size_t n = 0;

    while (begin >= width && (at - begin) / width < URI_SCHEME &&
           is_scheme(character(bytes.p + begin - width, width))) {
        begin -= width;
    }
    for (*retend = begin; *retend + width <= bytes.n && n < URI_MAX &&
                          is_uri_character(character(bytes.p + *retend, width), width);
         *retend += width) {
        n++;
    }
    buf_clear(to);
    if (width == URI_WIDE) {
        text_add_wide(to, slice_of(bytes.p + begin, *retend - begin));
    } else {
        buf_add(to, slice_of(bytes.p + begin, *retend - begin));
    }
    return begin < at && *retend >= at + (3 + URI_MIN) * width;
}

bool uri_scan(struct found *f, struct slice bytes, enum uri_width width)
{
    static const char wide[] = ":\0/\0/";
    const struct slice mark =
        width == URI_WIDE ? slice_of(wide, sizeof(wide)) : SLICE_LIT("://");
    struct buf link;
    bool is_more = true;

    buf_init(&link, (size_t)4 * URI_MAX);
    while (is_more && bytes.n > 0) {
        const size_t at = slice_find_slice(bytes, mark);
        size_t end;
        if (at >= bytes.n) {
            break;
        }
        if (cut_uri(bytes, at, width, &link, &end)) {
            is_more = found_link(f, buf_slice(&link));
        }
        bytes = slice_from(bytes, end > at ? end : at + mark.n);
    }
    buf_fini(&link);
    return is_more;
}
