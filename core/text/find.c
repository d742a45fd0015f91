/* find - looks for ':' and '.' with memchr, and only there for a scheme or "www". */
#include "core/text/find.h"

#include <stdbool.h>
#include <string.h>

#include "core/text/ascii.h"

/* Bytes that end a URL wherever they stand. */
static bool ends_url(char c)
{
    return (unsigned char)c <= 0x20 || c == '<' || c == '>' || c == '"' || c == '`' ||
           c == 0x7f;
}

/* Length of the UTF-8 space or punctuation mark at s that ends a URL, 0 when it is none. */
static size_t wide_end(struct slice s)
{
    unsigned char b[3] = {0};
    unsigned code = 0;

    memcpy(b, s.p, s.n < 3 ? s.n : 3);
    if (b[0] == 0xc2) {
        /* no-break space, guillemets */
        return b[1] == 0xa0 || b[1] == 0xab || b[1] == 0xbb ? 2 : 0;
    }
    code = ((b[0] & 0x0fU) << 12) | ((b[1] & 0x3fU) << 6) | (b[2] & 0x3fU);
    if ((b[0] & 0xf0) != 0xe0 || (b[1] & 0xc0) != 0x80 || (b[2] & 0xc0) != 0x80) {
        return 0;
    }
    if ((code >= 0x2000 && code <= 0x200b) || (code >= 0x2018 && code <= 0x201f) ||
        (code >= 0x2026 && code <= 0x2029) || code == 0x202f || code == 0x205f ||
        code == 0x2039 || code == 0x203a || (code >= 0x3000 && code <= 0x3003) ||
        (code >= 0x3008 && code <= 0x3011) || (code >= 0x3014 && code <= 0x301f) ||
        code == 0xff01 || code == 0xff02 || code == 0xff08 || code == 0xff09 ||
        code == 0xff0c || code == 0xff1a || code == 0xff1b || code == 0xff1c ||
        code == 0xff1e || code == 0xff1f || code == 0xff3b || code == 0xff3d ||
        code == 0xff5b || code == 0xff5d || code == 0xfeff) {
        return 3;
    }
    return 0;
}

/* Index of the first byte from i on that does not belong to a URL; quote ends it too. */
static size_t url_end(struct slice text, size_t i, char quote)
{
    while (i < text.n) {
        char c = text.p[i];

        if (ends_url(c) || (c == quote && quote != '\0') ||
            ((unsigned char)c >= 0x80 && wide_end(slice_from(text, i)) > 0)) {
            break;
        }
        i++;
    }
    return i;
}

/* Without trailing punctuation, and without closing brackets that nothing opened. */
static struct slice trim_end(struct slice url)
{
    static const char closing[] = ")]}";
    static const char opening[] = "([{";
    ptrdiff_t open[3] = {0}; /* opening minus closing brackets */
    size_t i = 0;

    for (i = 0; i < url.n; i++) {
        const char *c = NULL;

        if (ASCII_IS(url.p[i], ASCII_ALPHA | ASCII_DIGIT) || url.p[i] == '\0') {
            continue;
        }
        c = strchr(opening, url.p[i]);
        if (c != NULL) {
            open[c - opening]++;
        }
        c = strchr(closing, url.p[i]);
        if (c != NULL) {
            open[c - closing]--;
        }
    }
    while (url.n > 0) {
        char last = url.p[url.n - 1];
        const char *c = last == '\0' ? NULL : strchr(closing, last);

        if (c != NULL && open[c - closing] < 0) {
            open[c - closing]++;
        } else if (c != NULL || last == '\0' || strchr(".,;:!?'*([{", last) == NULL) {
            break;
        } else {
            c = strchr(opening, last);
            if (c != NULL) {
                open[c - opening]--;
            }
        }
        url.n--;
    }
    return url;
}

/* Length of the scheme that ends before text.p[colon], 0 when there is none; nothing before
 * text.p[from] belongs to it. */
static size_t scheme_before(struct slice text, size_t from, size_t colon)
{
    static const struct slice schemes[] = {{"https", 5}, {"http", 4}, {"ftp", 3}};
    size_t i = 0;

    if (text.n - colon < 4 || text.p[colon + 1] != '/' || text.p[colon + 2] != '/') {
        return 0;
    }
    for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        size_t n = schemes[i].n;

        if (colon - from >= n &&
            slice_eq_nocase(slice_of(text.p + colon - n, n), schemes[i])) {
            return n;
        }
    }
    return 0;
}

/* "www" ends before text.p[dot] and begins a word. */
static bool www_before(struct slice text, size_t from, size_t dot)
{
    char before = ' ';

    if (dot - from < 3 || dot + 1 >= text.n ||
        !slice_eq_nocase(slice_of(text.p + dot - 3, 3), SLICE_LIT("www"))) {
        return false;
    }
    if (dot > 3) {
        before = text.p[dot - 4];
    }
    return !ASCII_IS(before, ASCII_ALPHA | ASCII_DIGIT) && before != '-' &&
           before != '_' && before != '@' && before != '.' &&
           (ASCII_IS(text.p[dot + 1], ASCII_ALPHA | ASCII_DIGIT) ||
            (unsigned char)text.p[dot + 1] >= 0x80);
}

/* Reports the URL that begins at start and has at least up to least + 1; returns where to go
 * on looking. */
static size_t report(struct slice text, size_t start, size_t least, find_url_fn *on_url,
                     void *context)
{
    char quote = start > 0 && text.p[start - 1] == '\'' ? '\'' : '\0';
    size_t end = url_end(text, least, quote);
    struct slice url = trim_end(slice_of(text.p + start, end - start));

    if (url.n > least - start) {
        on_url(context, url);
    }
    return end;
}

void find_urls(struct slice text, find_url_fn *on_url, void *context)
{
    size_t colon = slice_find(text, ':');
    size_t dot = slice_find(text, '.');
    size_t from = 0; /* end of the last URL */

    while (colon < text.n || dot < text.n) {
        size_t at = colon < dot ? colon : dot;
        size_t next = at + 1;

        if (at == colon) {
            size_t n = scheme_before(text, from, at);

            if (n > 0) {
                next = report(text, at - n, at + 3, on_url, context);
                from = next;
            }
        } else if (www_before(text, from, at)) {
            next = report(text, at - 3, at + 1, on_url, context);
            from = next;
        } else {
            /* a full stop */
        }
        if (colon < next) {
            colon = next + slice_find(slice_from(text, next), ':');
        }
        if (dot < next) {
            dot = next + slice_find(slice_from(text, next), '.');
        }
    }
}
