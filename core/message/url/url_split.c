/* url_split - cutting at the delimiters in the order of the WHATWG parser. */
#include "core/message/url/url_split.h"

#include "core/message/text/ascii.h"
#include "core/message/url/longurl.h"
#include "core/message/url/url.h"

enum { PORT_MAX = 65535 };

bool url_is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* Longer than is read, or with more before the path than any host is read of. */
static bool is_too_long(struct slice text)
{
    size_t i = 0;

    if (text.n <= HOST_INPUT_MAX || text.n > URL_BYTES_MAX) {
        return text.n > URL_BYTES_MAX;
    }
    i = slice_find(text, ':') + 1;
    while (i < text.n && url_is_slash(text.p[i])) {
        i++;
    }
    text = slice_from(text, i);
    i = 0;
    while (i < text.n && !url_is_slash(text.p[i]) && text.p[i] != '?' &&
           text.p[i] != '#') {
        i++;
    }
    return i > HOST_INPUT_MAX;
}

/* A text that is too long, without what pads it. */
static enum err shorten(struct arena *arena, struct slice text, struct slice *ret)
{
    struct longurl *u = arena_alloc(arena, sizeof(*u));

    if (u == NULL) {
        return ERR_NOMEM;
    }
    longurl_begin(u);
    longurl_add(u, text);
    longurl_end(u);
    *ret = longurl_text(u);
    return ERR_OK;
}

enum err url_clean(struct arena *arena, struct slice text, struct slice *ret)
{
    size_t i = 0;
    size_t n = 0;
    char *p = NULL;

    while (text.n > 0 && (unsigned char)text.p[0] <= 0x20) {
        text = slice_from(text, 1);
    }
    while (text.n > 0 && (unsigned char)text.p[text.n - 1] <= 0x20) {
        text.n--;
    }
    if (is_too_long(text)) {
        return shorten(arena, text, ret);
    }
    *ret = text;
    if (slice_find(text, '\t') == text.n && slice_find(text, '\n') == text.n &&
        slice_find(text, '\r') == text.n) {
        return ERR_OK;
    }
    p = arena_bytes(arena, text.n);
    if (p == NULL) {
        return ERR_NOMEM;
    }
    for (i = 0; i < text.n; i++) {
        if (text.p[i] != '\t' && text.p[i] != '\n' && text.p[i] != '\r') {
            p[n++] = text.p[i];
        }
    }
    *ret = slice_of(p, n);
    return ERR_OK;
}

bool url_looks_like_port(struct slice rest)
{
    size_t i = 0;

    while (i < rest.n && ASCII_IS(rest.p[i], ASCII_DIGIT)) {
        i++;
    }
    return i > 0 && (i == rest.n || url_is_slash(rest.p[i]) || rest.p[i] == '?' ||
                     rest.p[i] == '#');
}

size_t url_scheme_length(struct slice text)
{
    size_t i = 0;

    if (text.n == 0 || !ASCII_IS(text.p[0], ASCII_ALPHA)) {
        return 0;
    }
    while (i < text.n && (ASCII_IS(text.p[i], ASCII_ALPHA | ASCII_DIGIT) ||
                          text.p[i] == '+' || text.p[i] == '-' || text.p[i] == '.')) {
        i++;
    }
    return i < text.n && text.p[i] == ':' ? i : 0;
}

enum err url_known_scheme(struct slice scheme, struct slice *ret)
{
    static const struct slice known[] = {
        {"http", 4},
        {"https", 5},
        {"ftp", 3},
    };
    size_t i = 0;

    for (i = 0; i < LENGTH(known); i++) {
        if (slice_eq_nocase(scheme, known[i])) {
            *ret = known[i];
            return ERR_OK;
        }
    }
    return ERR_UNSUPPORTED;
}

unsigned url_default_port(struct slice known_scheme)
{
    if (known_scheme.n == 3) {
        return 21;
    }
    return known_scheme.n == 5 ? 443 : 80;
}

static void split_authority(struct slice authority, struct url_pieces *p)
{
    size_t i = authority.n;

    while (i > 0 && authority.p[i - 1] != '@') {
        i--;
    }
    p->user = i > 0 ? slice_head(authority, i - 1) : SLICE_NONE;
    authority = slice_from(authority, i);
    i = 0;
    if (authority.n > 0 && authority.p[0] == '[') {
        i = slice_find(authority, ']');
    }
    i += slice_find(slice_from(authority, i), ':');
    p->host = slice_head(authority, i);
    p->port = slice_from(authority, i + 1);
}

/* Cuts *text before the first c. Returns the text after c; p == NULL: there is no c. */
static struct slice take_after(struct slice *text, char c)
{
    size_t i = slice_find(*text, c);
    struct slice after =
        i < text->n ? slice_of(text->p + i + 1, text->n - i - 1) : SLICE_NONE;

    *text = slice_head(*text, i);
    return after;
}

void url_split_path(struct slice text, struct url_pieces *ret)
{
    ret->fragment = take_after(&text, '#');
    ret->query = take_after(&text, '?');
    ret->path = text;
}

void url_split(struct slice text, struct url_pieces *ret)
{
    size_t i = 0;

    while (i < text.n && !url_is_slash(text.p[i]) && text.p[i] != '?' &&
           text.p[i] != '#') {
        i++;
    }
    split_authority(slice_head(text, i), ret);
    url_split_path(slice_from(text, i), ret);
}

enum err url_read_port(struct slice digits, unsigned usual, unsigned *ret)
{
    unsigned value = 0;
    size_t i = 0;

    for (i = 0; i < digits.n; i++) {
        if (!ASCII_IS(digits.p[i], ASCII_DIGIT)) {
            return ERR_SYNTAX;
        }
        value = value * 10 + (unsigned)(digits.p[i] - '0');
        if (value > PORT_MAX) {
            return ERR_SYNTAX;
        }
    }
    *ret = value == usual ? 0 : value;
    return ERR_OK;
}

size_t url_decode_once(struct slice text, char *dst)
{
    size_t n = 0;
    size_t i = 0;

    while (i < text.n) {
        if (i + 2 < text.n && text.p[i] == '%' && ASCII_IS(text.p[i + 1], ASCII_HEX) &&
            ASCII_IS(text.p[i + 2], ASCII_HEX)) {
            dst[n++] =
                (char)(unsigned char)((ascii_hex[(unsigned char)text.p[i + 1]] << 4) |
                                      ascii_hex[(unsigned char)text.p[i + 2]]);
            i += 3;
        } else {
            dst[n++] = text.p[i++];
        }
    }
    return n;
}
