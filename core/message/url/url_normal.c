/* url_normal - most URLs lose only their ends; a copy is made only if something inside changes. */
#include "core/message/url/url_normal.h"

#include "core/message/text/ascii.h"
#include "core/message/url/url_path.h"
#include "core/message/url/urlkey.h"

enum { PORT_HTTP = 80, PORT_HTTPS = 443, ESCAPE_BYTES = 3 };

/* How many bytes of the host go. Repeatedly, so that the form is its own form. */
static size_t www_length(const struct host *host)
{
    const struct slice www = SLICE_LIT("www.");
    size_t n = 0;

    while (host->kind == HOST_NAME &&
           slice_has_prefix(slice_from(host->text, n), www) &&
           !host_is_public_suffix(slice_from(host->text, n + www.n))) {
        n += www.n;
    }
    return n;
}

/* ---- what is the same already ---- */

/* The canonical path has decoded '?' and '\'. The normal form escapes them, because a second
 * reading would cut the path there. */
static bool is_plain_path(struct slice path)
{
    return slice_find(path, '?') == path.n && slice_find(path, '\\') == path.n;
}

static bool is_plain_query(struct slice query)
{
    for (size_t i = 0; i < query.n; i++) {
        unsigned char c = (unsigned char)query.p[i];

        if (c <= 0x20 || c >= 0x7f || c == '%' || c == '+' || c == '#') {
            return false;
        }
    }
    return query.n > 0 && query.p[0] != '&' && query.p[query.n - 1] != '&' &&
           slice_find_slice(query, SLICE_LIT("&&")) == query.n;
}

/* ---- writing ---- */

struct out {
    char *p;
    size_t n;
};

static void put_normal(struct out *o, struct slice s)
{
    if (s.n > 0) {
        memcpy(o->p + o->n, s.p, s.n);
        o->n += s.n;
    }
}

static void put_escaped(struct out *o, char c)
{
    o->n += url_escape_byte(c, o->p + o->n);
}

static void put_path(struct out *o, struct slice path)
{
    for (size_t i = 0; i < path.n; i++) {
        if (path.p[i] == '?' || path.p[i] == '\\') {
            put_escaped(o, path.p[i]);
        } else {
            o->p[o->n++] = path.p[i];
        }
    }
}

/* Bytes that are escaped: unescaped ones would mean something else, or be cut off. */
static bool is_special(char c)
{
    return (unsigned char)c <= 0x20 || (unsigned char)c >= 0x7f ||
           memchr("#%&+;=", c, sizeof "#%&+;=" - 1) != NULL;
}

static bool is_escape(struct slice s)
{
    return s.n >= ESCAPE_BYTES && s.p[0] == '%' && ASCII_IS(s.p[1], ASCII_HEX) &&
           ASCII_IS(s.p[2], ASCII_HEX);
}

/* One name or value of a query. */
static void put_pair(struct out *o, struct slice pair)
{
    while (pair.n > 0) {
        char c = pair.p[0];
        bool was_escape = is_escape(pair);

        if (was_escape) {
            c = (char)(unsigned char)((ascii_hex[(unsigned char)pair.p[1]] << 4) |
                                      ascii_hex[(unsigned char)pair.p[2]]);
        } else if (c == '+') {
            c = ' ';
        }
        if (is_special(c) && (was_escape || (c != '=' && c != ';'))) {
            put_escaped(o, c);
        } else {
            o->p[o->n++] = c;
        }
        pair = slice_from(pair, was_escape ? ESCAPE_BYTES : 1);
    }
}

static void put_query(struct out *o, struct slice query)
{
    size_t before = o->n;

    while (query.p != NULL) {
        struct slice pair = slice_cut(&query, '&');
        size_t at = o->n + 1; /* after '?' or '&' */

        if (pair.n == 0) {
            continue;
        }
        o->p[at - 1] = at - 1 == before ? '?' : '&';
        o->n = at;
        put_pair(o, pair);
        pair = slice_of(o->p + at, o->n - at);
        if (urlkey_is_tracking(slice_head(pair, slice_find(pair, '=')))) {
            o->n = at - 1;
        }
    }
}

/* ---- all ---- */

/* Of the host and the port, the part that stays: [*ret, end). */
static struct slice authority_of(const struct url *url, size_t path_at)
{
    struct slice all = slice_head(url->canonical, path_at);

    if (url->port == PORT_HTTP || url->port == PORT_HTTPS) {
        size_t end = all.n;

        while (all.p[end - 1] != ':') {
            end--;
        }
        all = slice_head(all, end - 1);
    }
    return slice_from(all, www_length(&url->host));
}

struct slice url_normal(struct arena *arena, const struct url *url)
{
    size_t path_at = (size_t)(url->path.p - url->canonical.p);
    struct slice authority = authority_of(url, path_at);
    struct slice path = url->path;

    if (path.n > 0 && path.p[path.n - 1] == '/') {
        path.n--;
    }
    bool has_query = url->query.n > 0;
    bool is_whole = authority.p + authority.n == url->path.p && is_plain_path(path);

    if (is_whole && !has_query) {
        return slice_of(authority.p, authority.n + path.n);
    }
    if (is_whole && path.n == url->path.n && is_plain_query(url->query) &&
        !urlkey_has_tracking(url->query)) {
        return slice_of(authority.p, authority.n + path.n + 1 + url->query.n);
    }
    struct out o = {.p =
                        arena_bytes(arena, authority.n + 1 +
                                               ESCAPE_BYTES * (path.n + url->query.n))};

    if (o.p == NULL) {
        return SLICE_NONE;
    }
    put_normal(&o, authority);
    put_path(&o, path);
    put_query(&o, url->query);
    return slice_of(o.p, o.n);
}
