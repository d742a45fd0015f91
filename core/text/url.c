/* url - reading in the order of the WHATWG parser, then the path by Safe Browsing's rules. */
#include "core/text/url.h"

#include <stdio.h>
#include <string.h>

#include "core/text/ascii.h"

enum { PORT_MAX = 65535, PORT_TEXT = 8 };

/* The pieces of a URL as they stand in its text. */
struct pieces {
    struct slice scheme;
    struct slice host;
    struct slice port;
    struct slice path;
    struct slice query;
};

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* Without control bytes and spaces at both ends, and without tab, CR and LF inside. */
static enum err clean(struct arena *arena, struct slice text, struct slice *ret)
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
    if (text.n > URL_BYTES_MAX) {
        return ERR_LIMIT;
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

/* What follows "name:" shows that it is a port: "host:8080/", "host:8080". */
static bool looks_like_port(struct slice rest)
{
    size_t i = 0;

    while (i < rest.n && ASCII_IS(rest.p[i], ASCII_DIGIT)) {
        i++;
    }
    return i > 0 &&
           (i == rest.n || is_slash(rest.p[i]) || rest.p[i] == '?' || rest.p[i] == '#');
}

/* Takes "scheme:" off *text; the empty slice when there is none. */
static struct slice take_scheme(struct slice *text)
{
    struct slice scheme = SLICE_NONE;
    size_t i = 0;

    if (text->n == 0 || !ASCII_IS(text->p[0], ASCII_ALPHA)) {
        return scheme;
    }
    while (i < text->n &&
           (ASCII_IS(text->p[i], ASCII_ALPHA | ASCII_DIGIT) || text->p[i] == '+' ||
            text->p[i] == '-' || text->p[i] == '.')) {
        i++;
    }
    if (i == text->n || text->p[i] != ':' ||
        looks_like_port(slice_from(*text, i + 1))) {
        return scheme;
    }
    scheme = slice_head(*text, i);
    *text = slice_from(*text, i + 1);
    return scheme;
}

/* The name that callers compare with: a constant, so lower case. */
static enum err known_scheme(struct slice scheme, struct slice *ret)
{
    static const struct slice known[] = {
        {"http", 4},
        {"https", 5},
        {"ftp", 3},
    };
    size_t i = 0;

    if (scheme.n == 0) {
        *ret = known[0];
        return ERR_OK;
    }
    for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (slice_eq_nocase(scheme, known[i])) {
            *ret = known[i];
            return ERR_OK;
        }
    }
    return ERR_UNSUPPORTED;
}

static unsigned default_port(struct slice scheme)
{
    if (scheme.n == 3) {
        return 21;
    }
    return scheme.n == 5 ? 443 : 80;
}

static void split_authority(struct slice authority, struct pieces *p)
{
    size_t i = authority.n;

    while (i > 0 && authority.p[i - 1] != '@') {
        i--;
    }
    authority = slice_from(authority, i);
    i = 0;
    if (authority.n > 0 && authority.p[0] == '[') {
        i = slice_find(authority, ']');
    }
    i += slice_find(slice_from(authority, i), ':');
    p->host = slice_head(authority, i);
    p->port = slice_from(authority, i + 1);
}

static enum err split(struct slice text, struct pieces *p)
{
    struct slice scheme = take_scheme(&text);
    enum err err = known_scheme(scheme, &p->scheme);
    size_t i = 0;

    if (err != ERR_OK) {
        return err;
    }
    while (i < text.n && is_slash(text.p[i])) {
        i++;
    }
    if (scheme.n == 0 && i == 1) {
        return ERR_SYNTAX; /* a path of the site that it stands on */
    }
    text = slice_from(text, i);
    text = slice_head(text, slice_find(text, '#'));
    i = slice_find(text, '?');
    p->query = i < text.n ? slice_of(text.p + i + 1, text.n - i - 1) : SLICE_NONE;
    text = slice_head(text, i);
    for (i = 0; i < text.n && !is_slash(text.p[i]); i++) {
    }
    p->path = slice_from(text, i);
    split_authority(slice_head(text, i), p);
    return ERR_OK;
}

static enum err read_port(struct slice digits, unsigned usual, unsigned *ret)
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

/* If dst ends in a percent escape, its value replaces it; true when it did. */
static bool fold_escape(char *dst, size_t *n)
{
    if (*n < 3 || dst[*n - 3] != '%' || !ASCII_IS(dst[*n - 2], ASCII_HEX) ||
        !ASCII_IS(dst[*n - 1], ASCII_HEX)) {
        return false;
    }
    dst[*n - 3] = (char)(unsigned char)((ascii_hex[(unsigned char)dst[*n - 2]] << 4) |
                                        ascii_hex[(unsigned char)dst[*n - 1]]);
    *n -= 2;
    return true;
}

/* Percent-decodes once; dst holds text.n bytes. */
static size_t decode_once(struct slice text, char *dst)
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

/* Percent-decodes until nothing is left to decode, in one pass: escapes cannot overlap, so
 * folding each as soon as its last byte is written gives what repeated passes would. */
static size_t decode_fully(struct slice path, char *dst)
{
    size_t n = 0;
    size_t i = 0;

    for (i = 0; i < path.n; i++) {
        char c = path.p[i];

        if (c == '\\') {
            c = '/';
        }
        dst[n++] = c;
        while (fold_escape(dst, &n)) {
        }
    }
    return n;
}

/* Resolves ".", ".." and repeated slashes of a path that begins with '/', in place. */
static size_t resolve_dots(char *p, size_t n)
{
    size_t out = 0;
    size_t i = 1;

    while (i <= n) {
        struct slice segment = slice_of(p + i, n - i);
        bool up = false;
        bool nothing = false;

        segment = slice_head(segment, slice_find(segment, '/'));
        up = slice_eq(segment, SLICE_LIT(".."));
        nothing = segment.n == 0 || slice_eq(segment, SLICE_LIT("."));
        i += segment.n + 1;
        if (!up && !nothing) {
            memmove(p + out + 1, segment.p, segment.n);
            p[out] = '/';
            out += segment.n + 1;
            continue;
        }
        if (up) {
            while (out > 0 && p[--out] != '/') {
            }
        }
        if (i > n) {
            p[out++] = '/'; /* a path that ends so names a folder */
        }
    }
    return out;
}

static bool must_escape(char c)
{
    return (unsigned char)c <= 0x20 || (unsigned char)c >= 0x7f || c == '#' || c == '%';
}

/* The decoded, resolved path; not escaped yet. */
static enum err read_path(struct arena *arena, struct slice path, struct slice *ret)
{
    size_t n = 0;
    char *p = NULL;

    if (path.n == 0) {
        *ret = SLICE_LIT("/");
        return ERR_OK;
    }
    p = arena_bytes(arena, path.n);
    if (p == NULL) {
        return ERR_NOMEM;
    }
    n = decode_fully(path, p);
    if (memchr(p, '.', n) != NULL || memmem(p, n, "//", 2) != NULL) {
        n = resolve_dots(p, n);
    }
    *ret = slice_of(p, n);
    return ERR_OK;
}

static size_t put_escaped(struct slice text, char *dst)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t n = 0;
    size_t i = 0;

    for (i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (must_escape(text.p[i])) {
            dst[n++] = '%';
            dst[n++] = digits[c >> 4];
            dst[n++] = digits[c & 15];
        } else {
            dst[n++] = text.p[i];
        }
    }
    return n;
}

static size_t count_escaped(struct slice text)
{
    size_t n = text.n;
    size_t i = 0;

    for (i = 0; i < text.n; i++) {
        if (must_escape(text.p[i])) {
            n += 2;
        }
    }
    return n;
}

static size_t put(char *dst, struct slice s)
{
    if (s.n > 0) {
        memcpy(dst, s.p, s.n);
    }
    return s.n;
}

/* Writes canonical, and points path and query into it. */
static enum err join(struct arena *arena, struct slice path, struct slice query,
                     struct url *u)
{
    bool brackets = u->host.kind == HOST_IPV6;
    char port[PORT_TEXT] = "";
    size_t nport = 0;
    size_t n = 0;
    size_t at = 0;
    char *p = NULL;

    if (u->port != 0) {
        nport = (size_t)snprintf(port, sizeof(port), ":%u", u->port);
    }
    p = arena_bytes(arena,
                    u->host.text.n + 2 + nport + count_escaped(path) + 1 + query.n);
    if (p == NULL) {
        return ERR_NOMEM;
    }
    n += put(p + n, brackets ? SLICE_LIT("[") : SLICE_NONE);
    n += put(p + n, u->host.text);
    n += put(p + n, brackets ? SLICE_LIT("]") : SLICE_NONE);
    n += put(p + n, slice_of(port, nport));
    at = n;
    n += put_escaped(path, p + n);
    u->path = slice_of(p + at, n - at);
    u->query = SLICE_NONE;
    if (query.p != NULL) {
        p[n++] = '?';
        u->query = slice_of(p + n, query.n);
        n += put(p + n, query);
    }
    u->canonical = slice_of(p, n);
    return ERR_OK;
}

static enum err read_host(struct arena *arena, struct slice text, struct host *ret)
{
    char *p = NULL;

    if (slice_find(text, '%') == text.n) {
        return host_parse(arena, text, ret);
    }
    p = arena_bytes(arena, text.n);
    if (p == NULL) {
        return ERR_NOMEM;
    }
    return host_parse(arena, slice_of(p, decode_once(text, p)), ret);
}

enum err url_parse(struct arena *arena, struct slice text, struct url *ret)
{
    struct pieces pieces = {0};
    struct url u = {0};
    struct slice path = SLICE_NONE;
    enum err err = clean(arena, text, &text);

    if (err == ERR_OK) {
        err = split(text, &pieces);
    }
    if (err == ERR_OK) {
        u.scheme = pieces.scheme;
        err = read_port(pieces.port, default_port(u.scheme), &u.port);
    }
    if (err == ERR_OK) {
        err = read_host(arena, pieces.host, &u.host);
    }
    if (err == ERR_OK) {
        err = read_path(arena, pieces.path, &path);
    }
    if (err == ERR_OK) {
        err = join(arena, path, pieces.query, &u);
    }
    if (err == ERR_OK) {
        *ret = u;
    }
    return err;
}
