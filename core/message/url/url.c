/* url - reading in the order of the WHATWG parser, then the path by Safe Browsing's rules. */
#include "core/message/url/url.h"

#include "core/message/url/url_path.h"
#include "core/message/url/url_split.h"

enum { PORT_TEXT = 8 };

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
    n = url_decode_fully(path, '/', p);
    if (memchr(p, '.', n) != NULL || memmem(p, n, "//", 2) != NULL) {
        n = url_resolve_dots(p, n);
    }
    *ret = slice_of(p, n);
    return ERR_OK;
}

static size_t put_slice(char *dst, struct slice s)
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
                    u->host.text.n + 2 + nport + url_escaped_size(path) + 1 + query.n);
    if (p == NULL) {
        return ERR_NOMEM;
    }
    n += put_slice(p + n, brackets ? SLICE_LIT("[") : SLICE_NONE);
    n += put_slice(p + n, u->host.text);
    n += put_slice(p + n, brackets ? SLICE_LIT("]") : SLICE_NONE);
    n += put_slice(p + n, slice_of(port, nport));
    at = n;
    n += url_escape(path, p + n);
    u->path = slice_of(p + at, n - at);
    u->query = SLICE_NONE;
    if (query.p != NULL) {
        p[n++] = '?';
        u->query = slice_of(p + n, query.n);
        n += put_slice(p + n, query);
    }
    u->canonical = slice_of(p, n);
    return ERR_OK;
}

static enum err read_host(struct arena *arena, struct slice text, struct host *ret)
{
    char *p = NULL;
    enum err err = ERR_OK;

    if (slice_find(text, '%') < text.n) {
        p = arena_bytes(arena, text.n);
        if (p == NULL) {
            return ERR_NOMEM;
        }
        text = slice_of(p, url_decode_once(text, p));
    }
    err = host_parse(arena, text, ret);
    return err == ERR_SYNTAX ? host_parse_odd(arena, text, ret) : err;
}

/* The scheme, and *text becomes what follows it and the slashes. */
static enum err take_scheme(struct slice *text, struct slice *ret)
{
    size_t n = url_scheme_length(*text);
    size_t i = 0;
    enum err err = ERR_OK;

    if (n > 0 && url_looks_like_port(slice_from(*text, n + 1))) {
        n = 0;
    }
    *ret = SLICE_LIT("http");
    if (n > 0) {
        err = url_known_scheme(slice_head(*text, n), ret);
        *text = slice_from(*text, n + 1);
    }
    while (i < text->n && url_is_slash(text->p[i])) {
        i++;
    }
    if (n == 0 && i == 1) {
        return ERR_SYNTAX; /* a path of the site that it stands on */
    }
    *text = slice_from(*text, i);
    return err;
}

enum err url_parse(struct arena *arena, struct slice text, struct url *ret)
{
    struct url_pieces pieces = {0};
    struct url u = {0};
    struct slice path = SLICE_NONE;
    enum err err = url_clean(arena, text, &text);

    if (err == ERR_OK) {
        err = take_scheme(&text, &u.scheme);
    }
    if (err == ERR_OK) {
        url_split(text, &pieces);
        err = url_read_port(pieces.port, url_default_port(u.scheme), &u.port);
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
