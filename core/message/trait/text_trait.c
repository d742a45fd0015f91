#include "core/message/trait/text_trait.h"

static bool begins_with_one(struct slice s, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (slice_has_prefix_nocase(s, slice_str(words[i]))) {
            return true;
        }
    }
    return false;
}

static bool is_named_ascii(struct slice charset)
{
    return slice_eq_nocase(charset, SLICE_LIT("us-ascii")) ||
           slice_eq_nocase(charset, SLICE_LIT("ascii"));
}

/* Charsets of languages that do not write ASCII. iso-2022-jp is ASCII by its bytes. */
static bool is_of_other_script(struct slice charset)
{
    if (charset.n == 0 || (charset.p[0] | ' ') == 'u') { /* utf-8, us-ascii */
        return false;
    }
    static const char *const names[] = {
        "koi8-",        "gb2312",       "gbk",          "gb18030",      "big5",
        "euc-",         "ks_c_5601",    "shift_jis",    "windows-1251", "windows-1253",
        "windows-1255", "windows-1256", "windows-1258", "windows-874",  "iso-8859-5",
        "iso-8859-6",   "iso-8859-7",   "iso-8859-8",   "iso-8859-11",  "tis-620"};
    return begins_with_one(charset, names, LENGTH(names));
}

bool text_needs_ascii(struct slice charset, bool is_base64)
{
    return is_base64 || is_named_ascii(charset) || is_of_other_script(charset);
}

void text_bytes_traits(const struct text_bytes *text, struct traits *ret)
{
    traits_note(ret, TRAIT_charset_lies,
                is_named_ascii(text->charset) && !text->is_ascii);
    traits_note(ret, TRAIT_charset_unused,
                text->is_ascii && text->n >= TEXT_CHARSET_LONG &&
                    is_of_other_script(text->charset));
    traits_note(ret, TRAIT_base64_needless,
                text->is_base64 && text->is_ascii && text->n >= TEXT_BASE64_LONG &&
                    !slice_has_prefix_nocase(text->charset, SLICE_LIT("iso-2022")));
}

/* Line ends are CRLF, or LF in decoded text. Only every TEXT_BLANK_LINES-th byte is looked at until
 * one is of a line end. */
static bool has_blank_lines(struct slice text)
{
    size_t i = TEXT_BLANK_LINES;
    while (i < text.n) {
        if (text.p[i] != '\n' && text.p[i] != '\r') {
            i += TEXT_BLANK_LINES;
            continue;
        }
        size_t begin = i;
        size_t ends = 0;
        while (begin > 0 && (text.p[begin - 1] == '\n' || text.p[begin - 1] == '\r')) {
            begin--;
        }
        for (i = begin; i < text.n && (text.p[i] == '\n' || text.p[i] == '\r'); i++) {
            ends += text.p[i] == '\n';
        }
        if (ends > TEXT_BLANK_LINES) {
            return true;
        }
        i += TEXT_BLANK_LINES;
    }
    return false;
}

void text_piece_traits(struct slice text, struct traits *ret)
{
    traits_note(ret, TRAIT_text_blank_lines, has_blank_lines(text));
}

bool script_is_obfuscated(struct slice text)
{
    static const char *const calls[] = {"unescape(",     "atob(",
                                        "eval(",         "fromCharCode",
                                        "fromCodePoint", "decodeURIComponent("};
    for (size_t i = 0; i < LENGTH(calls); i++) {
        if (slice_find_slice(text, slice_str(calls[i])) < text.n) {
            return true;
        }
    }
    return false;
}
