/* unwrap_decode - written from the wrappers' published decoders' behaviour. */
#include "core/message/url/unwrap_decode.h"

#include "core/base/base64.h"
#include "core/message/text/ascii.h"
#include "core/message/url/url.h"
#include "core/message/url/url_split.h"

enum { RUN_SHORTEST = 2 };

size_t unwrap_base64(struct slice text, char *dst)
{
    uint32_t bits = 0;
    unsigned nbits = 0;
    size_t n = 0;
    size_t i = 0;

    for (i = 0; i < text.n; i++) {
        unsigned value = base64_digit(text.p[i]);

        if (value == BASE64_NONE) {
            break;
        }
        bits = (bits << 6) | value;
        nbits += 6;
        if (nbits >= 8) {
            nbits -= 8;
            dst[n++] = (char)(unsigned char)(bits >> nbits);
            bits &= (1U << nbits) - 1;
        }
    }
    return n;
}

/* "&amp;" becomes '&', in place. */
static size_t unescape_ampersands(char *p, size_t n)
{
    size_t out = 0;
    size_t i = 0;

    while (i < n) {
        bool is_reference =
            slice_has_prefix(slice_of(p + i, n - i), SLICE_LIT("&amp;"));

        p[out++] = p[i];
        i += is_reference ? 5 : 1;
    }
    return out;
}

size_t unwrap_urldefense_v2(struct slice text, char *dst)
{
    size_t n = 0;
    size_t i = 0;

    for (i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (c == '-') {
            c = '%';
        } else if (c == '_') {
            c = '/';
        }
        dst[n++] = c;
    }
    n = url_decode_once(slice_of(dst, n), dst);
    return unescape_ampersands(dst, n);
}

/* Length of the first `count` UTF-8 characters. */
static size_t characters(struct slice text, size_t count)
{
    size_t i = 0;

    while (i < text.n && count > 0) {
        i++;
        while (i < text.n && ((unsigned char)text.p[i] & 0xc0) == 0x80) {
            i++;
        }
        count--;
    }
    return i;
}

/* Replaces the stars of url by characters of hidden, which is shorter than its encoded form. */
static size_t fill_stars(struct slice url, struct slice hidden, char *dst, size_t room)
{
    size_t n = 0;
    size_t i = 0;

    while (i < url.n && n < room) {
        size_t take = 1;

        if (url.p[i] != '*') {
            dst[n++] = url.p[i++];
            continue;
        }
        i++;
        if (i + 1 < url.n && url.p[i] == '*') {
            take = base64_digit(url.p[i + 1]) + RUN_SHORTEST;
            i += 2;
        }
        take = characters(hidden, take);
        take = take < room - n ? take : room - n;
        if (take > 0) {
            memcpy(dst + n, hidden.p, take);
        }
        n += take;
        hidden = slice_from(hidden, take);
    }
    return n;
}

/* Where the last "__" stands that ends the URL, else the end. */
static size_t end_of_v3(struct slice text)
{
    size_t at = slice_find_slice(text, SLICE_LIT("__;"));
    size_t i = text.n;

    if (at < text.n) {
        return at;
    }
    while (i >= 2) { /* wrapped without anything hidden, or cut off */
        i--;
        if (text.p[i] == '_' && text.p[i - 1] == '_') {
            return i - 1;
        }
    }
    return text.n;
}

size_t unwrap_urldefense_v3(struct slice text, char *dst)
{
    char hidden[URL_BYTES_MAX];
    struct slice encoded;
    struct slice url;
    size_t nhidden = 0;
    size_t n = 0;

    if (!slice_has_prefix(text, SLICE_LIT("__"))) {
        return 0;
    }
    text = slice_from(text, 2);
    url = slice_head(text, end_of_v3(text));
    encoded = slice_from(text, url.n + 3);
    encoded = slice_head(encoded, sizeof(hidden));
    nhidden = unwrap_base64(encoded, hidden);
    n = fill_stars(url, slice_of(hidden, nhidden), dst, text.n);
    return url_decode_once(slice_of(dst, n), dst);
}
