#include "core/message/trait/link_address.h"

#include "core/base/base64.h"
#include "core/message/text/ascii.h"

static bool is_local_char(char c)
{
    return ASCII_IS(c, ASCII_ALPHA | ASCII_DIGIT) || c == '.' || c == '_' || c == '-' ||
           c == '+';
}

static bool is_domain_char(char c)
{
    return ASCII_IS(c, ASCII_ALPHA | ASCII_DIGIT) || c == '.' || c == '-';
}

static void put_lower(struct slice text, struct link_address *ret)
{
    ret->n = text.n;
    for (size_t i = 0; i < text.n; i++) {
        ret->text[i] = ASCII_LOWER(text.p[i]);
    }
}

/* The address whose '@' stands there, nat bytes long: '@' itself, or "%40". */
static bool take_around(struct slice s, size_t at, size_t nat, struct link_address *ret)
{
    char text[LINK_ADDRESS_MAX];
    size_t begin = at;
    size_t end = at + nat;
    while (begin > 0 && is_local_char(s.p[begin - 1]) &&
           at - begin < LINK_ADDRESS_MAX / 2) {
        begin--;
    }
    while (end < s.n && is_domain_char(s.p[end]) &&
           end - at - nat < LINK_ADDRESS_MAX / 2 - 1) {
        end++;
    }
    while (end > at + nat && !ASCII_IS(s.p[end - 1], ASCII_ALPHA)) {
        end--;
    }
    struct slice domain = slice_of(s.p + at + nat, end - at - nat);
    size_t dot = slice_find(domain, '.');
    if (begin == at || dot == 0 || dot + 2 >= domain.n) {
        return false;
    }
    memcpy(text, s.p + begin, at - begin);
    text[at - begin] = '@';
    memcpy(text + (at - begin) + 1, domain.p, domain.n);
    put_lower(slice_of(text, at - begin + 1 + domain.n), ret);
    return ret->n >= LINK_ADDRESS_MIN;
}

static bool find_plain(struct slice s, struct link_address *ret)
{
    for (size_t i = 0; i < s.n; i++) {
        bool is_escaped =
            s.p[i] == '%' && i + 2 < s.n && s.p[i + 1] == '4' && s.p[i + 2] == '0';
        if ((s.p[i] == '@' || is_escaped) &&
            take_around(s, i, is_escaped ? 3 : 1, ret)) {
            return true;
        }
    }
    return false;
}

/* Stops at a byte that no address has, so most tokens end at once. */
static bool put_byte(char dst[LINK_ADDRESS_MAX], size_t *n, unsigned byte)
{
    char c = (char)byte;
    if (*n == LINK_ADDRESS_MAX || (c != '@' && !is_local_char(c))) {
        return false;
    }
    dst[(*n)++] = c;
    return true;
}

static size_t decode_hex(struct slice s, char dst[LINK_ADDRESS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i + 1 < s.n; i += 2) {
        int high = hex_digit_value(s.p[i]);
        int low = hex_digit_value(s.p[i + 1]);
        if (high < 0 || low < 0 || !put_byte(dst, &n, (unsigned)(high * 16 + low))) {
            return 0;
        }
    }
    return n;
}

static size_t decode_base64(struct slice s, char dst[LINK_ADDRESS_MAX])
{
    unsigned held = 0;
    unsigned bits = 0;
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned digit = base64_digit(s.p[i]);
        if (digit == BASE64_NONE) {
            return 0;
        }
        held = (held << 6 | digit) & 0xffff;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            if (!put_byte(dst, &n, held >> bits & 0xff)) {
                return 0;
            }
        }
    }
    return n;
}

/* Decoded text that is an address and nothing else. */
static bool is_address(struct slice text, struct link_address *ret)
{
    size_t at = slice_find(text, '@');
    return at < text.n &&
           slice_find(slice_from(text, at + 1), '@') == text.n - at - 1 &&
           take_around(text, at, 1, ret);
}

static bool is_token_char(char c)
{
    return ASCII_IS(c, ASCII_ALPHA | ASCII_DIGIT) || c == '-' || c == '_' || c == '+';
}

static bool read_token(struct slice token, struct link_address *ret)
{
    char text[LINK_ADDRESS_MAX];
    return is_address(slice_of(text, decode_base64(token, text)), ret) ||
           is_address(slice_of(text, decode_hex(token, text)), ret);
}

static bool find_coded(struct slice s, struct link_address *ret)
{
    unsigned ntokens = 0;
    size_t i = 0;
    while (i < s.n && ntokens < LINK_TOKENS_MAX) {
        size_t begin = i;
        while (i < s.n && is_token_char(s.p[i])) {
            i++;
        }
        if (i - begin >= LINK_ADDRESS_MIN * 4 / 3) {
            ntokens++;
            if (read_token(slice_of(s.p + begin, i - begin), ret)) {
                return true;
            }
        }
        i++;
    }
    return false;
}

bool link_address_find(struct slice link, struct link_address *ret)
{
    size_t scheme = slice_find_slice(link, SLICE_LIT("//"));
    struct slice rest = slice_from(link, scheme < link.n ? scheme + 2 : 0);
    size_t path = 0;
    while (path < rest.n && rest.p[path] != '/' && rest.p[path] != '?' &&
           rest.p[path] != '#') {
        path++;
    }
    rest = slice_from(rest, path);
    size_t hash = slice_find(rest, '#');
    struct slice pieces[] = {slice_from(rest, hash), slice_head(rest, hash)};
    for (size_t i = 0; i < LENGTH(pieces); i++) {
        ret->is_in_fragment = i == 0;
        ret->is_coded = false;
        if (find_plain(pieces[i], ret)) {
            return true;
        }
        ret->is_coded = true;
        if (find_coded(pieces[i], ret)) {
            return true;
        }
    }
    return false;
}
