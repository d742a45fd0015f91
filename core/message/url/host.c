/* host - the host parser of the WHATWG URL standard, stricter about empty and long labels. */
#include "core/message/url/host.h"

#include "core/base/uninitialized.h"
#include "core/message/text/ascii.h"
#include "core/message/text/charset.h"
#include "core/message/url/host_idna.h"
#include "core/message/url/host_ip.h"
#include "core/message/url/suffix.h"

/* Lower case, without empty labels; length in dst, 0 when a byte or a length is forbidden. */
static size_t clean_name(struct slice text, char dst[HOST_NAME_MAX_BYTES])
{
    size_t n = 0;
    size_t label = 0;
    size_t i = 0;

    for (i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (ASCII_IS(c, ASCII_BADHOST) || (unsigned char)c >= 0x80) {
            return 0;
        }
        if (c == '.') {
            if (label == 0) {
                continue;
            }
            label = 0;
        } else if (++label > HOST_LABEL_MAX) {
            return 0;
        }
        if (n == HOST_NAME_MAX_BYTES) {
            /* only a final dot may still come */
            if (c == '.' && i + 1 == text.n) {
                break;
            }
            return 0;
        }
        dst[n++] = ASCII_LOWER(c);
    }
    if (n > 0 && dst[n - 1] == '.') {
        n--;
    }
    return n;
}

static enum err keep_host(struct arena *arena, struct slice text, struct host *ret)
{
    ret->text = arena_copy(arena, text);
    return ret->text.p == NULL ? ERR_NOMEM : ERR_OK;
}

static enum err keep_address(struct arena *arena, const uint8_t addr[16],
                             struct host *ret)
{
    char text[HOST_IP_TEXT];
    struct host host = {.kind = host_ip_is_v4(addr) ? HOST_IPV4 : HOST_IPV6};
    enum err err = keep_host(arena, host_ip_text(addr, text), &host);

    if (err == ERR_OK) {
        memcpy(host.addr, addr, sizeof(host.addr));
        *ret = host;
    }
    return err;
}

enum err host_parse(struct arena *arena, struct slice text, struct host *ret)
{
    char name[HOST_NAME_MAX_BYTES] UNINITIALIZED;
    char mapped[HOST_INPUT_MAX] UNINITIALIZED;
    uint8_t addr[16];
    struct host host = {.kind = HOST_NAME};
    enum err err = ERR_OK;
    size_t n = 0;

    if (text.n == 0 || text.n > HOST_INPUT_MAX) {
        return ERR_SYNTAX;
    }
    if (text.p[0] == '[') {
        if (text.p[text.n - 1] != ']' ||
            !host_ipv6_parse(slice_of(text.p + 1, text.n - 2), addr)) {
            return ERR_SYNTAX;
        }
        return keep_address(arena, addr, ret);
    }
    if (!charset_is_ascii(text)) {
        /* ASCII stays, also invalid punycode: it may well be in the DNS */
        text = slice_of(mapped, host_to_ascii(text, mapped));
    }
    n = clean_name(text, name);
    if (n == 0) {
        return ERR_SYNTAX;
    }
    if (host_ends_in_number(slice_of(name, n))) {
        if (!host_ipv4_loose_parse(slice_of(name, n), addr)) {
            return ERR_SYNTAX;
        }
        return keep_address(arena, addr, ret);
    }
    err = keep_host(arena, slice_of(name, n), &host);
    if (err == ERR_OK) {
        *ret = host;
    }
    return err;
}

/* The ASCII form of a name in lower case, checked as browsers do; 0: not a name. */
static size_t web_name(struct slice text, char dst[HOST_INPUT_MAX])
{
    size_t n = text.n;
    size_t i = 0;

    if (charset_is_ascii(text)) {
        for (i = 0; i < n; i++) {
            dst[i] = ASCII_LOWER(text.p[i]);
        }
    } else {
        n = host_to_ascii(text, dst);
    }
    for (i = 0; i < n; i++) {
        if (ASCII_IS(dst[i], ASCII_BADHOST) || (unsigned char)dst[i] >= 0x80) {
            return 0;
        }
    }
    return n;
}

static enum err keep_web_v6(struct arena *arena, const uint8_t addr[16],
                            struct host *ret)
{
    char text[HOST_IP_TEXT + 2] = "[";
    struct host host = {.kind = HOST_IPV6};
    size_t n = 1 + host_ipv6_text(addr, text + 1).n;
    enum err err = ERR_OK;

    text[n++] = ']';
    err = keep_host(arena, slice_of(text, n), &host);
    if (err == ERR_OK) {
        memcpy(host.addr, addr, sizeof(host.addr));
        *ret = host;
    }
    return err;
}

enum err host_parse_web(struct arena *arena, struct slice text, struct host *ret)
{
    char name[HOST_INPUT_MAX] UNINITIALIZED;
    uint8_t addr[16];
    struct host host = {.kind = HOST_NAME};
    enum err err = ERR_OK;
    size_t n = 0;

    if (text.n == 0 || text.n > HOST_INPUT_MAX) {
        return ERR_SYNTAX;
    }
    if (text.p[0] == '[') {
        if (text.p[text.n - 1] != ']' ||
            !host_ipv6_parse(slice_of(text.p + 1, text.n - 2), addr)) {
            return ERR_SYNTAX;
        }
        return keep_web_v6(arena, addr, ret);
    }
    n = web_name(text, name);
    if (n == 0) {
        return ERR_SYNTAX;
    }
    if (host_ends_in_number(slice_of(name, n))) {
        if (!host_ipv4_loose_parse(slice_of(name, n), addr)) {
            return ERR_SYNTAX;
        }
        return keep_address(arena, addr, ret);
    }
    err = keep_host(arena, slice_of(name, n), &host);
    if (err == ERR_OK) {
        *ret = host;
    }
    return err;
}

enum err host_parse_odd(struct arena *arena, struct slice text, struct host *ret)
{
    uint8_t addr[16];

    if (text.n > 2 && text.p[0] == '[' && text.p[text.n - 1] == ']') {
        text = slice_of(text.p + 1, text.n - 2);
        if (text.p[0] != '[' && host_parse(arena, text, ret) == ERR_OK) {
            return ERR_OK;
        }
    }
    if (!host_ipv4_decimal_parse(text, addr)) {
        return ERR_SYNTAX;
    }
    return keep_address(arena, addr, ret);
}

/* Whether the suffix list can have an answer for the name. */
static bool is_question(struct slice name)
{
    uint8_t addr[16];

    return name.n > 0 && name.n <= HOST_NAME_MAX_BYTES && name.p[0] != '.' &&
           name.p[name.n - 1] != '.' && !host_ends_in_number(name) &&
           (slice_find(name, ':') == name.n || !host_ip_parse(name, addr));
}

struct slice host_registrable(struct slice name)
{
    size_t n = is_question(name) ? suffix_registrable(name) : 0;

    return n > 0 ? slice_from(name, name.n - n) : SLICE_NONE;
}

bool host_is_public_suffix(struct slice name)
{
    return is_question(name) && suffix_is_public(name);
}

bool host_has_listed_suffix(struct slice name)
{
    size_t top = name.n;

    while (top > 0 && name.p[top - 1] != '.') {
        top--;
    }
    return top > 0 && is_question(name) && suffix_is_top(slice_from(name, top));
}
