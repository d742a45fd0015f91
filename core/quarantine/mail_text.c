#include "core/quarantine/mail_text.h"

#include "core/base/utf8.h"

enum { WORD_MAX = 60, LINE_MAX_QP = 75 };

static bool needs_no_word(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < ' ' || s.p[i] > '~') {
            return false;
        }
    }
    return slice_find_slice(s, SLICE_LIT("=?")) == s.n && s.n <= WORD_MAX;
}

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Bytes of the character at p; a byte that is no UTF-8 is one. */
static size_t character_length(struct slice s)
{
    const size_t n = utf8_length((const unsigned char *)s.p, s.n);

    return n > 0 ? n : 1;
}

/* A word never cuts a character. */
void mail_text_add_field(struct buf *b, const char *name, struct slice value)
{
    size_t n = 0;

    buf_printf(b, "%s: ", name);
    if (needs_no_word(value)) {
        buf_add(b, value);
        buf_add_char(b, '\n');
        return;
    }
    while (value.n > 0) {
        const size_t length = character_length(value);

        if (n == 0 || n + 3 * length > WORD_MAX) {
            buf_add_str(b, n > 0 ? "?=\n =?utf-8?q?" : "=?utf-8?q?");
            n = 0;
        }
        for (size_t i = 0; i < length; i++) {
            const unsigned char c = (unsigned char)value.p[i];

            if (is_alnum(value.p[i])) {
                buf_add_char(b, value.p[i]);
                n++;
            } else {
                buf_printf(b, "=%02X", c < ' ' ? ' ' : c);
                n += 3;
            }
        }
        value = slice_from(value, length);
    }
    buf_add_str(b, n > 0 ? "?=\n" : "\n");
}

static void add_line_quoted(struct buf *b, struct slice line)
{
    size_t n = 0;

    for (size_t i = 0; i < line.n; i++) {
        const char c = line.p[i];
        const bool is_last = i + 1 == line.n;
        const bool is_safe =
            (c > ' ' && c <= '~' && c != '=') || (c == ' ' && !is_last);

        if (n + (is_safe ? 1 : 3) > LINE_MAX_QP) {
            buf_add_str(b, "=\n");
            n = 0;
        }
        if (is_safe) {
            buf_add_char(b, c);
        } else {
            buf_printf(b, "=%02X", (unsigned char)c);
        }
        n += is_safe ? 1 : 3;
    }
    buf_add_char(b, '\n');
}

void mail_text_add_body(struct buf *b, struct slice text)
{
    while (text.n > 0) {
        add_line_quoted(b, slice_cut(&text, '\n'));
    }
}
