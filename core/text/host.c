/* host - the host parser of the WHATWG URL standard, stricter about empty and long labels. */
#include "core/text/host.h"

#include <libpsl.h>
#include <pthread.h>
#include <string.h>

#include "core/text/ascii.h"
#include "core/text/charset.h"
#include "core/text/host_idna.h"
#include "core/text/host_ip.h"

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

static enum err keep(struct arena *arena, struct slice text, struct host *ret)
{
    ret->text = arena_copy(arena, text);
    return ret->text.p == NULL ? ERR_NOMEM : ERR_OK;
}

static enum err keep_address(struct arena *arena, const uint8_t addr[16],
                             struct host *ret)
{
    char text[HOST_IP_TEXT];
    struct host host = {.kind = host_ip_is_v4(addr) ? HOST_IPV4 : HOST_IPV6};
    enum err err = keep(arena, host_ip_text(addr, text), &host);

    if (err == ERR_OK) {
        memcpy(host.addr, addr, sizeof(host.addr));
        *ret = host;
    }
    return err;
}

enum err host_parse(struct arena *arena, struct slice text, struct host *ret)
{
    char name[HOST_NAME_MAX_BYTES];
    char mapped[HOST_INPUT_MAX];
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
        /* ASCII stays, also punycode that says nothing: it may well be in the DNS */
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
    err = keep(arena, slice_of(name, n), &host);
    if (err == ERR_OK) {
        *ret = host;
    }
    return err;
}

/* The ASCII form of a name in lower case, checked as browsers do; 0 when it is none. */
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
    err = keep(arena, slice_of(text, n), &host);
    if (err == ERR_OK) {
        memcpy(host.addr, addr, sizeof(host.addr));
        *ret = host;
    }
    return err;
}

enum err host_parse_web(struct arena *arena, struct slice text, struct host *ret)
{
    char name[HOST_INPUT_MAX];
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
    err = keep(arena, slice_of(name, n), &host);
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

static pthread_once_t psl_once = PTHREAD_ONCE_INIT;
static const psl_ctx_t *psl;

static void psl_open(void)
{
    /* the distribution's file where it is newer than the library; lives as long as we do */
    psl = psl_latest(NULL);
    if (psl == NULL) {
        psl = psl_builtin();
    }
}

/* A NUL-terminated copy of a name that libpsl can be asked about; false for all others. */
static bool psl_question(struct slice name, char dst[HOST_NAME_MAX_BYTES + 1])
{
    uint8_t addr[16];

    (void)pthread_once(&psl_once, psl_open);
    if (psl == NULL || name.n == 0 || name.n > HOST_NAME_MAX_BYTES ||
        name.p[0] == '.' || name.p[name.n - 1] == '.' ||
        memchr(name.p, '\0', name.n) != NULL || host_ip_parse(name, addr) ||
        host_ends_in_number(name)) {
        return false;
    }
    memcpy(dst, name.p, name.n);
    dst[name.n] = '\0';
    return true;
}

struct slice host_registrable(struct slice name)
{
    char question[HOST_NAME_MAX_BYTES + 1];
    const char *answer = NULL;

    if (!psl_question(name, question)) {
        return SLICE_NONE;
    }
    answer = psl_registrable_domain(psl, question);
    if (answer == NULL || answer < question || answer >= question + name.n) {
        return SLICE_NONE;
    }
    return slice_from(name, (size_t)(answer - question));
}

bool host_is_public_suffix(struct slice name)
{
    char question[HOST_NAME_MAX_BYTES + 1];

    return psl_question(name, question) && psl_is_public_suffix(psl, question) == 1;
}

bool host_has_listed_suffix(struct slice name)
{
    char question[HOST_NAME_MAX_BYTES + 1];
    const char *top = NULL;

    if (!psl_question(name, question)) {
        return false;
    }
    top = strrchr(question, '.');
    return top != NULL && psl_is_public_suffix2(
                              psl, top + 1, PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE) == 1;
}
