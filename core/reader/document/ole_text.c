#include "core/reader/document/ole_text.h"

#include "core/message/text/charset.h"

void text_add_char(struct buf *out, uint32_t c)
{
    if (c == 0 || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff) {
        return;
    }
    if (c < 0x80) {
        buf_add_char(out, (char)c);
        return;
    }
    const unsigned ntail = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char mark[] = {0, 0xc0, 0xe0, 0xf0};
    buf_add_u8(out, (uint8_t)(mark[ntail] | c >> 6 * ntail));
    for (unsigned i = ntail; i > 0; i--) {
        buf_add_u8(out, (uint8_t)(0x80 | (c >> 6 * (i - 1) & 0x3f)));
    }
}

void text_add_wide(struct buf *out, struct slice utf16)
{
    uint32_t high = 0;

    for (size_t i = 0; i + 1 < utf16.n; i += 2) {
        const uint32_t c =
            (unsigned char)utf16.p[i] | (uint32_t)(unsigned char)utf16.p[i + 1] << 8;
        if (high != 0 && (c & 0xfc00) == 0xdc00) {
            text_add_char(out, 0x10000 + ((high & 0x3ff) << 10) + (c & 0x3ff));
        } else {
            text_add_char(out, c);
        }
        high = (c & 0xfc00) == 0xd800 ? c : 0;
    }
}

static const struct {
    unsigned codepage;
    const char *charset;
} codepages[] = {{874, "windows-874"},   {932, "shift_jis"},     {936, "gbk"},
                 {949, "euc-kr"},        {950, "big5"},          {1250, "windows-1250"},
                 {1251, "windows-1251"}, {1253, "windows-1253"}, {1254, "windows-1254"},
                 {1255, "windows-1255"}, {1256, "windows-1256"}, {1257, "windows-1257"},
                 {1258, "windows-1258"}, {10000, "macintosh"},   {20866, "koi8-r"},
                 {21866, "koi8-u"},      {28592, "iso-8859-2"},  {28595, "iso-8859-5"},
                 {28597, "iso-8859-7"},  {28599, "iso-8859-9"},  {50220, "iso-2022-jp"},
                 {50221, "iso-2022-jp"}, {51932, "euc-jp"},      {51949, "euc-kr"},
                 {54936, "gb18030"},     {65001, "utf-8"}};

static struct slice charset_of(unsigned codepage)
{
    for (size_t i = 0; i < LENGTH(codepages); i++) {
        if (codepages[i].codepage == codepage) {
            return slice_str(codepages[i].charset);
        }
    }
    return SLICE_LIT("windows-1252");
}

unsigned text_codepage_of_charset(unsigned charset)
{
    static const struct {
        unsigned charset;
        unsigned codepage;
    } rows[] = {{77, 10000}, {128, 932},  {129, 949},  {134, 936},  {136, 950},
                {161, 1253}, {162, 1254}, {163, 1258}, {177, 1255}, {178, 1256},
                {186, 1257}, {204, 1251}, {222, 874},  {238, 1250}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (rows[i].charset == charset) {
            return rows[i].codepage;
        }
    }
    return 0;
}

void text_add_narrow(struct ole *o, struct buf *out, unsigned codepage,
                     struct slice bytes)
{
    struct slice text = charset_to_utf8(o->arena, charset_of(codepage), bytes, NULL);

    if (text.p == NULL && bytes.n > 0) { /* more than may be converted at once */
        ole_keep(o, found_fact(o->f, RECORD_BYTES));
    }
    while (text.p != NULL) { /* without its NULs */
        buf_add(out, slice_cut(&text, '\0'));
    }
    arena_reset(o->arena);
}

void text_flush(struct ole *o, struct buf *text)
{
    if (text->n > 0 && !o->is_over) {
        ole_keep(o, found_text(o->f, buf_slice(text), false));
    }
    buf_clear(text);
}

void text_step(struct ole *o, struct buf *text)
{
    if (text->n >= OLE_TEXT_STEP) {
        text_flush(o, text);
    }
}
