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

/* Text comes with CRLF, and decoded text with what it has. */
void text_piece_traits(struct slice text, struct traits *ret)
{
    static const char crlf[2 * (TEXT_BLANK_LINES + 1) + 1] =
        "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n";
    static const char lf[TEXT_BLANK_LINES + 2] = "\n\n\n\n\n\n\n\n\n\n\n\n\n";
    traits_note(ret, TRAIT_text_blank_lines,
                slice_find_slice(text, slice_str(crlf)) < text.n ||
                    slice_find_slice(text, slice_str(lf)) < text.n);
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
